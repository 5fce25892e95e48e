"""What `foretrace inspect` tells: the figures of a first look, their JSON, and their form at a terminal."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from builders import data, event, gpu, kernel, launch, memcpy, memset, op, step, trace
from click.testing import CliRunner

from foretrace import kineto
from foretrace.analysis.inspection import Activities, inspect, to_csv, to_json, to_lines, visible
from foretrace.cli import main
from foretrace.errors import UnreadableInput

CORPUS = os.environ.get("FORETRACE_CORPUS", "")
SMALL = (
    step(1, at=0, us=100),
    op("aten::mm", at=5, us=20, external=1),
    launch(at=10, correlation=1),
    launch("cudaMemcpyAsync", at=20, correlation=2),
    launch("cudaMemsetAsync", at=200, correlation=3),
    kernel("gemm", at=50, us=30, correlation=1),
    memcpy(at=70, us=20, correlation=2, stream=8),
    memset(at=210, us=5.5, correlation=3),
)


def test_activities_are_counted_by_kind_and_by_the_step_that_launched_them() -> None:
    found = inspect(trace(*SMALL))
    assert found.activities == Activities(1, 1, 1)
    assert found.per_step == [Activities(1, 1, 0)]
    assert found.outside_steps == Activities(0, 0, 1)
    assert (found.steps, found.step_names, found.step_us) == (1, ["ProfilerStep#1"], [100.0])
    assert found.linked_kernels == 1


def test_busy_time_is_a_union_over_streams_and_kernel_time_a_sum() -> None:
    found = inspect(trace(*SMALL, kernel(at=50, us=30, correlation=1, stream=9)))
    assert found.kernel_time_us == 60
    assert found.gpu_busy_us == 45.5


def test_devices_are_busy_each_for_itself() -> None:
    found = inspect(trace(kernel(at=0, us=100), kernel(at=0, us=200, device=1)))
    assert [(device.index, device.busy_us) for device in found.devices] == [(0, 100), (1, 200)]
    assert found.gpu_busy_us == 300


def test_annotations_on_the_gpu_lane_are_no_work() -> None:
    found = inspect(trace(gpu("gpu_user_annotation", "ProfilerStep#1", at=0, us=1000), kernel(at=0, us=1)))
    assert (found.gpu_busy_us, found.steps) == (1, 0)


def test_graph_kernels_are_told_apart() -> None:
    graph = [kernel(f"k{at}", at=at, us=1, correlation=1) for at in (10, 20, 30)]
    found = inspect(trace(step(1, at=0, us=9), launch("cudaGraphLaunch", at=0, correlation=1), *graph))
    assert (found.linked_kernels, found.graph_kernels, found.graph_launches) == (3, 3, 1)
    assert any("3 kernels from 1 graph launch:" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("events", "warning"),
    [
        ((step(1, at=0, us=9), launch(at=1, correlation=1)), "1 launch but no GPU activity"),
        ((*SMALL, launch(at=30, correlation=9)), "1 launch without a GPU activity"),
        ((*SMALL, kernel(at=90, us=1, correlation=9)), "1 of 2 kernels without a launch"),
        ((kernel(at=0, us=1),), "no ProfilerStep"),
        ((), "nothing to analyse"),
    ],
)
def test_what_a_trace_cannot_say_is_said(events: tuple[dict[str, Any], ...], warning: str) -> None:
    assert any(warning in each for each in inspect(trace(*events)).warnings)


def test_a_sound_trace_gives_no_warning() -> None:
    assert inspect(trace(*SMALL)).warnings == []


def test_a_python_frame_left_open_does_not_stretch_the_span() -> None:
    frames = event("python_function", "main.py(9): run", at=10, us=100_000), event("Trace", "span", at=0, us=10**6)
    assert inspect(trace(*SMALL, *frames)).span_us == 215.5


def test_top_kernels_are_sorted_by_total_time() -> None:
    work = [kernel("small", at=at, us=1) for at in (0, 2, 4)] + [kernel("big", at=9, us=10)]
    assert [(top.name, top.count, top.total_us) for top in inspect(trace(*work)).top_kernels] == [
        ("big", 1, 10),
        ("small", 3, 3),
    ]


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("\u202ertl\u200b", "\\u202ertl\\u200b"),
        ("\x9b31m", "\\x9b31m"),
        ("nul\0", "nul\\x00"),
        ("größe µ <b>|`{{", "größe µ <b>|`{{"),
    ],
)
def test_no_name_can_steer_the_terminal(text: str, seen: str) -> None:
    assert visible(text) == seen
    found = inspect(trace(kernel(text, at=0, us=1), step(1, at=0, us=1)))
    assert any(line.endswith(seen) for line in to_lines(found))
    printed = to_json(found)
    assert printed.isascii()
    assert all(char.isprintable() or char == "\n" for char in printed)
    assert json.loads(printed)["top_kernels"][0]["name"] == text


def test_the_command_prints_json_that_says_what_inspect_found(tmp_path: Path) -> None:
    path = tmp_path / "small.json"
    path.write_bytes(data(*SMALL))
    result = CliRunner().invoke(main, ["inspect", "--json", str(path)])
    answer = json.loads(result.stdout)
    assert result.exit_code == 0
    assert answer["activities"] == {"kernel": 1, "memcpy": 1, "memset": 1}
    assert answer["devices"][0] == {"index": 0, "name": "Test GPU", "busy_us": 45.5}
    assert answer["outside_steps"] == {"kernel": 0, "memcpy": 0, "memset": 1}


def test_the_command_prints_tables_without_json(tmp_path: Path) -> None:
    path = tmp_path / "small.json"
    path.write_bytes(data(*SMALL))
    printed = CliRunner().invoke(main, ["inspect", str(path)]).stdout
    assert "Device 0: Test GPU" in printed
    assert "GPU busy 45.500 µs" in printed


def figures(text: str) -> dict[tuple[str, str, str, str], str]:
    """The rows of a CSV by all but their value."""
    rows = list(csv.DictReader(io.StringIO(text), strict=True))
    keyed = {(row["section"], row["number"], row["name"], row["field"]): row["value"] for row in rows}
    assert len(keyed) == len(rows)
    return keyed


def test_the_table_for_spreadsheets_has_every_figure_once() -> None:
    twice = trace(*SMALL, step(1, at=100, us=50), kernel("=1+1", at=300, us=2))
    told = figures(to_csv(inspect(twice)))
    assert told["trace", "", "", "gpu_busy_us"] == "47.5"
    assert told["device", "0", "Test GPU", "busy_us"] == "47.5"
    assert told["step", "0", "ProfilerStep#1", "us"] == "100.0"
    assert told["step", "1", "ProfilerStep#1", "kernel"] == "0"
    assert told["outside_steps", "", "", "kernel"] == "1"
    assert told["top_kernel", "0", "gemm", "total_us"] == "30.0"
    assert told["top_op", "0", "aten::mm", "count"] == "1"
    assert "1 of 2 kernels without a launch" in told["warning", "0", "", "text"]


@pytest.mark.parametrize(
    "name", ["=HYPERLINK(1)", "+1", "-1", "@x", "\t=1", "\r=1", "\n=1", 'a"b,c\nd', "\x1b[31m", "\u202e="]
)
def test_no_name_is_a_formula_or_a_row_of_its_own(name: str) -> None:
    text = to_csv(inspect(trace(kernel(name, at=0, us=1), step(1, at=0, us=1))))
    assert all(line.isprintable() for line in text.split("\n"))
    ((_, _, written, _),) = (key for key in figures(text) if key[0] == "top_kernel" and key[3] == "count")
    assert written.lstrip("'") == visible(name)
    assert written[0] not in "=+-@\t\r\n"


@pytest.mark.parametrize("form", [["--json"], ["--format", "json"], ["--json", "--format", "json"]])
def test_json_is_asked_for_in_either_way(tmp_path: Path, form: list[str]) -> None:
    path = tmp_path / "small.json"
    path.write_bytes(data(*SMALL))
    assert json.loads(CliRunner().invoke(main, ["inspect", *form, str(path)]).stdout)["steps"] == 1


@pytest.mark.parametrize(
    "events", [(op("aten::mm", at=0, us=5),), (step(1, at=0, us=9), launch(at=1, correlation=1))], ids=["CPU", "lost"]
)
def test_no_figure_of_the_gpu_is_shown_where_none_was_recorded(events: tuple[dict[str, Any], ...]) -> None:
    text = "\n".join(to_lines(inspect(trace(*events))))
    assert "GPU activity: none in" in text
    assert "busy" not in text
    assert "Kernel time" not in text


def test_devices_at_work_are_told_apart_and_their_sum_is_called_one() -> None:
    lines = to_lines(inspect(trace(kernel(at=0, us=100), kernel(at=0, us=200, device=1))))
    assert lines[:2] == ["Device 0: Test GPU, busy 100.000 µs", "Device 1: unnamed, busy 200.000 µs"]
    assert "GPU busy 300.000 µs (union over the streams of each device, sum of 2 devices) of 200.000 µs" in lines[3]


def test_the_command_prints_csv_and_refuses_two_forms_at_once(tmp_path: Path) -> None:
    path = tmp_path / "small.json"
    path.write_bytes(data(*SMALL))
    told = figures(CliRunner().invoke(main, ["inspect", "--format", "csv", str(path)]).stdout)
    assert told["activities", "", "", "kernel"] == "1"
    both = CliRunner().invoke(main, ["inspect", "--json", "--format", "csv", str(path)])
    assert (both.exit_code, both.stdout) == (2, "")


@pytest.mark.parametrize("content", [None, b"", b"not json", b"\x1f\x8b broken"])
def test_a_file_that_is_no_trace_exits_3_with_one_sentence_and_nothing_on_stdout(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "bad\x1b[31m.json"
    if content is not None:
        path.write_bytes(content)
    result = CliRunner().invoke(main, ["inspect", "--json", str(path)])
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.startswith("Error: ")
    assert len(result.stderr.splitlines()) == 1
    assert "\x1b" not in result.stderr


def table(folder: str) -> list[dict[str, str]]:
    """The rows of a folder of the corpus that say what must come out; none if there is no corpus."""
    path = Path(CORPUS) / folder / "EXPECTED.tsv"
    if not CORPUS or not path.is_file():
        return []
    with path.open(encoding="utf8") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def counts(text: str) -> Activities:
    kernels, copies, sets = text.split("+")
    return Activities(int(kernels), int(copies), int(sets))


@pytest.mark.skipif(not table("traces/h200"), reason="FORETRACE_CORPUS names no folder with traces/h200/EXPECTED.tsv")
@pytest.mark.parametrize("row", table("traces/h200"), ids=lambda row: row["file"])
def test_every_recorded_trace_comes_out_exactly(row: dict[str, str]) -> None:
    found = inspect(kineto.read(Path(CORPUS) / "traces" / "h200" / row["file"]))
    assert found.steps == int(row["steps"])
    assert found.activities == Activities(int(row["kernels"]), int(row["memcpys"]), int(row["memsets"]))
    assert found.linked_kernels == int(row["linked"])
    assert found.per_step == [counts(text) for text in row["per_step"].split()]
    assert found.outside_steps == counts(row["outside_steps"])
    assert found.kernel_time_us == float(row["kernel_time_us"])
    table_in_floats = pytest.approx(float(row["busy_us"]), abs=0.005, rel=1e-6)
    assert found.gpu_busy_us == table_in_floats


@pytest.mark.skipif(not table("bug_inputs"), reason="FORETRACE_CORPUS names no folder with bug_inputs/EXPECTED.tsv")
@pytest.mark.parametrize("row", table("bug_inputs"), ids=lambda row: row["slug"])
def test_every_reported_bad_input_is_read_or_refused_as_it_should_be(row: dict[str, str]) -> None:
    path = Path(CORPUS) / "bug_inputs" / row["file"]
    if not path.is_file():
        pytest.skip("a pair of files, told apart elsewhere")
    if row["kind"] == "error":
        with pytest.raises(UnreadableInput):
            kineto.read(path)
        return
    found = inspect(kineto.read(path))
    figures = (found.activities.kernel, found.kernel_time_us, found.gpu_busy_us)
    for figure, column in zip(figures, ("n_kernels", "kernel_time_us", "gpu_busy_us"), strict=True):
        if re.fullmatch(r"[\d.]+", row[column]):
            assert figure == float(row[column])
    if re.fullmatch(r"\d+/\d+", row["linked_kernels"]):
        assert found.linked_kernels == int(row["linked_kernels"].split("/")[0])
