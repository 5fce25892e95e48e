"""The glossary of kernel names: every grammar's own words, vocabulary and source, one section a library."""

from __future__ import annotations

import re

from foretrace import grammars
from foretrace.grammars import Grammar
from foretrace.page import addresses
from foretrace.page.models import Cell, Column, Glossary, Library, Table

TERM = (
    Column(title="Piece", meaning="What a part of a name is."),
    Column(title="Means", meaning="What the part says."),
    Column(
        title="Sure", meaning="A: read in the library's own source; B: elsewhere, or inferred and checked; C: likely."
    ),
)
_ADDRESS = re.compile(r"\s*\(https?://[^)]*\)")


def build() -> Glossary:
    """The page; it does not depend on any run."""
    return Glossary(address=addresses.GLOSSARY, libraries=tuple(map(_library, grammars.glossary())))


def anchor(name: str) -> str:
    """Where the grammar that reads a kernel's name is explained; "" where none does."""
    found = grammars.claimants(name)
    return f"{addresses.GLOSSARY}#{_anchor(found[0])}" if found else ""


def _library(grammar: Grammar) -> Library:
    head, _, body = (grammar.about or "").strip().partition("\n\n")
    rows = tuple(
        (Cell(text=term.replace("_", " ")), Cell(text=found.meaning), Cell(text=found.confidence))
        for term, found in grammar.terms.items()
        if found.meaning
    )
    return Library(
        anchor=_anchor(grammar.name),
        title=_one_line(head).rstrip("."),
        about=tuple(_one_line(_ADDRESS.sub("", part)) for part in body.split("\n\n") if part.strip()),
        source=grammar.source,
        terms=Table(caption=f"Pieces of {grammar.name} names", columns=TERM, rows=rows),
        examples=tuple(grammar.examples),
    )


def _anchor(grammar: str) -> str:
    return grammar.replace("_", "-")


def _one_line(text: str) -> str:
    return " ".join(text.split())
