"""`foretrace report` as a user meets it: pages, exit codes, and a guess that is asked for in a terminal."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import builders
import pytest
import recorded
from click.testing import CliRunner, Result

from foretrace import terminal
from foretrace.cli import main
from foretrace.errors import WrongUsage
from foretrace.prediction import Counted, LimitedBy, Within
from foretrace.project import Project

EXPECT = '[[expect]]\nkind = "count"\nactivity = "kernel"\nnumber = {}\nbecause = "one GEMM"\n'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "project").mkdir()
    made = recorded.project(tmp_path / "project")
    document = builders.document(
        builders.step(1, at=0, us=100),
        builders.op("aten::mm", at=5, us=20),
        builders.launch(at=10, correlation=1),
        builders.kernel(at=20, us=10, correlation=1),
    )
    (tmp_path / "run.json").write_text(json.dumps(document))
    (tmp_path / "bad.json").write_text("{")
    for number in (1, 2):
        (tmp_path / f"expect{number}.toml").write_text(EXPECT.format(number))
    return made


def report(project: Project, *arguments: object) -> Result:
    given = [str(argument) for argument in arguments]
    return CliRunner().invoke(main, ["report", "--project", str(project.root), *given])


def test_a_page_is_added_and_every_later_build_makes_it_again(project: Project, tmp_path: Path) -> None:
    done = report(project, tmp_path / "run.json", "--title", "My run")
    page = project.root / "site" / "reports" / "traces" / "run.html"

    assert (done.exit_code, done.stdout) == (0, f"run: 1 trace\n{page}\n")
    assert "My run" in page.read_text()
    page.unlink()
    (tmp_path / "run.json").unlink()
    built = CliRunner().invoke(main, ["build", "--strict", "--project", str(project.root)])
    assert (built.exit_code, built.stdout) == (0, f"run: 1 trace\n{project.root / 'site' / 'index.html'}\n")
    assert "My run" in page.read_text()


def test_a_gate_holds_what_the_file_expects(project: Project, tmp_path: Path) -> None:
    held = report(project, tmp_path / "run.json", "--expect", tmp_path / "expect1.toml", "--gate", "refuted")
    refuted = report(project, tmp_path / "run.json", "--expect", tmp_path / "expect2.toml", "--gate", "refuted")

    assert (held.exit_code, held.stdout.splitlines()[0]) == (
        0,
        "run: 1 trace; predictions 1 held, 0 refuted, 0 undecided",
    )
    assert refuted.exit_code == 1
    assert refuted.stderr == "Error: gate: run-2: 2 kernels a step is refuted; see the pages for the evidence.\n"
    assert "1 kernel in the only step" in (project.root / "site" / "reports" / "traces" / "run-2.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("bad.json",), 3, "bad.json: is cut off"),
        (("none.json",), 3, "none.json: there is no such file"),
        (("run.json", "bad.json"), 3, "bad.json: is cut off"),
        (("run.json", "--expect", "none.toml"), 3, "none.toml: cannot be read"),
        (("run.json", "--expect", "bad.json"), 2, "bad.json: is not TOML"),
        (("run.json", "--name", "../x"), 2, "cannot name a report"),
        (("run.json", "run.json", "--name", "x"), 2, "there are several traces"),
        (("run.json", "--guess"), 2, "asks in a terminal, and there is none"),
        (("project",), 2, "holds no trace"),
        ((), 2, "Missing argument"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_leaves_nothing(
    project: Project, tmp_path: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    done = report(project, *(tmp_path / word if "." in word or word == "project" else word for word in arguments))

    assert done.exit_code == code
    assert said in done.stderr
    assert done.stdout == ""
    assert not list(project.docs.glob("traces/*"))
    assert not project.reports.exists()


def test_a_broken_dossier_is_named(project: Project, tmp_path: Path) -> None:
    report(project, tmp_path / "run.json")
    (project.traces / "run" / "report.json").write_text("{}")
    done = CliRunner().invoke(main, ["build", "--project", str(project.root)])

    assert done.exit_code == 3
    assert "traces/run/report.json: is not a valid report" in done.stderr


def test_a_guess_is_asked_for_in_a_terminal_and_judged(project: Project, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "foretrace", "report", str(tmp_path / "run.json"), "--guess"]
    with subprocess.Popen(
        command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=project.root, text=True
    ) as asked:
        os.write(ours, b"cpu\nover\n1\n\n5-20\n\n")
        out, err = asked.communicate(timeout=120)
    os.close(ours)
    os.close(theirs)

    assert asked.returncode == 0, err
    assert out.splitlines()[0] == "run: 1 trace; guesses 2 held, 0 refuted, 1 undecided"
    assert "one of overhead, compute" in err
    head = json.loads((project.traces / "run" / "report.json").read_text())
    assert [guess["kind"] for guess in head["guesses"]] == ["bound", "count", "within"]


class Terminal(io.StringIO):
    """Somebody to ask."""

    def isatty(self) -> bool:
        """It is."""
        return True


def answers(monkeypatch: pytest.MonkeyPatch, *given: str) -> tuple[object, ...]:
    left = iter(given)
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("click.prompt", lambda *_, **__: next(left))
    return terminal.ask()


def test_an_answer_is_an_expectation(monkeypatch: pytest.MonkeyPatch) -> None:
    limit, kernels, share = answers(monkeypatch, "mem", "12", "", "40 - 60", "")

    assert limit == LimitedBy(limiter="memory")
    assert kernels == Counted(activity="kernel", number=12)
    assert isinstance(share, Within)
    assert (share.quantity, share.low, share.high) == ("traced_busy_share", pytest.approx(0.4), pytest.approx(0.6))


def test_a_guess_of_nothing_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(WrongUsage, match="nothing was guessed"):
        answers(monkeypatch, "", "", "", "", "")
