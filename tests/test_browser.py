"""Names from a trace in a real browser: no element, script or request comes from one, whatever it holds."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import hostile
import pytest
import recorded

from foretrace import intake, site
from foretrace.prediction import Appears

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
TITLE = f"</title><script>{hostile.RUN}</script> {{{{ 7 * 7 }}}} | [x](javascript:{hostile.RUN})"
PAGES = ("index.html", "reports/index.html", "reports/definitions.html")


def _browser() -> str:
    """A browser that starts; "" where there is none."""
    for name in BROWSERS:
        if path := shutil.which(name):
            done = subprocess.run([path, "--version"], capture_output=True, check=False, timeout=60)
            if done.returncode == 0:
                return path
    return ""


BROWSER = _browser()
pytestmark = [
    pytest.mark.skipif(not BROWSER, reason=f"no browser of {', '.join(BROWSERS)} starts here"),
    pytest.mark.timeout(900),
]


class Trap(BaseHTTPRequestHandler):
    """A host that remembers what it was asked for."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_error(404)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


def served(handler: Any) -> Iterator[str]:
    """The address of a server for as long as it is needed."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def trap() -> Iterator[str]:
    yield from served(Trap)


@pytest.fixture(scope="module")
def sites(trap: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A site full of hostile names, and its twin of harmless ones."""
    return built(tmp_path_factory.mktemp("hostile"), trap, str), built(
        tmp_path_factory.mktemp("harmless"), trap, hostile.harmless
    )


def built(root: Path, host: str, spelt: Any) -> Path:
    project = recorded.project(root)
    given = root / "given"
    (given / "ranks").mkdir(parents=True)
    alone = given / f"{spelt('<img src=x onerror=alert(1)>').replace('/', '')}.json"
    alone.write_text(json.dumps(hostile.document(host, spelt)))
    for rank in range(2):
        (given / "ranks" / f"rank{rank}.json").write_text(json.dumps(hostile.document(host, spelt, rank=rank)))
    expected = tuple(
        Appears(what="op", name=spelt(name), how_often="always", because=spelt(name)) for name in hostile.names(host)
    )
    examined = []
    for path, name in ((alone, "alone"), (given / "ranks", "ranks")):
        wish = intake.Wish(title=spelt(TITLE), name=name, command=spelt(TITLE), predictions=expected)
        examined += intake.add(project.traces, [path], wish, workspace=root)
    return site.build(project, examined=examined)


def dom(url: str, folder: Path) -> str:
    """The document at `url` once it has loaded and its scripts have run."""
    switches = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    switches += ["--disable-component-update", "--virtual-time-budget=4000", f"--user-data-dir={folder}"]
    done = subprocess.run([BROWSER, *switches, "--dump-dom", url], capture_output=True, check=True, timeout=120)
    return done.stdout.decode(errors="replace")


READING = {
    "details",
    "summary",
    "code",
    "small",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "p",
    "a",
    "strong",
    "span",
}
PLAIN = {"class", "title", "id", "href", "scope", "open", "data-search-exclude"}


class Shape(HTMLParser):
    """The elements of a document with the names of their attributes, in order.

    How a kernel's name is read depends on the name: readings, and the links to them, are kept apart.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.readings: set[str] = set()  # elements and attributes within readings
        self._reading = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an element."""
        values = dict(attrs)
        self._reading |= values.get("class") == "ft-reading"
        if self._reading:
            self.readings |= {tag, *values}
        elif "#kernel-" not in (values.get("href") or ""):
            self.elements.append((tag, tuple(sorted(values))))

    def handle_endtag(self, tag: str) -> None:
        """Leave a reading."""
        self._reading &= tag != "details"


@pytest.fixture(scope="module")
def loaded(sites: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    """Each page that can hold a name, as the browser made it of the hostile site and of its twin."""
    profile = tmp_path_factory.mktemp("profile")
    traces = [sorted((folder / "reports" / "traces").rglob("*.html")) for folder in sites]
    names = [
        [path.relative_to(folder).as_posix() for path in found] for folder, found in zip(sites, traces, strict=True)
    ]
    assert names[0] == names[1]
    assert len(names[0]) == 4  # a trace alone, a report on ranks, two ranks
    ours, twin = sites
    return {
        page: (dom(f"file://{ours / page}", profile), dom(f"file://{twin / page}", profile))
        for page in (*PAGES, *names[0])
    }


def test_a_page_of_hostile_names_has_the_elements_of_one_of_harmless_names(loaded: dict[str, tuple[str, str]]) -> None:
    for page, (ours, twin) in loaded.items():
        found = Shape(ours)
        assert found.elements == Shape(twin).elements, page
        assert found.readings <= READING | PLAIN, page


def test_no_name_runs_in_a_page(loaded: dict[str, tuple[str, str]]) -> None:
    for page, (ours, _) in loaded.items():
        (root,) = [attributes for tag, attributes in Shape(ours).elements if tag == "html"]
        assert hostile.MARK not in root, page


def test_the_browser_runs_what_a_page_really_holds(trap: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(f"<html><body><script>{hostile.RUN}</script><img src='http://{trap}/control.png'></body></html>")
    text = dom(f"file://{page}", tmp_path / "profile")

    assert hostile.MARK in Shape(text).elements[0][1]
    assert "/control.png" in Trap.asked
    Trap.asked.remove("/control.png")


def test_no_name_fetches_anything(loaded: dict[str, tuple[str, str]]) -> None:
    assert Trap.asked == []


def test_an_image_opened_by_itself_runs_nothing(sites: tuple[Path, Path], tmp_path: Path) -> None:
    images = sorted((sites[0] / "reports" / "traces").rglob("*-light.svg"))

    assert len(images) == 3
    for image in images:
        text = dom(f"file://{image}", tmp_path)
        assert "<svg" in text
        assert hostile.MARK not in Shape(text).elements[0][1]
        assert not {"script", "image", "foreignobject", "a"} & {tag for tag, _ in Shape(text).elements}
    assert Trap.asked == []


def test_what_a_search_finds_is_text_where_it_is_shown(sites: tuple[Path, Path], tmp_path: Path) -> None:
    index = json.loads((sites[0] / "search" / "search_index.json").read_text())
    found = [entry["title"] + entry["text"] for entry in index["docs"]]
    page = tmp_path / "page.html"
    data = json.dumps(found).replace("<", "\\u003c")
    show = "document.body.append(Object.assign(document.createElement('div'), {innerHTML: text}))"  # as the theme does
    page.write_text(f"<html><body><script>for (const text of {data}) {{ {show} }}</script></body></html>")
    shape = Shape(dom(f"file://{page}", tmp_path / "profile"))

    assert any("setAttribute" in text for text in found)
    assert {tag for tag, _ in shape.elements} <= {
        "html",
        "head",
        "body",
        "script",
        "div",
        "p",
        "code",
        "pre",
        "li",
        "ul",
        "ol",
    }
    assert {attributes for _, attributes in shape.elements} == {()}
    assert Trap.asked == []


def test_template_marks_stay_text(loaded: dict[str, tuple[str, str]]) -> None:
    text = loaded["reports/traces/alone.html"][0]

    assert "{{ 7 * 7 }}" in text
    assert "{% raw %}" in text
