"""The four questions of every comparison: pairs of variants come in, an answer with what it rests on goes out for each.

Did CPU dispatch shrink? Did the number of GPU kernels shrink? Did the GEMM really change? Does the gain carry over?
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from foretrace import grammars, units
from foretrace.facts import QUANTITIES, Facts
from foretrace.page import cells
from foretrace.page.models import Answer
from foretrace.prediction import change
from foretrace.stats import Summary

Pair = tuple[str, Facts, str, Facts]  # the baseline's name and facts, the other's

GEMM_FIELDS = {"tile": "tile", "dtype": "type", "layout": "layout", "beta": "beta", "splitk": "split K"}
"""What of a GEMM is compared by word; the rest of a name may differ too."""


class Gemm(NamedTuple):
    """How the longest matrix-multiply kernels of two variants are related, as far as their names tell."""

    relation: str
    differs: str  # `tile 128x64 → 64x64; type bf16, layout nnt in both`
    names: str


MOST = 4
"""The most pairs that a sentence names; the table below it has all of them."""

CHANGED = {
    "same kernel": "no",
    "same family and tile": "in a detail only",
    "same family, other tile": "in its tile",
    "other kernel": "yes",
}
"""The short answer that each relation gives."""


def answers(pairs: Sequence[Pair], *, reach: Sequence[str]) -> tuple[Answer, ...]:
    """The four, of one comparison.

    Args:
        pairs: variants that differ in the compared parameters only.
        reach: on which shapes, batches and types they stood, a sentence each.
    """
    return (
        _shrank(pairs, "dispatch_us", "Did CPU dispatch shrink?"),
        _fewer_kernels(pairs),
        _gemm_changed(pairs),
        _carries(pairs, reach),
    )


def gemm(ours: Facts, theirs: Facts) -> Gemm | None:
    """The relation of the longest GEMM kernels; None where a side has none."""
    one, other = _gemms(ours), _gemms(theirs)
    if not one or not other:
        return None
    relation: str = grammars.relation(one[0], other[0])
    before, after = grammars.decode(one[0]).fields, grammars.decode(other[0]).fields
    if relation == "same family, other tile" and before.get("tile") == after.get("tile"):
        relation = "same family and tile"
    if one[0] == other[0]:
        return Gemm(relation, "", one[0])
    return Gemm(relation, _differs(before, after), f"{one[0]} → {other[0]}")


def _differs(before: Mapping[str, object], after: Mapping[str, object]) -> str:
    """What two names say that differs, then what they say alike."""
    known = [key for key in GEMM_FIELDS if key in before or key in after]
    turned = [
        f"{GEMM_FIELDS[key]} {before.get(key, 'not said')} → {after.get(key, 'not said')}"
        for key in known
        if before.get(key) != after.get(key)
    ]
    alike = [f"{GEMM_FIELDS[key]} {before[key]}" for key in known if before.get(key) == after.get(key)]
    return "; ".join([*turned, *([f"{', '.join(alike)} in both"] if alike else [])])


def _gemms(facts: Facts) -> list[str]:
    """Names of GEMM kernels, longest total first."""
    return list(dict.fromkeys(row.name for row in facts.kernels if row.family == "gemm"))


def _shrank(pairs: Sequence[Pair], quantity: str, question: str) -> Answer:
    found = _changes(pairs, quantity)
    directions = {name: _direction(ratio) for name, ratio in found.items()}
    return Answer(
        question=question,
        short=_short(directions.values(), lower="yes", higher="no, it grew"),
        said=(_medians(quantity, found, directions),) if found else ("It is not known on both sides of any pair.",),
    )


def _fewer_kernels(pairs: Sequence[Pair]) -> Answer:
    directions: list[str] = []
    said: dict[str, list[str]] = {}
    for _, ours, name, theirs in pairs:
        before, after = _kernels(ours), _kernels(theirs)
        if before is None or after is None:
            continue
        directions.append("lower" if after < before else "higher" if after > before else "alike")
        one, other = cells.activities(ours), cells.activities(theirs)
        said.setdefault(f"{one} → {other}" if one != other else f"{one} in both", []).append(name)
    return Answer(
        question="Did the number of GPU kernels shrink?",
        short=_short(directions, lower="yes", higher="no, it grew", alike="no, it stayed"),
        said=_grouped(said) or ("GPU work is not known on both sides of any pair.",),
    )


def _gemm_changed(pairs: Sequence[Pair]) -> Answer:
    said: dict[str, list[str]] = {}
    changed: list[str] = []
    for _, ours, name, theirs in pairs:
        found = gemm(ours, theirs)
        if found is not None:
            changed.append(found.relation)
            relation = found.relation.capitalize()
            said.setdefault(f"{relation}: {found.differs}".removesuffix(": "), []).append(name)
    return Answer(
        question="Did the GEMM really change?",
        short=CHANGED[changed[0]] if len(set(changed)) == 1 else "it depends" if changed else "not known",
        said=_grouped(said) or ("No pair has a matrix-multiply kernel on both sides.",),
    )


def _carries(pairs: Sequence[Pair], reach: Sequence[str]) -> Answer:
    """Whether the step time shrank everywhere that it was looked at, and where that was."""
    found = _changes(pairs, "step_us")
    directions = {name: _direction(ratio) for name, ratio in found.items()}
    gained = list(directions.values()).count("lower")
    if not found:
        short = "not known"
    elif not gained:
        short = "no pair got faster"
    else:
        short = f"on {gained} of {len(found)}"
    types = sorted({str(kind) for _, ours, _, theirs in pairs for kind in (*_types(ours), *_types(theirs))})
    seen = " ".join([*reach, *([f"Matrix products in {types[0]} only."] if len(types) == 1 else [])])
    said = (_medians("step_us", found, directions) if found else "", seen)
    return Answer(question="Does the gain carry over?", short=short, said=tuple(filter(None, said)))


def _changes(pairs: Sequence[Pair], quantity: str) -> dict[str, Summary]:
    """By the other variant's name, the ratio to the baseline, where both are known."""
    ratios = {name: change(theirs, ours, quantity) for _, ours, name, theirs in pairs}
    return {name: ratio for name, ratio in ratios.items() if isinstance(ratio, Summary)}


def _direction(ratio: Summary) -> str:
    return "higher" if ratio.low > 1 else "lower" if ratio.high < 1 else "not told apart"


def _medians(quantity: str, found: Mapping[str, Summary], directions: Mapping[str, str]) -> str:
    """`CPU dispatch time: higher on 2 of 2 pairs, 2.20× (4096-compile), 2.40× (64-compile)`."""
    parts = []
    for direction in ("lower", "higher", "not told apart"):
        names = [name for name in found if directions[name] == direction]
        if names:
            ratios = _listed([f"{units.quantity(found[name].median, 'ratio')} ({name})" for name in names])
            parts.append(f"{direction} on {len(names)} of {_pairs(len(found))}: {ratios}")
    return f"{QUANTITIES[quantity].title} {'; '.join(parts)}."


def _pairs(number: int) -> str:
    return "1 pair" if number == 1 else f"{number} pairs"


def _short(found: Iterable[str], **words: str) -> str:
    """The word of what all pairs have in common; how often the first word holds where they differ."""
    counted = list(found)
    if not counted:
        return "not known"
    if len(set(counted)) == 1:
        return words.get(counted[0], counted[0])
    first = counted.count(next(iter(words)))
    return f"on {first or 'none'} of {len(counted)}"


def _grouped(said: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    return tuple(f"{text} ({_listed(names)})." for text, names in said.items())


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - MOST} more" if len(words) > MOST else ""
    return ", ".join(words[:MOST]) + more


def _kernels(facts: Facts) -> float | None:
    """Kernels in a mean recorded step; None where no step was recorded or its work cannot be trusted."""
    counts = [step.activities.kernel for step in facts.steps]
    return sum(counts) / len(counts) if counts and facts.kernels else None


def _types(facts: Facts) -> Iterable[object]:
    fields = [grammars.decode(name).fields for name in _gemms(facts)]
    return [found["dtype"] for found in fields if "dtype" in found]
