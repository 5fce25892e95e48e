"""How far Inductor fused: pairs of variants come in, a table goes out of what each generated kernel holds and where it
ends.

It says what the kernels' names and their order show. Why a compiler cut there, a trace cannot say.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from foretrace import grammars
from foretrace.facts import Facts, Piece
from foretrace.page import addresses, cells
from foretrace.page.models import Cell, Column, Table
from foretrace.page.questions import Pair

INDUCTOR = "triton-inductor"
FUSION = (
    Column(
        title="Variant", meaning="Links to the variant; its partner differs from it in the compared parameter only."
    ),
    Column(title="Kernels a step", meaning="The baseline's, and this variant's; copies and memsets apart."),
    Column(
        title="What the kernels hold",
        meaning="In order: of each generated kernel its kind and the operators that its name lists, which are those of "
        "the program before it was taken apart; of each other kernel its family.",
    ),
    Column(title="Where fusion ends", meaning="What stands on the two sides of each cut, as the kernels' names say."),
)
_KINDS = {"pointwise": "pointwise", "reduction": "looped reduction", "persistent_reduction": "persistent reduction"}


def table(pairs: Sequence[Pair], *, slug: str, title: str) -> Table | None:
    """A row for each pair whose other side runs a generated kernel; None where none does."""
    rows = tuple(_row(pair, slug=slug) for pair in pairs if any(_generated(row.name) for row in pair[3].kernels))
    return Table(caption=f"How far it was fused, {title}", columns=FUSION, rows=rows) if rows else None


def _row(pair: Pair, *, slug: str) -> tuple[Cell, ...]:
    one, ours, name, theirs = pair
    pieces = [piece for piece in theirs.sequence if piece.activity == "kernel"]
    unordered = cells.missing("the steps differ in what they run, so that there is no order")
    return (
        Cell(text=name, detail=f"over {one}", to=addresses.variant(slug, name)),
        Cell(text=f"{_kernels(ours)} → {_kernels(theirs)}"),
        Cell(text="; ".join(map(_holds, pieces))) if pieces else unordered,
        Cell(text=_cuts(pieces)) if pieces else unordered,
    )


def _kernels(facts: Facts) -> str:
    return " / ".join(dict.fromkeys(f"{step.activities.kernel}" for step in facts.steps)) or "n/a"


def _holds(piece: Piece) -> str:
    """`looped reduction of add, native_layer_norm`; for what was not generated, `gemm`."""
    if not _generated(piece.name):
        return f"{piece.family} ({grammars.decode(piece.name).library})"
    ops = grammars.decode(piece.name).fields.get("fused_ops", ())
    listed = ", ".join(ops) if isinstance(ops, tuple) else str(ops)
    return f"{_kind(piece)} of {listed}" if listed else _kind(piece)


def _kind(piece: Piece) -> str:
    kind = str(grammars.decode(piece.name).fields.get("triton_kind", ""))
    return _KINDS.get(kind, kind or "kernel")


def _cuts(pieces: Sequence[Piece]) -> str:
    """What stands on the two sides of each end of a generated kernel; nothing is cut where there is one kernel."""
    if len(pieces) == 1:
        return "nowhere: one kernel"
    cuts = (
        f"between {_side(one)} and {_side(other)}"
        for one, other in itertools.pairwise(pieces)
        if _generated(one.name) or _generated(other.name)
    )
    return "; ".join(dict.fromkeys(cuts))


def _side(piece: Piece) -> str:
    return f"a {_kind(piece)}" if _generated(piece.name) else f"a library's {piece.family} kernel"


def _generated(name: str) -> bool:
    return grammars.decode(name).library == INDUCTOR
