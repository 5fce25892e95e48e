"""What a decoder says about one kernel name: takes the marks a grammar made, gives a `Reading` and the `Token`s."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import msgspec

from foretrace.grammars.spelling import Argument, Name

Family = Literal[
    "gemm", "conv", "attention", "pointwise", "reduction", "softmax", "norm", "copy", "index", "sort", "rng",
    "optimizer", "comm", "memcpy", "memset", "other",
]  # fmt: skip
Confidence = Literal["A", "B", "C", ""]
Value = str | int | bool | tuple[str, ...]

LONGEST = 60
WORD = re.compile(r"[A-Za-z0-9]+")


class Reading(msgspec.Struct, frozen=True):
    """A kernel name, read.

    Attributes:
        name: the name as given.
        family: what kind of work the kernel does; `other` when the name does not say.
        library: where the kernel comes from, `unknown` when the name does not say.
        fields: what is certain (confidence A or B), by field name: `tile`, `dtype`, `layout`, …
        notes: what the name cannot tell, or tells only as likely.
        unread: the pieces that no rule explains.
    """

    name: str
    family: Family
    library: str
    fields: dict[str, Value]
    notes: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


class Token(msgspec.Struct, frozen=True):
    """A piece of a name; `meaning` and `confidence` are empty where nothing is known."""

    text: str
    meaning: str
    confidence: Confidence


class Term(NamedTuple):
    """The meaning of one kind of token, and how sure it is.

    A: read in the primary source. B: read elsewhere, or inferred and checked against many names. C: likely.
    """

    meaning: str
    confidence: Confidence


class Mark(NamedTuple):
    """Characters `start` to `end` of a name are an instance of `term` and stand for `value`."""

    start: int
    end: int
    term: str
    value: Value


Terms = dict[str, Term]
Examples = dict[str, dict[str, Value]]


class Draft:
    """What a grammar has understood of one name so far; every statement points at the characters it rests on."""

    __slots__ = ("family", "fields", "library", "marks", "notes")

    def __init__(self, family: Family, library: str) -> None:
        self.family: Family = family
        self.library = library
        self.fields: dict[str, Value] = {}
        self.notes: list[str] = []
        self.marks: list[Mark] = []

    def say(self, span: tuple[int, int], term: str, value: Value) -> None:
        """The characters in `span` set field `term` to `value`."""
        self.fields[term] = value
        self.marks.append(Mark(span[0], span[1], term, value))

    def flag(self, span: tuple[int, int], term: str) -> None:
        """The characters in `span` say that `term` holds."""
        self.fields[term] = True
        self.marks.append(Mark(span[0], span[1], term, ""))

    def take(self, match: re.Match[str], group: str, term: str = "") -> None:
        """If `group` took part in `match`, it sets the field of that name, or `term`; digits become an integer."""
        text = match[group]
        if text:
            self.say(match.span(group), term or group, int(text) if text.isdecimal() and len(text) < 10 else text)

    def mark(self, span: tuple[int, int], term: str, value: Value = "") -> None:
        """The characters in `span` are understood as `term` and set no field."""
        self.marks.append(Mark(span[0], span[1], term, value))

    def note(self, sentence: str) -> None:
        """Something that the name cannot tell, or tells only as likely."""
        self.notes.append(sentence)


class Grammar(msgspec.Struct, frozen=True):
    """The naming rules of one library.

    Attributes:
        name: the module's name.
        about: the module's docstring: what the library is, where its rules come from, what its names do not say.
        source: where the rules were read.
        pattern: what the subject of a name (`spelling.Name`) must match at its start; no two grammars match one name.
        read: turns a claimed name into a draft.
        terms: the vocabulary, term → meaning and confidence.
        examples: real names and fields that must come out.
    """

    name: str
    about: str | None
    source: str
    pattern: re.Pattern[str]
    read: Callable[[Name], Draft]
    terms: Terms
    examples: Examples


def pieces(length: int, marks: list[Mark]) -> Iterator[tuple[int, int, Mark | None]]:
    """Cut `length` characters where marks begin and end; each piece belongs to the innermost mark around it."""
    at = 0
    open_marks: list[Mark] = []
    for mark in sorted(marks, key=lambda mark: (mark.start, -mark.end)):
        while open_marks and open_marks[-1].end <= mark.start:
            inner = open_marks.pop()
            if at < inner.end:
                yield at, inner.end, inner
                at = inner.end
        if at < mark.start:
            yield at, mark.start, open_marks[-1] if open_marks else None
            at = mark.start
        if mark.start < mark.end <= (open_marks[-1].end if open_marks else length):
            open_marks.append(mark)
    for mark in reversed(open_marks):
        if at < mark.end:
            yield at, mark.end, mark
            at = mark.end
    if at < length:
        yield at, length, None


def unread(name: Name, marks: list[Mark]) -> tuple[str, ...]:
    """What no mark explains: words of the name, and whole template arguments that no mark touches."""
    ordered = sorted(marks)
    found: list[str] = []
    at = 0
    for start, end in _loose(name, ordered):
        found += WORD.findall(name.text, at, start) if start > at + 1 or name.text[at:start].isalnum() else ()
        at = max(at, end)
    found += WORD.findall(name.text, at, name.rest)
    untouched = [argument.text for argument, touched in _touched(name, ordered) if not touched]
    return (
        *(word for word in found if word != "x"),
        *(text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…" for text in untouched if text),
    )


def _loose(name: Name, ordered: list[Mark]) -> list[tuple[int, int]]:
    """Spans to leave out when looking for words: the marks, and the arguments except what a wrapper runs."""
    spans = [mark[:2] for mark in ordered]
    spans += [argument.span for argument in name.arguments if not argument.start <= name.inner < argument.end]
    return sorted(spans)


def _touched(name: Name, ordered: list[Mark]) -> Iterator[tuple[Argument, bool]]:
    """Each template argument, and whether any mark overlaps it."""
    furthest = at = 0
    for argument in name.arguments:
        while at < len(ordered) and ordered[at].start < argument.end:
            furthest = max(furthest, ordered[at].end)
            at += 1
        yield argument, furthest > argument.start


def words(name: Name, start: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """The words between underscores from `start` to where the name can be trusted, each with its span."""
    end = min(name.end, name.rest)
    while start < end:
        stop = name.text.find("_", start, end)
        stop = end if stop < 0 else stop
        if stop > start:
            yield name.text[start:stop], (start, stop)
        start = stop + 1
