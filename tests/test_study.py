"""A record read: every declared variant is known or says why not, and every sealed statement is judged once."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import builders
import measured
import msgspec
import pytest

from foretrace import Scenario, claim, grid, predict, record, study
from foretrace.errors import UnreadableInput
from foretrace.facts import Facts
from foretrace.prediction import Unmeasured
from foretrace.scenario import Sealed

if TYPE_CHECKING:
    from pathlib import Path

    from foretrace.scenario import Variant

SCENARIO = Scenario(
    title="Sums",
    question="How many?",
    label="forward",
    variants=grid(n=(1, 2, 3)),
    predictions=(
        predict.count("kernel", 1, where={"n": 1}, because="one sum"),
        predict.count("kernel", 2, where={"n": 1}, because="two sums"),
        predict.count("kernel", 1, because="one sum, whatever the size"),
    ),
    claims=(
        claim("A-1", "One kernel.", predict.count("kernel", 1, where={"n": 1}), figure="1", on="A100", source="x"),
    ),
)
SEALED = Sealed(slug="sums", scenario=SCENARIO, seal=SCENARIO.seal(), source_sha256="0" * 64)
ONE, TWO, THREE = SCENARIO.variants
TRACE = gzip.compress(
    builders.data(
        *(event for at in (0, 100, 200) for event in (
            builders.step(at // 100, at=at, us=90),
            builders.launch(at=at + 10, correlation=at + 1),
            builders.kernel("sum", at=at + 30, us=40, correlation=at + 1),
        ))
    )
)  # fmt: skip


def outcome(variant: Variant, **more: Any) -> record.Outcome:
    """What came of one variant."""
    return msgspec.structs.replace(measured.outcome(samples={"step_us": (99.0, 100.0, 101.0)}, **more), variant=variant)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run of which one variant was measured, one failed, and one was never reached."""
    head = record.Run(
        schema=record.SCHEMA,
        id="run-1",
        started_utc="2026-01-02T03:04:05Z",
        command="foretrace run sums",
        commit="",
        dirty=None,
        environment=measured.environment(),
        ceilings=measured.ceilings(),
        options=record.Options(rounds=3, time_limit_s=60.0),
        scenarios=("sums",),
    )
    folder = record.create(tmp_path, head, {"sums": SEALED})
    record.write_outcome(folder, "sums", outcome(ONE), TRACE)
    failure = record.Failure(reason="out-of-memory", message="ran out of GPU memory")
    record.write_outcome(folder, "sums", outcome(TWO, failure=failure), None)
    return folder


def test_a_variant_has_facts_or_the_reason_why_not(folder: Path) -> None:
    found = study.read(record.load(folder)).investigations["sums"].facts
    assert list(found) == ["1", "2", "3"]
    assert isinstance(found["1"], Facts)
    assert found["1"].quantities["step_us"].median == 100.0
    assert found["2"] == Unmeasured(params={"n": 2}, reason="ran out of GPU memory")
    assert found["3"] == Unmeasured(params={"n": 3}, reason="the run ended before it was measured, or left it out")


def test_rounds_are_told_apart_and_an_interval_reaches_over_all_of_them(folder: Path) -> None:
    first = outcome(ONE)
    slower = msgspec.structs.replace(first.rounds[0], samples={"step_us": (149.0, 150.0, 151.0)})
    record.write_outcome(folder, "sums", msgspec.structs.replace(first, rounds=(*first.rounds, slower)), TRACE)
    found = study.read(record.load(folder)).investigations["sums"].facts["1"]
    assert isinstance(found, Facts)
    assert found.samples["step_us"] == ((99.0, 100.0, 101.0), (149.0, 150.0, 151.0))
    known = found.quantities["step_us"]
    assert (known.median, known.low, known.high) == (125.0, 99.0, 151.0)


def test_every_sealed_statement_is_judged_in_its_order(folder: Path) -> None:
    found = study.read(record.load(folder)).investigations["sums"]
    assert [one.expectation for one in found.predictions] == list(SCENARIO.predictions)
    assert [one.verdict.state for one in found.predictions] == ["held", "refuted", "undecided"]
    assert [(one.claim, one.verdict.state) for one in found.claims] == [(SCENARIO.claims[0], "held")]
    assert found.judged == found.predictions + found.claims


def test_a_trace_is_read_again_on_demand(folder: Path) -> None:
    found = study.read(record.load(folder))
    read = found.trace("sums", "1")
    assert read is not None
    assert "sum" in read.names
    assert found.trace("sums", "2") is None
    assert found.trace("sums", "3") is None


@pytest.mark.parametrize("data", [b"rubbish", gzip.compress(b'{"traceEvents": [')])
def test_a_trace_that_is_no_trace_is_named(folder: Path, data: bytes) -> None:
    record.write_outcome(folder, "sums", outcome(ONE), data)
    with pytest.raises(UnreadableInput, match=r"sums/1\.1\.trace\.json\.gz: "):
        study.read(record.load(folder))


def test_a_run_without_a_gpu_says_what_it_cannot_tell() -> None:
    assert "without a GPU" in study.limits(measured.environment("cpu"))
    assert study.limits(measured.environment("cuda")) == ""


def test_a_claim_about_a_gpu_is_not_judged_by_a_run_without_one(folder: Path) -> None:
    known = record.load(folder)
    without = msgspec.structs.replace(known.run, environment=measured.environment("cpu"))
    found = study.read(msgspec.structs.replace(known, run=without)).investigations["sums"]
    assert [one.verdict.state for one in found.claims] == ["undecided"]
    assert "without a GPU" in found.claims[0].verdict.findings[0].measured
