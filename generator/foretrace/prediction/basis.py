"""What every kind of expectation is made of: which variants it speaks of, what was found for them, and the small
questions that several kinds ask of facts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from foretrace import stats, units
from foretrace.facts import QUANTITIES, Call, Facts, Kernel, Params, Scalar
from foretrace.stats import Summary

State = Literal["held", "refuted", "undecided"]
Where = dict[str, Scalar | list[Scalar]]
Frequency = Literal["always", "never"]


class Unmeasured(msgspec.Struct, frozen=True, kw_only=True):
    """A variant that has no facts, and why."""

    params: Params
    reason: str


Measured = Mapping[str, Facts | Unmeasured]
"""What a run knows: variant name -> its facts, or why there are none."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What one variant, or one pair of variants, says about an expectation."""

    about: tuple[str, ...]
    state: State
    measured: str  # may hold names from the trace: hostile text
    part: str = ""  # of a statement of several parts: the one that it is about, in words


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The judgement, with everything it rests on."""

    state: State
    findings: tuple[Finding, ...]

    @property
    def measured(self) -> str:
        """The findings that decided it, in one line: the refuting ones, else the undecided ones, else all."""
        deciding = [finding for finding in self.findings if finding.state == self.state] or list(self.findings)
        said = list(dict.fromkeys(finding.measured for finding in deciding))
        more = f"; and {len(said) - 3} more" if len(said) > 3 else ""
        return "; ".join(said[:3]) + more


class Expectation(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", omit_defaults=True):
    """What every kind has: the variants it speaks of, and the reason for expecting it.

    Defaults are left out when it is written, so that a field added later does not break the seal of an old record.
    """

    where: Where = {}
    because: str = ""

    def describe(self) -> str:
        """The expectation in words, without its `where`."""
        raise NotImplementedError

    def find(self, measured: Measured) -> Iterator[Finding]:
        """One finding for each variant or pair that the expectation speaks of."""
        for name, facts in select(measured, self.where).items():
            if isinstance(facts, Unmeasured):
                yield undecided((name,), f"not measured: {facts.reason}")
            elif missing := [facts.withheld[need] for need in self.needs() if need in facts.withheld]:
                yield undecided((name,), f"withheld: {missing[0]}")
            else:
                state, said = self.look(facts)
                yield Finding(about=(name,), state=state, measured=said)

    def needs(self) -> tuple[str, ...]:
        """The keys of `Facts.withheld` that leave this undecided."""
        return ("activities",)

    def look(self, facts: Facts) -> tuple[State, str]:
        """The state and the measured value for one variant."""
        raise NotImplementedError


def select(measured: Measured, where: Where) -> dict[str, Facts | Unmeasured]:
    """The variants whose parameters fit `where`."""
    return {name: facts for name, facts in measured.items() if fits(facts.params, where)}


def fits(params: Params, where: Where) -> bool:
    """Whether parameters have the values that `where` asks for; a parameter that is not there does not fit."""
    return all(
        key in params and (params[key] in wanted if isinstance(wanted, list) else params[key] == wanted)
        for key, wanted in where.items()
    )


def change(first: Facts, second: Facts, quantity: str) -> Summary | str:
    """The ratio first / second of a quantity with its interval, or why there is none."""
    top, bottom = quantity_of(first, quantity), quantity_of(second, quantity)
    if isinstance(top, str):
        return top
    if isinstance(bottom, str):
        return bottom
    above, below = first.samples.get(quantity, ()), second.samples.get(quantity, ())
    try:
        return stats.ratio_across(above, below) if above and below else stats.quotient(top, bottom)
    except ValueError:
        return f"{QUANTITIES[quantity].title.lower()} of the lower side is 0"


def said(found: Summary, unit: str) -> str:
    """A summary in words: the median, and its interval where there is one."""
    middle, around = units.quantity(found.median, unit), units.interval(found.low, found.high, unit)
    return middle if found.count == 1 or around == middle else f"{middle} ({around})"


def ends(low: float | None, high: float | None) -> tuple[float, float]:
    """An interval's ends as numbers; None is open."""
    return -math.inf if low is None else low, math.inf if high is None else high


def inside(found: Summary, lowest: float | None, highest: float | None) -> State:
    """Held where the whole interval lies inside, refuted where it lies outside, else undecided."""
    low, high = ends(lowest, highest)
    if low <= found.low and found.high <= high:
        return "held"
    return "refuted" if found.high < low or found.low > high else "undecided"


def state_of(held: bool) -> State:  # noqa: FBT001 - the whole function is the flag
    """The state of what can be told."""
    return "held" if held else "refuted"


def undecided(about: tuple[str, ...], why: str) -> Finding:
    """A finding that something is missing."""
    return Finding(about=about, state="undecided", measured=why)


def no_variant() -> Finding:
    """The finding where an expectation speaks of no variant of the run."""
    return undecided((), "no variant of this run fits")


def per_step(pattern: str, rows: Iterable[Kernel | Call], steps: int) -> list[int]:
    """How often rows of a name occur in each step."""
    found = [row.per_step for row in rows if matches(pattern, row.name)]
    return [sum(counts[index] for counts in found) for index in range(steps)]


def launched(facts: Facts, family: str = "") -> list[Kernel]:
    """The kernels of a family, or all, longest total first."""
    return [row for row in facts.kernels if row.activity == "kernel" and family in ("", row.family)]


def matches(pattern: str, name: str) -> bool:
    """Whether a name fits a pattern in which `*` stands for anything."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name, re.DOTALL) is not None


def each(counts: Sequence[int]) -> str:
    """A count in each step: once where it is always the same."""
    return f"{counts[0]}" if len(set(counts)) == 1 else "/".join(map(str, counts))


def worded(params: Params) -> str:
    """Parameters in words: `mode eager`."""
    return ", ".join(f"{key} {value}" for key, value in params.items())


def quantity_of(facts: Facts, quantity: str) -> Summary | str:
    """A quantity of a variant, or why it is not known."""
    if quantity in facts.withheld:
        return f"withheld: {facts.withheld[quantity]}"
    return facts.quantities.get(quantity) or f"no {QUANTITIES[quantity].title.lower()} for this variant"


def compare(
    measured: Measured, where: Where, first: Params, second: Params, look: Callable[[Facts, Facts], tuple[State, str]]
) -> Iterator[Finding]:
    """Each variant that fits `where` and `first`, looked at beside each that differs from it only by `second`.

    Only the parameters that `first` or `second` name may differ; one that is named and not there counts as differing.
    """
    keys = first.keys() | second.keys()
    for name, facts in select(measured, {**where, **first}).items():
        rest = _without(facts.params, keys)
        partners = {
            other: found
            for other, found in select(measured, {**second}).items()
            if _without(found.params, keys) == rest
        }
        if not partners:
            yield undecided((name,), f"no partner with {worded(second)} was measured")
        for other, found in partners.items():
            state, text = _look(facts, found, look)
            yield Finding(about=(name, other), state=state, measured=text)


def _look(
    first: Facts | Unmeasured, second: Facts | Unmeasured, look: Callable[[Facts, Facts], tuple[State, str]]
) -> tuple[State, str]:
    if isinstance(first, Unmeasured):
        return "undecided", f"not measured: {first.reason}"
    if isinstance(second, Unmeasured):
        return "undecided", f"not measured: {second.reason}"
    return look(first, second)


def _without(params: Params, keys: Collection[str]) -> Params:
    return {key: value for key, value in params.items() if key not in keys}
