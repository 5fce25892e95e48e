"""What a run is on disk: written whole or not at all, read back as it was, and refused when it was tampered with."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from foretrace import Scenario, claim, grid, predict, record
from foretrace.errors import UnreadableInput, WrongUsage
from foretrace.files import write_atomically
from foretrace.scenario import Sealed

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

RUN = record.Run(
    schema=record.SCHEMA,
    id="run-1",
    started_utc="2026-01-02T03:04:05Z",
    command="foretrace run sums",
    commit="",
    dirty=None,
    environment=record.Environment(device="cpu", gpu=None, versions={"python": "3.11"}, cpu_model="", cpu_count=2),
    ceilings=record.Ceilings(tflops={"bf16": 700.0}, copy_gbps=None, how="largest of five"),
    options=record.Options(rounds=30, time_limit_s=60.0),
    scenarios=("sums",),
)
SCENARIO = Scenario(
    title="Sums",
    question="How long?",
    variants=grid(n=(1, 2)),
    predictions=(predict.within("step_us", (1, 3), because="it is small"),),
    claims=(claim("A-1", "Two kernels.", predict.count("kernel", 2), figure="2", on="A100", source="a link"),),
)
SEALED = Sealed(slug="sums", scenario=SCENARIO, seal=SCENARIO.seal(), source_sha256="0" * 64)
ONE, TWO = SCENARIO.variants


ROUND = record.Round(started_utc="2026-01-02T03:04:06Z", samples={"step_us": (1.0, 2.5)})


def outcome(**more: object) -> record.Outcome:
    made = record.Outcome(variant=ONE, rounds=(ROUND,))
    return msgspec.structs.replace(made, **more)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run that has just begun."""
    return record.create(tmp_path / "docs" / "runs", RUN, {"sums": SEALED})


def edit(path: Path, change: Callable[[dict], object]) -> None:
    """Change a record by hand, as somebody might."""
    value = json.loads(path.read_bytes())
    change(value)
    path.write_text(json.dumps(value))


def test_a_record_is_read_back_as_it_was_written(folder: Path) -> None:
    written = record.write_outcome(folder, "sums", outcome(), b"a trace")
    failed = outcome(variant=TWO, failure=record.Failure(reason="killed", message="killed by signal 9", stderr="x"))
    record.write_outcome(folder, "sums", failed, None)
    finished = msgspec.structs.replace(RUN, finished_utc="2026-01-02T04:00:00Z")
    record.write_run(folder, finished)
    found = record.load(folder)
    assert (found.run, found.declarations) == (finished, {"sums": SEALED})
    assert found.outcomes == {"sums": {"1": written, "2": failed}}
    assert found.trace("sums", written.trace) == b"a trace"
    assert written.trace == record.TraceFile(
        name="1.1.trace.json.gz", sha256=hashlib.sha256(b"a trace").hexdigest(), size_bytes=7
    )


def test_a_run_that_has_just_begun_has_no_outcomes(folder: Path) -> None:
    assert record.load(folder).outcomes == {"sums": {}}


def test_a_file_that_was_not_planned_is_not_read(folder: Path) -> None:
    record.write_outcome(folder, "sums", outcome(variant=msgspec.structs.replace(ONE, name="stray")), None)
    assert record.load(folder).outcomes == {"sums": {}}


@pytest.mark.parametrize(
    "change",
    [
        lambda kept: kept["variant"]["params"].update(n=2),
        lambda kept: kept["variant"].update(name="2"),
        lambda kept: kept.update(rounds=[]),
    ],
)
def test_an_outcome_of_another_variant_or_of_nothing_is_refused(folder: Path, change: Callable[[dict], object]) -> None:
    record.write_outcome(folder, "sums", outcome(), None)
    edit(folder / "sums" / "1.json", change)
    with pytest.raises(UnreadableInput, match=r"1\.json: is not a valid record: it is not the outcome of the variant"):
        record.load(folder)


def test_a_declaration_of_another_scenario_is_refused(folder: Path) -> None:
    edit(folder / "sums" / "declaration.json", lambda kept: kept.update(slug="products"))
    with pytest.raises(UnreadableInput, match="it declares products"):
        record.load(folder)


@pytest.mark.parametrize("name", ["", "nothing", "../nothing", "x" * 300])
def test_a_run_that_is_not_there_is_told_with_those_that_are(folder: Path, name: str) -> None:
    with pytest.raises(WrongUsage, match="there is no such run; known here: run-1"):
        record.find(folder.parent, name)


def test_a_round_that_lacks_a_quantity_does_not_shift_the_others() -> None:
    other = record.Round(started_utc="", samples={"step_us": (3.0,), "event_us": (4.0,)}, peak_memory_bytes=7)
    found = outcome(rounds=(ROUND, other))
    assert found.samples == {"step_us": ((1.0, 2.5), (3.0,)), "event_us": ((), (4.0,))}
    assert found.peak_memory_bytes == 7
    assert outcome().peak_memory_bytes is None


def test_a_record_can_be_read_by_people_and_by_diff(folder: Path) -> None:
    text = (folder / "run.json").read_text()
    assert text.endswith("}\n")
    assert '\n "id": "run-1",\n' in text


def test_two_runs_of_one_name_do_not_mix(folder: Path) -> None:
    with pytest.raises(WrongUsage, match=r"run-1: there is a run of this name; continue it with --resume"):
        record.create(folder.parent, RUN, {})
    assert record.load(folder).declarations == {"sums": SEALED}


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.json"
    write_atomically(path, b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, b"new and longer")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_is_interrupted_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.json"
    write_atomically(path, b"old")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_made_with_its_folders_and_can_be_read_by_a_web_server(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "run.json"
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("data", [b"a trace, changed", b"", None])
def test_a_trace_that_is_not_the_recorded_one_is_refused(folder: Path, data: bytes | None) -> None:
    written = record.write_outcome(folder, "sums", outcome(), b"a trace")
    path = folder / "sums" / "1.1.trace.json.gz"
    path.unlink()
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(UnreadableInput) as caught:
        record.load(folder).trace("sums", written.trace)
    assert str(path) in str(caught.value)
    assert ("cannot be read" if data is None else "is not the one that was recorded") in str(caught.value)


def test_each_round_keeps_its_own_trace(folder: Path) -> None:
    first = record.write_outcome(folder, "sums", outcome(), b"one")
    both = record.write_outcome(folder, "sums", outcome(rounds=(*first.rounds, ROUND)), b"two")
    found = record.load(folder)
    assert [found.trace("sums", each.trace) for each in both.rounds] == [b"one", b"two"]
    assert both.trace == first.trace
    assert outcome().trace is None


def _change_prediction(declaration: dict) -> None:
    declaration["scenario"]["predictions"][0]["high"] = 4.0


def _change_claim(declaration: dict) -> None:
    declaration["scenario"]["claims"][0]["figure"] = "3"


def _drop_prediction(declaration: dict) -> None:
    declaration["scenario"]["predictions"] = []


def _drop_variant(declaration: dict) -> None:
    del declaration["scenario"]["variants"][0]


def _change_label(declaration: dict) -> None:
    declaration["scenario"]["label"] = "another"


@pytest.mark.parametrize("change", [_change_prediction, _change_claim, _drop_prediction, _drop_variant, _change_label])
def test_what_was_changed_after_the_run_is_refused(folder: Path, change: Callable[[dict], object]) -> None:
    path = folder / "sums" / "declaration.json"
    edit(path, change)
    with pytest.raises(UnreadableInput) as caught:
        record.load(folder)
    assert str(path) in str(caught.value)
    assert "is not what was sealed before the run" in str(caught.value)


def test_a_run_under_another_name_is_refused(folder: Path) -> None:
    renamed = folder.rename(folder.with_name("run-2"))
    with pytest.raises(UnreadableInput, match="it is the run run-1"):
        record.load(renamed)


def test_the_seal_is_of_what_decides_a_verdict_and_not_of_the_title(folder: Path) -> None:
    edit(folder / "sums" / "declaration.json", lambda declaration: declaration["scenario"].update(title="Better"))
    assert record.load(folder).declarations["sums"].scenario.title == "Better"


def test_a_record_of_another_schema_is_refused_before_its_fields_are_looked_at(folder: Path) -> None:
    (folder / "run.json").write_text('{"schema": 99, "id": 5}')
    with pytest.raises(UnreadableInput) as caught:
        record.load(folder)
    assert f"{folder / 'run.json'}: the record has schema 99, this version reads {record.SCHEMA}" in str(caught.value)
    assert caught.value.exit_code == 3


@pytest.mark.parametrize("name", ["run.json", "sums/declaration.json", "sums/1.json"])
@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"{}", b'{"schema": "one"}', b'{"x": "\xff"}', b"\xff\xfe", b"null", b"[" * 100_000]
)
def test_a_broken_file_is_named_in_one_sentence(folder: Path, name: str, data: bytes) -> None:
    record.write_outcome(folder, "sums", outcome(), None)
    (folder / name).write_bytes(data)
    with pytest.raises(UnreadableInput) as caught:
        record.load(folder)
    assert str(caught.value).startswith(f"{folder / name}: is not a valid record: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["run.json", "sums/declaration.json"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(UnreadableInput, match=r"cannot be read \(No such file or directory\)") as caught:
        record.load(folder)
    assert str(folder / name) in str(caught.value)


def test_a_declaration_that_makes_no_sense_is_a_broken_record(folder: Path) -> None:
    edit(folder / "sums" / "declaration.json", lambda declaration: declaration["scenario"].update(variants=[]))
    with pytest.raises(UnreadableInput, match=r"declaration\.json: is not a valid record: there is no variant"):
        record.load(folder)


def _escape_by_slug(folder: Path) -> None:
    edit(folder / "run.json", lambda run: run.update(scenarios=["../../other"]))


def _escape_by_variant(folder: Path) -> None:
    path = folder / "sums" / "declaration.json"
    edit(path, lambda declaration: declaration["scenario"]["variants"][0].update(name="../../../x"))


def _escape_by_trace(folder: Path) -> None:
    edit(folder / "sums" / "1.json", lambda found: found["rounds"][0]["trace"].update(name="../../secret"))


@pytest.mark.parametrize("escape", [_escape_by_slug, _escape_by_variant, _escape_by_trace])
def test_a_record_from_elsewhere_cannot_name_files_outside_its_folder(
    folder: Path, escape: Callable[[Path], None]
) -> None:
    record.write_outcome(folder, "sums", outcome(), b"a trace")
    escape(folder)
    with pytest.raises(UnreadableInput, match="matching regex"):
        record.load(folder)


def test_the_newest_run_is_the_one_that_started_last(tmp_path: Path) -> None:
    for name, started in (("a", "2026-03-01T00:00:00Z"), ("z", "2026-01-01T00:00:00Z"), ("b", "2026-03-01T00:00:00Z")):
        record.create(tmp_path, msgspec.structs.replace(RUN, id=name, started_utc=started), {})
    (tmp_path / "unfinished").mkdir()
    assert record.newest(tmp_path) == [tmp_path / "b"]


def test_a_run_of_another_scenario_does_not_hide_an_older_one(tmp_path: Path) -> None:
    for name, day, slugs in (("a", 1, ("sums", "old")), ("b", 2, ("sums",)), ("c", 3, ("other",))):
        run = msgspec.structs.replace(RUN, id=name, started_utc=f"2026-03-0{day}T00:00:00Z", scenarios=slugs)
        record.create(tmp_path, run, {})
    assert [folder.name for folder in record.newest(tmp_path)] == ["a", "b", "c"]
    without = msgspec.structs.replace(RUN, id="d", started_utc="2026-03-04T00:00:00Z", scenarios=("sums", "old"))
    record.create(tmp_path, without, {})
    assert [folder.name for folder in record.newest(tmp_path)] == ["c", "d"]


def test_an_old_run_of_another_schema_does_not_hide_the_newest(folder: Path) -> None:
    (folder.parent / "old").mkdir()
    (folder.parent / "old" / "run.json").write_text('{"schema": 0, "started_utc": "2020-01-01T00:00:00Z"}')
    assert record.newest(folder.parent) == [folder]


def test_without_a_run_the_user_hears_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match="measure one with `foretrace run`"):
        record.newest(tmp_path / "docs" / "runs")


def _hold(folder: Path, end: Connection) -> None:
    with record.locked(folder):
        end.send("held")
        end.recv()


def test_only_one_process_measures_into_a_run(folder: Path) -> None:
    ours, theirs = multiprocessing.Pipe()
    other = multiprocessing.get_context("spawn").Process(target=_hold, args=(folder, theirs))
    other.start()
    try:
        assert ours.poll(60)
        assert ours.recv() == "held"
        with (
            pytest.raises(WrongUsage, match="run-1: another process is measuring into this run"),
            record.locked(folder),
        ):
            pytest.fail("two processes hold one run")
        assert record.load(folder).run == RUN, "a run that is going on can be read"
    finally:
        ours.send("let go")
        other.join(60)
    with record.locked(folder):
        assert other.exitcode == 0


def test_a_lock_ends_with_an_error_inside_it(folder: Path) -> None:
    with pytest.raises(ZeroDivisionError), record.locked(folder):
        raise ZeroDivisionError
    with record.locked(folder):
        pass


def test_a_run_that_is_not_there_cannot_be_continued(tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match="typo: there is no run of this name"), record.locked(tmp_path / "typo"):
        pytest.fail("locked what is not there")


def test_an_outcome_that_was_edited_after_the_run_was_finished_is_refused(folder: Path) -> None:
    record.write_outcome(folder, "sums", outcome(), b"a trace")
    record.finish(folder, RUN, finished_utc="2026-01-02T04:00:00Z")
    assert record.load(folder).run.files.keys() == {"sums/declaration.json", "sums/1.json"}
    edit(folder / "sums" / "1.json", lambda found: found["rounds"][0]["samples"].update(step_us=[9.0, 9.0]))
    with pytest.raises(UnreadableInput, match=r"sums/1\.json: is not the file that was recorded"):
        record.load(folder)
