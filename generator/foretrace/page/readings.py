"""Kernels' names, read: a variant's kernels come in, each name in pieces with their meanings goes out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from foretrace import grammars
from foretrace.facts import Kernel
from foretrace.grammars import Confidence
from foretrace.page import glossary
from foretrace.page.models import Piece, Reading

LONGEST = 1200
"""The most characters of a name that are shown in pieces; the trace has all of them."""

CONFIDENCE = {
    "A": "read in the library's own source",
    "B": "read elsewhere, or inferred and checked against many names",
    "C": "likely",
}
"""How sure a meaning is, in words."""


def readings(kernels: Sequence[Kernel], *, first: int = 1) -> tuple[Reading, ...]:
    """Every kernel's name of which something can be read, once, in the order of the rows; numbered from `first`."""
    labels = {row.name: row.label for row in kernels if row.activity == "kernel"}
    found = (_reading(name, label, number) for number, (name, label) in enumerate(labels.items(), first))
    return tuple(reading for reading in found if reading.told or reading.label != reading.name)


def _reading(name: str, label: str, number: int) -> Reading:
    found = grammars.decode(name)
    pieces = tuple(_pieces(name))
    left_out = len(name) - sum(len(piece.text) for piece in pieces)
    return Reading(
        anchor=f"kernel-{number}",
        name=name,
        label=label,
        library=found.library,
        family=found.family,
        pieces=pieces,
        told=tuple(_told(pieces)),
        notes=found.notes,
        unread=", ".join(found.unread),
        explained=glossary.anchor(name),
        more=f"{left_out:,} more characters of the name are in the trace." if left_out else "",
    )


def _pieces(name: str) -> Iterable[Piece]:
    """The name from its beginning, up to `LONGEST` characters, neighbours of one meaning as one."""
    room = LONGEST
    text, meaning = "", ""
    confidence: Confidence = ""
    for token in grammars.tokens(name):
        if text and (token.meaning, token.confidence) != (meaning, confidence):
            yield Piece(text=text, meaning=meaning, confidence=confidence)
            text = ""
        text, meaning, confidence = text + token.text[:room], token.meaning, token.confidence
        room -= len(token.text)
        if room <= 0:
            break
    if text:
        yield Piece(text=text, meaning=meaning, confidence=confidence)


def _told(pieces: Iterable[Piece]) -> Iterable[Piece]:
    """The pieces that say something: with a meaning and a letter or a digit in them, each text once."""
    seen: set[str] = set()
    for piece in pieces:
        if piece.meaning and piece.text not in seen and any(map(str.isalnum, piece.text)):
            seen.add(piece.text)
            yield piece
