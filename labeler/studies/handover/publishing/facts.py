"""Compute numbers and sentences for the README, datasheet and metadata of a published study."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import labeler
from analysis.report import Report
from analysis.runs.classifiers import CLASSIFIERS
from analysis.statistics.intervals import Estimate
from analysis.text import joined
from labeler.studies.handover.publishing.publish_file import PublishFile, Times
from labeler.studies.handover.publishing.tables import DATA_HASH, StudyTables
from labeler.studies.model import Kind, Origin, Study
from labeler.studies.screen.kinds import kind_of

SOFTWARE = "benchmark-run-labeler"  # name of the installable package
AXES = {
    "levels": "the median and middle half of each run and every lasting level",
    "core": "the central values of each run",
    "pooled": "the middle of all values of all runs",
    "full": "all values of all runs",
}


@dataclass(frozen=True)
class DatasetFacts:
    """Numbers and sentences that describe a published study."""

    study: Study
    tables: StudyTables
    report: Report
    answers: PublishFile
    has_measurements: bool
    plan_secret: str = ""  # the secret of the plan; empty unless it is published

    @property
    def n_items(self) -> int:
        """Number of items in the results."""
        return int((self.tables.items.frame["role"] == "counted").sum())

    @property
    def n_left_out(self) -> int:
        """Number of items that all results leave out: excluded items, calibration items and sources of checks."""
        return len(self.tables.items.frame) - self.n_items

    @property
    def n_applications(self) -> int:
        """Number of applications with items in the results."""
        frame = self.tables.items.frame
        return len(set(frame.loc[frame["role"] == "counted", "application"]) - {""})

    @property
    def n_reviewers(self) -> int:
        """Number of reviewers who gave at least one label from which agreement is computed."""
        frame = self.tables.labels.frame
        return int(frame.loc[frame["counts"], "reviewer"].nunique())

    @property
    def n_answers(self) -> int:
        """Number of rows in the label table."""
        return len(self.tables.labels.frame)

    @property
    def n_labels(self) -> int:
        """Number of labels from which agreement is computed."""
        return int(self.tables.labels.frame["counts"].sum())

    @property
    def dates(self) -> tuple[str, str]:
        """First and last day of labelling; empty strings if there are no answers."""
        return self.tables.dates

    def days(self) -> str:
        """Return the first and last day of labelling as text."""
        first, last = self.dates
        if not first:
            return "not published" if self.n_answers else "no answers"
        return first if first == last else f"{first} to {last}"

    @property
    def kappa(self) -> str:
        """Fleiss' kappa with its interval, or the reason why it is undefined."""
        return _estimate(self.report.agreement.fleiss_kappa)

    @property
    def percent(self) -> str:
        """Percent agreement with its interval, or the reason why it is undefined."""
        return _share(self.report.agreement.percent)

    @property
    def classifiers(self) -> list[str]:
        """Classifiers with verdicts in the data, with their parameters."""
        used = self.report.parameters.verdicts or {}
        return [f"{name} ({_title(name)}; {_parameters(used[name])})" for name in sorted(used)]

    @property
    def question(self) -> str:
        """The question that reviewers answered."""
        return self.study.question.text

    @property
    def categories(self) -> Sequence[str]:
        """The categories of the question."""
        return self.study.question.classes

    @property
    def shows(self) -> str:
        """What an item shows."""
        return kind_of(self.study.question).shows

    def instances(self) -> list[str]:
        """Return sentences about what an item and a label are."""
        return [
            f"An item shows {self.shows}.",
            f"A label is a reviewer's answer to the question “{self.question}”: {joined(self.categories, 'or')}.",
        ]

    @property
    def n_imported(self) -> int:
        """Number of assignments with imported labels."""
        return int((self.tables.plan["origin"] == Origin.IMPORT).sum())

    def software(self) -> str:
        """Return the name and version of the software that stored and evaluated the study."""
        return f"labeler {labeler.__version__} ({SOFTWARE})"

    def platform(self) -> str:
        """Return a sentence about where reviewers gave their labels: in this software or elsewhere."""
        if self.n_imported == len(self.tables.plan):
            return f"Labels were given elsewhere and imported into {self.software()}."
        some = f"; the labels of {_n(self.n_imported, 'assignment')} were imported" if self.n_imported else ""
        return f"Labels were given with {self.software()} in the browser{some}."

    def annotations_per_item(self) -> str:
        """Return a text that says how many items have how many labels from which agreement is computed."""
        frame = self.tables.items.frame
        counted = frame[frame["role"] == "counted"]
        sizes = Counter(counted[[f"n_{category}" for category in self.categories]].sum(axis=1).astype(int))
        return "; ".join(f"{_n(n, 'label')} on {_n(sizes[n], 'item')}" for n in sorted(sizes))

    def collection(self) -> str:
        """Return sentences that describe the measurements."""
        if not self.tables.n_runs:
            return (
                f"{_n(self.n_items, 'item')}; the study has labels and verdicts, but no measurements. "
                + self.answers.declared("hardware")
            )
        units = sorted(set(self.tables.items.frame["unit"]))
        return (
            f"{_n(self.n_items, 'benchmark')} of {_n(self.n_applications, 'application')}, "
            f"{_n(self.tables.n_runs, 'run')} in new processes, {_n(self.tables.n_values, 'measurement')} in "
            f"{', '.join(units)}. The measurements were imported unchanged from the result files of the benchmark "
            "harness. " + self.answers.declared("hardware")
        )

    def preprocessing(self) -> list[str]:
        """Return sentences about how the data were processed between import and publication."""
        done = [
            "Measurements were not changed, filtered or rescaled after their import.",
            (
                "Numbers replace the names of reviewers and coordinators. A secret determines their order. "
                "Names and addresses in the log and in all other texts were replaced as whole words."
            ),
            "Metadata of the runs, such as the name of the machine, were left out.",
        ]
        if not self.has_measurements and self.tables.n_runs:
            of_hash = (
                f" The column {DATA_HASH} of items identifies them." if DATA_HASH in self.tables.items.frame else ""
            )
            done.append(f"The measurements are not in this data set.{of_hash}")
        if self.n_left_out:
            done.append(
                f"{_n(self.n_left_out, 'item')} of {len(self.tables.items.frame)} are left out of the results "
                "(see the column role of the table items)."
            )
        return done

    def protocol(self) -> list[str]:
        """Return sentences about how the items were labelled."""
        protocol, plan = self.study.protocol, self.study.plan_parameters or {}
        said = [f"Question: {self.question}"]
        if self.n_imported == len(self.tables.plan):
            return [
                *said,
                (
                    "All labels were imported. The study has no record of the plots or the assignment of items. "
                    "Labels without a time in the file have the time of the import."
                ),
            ]
        said += [
            (
                f"Each picture showed {self.shows}, under an opaque code. Reviewers did not see names of "
                "benchmarks or applications, verdicts, or other reviewers' labels until the study was unblinded."
            ),
            (
                f"The y axis first showed {AXES.get(protocol.axis_rule, protocol.axis_rule)}, at least "
                f"{100 * protocol.min_span:g} % of the median. Reviewers could change the axis."
            ),
            self._possible_answers() + (", with a confidence from 1 to 3." if protocol.asks_confidence else "."),
        ]
        if protocol.instructions:
            said.append(f"Further instructions: {protocol.instructions}")
        if plan:
            kinds = Counter(self.tables.plan["kind"])
            design = "items were split at random into one part per pair, as in the paper" if plan.get("paper") else (
                "sets of reviewers were balanced by workload and applications"
            )  # fmt: skip
            said.append(
                f"A plan with a random seed assigned each item to {plan.get('per_item')} reviewers, and "
                f"{100 * plan.get('overlap', 0):g} % of the items to all reviewers; {design}. Assignments: "
                + ", ".join(f"{kinds[kind]} {kind}" for kind in Kind if kinds[kind.value])
                + "."
            )
        if self.n_imported:
            said.append(
                f"The labels of {_n(self.n_imported, 'assignment')} were imported and are not part of the plan."
            )
        return said

    def _possible_answers(self) -> str:
        names = ", ".join(self.categories)
        return f"Possible answers: {names}" + (
            ", or not sure (then the item was shown again)" if self.study.question.not_sure else ""
        )

    def analysis(self) -> list[str]:
        """Return sentences about the agreement of the reviewers and the consensus."""
        consensus = self.report.consensus
        by_category = consensus.agreed_by_category
        agreed = ", ".join(f"{by_category[category]} {category}" for category in reversed(self.categories))
        return [
            (
                f"The observed agreement is {self.percent}, and Fleiss' kappa is {self.kappa}. Both were computed "
                f"from {_n(self.n_labels, 'first label')}."
            ),
            (
                f"Consensus: {consensus.agreed} items agreed ({agreed}), "
                f"{consensus.split} split, {consensus.incomplete} with fewer than two labels."
            ),
            (
                "The report also has the agreement of each pair of reviewers, other coefficients, the self-agreement "
                "of the reviewers, and all intervals. The file report.json has every number."
            ),
        ]

    def biases(self) -> list[str]:
        """Return sentences about differences between reviewers and between applications."""
        labels = self.tables.labels.frame
        counted = labels[labels["counts"]]
        said = []
        if len(counted):
            positive = self.study.question.positive
            for category in [positive] if positive else self.categories:
                shares = (counted["label"] == category).groupby(counted["reviewer"]).mean()
                said.append(
                    f"The share of {category} labels differs between reviewers: from {100 * shares.min():.1f} % to "
                    f"{100 * shares.max():.1f} % of their first labels."
                )
        items = self.tables.items.frame
        sizes = Counter(items.loc[items["role"] == "counted", "application"])
        if sizes and self.n_applications > 1:
            name, most = sizes.most_common(1)[0]
            said.append(
                f"Applications differ in size: {name or 'an unnamed application'} has {most} of {self.n_items} items."
            )
        return [*said, "Reviewers judged plots, so the axis of a plot and the order of items may influence a label."]

    def limitations(self) -> list[str]:
        """Return sentences about the limitations of the data."""
        consensus, names = self.report.consensus, joined(self.categories).capitalize()
        return [
            (
                f"{consensus.split} of {self.n_items} items have no agreed category. Results that use only agreed "
                "items leave these items out."
            ),
            f"{names} are judgements of people who looked at plots, not properties of the software.",
            "The measurements are valid only for the machines and versions that were measured.",
            *map(str, self.report.notes),
        ]

    def sensitive(self) -> list[str]:
        """Return sentences about personal and sensitive information in the data."""
        said = [
            (
                "The data set has no names, e-mail addresses, sign-ins or host names. Reviewers appear as numbers. "
                "Each answer has the time on task."
            ),
            {
                Times.MINUTES: "Each answer has the whole minutes since the reviewer's first answer, but no date.",
                Times.DAYS: "Each answer has the whole days since the reviewer's first answer, but no date.",
                Times.NONE: "The times of answers are left out.",
            }[Times(self.answers.times)],
        ]
        said.append(
            "The data set has comments that a coordinator read and released."
            if "comment" in self.tables.labels.frame
            else "Comments of reviewers are left out."
        )
        said.append(
            "The seed and the secret of the plan are published: people who know the reviewers can find out who gave "
            "which label."
            if self.answers.plan_seed
            else "The seed and the secret of the plan are left out, because people who know the reviewers could use "
            "them to find out who gave which label."
        )
        return said


def _n(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}".replace(",", "\u202f")


def _estimate(value: Estimate) -> str:
    if value.value is None:
        return f"undefined ({value.reason})"
    interval = "" if value.low is None else f" (95 % interval {value.low:.3f} to {value.high:.3f})"
    return f"{value.value:.3f}{interval}"


def _share(value: Estimate) -> str:
    if value.value is None:
        return f"undefined ({value.reason})"
    low, high = value.low, value.high
    interval = "" if low is None or high is None else f" (95 % interval {100 * low:.1f} to {100 * high:.1f} %)"
    return f"{100 * value.value:.1f} %{interval}"


def _title(classifier: str) -> str:
    known = CLASSIFIERS.get(classifier)
    return known.title if known else "imported or added"


def _parameters(entries: Sequence[Mapping[str, Any]]) -> str:
    return " or ".join(", ".join(f"{name} {value}" for name, value in sorted(entry.items())) for entry in entries)
