import re
from functools import cache

import numpy as np
import pytest
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from analysis.classifiers import same
from analysis.document import figures
from analysis.measures._figures import pair_matrix
from tests.analysis.drawn import cells_of, parts

SIZES = (2, 3, 10, 25)
CUT = 0.5


def pairs_of(k):
    """Build different dissimilarities of k runs in three distant groups."""
    place = np.random.default_rng(k).permutation(k) % 3 + np.random.default_rng(k + 1).uniform(0, 0.1, k)
    i, j = np.triu_indices(k, 1)
    return np.abs(place[i] - place[j]) / 2.2


def clustered(k):
    """Return the pairs with their clusters and merges, as in SAME."""
    pairs = pairs_of(k)
    linkage = hierarchy.linkage(pairs, method="average")
    return pairs, tuple(hierarchy.fcluster(linkage, CUT / 2.2, criterion="distance").tolist()), linkage


@cache
def drawn_matrix(k, has_tree):
    """Draw the figure of k runs and return its parts."""
    pairs, clusters, linkage = clustered(k)
    return parts(pair_matrix(pairs, clusters, linkage, cut=CUT) if has_tree else pair_matrix(pairs))


@cache
def matrix(k, has_tree):
    """Return the cells of the matrix."""
    return cells_of(drawn_matrix(k, has_tree))


def order(drawn):
    """Return the runs from left to right, after a check that the order from top to bottom is the same."""
    columns, rows = (list(dict.fromkeys(getattr(cell, side) for cell in drawn)) for side in ("column", "row"))
    assert columns == rows
    return [int(run) for run in columns]


def frames(drawn):
    """Return the first and last position of each frame in cells, from 0; frames lie on the diagonal."""
    areas = [part for part in drawn if part.role == "mark" and part.width]
    shaded = [part for part in areas if part.fill]
    left, top, size = min(cell.x for cell in shaded), min(cell.y for cell in shaded), shaded[0].width
    found = []
    for frame in (part for part in areas if not part.fill):
        first, last = round((frame.x - left) / size), round((frame.x + frame.width - left) / size) - 1
        assert (first, last) == (round((frame.y - top) / size), round((frame.y + frame.height - top) / size) - 1)
        found.append((first, last))
    return sorted(found)


@pytest.mark.parametrize("k", SIZES)
def test_without_a_tree_the_runs_keep_their_order(k):
    assert order(matrix(k, has_tree=False)) == list(range(1, k + 1))


@pytest.mark.parametrize("k", SIZES)
def test_with_a_tree_the_runs_are_in_the_order_of_its_leaves(k):
    _, _, linkage = clustered(k)
    assert order(matrix(k, has_tree=True)) == [leaf + 1 for leaf in hierarchy.leaves_list(linkage)]


@pytest.mark.parametrize("has_tree", [False, True])
@pytest.mark.parametrize("k", SIZES)
def test_every_value_is_in_the_cell_of_its_two_runs(k, has_tree):
    square, drawn = squareform(pairs_of(k)), matrix(k, has_tree)
    assert len(drawn) == k * k
    for cell in drawn:
        assert cell.value == pytest.approx(square[int(cell.row) - 1, int(cell.column) - 1], abs=1e-9)


@pytest.mark.parametrize("k", [2, 3, 10, 20])
def test_every_cell_off_the_diagonal_says_its_value(k):
    for cell in matrix(k, has_tree=False):
        assert cell.text == ("" if cell.row == cell.column else f"{cell.value:.2f}")


def test_with_more_than_twenty_runs_there_is_no_space_for_numbers():
    assert not any(cell.text for cell in matrix(21, has_tree=False))


@pytest.mark.parametrize("k", SIZES)
def test_a_frame_is_round_each_cluster(k):
    _, clusters, linkage = clustered(k)
    ordered = [clusters[leaf] for leaf in hierarchy.leaves_list(linkage)]
    expected = sorted((ordered.index(c), k - 1 - ordered[::-1].index(c)) for c in set(clusters))
    assert len(expected) == len(set(clusters)) > 1
    assert frames(drawn_matrix(k, has_tree=True)) == expected


def test_one_cluster_has_one_frame_round_all_runs():
    assert frames(parts(pair_matrix(np.array([0.1, 0.1, 0.1]), (1, 1, 1)))) == [(0, 2)]


def test_without_clusters_there_is_no_frame():
    assert frames(drawn_matrix(10, has_tree=False)) == []


def test_clusters_without_a_tree_have_frames_in_the_given_order():
    drawn = parts(pair_matrix(pairs_of(10), (1, 1, 2, 2, 2, 1, 3, 3, 3, 3)))
    assert frames(drawn) == [(0, 1), (2, 4), (5, 5), (6, 9)]


def test_the_frames_are_those_of_sames_verdict():
    runs = np.random.default_rng(3).uniform(1, 1.05, (6, 60)) * np.array([1, 5, 1, 5, 1, 1])[:, None]
    verdict = same(runs)
    chart = pair_matrix(verdict.pairs["cosine"], verdict.clusters, verdict.linkage, cut=verdict.threshold)
    assert verdict.clusters == (1, 2, 1, 2, 1, 1)
    assert sorted(last - first + 1 for first, last in frames(parts(chart))) == [2, 4]


@pytest.fixture(scope="module")
def tree():
    """Draw three runs: 1 and 2 merge at 0.2, and 3 joins them at 0.9; the leaves are 3, 1, 2."""
    pairs = np.array([0.2, 1.0, 0.8])
    return parts(pair_matrix(pairs, (1, 1, 2), hierarchy.linkage(pairs, method="average"), cut=0.5))


def corners(part):
    """Return the corners of a line, in page coordinates."""
    return [(part.x + float(x), part.y + float(y)) for x, y in re.findall(r"([\d.]+),([\d.]+)", part.path)]


def height_at(tree, y):
    """Return the value on the axis of the tree at this page coordinate."""
    zero, step = (next(part.y for part in tree if part.text == text) for text in ("0.0", "0.2"))
    return 0.2 * (zero - y - 3) / (zero - step)  # a label is 3 px above its tick


def test_the_tree_merges_at_the_heights_of_the_linkage(tree):
    tops = [height_at(tree, min(y for _, y in corners(part))) for part in tree if "corner:" in part.label]
    assert sorted(tops) == pytest.approx([0.2, 0.9], abs=0.02)


def test_the_leaves_of_the_tree_are_above_the_columns_of_their_runs(tree):
    lowest = max(part.y for part in tree if part.role == "axis-label")
    column = {part.text: part.x for part in tree if part.role == "axis-label" and part.y == lowest}
    first, last = (corners(part) for part in tree if "corner:" in part.label)
    assert [first[0][0], first[-1][0]] == pytest.approx([column["1"], column["2"]], abs=1)
    assert [last[0][0], last[-1][0]] == pytest.approx([column["3"], (column["1"] + column["2"]) / 2], abs=1)


def test_a_rule_crosses_the_tree_at_the_cut(tree):
    (rule,) = [part for part in tree if part.tag == "line" and part.role == "mark"]
    assert height_at(tree, rule.y) == pytest.approx(0.5, abs=0.02)


def test_the_axes_of_the_tree_and_the_matrix_are_named(tree):
    assert [part.text for part in tree if part.role == "axis-title"] == ["dissimilarity at merge", "run", "run"]


def test_the_numbers_of_two_runs_are_in_the_middle_of_their_cells():
    drawn = parts(pair_matrix(np.array([0.4])))
    number = next(part for part in drawn if part.text == "0.40")
    cell = next(part for part in drawn if part.width and part.fill and part.holds(number))
    assert number.x == pytest.approx(cell.x + cell.width / 2, abs=1)


def test_a_benchmark_may_have_a_hundred_runs():
    assert len(figures.to_svg(pair_matrix(np.linspace(0, 1, 4950)))) > 100_000
