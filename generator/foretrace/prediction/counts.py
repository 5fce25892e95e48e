"""What every recorded step launches and calls: expectations about counts and names."""

from __future__ import annotations

import re
from typing import Literal

from foretrace import units
from foretrace.facts import Call, Facts
from foretrace.prediction.basis import Expectation, Frequency, State, each, launched, matches, per_step, state_of

CallKind = Literal["op", "annotation", "runtime", "driver", "overhead", "kernel"]

_ACTIVITIES = {
    "kernel": ("kernel", "kernels"),
    "memcpy": ("memcpy", "memcpys"),
    "memset": ("memset", "memsets"),
    "any": ("GPU activity", "GPU activities"),
}
CUDA_CALL = re.compile(r"(cu|cuda|hip)[A-Z]")
_NO_STEP = "no step was recorded"


class Counted(Expectation, frozen=True, kw_only=True, tag="count"):
    """Every recorded step launches exactly this many activities of a sort, or kernels of a family."""

    activity: Literal["kernel", "memcpy", "memset", "any"]
    number: int
    family: str = ""  # of kernels; "" counts all

    def describe(self) -> str:  # noqa: D102
        one, many = _ACTIVITIES[self.activity]
        family = f"{self.family} " if self.family else ""
        return f"one {family}{one} a step" if self.number == 1 else f"{self.number} {family}{many} a step"

    def look(self, facts: Facts) -> tuple[State, str]:  # noqa: D102
        if not facts.steps:
            return "undecided", _NO_STEP
        steps = "the only step" if len(facts.steps) == 1 else f"each of {len(facts.steps)} steps"
        if self.family:
            counts = per_step("*", launched(facts, self.family), len(facts.steps))
            return state_of(all(count == self.number for count in counts)), f"{each(counts)} in {steps}"
        counts = [
            step.activities.kernel + step.activities.memcpy + step.activities.memset
            if self.activity == "any"
            else getattr(step.activities, self.activity)
            for step in facts.steps
        ]
        kinds = list(dict.fromkeys(str(step.activities) for step in facts.steps))
        said = f"{kinds[0]} in {steps}" if len(kinds) == 1 else " / ".join(kinds)
        return state_of(all(count == self.number for count in counts)), said


class CallsCounted(Expectation, frozen=True, kw_only=True, tag="calls"):
    """Every recorded step makes exactly this many calls of a name (`*` stands for anything)."""

    call: str
    number: int

    def describe(self) -> str:  # noqa: D102
        return f"{self.number} × {self.call} a step"

    def needs(self) -> tuple[str, ...]:  # noqa: D102
        return ("runtime_calls",) if CUDA_CALL.match(self.call) else ()

    def look(self, facts: Facts) -> tuple[State, str]:  # noqa: D102
        if not facts.steps:
            return "undecided", _NO_STEP
        counts = per_step(self.call, facts.calls, len(facts.steps))
        return state_of(all(count == self.number for count in counts)), f"{each(counts)} × {self.call}"


class Launches(Expectation, frozen=True, kw_only=True, tag="launches"):
    """Every recorded step launches exactly this many kernels inside an operator or label of a name (`*`: anything).

    Where several names fit, each of them is held to it. An operator that launches nothing has no GPU time either.
    """

    op: str
    number: int

    def describe(self) -> str:  # noqa: D102
        inside = f"inside {self.op}"
        if not self.number:
            return f"no GPU work {inside}"
        return f"one kernel a step {inside}" if self.number == 1 else f"{self.number} kernels a step {inside}"

    def needs(self) -> tuple[str, ...]:  # noqa: D102
        return ("activities",) if self.number else ("activities", "kernel_us")

    def look(self, facts: Facts) -> tuple[State, str]:  # noqa: D102
        if not facts.steps:
            return "undecided", _NO_STEP
        rows = [call for call in facts.calls if call.kind in ("op", "annotation") and matches(self.op, call.name)]
        rows = [call for call in rows if any(call.per_step)]
        if not rows:
            return "undecided", f"no {self.op} in a recorded step"
        held = all(
            all(count == self.number for count in call.kernels_per_step) and (self.number > 0 or call.gpu_us == 0.0)
            for call in rows
        )
        return state_of(held), "; ".join(map(self._found, rows))

    def _found(self, call: Call) -> str:
        kernels = f"{call.name}: {each(call.kernels_per_step)} kernels a step"
        return kernels if self.number else f"{kernels}, {units.quantity(call.gpu_us, 'us')} of GPU time in all"


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
            return "undecided", _NO_STEP
        calls = [call for call in facts.calls if call.kind == self.what]
        kernels = [row for row in facts.kernels if row.activity == "kernel"]
        counts = per_step(self.name, kernels if self.what == "kernel" else calls, len(facts.steps))
        held = all(counts) if self.how_often == "always" else not any(counts)
        return state_of(held), f"{each(counts)} × {self.name}" if any(counts) else f"no {self.name}"


class PrecededBy(Expectation, frozen=True, kw_only=True, tag="preceded"):
    """The launches of a family always, or never, have a CUDA call of a name before them in the same operator."""

    family: str
    call: str
    how_often: Frequency

    def describe(self) -> str:  # noqa: D102
        return f"{self.family} launches {self.how_often} preceded by {self.call}"

    def look(self, facts: Facts) -> tuple[State, str]:  # noqa: D102
        rows = launched(facts, self.family)
        if not rows:
            return "undecided", f"no {self.family} kernel was launched"
        if not all(row.launch_call for row in rows):
            return "undecided", f"a {self.family} kernel is not linked to the call that launched it"
        seen = [any(matches(self.call, call) for call in row.calls_before) for row in rows]
        shown = dict.fromkeys(
            f"{row.label}: {', '.join(row.calls_before) or 'no call'} before {row.launch_call}" for row in rows
        )
        return state_of(all(seen) if self.how_often == "always" else not any(seen)), "; ".join(shown)
