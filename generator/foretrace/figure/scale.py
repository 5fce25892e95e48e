"""From values to places on the paper: a linear or a logarithmic scale, with round ticks and their labels."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from matplotlib.ticker import MaxNLocator

from foretrace.units import scale

_ROUND_STEPS = [1, 2, 2.5, 5, 10]
_DECADE_TICKS = (((1, 2, 5), 1), ((1, 3), 1), ((1,), 1), ((1,), 2), ((1,), 5), ((1,), 50))  # digits, decades apart


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

    def ticks(self, at_most: int) -> list[float]:
        """Round values on the scale; 1, 2 and 5 of each decade or fewer where it is logarithmic."""
        choices = (self._decade_ticks(digits, stride) for digits, stride in _DECADE_TICKS) if self.decades else ()
        found = next((ticks for ticks in choices if len(ticks) <= at_most), [])
        if len(found) > 1:
            return found
        values = MaxNLocator(nbins=at_most, steps=_ROUND_STEPS).tick_values(self.low, self.high)
        return [tick for tick in map(float, values) if self._holds(tick)]

    def _decade_ticks(self, digits: tuple[int, ...], stride: int) -> list[float]:
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        powers = range(first - first % stride, last + 1, stride)
        return [tick for power in powers for digit in digits if self._holds(tick := digit * 10.0**power)]

    def _holds(self, value: float) -> bool:
        return self.low <= value <= self.high

    def _inside(self, value: float) -> float:
        return min(max(value, self.low), self.high)


def linear(low: float, high: float, *, start: float, end: float) -> Scale:
    """A linear scale; an empty range is widened."""
    return Scale(low=low, high=high if high > low else low + 1, start=start, end=end)


def logarithmic(values: Iterable[float], *, start: float, end: float) -> Scale:
    """A logarithmic scale that holds the positive ones of `values` with some air around them."""
    positive = [value for value in values if value > 0] or [1.0]
    low, high = min(positive), max(positive)
    air = max((high / low) ** 0.05, 1.05)
    return Scale(low=low / air, high=high * air, start=start, end=end, decades=True)


def tick_label(value: float, unit: str, *, axis: Scale) -> str:
    """The text of a tick: `0`, `250 µs`, `1.5 ms`; one unit for a linear axis, each its own on a logarithmic one."""
    step, name = scale(unit, value if axis.decades else axis.high)
    return f"{value / step:,.6g} {name}".rstrip() if value else "0"
