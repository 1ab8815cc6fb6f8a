"""Combine the marks of several people on one series: where most of them agree, and what a person has to decide."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median_low

from analysis.methods.points._scores import MARGIN, People

SHARE = 100  # the margin is at least a hundredth of the series


@dataclass(frozen=True)
class MarkCluster:
    """Marks of several people that are near each other."""

    at: int  # the middle mark
    marks: tuple[int, ...]
    people: tuple[str, ...]  # who marked here, each once


@dataclass(frozen=True)
class MarkConsensus:
    """The consensus on the marks of one series, and what a person has to decide."""

    agreed: tuple[MarkCluster, ...]  # by more than half of the people
    ties: tuple[MarkCluster, ...]  # by exactly half of the people
    lone: tuple[MarkCluster, ...]  # by fewer than half of the people

    @property
    def marks(self) -> tuple[int, ...]:
        """Return the agreed marks."""
        return tuple(cluster.at for cluster in self.agreed)


def margin_of(n: int) -> int:
    """Return within how many points two marks are the same, in a series of `n` points."""
    return max(MARGIN, n // SHARE)


def consensus_of_marks(people: People, margin: int = MARGIN) -> MarkConsensus:
    """Cluster the marks of one series, and sort the clusters by how many people marked there.

    Neighbouring marks of different people belong to one cluster as long as all its marks are within `margin` points of
    each other; two marks of the same person are always in different clusters.

    `people`: person -> marks. People without marks count as people who saw no change. `margin`: largest distance of two
    marks in a cluster.
    """
    agreed: list[MarkCluster] = []
    ties: list[MarkCluster] = []
    lone: list[MarkCluster] = []
    for cluster in _clusters(people, margin):
        n = 2 * len(cluster.people)
        (agreed if n > len(people) else ties if n == len(people) else lone).append(cluster)
    return MarkConsensus(tuple(agreed), tuple(ties), tuple(lone))


def _clusters(people: People, margin: int) -> Iterator[MarkCluster]:
    marks = sorted((mark, person) for person, of_person in people.items() for mark in set(of_person))
    cluster: list[tuple[int, str]] = []
    for mark, person in marks:
        if cluster and (mark - cluster[0][0] > margin or person in {name for _, name in cluster}):
            yield _cluster(cluster)
            cluster = []
        cluster.append((mark, person))
    if cluster:
        yield _cluster(cluster)


def _cluster(marks: Sequence[tuple[int, str]]) -> MarkCluster:
    places = tuple(mark for mark, _ in marks)
    return MarkCluster(median_low(places), places, tuple(person for _, person in marks))
