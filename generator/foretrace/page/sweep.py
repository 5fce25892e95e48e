"""A numeric parameter with three values or more: facts come in, tables and figures over it go out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from foretrace import units
from foretrace.facts import QUANTITIES, Facts, Kernel, Params
from foretrace.page import addresses, cells
from foretrace.page.models import Cell, Choices, Column, Picture, Series, Sweep, Table
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


CHOOSING = ("gemm", "attention", "conv")
"""The families of which a library has many kernels and chooses one by the shape."""

FIELDS = {
    "tile": "Tile",
    "stages": "Stages",
    "cluster": "Cluster",
    "splitk": "Split K",
    "layout": "Layout",
}
CHOSEN = (
    Column(title="Variant", meaning="One point of the sweep; links to the variant."),
    Column(title="Parameter", meaning="The swept parameter and its value."),
    Column(title="Kernel", meaning="The longest of the family that takes most time; opens to the whole name."),
    *(
        Column(title=title, meaning="As the name says; the glossary of kernel names has the terms.")
        for title in FIELDS.values()
    ),
    Column(title="Duration", meaning="Median of one launch over the recorded steps of the first round.", numeric=True),
    Column(title="Share", meaning="Of all GPU time in the recorded steps.", numeric=True),
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


def choices(found: Sequence[Line], *, slug: str) -> tuple[Picture, ...]:
    """A figure for each line over which the longest kernel of its main family is not always the same one."""
    drawn = []
    for number, line in enumerate(found, 1):
        rows = _chosen(line)
        if len({row.name for *_, row in rows}) > 1:
            labels: dict[tuple[str, str], list[float]] = {}
            for _, value, row in rows:
                labels.setdefault((row.label, row.family), []).append(value)
            drawn.append(
                Picture(
                    stem=addresses.picture(slug, f"kernels-{number}"),
                    title=line.title,
                    alt=f"The longest {rows[0][2].family} kernel at each {line.parameter}, for {line.title}",
                    caption=f"The longest {rows[0][2].family} kernel at each {line.parameter}.",
                    drawing=Choices(
                        parameter=line.parameter,
                        rows=tuple((label, family, tuple(values)) for (label, family), values in labels.items()),
                    ),
                )
            )
    return tuple(drawn)


def chosen(found: Sequence[Line], *, slug: str, title: str) -> Table | None:
    """The longest kernel of the main family at each point, as its name says; None without such a kernel."""
    rows = tuple(
        (
            Cell(text=name, to=addresses.variant(slug, name)),
            Cell(text=f"{line.parameter} {units.number(value)}", order=f"{value:.9g}"),
            Cell(text=row.label, kind="code", full=row.name),
            *(_field(row, field) for field in FIELDS),
            cells.spread_out(row.duration, "us"),
            cells.amount(row.share, "share"),
        )
        for line in found
        for name, value, row in _chosen(line)
    )
    return Table(caption=f"Which kernel where, {title}", columns=CHOSEN, rows=rows).trimmed() if rows else None


def _chosen(line: Line) -> list[tuple[str, float, Kernel]]:
    """At each point the longest kernel of the family that takes most time over the whole line: one of `CHOOSING`."""
    every = [row for facts in line.facts for row in _kernels(facts)]
    main = max(CHOOSING, key=lambda family: sum(row.total_us for row in every if row.family == family))
    points = zip(line.names, line.values, line.facts, strict=True)
    longest = ((name, value, [row for row in _kernels(facts) if row.family == main]) for name, value, facts in points)
    return [(name, value, rows[0]) for name, value, rows in longest if rows]


def _kernels(facts: Facts) -> Sequence[Kernel]:
    """Kernels, longest total first; none where they cannot be trusted."""
    return () if "activities" in facts.withheld else [row for row in facts.kernels if row.activity == "kernel"]


def _field(row: Kernel, field: str) -> Cell:
    return Cell(text=row.fields[field], kind="code") if field in row.fields else cells.missing("the name does not say")


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
