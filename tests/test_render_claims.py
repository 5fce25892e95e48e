"""The page of published claims as it is written, and its tables for other tools."""

from __future__ import annotations

import csv
import io
import json
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pytest
import studies
from hypothesis import given
from hypothesis import strategies as st

from foretrace import claim, page, predict
from foretrace.render import Prose, markdown, render
from foretrace.render.data import cell

if TYPE_CHECKING:
    from foretrace.prediction import Claim

POST = "https://example.org/post"
THREE = predict.count("kernel", 3, where={"mode": "eager"})
SOME = claim(
    "P1-01",
    "Two, and a copy.",
    predict.all_of(THREE, predict.count("memcpy", 0, where={"mode": "eager"})),
    figure="–",
    on="A100",
    source=POST,
)
FORMULA = claim("P1-02", studies.HOSTILE[3], THREE, figure="=1+1", on="A100", source=POST)
TWO = claim("P1-03", "Two.", predict.count("kernel", 2, where={"mode": "eager"}), figure="2", on="A100", source=POST)
PROSE = """{% extends "scenario.md.j2" %}
{% call why("P1-01") %}
See [how far](#reach), [the other](other.md#reach), <a href="#variants">the variants</a> and [this][one].

[one]: #claim-P1-01
{% endcall %}
"""


def written(**claims: list[Claim]) -> dict[str, str]:
    pages = page.build(studies.carrying(**claims))
    return markdown(pages, prose={"one": Prose(source=PROSE, where="scenarios/one/page.md.j2")})


def tables(**claims: list[Claim]) -> tuple[list[dict[str, str]], list[dict[str, object]]]:
    pages = page.build(studies.carrying(**claims))
    files = render(pages, prose={"one": Prose(source=PROSE, where="scenarios/one/page.md.j2")})
    text = files[PurePosixPath("reports/claims.csv")].decode()
    return list(csv.DictReader(io.StringIO(text))), json.loads(files[PurePosixPath("reports/claims.json")])


def test_a_claim_has_an_anchor_its_evidence_and_a_way_back() -> None:
    texts = written(one=[SOME])

    assert "### P1-01 { #claim-P1-01 }" in texts["reports/claims.md"]
    assert '<a href="one.html#claim-P1-01">evidence (6)</a>' in texts["reports/claims.md"]
    assert 'id="claim-P1-01"' in texts["reports/one.md"]
    for name in ("one", "index"):
        assert '<a href="claims.html">Every published claim on one page</a>' in texts[f"reports/{name}.md"]


def test_a_reason_is_the_authors_and_leads_to_the_same_places() -> None:
    whole = written(one=[SOME])["reports/claims.md"]

    assert "See [how far](one.md#reach), [the other](other.md#reach)," in whole
    assert '<a href="one.html#variants">the variants</a>' in whole
    assert "[one]: one.md#claim-P1-01" in whole
    assert "unexplained" not in whole


def test_a_mismatch_without_a_reason_is_unexplained_in_the_scenario_that_has_none() -> None:
    claims = written(one=[SOME], two=[SOME, TWO])["reports/claims.md"]

    assert claims.count(">unexplained<") == 1
    assert "The two" in claims.partition(">unexplained<")[0].rpartition("Measured</p>")[2]


@pytest.mark.parametrize(
    ("name", "before"),
    [
        ("claims", "refuted</span> "),
        ("one", "refuted</span><small>P1-01</small>"),
        ("one", '<a href="#claim-P1-01">P1-01</a> '),
        ("index", 'P1-01</a> · <a href="one.html#why-claim-P1-01">why</a> '),
    ],
)
def test_how_many_parts_held_stands_beside_the_verdict(name: str, before: str) -> None:
    beside = f'{before}<small class="ft-parts">1 of 2 parts held</small>'

    assert beside in written(one=[SOME])[f"reports/{name}.md"]


def test_without_claims_nothing_leads_to_the_empty_page() -> None:
    texts = written(one=[])

    assert "carries a claim" in texts["reports/claims.md"]
    assert not any("claims.html" in text for text in texts.values())


def test_only_verdicts_that_there_are_can_be_chosen() -> None:
    whole = written(one=[SOME, TWO])["reports/claims.md"]

    assert 'id="show-held"' in whole
    assert 'id="show-refuted"' in whole
    assert 'id="show-undecided"' not in whole


def test_the_tables_have_a_row_for_each_claim_and_scenario() -> None:
    rows, objects = tables(one=[SOME, TWO], two=[TWO, SOME])

    assert [(row["id"], row["scenario"], row["verdict"], row["explained"]) for row in rows] == [
        ("P1-01", "one", "refuted", "yes"),
        ("P1-01", "two", "refuted", "no"),
        ("P1-03", "one", "held", ""),
        ("P1-03", "two", "held", ""),
    ]
    assert [row["explained"] for row in objects] == [True, False, None, None]
    assert rows[2] == {
        "id": "P1-03",
        "statement": "Two.",
        "figure": "2",
        "gpu": "A100",
        "source": POST,
        "verdict": "held",
        "measured": "2 kernels in each of 3 steps",
        "scenario": "one",
        "scenario_verdict": "held",
        "measured_on": "Test GPU 9000",
        "explained": "",
    }
    assert [{**row, "explained": ""} for row in objects] == [{**row, "explained": ""} for row in rows]


def test_no_cell_is_a_formula_and_the_json_has_the_text_as_it_is() -> None:
    (row,), (found,) = tables(one=[FORMULA])

    assert row["figure"] == "'=1+1"
    assert found["figure"] == "=1+1"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_a_spreadsheet_takes_no_cell_for_a_formula(start: str) -> None:
    assert cell(f"{start}cmd()").startswith("'")


@pytest.mark.parametrize("text", ["64-eager", "–", "≈ 2.5 ms", "a = b", "'quoted'", "", "<script>"])
def test_an_ordinary_text_is_a_cell_as_it_is(text: str) -> None:
    assert cell(text) == text


@given(st.text(alphabet=st.sampled_from("=+-@\t\r\n\x00\x1b\x85\u2028\u202e\"',;ab ")))
def test_whatever_the_text_it_stays_in_its_cell(text: str) -> None:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow((cell(text), "next"))

    assert line.getvalue().splitlines() == [line.getvalue().removesuffix("\n")]
    assert next(csv.reader([line.getvalue()]))[1:] == ["next"]
    assert not cell(text).startswith(("=", "+", "-", "@"))
    assert cell(text).isprintable()
