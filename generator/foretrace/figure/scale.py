"""From values to places on the paper: a linear or a logarithmic scale, with round ticks and their labels."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from matplotlib.ticker import MaxNLocator

from foretrace.units import scale

SPREAD_OUT = 20.0  # dots that differ by a larger factor are drawn on a logarithmic axis
BARS_SPREAD_OUT = 50.0  # and bars
_SMALLEST, _WIDEST = 1e-300, 1e30  # of what a logarithmic axis shows: a value, and the largest over the smallest
_ROUND_STEPS = [1, 2, 2.5, 5, 10]
_DECADE_TICKS = (((1, 2, 5), 1), ((1, 3), 1), ((1,), 1), ((1,), 2), ((1,), 5), ((1,), 50))  # digits, decades apart
_BINARY_TICKS = (1, 2, 5, 10, 20)  # powers of two apart


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Values `low … high` on the points `start … end`, logarithmic if `decades`."""

    low: float
    high: float
    start: float
    end: float
    decades: bool = False

    def place(self, value: float) -> float:
        """Where a value lies, in points; values outside the scale lie at its ends."""
        low, high, value = (math.log10(v) if self.decades else v for v in (self.low, self.high, self._inside(value)))
        return self.start + (value - low) / (high - low) * (self.end - self.start)

    def ticks(self, at_most: int, unit: str = "") -> list[float]:
        """Values on the scale that are round in the unit they are printed in.

        They are 1, 2 and 5 of each decade or fewer where it is logarithmic, powers of two where it counts bytes.
        """
        choices: Iterable[list[float]] = ()
        if self.decades and unit == "bytes":
            choices = (self._binary_ticks(stride) for stride in _BINARY_TICKS)
        elif self.decades:
            choices = (self._decade_ticks(digits, stride) for digits, stride in _DECADE_TICKS)
        found = next((ticks for ticks in choices if len(ticks) <= at_most), [])
        if len(found) > 1:
            return found
        step = scale(unit, self.high)[0] if unit == "bytes" else 1.0
        values = MaxNLocator(nbins=at_most, steps=_ROUND_STEPS).tick_values(self.low / step, self.high / step)
        return [tick for value in values if self._holds(tick := float(value) * step)]

    def _decade_ticks(self, digits: tuple[int, ...], stride: int) -> list[float]:
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        powers = range(first - first % stride, last + 1, stride)
        return [tick for power in powers for digit in digits if self._holds(tick := digit * 10.0**power)]

    def _binary_ticks(self, stride: int) -> list[float]:
        powers = range(math.ceil(math.log2(self.low)), math.floor(math.log2(self.high)) + 1)
        return [2.0**power for power in powers if power % stride == 0]

    def _holds(self, value: float) -> bool:
        return self.low <= value <= self.high

    def _inside(self, value: float) -> float:
        return min(max(value, self.low), self.high)


def linear(low: float, high: float, *, start: float, end: float) -> Scale:
    """A linear scale; an empty range is widened."""
    return Scale(low=low, high=high if high > low else low + 1, start=start, end=end)


def logarithmic(values: Iterable[float], *, start: float, end: float) -> Scale:
    """A logarithmic scale that holds the finite positive ones of `values` with some air around them.

    It has at most 30 decades: what is smaller still lies at its lower end.
    """
    positive = [value for value in values if _SMALLEST < value < math.inf] or [1.0]
    high = max(positive)
    low = max(min(positive), high / _WIDEST)
    air = max((high / low) ** 0.05, 1.05)
    return Scale(low=low / air, high=high * air, start=start, end=end, decades=True)


def around(values: Iterable[float], *, start: float, end: float) -> Scale:
    """A scale for dots: close around finite values of the same size, from 0, or logarithmic."""
    finite = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(finite), max(finite)
    if low > 0 and high > SPREAD_OUT * low:
        return logarithmic(finite, start=start, end=end)
    air = 0.04 * (high - low) or 0.02 * abs(high)
    return linear(low - air if high < 2 * low else min(low, 0.0), high + air, start=start, end=end)


def from_zero(values: Iterable[float], *, start: float, end: float) -> Scale:
    """A scale for bars: from 0, or logarithmic; what is not finite or not positive does not count."""
    positive = [value for value in values if math.isfinite(value) and value > 0] or [1.0]
    if max(positive) > BARS_SPREAD_OUT * min(positive):
        return logarithmic([min(positive) / 2, *positive], start=start, end=end)  # so that the shortest bar shows
    return linear(0, max(positive), start=start, end=end)


def tick_label(value: float, unit: str, *, axis: Scale) -> str:
    """The text of a tick: `0`, `250 µs`, `1.5 ms`; one unit for a linear axis, each its own on a logarithmic one."""
    step, name = scale(unit, value if axis.decades else axis.high)
    return f"{value / step:,.10g} {name}".rstrip() if value else "0"
