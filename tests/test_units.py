"""How a number looks on a page: three digits that count, the unit that suits it, and never more than was measured."""

from __future__ import annotations

import math
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretrace.facts import QUANTITIES, Activities
from foretrace.units import Unit, interval, natural, number, quantity, scale

UNITS = st.sampled_from(get_args(Unit))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (-0.0, "0"),
        (1e-9, "0"),
        (-1e-9, "0"),
        (0.0000123, "0.000012"),
        (0.0004, "0.000400"),
        (0.0123, "0.0123"),
        (0.05, "0.0500"),
        (0.9994, "0.999"),
        (0.9996, "1.00"),
        (1.234, "1.23"),
        (9.994, "9.99"),
        (9.996, "10.0"),
        (99.94, "99.9"),
        (99.96, "100"),
        (123.4, "123"),
        (12345.6, "12,346"),
        (-1.234, "-1.23"),
        (math.nan, "n/a"),
        (math.inf, "n/a"),
    ],
)
def test_a_number_has_three_digits_that_count_and_no_exponent(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (178.2, "us", "178 µs"),
        (99.96, "us", "100 µs"),
        (999.4, "us", "999 µs"),
        (999.5, "us", "1.00 ms"),
        (999.96, "us", "1.00 ms"),
        (1000, "us", "1.00 ms"),
        (999_499, "us", "999 ms"),
        (999_500, "us", "1.00 s"),
        (3_600_000_000, "us", "3,600 s"),
        (0.9994, "us", "999 ns"),
        (0.9996, "us", "1.00 µs"),
        (0.0005, "us", "0.500 ns"),
        (0, "us", "0 µs"),
        (-1500, "us", "-1.50 ms"),
        (0, "bytes", "0 B"),
        (-0.0, "bytes", "0 B"),
        (16, "bytes", "16 B"),
        (1023, "bytes", "1,023 B"),
        (1024, "bytes", "1.00 KiB"),
        (1023.4 * 2**10, "bytes", "1,023 KiB"),
        (1023.6 * 2**10, "bytes", "1.00 MiB"),
        (32 * 2**20, "bytes", "32.0 MiB"),
        (80 * 2**30, "bytes", "80.0 GiB"),
        (0.941, "share", "94.1 %"),
        (1, "share", "100 %"),
        (0, "share", "0 %"),
        (2.134, "ratio", "2.13×"),
        (1024, "count", "1,024"),
        (2.5, "count", "2.50"),
        (255, "registers", "255"),
        (812.3, "tflops", "812 TFLOP/s"),
        (4.1e3, "gbps", "4,100 GB/s"),
        (math.nan, "us", "n/a"),
        (math.inf, "ratio", "n/a"),
    ],
)
def test_a_quantity_is_printed_in_the_unit_that_suits_it(value: float, unit: str, text: str) -> None:
    assert quantity(value, unit) == text


@pytest.mark.parametrize(
    ("low", "high", "unit", "text"),
    [
        (171, 179, "us", "171 … 179 µs"),
        (900, 1100, "us", "0.900 … 1.10 ms"),
        (-1100, 5, "us", "-1.10 … 0.00500 ms"),
        (0, 5, "us", "0 … 5.00 µs"),
        (0, 0, "us", "0 µs"),
        (178.1, 178.2, "us", "178 µs"),
        (1.2, 3, "ratio", "1.20 … 3.00×"),
        (0.8, 1, "share", "80.0 … 100 %"),
        (1, 1, "count", "1"),
        (2, 3, "count", "2 … 3"),
        (32, 40, "registers", "32 … 40"),
        (0, 0, "bytes", "0 B"),
        (160 * 2**20, 200 * 2**20, "bytes", "160 … 200 MiB"),
        (600, math.inf, "tflops", "≥ 600 TFLOP/s"),
        (-math.inf, 40, "registers", "≤ 40"),
        (-math.inf, math.inf, "us", "any"),
        (math.nan, 3, "us", "n/a"),
        (3, math.nan, "us", "n/a"),
    ],
)
def test_an_interval_has_one_unit_and_leaves_an_open_end_out(low: float, high: float, unit: str, text: str) -> None:
    assert interval(low, high, unit) == text


def test_a_column_keeps_one_unit_whatever_its_rows_are() -> None:
    assert quantity(2500, "us", typical=180) == "2,500 µs"
    assert quantity(0.4, "us", typical=180) == "0.400 µs"
    assert scale("us", 180) == (1.0, "µs")
    assert scale("us", math.nan) == (1.0, "µs")


@given(st.floats(min_value=1e-3, max_value=1e12), st.sampled_from(["us", "bytes"]))
def test_no_value_is_printed_as_a_thousand_of_a_smaller_unit(value: float, unit: str) -> None:
    text, name = quantity(value, unit).split(" ")
    largest = {"us": "s", "bytes": "GiB"}[unit]
    assert name == largest or float(text.replace(",", "")) <= {"us": 999, "bytes": 1023}[unit]


@given(st.floats(min_value=-1e9, max_value=1e9).filter(lambda value: abs(value) >= 1e-3), UNITS)
def test_the_text_tells_the_value_to_half_a_percent(value: float, unit: str) -> None:
    step, _ = scale(unit, value)
    text = quantity(value, unit).split(" ")[0].removesuffix("×").replace(",", "")
    assert float(text) * step == pytest.approx(value, rel=0.0051)


def test_every_quantity_that_can_be_predicted_has_a_unit_that_can_be_printed() -> None:
    known = set(get_args(Unit))
    assert {name: meant.unit for name, meant in QUANTITIES.items() if meant.unit not in known} == {}
    for name, meant in QUANTITIES.items():
        assert meant.meaning.endswith("."), name


@pytest.mark.parametrize(
    ("activities", "text"),
    [
        (Activities(), "0 kernels"),
        (Activities(kernel=1), "1 kernel"),
        (Activities(kernel=2, memset=1), "2 kernels + 1 memset"),
        (Activities(memcpy=3), "0 kernels + 3 memcpys"),
    ],
)
def test_a_copy_is_counted_beside_the_kernels_and_never_among_them(activities: Activities, text: str) -> None:
    assert str(activities) == text


@pytest.mark.parametrize("names", [["P1-2", "P1-10", "P2-1"], ["rank2.json", "rank10.json"], ["r01", "r1", "r2"]])
def test_names_with_numbers_come_in_the_order_of_the_numbers(names: list[str]) -> None:
    assert sorted(set(names), key=natural) == names
