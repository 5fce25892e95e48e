"""Which kernels ran, and how: expectations about names, what they say, launch geometry and shares of time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

from foretrace import units
from foretrace.facts import Facts, Kernel, Scalar
from foretrace.prediction.basis import (
    Expectation,
    Finding,
    Measured,
    State,
    Unmeasured,
    compare,
    ends,
    inside,
    launched,
    matches,
    said,
    select,
    state_of,
)
from foretrace.stats import exact

_RESOURCES = {
    "registers": ("registers a thread", "registers"),
    "shared_bytes": ("shared memory a block", "bytes"),
    "occupancy": ("occupancy", "share"),
    "occupancy_reported": ("occupancy as the profiler reports it", "share"),
    "threads": ("threads a block", "threads"),
}
_MEASURES = {"duration": "us", "tflops": "tflops", "gbps": "gbps"}


class Kernels(Expectation, frozen=True, kw_only=True, tag="kernels"):
    """Two variants that differ in one parameter launch kernels of the same names, or of different ones."""

    relation: Literal["same", "different"]
    between: dict[str, tuple[Scalar, Scalar]]
    family: str = ""

    def describe(self) -> str:  # noqa: D102
        ((parameter, (one, other)),) = self.between.items()
        family = f"{self.family} " if self.family else ""
        return f"{self.relation} {family}kernel names for {parameter} {one} and {other}"

    def find(self, measured: Measured) -> Iterator[Finding]:  # noqa: D102
        ((parameter, (one, other)),) = self.between.items()
        return compare(measured, self.where, {parameter: one}, {parameter: other}, self._look_at_both)

    def _look_at_both(self, first: Facts, second: Facts) -> tuple[State, str]:
        withheld = [facts.withheld["activities"] for facts in (first, second) if "activities" in facts.withheld]
        if withheld:
            return "undecided", f"withheld: {withheld[0]}"
        ours, theirs = self._names(first), self._names(second)
        if not ours or not theirs:
            return "undecided", f"no {self.family or 'GPU'} kernel on one side"
        measured = f"both {', '.join(ours)}" if ours == theirs else f"{', '.join(ours)} against {', '.join(theirs)}"
        return state_of((ours == theirs) == (self.relation == "same")), measured

    def _names(self, facts: Facts) -> list[str]:
        return sorted({row.name for row in launched(facts, self.family)})


class Geometry(Expectation, frozen=True, kw_only=True, tag="geometry"):
    """For every kernel of a family, a launch resource lies in a closed interval."""

    family: str
    field: Literal["registers", "shared_bytes", "occupancy", "occupancy_reported", "threads"]
    low: float | None = None  # None: open
    high: float | None = None

    def describe(self) -> str:  # noqa: D102
        words, unit = _RESOURCES[self.field]
        return f"{self.family} kernels: {words} {units.interval(*ends(self.low, self.high), unit)}"

    def look(self, facts: Facts) -> tuple[State, str]:  # noqa: D102
        found = [(row.label, _resource(row, self.field)) for row in launched(facts, self.family)]
        known = [(label, value) for label, value in found if value is not None]
        low, high = ends(self.low, self.high)
        held = all(low <= value <= high for _, value in known)
        words, unit = _RESOURCES[self.field]
        if not known or (held and len(known) < len(found)):
            return "undecided", f"no {words} known for a {self.family} kernel"
        shown = dict.fromkeys(f"{label}: {units.quantity(value, unit)} {words}" for label, value in known)
        return state_of(held), "; ".join(shown)


class Decoded(Expectation, frozen=True, kw_only=True, tag="decoded"):
    """The names of all kernels of a family say this of a field, such as `layout` or `dtype` (`*`: anything)."""

    family: str
    field: str  # of `facts.Kernel.fields`
    value: str

    def describe(self) -> str:  # noqa: D102
        return f"{self.family} kernels: {self.field} {self.value} in the name"

    def look(self, facts: Facts) -> tuple[State, str]:  # noqa: D102
        rows = launched(facts, self.family)
        telling = [row for row in rows if self.field in row.fields]
        held = all(matches(self.value, row.fields[self.field]) for row in telling)
        if not rows or (held and len(telling) < len(rows)):
            silent = [row.label for row in rows if row not in telling]
            what = f"the name of {silent[0]} does not tell its {self.field}" if silent else f"no {self.family} kernel"
            return "undecided", what
        return state_of(held), "; ".join(
            dict.fromkeys(f"{row.label}: {self.field} {row.fields[self.field]}" for row in telling)
        )


class Distinct(Expectation, frozen=True, kw_only=True, tag="distinct"):
    """Over all variants that it speaks of, the longest kernel of a family is of so many sorts.

    `field` is what makes a sort: `name`, or a field that the name is decoded into, such as `tile`.
    """

    family: str
    field: str
    least: int = 1
    most: int | None = None  # None: open

    def describe(self) -> str:  # noqa: D102
        number = units.interval(*ends(self.least, self.most), "count")
        return f"longest {self.family} kernel, {self.field}: {number} different"

    def find(self, measured: Measured) -> Iterator[Finding]:  # noqa: D102
        sorts: dict[str, list[str]] = {}
        missing: dict[str, str] = {}
        for name, facts in select(measured, self.where).items():
            sort, why = self._sort(facts)
            if sort:
                sorts.setdefault(sort, []).append(name)
            else:
                missing[name] = why
        names = (*(name for found in sorts.values() for name in found), *missing)
        if not names:
            return
        state = state_of(len(sorts) >= self.least)
        if self.most is not None and len(sorts) > self.most:
            state = "refuted"
        elif missing and (state == "refuted" or self.most is not None):
            state = "undecided"
        known = [f"{len(sorts)}: {', '.join(f'{sort} ({len(found)})' for sort, found in sorts.items())}"]
        lacking = [f"not known for {name}: {why}" for name, why in missing.items()]
        shown = [*known, *lacking] if sorts else list(dict.fromkeys(missing.values()))
        yield Finding(about=names, state=state, measured="; ".join(shown))

    def _sort(self, facts: Facts | Unmeasured) -> tuple[str, str]:
        """What the longest kernel of the family is, or "" and why that is not known."""
        if isinstance(facts, Unmeasured):
            return "", f"not measured: {facts.reason}"
        if "activities" in facts.withheld:
            return "", f"withheld: {facts.withheld['activities']}"
        rows = launched(facts, self.family)
        if not rows:
            return "", f"no {self.family} kernel"
        sort = rows[0].name if self.field == "name" else rows[0].fields.get(self.field, "")
        return sort, f"the name of {rows[0].label} does not tell its {self.field}"


class Share(Expectation, frozen=True, kw_only=True, tag="share"):
    """A family's share of all GPU time in the recorded steps lies in a closed interval."""

    family: str  # of kernels, or `memcpy`, `memset`
    low: float | None = None  # None: open
    high: float | None = None

    def describe(self) -> str:  # noqa: D102
        return f"{self.family} share of the GPU's time {units.interval(*ends(self.low, self.high), 'share')}"

    def needs(self) -> tuple[str, ...]:  # noqa: D102
        return ("activities", "kernel_us")

    def look(self, facts: Facts) -> tuple[State, str]:  # noqa: D102
        if not facts.shares:
            return "undecided", "no GPU work in the recorded steps"
        found = facts.shares.get(self.family) or exact(0.0)
        return inside(found, self.low, self.high), f"{self.family}: {said(found, 'share')} of the GPU's time"


class PartKernels(Expectation, frozen=True, kw_only=True, tag="part_kernels"):
    """Two declared parts of a step run kernels of the same name, or of different ones."""

    relation: Literal["same", "different"]
    parts: tuple[str, str]

    def describe(self) -> str:  # noqa: D102
        return f"{self.relation} kernel for {self.parts[0]} and {self.parts[1]}"

    def look(self, facts: Facts) -> tuple[State, str]:  # noqa: D102
        one, other = map(facts.part, self.parts)
        if one is None or other is None:
            return "undecided", _no_part(self.parts[0] if one is None else self.parts[1])
        same = one.name == other.name
        shown = f"both {one.name}" if same else f"{one.name} against {other.name}"
        return state_of(same == (self.relation == "same")), shown


class PartWithin(Expectation, frozen=True, kw_only=True, tag="part"):
    """What one declared part of a step takes or reaches lies in a closed interval.

    `measure` is its `duration` in µs, or the `tflops` or `gbps` that its declared work makes of that.
    """

    part: str
    measure: Literal["duration", "tflops", "gbps"]
    low: float | None = None  # None: open
    high: float | None = None

    def describe(self) -> str:  # noqa: D102
        return f"{self.part}: {units.interval(*ends(self.low, self.high), _MEASURES[self.measure])}"

    def needs(self) -> tuple[str, ...]:  # noqa: D102
        return ("activities", "kernel_us")

    def look(self, facts: Facts) -> tuple[State, str]:  # noqa: D102
        piece = facts.part(self.part)
        if piece is None:
            return "undecided", _no_part(self.part)
        found = getattr(piece, self.measure)
        if found is None:
            return "undecided", f"nothing was declared for {self.part} of which it could be a rate"
        return inside(found, self.low, self.high), said(found, _MEASURES[self.measure])


def _no_part(name: str) -> str:
    return f"no kernel of the steps could be told to be the part {name}"


def _resource(row: Kernel, field: str) -> float | None:
    if field == "threads":
        return math.prod(row.block) if row.block else None
    value: float | None = getattr(row, field)
    return value
