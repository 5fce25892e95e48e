"""Predictions and claims in words, with what came of them: a `Judged` comes in, a `Statement` goes out."""

from __future__ import annotations

import functools
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from foretrace.facts import Facts, Params
from foretrace.page import addresses
from foretrace.page.models import Evidence, Line, Link, Said, Score, Statement, StatementKind
from foretrace.prediction import AllOf, Finding, Kind, State, Unmeasured, Verdict, Where, fits
from foretrace.record import Environment
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

LINES, VARIANTS, SHORT = 3, 2, 320
"""The most findings beside a verdict, variants beside a finding, and characters of a finding; the evidence has all."""


def statements(found: Investigation, environment: Environment) -> tuple[tuple[Statement, ...], tuple[Statement, ...]]:
    """The predictions, numbered from 1, and the claims, under their ids; on this machine."""
    address = functools.partial(addresses.variant, found.sealed.slug)
    params = {name: known.params for name, known in found.facts.items()}
    numbered = [(str(number), judged) for number, judged in enumerate(found.predictions, 1)]
    claimed = [(judged.claim.id, judged) for judged in found.claims if judged.claim]
    kinds: tuple[tuple[StatementKind, list[tuple[str, Judged]]], ...] = (("prediction", numbered), ("claim", claimed))
    predictions, claims = (
        tuple(
            _statement(
                judged, key=key, kind=kind, params=params, address=address, untold=_untold(found, judged, environment)
            )
            for key, judged in each
        )
        for kind, each in kinds
    )
    return predictions, claims


def expected(
    found: Iterable[Judged], *, kind: StatementKind, params: Mapping[str, Params], address: Callable[[str], str]
) -> tuple[Statement, ...]:
    """What was expected without a scenario, numbered from 1.

    Args:
        found: each expectation with its verdict.
        kind: what they are.
        params: by the name of what findings are about.
        address: from such a name to the page that shows it.
    """
    return tuple(
        _statement(judged, key=str(number), kind=kind, params=params, address=address)
        for number, judged in enumerate(found, 1)
    )


def score(title: str, states: Sequence[State]) -> Score:
    """How many came out how."""
    held, refuted, undecided = (str(states.count(state)) for state in ("held", "refuted", "undecided"))
    return Score(title=title, held=held, refuted=refuted, undecided=undecided, total=str(len(states)))


def where(asked: Where) -> str:
    """The variants that a statement speaks of, in words: `size 64, window cold or warm`."""
    said = [f"{key} {' or '.join(map(str, v)) if isinstance(v, list) else v}" for key, v in asked.items()]
    return ", ".join(said)


def _statement(
    judged: Judged,
    *,
    key: str,
    kind: StatementKind,
    params: Mapping[str, Params],
    address: Callable[[str], str],
    untold: str = "",
) -> Statement:
    claim, verdict = judged.claim, judged.verdict
    parts = tuple(_parts(judged.expectation))
    lines = tuple(_deciding(address, verdict, about=parts[0].describe() if claim and len(parts) == 1 else ""))
    return Statement(
        key=key,
        anchor=f"{kind}-{re.sub(r'[^A-Za-z0-9_.-]+', '-', key)}",
        kind=kind,
        words=claim.statement if claim else "",
        parts=tuple(Said(text=part.describe(), where=where(part.where)) for part in parts),
        because=judged.expectation.because,
        state=verdict.state,
        untold=untold,
        measured=_short(verdict.measured),
        lines=lines[:LINES],
        more=f"and {len(lines) - LINES} more" if len(lines) > LINES else "",
        evidence=tuple(
            Evidence(
                variants=_links(address, finding.about),
                state=finding.state,
                measured=finding.measured,
                part=finding.part,
            )
            for finding in verdict.findings
        ),
        parts_held="" if verdict.state == "held" else _parts_held(parts, verdict.findings, params),
        figure=_given(claim.figure) if claim else "",
        on=_given(claim.on) if claim else "",
        source=claim.source if claim else "",
    )


def _parts_held(parts: Sequence[Kind], findings: Sequence[Finding], params: Mapping[str, Params]) -> str:
    """How many parts of a statement held for all that they were said of; "" where it was not looked at part by part.

    A finding names its part in words; parts of the same words are told apart by the variants that they speak of.
    """
    if len(parts) == 1 or not any(finding.part for finding in findings):
        return ""
    words = [part.describe() for part in parts]
    held = 0
    for part, said in zip(parts, words, strict=True):
        theirs = [finding for finding in findings if finding.part == said]
        if words.count(said) > 1:
            theirs = [finding for finding in theirs if finding.about and fits(params[finding.about[0]], part.where)]
        held += bool(theirs) and all(finding.state == "held" for finding in theirs)
    return f"{held} of {len(parts)} parts held"


def _untold(found: Investigation, judged: Judged, environment: Environment) -> str:
    """Why this run could not have told; "" where it was judged, or is undecided in spite of what was measured."""
    if judged.verdict.state != "undecided":
        return ""
    if environment.device == "cpu" and (judged.claim or not _measured(found, judged.expectation)):
        return "cannot be told without a GPU"
    waiting = [finding for finding in judged.verdict.findings if finding.state == "undecided"]
    return "was not measured in this run" if all(_left_out(found, finding.about) for finding in waiting) else ""


def _measured(found: Investigation, expectation: Kind) -> bool:
    """Whether all that an expectation is about was measured, so that it is the interval which leaves it undecided."""
    quantity = getattr(expectation, "quantity", "")
    facts = [each for each in found.facts.values() if fits(each.params, expectation.where)]
    return bool(quantity) and all(isinstance(each, Facts) and quantity in each.quantities for each in facts)


def _left_out(found: Investigation, names: Iterable[str]) -> bool:
    """Whether one of these variants was not measured, and did not fail either."""
    return any(
        isinstance(found.facts[name], Unmeasured) and not (name in found.outcomes and found.outcomes[name].failed)
        for name in names
    )


def _deciding(address: Callable[[str], str], verdict: Verdict, *, about: str) -> Iterator[Line]:
    """The findings that decided a verdict, those that say the same of several variants as one.

    `about` is what was looked at, where neither a part of the statement nor its words say so.
    """
    said: dict[tuple[str, str], dict[str, None]] = {}
    for finding in verdict.findings:
        if finding.state == verdict.state:
            said.setdefault((finding.part or about, finding.measured), {}).update(dict.fromkeys(finding.about))
    for (part, measured), names in said.items():
        yield Line(
            measured=_short(measured),
            part=part,
            variants=_links(address, tuple(names)[:VARIANTS]),
            others=f"and {len(names) - VARIANTS} more" if len(names) > VARIANTS else "",
        )


def _given(text: str) -> str:
    """A claim's figure or GPU; "" where the source gives none."""
    return "" if text == "–" else text


def _links(address: Callable[[str], str], names: Iterable[str]) -> tuple[Link, ...]:
    return tuple(Link(name, address(name)) for name in names)


def _short(text: str) -> str:
    return textwrap.shorten(text, SHORT, placeholder=" …") if len(text) > SHORT else text


def _parts(expectation: Kind) -> Iterator[Kind]:
    if isinstance(expectation, AllOf):
        for part in expectation.parts:
            yield from _parts(part)
    else:
        yield expectation
