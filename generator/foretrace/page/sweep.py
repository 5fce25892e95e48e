"""A numeric parameter with three values or more: facts come in, a table and the lines of a figure go out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from foretrace import units
from foretrace.facts import QUANTITIES, Facts, Params
from foretrace.page import addresses, cells
from foretrace.page.models import Cell, Column, Picture, Series, Sweep, Table
from foretrace.prediction import Unmeasured

LEAST = 3
"""Fewer values are two points, not a sweep."""

DRAWN = ("dispatch_us", "gpu_busy_us", "step_us")
SHOWN = (*DRAWN, "busy_share")
SWEEP = (
    Column(title="Variant", meaning="One point of the sweep; links to the variant."),
    Column(title="Parameter", meaning="The swept parameter and its value."),
    *(cells.head(quantity) for quantity in SHOWN),
    Column(title="Limited by", meaning="What a step's time is limited by; the variant's page has the evidence."),
)


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """The variants that differ in one numeric parameter only, in its order."""

    parameter: str
    fixed: Params
    names: tuple[str, ...]
    facts: tuple[Facts, ...]

    @property
    def values(self) -> tuple[float, ...]:
        """The parameter's values."""
        return tuple(float(facts.params[self.parameter]) for facts in self.facts)

    @property
    def title(self) -> str:
        """What the line is about: the parameters that stay fixed."""
        return ", ".join(f"{key} {value}" for key, value in self.fixed.items()) or f"over {self.parameter}"


def lines(found: Mapping[str, Facts | Unmeasured]) -> tuple[Line, ...]:
    """Every line of at least three measured values, of each numeric parameter."""
    known = {name: facts for name, facts in found.items() if isinstance(facts, Facts)}
    keys = dict.fromkeys(key for facts in known.values() for key, value in facts.params.items() if _numeric(value))
    made = []
    for key in keys:
        groups: dict[tuple[tuple[str, object], ...], list[str]] = {}
        for name, facts in known.items():
            if _numeric(facts.params.get(key)):
                rest = tuple((other, value) for other, value in facts.params.items() if other != key)
                groups.setdefault(rest, []).append(name)
        for names in groups.values():
            ordered = sorted(names, key=lambda name: float(known[name].params[key]))
            fixed = {other: value for other, value in known[ordered[0]].params.items() if other != key}
            if len(ordered) >= LEAST:
                facts_in_order = tuple(known[name] for name in ordered)
                made.append(Line(parameter=key, fixed=fixed, names=tuple(ordered), facts=facts_in_order))
    return tuple(made)


def table(found: Sequence[Line], *, slug: str, title: str) -> Table | None:
    """Each point with its CPU and GPU time and what limits it; None without a line."""
    if not found:
        return None
    points = [facts for line in found for facts in line.facts]
    rows = tuple(
        (
            Cell(text=name, to=addresses.variant(slug, name)),
            Cell(text=f"{line.parameter} {facts.params[line.parameter]}", order=f"{value:.9g}"),
            *(cells.measured(facts, key, typical=cells.typical(points, key)) for key in SHOWN),
            Cell(text=facts.bound.limiter, hint=facts.bound.evidence),
        )
        for line in found
        for name, facts, value in zip(line.names, line.facts, line.values, strict=True)
    )
    return Table(caption=f"Sweep of {title}", columns=SWEEP, rows=rows).trimmed()


def pictures(found: Sequence[Line], *, slug: str) -> tuple[Picture, ...]:
    """A figure for each line: CPU dispatch, GPU busy and step time over the parameter."""
    drawn = []
    for number, line in enumerate(found, 1):
        series = tuple(made for quantity in DRAWN if len((made := _series(line, quantity)).x) >= LEAST)
        if series:
            drawn.append(
                Picture(
                    stem=addresses.picture(slug, f"sweep-{number}"),
                    title=line.title,
                    alt=f"Times over {line.parameter}, for {line.title}",
                    caption=_turn(line),
                    drawing=Sweep(parameter=line.parameter, unit="us", series=series),
                )
            )
    return tuple(drawn)


def _series(line: Line, quantity: str) -> Series:
    known = [
        (value, facts.quantities[quantity])
        for value, facts in zip(line.values, line.facts, strict=True)
        if quantity in facts.quantities and quantity not in facts.withheld
    ]
    return Series(
        label=QUANTITIES[quantity].title,
        x=tuple(value for value, _ in known),
        y=tuple(found.median for _, found in known),
        low=tuple(found.low for _, found in known),
        high=tuple(found.high for _, found in known),
    )


def _turn(line: Line) -> str:
    """Where the limiter changes along the line, in words."""
    steps = [
        f"from {ours.bound.limiter} to {theirs.bound.limiter} between {units.number(low)} and {units.number(high)}"
        for ours, theirs, low, high in zip(line.facts, line.facts[1:], line.values, line.values[1:], strict=False)
        if ours.bound.limiter != theirs.bound.limiter
    ]
    return f"The limiter turns {'; '.join(steps)}." if steps else ""


def _numeric(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
