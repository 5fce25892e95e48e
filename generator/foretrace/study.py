"""A recorded run, read: each trace analysed once, each expectation judged once, nothing yet in words for a page.

A `Record` goes in, a `Study` comes out; pages, images and gates are made from it.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from foretrace import analysis, kineto
from foretrace.facts import Facts
from foretrace.prediction import Claim, Finding, Kind, Unmeasured, Verdict, judge
from foretrace.record import Environment, Outcome, Record, Run, TraceFile
from foretrace.scenario import Scenario, Sealed, Variant
from foretrace.trace import Trace

LEFT_OUT = "a quick run leaves it out"


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """An expectation with its verdict; `claim` is set where somebody published it."""

    expectation: Kind
    verdict: Verdict
    claim: Claim | None = None


class Investigation(msgspec.Struct, frozen=True, kw_only=True):
    """One scenario of a run."""

    sealed: Sealed
    outcomes: dict[str, Outcome]
    facts: dict[str, Facts | Unmeasured]  # by variant name, in the declared order
    predictions: tuple[Judged, ...]
    claims: tuple[Judged, ...]

    @property
    def judged(self) -> tuple[Judged, ...]:
        """Predictions, then claims."""
        return self.predictions + self.claims


class Study(msgspec.Struct, frozen=True, kw_only=True):
    """A whole run."""

    record: Record
    investigations: dict[str, Investigation]  # by slug

    @property
    def run(self) -> Run:
        """The run's head."""
        return self.record.run

    def trace(self, slug: str, variant: str) -> Trace | None:
        """The trace of a variant's first round, read again; None where none was recorded."""
        outcome = self.record.outcomes[slug].get(variant)
        return _trace(self.record, slug, outcome.trace) if outcome and outcome.trace else None


def read(record: Record) -> Study:
    """Analyse every outcome of a record and judge what was sealed in it."""
    investigations = {slug: _investigate(record, sealed) for slug, sealed in record.declarations.items()}
    return Study(record=record, investigations=investigations)


def _investigate(record: Record, sealed: Sealed) -> Investigation:
    outcomes = record.outcomes[sealed.slug]
    facts = {variant.name: _know(record, sealed, variant) for variant in sealed.scenario.variants}
    return Investigation(
        sealed=sealed,
        outcomes=outcomes,
        facts=facts,
        predictions=tuple(
            Judged(expectation=expected, verdict=judge(expected, facts)) for expected in sealed.scenario.predictions
        ),
        claims=tuple(
            Judged(
                expectation=claim.expectation, verdict=_judge_claim(claim, facts, record.run.environment), claim=claim
            )
            for claim in sealed.scenario.claims
        ),
    )


def _judge_claim(claim: Claim, facts: Mapping[str, Facts | Unmeasured], environment: Environment) -> Verdict:
    """The verdict on a published claim; what was published of a GPU is not judged without one."""
    if environment.device == "cuda":
        return judge(claim.expectation, facts)
    why = f"published for {claim.on}; this run was made without a GPU"
    return Verdict(state="undecided", findings=(Finding(about=(), state="undecided", measured=why),))


def _know(record: Record, sealed: Sealed, variant: Variant) -> Facts | Unmeasured:
    outcome = record.outcomes[sealed.slug].get(variant.name)
    if outcome is None:
        return Unmeasured(params=variant.params, reason=_left_out(record.run, sealed.scenario, variant))
    if outcome.failure is not None:
        return Unmeasured(params=variant.params, reason=outcome.failure.message)
    return analysis.facts(
        [_trace(record, sealed.slug, each.trace) for each in outcome.rounds if each.trace],
        outcome=outcome,
        label=sealed.scenario.label,
        environment=record.run.environment,
        ceilings=record.run.ceilings,
    )


def _left_out(run: Run, scenario: Scenario, variant: Variant) -> str:
    """Why a variant has no outcome."""
    if run.options.quick and variant not in scenario.planned(quick=True):
        return LEFT_OUT
    return "the run ended before it was measured, or left it out"


def _trace(record: Record, slug: str, file: TraceFile) -> Trace:
    return kineto.parse(record.trace(slug, file), where=f"{slug}/{file.name}")


def limits(environment: Environment) -> str:
    """What the device of this run cannot tell, in a sentence; "" where it can tell everything."""
    if environment.device == "cuda":
        return ""
    return (
        "This run was made without a GPU: it has CPU times and operators, and nothing about kernels, copies or a GPU's "
        "time."
    )
