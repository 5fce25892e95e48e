"""Traces that came along, as they are kept: whole or not at all, under a name of their own, sealed."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import builders
import msgspec
import pytest

from foretrace import dossier, examination, intake, page
from foretrace.errors import UnreadableInput, WrongUsage
from foretrace.prediction import Counted
from foretrace.render import render

EXPECTED = (Counted(activity="kernel", number=1, because="one GEMM"),)


def document(*, us: float = 10, **members: Any) -> dict[str, Any]:
    return builders.document(
        builders.step(1, at=0, us=100),
        builders.op("aten::mm", at=5, us=20),
        builders.launch(at=10, correlation=1),
        builders.kernel(at=20, us=us, correlation=1),
        **members,
    )


def write(path: Path, **members: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document(**members)))
    return path


def add(folder: Path, *given: Path, **wish: Any) -> list[str]:
    """The names of the reports that were added."""
    found = intake.add(folder / "traces", given, intake.Wish(**wish), workspace=folder)
    return [each.report.id for each in found]


def kept(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "traces").iterdir())


def test_a_trace_is_kept_with_what_was_expected_of_it(tmp_path: Path) -> None:
    path = write(tmp_path / "in" / "Run A.json")
    (name,) = add(tmp_path, path, predictions=EXPECTED, command="foretrace report", title="A run")
    read = dossier.load(tmp_path / "traces" / name)
    (trace,) = read.report.traces

    assert (name, read.report.title, read.report.predictions) == ("run-a", "A run", EXPECTED)
    assert json.loads(gzip.decompress(read.trace(trace))) == document()
    assert trace.source == "Run A.json"
    assert examination.examine(read).predictions[0].verdict.state == "held"


def test_names_that_a_file_system_may_take_for_one_are_kept_apart(tmp_path: Path) -> None:
    one, other = write(tmp_path / "Run A.json"), write(tmp_path / "run_a.json", us=20)

    assert add(tmp_path, one, other) == ["run-a", "run-a-2"]
    assert add(tmp_path, write(tmp_path / "RUN-A.json", us=30)) == ["run-a-3"]


def test_the_same_trace_again_is_the_report_that_is_there(tmp_path: Path) -> None:
    path = write(tmp_path / "run.json")

    assert add(tmp_path, path) == add(tmp_path, path) == ["run"]
    assert add(tmp_path, path, name="run") == ["run"]
    assert kept(tmp_path) == ["run"]


def test_other_expectations_never_replace_what_was_sealed(tmp_path: Path) -> None:
    path = write(tmp_path / "run.json")

    assert add(tmp_path, path) + add(tmp_path, path, predictions=EXPECTED) == ["run", "run-2"]
    with pytest.raises(WrongUsage, match="run: there is another report of this name"):
        add(tmp_path, path, name="run", title="Another")


@pytest.mark.parametrize(
    "name", ["../x", "a/b", "A", "a b", ".", "", "..", "é", "a" * 99, "<script>", "con:x", "-", "a\x00"]
)
def test_a_file_of_any_name_stays_in_its_folder(tmp_path: Path, name: str) -> None:
    slug = dossier.slug(name)

    assert slug
    assert set(slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert len(slug) <= dossier.LONGEST
    assert not slug.startswith("-")
    if name and name != slug:
        with pytest.raises(WrongUsage, match="cannot name a report"):
            add(tmp_path, write(tmp_path / "run.json"), name=name)


def test_names_that_are_no_text_are_kept_as_text(tmp_path: Path) -> None:
    path = write(tmp_path / os.fsdecode(b"na\xffme.json"))
    (name,) = add(tmp_path, path, title="bad \udcff title", command=f"foretrace report {path}")
    read = dossier.load(tmp_path / "traces" / name).report

    assert (name, read.title, read.traces[0].source) == ("na-me", "bad ? title", "na?me.json")


def test_half_a_surrogate_pair_in_a_name_is_shown_as_such(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(document()).replace("aten::mm", "a\\ud800b"))
    pages = page.build(examined=intake.add(tmp_path / "traces", [path], intake.Wish(), workspace=tmp_path))

    assert render(pages, prose={})


def test_ranks_are_those_that_the_traces_name(tmp_path: Path) -> None:
    for place, rank in enumerate((2, 10, 1)):
        write(tmp_path / "job" / f"{place}.json", distributedInfo={"rank": rank, "world_size": 16})
    (found,) = intake.add(tmp_path / "traces", [tmp_path / "job"], intake.Wish(), workspace=tmp_path)

    assert [(trace.rank, trace.source, trace.name) for trace in found.report.traces] == [
        (1, "2.json", "rank-1.trace.json.gz"),
        (2, "0.json", "rank-2.trace.json.gz"),
        (10, "1.json", "rank-10.trace.json.gz"),
    ]
    assert (found.report.world, found.report.numbered) == (16, False)
    assert [look.facts.params for look in found.looks.values()] == [{"rank": 1}, {"rank": 2}, {"rank": 10}]


@pytest.mark.parametrize(
    "said", [[None, None, None], [0, 0, 1], [0, None, 1], [0, True, 1], ["0", "1", "2"], [0, -1, 2]]
)
def test_ranks_that_the_traces_do_not_tell_follow_the_files_names(tmp_path: Path, said: list[Any]) -> None:
    for name, rank in zip(("rank10", "rank2", "rank1"), said, strict=True):
        write(tmp_path / "job" / f"{name}.json", distributedInfo={"rank": rank})
    (found,) = intake.add(tmp_path / "traces", [tmp_path / "job"], intake.Wish(), workspace=tmp_path)

    assert [trace.source for trace in found.report.traces] == ["rank1.json", "rank2.json", "rank10.json"]
    assert [trace.rank for trace in found.report.traces] == [0, 1, 2]
    assert found.report.numbered


def test_other_files_of_a_folder_are_passed_over(tmp_path: Path) -> None:
    trace = write(tmp_path / "job" / "rank0.json")
    other = tmp_path / "job" / "notes.txt"
    other.write_text("x")

    assert intake.files(tmp_path / "job") == ([trace], [other])


def test_a_folder_without_a_trace_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match="holds no trace"):
        add(tmp_path, tmp_path)


def test_one_bad_trace_keeps_nothing_of_the_others(tmp_path: Path) -> None:
    good, bad = write(tmp_path / "good.json"), tmp_path / "bad.json"
    bad.write_text('{"traceEvents": [{"ph": "X"')

    with pytest.raises(UnreadableInput, match=r"bad\.json: is cut off"):
        add(tmp_path, good, bad)
    assert kept(tmp_path) == []


def test_a_trace_of_nothing_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.json"
    path.write_text(json.dumps(builders.document(builders.event("other", "x", at=0, us=1))))

    with pytest.raises(UnreadableInput, match="holds no operator, label, launch or GPU activity"):
        add(tmp_path, path)
    assert kept(tmp_path) == []


def test_a_prediction_of_a_rank_that_is_not_there_is_refused(tmp_path: Path) -> None:
    expected = (*EXPECTED, msgspec.structs.replace(EXPECTED[0], where={"rank": 7}))

    with pytest.raises(WrongUsage, match=r"x\.toml, table 2: fits no trace of this report.*here 0"):
        add(tmp_path, write(tmp_path / "run.json"), predictions=expected, where="x.toml")
    assert kept(tmp_path) == []


def test_one_name_or_title_is_for_one_report(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"{name}.json") for name in "ab"]

    with pytest.raises(WrongUsage, match="there are several traces"):
        add(tmp_path, *paths, title="Both")


def test_text_is_scrubbed_across_the_pieces_in_which_it_is_read(tmp_path: Path) -> None:
    many = [builders.op(f"/home/somebody/secret/x{place}.py", at=place, us=0.5) for place in range(30_000)]
    path = tmp_path / "run.json"
    path.write_text(json.dumps(builders.document(*many)))
    (name,) = add(tmp_path, path)
    (trace,) = dossier.load(tmp_path / "traces" / name).report.traces
    text = gzip.decompress((tmp_path / "traces" / name / trace.name).read_bytes()).decode()

    assert "somebody" not in text
    assert "secret" not in text
    assert len(json.loads(text)["traceEvents"]) == 30_000
    assert "~/x29999.py" in text


@pytest.mark.parametrize("change", ["predictions", "trace", "id", "schema"])
def test_a_dossier_that_was_changed_is_not_read(tmp_path: Path, change: str) -> None:
    (name,) = add(tmp_path, write(tmp_path / "run.json"), predictions=EXPECTED)
    folder = tmp_path / "traces" / name
    head = json.loads((folder / "report.json").read_text())
    if change == "trace":
        (folder / "trace.json.gz").write_bytes(gzip.compress(b"{}"))
    elif change == "predictions":
        head["predictions"][0]["number"] = 2
    else:
        head[change] = {"id": "other", "schema": 99}[change]
    (folder / "report.json").write_text(json.dumps(head))

    with pytest.raises(UnreadableInput):
        examination.examine(dossier.load(folder))


def test_no_rank_of_a_folder_is_passed_over_in_silence(tmp_path: Path) -> None:
    job = tmp_path / "job"
    (job / "rank2.json").mkdir(parents=True)
    (job / "rank0.json").write_bytes(builders.data(builders.step(1, at=0, us=9)))
    (job / "rank1.json").symlink_to("gone")
    os.mkfifo(job / "rank3.json")

    traces, others = intake.files(job)
    assert [path.name for path in traces] == ["rank0.json", "rank1.json"]
    assert [path.name for path in others] == ["rank2.json", "rank3.json"]
    with pytest.raises(UnreadableInput, match=r"rank1\.json"):
        intake.add(tmp_path / "traces", [job], intake.Wish(), workspace=tmp_path)


def test_what_can_be_read_only_once_is_refused_before_it_is_opened(tmp_path: Path) -> None:
    pipe = tmp_path / "trace.json"
    os.mkfifo(pipe)
    with pytest.raises(UnreadableInput, match="is no regular file, and a report reads a trace more than once"):
        intake.add(tmp_path / "traces", [pipe], intake.Wish(), workspace=tmp_path)


def test_a_report_that_may_not_be_looked_into_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "report.json").touch()
    (tmp_path / ".staged").mkdir()
    assert dossier.every(tmp_path) == [tmp_path / "kept"]
    assert dossier.every(tmp_path / "nowhere") == []

    def forbidden(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "exists", lambda path: path == tmp_path or forbidden(path))
    with pytest.raises(PermissionError):
        dossier.every(tmp_path)
