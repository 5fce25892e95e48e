"""The front page: all scenario pages come in, the scoreboard and what did not hold go out."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from foretrace.page import addresses, cells
from foretrace.page.models import (
    Cell,
    ClaimsPage,
    Column,
    FrontPage,
    Link,
    Mismatch,
    Notice,
    ScenarioPage,
    Score,
    Statement,
    Table,
)
from foretrace.page.statements import score

SCENARIOS = (
    Column(title="Scenario", meaning="One question with its experiment."),
    Column(title="Question", meaning="What is asked."),
    Column(title="Our predictions", meaning="How many held, were refuted, stayed undecided."),
    Column(title="Published claims", meaning="How many held, were refuted, stayed undecided."),
    Column(title="Variants", meaning="How many were measured, of how many declared.", numeric=True),
    Column(
        title="Noise",
        meaning="Dispatch time of one variant in several processes, largest median over smallest: the middle one's.",
        numeric=True,
    ),
    Column(title="Device", meaning="What it was measured on, and when."),
)


def build(pages: Sequence[ScenarioPage], published: ClaimsPage, *, reports: Table | None = None) -> FrontPage:
    """The page that lists all others; a claim counts once there, however many scenarios carry it.

    Args:
        pages: of the scenarios.
        published: all claims.
        reports: those on traces that came along.
    """
    return FrontPage(
        address=addresses.FRONT,
        runs=tuple({page.run.id: page.run for page in pages}.values()),
        scores=(
            score("Our predictions", [said.state for page in pages for said in page.predictions]),
            published.score,
        ),
        untold=_untold(pages),
        mismatches=tuple(
            Mismatch(slug=page.slug, scenario=page.title, to=page.address, statement=said)
            for page in pages
            for said in page.statements
            if said.mismatch
        ),
        scenarios=_scenarios(pages),
        failures=_failures(pages),
        reports=reports,
    )


def _untold(pages: Sequence[ScenarioPage]) -> str:
    number = sum(bool(said.untold) for page in pages for said in page.statements)
    if not number:
        return ""
    return f"{number} more could not be told: for want of a GPU, or because the run left out what they speak of."


def _scenarios(pages: Sequence[ScenarioPage]) -> Table:
    rows = tuple(
        (
            Cell(text=page.title, to=page.address),
            Cell(text=page.question),
            _counts(page.predictions),
            _counts(page.claims),
            Cell(text=f"{len(page.variants.rows) - len(page.failures)} of {len(page.variants.rows)}"),
            _noise(page),
            Cell(text=page.run.device, detail=page.run.date),
        )
        for page in pages
    )
    return Table(caption="Scenarios", columns=SCENARIOS, rows=rows)


def _counts(said: Sequence[Statement]) -> Cell:
    counted = score("", [statement.state for statement in said])
    if counted.total == "0":
        return Cell(text="none")
    return Cell(text=f"{counted.held} of {counted.total} held", detail=_rest(counted))


def _rest(counted: Score) -> str:
    counts = {"refuted": counted.refuted, "undecided": counted.undecided}
    return ", ".join(f"{number} {state}" for state, number in counts.items() if number != "0")


def _noise(page: ScenarioPage) -> Cell:
    middle, worst = page.own_noise
    if not middle:
        return cells.missing("each variant was measured in one process")
    return Cell(text=middle, detail=f"worst {worst}", to=f"{page.address}#noise")


def _failures(pages: Sequence[ScenarioPage]) -> tuple[tuple[Link, Notice], ...]:
    return tuple(
        (msgspec.structs.replace(link, text=f"{page.title}, {link.text}"), notice)
        for page in pages
        for link, notice in page.failures
        if notice.kind != "info"
    )
