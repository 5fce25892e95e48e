"""A numeric parameter with three values or more: facts come in, tables and figures over it go out."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from foretrace import grammars
from foretrace.facts import QUANTITIES, Facts, Kernel, Params
from foretrace.page import addresses, cells
from foretrace.page.models import Cell, Choices, Column, Picture, Series, Sweep, Table
from foretrace.prediction import Unmeasured
from foretrace.stats import Summary

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
    Column(title="Part", meaning="The declared part of the step that the kernel does."),
    Column(title="Kernel", meaning="Of the family that takes most time; opens to the whole name."),
    *(
        Column(title=title, meaning="As the name says; the glossary of kernel names has the terms.")
        for title in FIELDS.values()
    ),
    Column(title="Duration", meaning="Median of one launch over the recorded steps.", numeric=True),
)


class Choice(NamedTuple):
    """The kernel that a library picked at one point of a line."""

    name: str  # of the variant
    value: float  # of the swept parameter
    said: str  # the same, as declared
    part: str  # of the step; "" for its longest kernel
    kernel: Kernel
    duration: Summary  # µs


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
    """A figure for each line, and each part of a step, over which not always the same kernel does it."""
    drawn = []
    for number, line in enumerate(found, 1):
        for part, points in _by_part(_chosen(line)).items():
            names: dict[str, list[float]] = {}
            for choice in points:
                names.setdefault(choice.kernel.name, []).append(choice.value)
            labels = grammars.labels(names)
            what = part or f"the longest {points[0].kernel.family} kernel"
            if len(names) > 1:
                drawn.append(
                    Picture(
                        stem=addresses.picture(slug, f"kernels-{number}{_stem(part)}"),
                        title=f"{line.title}: {what}",
                        alt=f"The kernel of {what} at each {line.parameter}, for {line.title}",
                        caption="",
                        drawing=Choices(
                            parameter=line.parameter,
                            rows=tuple(
                                (labels[name], points[0].kernel.family, tuple(values)) for name, values in names.items()
                            ),
                        ),
                    )
                )
    return tuple(drawn)


def chosen(found: Sequence[Line], *, slug: str, title: str) -> Table | None:
    """The kernel that a library picked at each point, as its name says; None without such a kernel."""
    every = [(line, choice) for line in found for choice in _chosen(line)]
    typical = cells.smallest(choice.duration.median for _, choice in every)
    rows = tuple(
        (
            Cell(text=choice.name, to=addresses.variant(slug, choice.name)),
            Cell(text=f"{line.parameter} {choice.said}", order=f"{choice.value:.9g}"),
            Cell(text=choice.part) if choice.part else cells.missing("the longest one"),
            Cell(text=choice.kernel.label, kind="code", full=choice.kernel.name),
            *(_field(choice.kernel, field) for field in FIELDS),
            cells.spread_out(choice.duration, "us", typical=typical),
        )
        for line, choice in every
    )
    return Table(caption=f"Which kernel where, {title}", columns=CHOSEN, rows=rows).trimmed() if rows else None


def _chosen(line: Line) -> list[Choice]:
    """At each point the kernels of the family that takes most time over the whole line, which is one of `CHOOSING`.

    They are those of the declared parts of a step, where these were found, else the longest one.
    """
    every = [row for facts in line.facts for row in _kernels(facts)]
    main = max(CHOOSING, key=lambda family: sum(row.total_us for row in every if row.family == family))
    found = []
    for name, value, facts in zip(line.names, line.values, line.facts, strict=True):
        ours = [row for row in _kernels(facts) if row.family == main]
        rows = {row.name: row for row in reversed(ours)}
        parts = [piece for piece in facts.sequence if piece.part and piece.name in rows]
        said = str(facts.params[line.parameter])
        found += [Choice(name, value, said, piece.part, rows[piece.name], piece.duration) for piece in parts]
        if ours and not parts:
            found.append(Choice(name, value, said, "", ours[0], ours[0].duration))
    return found


def _by_part(points: Sequence[Choice]) -> dict[str, list[Choice]]:
    """The points of each part that has several of them."""
    found: dict[str, list[Choice]] = {}
    for choice in points:
        found.setdefault(choice.part, []).append(choice)
    return {part: each for part, each in found.items() if len(each) > 1}


def _stem(part: str) -> str:
    return "-" + re.sub(r"[^a-z0-9]+", "-", part.lower()) if part else ""


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
    """Where the limiter changes along the line, in words; points at which it is undecided say nothing of that."""
    points = [(facts.params[line.parameter], facts.bound.limiter) for facts in line.facts]
    decided = [(value, limiter) for value, limiter in points if limiter != "undecided"]
    steps = [
        f"from {ours} to {theirs} between {low} and {high}"
        for (low, ours), (high, theirs) in itertools.pairwise(decided)
        if ours != theirs
    ]
    return f"The limiter turns {'; '.join(steps)}." if steps else ""


def _numeric(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
