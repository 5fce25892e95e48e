"""What an author's prose may ask of a scenario: a name comes in, the text of a number goes out, `n/a` where none is.

The prose is today's and the record may be older, so a variant or a claim that the run does not know is a gap to be
reported, not an error; a quantity that nobody defines is a mistake in the prose.
"""

from __future__ import annotations

import msgspec

from foretrace import units
from foretrace.errors import WrongUsage
from foretrace.facts import QUANTITIES, Facts
from foretrace.page import addresses, cells, cpu
from foretrace.page.models import Link, Statement
from foretrace.prediction import CUDA_CALL, change, each, per_step, said
from foretrace.stats import Summary
from foretrace.study import Investigation

_LONG = 80  # characters of a name that can stand in a sentence
_PART = {"duration": "us", "tflops": "tflops", "gbps": "gbps", "flops": "flop", "bytes": "bytes", "name": ""}
_RESOURCES = {
    "registers": "registers",
    "shared_bytes": "bytes",
    "occupancy": "share",
    "occupancy_reported": "share",
}


class Holes(msgspec.Struct, frozen=True, kw_only=True):
    """One scenario's numbers, as text; `None` where the run does not have one."""

    found: Investigation
    statements: tuple[Statement, ...]
    gpu: str  # the device's name

    def value(self, quantity: str, variant: str) -> str | None:
        """A median with its unit: `178 µs`."""
        known = self._known(quantity, variant)
        return units.quantity(known.median, QUANTITIES[quantity].unit) if known else None

    def interval(self, quantity: str, variant: str) -> str | None:
        """A median with its unit and its interval: `178 µs (171 … 179 µs)`."""
        known = self._known(quantity, variant)
        return said(known, QUANTITIES[quantity].unit) if known else None

    def ratio(self, quantity: str, variant: str, over: str) -> str | None:
        """How many times the quantity of `over` a variant has: `1.34× (1.30 … 1.38×)`."""
        _defined(quantity)
        facts, under = self._facts(variant), self._facts(over)
        found = change(facts, under, quantity) if facts and under else ""
        return None if isinstance(found, str) else said(found, "ratio")

    def launched(self, variant: str) -> str | None:
        """What each recorded step launched: `2 kernels`."""
        facts = self._facts(variant, need="activities")
        return (cells.activities(facts) or None) if facts else None

    def bound(self, variant: str) -> str | None:
        """What limits a variant."""
        facts = self._facts(variant)
        return facts.bound.limiter if facts else None

    def kernels(self, variant: str, family: str = "") -> tuple[str, ...]:
        """The names of a variant's kernels, of one family or all, longest total first; labels for very long names."""
        facts = self._facts(variant, need="activities")
        rows = facts.kernels if facts else ()
        chosen = [
            row.name if len(row.name) <= _LONG else row.label
            for row in rows
            if row.activity == "kernel" and family in ("", row.family)
        ]
        return tuple(dict.fromkeys(chosen))

    def part(self, measure: str, part: str, variant: str) -> str | None:
        """A declared part's `duration`, `tflops`, `gbps`, `flops` or `bytes`: `57.3 µs`; or its kernel's `name`."""
        if measure not in _PART:
            raise WrongUsage("no such measure of a part", where=measure, remedy=f"one of {', '.join(_PART)}")
        facts = self._facts(variant, need="activities")
        found = facts.part(part) if facts else None
        value: object = getattr(found, measure, None)
        if isinstance(value, Summary):
            return units.quantity(value.median, _PART[measure])
        if isinstance(value, str):
            return value if len(value) <= _LONG or found is None else found.label
        return units.quantity(value, _PART[measure]) if isinstance(value, int | float) else None

    def share(self, family: str, variant: str) -> str | None:
        """A kernel family's share of the GPU's time in the recorded steps: `83.1 %`."""
        facts = self._facts(variant)
        if facts is None or not facts.shares:
            return None
        known = facts.shares.get(family)
        return units.quantity(known.median if known else 0.0, "share")

    def geometry(self, field: str, family: str, variant: str) -> str | None:
        """A launch resource of the longest kernel of a family: `255`, `12.5 %`; see `facts.Kernel` for the fields."""
        if field not in _RESOURCES:
            raise WrongUsage("no such resource", where=field, remedy=f"one of {', '.join(_RESOURCES)}")
        facts = self._facts(variant, need="activities")
        rows = [row for row in (facts.kernels if facts else ()) if row.family == family]
        value = getattr(rows[0], field) if rows else None
        return None if value is None else units.quantity(float(value), _RESOURCES[field])

    def opaque(self, variant: str) -> str | None:
        """The operator that spends most CPU time outside all that is recorded inside it."""
        facts = self._facts(variant)
        return (cpu.short(facts.opaque) or None) if facts else None

    def calls(self, name: str, variant: str) -> str | None:
        """How often a recorded step runs an operator or a CUDA call of a name: `3`, or `3/3/2` where steps differ."""
        facts = self._facts(variant, need="runtime_calls" if CUDA_CALL.match(name) else "")
        if facts is None or not facts.steps:
            return None
        counts = per_step(name, facts.calls, len(facts.steps))
        return each(counts)

    def statement(self, key: str) -> Statement | None:
        """The claim of an id, or the prediction of a number."""
        return next((found for found in self.statements if found.key == key), None)

    def link(self, variant: str) -> Link | None:
        """The page of a variant."""
        declared = self.found.facts
        return Link(variant, addresses.variant(self.found.sealed.slug, variant)) if variant in declared else None

    def _known(self, quantity: str, variant: str) -> Summary | None:
        _defined(quantity)
        facts = self._facts(variant)
        return None if facts is None or quantity in facts.withheld else facts.quantities.get(quantity)

    def _facts(self, variant: str, *, need: str = "") -> Facts | None:
        """A variant's facts; None where it was not measured, or what is needed of it cannot be trusted."""
        found = self.found.facts.get(variant)
        return found if isinstance(found, Facts) and need not in found.withheld else None


def _defined(quantity: str) -> None:
    if quantity not in QUANTITIES:
        raise WrongUsage("no such quantity", where=quantity, remedy=f"one of {', '.join(QUANTITIES)}")
