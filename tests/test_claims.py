"""The vocabulary of published claims: every id that the series gave rise to is carried by a scenario of the project."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from foretrace.project import Project

CORPUS = os.environ.get("FORETRACE_CORPUS", "")
TABLE = Path(CORPUS) / "claims.md"
EXPECTED = (
    "P1-01",
    "P1-02",
    "P1-03",
    "P1-04",
    "P1-05",
    "P1-06",
    "P1-07",
    "P1-08",
    "P1-09",
    "P1-10",
    "P1-11",
    "P1-12",
    "P1-13",
    "P1-14",
    "P1-15",
    "P1-16",
    "P1-17",
    "P2-01",
    "P2-02",
    "P2-03",
    "P2-04",
    "P2-05",
    "P2-06",
    "P2-07",
    "P2-08",
    "P2-09",
    "P2-10",
    "P2-11",
    "P3-01",
    "P3-02",
    "P3-03",
    "P3-04",
    "P3-05",
    "P3-06",
    "P3-07",
    "P3-08",
    "P3-09",
    "P3-10",
    "P3-11",
    "P3-12",
    "S-01",
    "S-02",
    "S-03",
    "S-04",
    "S-05",
)


def test_every_published_claim_is_carried_by_a_scenario() -> None:
    project = Project(Path(__file__).parent.parent)
    carried = {claim.id for slug in project.slugs() for claim in project.load(slug).scenario.claims}

    assert [one for one in EXPECTED if one not in carried] == []


@pytest.mark.skipif(not CORPUS or not TABLE.exists(), reason="FORETRACE_CORPUS names no folder with claims.md")
def test_the_ids_are_those_of_the_table_of_claims() -> None:
    prefixes = {one.partition("-")[0] for one in EXPECTED}
    found = re.findall(r"^\| *([A-Z][0-9]*-[0-9]+) *\|", TABLE.read_text(encoding="utf-8"), flags=re.MULTILINE)

    assert [one for one in found if one.partition("-")[0] in prefixes] == list(EXPECTED)


def test_scenarios_that_carry_the_same_claim_say_the_same_of_it() -> None:
    project = Project(Path(__file__).parent.parent)
    said: dict[str, set[tuple[str, str, str, str]]] = {}
    for slug in project.slugs():
        for claim in project.load(slug).scenario.claims:
            said.setdefault(claim.id, set()).add((claim.statement, claim.figure, claim.on, claim.source))
    assert {key: words for key, words in said.items() if len(words) > 1} == {}
