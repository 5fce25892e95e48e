"""The page of published claims before it is rendered: each claim once, one verdict, all findings."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
import studies

from foretrace import claim, page, predict
from foretrace.page.models import ClaimsPage, Statement
from foretrace.prediction import Unmeasured
from foretrace.record import Environment

if TYPE_CHECKING:
    from foretrace.prediction import Claim, Kind

EAGER, COMPILE = {"mode": "eager"}, {"mode": "compile", "size": [64, 4096]}
HELD = predict.count("kernel", 2, where=EAGER)
REFUTED = predict.count("kernel", 3, where=EAGER)
UNDECIDED = predict.count("kernel", 2, where={"size": 8192})
JUDGED_AS = {"held": HELD, "refuted": REFUTED, "undecided": UNDECIDED}


def said(id: str, expectation: Kind = HELD, statement: str = "Two.", **more: str) -> Claim:  # noqa: A002
    values = {"figure": "2", "on": "A100", "source": "https://example.org/post"}
    return claim(id, statement, expectation, **(values | more))


def published(**claims: Any) -> ClaimsPage:
    return page.build(studies.carrying(**claims)).claims


def statement(expectation: Kind) -> Statement:
    (found,) = published(one=[said("P1-01", expectation)]).claims
    return found.judgements[0].statement


def test_claims_are_in_the_order_of_their_ids_under_their_sources() -> None:
    other = {"source": "https://www.example.com/two/"}
    ids = ("S-01", "P1-10", "P1-02", "P1-9", "P1-009")
    found = published(one=[said(one) for one in ids], two=[said("P0-1", **other), said("P1-03", **other)])

    assert [(source.title, [one.key for one in source.claims]) for source in found.sources] == [
        ("example.com/two", ["P0-1", "P1-03"]),
        ("example.org/post", ["P1-02", "P1-009", "P1-9", "P1-10", "S-01"]),
    ]


@pytest.mark.parametrize(("one", "two"), list(itertools.product(JUDGED_AS, repeat=2)))
def test_a_claim_of_two_scenarios_is_refuted_by_one_and_held_only_by_both(one: str, two: str) -> None:
    (found,) = published(one=[said("S-01", JUDGED_AS[one])], two=[said("S-01", JUDGED_AS[two])]).claims

    assert found.state == ("refuted" if "refuted" in (one, two) else "held" if one == two == "held" else "undecided")
    assert [each.statement.state for each in found.judgements] == [one, two]


def test_the_first_scenarios_words_are_shown_and_each_ones_findings_under_its_name() -> None:
    theirs = said("S-01", REFUTED, "Three.", figure="3", on="H100", source="https://example.com/")
    (found,) = published(two=[theirs], one=[said("S-01")]).claims

    assert (found.words, found.figure, found.on, found.source) == ("Two.", "2", "A100", "https://example.org/post")
    assert [(each.scenario.text, each.scenario.to) for each in found.judgements] == [
        ("The one", "reports/one.md#claim-S-01"),
        ("The two", "reports/two.md#claim-S-01"),
    ]
    assert [link.to for line in found.judgements[1].statement.lines for link in line.variants] == [
        "reports/two/64-eager.md",
        "reports/two/1024-eager.md",
    ]


def test_the_scoreboard_counts_a_claim_of_two_scenarios_once() -> None:
    pages = page.build(studies.carrying(one=[said("S-01")], two=[said("S-01", REFUTED), said("S-02")]))

    for score in (pages.claims.score, pages.front.scores[1]):
        assert (score.held, score.refuted, score.undecided, score.total) == ("1", "1", "0", "2")


def test_another_gpu_is_named_as_such_and_the_same_one_is_not() -> None:
    other = published(one=[said("P1-01"), said("P1-02", on="H100"), said("P1-03", on="–")]).setting
    same = published(one=[said("P1-01", on=studies.GPU.name)]).setting

    assert "were measured on A100 and H100, with" in other
    assert "was measured on Test GPU 9000 with torch 2.13.0 and CUDA 13.0." in other
    assert "Another GPU and other library versions" in other
    assert "Another GPU" not in same


def test_a_claim_without_a_figure_or_a_gpu_has_none() -> None:
    (found,) = published(one=[said("P1-01", figure="–", on="–")]).claims

    assert (found.figure, found.on) == ("", "")


def test_without_claims_there_is_an_empty_page() -> None:
    found = published(one=[])

    assert found.sources == found.reach == ()
    assert found.score.total == "0"


def test_a_statement_that_did_not_hold_says_how_many_of_its_parts_did() -> None:
    copies = predict.count("memcpy", 1, where=COMPILE)

    assert statement(predict.all_of(HELD, REFUTED, copies)).parts_held == "2 of 3 parts held"
    assert statement(predict.all_of(HELD, UNDECIDED)).parts_held == "1 of 2 parts held"
    assert statement(predict.all_of(predict.all_of(REFUTED, copies), HELD)).parts_held == "2 of 3 parts held"


def test_a_part_holds_only_if_it_does_for_every_variant() -> None:
    everywhere = predict.count("memcpy", 0, where={"size": [64, 4096]})

    assert statement(predict.all_of(everywhere, HELD)).parts_held == "1 of 2 parts held"


def test_parts_of_the_same_words_are_told_apart() -> None:
    compiled = predict.count("kernel", 2, where=COMPILE)
    nowhere = predict.count("kernel", 2, where={"size": 3})

    assert statement(predict.all_of(HELD, compiled)).parts_held == "1 of 2 parts held"
    assert statement(predict.all_of(HELD, nowhere)).parts_held == "1 of 2 parts held"


def test_a_part_that_compares_with_the_size_that_it_names_is_counted() -> None:
    grows = predict.ratio("gpu_busy_us", of={"size": 4096}, over={"size": 64}, between=(1, None), where={"size": 64})

    assert statement(predict.all_of(grows, REFUTED)).parts_held == "1 of 2 parts held"


@pytest.mark.parametrize(
    "expectation", [HELD, REFUTED, predict.all_of(HELD, predict.count("memcpy", 1, where=COMPILE))]
)
def test_what_held_or_has_one_part_counts_no_parts(expectation: Kind) -> None:
    assert statement(expectation).parts_held == ""


def test_a_statement_that_was_not_looked_at_in_parts_counts_none() -> None:
    study = studies.carrying(one=[said("P1-01", predict.all_of(HELD, REFUTED))])
    (found,) = study.investigations["one"].claims
    (first, *_) = found.verdict.findings
    whole = msgspec.structs.replace(first, about=(), state="undecided", measured="there was no GPU", part="")
    verdict = msgspec.structs.replace(found.verdict, state="undecided", findings=(whole,))
    one = msgspec.structs.replace(
        study.investigations["one"], claims=(msgspec.structs.replace(found, verdict=verdict),)
    )
    (shown,) = page.build(msgspec.structs.replace(study, investigations={"one": one})).claims.claims

    assert shown.parts_held == ""
    assert shown.judgements[0].statement.lines[0].measured == "there was no GPU"


def test_where_nothing_was_measured_no_reach_is_claimed() -> None:
    study = studies.carrying(one=[said("P1-01")])
    one = study.investigations["one"]
    unknown = {name: Unmeasured(params=found.params, reason="no time") for name, found in one.facts.items()}
    study = msgspec.structs.replace(study, investigations={"one": msgspec.structs.replace(one, facts=unknown)})

    assert [sentences for _, sentences in page.build(study).claims.reach] == [("No variant was measured.",)]


def test_a_run_without_a_gpu_says_so() -> None:
    cpu = Environment(device="cpu", gpu=None, versions={}, cpu_model="Test CPU", cpu_count=2)
    study = studies.carrying(one=[said("P1-01")])
    run = msgspec.structs.replace(study.run, environment=cpu)
    study = msgspec.structs.replace(study, record=msgspec.structs.replace(study.record, run=run))

    assert "was measured on CPU only (Test CPU)." in page.build(study).claims.setting
