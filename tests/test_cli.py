"""The command as a user meets it when something is wrong: one sentence, and the exit code that says whose it is."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
import studies
from click.testing import CliRunner

from foretrace import cli, page, site, terminal
from foretrace.cli import main
from foretrace.errors import GateFailed
from foretrace.project import Project

DECLARATION = """
from foretrace import Scenario, grid

scenario = Scenario(title="Sums\\x1b[31m", question="How\\x07long?", variants=grid(n=(1, 2)))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "scenarios" / "sums"
    folder.mkdir(parents=True)
    (tmp_path / "mkdocs.yml").touch()
    (folder / "scenario.py").write_text(DECLARATION)
    (folder / "workload.py").touch()
    return tmp_path


def refusal(project: Path, code: int, *words: str) -> str:
    """The one line that a command says."""
    result = CliRunner().invoke(main, [*words, "--project", str(project)])
    assert result.exit_code == code, result.output
    (line,) = result.output.splitlines()
    assert line.startswith("Error: ")
    return line


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("list", "x" * 300), "there is no such scenario; known here: sums."),
        (("run", "products"), "there is no such scenario; known here: sums."),
        (("run", "--only", "3"), "3: no variant has such a name; see `foretrace list`."),
        (("run", "--name", "x" * 300), "cannot name a run; use up to 100 letters, digits and - _ . ~."),
        (("run", "--resume", "x" * 300), "there is no such run; known here: none."),
        (("run", "--resume", ""), "Error: there is no such run; known here: none."),
        (("build",), "there is no recorded run; measure one with `foretrace run`."),
    ],
)
def test_what_does_not_exist_is_wrong_usage(project: Path, words: tuple[str, ...], said: str) -> None:
    assert refusal(project, 2, *words).endswith(said)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--rounds", "9"), "--rounds cannot be changed"),
        (("sums", "--device", "cpu"), "SLUG, --device cannot be changed"),
        (("--keep-paths",), "--keep-paths cannot be changed"),
    ],
)
def test_a_resumed_run_is_not_quietly_measured_otherwise_than_asked(
    project: Path, words: tuple[str, ...], said: str
) -> None:
    line = refusal(project, 2, "run", *words, "--resume", "old")
    assert line == f"Error: old: {said} in a run that was started; start a new one."


@pytest.mark.parametrize("limit", ["nan", "inf", "1e30", "0"])
def test_a_time_limit_that_no_clock_can_hold_is_wrong_usage(project: Path, limit: str) -> None:
    result = CliRunner().invoke(main, ["run", "--time-limit", limit, "--project", str(project)])
    assert result.exit_code == 2
    assert "Invalid value for '--time-limit'" in result.output


def test_a_folder_that_cannot_be_read_is_told_in_a_sentence(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(*_: object) -> None:
        raise OSError(28, "No space left on device", "docs/runs")

    monkeypatch.setattr("foretrace.project.Project.load", no_space)
    line = refusal(project, 3, "list")
    assert line.startswith("Error: docs/runs: cannot be read or written (No space left on device); check its ")


def test_a_declaration_does_not_steer_the_terminal(project: Path) -> None:
    result = CliRunner().invoke(main, ["list", "--project", str(project)])
    assert result.output.splitlines()[:2] == ["sums: Sums\\x1b[31m", "  How\\x07long?"]


def test_names_that_are_not_utf8_are_decoded_all_the_same() -> None:
    result = CliRunner().invoke(main, ["decode", "--json", "-", "\udcff"], input=b"gemm\xff\n")
    assert result.exit_code == 0
    assert [json.loads(line)["name"] for line in result.output.splitlines()] == ["gemm\ufffd", "\ufffd"]


def test_the_bar_is_taken_away_when_a_run_breaks_off(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []

    class Watcher(terminal.Lines):
        def ended(self) -> None:
            ended.append(True)

    monkeypatch.setattr(terminal, "watcher", Watcher)
    refusal(project, 2, "run", "--only", "3")
    assert ended == [True]


def test_a_gate_is_held_by_what_the_site_shows_and_not_by_an_older_run_of_the_scenario() -> None:
    old = studies.study(started_utc="2026-11-01T10:00:00Z")
    found = old.investigations["matmul_add"]
    sound = {name: outcome for name, outcome in found.outcomes.items() if outcome.failure is None}
    mended = msgspec.structs.replace(found, outcomes=sound, predictions=())
    new = msgspec.structs.replace(studies.study(), investigations={"matmul_add": mended})

    with pytest.raises(GateFailed, match="8192-compile failed"):
        cli._hold(page.newest((old,)), ("failed", "refuted"))
    cli._hold(page.newest((old, new)), ("failed", "refuted"))


def test_a_gate_can_ask_for_a_reason_instead_of_a_verdict(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    study = studies.study()
    bare, told = (Project(tmp_path / name) for name in ("bare", "told"))
    for project in (bare, told):
        (project.scenarios / "matmul_add").mkdir(parents=True)
    whys = "".join(f'{{% call why("{key}") %}}It did.{{% endcall %}}' for key in ("3", "4", "P1-13"))
    page_source = f'{{% extends "scenario.md.j2" %}}{{% block why %}}{whys}{{% endblock %}}'
    (told.scenarios / "matmul_add" / "page.md.j2").write_text(page_source)

    assert site.unexplained(bare, study) == (
        "matmul_add, prediction 3",
        "matmul_add, prediction 4",
        "matmul_add, claim P1-13",
    )
    assert site.unexplained(told, study) == ()


def test_a_gate_without_an_expectation_is_refused(project: Path, tmp_path: Path) -> None:
    refusal(project, 2, "report", "trace.json", "--gate", "refuted")


def test_a_number_too_long_to_be_one_is_no_expectation(project: Path, tmp_path: Path) -> None:
    expected = tmp_path / "long.toml"
    expected.write_text(f'[[expect]]\nkind = "count"\nactivity = "kernel"\nnumber = {"9" * 5000}\n')
    assert "is not TOML" in refusal(project, 2, "report", "trace.json", "--expect", str(expected))


def test_whether_a_file_can_be_read_is_not_for_the_command_line_to_say() -> None:
    """Click would call it wrong usage: exit code 2 for a file that cannot be read."""
    for command in (cli.inspect, cli.report):
        paths = [each.type for each in command.params if type(each.type).__name__ == "Path" and each.name != "folder"]
        assert paths
        assert not any(path.readable for path in paths)
