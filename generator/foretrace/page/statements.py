"""Predictions and claims in words, with what came of them: a `Judged` comes in, a `Statement` goes out."""

from __future__ import annotations

import re
from collections.abc import Iterable

from foretrace.page import addresses
from foretrace.page.models import Evidence, Link, Said, Score, Statement
from foretrace.prediction import AllOf, Kind, State, Where
from foretrace.study import Investigation, Judged

STATES: dict[State, str] = {
    "held": "The measured value is what was said, for every variant that it was said of.",
    "refuted": "The measured value is not what was said, for at least one variant.",
    "undecided": (
        "The run does not carry an answer: something was not measured, could not be trusted, or the interval straddles "
        "the limit."
    ),
}
"""What each verdict means."""


def statements(found: Investigation) -> tuple[tuple[Statement, ...], tuple[Statement, ...]]:
    """The predictions, numbered from 1, and the claims, under their ids."""
    slug = found.sealed.slug
    predictions = (_statement(slug, judged, key=str(number)) for number, judged in enumerate(found.predictions, 1))
    claims = (_statement(slug, judged, key=judged.claim.id) for judged in found.claims if judged.claim)
    return tuple(predictions), tuple(claims)


def score(title: str, counted: Iterable[Statement]) -> Score:
    """How many came out how."""
    states = [statement.state for statement in counted]
    held, refuted, undecided = (str(states.count(state)) for state in ("held", "refuted", "undecided"))
    return Score(title=title, held=held, refuted=refuted, undecided=undecided, total=str(len(states)))


def where(asked: Where) -> str:
    """The variants that a statement speaks of, in words: `size 64, window cold or warm`."""
    said = [f"{key} {' or '.join(map(str, v)) if isinstance(v, list) else v}" for key, v in asked.items()]
    return ", ".join(said)


def _statement(slug: str, judged: Judged, *, key: str) -> Statement:
    claim, verdict = judged.claim, judged.verdict
    kind = "claim" if claim else "prediction"
    return Statement(
        key=key,
        anchor=f"{kind}-{re.sub(r'[^A-Za-z0-9_.-]+', '-', key)}",
        kind="claim" if claim else "prediction",
        words=claim.statement if claim else "",
        parts=tuple(_parts(judged.expectation)),
        because=judged.expectation.because,
        state=verdict.state,
        measured=verdict.measured,
        evidence=tuple(
            Evidence(
                variants=tuple(Link(name, addresses.variant(slug, name)) for name in finding.about),
                state=finding.state,
                measured=finding.measured,
            )
            for finding in verdict.findings
        ),
        figure=claim.figure if claim else "",
        on=claim.on if claim else "",
        source=claim.source if claim else "",
    )


def _parts(expectation: Kind) -> Iterable[Said]:
    if isinstance(expectation, AllOf):
        for part in expectation.parts:
            yield from _parts(part)
    else:
        yield Said(text=expectation.describe(), where=where(expectation.where))
