"""From values to places on the paper: a linear or a logarithmic scale, with round ticks and their labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.ticker import MaxNLocator

from foretrace.units import number, scale

_ROUND_STEPS = [1, 2, 2.5, 5, 10]
_LEADING_DIGITS = ((1, 2, 5), (1, 3), (1,))


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
        """Round values on the scale."""
        if not self.decades:
            found = MaxNLocator(nbins=at_most, steps=_ROUND_STEPS).tick_values(self.low, self.high)
            return [float(tick) for tick in found if self.low <= tick <= self.high]
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        choices = []
        for leading in _LEADING_DIGITS:
            ticks = [digit * 10.0**power for power in range(first, last + 1) for digit in leading]
            choices.append([tick for tick in ticks if self.low <= tick <= self.high])
        return next(
            (ticks for ticks in choices if len(ticks) <= at_most), choices[-1][:: -(-len(choices[-1]) // at_most)]
        )

    def _inside(self, value: float) -> float:
        return min(max(value, self.low), self.high)


def linear(low: float, high: float, *, start: float, end: float) -> Scale:
    """A linear scale; an empty range is widened."""
    return Scale(low=low, high=high if high > low else low + 1, start=start, end=end)


def spanning(values: Sequence[float], *, start: float, end: float, decades_beyond: float) -> Scale:
    """A scale for positive values: from 0, or logarithmic where they span more than the factor `decades_beyond`."""
    positive = [value for value in values if value > 0] or [1.0]
    low, high = min(positive), max(positive)
    if high / low <= decades_beyond:
        return Scale(low=0, high=high * 1.04, start=start, end=end)
    margin = (high / low) ** 0.04
    return Scale(low=low / margin, high=high * margin, start=start, end=end, decades=True)


def time_label(us: float, *, typical: float) -> str:
    """A tick of a time axis: `0`, `250 µs`, `1.5 ms`."""
    if us == 0:
        return "0"
    step, unit = scale("us", typical)
    shown = us / step
    return f"{f'{shown:,.10g}' if abs(shown) >= 0.001 else number(shown)} {unit}"
