"""Numbers: expectations about a quantity, the ratio or the order of two variants, and what limits a step."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator

from foretrace import units
from foretrace.facts import QUANTITIES, Facts, Limiter, Params, Scalar
from foretrace.prediction.basis import (
    Expectation,
    Finding,
    Measured,
    State,
    change,
    compare,
    ends,
    inside,
    no_variant,
    quantity_of,
    said,
    state_of,
    worded,
)
from foretrace.stats import Summary


class LimitedBy(Expectation, frozen=True, kw_only=True, tag="bound"):
    """A step's time is limited by this."""

    limiter: Limiter

    def describe(self) -> str:  # noqa: D102
        return f"{self.limiter}-bound"

    def needs(self) -> tuple[str, ...]:  # noqa: D102
        return ("bound",)

    def look(self, facts: Facts) -> tuple[State, str]:  # noqa: D102
        found = facts.bound
        if found.limiter == "undecided":
            return "undecided", found.evidence
        return state_of(found.limiter == self.limiter), f"{found.limiter}-bound: {found.evidence}"


class Within(Expectation, frozen=True, kw_only=True, tag="within"):
    """A quantity of `facts.QUANTITIES` lies in a closed interval."""

    quantity: str
    low: float | None = None  # None: open
    high: float | None = None

    def describe(self) -> str:  # noqa: D102
        definition = QUANTITIES[self.quantity]
        return f"{definition.title} {units.interval(*ends(self.low, self.high), definition.unit)}"

    def needs(self) -> tuple[str, ...]:  # noqa: D102
        return (self.quantity,)

    def look(self, facts: Facts) -> tuple[State, str]:  # noqa: D102
        found = quantity_of(facts, self.quantity)
        if isinstance(found, str):
            return "undecided", found
        return inside(found, self.low, self.high), said(found, QUANTITIES[self.quantity].unit)


class RatioWithin(Expectation, frozen=True, kw_only=True, tag="ratio"):
    """A quantity of one variant over the same quantity of its partner lies in a closed interval.

    `of` and `over` set the parameters in which the two differ; in all others they are alike.
    """

    quantity: str
    of: Params
    over: Params
    low: float | None = None  # None: open
    high: float | None = None

    def describe(self) -> str:  # noqa: D102
        title = QUANTITIES[self.quantity].title
        between = units.interval(*ends(self.low, self.high), "ratio")
        return f"{title}, {worded(self.of)} over {worded(self.over)}: {between}"

    def find(self, measured: Measured) -> Iterator[Finding]:  # noqa: D102
        return compare(measured, self.where, self.of, self.over, self._look_at_both)

    def _look_at_both(self, first: Facts, second: Facts) -> tuple[State, str]:
        found = change(first, second, self.quantity)
        if isinstance(found, str):
            return "undecided", found
        return inside(found, self.low, self.high), said(found, "ratio")


class Ordered(Expectation, frozen=True, kw_only=True, tag="order"):
    """A quantity grows along the given values of one parameter, all others alike."""

    quantity: str
    parameter: str
    values: tuple[Scalar, ...]

    def describe(self) -> str:  # noqa: D102
        return f"{QUANTITIES[self.quantity].title} grows over {self.parameter} " + " < ".join(map(str, self.values))

    def find(self, measured: Measured) -> Iterator[Finding]:  # noqa: D102
        for low, high in itertools.pairwise(self.values):
            look = functools.partial(self._look_at_both, low, high)
            one, other = {self.parameter: low}, {self.parameter: high}
            yield from tuple(compare(measured, self.where, one, other, look)) or (no_variant(),)

    def _look_at_both(self, low: Scalar, high: Scalar, first: Facts, second: Facts) -> tuple[State, str]:
        smaller, larger = quantity_of(first, self.quantity), quantity_of(second, self.quantity)
        if isinstance(smaller, str):
            return "undecided", smaller
        if isinstance(larger, str):
            return "undecided", larger
        unit = QUANTITIES[self.quantity].unit
        growth = change(second, first, self.quantity)
        state = self._state(smaller, larger, growth)
        beyond = ">" if smaller.median > larger.median else "="
        sign = {"held": "<", "refuted": beyond, "undecided": "≈"}[state]
        both = f"{low}: {said(smaller, unit)} {sign} {high}: {said(larger, unit)}"
        return state, both if isinstance(growth, str) else f"{both}, {said(growth, 'ratio')}"

    def _state(self, smaller: Summary, larger: Summary, growth: Summary | str) -> State:
        """By the ratio of the two, which is taken round by round; by their intervals where there is none."""
        if isinstance(growth, str):
            grows, shrinks = smaller.high < larger.low, larger.high <= smaller.low
        else:
            grows, shrinks = growth.low > 1, growth.high <= 1
        return "held" if grows else "refuted" if shrinks else "undecided"
