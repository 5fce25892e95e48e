"""A step's GPU work piece by piece: facts and ceilings come in, tables of each part's work, rate and kernel go out."""

from __future__ import annotations

from collections.abc import Mapping

from foretrace import units
from foretrace.facts import Facts, Piece
from foretrace.page import addresses, cells
from foretrace.page.models import Cell, Column, Reading, Table
from foretrace.page.rates import by_arithmetic
from foretrace.record import Ceilings
from foretrace.scenario import Work
from foretrace.stats import Summary

_PIECE = (
    Column(title="GPU work", meaning="What its name says when it is decoded; links to the name, piece by piece."),
    Column(title="Part", meaning="The declared part of the step that it is, found by family and order."),
    Column(title="Family", meaning="The sort of work, from the decoded name."),
    Column(title="Duration", meaning="Of this piece of every recorded step, over all rounds.", numeric=True),
    Column(
        title="Rate",
        meaning="Declared operations over the duration; below it, where arithmetic is what takes longest, the share of "
        "the ceiling that this run measured for the type: its best large product, which another shape can pass.",
        numeric=True,
    ),
    Column(
        title="Bandwidth",
        meaning="Declared bytes over the duration; below it, where traffic is what takes longest, the share of the "
        "copy bandwidth that this run measured. Above 100 %, part of the bytes came from a cache.",
        numeric=True,
    ),
    Column(title="Work", meaning="Floating-point operations that the declaration counts for the part.", numeric=True),
    Column(title="Bytes", meaning="Each input read once and each output written once, by arithmetic.", numeric=True),
    Column(title="Work a byte", meaning="Floating-point operations for each byte: arithmetic intensity.", numeric=True),
)
SEQUENCE = (Column(title="Place", meaning="In the order in which every recorded step runs it.", numeric=True), *_PIECE)
PARTS = (
    Column(title="Variant", meaning="Links to all that is known of it."),
    _PIECE[1],
    Column(title="Kernel", meaning="What its name says when it is decoded; opens to the whole name."),
    Column(title="Tile", meaning="Of the output that one block or cluster computes, where the name says it."),
    *_PIECE[3:],
)


def sequence(facts: Facts, here: str, names: tuple[Reading, ...], *, address: str, ceilings: Ceilings) -> Table | None:
    """A variant's whole step in order; None where steps differ in what they run."""
    anchors = {found.name: f"{address}#{found.anchor}" for found in names}
    rows = tuple(
        (
            Cell(text=f"{place}", order=f"{place}"),
            Cell(text=piece.label, kind="code", to=anchors.get(piece.name, "")),
            Cell(text=piece.part) if piece.part else cells.missing("no declared part"),
            Cell(text=piece.family),
            *_measured(piece, ceilings, typical=cells.smallest(each.duration.median for each in facts.sequence)),
        )
        for place, piece in enumerate(facts.sequence, 1)
    )
    if len(rows) < 2 or {"activities", "kernel_us"} & facts.withheld.keys():
        return None
    return Table(caption=f"GPU work of a step of {here}, in order", columns=SEQUENCE, rows=rows, tall=True).trimmed()


def parts(found: Mapping[str, Facts], *, slug: str, title: str, ceilings: Ceilings) -> Table | None:
    """Every declared part of every variant, with the kernel that does it; None where none could be found."""
    known = {
        name: [piece for piece in facts.sequence if piece.part]
        for name, facts in found.items()
        if not {"activities", "kernel_us"} & facts.withheld.keys()
    }
    typical = cells.smallest(piece.duration.median for pieces in known.values() for piece in pieces)
    rows = tuple(
        (
            Cell(text=name, to=addresses.variant(slug, name)),
            Cell(text=piece.part),
            Cell(text=piece.label, kind="code", full=piece.name),
            _tile(found[name], piece),
            *_measured(piece, ceilings, typical=typical),
        )
        for name, pieces in known.items()
        for piece in pieces
    )
    return Table(caption=f"Parts of a step of {title}", columns=PARTS, rows=rows).trimmed() if rows else None


def _tile(facts: Facts, piece: Piece) -> Cell:
    fields = next((row.fields for row in facts.kernels if row.name == piece.name), {})
    return Cell(text=fields["tile"], kind="code") if "tile" in fields else cells.missing("the name does not say")


def _measured(piece: Piece, ceilings: Ceilings, *, typical: float | None) -> tuple[Cell, ...]:
    """Duration, rate, bandwidth, work, bytes and intensity; the nearer of the two roofs has its share."""
    undeclared = cells.missing("no declared part")
    dense = piece.flops / piece.bytes if piece.flops and piece.bytes else None
    rate, speed = ceilings.tflops.get(piece.dtype), ceilings.copy_gbps
    computing = by_arithmetic(Work(flops=piece.flops or 0, bytes=piece.bytes or 0, dtype=piece.dtype), ceilings)
    return (
        cells.spread_out(piece.duration, "us", typical=typical),
        _rate(piece.tflops, "tflops", rate if computing else None),
        _rate(piece.gbps, "gbps", None if computing else speed),
        undeclared if piece.flops is None else cells.amount(piece.flops, "flop"),
        undeclared if piece.bytes is None else cells.amount(piece.bytes, "bytes"),
        Cell(text=units.number(dense), order=f"{dense:.9g}") if dense else undeclared,
    )


def _rate(found: Summary | None, unit: str, roof: float | None) -> Cell:
    """A rate, and its share of the roof that is nearer to it."""
    if found is None:
        return cells.missing("no declared part")
    share = f"{units.quantity(found.median / roof, 'share')} of the roof" if roof else ""
    hint = f"the roof is {units.quantity(roof, unit)}" if roof else ""
    return Cell(text=units.quantity(found.median, unit), order=f"{found.median:.9g}", detail=share, hint=hint)
