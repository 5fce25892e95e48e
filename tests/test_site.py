"""The site as a reader gets it: built from a record on disk, strict, closed in itself, and refused where it is not."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from html import unescape
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest
import recorded
import studies

from foretrace import site
from foretrace.errors import GateFailed, UnreadableInput, WrongUsage
from foretrace.files import alone
from foretrace.project import Project
from foretrace.study import Study


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Study, Path]:
    """A built site; tests that change anything take `fresh`."""
    project = recorded.project(tmp_path_factory.mktemp("project"))
    found = recorded.run(project)
    return project, found, site.build(project, found)


@pytest.fixture
def fresh(tmp_path: Path) -> tuple[Project, Study]:
    project = recorded.project(tmp_path)
    return project, recorded.run(project)


def prose(project: Project, text: str) -> None:
    (project.scenarios / "matmul_add" / "page.md.j2").write_text(f'{{% extends "scenario.md.j2" %}}\n{text}')


def test_a_record_becomes_a_site_without_a_problem(made: tuple[Project, Study, Path]) -> None:
    _, _, folder = made

    assert site.check(folder) == []
    assert (folder / "reports" / "matmul-add.html").exists()
    assert (folder / "reports" / "matmul-add" / "64-eager.html").exists()


def test_hostile_names_leave_no_tag_in_the_built_page(made: tuple[Project, Study, Path]) -> None:
    _, _, folder = made
    html = (folder / "reports" / "matmul-add" / "64-eager.html").read_text()
    tags = "".join(re.findall(r"<[^>]*>", html))

    assert "alert(1)" in html
    assert not re.search(r"alert|<h1>broken|onclick|x\.png|evil", tags)
    assert "{{ 7 * 7 }}" in unescape(html)


def test_rows_of_tables_and_names_read_are_not_searched(made: tuple[Project, Study, Path]) -> None:
    _, _, folder = made
    index = json.loads((folder / "search" / "search_index.json").read_text())
    texts = "".join(entry["text"] + entry["title"] for entry in index["docs"])

    assert "Decoded names, linked to their readings below" in texts
    assert "alert(1)" not in texts


def test_the_evidence_is_part_of_the_site(made: tuple[Project, Study, Path]) -> None:
    project, _, folder = made
    run = folder / "runs" / studies.RUN

    assert (run / "run.json").read_bytes() == (project.runs / studies.RUN / "run.json").read_bytes()
    assert (run / "matmul_add" / "64-eager.1.trace.json.gz").exists()


def test_pages_say_nothing_of_the_folder_they_were_built_in(made: tuple[Project, Study, Path]) -> None:
    project, _, folder = made

    for path in folder.rglob("*.html"):
        assert str(project.root) not in path.read_text(), path


def test_writing_twice_changes_no_file(fresh: tuple[Project, Study]) -> None:
    project, found = fresh
    first = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in site.write(project, found)}

    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in site.write(project, found)} == first


def test_reports_of_an_earlier_build_are_taken_away(fresh: tuple[Project, Study]) -> None:
    project, found = fresh
    stale = project.reports / "gone" / "64-eager.md"
    stale.parent.mkdir(parents=True)
    stale.write_text("# Gone\n")
    written = site.write(project, found)

    assert not stale.parent.exists()
    assert {path for path in project.reports.rglob("*") if path.is_file()} == set(written)


def test_a_mistake_in_a_page_template_leaves_the_reports_as_they_were(fresh: tuple[Project, Study]) -> None:
    project, found = fresh
    before = {path: path.read_bytes() for path in site.write(project, found)}
    prose(project, "{% block intro %}{{ nonsense }}{% endblock %}")

    with pytest.raises(WrongUsage, match=r"scenarios/matmul_add/page\.md\.j2, line 2: .*nonsense"):
        site.write(project, found)
    assert {path: path.read_bytes() for path in project.reports.rglob("*") if path.is_file()} == before


def test_a_changed_declaration_is_pointed_out_on_the_page(fresh: tuple[Project, Study]) -> None:
    project, found = fresh
    (project.scenarios / "matmul_add" / "scenario.py").write_text("# other predictions\n")
    site.write(project, found)

    assert "sealed" in (project.reports / "matmul-add.md").read_text().partition("Your guess first")[0]


def test_two_builds_at_once_take_turns(fresh: tuple[Project, Study], monkeypatch: pytest.MonkeyPatch) -> None:
    project, found = fresh
    began, write = threading.Event(), site.write

    def told(*studies: Any, **more: Any) -> list[Path]:
        began.set()
        return write(*studies, **more)

    monkeypatch.setattr(site, "write", told)
    other = threading.Thread(target=site.build, args=(project, found))
    with alone(project.docs):
        other.start()
        assert not began.wait(0.5)
    assert began.wait(60)
    other.join(120)
    assert (project.root / "site" / "index.html").exists()


@pytest.mark.parametrize("broken", ["site_name: x\n : [\n", "site_name: x\ntheme: there_is_no_such_theme\n"])
def test_a_site_that_mkdocs_cannot_build_at_all_is_no_matter_of_strictness(
    fresh: tuple[Project, Study], broken: str
) -> None:
    project, _ = fresh
    (project.root / "mkdocs.yml").write_text(broken)

    with pytest.raises(UnreadableInput, match="mkdocs could not build the site"):
        site.build_html(project)


def test_a_dead_link_in_an_authored_page_fails_the_build(fresh: tuple[Project, Study]) -> None:
    project, found = fresh
    (project.docs / "guide" / "reading.md").write_text(
        "# Reading\n\n[gone](gone.md)\n\n[reports](../reports/index.md)\n"
    )

    with pytest.raises(GateFailed, match=r"mkdocs refused to build: .*gone\.md"):
        site.build(project, found)


def test_a_dead_link_in_an_authors_html_fails_the_build(fresh: tuple[Project, Study]) -> None:
    project, found = fresh
    prose(project, '{% block intro %}<a href="gone.html">gone</a>{% endblock %}')

    with pytest.raises(
        GateFailed, match=r"1 problem: reports/matmul-add\.html links to gone\.html, which is not there"
    ):
        site.build(project, found)


def checked(folder: Path, body: str, head: str = "", **others: str) -> list[str]:
    """The problems of a site of one page and others."""
    pages = {"index": f"<html><head>{head}</head><body>{body}</body></html>", **others}
    for name, html in pages.items():
        (folder / f"{name}.html").write_text(html)
    return site.check(folder)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('<a href="gone.html">x</a>', "index.html links to gone.html, which is not there"),
        ('<a href="../up.html">x</a>', "index.html links to ../up.html, which is not there"),
        ('<img src="gone.svg#only-light">', "index.html links to gone.svg#only-light, which is not there"),
        ('<a href="#gone">x</a>', "index.html links to #gone, which has no such anchor"),
        ("<p>{{ value }}</p>", "index.html shows the template mark {{"),
        ("<p><code>{% if %}</code></p>", "index.html shows the template mark {%"),
        ('<script src="https://cdn.example/x.js"></script>', "index.html fetches https://cdn.example/x.js"),
        ('<img src="//cdn.example/x.png">', "index.html fetches //cdn.example/x.png"),
        ('<img srcset="https://cdn.example/x.png 2x">', "index.html fetches https://cdn.example/x.png"),
        ("<style>@import 'https://cdn.example/x.css';</style>", "index.html fetches https://cdn.example/x.css"),
        ('<p style="background: url(https://cdn.example/x.png)">', "index.html fetches https://cdn.example/x.png"),
    ],
)
def test_a_problem_of_a_page_is_named(tmp_path: Path, body: str, problem: str) -> None:
    assert checked(tmp_path, body) == [problem]


def test_a_font_from_outside_is_named(tmp_path: Path) -> None:
    (tmp_path / "own.css").write_text("@font-face { src: url('https://fonts.example/x.woff2') }")

    assert checked(tmp_path, "", head='<link rel="stylesheet" href="own.css">') == [
        "own.css fetches https://fonts.example/x.woff2"
    ]


def test_a_connection_to_the_outside_is_named(tmp_path: Path) -> None:
    assert checked(tmp_path, "", head='<link rel="preconnect" href="https://fonts.example">') == [
        "index.html fetches https://fonts.example"
    ]


def test_a_page_that_nothing_leads_to_is_named(tmp_path: Path) -> None:
    assert checked(tmp_path, "", lost='<a href="index.html">home</a>') == [
        "lost.html cannot be reached from the first page"
    ]


@pytest.mark.parametrize(
    "body",
    [
        '<a href="https://elsewhere.example/">x</a>',
        '<a href="other.html#here">x</a>',
        '<a id="top"></a><a href="#top">x</a>',
        '<a href="mailto:a@b.example">x</a>',
        "<p>&#123;&#123; 7 &#125;&#125;</p>",
        "<pre>{{ quoted }}</pre>",
        "<p>Undefined is a title like others</p>",
        "<script>const x = `{{`;</script>",
        '<img src="data:image/png;base64,AA==">',
    ],
)
def test_what_is_right_is_no_problem(tmp_path: Path, body: str) -> None:
    assert checked(tmp_path, f'{body}<a href="other.html">o</a>', other='<p id="here"></p>') == []


def test_the_site_is_served_until_it_is_interrupted(fresh: tuple[Project, Study]) -> None:
    project, found = fresh
    site.write(project, found)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    program = (
        "import signal, sys; from pathlib import Path; "
        "from foretrace import site; from foretrace.project import Project; "
        "signal.signal(signal.SIGINT, signal.default_int_handler); "  # a shell may start its jobs deaf to interrupts
        "site.serve(Project(Path(sys.argv[1])), address=sys.argv[2])"
    )
    command = [sys.executable, "-c", program, str(project.root), address]
    with subprocess.Popen(
        command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as served:
        try:
            assert "Matmul and add" in _answer(f"http://{address}/reports/matmul-add.html")
        finally:
            os.killpg(served.pid, signal.SIGINT)
        assert served.wait(timeout=30) == 0


def _answer(url: str) -> str:
    """The page at `url`, once the server is up."""
    for _ in range(300):
        with contextlib.suppress(URLError), urlopen(url, timeout=5) as answer:  # noqa: S310 - our own address
            return str(answer.read().decode())
        time.sleep(0.1)
    pytest.fail(f"{url} did not answer")


def test_only_the_runs_that_pages_rest_on_are_published(fresh: tuple[Project, Study]) -> None:
    project, found = fresh
    (project.runs / "another").mkdir()
    (project.runs / "another" / "run.json").write_text("{}")
    folder = site.build(project, found)

    assert [path.name for path in (folder / "runs").iterdir()] == [studies.RUN]
    assert (project.runs / "another" / "run.json").exists()
