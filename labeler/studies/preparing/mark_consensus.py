"""Combine the marks of the reviewers of an item: where most of them agree, and what a person has to decide."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from analysis.methods.points import MarkCluster, consensus_of_marks, margin_of
from analysis.text import counted
from labeler import marks
from labeler.marks import Mark
from labeler.studies.model import Question


@dataclass(frozen=True)
class Cluster:
    """Marks of several people near one place."""

    mark: Mark  # the middle of the marks, with the kind that most of these people chose
    places: tuple[Mark, ...]  # what each of them marked
    n_of: int  # number of people who labelled the item

    @property
    def share(self) -> str:
        """How many of the people marked here, such as "2/3"."""
        return f"{len(self.places)}/{self.n_of}"

    def describe(self) -> str:
        """Return the cluster as text, such as "28, by 2 of 4 people (27, 29)"."""
        return f"{self.mark}, by {len(self.places)} of {counted(self.n_of, 'person', 'people')}" + (
            f" ({', '.join(map(str, self.places))})" if len(self.places) > 1 else ""
        )


@dataclass(frozen=True)
class MarksOfItem:
    """Clusters of marks by how many people marked there: more than half, exactly half, or fewer."""

    agreed: tuple[Cluster, ...]
    ties: tuple[Cluster, ...]
    lone: tuple[Cluster, ...]

    @property
    def clusters(self) -> tuple[Cluster, ...]:
        """All clusters, in the order of the series."""
        return tuple(sorted((*self.agreed, *self.ties, *self.lone), key=lambda cluster: cluster.mark.at))

    @property
    def is_split(self) -> bool:
        """Whether a person left out a place that another person marked."""
        return any(len(cluster.places) < cluster.n_of for cluster in self.clusters)


def consensus(question: Question, labels: Mapping[str, str], n: int) -> MarksOfItem:
    """Combine the labels of the people who labelled a series of `n` points; a label without marks has none."""
    people = {person: marks.read(label) for person, label in labels.items()}
    found = consensus_of_marks({person: [mark.at for mark in given] for person, given in people.items()}, margin_of(n))

    def cluster(of: MarkCluster) -> Cluster:
        places = tuple(
            next(mark for mark in people[person] if mark.at == at)
            for person, at in zip(of.people, of.marks, strict=True)
        )
        kinds = Counter(mark.kind for mark in places)
        kind = max((*(kind.name for kind in question.kinds), None), key=lambda name: kinds[name])
        return Cluster(Mark(of.at, of.at, kind), places, len(people))

    return MarksOfItem(*(tuple(map(cluster, which)) for which in (found.agreed, found.ties, found.lone)))


def answer_of(question: Question, clusters: Iterable[Cluster]) -> str:
    """Return the label that has a mark for each of these clusters."""
    chosen = sorted(cluster.mark for cluster in clusters)
    return marks.write(chosen) if chosen else str(question.no_mark)
