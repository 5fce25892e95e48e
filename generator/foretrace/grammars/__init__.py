"""Kernel names read: takes a name as a profiler prints it, gives what it says, how sure it is, and what it leaves open.

One small file a library holds the naming rules with their source; this is the only face. Nothing is looked up in a
table of names: a name that no rule explains comes back as family `other`, with its pieces listed as unread.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from foretrace.grammars import plain
from foretrace.grammars.labels import Part, Relation, distinguish, identify, parts, relate, shorten
from foretrace.grammars.reading import Confidence, Draft, Family, Grammar, Mark, Reading, Term, Token, pieces, unread
from foretrace.grammars.registry import BY_NAME, CLAIMS, GRAMMARS
from foretrace.grammars.spelling import Name, parse

__all__ = [
    "GRAMMARS", "Confidence", "Family", "Grammar", "Reading", "Relation", "Term", "Token", "claimants", "decode",
    "glossary", "identity", "label", "labels", "relation", "tokens",
]  # fmt: skip

CUT = "the name is cut: only what survives whole is read"
COMMON = {
    "return": Term("return type", "A"),
    "namespace": Term("namespace", "A"),
    "parameters": Term("the function's parameters, which mostly repeat the template arguments", "A"),
}
UNKNOWN = Term("", "")
MANGLED = "mangled C++ name, reads as {}"


@lru_cache(maxsize=8192)
def decode(name: str) -> Reading:
    """What a kernel name says, in any profiler's dialect; never raises.

    Args:
        name: the name as Kineto, nsys, ncu, nvprof or rocprof prints it, whole or cut.

    Returns:
        The reading; `family` is `other` where the name does not tell.
    """
    parsed, _, draft = _understand(name)
    fields = draft.fields
    notes = draft.notes
    if parsed.truncated:
        fields["truncated"] = True
        notes = [*notes, CUT]
    left = unread(parsed, [*draft.marks, *_frame(parsed)])
    return Reading(name, draft.family, draft.library, fields, tuple(notes), left)


@lru_cache(maxsize=8192)
def tokens(name: str) -> tuple[Token, ...]:
    """The name cut into pieces with their meanings; the pieces' texts, joined, are the name.

    A mangled name is one piece whose meaning is the readable name.
    """
    parsed, grammar, draft = _understand(name)
    if name.startswith("_Z"):
        return (Token(name, MANGLED.format(parsed.text), "A"),)
    terms = {**COMMON, **(grammar.terms if grammar else plain.TERMS)}
    marks = [*draft.marks, *_frame(parsed)]
    return tuple(
        Token(name[start:end], *(_meaning(name, mark, terms.get(mark.term, UNKNOWN)) if mark else ("", "")))
        for start, end, mark in pieces(len(name), marks)
    )


def label(given: str | Reading) -> str:
    """A short text for a table cell or a timeline, at most 40 characters: `nvjet bf16 256x128 bz NNT`, `add bf16 vec8`.

    Two kernels that differ in a detail may share a label; `labels` keeps them apart.
    """
    return _label(given if isinstance(given, str) else given.name)


def labels(names: Iterable[str]) -> dict[str, str]:
    """The shortest labels, at most 40 characters each, under which no two of the names look alike."""
    return distinguish({name: _parts(name) for name in dict.fromkeys(names)})


def identity(given: str | Reading) -> str:
    """What stays the same across library versions: operation, types, layout and fused operations.

    Tile, stages, addresses and counters are left out.
    """
    return _identity(given if isinstance(given, str) else given.name)


def relation(first: str, second: str) -> Relation:
    """How two kernels are related, as far as their names tell; two spellings of one name are the same kernel."""
    return relate(decode(first), decode(second), (identity(first), identity(second)))


@lru_cache(maxsize=8192)
def _label(name: str) -> str:
    return shorten(_parts(name))


@lru_cache(maxsize=8192)
def _identity(name: str) -> str:
    return identify(decode(name), parse(name))


def _parts(name: str) -> list[Part]:
    """The words of a label; the name itself where no word of it can be read."""
    found = parts(decode(name), parse(name))
    telling = any(letter.isalnum() for part in found for letter in part.text)
    return found if telling else [Part("symbol", name, always=True)]


def glossary() -> tuple[Grammar, ...]:
    """Every grammar with its reasons, source and terms, by name; `Grammar.about` is the text that explains it."""
    return tuple(sorted(GRAMMARS, key=lambda grammar: grammar.name))


def claimants(name: str) -> tuple[str, ...]:
    """The names of the grammars whose pattern claims a name; more than one is a fault of the grammars."""
    subject = parse(name).subject
    return tuple(grammar.name for grammar in GRAMMARS if grammar.pattern.match(subject))


def _understand(name: str) -> tuple[Name, Grammar | None, Draft]:
    parsed = parse(name)
    claim = CLAIMS.match(parsed.subject)
    if claim is None or claim.lastgroup is None:
        return parsed, None, plain.read(parsed)
    grammar = BY_NAME[claim.lastgroup]
    return parsed, grammar, grammar.read(parsed)


def _frame(name: Name) -> list[Mark]:
    """Marks for what surrounds any C++ name: return type, namespaces, parameters."""
    marks = [Mark(0, name.start, "return", ""), Mark(name.start, name.leaf[0], "namespace", "")]
    if name.text.startswith("(", name.rest):
        marks.append(Mark(name.rest, len(name.text), "parameters", ""))
    return marks


def _meaning(name: str, mark: Mark, term: Term) -> tuple[str, Confidence]:
    text = name[mark.start : mark.end]
    value = " ".join(mark.value) if isinstance(mark.value, tuple) else str(mark.value)
    told = value in ("", "True") or not term.meaning or value.lower() == text.lower()
    return (term.meaning if told else f"{term.meaning}: {value}"), term.confidence
