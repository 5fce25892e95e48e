"""Expectations as data, and the one judge: an expectation and facts go in; held, refuted or undecided comes out.

A prediction of ours and a published claim are the same kind of thing with another author, so one judge serves both.
Every kind names the variants it speaks of (`where`: parameter -> value, or a list of allowed values) and says
`because`. A verdict covers all variants it speaks of: refuted by one, held only by all. Where the facts do not carry
an answer the finding is undecided and says what is missing; where an interval straddles a limit, it says that too.

A new kind is one struct with `describe` and `look` (or `find`, where it speaks of pairs), one row in `Kind`, and one
builder function for authors in `predict`.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal, get_args

import msgspec

from foretrace import stats, units
from foretrace.facts import QUANTITIES, Call, Facts, Kernel, Limiter, Params, Scalar
from foretrace.stats import Summary

State = Literal["held", "refuted", "undecided"]
Where = dict[str, Scalar | list[Scalar]]
Frequency = Literal["always", "never"]
CallKind = Literal["op", "annotation", "runtime", "driver", "overhead", "kernel"]

_RESOURCES = {
    "registers": ("registers a thread", "registers"),
    "shared_bytes": ("shared memory a block", "bytes"),
    "occupancy": ("occupancy", "share"),
    "threads": ("threads a block", "threads"),
}
_ACTIVITIES = {
    "kernel": ("kernel", "kernels"),
    "memcpy": ("memcpy", "memcpys"),
    "memset": ("memset", "memsets"),
    "any": ("GPU activity", "GPU activities"),
}
_CUDA_CALL = re.compile(r"(cu|cuda|hip)[A-Z]")


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
                yield _undecided((name,), f"not measured: {facts.reason}")
            elif missing := [facts.withheld[need] for need in self.needs() if need in facts.withheld]:
                yield _undecided((name,), f"withheld: {missing[0]}")
            else:
                state, said = self.look(facts)
                yield Finding(about=(name,), state=state, measured=said)

    def needs(self) -> tuple[str, ...]:
        """The keys of `Facts.withheld` that leave this undecided."""
        return ("activities",)

    def look(self, facts: Facts) -> tuple[State, str]:
        """The state and the measured value for one variant."""
        raise NotImplementedError


class LimitedBy(Expectation, frozen=True, kw_only=True, tag="bound"):
    """A step's time is limited by this."""

    limiter: Limiter

    def describe(self) -> str:  # noqa: D102
        return f"{self.limiter}-bound"

    def needs(self) -> tuple[str, ...]:  # noqa: D102
        return ("bound",)

    def look(self, facts: Facts) -> tuple[State, str]:  # noqa: D102
        found = facts.bound
        if found.limiter == "undecided":
            return "undecided", found.evidence
        return _state(found.limiter == self.limiter), f"{found.limiter}-bound: {found.evidence}"


class Counted(Expectation, frozen=True, kw_only=True, tag="count"):
    """Every recorded step launches exactly this many activities of a sort."""

    activity: Literal["kernel", "memcpy", "memset", "any"]
    number: int

    def describe(self) -> str:  # noqa: D102
        one, many = _ACTIVITIES[self.activity]
        return f"one {one} a step" if self.number == 1 else f"{self.number} {many} a step"

    def look(self, facts: Facts) -> tuple[State, str]:  # noqa: D102
        if not facts.steps:
            return "undecided", "no step was recorded"
        counts = [
            step.activities.kernel + step.activities.memcpy + step.activities.memset
            if self.activity == "any"
            else getattr(step.activities, self.activity)
            for step in facts.steps
        ]
        kinds = list(dict.fromkeys(str(step.activities) for step in facts.steps))
        steps = "the only step" if len(counts) == 1 else f"each of {len(counts)} steps"
        said = f"{kinds[0]} in {steps}" if len(kinds) == 1 else " / ".join(kinds)
        return _state(all(count == self.number for count in counts)), said


class CallsCounted(Expectation, frozen=True, kw_only=True, tag="calls"):
    """Every recorded step makes exactly this many calls of a name (`*` stands for anything)."""

    call: str
    number: int

    def describe(self) -> str:  # noqa: D102
        return f"{self.number} × {self.call} a step"

    def needs(self) -> tuple[str, ...]:  # noqa: D102
        return ("runtime_calls",) if _CUDA_CALL.match(self.call) else ()

    def look(self, facts: Facts) -> tuple[State, str]:  # noqa: D102
        if not facts.steps:
            return "undecided", "no step was recorded"
        counts = _per_step(self.call, facts.calls, len(facts.steps))
        return _state(all(count == self.number for count in counts)), f"{_each(counts)} × {self.call}"


class Kernels(Expectation, frozen=True, kw_only=True, tag="kernels"):
    """Two variants that differ in one parameter launch kernels of the same names, or of different ones."""

    relation: Literal["same", "different"]
    between: dict[str, tuple[Scalar, Scalar]]
    family: str = ""

    def describe(self) -> str:  # noqa: D102
        ((parameter, (one, other)),) = self.between.items()
        family = f"{self.family} " if self.family else ""
        return f"{self.relation} {family}kernel names for {parameter} {one} and {other}"

    def find(self, measured: Measured) -> Iterator[Finding]:  # noqa: D102
        ((parameter, (one, other)),) = self.between.items()
        return _compare(measured, self.where, {parameter: one}, {parameter: other}, self._look_at_both)

    def _look_at_both(self, first: Facts, second: Facts) -> tuple[State, str]:
        withheld = [facts.withheld["activities"] for facts in (first, second) if "activities" in facts.withheld]
        if withheld:
            return "undecided", f"withheld: {withheld[0]}"
        ours, theirs = self._names(first), self._names(second)
        if not ours or not theirs:
            return "undecided", f"no {self.family or 'GPU'} kernel on one side"
        measured = f"both {', '.join(ours)}" if ours == theirs else f"{', '.join(ours)} against {', '.join(theirs)}"
        return _state((ours == theirs) == (self.relation == "same")), measured

    def _names(self, facts: Facts) -> list[str]:
        rows = [row for row in facts.kernels if row.activity == "kernel" and self.family in ("", row.family)]
        return sorted({row.name for row in rows})


class Appears(Expectation, frozen=True, kw_only=True, tag="appears"):
    """A name (`*` stands for anything) is seen in every recorded step, or in none."""

    what: CallKind
    name: str
    how_often: Frequency

    def describe(self) -> str:  # noqa: D102
        word = {"op": "operator", "overhead": "profiler event", "runtime": "CUDA call", "driver": "driver call"}.get(
            self.what, self.what
        )
        return f"{word} {self.name} {'in every step' if self.how_often == 'always' else 'in no step'}"

    def needs(self) -> tuple[str, ...]:  # noqa: D102
        return {"kernel": ("activities",), "runtime": ("runtime_calls",), "driver": ("runtime_calls",)}.get(
            self.what, ()
        )

    def look(self, facts: Facts) -> tuple[State, str]:  # noqa: D102
        if not facts.steps:
            return "undecided", "no step was recorded"
        calls = [call for call in facts.calls if call.kind == self.what]
        kernels = [row for row in facts.kernels if row.activity == "kernel"]
        counts = _per_step(self.name, kernels if self.what == "kernel" else calls, len(facts.steps))
        held = all(counts) if self.how_often == "always" else not any(counts)
        return _state(held), f"{_each(counts)} × {self.name}" if any(counts) else f"no {self.name}"


class Within(Expectation, frozen=True, kw_only=True, tag="within"):
    """A quantity of `facts.QUANTITIES` lies in a closed interval."""

    quantity: str
    low: float | None = None  # None: open
    high: float | None = None

    def describe(self) -> str:  # noqa: D102
        definition = QUANTITIES[self.quantity]
        return f"{definition.title} {units.interval(*_ends(self.low, self.high), definition.unit)}"

    def needs(self) -> tuple[str, ...]:  # noqa: D102
        return (self.quantity,)

    def look(self, facts: Facts) -> tuple[State, str]:  # noqa: D102
        found = _quantity(facts, self.quantity)
        if isinstance(found, str):
            return "undecided", found
        return _inside(found, self.low, self.high), said(found, QUANTITIES[self.quantity].unit)


class RatioWithin(Expectation, frozen=True, kw_only=True, tag="ratio"):
    """A quantity of one variant over the same quantity of its partner lies in a closed interval.

    `of` and `over` set the parameters in which the two differ; in all others they are alike.
    """

    quantity: str
    of: Params
    over: Params
    low: float | None = None  # None: open
    high: float | None = None

    def describe(self) -> str:  # noqa: D102
        title = QUANTITIES[self.quantity].title
        return (
            f"{title}, {_said(self.of)} over {_said(self.over)}: {units.interval(*_ends(self.low, self.high), 'ratio')}"
        )

    def find(self, measured: Measured) -> Iterator[Finding]:  # noqa: D102
        return _compare(measured, self.where, self.of, self.over, self._look_at_both)

    def _look_at_both(self, first: Facts, second: Facts) -> tuple[State, str]:
        found = change(first, second, self.quantity)
        if isinstance(found, str):
            return "undecided", found
        return _inside(found, self.low, self.high), said(found, "ratio")


class Ordered(Expectation, frozen=True, kw_only=True, tag="order"):
    """A quantity grows along the given values of one parameter, all others alike."""

    quantity: str
    parameter: str
    values: tuple[Scalar, ...]

    def describe(self) -> str:  # noqa: D102
        return f"{QUANTITIES[self.quantity].title} grows over {self.parameter} " + " < ".join(map(str, self.values))

    def find(self, measured: Measured) -> Iterator[Finding]:  # noqa: D102
        for low, high in itertools.pairwise(self.values):
            look = functools.partial(self._look_at_both, low, high)
            one, other = {self.parameter: low}, {self.parameter: high}
            yield from tuple(_compare(measured, self.where, one, other, look)) or (_no_variant(),)

    def _look_at_both(self, low: Scalar, high: Scalar, first: Facts, second: Facts) -> tuple[State, str]:
        smaller, larger = _quantity(first, self.quantity), _quantity(second, self.quantity)
        if isinstance(smaller, str):
            return "undecided", smaller
        if isinstance(larger, str):
            return "undecided", larger
        unit = QUANTITIES[self.quantity].unit
        state: State = "undecided"
        if smaller.high < larger.low:
            state = "held"
        elif larger.high <= smaller.low:
            state = "refuted"
        beyond = ">" if smaller.median > larger.median else "="
        sign = {"held": "<", "refuted": beyond, "undecided": "≈"}[state]
        return state, f"{low}: {said(smaller, unit)} {sign} {high}: {said(larger, unit)}"


class Geometry(Expectation, frozen=True, kw_only=True, tag="geometry"):
    """For every kernel of a family, a launch resource lies in a closed interval."""

    family: str
    field: Literal["registers", "shared_bytes", "occupancy", "threads"]
    low: float | None = None  # None: open
    high: float | None = None

    def describe(self) -> str:  # noqa: D102
        words, unit = _RESOURCES[self.field]
        return f"{self.family} kernels: {words} {units.interval(*_ends(self.low, self.high), unit)}"

    def look(self, facts: Facts) -> tuple[State, str]:  # noqa: D102
        found = [(row.label, _resource(row, self.field)) for row in _launched(facts, self.family)]
        known = [(label, value) for label, value in found if value is not None]
        low, high = _ends(self.low, self.high)
        held = all(low <= value <= high for _, value in known)
        words, unit = _RESOURCES[self.field]
        if not known or (held and len(known) < len(found)):
            return "undecided", f"no {words} known for a {self.family} kernel"
        shown = dict.fromkeys(f"{label}: {units.quantity(value, unit)} {words}" for label, value in known)
        return _state(held), "; ".join(shown)


class PrecededBy(Expectation, frozen=True, kw_only=True, tag="preceded"):
    """The launches of a family always, or never, have a CUDA call of a name before them in the same operator."""

    family: str
    call: str
    how_often: Frequency

    def describe(self) -> str:  # noqa: D102
        return f"{self.family} launches {self.how_often} preceded by {self.call}"

    def look(self, facts: Facts) -> tuple[State, str]:  # noqa: D102
        rows = _launched(facts, self.family)
        if not rows:
            return "undecided", f"no {self.family} kernel was launched"
        if not all(row.launch_call for row in rows):
            return "undecided", f"a {self.family} kernel is not linked to the call that launched it"
        seen = [any(_matches(self.call, call) for call in row.calls_before) for row in rows]
        shown = dict.fromkeys(
            f"{row.label}: {', '.join(row.calls_before) or 'no call'} before {row.launch_call}" for row in rows
        )
        return _state(all(seen) if self.how_often == "always" else not any(seen)), "; ".join(shown)


class AllOf(Expectation, frozen=True, kw_only=True, tag="all"):
    """Several expectations that make one statement; each part brings its own `where`."""

    parts: tuple[Kind, ...]

    def describe(self) -> str:  # noqa: D102
        return "; ".join(part.describe() for part in self.parts)

    def find(self, measured: Measured) -> Iterator[Finding]:  # noqa: D102
        for part in self.parts:
            for finding in tuple(part.find(measured)) or (_no_variant(),):
                yield msgspec.structs.replace(finding, part=finding.part or part.describe())


Kind = (
    LimitedBy
    | Counted
    | CallsCounted
    | Kernels
    | Appears
    | Within
    | RatioWithin
    | Ordered
    | Geometry
    | PrecededBy
    | AllOf
)
KINDS: tuple[type[Expectation], ...] = get_args(Kind)


class Claim(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A published statement, in the form in which it can be judged here."""

    id: str
    statement: str
    expectation: Kind
    figure: str  # as published, with units; "–" where the source gives none
    on: str  # the GPU it was measured on
    source: str  # a link


def judge(expectation: Kind, measured: Measured) -> Verdict:
    """The verdict on an expectation: refuted by one finding, held only if all hold, else undecided."""
    findings = tuple(expectation.find(measured)) or (_no_variant(),)
    states = {finding.state for finding in findings}
    state: State = "refuted" if "refuted" in states else "undecided" if "undecided" in states else "held"
    return Verdict(state=state, findings=findings)


def seal(*declared: object) -> str:
    """The sha256, in hex, of declarations in canonical JSON."""
    return hashlib.sha256(msgspec.json.encode(declared, order="deterministic")).hexdigest()


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
    top, bottom = _quantity(first, quantity), _quantity(second, quantity)
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


def _ends(low: float | None, high: float | None) -> tuple[float, float]:
    return -math.inf if low is None else low, math.inf if high is None else high


def _inside(found: Summary, lowest: float | None, highest: float | None) -> State:
    low, high = _ends(lowest, highest)
    if low <= found.low and found.high <= high:
        return "held"
    return "refuted" if found.high < low or found.low > high else "undecided"


def _state(held: bool) -> State:  # noqa: FBT001 - the whole function is the flag
    return "held" if held else "refuted"


def _undecided(about: tuple[str, ...], why: str) -> Finding:
    return Finding(about=about, state="undecided", measured=why)


def _no_variant() -> Finding:
    return _undecided((), "no variant of this run fits")


def _per_step(pattern: str, rows: Iterable[Kernel | Call], steps: int) -> list[int]:
    found = [row.per_step for row in rows if _matches(pattern, row.name)]
    return [sum(counts[index] for counts in found) for index in range(steps)]


def _launched(facts: Facts, family: str) -> list[Kernel]:
    return [row for row in facts.kernels if row.activity == "kernel" and row.family == family]


def _matches(pattern: str, name: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name, re.DOTALL) is not None


def _each(counts: Sequence[int]) -> str:
    return f"{counts[0]}" if len(set(counts)) == 1 else "/".join(map(str, counts))


def _said(params: Params) -> str:
    return ", ".join(f"{key} {value}" for key, value in params.items())


def _quantity(facts: Facts, quantity: str) -> Summary | str:
    if quantity in facts.withheld:
        return f"withheld: {facts.withheld[quantity]}"
    return facts.quantities.get(quantity) or f"no {QUANTITIES[quantity].title.lower()} for this variant"


def _resource(row: Kernel, field: str) -> float | None:
    if field == "threads":
        return math.prod(row.block) if row.block else None
    value: float | None = getattr(row, field)
    return value


def _compare(
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
            yield _undecided((name,), f"no partner with {_said(second)} was measured")
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
