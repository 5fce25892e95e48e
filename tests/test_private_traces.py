"""What a report publishes of a trace that is full of private words: none of them, unless the user asks for it."""

from __future__ import annotations

import getpass
import gzip
import json
import socket
from pathlib import Path
from typing import Any

import builders
import pytest
import recorded

from foretrace import intake, site
from foretrace.project import Project

HERE = ("gpu-box-7.corp.example", "gpu-box-7", "alice", "/home/alice")
THERE = (
    "trainer-node-3.lab.example",
    "trainer-node-3",
    "bobsmith",
    "/home/bobsmith",
    "carolyn",
    "secretproject",
    "hiddenteam",
)


def texts(root: Path) -> list[str]:
    """Texts of every form in which this machine, or the one that the trace came from, may be named."""
    return [
        f"{root}/scenarios/x.py(12): build",
        f"{root.as_posix()}/docs",
        "/home/alice/notes/train.py(3): step",
        "alice@gpu-box-7: ready",
        "http://gpu-box-7.corp.example:8080/",
        "/tmp/torchinductor_alice/ab/cab.py",  # noqa: S108 - a text
        "/home/bobsmith/secretproject/model.py(7): forward",
        "/Users/carolyn/secretproject/model.py",
        "C:\\Users\\carolyn\\secretproject\\model.py",
        "/mnt/hiddenteam/secretproject/train.py(9): loop",
        "/data/hiddenteam/env/lib/python3.11/site-packages/torch/nn/modules/module.py(1): __call__",
        "<built-in method run of /home/bobsmith/x>",
        "bobsmith on trainer-node-3.lab.example",
        "/tmp/torchinductor_bobsmith/k.py",  # noqa: S108 - a text
    ]


def document(root: Path) -> dict[str, Any]:
    """A trace that names them as operators, labels, kernels, frames, arguments, threads and metadata."""
    events: list[dict[str, Any]] = [builders.step(1, at=0, us=5_000)]
    for place, text in enumerate(texts(root)):
        at = 10 + 100 * place
        events += [
            builders.event("python_function", text, at=at, us=90, **{"Python id": place}),
            builders.annotation(text, at=at, us=90),
            builders.op(text, at=at + 1, us=80, **{"Call stack": f"{text};{text}", "File": text}),
            builders.launch(at=at + 2, us=5, correlation=place + 1),
            builders.kernel(text, at=at + 10, us=20, correlation=place + 1, source=text),
            {"ph": "M", "name": "process_name", "pid": place, "args": {"name": text}},
        ]
    return builders.document(
        *events,
        traceName=f"{root}/gpu-box-7_1234.1699.pt.trace.json",
        host_name="trainer-node-3.lab.example",
        distributedInfo={"rank": 0, "world_size": 1, "master": "trainer-node-3", "log": texts(root)},
        deviceProperties=[{**builders.GPU, "name": "GPU of alice"}],
    )


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Project:
    """A project on a machine of a known name, with a user and a home, in a folder that bears the user's name."""
    monkeypatch.setattr(socket, "gethostname", lambda: "gpu-box-7.corp.example")
    monkeypatch.setattr(socket, "getfqdn", lambda: "gpu-box-7.corp.example")
    monkeypatch.setattr(getpass, "getuser", lambda: "alice")
    monkeypatch.setenv("HOME", "/home/alice")
    root = tmp_path / "work-of-somebody"
    root.mkdir()
    monkeypatch.chdir(root)
    return recorded.project(root)


def reported(project: Project, *, keep_paths: bool = False) -> dict[str, str]:
    """Every published file of a report by its path in the project."""
    given = project.root / "alice" / "gpu-box-7_1234.1699.pt.trace.json.gz"
    given.parent.mkdir()
    given.write_bytes(gzip.compress(json.dumps(document(project.root)).encode()))
    wish = intake.Wish(
        title="alice on gpu-box-7, /home/alice/notes",
        command=f"foretrace report {given} --title 'alice on gpu-box-7'",
        keep_paths=keep_paths,
    )
    found = intake.add(project.traces, [given], wish, workspace=project.root)
    folder = site.build(project, examined=found)
    published = [path for top in (project.traces, project.reports, folder) for path in top.rglob("*") if path.is_file()]
    return {path.relative_to(project.root).as_posix(): text(path) for path in published}


def text(path: Path) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data).decode(errors="replace")


def test_nothing_that_is_published_names_a_host_a_user_a_home_or_a_workspace(machine: Project) -> None:
    published = reported(machine)

    assert {"docs/traces/host-1234-1699/trace.json.gz", "site/reports/traces/host-1234-1699.html"} <= published.keys()
    assert "model.py(7): forward" in published["docs/traces/host-1234-1699/trace.json.gz"]
    for word in (*HERE, *THERE, str(machine.root)):
        assert [path for path, said in published.items() if word in said or word in path] == [], word


def test_what_tells_nothing_of_a_machine_is_kept(machine: Project) -> None:
    trace = reported(machine)["docs/traces/host-1234-1699/trace.json.gz"]

    assert "lib/python3.11/site-packages/torch/nn/modules/module.py(1): __call__" in trace
    assert json.loads(trace)["traceEvents"][0]["name"] == "ProfilerStep#1"
    assert len(json.loads(trace)["traceEvents"]) == len(document(machine.root)["traceEvents"])


def test_paths_are_kept_where_the_user_asks_for_it(machine: Project) -> None:
    published = reported(machine, keep_paths=True)
    (trace,) = [said for path, said in published.items() if path.startswith("docs/traces") and path.endswith(".gz")]

    assert json.loads(trace) == document(machine.root)
    assert any(
        "home/bobsmith/secretproject/model.py(7): forward" in said
        for path, said in published.items()
        if path.endswith(".html")
    )
