"""Cluster-robust standard errors, statistics without variation, and bootstrap against linearised intervals."""

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy import stats

from analysis.raters.agreement import (
    bootstrap_coefficient,
    brennan_prediger,
    category_weights,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    percent_agreement,
    specific_agreement,
)
from analysis.raters.tables import Counts
from analysis.statistics.intervals import unanimous, wilson
from tests.analysis.raters import interval_coverage
from tests.analysis.raters.interval_coverage import cohen_coverage, count_coverage
from tests.analysis.raters.strategies import count_tables

COEFFICIENTS = [percent_agreement, fleiss_kappa, gwet_ac1, brennan_prediger, krippendorff_alpha]
PAPER = [[0, 2]] * 189 + [[2, 0]] * 135 + [[1, 1]] * 262


def drawn_counts(n, k, rng, *, kappa=0.4, p=0.5):
    """Draw beta-binomial labels: n items, k ratings each, intraclass correlation `kappa`."""
    scale = (1 - kappa) / kappa
    dissimilar = rng.binomial(k, rng.beta(p * scale, (1 - p) * scale, n))
    return np.column_stack([k - dissimilar, dissimilar])


@given(count_tables(min_items=25), st.sampled_from(COEFFICIENTS))
def test_groups_of_one_item_each_give_the_plain_interval(counts, coefficient):
    counts = np.vstack([counts, np.tile([2, 1], (20, 1))])
    grouped, plain = coefficient(Counts(counts), groups=np.arange(len(counts))), coefficient(Counts(counts))
    assert (grouped.value, grouped.se) == pytest.approx((plain.value, plain.se))
    assert (grouped.low, grouped.high) == pytest.approx((plain.low, plain.high))


def test_cluster_robust_standard_error_by_hand():
    # brennan_prediger on two labels per item: x_i = 2 pa_i - 1; 20 groups of two equal items, 15 agree and 5 do not
    counts = np.repeat([[2, 0], [1, 1]], [30, 10], axis=0)
    groups = np.arange(40) // 2
    value = 0.5
    sums = np.repeat([2 * (1 - value), 2 * (-1 - value)], [15, 5])
    se = np.sqrt(20 / 19 * (sums**2).sum()) / 40
    estimate = brennan_prediger(counts, groups=groups)
    assert (estimate.value, estimate.se, estimate.reason) == (0.5, pytest.approx(se), None)
    design = 2 * 39 / 40 * 20 / 19
    assert estimate.se == pytest.approx(brennan_prediger(counts).se * np.sqrt(design))
    # the ends are where twice the log likelihood ratio of 30 of 40 items reaches 1.15 t^2 times the design effect
    shares = np.array([estimate.low, estimate.high]) / 2 + 0.5
    ratio = 2 * (30 * np.log(0.75 / shares) + 10 * np.log(0.25 / (1 - shares)))
    assert ratio == pytest.approx(1.15 * stats.t.ppf(0.975, 19) ** 2 * design, rel=1e-3)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_alike_items_in_a_group_widen_the_interval_of_as_many_groups_as_rows(coefficient):
    counts = np.repeat(drawn_counts(30, 3, np.random.default_rng(2)), 5, axis=0)
    assert coefficient(counts, groups=np.arange(150) // 5).se > 2 * coefficient(counts).se
    with pytest.raises(ValueError, match=r"3 entries.*2 rows"):
        coefficient([[2, 0], [1, 1]], groups=[1, 2, 3])
    with pytest.raises(ValueError, match=r"8 entries.*4 rows"):
        coefficient([[2, 0], [1, 1]] * 2, groups=[1, 2] * 4)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_five_to_nineteen_groups_have_the_jackknife_over_groups(coefficient):
    rng = np.random.default_rng(6)
    counts, groups = drawn_counts(120, 3, rng), np.arange(120) % 8
    estimate = coefficient(counts, groups=groups)
    without = np.array([coefficient(counts[groups != group]).value for group in range(8)])
    assert estimate.se == pytest.approx(np.sqrt(7 / 8 * ((without - without.mean()) ** 2).sum()))
    assert estimate.half_width == pytest.approx(np.sqrt(1.15) * stats.t.ppf(0.975, 7) * estimate.se, rel=0.05)
    assert estimate.reason is None
    few = coefficient(counts, groups=np.arange(120) % 4)
    assert (few.value, few.low, few.reason) == (estimate.value, None, "fewer than 5 groups (4): no interval")


def test_groups_follow_the_rows_that_count():
    # rows without a rating (for some coefficients also with one) are left out, and their groups must be left out too
    rng = np.random.default_rng(4)
    counts, groups = drawn_counts(100, 3, rng), np.arange(100) % 25
    holes, hole_groups = np.array([[0, 0], [1, 0]] * 30), np.full(60, 99)
    order = rng.permutation(160)
    mixed, mixed_groups = Counts(np.vstack([counts, holes])[order]), np.concatenate([groups, hole_groups])[order]
    for coefficient in (percent_agreement, krippendorff_alpha):
        one, other = coefficient(counts, groups=groups), coefficient(mixed, groups=mixed_groups)
        assert (one.se, one.high) == pytest.approx((other.se, other.high))
    one, other = specific_agreement(counts, groups=groups), specific_agreement(mixed, groups=mixed_groups)
    assert one["similar"].se == pytest.approx(other["similar"].se)


def test_percent_agreement_of_pairs_in_groups_leaves_wilson_for_the_cluster_robust_interval():
    groups = np.arange(586) % 25
    assert percent_agreement(PAPER, groups=groups).se is not None
    full = percent_agreement([[2, 0]] * 80, groups=np.arange(80) // 2)
    assert (full.low, full.reason) == (1 - unanimous(40), "one-sided: all 40 groups of items are unanimous")
    specific = specific_agreement(PAPER, groups=groups)["similar"]
    assert specific.value == pytest.approx(0.507518797)
    assert specific.se is not None


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_full_agreement_has_a_one_sided_bound(coefficient):
    # nine similar and three dissimilar: pe of kappa 5/8, of AC1 3/8, of Brennan-Prediger 1/2; 1 - .05^(1/12) may differ
    by_skill = {"percent_agreement": 1, "gwet_ac1": 5 / 8, "brennan_prediger": 1 / 2}.get(coefficient.__name__, 3 / 8)
    for counts in ([[2, 0]] * 9 + [[0, 2]] * 3, [[3, 0]] * 9 + [[0, 3]] * 3):
        estimate = coefficient(counts)
        assert (estimate.value, estimate.se, estimate.high) == (1, None, 1)
        assert estimate.low == pytest.approx(1 - (1 - 0.05 ** (1 / 12)) / by_skill)
        assert estimate.reason == "one-sided: all 12 items are unanimous"


@pytest.mark.parametrize("coefficient", [fleiss_kappa, krippendorff_alpha])
def test_kappa_and_alpha_have_no_interval_with_fewer_than_three_items_of_the_rarer_category(coefficient):
    few = coefficient([[2, 0]] * 40 + [[1, 1], [0, 2]])
    assert (few.low, few.reason) == (None, "only 2 items have a label of the rarer category: no interval")
    assert few.value is not None
    assert coefficient([[2, 0]] * 40 + [[1, 1], [0, 2], [0, 2]]).low is not None
    assert cohen_kappa([[40, 1], [0, 1]]).reason == few.reason


def test_few_items_have_the_likelihood_interval():
    # 14 of 20 items of two raters: the limits are where twice the log likelihood ratio reaches t^2
    counts = [[2, 0]] * 9 + [[1, 1]] * 6 + [[0, 2]] * 5
    kappa, limit = fleiss_kappa(counts), stats.t.ppf(0.975, 19) ** 2 / 40
    shares = np.array([9, 6, 5]) / 20
    grid = np.array([(a, b, 1 - a - b) for a in np.arange(0.01, 1, 0.01) for b in np.arange(0.01, 1 - a, 0.01)])
    grid = grid[(grid > 0.005).all(axis=1)]
    inside = grid[(shares * np.log(shares / grid)).sum(axis=1) <= limit]
    p = inside[:, 0] + inside[:, 1] / 2
    kappas = 1 - inside[:, 1] / (2 * p * (1 - p))
    assert (kappa.low, kappa.high) == pytest.approx((kappas.min(), kappas.max()), abs=0.02)
    assert kappa.low <= kappas.min()
    assert kappa.high >= kappas.max()


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_the_bootstrap_of_the_papers_counts_agrees_with_the_linearised_interval(coefficient):
    drawn, plain = bootstrap_coefficient(coefficient, PAPER, rng=np.random.default_rng(1)), coefficient(PAPER)
    assert drawn.value == pytest.approx(plain.value)
    assert [drawn.low, drawn.high] == pytest.approx([plain.low, plain.high], abs=0.01)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_the_bootstrap_of_groups_agrees_with_the_cluster_robust_standard_error(coefficient):
    counts = np.repeat(drawn_counts(60, 3, np.random.default_rng(7)), 4, axis=0)
    groups = np.arange(240) // 4
    drawn = bootstrap_coefficient(coefficient, counts, rng=np.random.default_rng(1), groups=groups)
    assert drawn.se == pytest.approx(coefficient(counts, groups=groups).se, rel=0.1)


@given(count_tables(n_categories=3), st.sampled_from(COEFFICIENTS), st.integers(0, 99))
def test_the_bootstrap_starts_from_the_value_and_never_answers_nan(counts, coefficient, seed):
    drawn = bootstrap_coefficient(coefficient, Counts(counts), rng=np.random.default_rng(seed), n_draws=30)
    plain = coefficient(Counts(counts))
    assert drawn.value == pytest.approx(plain.value)
    assert (drawn.value is None) <= (drawn.reason is not None)
    assert (drawn.low is None) <= (drawn.reason is not None)
    assert not any(np.isnan(x) for x in (drawn.value, drawn.se, drawn.low, drawn.high) if x is not None)


def test_the_bootstrap_says_why_it_has_no_interval():
    rng = np.random.default_rng(1)
    assert bootstrap_coefficient(fleiss_kappa, [[2, 0]], rng=rng).reason == fleiss_kappa([[2, 0]]).reason
    assert bootstrap_coefficient(gwet_ac1, [[2, 0]] * 5, rng=rng).reason == "no variation between items: no interval"
    assert bootstrap_coefficient(gwet_ac1, [[2, 0]], rng=rng).reason == "one item: no interval"
    sparse = bootstrap_coefficient(fleiss_kappa, [[2, 0]] * 5 + [[1, 1]], rng=rng)
    assert "undefined in" in sparse.reason
    with pytest.raises(ValueError, match=r"coefficient.*percent_agreement"):
        bootstrap_coefficient(cohen_kappa, [[2, 0]], rng=rng)


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 3])
def test_the_intervals_cover_as_often_as_they_say(k):
    # beta-binomial labels at p = .5: percent agreement is (1 + kappa) / 2, and all corrected coefficients are kappa
    rng, kappa, n_repeats = np.random.default_rng(20 + k), 0.4, 2000
    true = {coefficient.__name__: kappa for coefficient in COEFFICIENTS} | {"percent_agreement": (1 + kappa) / 2}
    covered = dict.fromkeys(true, 0)
    for _ in range(n_repeats):
        counts = drawn_counts(200, k, rng, kappa=kappa)
        for coefficient in COEFFICIENTS:
            estimate, name = coefficient(counts), coefficient.__name__
            covered[name] += estimate.low <= true[name] <= estimate.high
    shares = {name: n / n_repeats for name, n in covered.items()}
    assert all(0.93 <= share <= 0.97 for share in shares.values()), shares


@pytest.mark.slow
def test_wilson_and_specific_agreement_cover_as_often_as_they_say():
    rng, kappa, p, n_repeats = np.random.default_rng(31), 0.4, 0.3, 2000
    both = p**2 + kappa * p * (1 - p)
    covered = {"wilson": 0, "specific": 0, "specific of three": 0}
    for _ in range(n_repeats):
        estimates = {
            "wilson": (wilson(rng.binomial(200, p), 200), p),
            "specific": (specific_agreement(drawn_counts(200, 2, rng, kappa=kappa, p=p))["dissimilar"], both / p),
            "specific of three": (
                specific_agreement(drawn_counts(200, 3, rng, kappa=kappa, p=p))["dissimilar"],
                both / p,
            ),
        }
        for name, (estimate, true) in estimates.items():
            covered[name] += estimate.low <= true <= estimate.high
    shares = {name: n / n_repeats for name, n in covered.items()}
    assert all(0.93 <= share <= 0.97 for share in shares.values()), shares


@pytest.mark.slow
def test_the_cluster_robust_interval_covers_where_the_plain_one_does_not():
    # 40 applications of 10 items; the items of an application are correlated
    rng, n_repeats = np.random.default_rng(41), 1000
    groups, covered = np.arange(400) // 10, {"robust": 0, "plain": 0}
    for _ in range(n_repeats):
        agree = rng.random(400) < np.repeat(rng.beta(3, 3, 40), 10)
        counts = np.where(agree[:, None], [2, 0], [1, 1])
        for name, estimate in (
            ("robust", brennan_prediger(counts, groups=groups)),
            ("plain", brennan_prediger(counts)),
        ):
            covered[name] += estimate.low <= 0 <= estimate.high
    assert 0.93 <= covered["robust"] / n_repeats <= 0.985  # the limit of the likelihood is 1.15 times that of 95 %
    assert covered["plain"] / n_repeats < 0.9


def test_the_interval_of_cohens_kappa_with_full_agreement_by_hand():
    # share e of different labels: 2 x 20 log(1 / (1 - e)) = F(1, 19), and kappa = 1 - 2 e at equal shares
    different = 1 - np.exp(-stats.f.ppf(0.95, 1, 19) / 40)
    kappa = cohen_kappa([[10, 0], [0, 10]])
    assert (kappa.value, kappa.se, kappa.low) == (1.0, None, pytest.approx(1 - 2 * different, abs=1e-5))


@given(st.integers(2, 4).flatmap(lambda q: st.lists(st.integers(0, 6), min_size=q * q, max_size=q * q)))
def test_the_interval_of_cohens_kappa_holds_it_and_does_not_depend_on_who_is_first(cells):
    table = np.reshape(cells, (int(len(cells) ** 0.5), -1))
    kappa, swapped = cohen_kappa(table), cohen_kappa(table.T)
    assume(kappa.low is not None)
    assert -1 <= kappa.low <= kappa.value <= kappa.high <= 1
    assert (swapped.low, swapped.high) == pytest.approx((kappa.low, kappa.high), abs=1e-3)
    assert cohen_kappa(10 * table).low >= kappa.low - 1e-6


@pytest.mark.parametrize("n_items", [5, 10])
def test_the_interval_of_cohens_kappa_covers_with_few_items(n_items):
    for kappa, share, bias, _, coverage, _ in cohen_coverage(n_items):
        assert coverage >= 0.92, (kappa, share, bias)


@pytest.mark.slow
@pytest.mark.parametrize("n_items", [15, 20, 30])
def test_the_interval_of_cohens_kappa_covers_where_the_normal_one_does_not(n_items):
    rows = cohen_coverage(n_items)
    # where so few labels are rare that every fifth study has no interval, those that have one cover a little less
    assert min(coverage for *_, given, coverage, _ in rows if given > 0.8) >= 0.92
    assert min(coverage for *_, coverage, _ in rows) >= 0.9
    assert min(normal for *_, normal in rows) < 0.6


@pytest.mark.slow
@pytest.mark.parametrize("n_items", [30, 50, 80])
@pytest.mark.parametrize("name", interval_coverage.COEFFICIENTS)
def test_an_interval_covers_also_if_a_category_is_rare(name, n_items):
    least = 0.89 if name == "Percent agreement" else 0.92  # Wilson's interval
    for kappa, share, coverage in count_coverage(name, n_items):
        assert coverage >= least, (kappa, share)


@pytest.mark.slow
def test_the_interval_of_weighted_kappa_covers_with_twenty_items():
    # three categories and two equal raters: with probability .5 the second repeats the first, else both are drawn
    rng, p, weights = np.random.default_rng(61), np.array([0.5, 0.3, 0.2]), category_weights("linear", 3)
    cells = 0.5 * np.diag(p) + 0.5 * np.outer(p, p)
    expected = (weights * np.outer(p, p)).sum()
    true, covered, n_defined = ((weights * cells).sum() - expected) / (1 - expected), 0, 0
    for _ in range(1500):
        estimate = cohen_kappa(rng.multinomial(20, cells.ravel()).reshape(3, 3), weights="linear")
        n_defined += estimate.low is not None
        covered += estimate.low is not None and estimate.low <= true <= estimate.high
    assert 0.92 <= covered / n_defined <= 0.985
