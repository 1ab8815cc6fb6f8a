"""Write the machine-readable metadata of a published study: Croissant and CITATION.cff."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from analysis.document import to_json
from labeler.safe_text import multiline
from labeler.studies.handover.publishing.facts import DatasetFacts
from labeler.studies.handover.publishing.publish_file import PublishFile
from labeler.studies.handover.publishing.tables import Column

CROISSANT = "http://mlcommons.org/croissant/1.1"
RAI = "http://mlcommons.org/croissant/RAI/1.0"
_TYPES = {
    "text": "sc:Text",
    "integer": "sc:Integer",
    "number": "sc:Float",
    "boolean": "sc:Boolean",
    "time": "sc:DateTime",
}
_CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
FORMATS = {
    ".csv": "text/csv", ".parquet": "application/x-parquet", ".json": "application/json",
    ".md": "text/markdown", ".html": "text/html", ".svg": "image/svg+xml", ".cff": "text/yaml",
}  # fmt: skip


def media_type(path: str) -> str:
    """Return the media type of a file, such as text/csv, from the name of the file."""
    return FORMATS.get(f".{path.rpartition('.')[2]}", "text/plain")


def is_text(path: str) -> bool:
    """Return whether a file is a text file, judged by the name of the file."""
    return not path.endswith(".parquet")


def croissant(facts: DatasetFacts, record_sets: Sequence["RecordSet"], files: Mapping[str, tuple[int, str]]) -> str:
    """Return the text of croissant.json.

    The text describes each table as a record set, each file with its hash, and has the responsible-AI fields. `files`
    maps each path that the record sets use to its size in bytes and its SHA-256.
    """
    answers = facts.answers
    content = {
        "@context": dict(_CONTEXT),
        "@type": "sc:Dataset",
        "conformsTo": [CROISSANT, RAI],
        "name": answers.title,
        "description": answers.description,
        "license": licence_url(answers.licence),
        **({"url": address} if (address := address_of(answers)) else {}),
        **({"sameAs": f"https://doi.org/{answers.doi}"} if answers.doi and answers.url else {}),
        "version": answers.version,
        "datePublished": answers.date,
        "dateCreated": facts.dates[1] or facts.answers.date,
        "keywords": list(answers.keywords),
        "inLanguage": "en",
        "creator": [_person(author) for author in answers.authors],
        "citeAs": bibtex(answers),
        "isLiveDataset": False,
        "rai:dataCollection": facts.collection(),
        "rai:dataCollectionType": ["Direct measurement", "Manual Human Curator"],
        "rai:dataCollectionTimeframe": [day for day in facts.dates if day],
        "rai:dataPreprocessingProtocol": facts.preprocessing(),
        "rai:dataAnnotationProtocol": facts.protocol(),
        "rai:dataAnnotationPlatform": [facts.platform()],
        "rai:dataAnnotationAnalysis": facts.analysis(),
        "rai:annotationsPerItem": facts.annotations_per_item(),
        "rai:annotatorDemographics": [f"{facts.n_reviewers} reviewers. {answers.declared('demographics')}"],
        "rai:machineAnnotationTools": facts.classifiers or ["none"],
        "rai:dataBiases": facts.biases(),
        "rai:dataLimitations": [*facts.limitations(), f"Not to be used for: {answers.declared('unsuitable_uses')}"],
        "rai:dataUseCases": [answers.declared("uses")],
        "rai:dataSocialImpact": answers.declared("social_impact"),
        "rai:personalSensitiveInformation": facts.sensitive(),
        "rai:dataReleaseMaintenancePlan": answers.declared("maintenance"),
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": path,
                "name": path,
                "contentUrl": path,
                "contentSize": f"{size} B",
                "encodingFormat": media_type(path),
                "sha256": sha256,
            }
            for path, (size, sha256) in files.items()
        ],
        "recordSet": [record_set.json_values() for record_set in record_sets],
    }
    return to_json(content)


class RecordSet:
    """A table of the data set as a Croissant record set, read from one file.

    `keys` maps a column to the (table, column) whose values it repeats; `key` is the column whose value identifies a
    row.
    """

    def __init__(
        self,
        name: str,
        meaning: str,
        path: str,
        columns: Sequence[Column],
        *,
        key: str = "",
        keys: Mapping[str, tuple[str, str]] | None = None,
    ) -> None:
        self.name, self.meaning, self.path, self.columns = name, meaning, path, columns
        self.key, self.keys = key, keys or {}

    def json_values(self) -> dict[str, Any]:
        """Return the record set as JSON-LD."""
        return {
            "@type": "cr:RecordSet",
            "@id": self.name,
            "name": self.name,
            "description": self.meaning,
            **({"key": {"@id": f"{self.name}/{self.key}"}} if self.key else {}),
            "field": [self._field(column) for column in self.columns],
        }

    def _field(self, column: Column) -> dict[str, Any]:
        unit = f" Unit: {column.unit}." if column.unit else ""
        pointed = self.keys.get(column.name)
        return {
            "@type": "cr:Field",
            "@id": f"{self.name}/{column.name}",
            "name": column.name,
            "description": f"{column.meaning}.{unit} Missing: {column.missing}.",
            "dataType": _TYPES[column.type],
            "source": {"fileObject": {"@id": self.path}, "extract": {"column": column.name}},
            **({"references": {"field": {"@id": "/".join(pointed)}}} if pointed else {}),
        }


def citation_cff(answers: PublishFile) -> str:
    """Return the text of CITATION.cff 1.2.0.

    Every text in the file is quoted as in JSON, because YAML parsers can read this form.
    """
    lines = [
        "cff-version: 1.2.0",
        'message: "If you use this data set, please cite it as below."',
        "type: dataset",
        f"title: {_yaml(answers.title)}",
        f"abstract: {_yaml(answers.description)}",
        f"version: {_yaml(answers.version)}",
        f"date-released: {_yaml(answers.date)}",
        f"license: {_yaml(answers.licence)}",
        *([f"doi: {_yaml(answers.doi)}"] if answers.doi else []),
        *([f"url: {_yaml(answers.url)}"] if answers.url else []),
    ]
    if answers.keywords:
        lines += ["keywords:", *(f"  - {_yaml(word)}" for word in dict.fromkeys(answers.keywords))]
    lines.append("authors:")
    for author in answers.authors:
        lines += [f"  - given-names: {_yaml(author.given_names)}", f"    family-names: {_yaml(author.family_names)}"]
        lines += [f'    orcid: "https://orcid.org/{author.orcid}"'] if author.orcid else []
        lines += [f"    affiliation: {_yaml(author.affiliation)}"] if author.affiliation else []
    return "\n".join(lines) + "\n"


def bibtex(answers: PublishFile) -> str:
    """Return the citation of the data set as BibTeX."""
    family = "".join(letter for letter in answers.authors[0].family_names.lower() if letter.isascii())
    key = f"{''.join(letter for letter in family if letter.isalnum()) or 'data'}{answers.date[:4]}"
    entries = {
        "author": " and ".join(f"{author.family_names}, {author.given_names}" for author in answers.authors),
        "title": f"{{{answers.title}}}",
        "year": answers.date[:4],
        "version": answers.version,
        "doi": answers.doi,
        "url": answers.url,
    }
    body = ", ".join(f"{name} = {{{value}}}" for name, value in entries.items() if value)
    return f"@misc{{{key}, {body}}}"


def citation(answers: PublishFile) -> str:
    """Return the citation of the data set as one line of text."""
    names = ", ".join(f"{author.family_names}, {author.given_names[0]}." for author in answers.authors)
    where = f" https://doi.org/{answers.doi}" if answers.doi else f" {answers.url}" if answers.url else ""
    return f"{names} ({answers.date[:4]}). {answers.title} (version {answers.version}) [Data set].{where}"


def licence_url(licence: str) -> str:
    """Return the web address of the SPDX page about a licence."""
    return f"https://spdx.org/licenses/{licence}.html"


def address_of(answers: PublishFile) -> str:
    """Return the web address of the data set; return "" if the answers have no address."""
    return answers.url or (f"https://doi.org/{answers.doi}" if answers.doi else "")


def _person(author: Any) -> dict[str, Any]:
    return {
        "@type": "sc:Person",
        **({"@id": f"https://orcid.org/{author.orcid}"} if author.orcid else {}),
        "name": author.name,
        "givenName": author.given_names,
        "familyName": author.family_names,
        **({"affiliation": author.affiliation} if author.affiliation else {}),
    }


def _yaml(text: str) -> str:
    return json.dumps(multiline(text), ensure_ascii=False)
