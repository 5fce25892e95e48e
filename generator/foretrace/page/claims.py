"""The page of published claims: all scenario pages come in; each claim goes out once, with its verdict and findings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from foretrace.page import addresses
from foretrace.page.models import ClaimsPage, Judgement, Link, PublishedClaim, RunCard, ScenarioPage, Source
from foretrace.page.statements import score
from foretrace.prediction import State
from foretrace.units import natural

_NOTHING = "No variant was measured."


def build(pages: Sequence[ScenarioPage]) -> ClaimsPage:
    """Every claim once, under the source that it was published in, in the order of the ids."""
    judged: dict[str, list[Judgement]] = {}
    for page in pages:
        for said in page.claims:
            place = Link(page.title, f"{page.address}#{said.anchor}")
            found = Judgement(slug=page.slug, scenario=place, device=page.run.device, statement=said)
            judged.setdefault(said.key, []).append(found)
    claims = [_claim(judged[key]) for key in sorted(judged, key=natural)]
    carrying = [page for page in pages if page.claims]
    return ClaimsPage(
        address=addresses.CLAIMS,
        score=score("Published claims", [claim.state for claim in claims]),
        setting=_setting(claims, [page.run for page in carrying]),
        reach=tuple((Link(page.title, page.address), page.reach or (_NOTHING,)) for page in carrying),
        sources=_sources(claims),
    )


def _claim(judgements: Sequence[Judgement]) -> PublishedClaim:
    first = judgements[0].statement
    return PublishedClaim(
        key=first.key,
        anchor=first.anchor,
        words=first.words,
        state=_verdict([found.statement.state for found in judgements]),
        parts_held=first.parts_held if len(judgements) == 1 else "",
        figure=first.figure,
        on=first.on,
        source=first.source,
        judgements=tuple(judgements),
    )


def _verdict(states: Iterable[State]) -> State:
    """Refuted by one scenario, held only by all, else undecided."""
    found = set(states)
    if "refuted" in found:
        return "refuted"
    return "held" if found == {"held"} else "undecided"


def _sources(claims: Iterable[PublishedClaim]) -> tuple[Source, ...]:
    """The claims by source, the source of the first id first."""
    by_source: dict[str, list[PublishedClaim]] = {}
    for claim in claims:
        by_source.setdefault(claim.source, []).append(claim)
    return tuple(
        Source(
            anchor=f"source-{number}",
            title=re.sub(r"^https?://(www\.)?", "", source).rstrip("/") or "Without a source",
            to=source,
            claims=tuple(found),
        )
        for number, (source, found) in enumerate(by_source.items(), 1)
    )


def _setting(claims: Iterable[PublishedClaim], runs: Iterable[RunCard]) -> str:
    """Where the published figures come from and where ours do."""
    runs = tuple(runs)
    published = dict.fromkeys(claim.on for claim in claims if claim.on)
    elsewhere = published.keys().isdisjoint(run.device for run in runs)
    other = "Another GPU and other library versions" if elsewhere else "Other library versions"
    return (
        f"The published figures were measured on {_listed(published) or 'GPUs that the sources do not name'}, with the "
        f"library versions of their time; what stands beside them was measured on {_listed(map(_machine, runs))}. "
        f"{other} can give another answer: a claim that is refuted here may well hold where it was made."
    )


def _machine(run: RunCard) -> str:
    known = dict(run.environment)
    versions = [f"{name} {known[key]}" for key, name in (("torch", "torch"), ("cuda", "CUDA")) if key in known]
    return f"{run.device} with {' and '.join(versions)}" if versions else run.device


def _listed(names: Iterable[str]) -> str:
    """Each name once: `a`, `a and b`, `a, b and c`."""
    *rest, last = dict.fromkeys(names) or [""]
    return f"{', '.join(rest)} and {last}" if rest else last
