"""Expectations as data, and the one judge: an expectation and facts go in; held, refuted or undecided comes out.

A prediction of ours and a published claim are the same kind of thing with another author, so one judge serves both.
Every kind names the variants it speaks of (`where`: parameter -> value, or a list of allowed values) and says
`because`. A verdict covers all variants it speaks of: refuted by one, held only by all. Where the facts do not carry
an answer the finding is undecided and says what is missing; where an interval straddles a limit, it says that too.

A new kind is one struct with `describe` and `find`, one row in `KINDS`, and one builder function for authors.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from foretrace import stats, units
from foretrace.facts import QUANTITIES, Facts, Kernel, Limiter, Params, Scalar
from foretrace.stats import Summary

State = Literal["held", "refuted", "undecided"]
Where = dict[str, Scalar | list[Scalar]]
Frequency = Literal["always", "never"]
CallKind = Literal["op", "annotation", "runtime", "driver", "overhead", "kernel"]

_FIELDS = {"registers": "registers", "shared_bytes": "bytes", "occupancy": "share", "threads": "threads"}


class Unmeasured(msgspec.Struct, frozen=True, kw_only=True):
    """A variant that has no facts, and why."""

    params: Params
    reason: str


Measured = Mapping[str, Facts | Unmeasured]
"""What a run knows: variant name -> its facts, or why there are none. Repeats for the A/A control are not in it."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What one variant, or one pair of variants, says about an expectation."""

    about: tuple[str, ...]
    state: State
    measured: str  # may hold names from the trace: hostile text


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


class Expectation(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    """What every kind has: the variants it speaks of, and the reason for expecting it."""

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
            elif missing := next((facts.withheld[need] for need in self.needs() if need in facts.withheld), None):
                yield _undecided((name,), f"withheld: {missing}")
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
        word = {"kernel": "kernels", "any": "GPU activities"}.get(self.activity, f"{self.activity}s")
        return (
            f"{self.number} {word} a step"
            if self.number != 1
            else f"one {word[:-1] if word.endswith('s') else word} a step"
        )

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
        said = f"{kinds[0]} in each of {len(counts)} steps" if len(kinds) == 1 else " / ".join(kinds)
        return _state(all(count == self.number for count in counts)), said


class CallsCounted(Expectation, frozen=True, kw_only=True, tag="calls"):
    """Every recorded step makes exactly this many calls of a name (`*` stands for anything)."""

    call: str
    number: int

    def describe(self) -> str:  # noqa: D102
        return f"{self.number} × {self.call} a step"

    def needs(self) -> tuple[str, ...]:  # noqa: D102
        return ("activities",) if self.call.startswith("cu") else ()

    def look(self, facts: Facts) -> tuple[State, str]:  # noqa: D102
        if not facts.steps:
            return "undecided", "no step was recorded"
        rows = [call.per_step for call in facts.calls if _matches(self.call, call.name)]
        counts = [sum(row[index] for row in rows) for index in range(len(facts.steps))]
        return _state(all(count == self.number for count in counts)), f"{_each(counts)} × {self.call}"


class Kernels(Expectation, frozen=True, kw_only=True, tag="kernels"):
    """Two variants that differ in one parameter launch kernels of the same names, or of different ones."""

    relation: Literal["same", "different"]
    between: dict[str, tuple[Scalar, Scalar]]
    family: str = ""

    def describe(self) -> str:  # noqa: D102
        (parameter, (one, other)) = next(iter(self.between.items()))
        return f"{self.relation} {self.family or 'kernel'} kernel names for {parameter} {one} and {other}"

    def find(self, measured: Measured) -> Iterator[Finding]:  # noqa: D102
        ((parameter, (one, other)),) = self.between.items()
        for about, first, second in _pairs(measured, self.where, {parameter: one}, {parameter: other}):
            if isinstance(second, str):
                yield _undecided(about, second)
                continue
            assert not isinstance(first, str)
            withheld = first.withheld.get("activities") or second.withheld.get("activities")
            if withheld:
                yield _undecided(about, f"withheld: {withheld}")
                continue
            ours, theirs = self._names(first), self._names(second)
            if not ours or not theirs:
                yield _undecided(about, f"no {self.family} kernel on one side")
            else:
                said = f"both {_names(ours)}" if ours == theirs else f"{_names(ours)} against {_names(theirs)}"
                yield Finding(about=about, state=_state((ours == theirs) == (self.relation == "same")), measured=said)

    def _names(self, facts: Facts) -> Counter[str]:
        rows = [row for row in facts.kernels if row.activity == "kernel" and self.family in ("", row.family)]
        return Counter({row.name: sum(row.per_step) for row in rows})


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
        return () if self.what in ("op", "annotation", "overhead") else ("activities",)

    def look(self, facts: Facts) -> tuple[State, str]:  # noqa: D102
        if not facts.steps:
            return "undecided", "no step was recorded"
        rows = facts.kernels if self.what == "kernel" else [call for call in facts.calls if call.kind == self.what]
        per_step = [row.per_step for row in rows if _matches(self.name, row.name)]
        counts = [sum(row[index] for row in per_step) for index in range(len(facts.steps))]
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
        found = facts.quantities.get(self.quantity)
        if found is None:
            return "undecided", f"no {QUANTITIES[self.quantity].title.lower()} for this variant"
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
        for about, first, second in _pairs(measured, self.where, self.of, self.over):
            if isinstance(second, str):
                yield _undecided(about, second)
                continue
            assert not isinstance(first, str)
            found = change(first, second, self.quantity)
            if isinstance(found, str):
                yield _undecided(about, found)
            else:
                yield Finding(about=about, state=_inside(found, self.low, self.high), measured=said(found, "ratio"))


class Ordered(Expectation, frozen=True, kw_only=True, tag="order"):
    """A quantity grows along the given values of one parameter, all others alike."""

    quantity: str
    parameter: str
    values: tuple[Scalar, ...]

    def describe(self) -> str:  # noqa: D102
        return f"{QUANTITIES[self.quantity].title} grows over {self.parameter} " + " < ".join(map(str, self.values))

    def find(self, measured: Measured) -> Iterator[Finding]:  # noqa: D102
        for low, high in zip(self.values, self.values[1:], strict=False):
            for about, first, second in _pairs(measured, self.where, {self.parameter: low}, {self.parameter: high}):
                if isinstance(second, str):
                    yield _undecided(about, second)
                    continue
                assert not isinstance(first, str)
                smaller, larger = _quantity(first, self.quantity), _quantity(second, self.quantity)
                if isinstance(smaller, str) or isinstance(larger, str):
                    yield _undecided(about, smaller if isinstance(smaller, str) else str(larger))
                else:
                    unit = QUANTITIES[self.quantity].unit
                    state: State = (
                        "held" if smaller.high < larger.low else "refuted" if larger.high < smaller.low else "undecided"
                    )
                    sign = {"held": "<", "refuted": ">", "undecided": "≈"}[state]
                    yield Finding(
                        about=about,
                        state=state,
                        measured=f"{low}: {said(smaller, unit)} {sign} {high}: {said(larger, unit)}",
                    )


class Geometry(Expectation, frozen=True, kw_only=True, tag="geometry"):
    """For every kernel of a family, a launch resource lies in a closed interval."""

    family: str
    field: Literal["registers", "shared_bytes", "occupancy", "threads"]
    low: float | None = None  # None: open
    high: float | None = None

    def describe(self) -> str:  # noqa: D102
        word = {
            "registers": "registers a thread",
            "shared_bytes": "shared memory a block",
            "threads": "threads a block",
        }
        interval = units.interval(*_ends(self.low, self.high), _FIELDS[self.field])
        return f"{self.family} kernels: {word.get(self.field, self.field)} {interval}"

    def look(self, facts: Facts) -> tuple[State, str]:  # noqa: D102
        values = {
            row.label: _resource(row, self.field)
            for row in facts.kernels
            if row.family == self.family and row.activity == "kernel"
        }
        if not values or any(value is None for value in values.values()):
            return "undecided", f"no {self.field} known for a {self.family} kernel"
        known = {label: value for label, value in values.items() if value is not None}
        shown = "; ".join(f"{label}: {units.quantity(value, _FIELDS[self.field])}" for label, value in known.items())
        low, high = _ends(self.low, self.high)
        return _state(all(low <= value <= high for value in known.values())), f"{self.field} {shown}"


class PrecededBy(Expectation, frozen=True, kw_only=True, tag="preceded"):
    """The launches of a family always, or never, have a CUDA call of a name before them in the same operator."""

    family: str
    call: str
    how_often: Frequency

    def describe(self) -> str:  # noqa: D102
        return f"{self.family} launches {self.how_often} preceded by {self.call}"

    def look(self, facts: Facts) -> tuple[State, str]:  # noqa: D102
        rows = [row for row in facts.kernels if row.family == self.family and row.activity == "kernel"]
        if not rows:
            return "undecided", f"no {self.family} kernel was launched"
        seen = [any(_matches(self.call, call) for call in row.calls_before) for row in rows]
        shown = "; ".join(
            f"{row.label}: {', '.join(row.calls_before) or 'no call'} before {row.launch_call}" for row in rows
        )
        return _state(all(seen) if self.how_often == "always" else not any(seen)), shown


class AllOf(Expectation, frozen=True, kw_only=True, tag="all"):
    """Several expectations that make one statement; each part brings its own `where`."""

    parts: tuple[Kind, ...]

    def describe(self) -> str:  # noqa: D102
        return "; ".join(part.describe() for part in self.parts)

    def find(self, measured: Measured) -> Iterator[Finding]:  # noqa: D102
        for part in self.parts:
            yield from part.find(measured)


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
KINDS: tuple[type[Expectation], ...] = (
    LimitedBy,
    Counted,
    CallsCounted,
    Kernels,
    Appears,
    Within,
    RatioWithin,
    Ordered,
    Geometry,
    PrecededBy,
    AllOf,
)


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A published statement, in the form in which it can be judged here."""

    id: str
    statement: str
    expectation: Kind
    figure: str  # as published, with units; "–" where the source gives none
    on: str  # the GPU it was measured on
    source: str  # a link


def judge(expectation: Kind, measured: Measured) -> Verdict:
    """The verdict on an expectation: refuted by one finding, held only if all hold, else undecided."""
    findings = tuple(expectation.find(measured))
    if not findings:
        findings = (_undecided((), "no variant of this run fits"),)
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
    if len(above) > 1 and len(below) > 1 and bottom.median:
        return stats.ratio(above, below)
    if bottom.low <= 0:
        return f"{QUANTITIES[quantity].title.lower()} of the lower side is 0"
    return Summary(
        count=min(top.count, bottom.count),
        median=top.median / bottom.median,
        low=top.low / bottom.high,
        high=top.high / bottom.low,
        minimum=top.minimum / bottom.maximum if bottom.maximum else math.inf,
        maximum=top.maximum / bottom.minimum if bottom.minimum else math.inf,
        mean=top.mean / bottom.mean,
    )


def said(found: Summary, unit: str) -> str:
    """A summary in words: the median, and its interval where there is one."""
    middle = units.quantity(found.median, unit)
    return middle if found.count == 1 else f"{middle} ({units.interval(found.low, found.high, unit)})"


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


def _matches(pattern: str, name: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name, re.DOTALL) is not None


def _each(counts: Sequence[int]) -> str:
    return f"{counts[0]}" if len(set(counts)) == 1 else "/".join(map(str, counts))


def _names(names: Counter[str]) -> str:
    return ", ".join(sorted(names))


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


def _pairs(
    measured: Measured, where: Where, first: Params, second: Params
) -> Iterator[tuple[tuple[str, ...], Facts | str, Facts | str]]:
    """Each variant that fits `where` and `first`, with the one that differs from it only by `second`.

    Where a side is not there or not measured, the last item is the reason, as a string.
    """
    keys = first.keys() | second.keys()
    free = {key: value for key, value in where.items() if key not in keys}
    for name, facts in select(measured, {**free, **first}).items():
        rest = {key: value for key, value in facts.params.items() if key not in keys}
        partners = select(measured, {**rest, **second})
        partner = next((other for other in partners if len(partners[other].params) == len(facts.params)), None)
        if partner is None:
            yield (name,), "", f"no partner with {_said(second)} was measured"
            continue
        about, other = (name, partner), partners[partner]
        if isinstance(facts, Unmeasured) or isinstance(other, Unmeasured):
            reason = (
                facts.reason if isinstance(facts, Unmeasured) else other.reason if isinstance(other, Unmeasured) else ""
            )
            yield about, "", f"not measured: {reason}"
        else:
            yield about, facts, other
