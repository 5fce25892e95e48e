"""The ranks of one job side by side: what each trace shows comes in, a table with the slowest rank marked goes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

import msgspec

from foretrace import units
from foretrace.analysis.alone import Look
from foretrace.facts import QUANTITIES, Facts
from foretrace.page import cells
from foretrace.page.models import Cell, Column, Table

MOST_RANKS = 256
"""The most ranks in the table on the page."""
MOST = 3
"""The most differences from the other ranks that a cell names."""
LEAST_RATIO, LEAST_US = 1.2, 1.0
"""By how much, times and µs a step, every other rank must communicate longer than the one that is marked."""

WAITING = "A collective operation ends on all ranks at once: the others may be waiting in it for this one."

Counts = dict[str, Fraction]
"""Launches a step by the kernel's name, of several steps the mean."""

RANKS = (
    Column(title="Rank", meaning="Links to all that its trace shows."),
    Column(title="Steps", meaning="Recorded steps.", numeric=True),
    Column(
        title="Step", meaning=QUANTITIES["profiled_step_us"].meaning + " Marked where it is the longest.", numeric=True
    ),
    Column(title="Kernels", meaning="Kernels that a step launched; copies and memsets apart.", numeric=True),
    Column(title="GPU busy", meaning=QUANTITIES["traced_busy_share"].meaning, numeric=True),
    Column(
        title="Communication",
        meaning="Share of the recorded window in which a kernel communicated, waiting included. Marked where a rank "
        f"spends least time a step in it, by {LEAST_RATIO}× and {LEAST_US:g} µs: the others may be waiting for it.",
        numeric=True,
    ),
    Column(
        title="Exposed",
        meaning="Share of the window in which a kernel communicated and nothing else ran.",
        numeric=True,
    ),
    Column(
        title="Differs",
        meaning="Kernels launched more or less often than on most ranks, by name, in a step; of several the mean.",
    ),
)


def table(looks: Mapping[str, Look], places: Mapping[str, str], *, title: str) -> Table:
    """A row a rank.

    Args:
        looks: what each rank's trace shows.
        places: the address of each rank's page.
        title: of the report.
    """
    facts = {name: look.facts for name, look in looks.items()}
    labels = {row.name: row.label for each in facts.values() for row in each.kernels}
    counted = {name: _launched(each) for name, each in facts.items() if "activities" not in each.withheld}
    slowest, least = _slowest(facts), _least_communicating(looks)
    typical = cells.typical(facts.values(), "profiled_step_us")
    rows = tuple(
        (
            Cell(text=name, to=places[name]),
            _steps(look.facts),
            _marked(name == slowest, cells.measured(look.facts, "profiled_step_us", typical=typical), "the slowest"),
            _kernels(look.facts),
            cells.measured(look.facts, "traced_busy_share"),
            _marked(name == least, _share(look, "communication_us"), "spends least in communication", hint=WAITING),
            _share(look, "exposed_us"),
            _differs(counted[name], list(counted.values()), labels)
            if name in counted
            else cells.missing(look.facts.withheld["activities"], text="withheld"),
        )
        for name, look in looks.items()
    )
    return Table(
        caption=f"Ranks of {title}", columns=RANKS, rows=rows, left_out=_said(facts, slowest), most=MOST_RANKS
    ).trimmed()


def _steps(facts: Facts) -> Cell:
    if "profiled_step_us" in facts.withheld:
        return cells.missing(facts.withheld["profiled_step_us"])
    return cells.count(len(facts.steps))


def _kernels(facts: Facts) -> Cell:
    if "activities" in facts.withheld:
        return cells.missing(facts.withheld["activities"], text="withheld")
    return cells.each(tuple(step.activities.kernel for step in facts.steps))


def _share(look: Look, field: str) -> Cell:
    """A time's share of the window, of several GPUs the mean; missing where it is not known or nothing communicates."""
    if "traced_busy_share" in look.facts.withheld:
        return cells.missing(look.facts.withheld["traced_busy_share"], text="withheld")
    if not any(each.communication_us for each in look.usage):
        return cells.missing("no kernel that communicates was recorded")
    return cells.amount(sum(getattr(each, field) / each.span_us for each in look.usage) / len(look.usage), "share")


def _marked(marked: bool, cell: Cell, words: str, *, hint: str = "") -> Cell:  # noqa: FBT001 - the whole function is it
    return msgspec.structs.replace(cell, detail=words, hint=hint or cell.hint) if marked else cell


def _slowest(facts: Mapping[str, Facts]) -> str:
    """The rank whose step is longer than every other's, beyond their intervals; "" where none is."""
    known = {
        name: each.quantities["profiled_step_us"]
        for name, each in facts.items()
        if "profiled_step_us" in each.quantities
    }
    return next(
        (
            name
            for name, step in known.items()
            if len(known) > 1 and all(step.low > other.high for at, other in known.items() if at != name)
        ),
        "",
    )


def _least_communicating(looks: Mapping[str, Look]) -> str:
    """The rank that communicates for less time a step than every other, by a margin; "" where none does."""
    known = {name: _communication_us(look) for name, look in looks.items()}
    least, second = sorted(known, key=known.__getitem__)[:2]
    if not known[least] or known[second] < max(known[least] * LEAST_RATIO, known[least] + LEAST_US):
        return ""
    return least


def _communication_us(look: Look) -> float:
    """Time a step in which a kernel communicates, of several GPUs the mean; 0 where it is not known."""
    if {"traced_busy_share", "profiled_step_us"} & look.facts.withheld.keys() or not look.usage:
        return 0
    return sum(each.communication_us for each in look.usage) / len(look.usage) / len(look.facts.steps)


def _launched(facts: Facts) -> Counts:
    """How often a step launched each kernel."""
    found: Counter[str] = Counter()
    for row in facts.kernels:
        if row.activity == "kernel":
            found[row.name] += sum(row.per_step)
    return {name: Fraction(number, len(facts.steps)) for name, number in found.items()}


def _differs(own: Counts, counted: Sequence[Counts], labels: Mapping[str, str]) -> Cell:
    """What a rank launches more or less often than most of those whose launches are known."""
    if len(counted) < 2:
        return cells.missing("what other ranks launched is not known")
    changed = {name: own.get(name, Fraction()) - often for name, often in _usual(counted).items()}
    ordered = sorted((name for name, by in changed.items() if by), key=lambda name: (-abs(changed[name]), name))
    shared = Counter(labels[name] for name in ordered)
    said = [
        f"{units.quantity(float(abs(changed[name])), 'count')} {'more' if changed[name] > 0 else 'fewer'} "
        f"{labels[name] if shared[labels[name]] == 1 else cells.short(name)}"
        for name in ordered[:MOST]
    ]
    more = f"; and {len(ordered) - MOST:,} more kernels" if len(ordered) > MOST else ""
    return Cell(text=", ".join(said) + more or "in nothing")


def _usual(counted: Sequence[Counts]) -> Counts:
    """What most ranks launched, kernel by kernel: the middle one's count, of two the smaller."""
    names = {name for each in counted for name in each}
    return {name: sorted(each.get(name, Fraction()) for each in counted)[(len(counted) - 1) // 2] for name in names}


def _said(facts: Mapping[str, Facts], slowest: str) -> str:
    if slowest:
        return ""
    known = [each.quantities["profiled_step_us"] for each in facts.values() if "profiled_step_us" in each.quantities]
    if len(known) < 2:
        return "Without marked steps on every rank no slowest one can be named."
    apart = units.quantity(max(step.median for step in known) / min(step.median for step in known), "ratio")
    return f"No rank is the slowest beyond doubt: the steps' intervals meet, and their medians lie {apart} apart."
