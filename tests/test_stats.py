"""What may be said of samples: an interval that keeps its promise, and a change that is not read out of noise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretrace import stats
from foretrace.stats import exact, ratio, summarise

SAMPLES = st.lists(st.floats(min_value=0.001, max_value=1e6), min_size=1, max_size=60)


def ranks(count: int) -> tuple[int, int]:
    """The 1-based ranks that `summarise` takes as the interval's ends."""
    found = summarise(range(1, count + 1))
    return int(found.low), int(found.high)


def covered(count: int, low: int) -> Fraction:
    """The exact probability that the median lies between the order statistics `low` and `count + 1 - low`."""
    outside = 2 * sum(math.comb(count, below) for below in range(low))
    return 1 - Fraction(outside, 2**count)


@pytest.mark.parametrize(
    ("count", "expected"),
    [(1, (1, 1)), (5, (1, 5)), (6, (1, 6)), (8, (1, 8)), (9, (2, 8)), (20, (6, 15)), (30, (10, 21)), (100, (40, 61))],
)
def test_the_interval_ends_at_the_published_ranks(count: int, expected: tuple[int, int]) -> None:
    assert ranks(count) == expected


@pytest.mark.parametrize("count", [*range(6, 121), 999, 1000, 5000])
def test_the_interval_is_the_narrowest_that_holds_the_median_with_95_percent(count: int) -> None:
    low, high = ranks(count)
    assert low + high == count + 1
    assert covered(count, low) >= Fraction(95, 100)
    assert covered(count, low + 1) < Fraction(95, 100)


@pytest.mark.parametrize("count", [10, 30])
def test_skewed_samples_are_covered_as_promised(count: int) -> None:
    draws = np.random.default_rng(1).exponential(size=(4000, count))
    found = [summarise(row) for row in draws]
    hits = sum(one.low <= math.log(2) <= one.high for one in found)
    assert hits / len(found) > 0.94


@pytest.mark.parametrize(("count", "promised"), [(3, 0.87), (5, 0.93), (30, 0.93)])
def test_the_ratio_of_two_medians_is_covered_as_promised(count: int, promised: float) -> None:
    draws = np.random.default_rng(2).lognormal(sigma=0.2, size=(300, 2, count))
    hits = sum((found := ratio(3 * top, bottom)).low <= 3 <= found.high for top, bottom in draws)
    assert hits / len(draws) > promised


def test_two_measurements_of_one_thing_seldom_differ() -> None:
    draws = np.random.default_rng(3).lognormal(sigma=0.1, size=(300, 2, 30))
    apart = sum(not (found := ratio(one, other)).low <= 1 <= found.high for one, other in draws)
    assert apart / len(draws) < 0.1


def test_a_summary_tells_all_of_its_samples() -> None:
    found = summarise([4.0, 1.0, 2.0, 100.0])
    assert (found.count, found.median, found.minimum, found.maximum, found.mean) == (4, 3.0, 1.0, 100.0, 26.75)
    assert (found.low, found.high) == (1.0, 100.0)
    assert found.spread == 16.5


def test_an_outlier_moves_the_mean_and_not_the_median() -> None:
    calm, hit = summarise([10.0] * 29), summarise([10.0] * 29 + [1000.0])
    assert (hit.median, hit.low, hit.high) == (calm.median, calm.low, calm.high) == (10.0, 10.0, 10.0)
    assert hit.mean > 40


def test_what_is_not_a_number_is_no_sample() -> None:
    assert summarise([1.0, math.nan, 3.0, math.inf]).count == 2
    for nothing in ([], [math.nan]):
        with pytest.raises(ValueError, match="no finite sample"):
            summarise(nothing)


def test_a_counted_quantity_has_no_spread() -> None:
    found = exact(0.0)
    assert (found.count, found.low, found.high, found.spread) == (1, 0.0, 0.0, 0.0)


@given(SAMPLES)
def test_a_summary_lies_within_its_samples_in_whatever_order_they_come(samples: list[float]) -> None:
    found = summarise(samples)
    assert found.minimum <= found.low <= found.median <= found.high <= found.maximum
    assert found == summarise(reversed(samples))


@given(SAMPLES, st.sampled_from([0.5, 2.0, 1024.0]))
def test_another_unit_scales_a_summary_and_leaves_its_spread(samples: list[float], factor: float) -> None:
    found, scaled = summarise(samples), summarise([factor * value for value in samples])
    assert scaled.median == pytest.approx(factor * found.median)
    assert (scaled.low, scaled.high) == (factor * found.low, factor * found.high)
    assert scaled.spread == pytest.approx(found.spread)


def test_a_ratio_is_of_the_medians_and_the_same_every_time() -> None:
    top, bottom = [20.0, 21.0, 19.0, 500.0, 20.0], [10.0, 9.0, 11.0, 10.0, 10.0]
    found = ratio(top, bottom)
    assert found.median == 2.0
    assert found.minimum <= found.low <= found.median <= found.high <= found.maximum
    assert found.count == 5
    many = np.random.default_rng(4).lognormal(size=(2, 30))
    assert ratio(*many) == ratio(*many)


def test_a_ratio_of_constants_has_no_spread() -> None:
    found = ratio([6.0] * 10, [3.0] * 7)
    assert (found.count, found.low, found.median, found.high, found.mean) == (7, 2.0, 2.0, 2.0, 2.0)


@pytest.mark.parametrize(("top", "bottom"), [([], [1.0]), ([1.0], []), ([1.0], [0.0, 0.0, 5.0]), ([1.0], [math.nan])])
def test_a_ratio_that_has_no_meaning_is_refused(top: list[float], bottom: list[float]) -> None:
    with pytest.raises(ValueError, match="samples on both sides"):
        ratio(top, bottom)


def test_over_several_processes_the_interval_holds_those_of_all() -> None:
    quick, slow = (9.8, 10.0, 10.2), (19.6, 20.0, 20.4)
    found = stats.across((quick, slow))
    assert (found.median, found.low, found.high, found.count) == (15.0, 9.8, 20.4, 6)
    assert stats.across((quick,)) == stats.summarise(quick)
    with pytest.raises(ValueError, match="no finite sample"):
        stats.across(((math.nan,), ()))


def test_of_many_processes_their_medians_are_the_samples() -> None:
    rounds = tuple(
        (middle - 0.1, middle, middle + 0.1) for middle in (20.0, 21.0, 22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 90.0)
    )
    found = stats.across(rounds)
    assert (found.median, found.low, found.high) == (24.0, 21.0, 27.0)  # ranks 2 and 8 of 9
    assert (found.minimum, found.maximum) == (19.9, 90.1)
    few = stats.across(rounds[:5])
    assert (few.low, few.high) == (19.9, 24.1)


def test_a_ratio_taken_round_by_round_does_not_see_a_drift_of_both_sides() -> None:
    one = tuple(tuple(drift * value for value in (9.9, 10.0, 10.1) * 5) for drift in (1.0, 1.5, 2.0))
    other = tuple(tuple(2 * value for value in each) for each in one)
    found = stats.ratio_across(other, one)
    assert found.median == pytest.approx(2.0)
    assert (found.low, found.high) == pytest.approx((2.0, 2.0), rel=0.03)


def test_a_single_round_over_several_keeps_the_spread_of_both() -> None:
    found = stats.ratio_across(((10.0, 10.0),), ((5.0, 5.0), (20.0, 20.0)))
    assert (found.low, found.median, found.high) == (0.5, 0.8, 2.0)
    one, many = (8.0, 10.0, 12.0), ((10.0, 10.0),) * 12
    found = stats.ratio_across((one,), many)
    assert (found.low, found.median, found.high) == (0.8, 1.0, 1.2)
    found = stats.ratio_across(many, (one,))
    assert (found.low, found.median, found.high) == pytest.approx((10 / 12, 1.0, 10 / 8))


def test_rounds_without_a_partner_are_left_out_of_a_ratio() -> None:
    over, under = ((10.0, 10.0), (30.0, 30.0), (90.0, 90.0)), ((5.0, 5.0), (15.0, 15.0))
    found = stats.ratio_across(over, under)
    assert (found.low, found.median, found.high) == (2.0, 2.0, 2.0)


def test_a_round_without_a_sample_does_not_shift_the_others_to_another_partner() -> None:
    over, under = ((10.0,), (), (90.0,), (40.0,)), ((5.0,), (15.0,), (45.0,), (20.0,))
    found = stats.ratio_across(over, under)
    assert (found.low, found.median, found.high) == (2.0, 2.0, 2.0)


def test_how_far_rounds_lie_apart_is_the_largest_of_their_medians_over_the_smallest() -> None:
    assert stats.apart(((20.0, 21.0, 22.0), (30.0,), (10.5, 10.5))) == pytest.approx(30 / 10.5)
    assert stats.apart(((20.0,),)) is None
    assert stats.apart(((20.0,), ())) is None
    assert stats.apart(((20.0,), (0.0,))) is None
