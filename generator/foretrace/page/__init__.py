"""Page models: studies come in, frozen pages go out whose every number is text.

    pages = page.build(study, changed=frozenset(), timelines={})

Nothing here knows Markdown, HTML or where the files are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from foretrace.examination import Examination
from foretrace.facts import Facts, Timeline
from foretrace.page import claims, definitions, front, given, glossary, runs, scenario
from foretrace.page.holes import Holes
from foretrace.page.models import ClaimsPage, Definitions, FrontPage, Glossary, ReportPage, ScenarioPage, VariantPage
from foretrace.study import Study

__all__ = ["Holes", "Pages", "build", "newest"]

_CHANGED = (
    "The declaration in scenarios/ has changed, or is gone, since this run was made. What is judged here is what was "
    "sealed before it."
)


class Pages(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a site shows of its runs."""

    front: FrontPage
    claims: ClaimsPage
    definitions: Definitions
    glossary: Glossary
    scenarios: tuple[ScenarioPage, ...]
    variants: tuple[VariantPage, ...]
    holes: dict[str, Holes]  # by slug: what authors' prose may ask
    reports: tuple[ReportPage, ...] = ()  # on traces that came along
    looks: dict[str, Facts] = {}  # by the address of a trace's page


def newest(studies: tuple[Study, ...]) -> dict[str, Study]:
    """For each scenario the study whose run started last of those that have it."""
    ordered = sorted(studies, key=lambda study: (study.run.started_utc, study.run.id))
    return {slug: study for study in ordered for slug in study.investigations}


def build(
    *studies: Study,
    changed: frozenset[str] = frozenset(),
    timelines: Mapping[tuple[str, str], Timeline] | None = None,
    examined: Sequence[Examination] = (),
) -> Pages:
    """The pages of all scenarios of the studies, each from the newest run that has it.

    Args:
        studies: the runs, read and judged.
        changed: scenarios whose declaration is no longer the sealed one.
        timelines: by scenario and variant, where a trace was recorded.
        examined: reports on traces that came along.
    """
    chosen = dict(sorted(newest(studies).items()))
    scenarios: list[ScenarioPage] = []
    variants: list[VariantPage] = []
    holes: dict[str, Holes] = {}
    for slug, study in chosen.items():
        found = study.investigations[slug]
        drawn = {name: timeline for (theirs, name), timeline in (timelines or {}).items() if theirs == slug}
        said = _CHANGED if slug in changed else ""
        made, theirs = scenario.build(study.run, found, cost=_cost(study), changed=said, timelines=drawn)
        scenarios.append(made)
        variants.extend(theirs)
        holes[slug] = Holes(found=found, statements=made.statements, gpu=made.run.device)
    published = claims.build(scenarios)
    reports = tuple(given.build(found) for found in examined)
    return Pages(
        front=front.build(scenarios, published, reports=given.listed(reports)),
        claims=published,
        definitions=definitions.build(),
        glossary=glossary.build(),
        scenarios=tuple(scenarios),
        variants=tuple(variants),
        holes=holes,
        reports=reports,
        looks={
            page.address: look.facts
            for report, found in zip(reports, examined, strict=True)
            for page, look in zip(report.traces, found.looks.values(), strict=True)
        },
    )


def _cost(study: Study) -> str:
    return runs.cost(outcome for outcomes in study.record.outcomes.values() for outcome in outcomes.values())
