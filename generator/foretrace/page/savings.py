"""What a change saves in memory traffic: pairs of variants with their declared work come in, a table goes out.

The bytes are arithmetic, made before the run; the time that they should take is held against what was measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from foretrace import stats, units
from foretrace.facts import Facts
from foretrace.page import addresses, cells
from foretrace.page.models import Cell, Column, Table
from foretrace.page.questions import Pair
from foretrace.page.rates import by_arithmetic
from foretrace.record import Ceilings
from foretrace.scenario import Work
from foretrace.stats import Summary

SAVINGS = (
    Column(
        title="Variant", meaning="Links to the variant; its partner differs from it in the compared parameter only."
    ),
    Column(
        title="Bytes a step", meaning="By arithmetic, as declared before the run: the baseline's, and this variant's."
    ),
    Column(title="Saved", meaning="The difference in bytes, as declared.", numeric=True),
    Column(
        title="Should save",
        meaning="The saved bytes at the copy bandwidth that this run measured; what a cache keeps costs less.",
        numeric=True,
    ),
    Column(title="GPU busy", meaning="Measured: the baseline's median, and this variant's."),
    Column(title="Did save", meaning="The difference of the medians, round by round.", numeric=True),
    Column(
        title="Did over should",
        meaning="1 where the saved bytes explain the saved time; far from it something else changed, or a cache held "
        "the bytes.",
        numeric=True,
    ),
)


LEAST_US = 1.0
"""Bytes that should save less time than this at the measured bandwidth save nothing that could be told."""


LEFT_OUT = "their arithmetic takes longer than their traffic, or their bytes hardly differ."


def table(
    pairs: Sequence[Pair], works: Mapping[str, Work], ceilings: Ceilings, *, slug: str, title: str
) -> Table | None:
    """A row for each pair whose declared bytes differ by enough to be told; None where there is none.

    A pair is left out where a side's arithmetic takes longer than its traffic: there bytes do not make the time.
    """
    rows = tuple(
        _row(pair, works[pair[0]].bytes, works[pair[2]].bytes, ceilings.copy_gbps, slug=slug)
        for pair in pairs
        if pair[0] in works and pair[2] in works and _tells(works[pair[0]], works[pair[2]], ceilings)
    )
    declared = sum(pair[0] in works and pair[2] in works for pair in pairs)
    left_out = f"{declared - len(rows)} of {declared} pairs have no row: {LEFT_OUT}" if declared > len(rows) else ""
    caption = f"Memory traffic, {title}"
    return Table(caption=caption, columns=SAVINGS, rows=rows, left_out=left_out).trimmed() if rows else None


def _tells(before: Work, after: Work, ceilings: Ceilings) -> bool:
    if ceilings.copy_gbps is None:
        return before.bytes != after.bytes
    saved_us = (before.bytes - after.bytes) / ceilings.copy_gbps / 1e3
    return abs(saved_us) >= LEAST_US and not any(by_arithmetic(work, ceilings) for work in (before, after))


def _row(pair: Pair, before: float, after: float, speed: float | None, *, slug: str) -> tuple[Cell, ...]:
    one, ours, name, theirs = pair
    should = (before - after) / speed / 1e3 if speed else None
    did = _saved(ours, theirs)
    unknown = cells.missing("GPU busy time is not known on both sides")
    return (
        Cell(text=name, detail=f"over {one}", to=addresses.variant(slug, name)),
        Cell(text=f"{units.quantity(before, 'bytes')} → {units.quantity(after, 'bytes')}", order=f"{after:.9g}"),
        cells.amount(before - after, "bytes"),
        cells.amount(should, "us") if should is not None else cells.missing("no copy bandwidth was measured"),
        unknown if did is None else Cell(text=_both(ours, theirs)),
        unknown if did is None else cells.spread_out(did, "us"),
        unknown if did is None or not should else _explained(did, should),
    )


def _saved(ours: Facts, theirs: Facts) -> Summary | None:
    """How much less time the GPU is busy with, in µs, round by round; None where a side is not known."""
    known = [facts.samples.get("gpu_busy_us", ()) for facts in (ours, theirs) if "gpu_busy_us" in facts.quantities]
    try:
        return stats.difference_across(*known) if len(known) == 2 else None
    except ValueError:
        return None


def _both(ours: Facts, theirs: Facts) -> str:
    return " → ".join(units.quantity(facts.quantities["gpu_busy_us"].median, "us") for facts in (ours, theirs))


def _explained(did: Summary, should: float) -> Cell:
    """The saved time over that which the bytes should have saved, with the interval of the former."""
    if did.low <= 0 <= did.high:
        return cells.missing("what was saved cannot be told from nothing")
    low, high = sorted((did.low / should, did.high / should))
    return Cell(
        text=units.quantity(did.median / should, "ratio"),
        order=f"{did.median / should:.9g}",
        detail=units.interval(low, high, "ratio"),
    )
