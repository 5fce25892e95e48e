"""The site: studies and examined traces come in; their pages are written into `docs/reports/` and built by mkdocs.

    site.write(project, study)          # Markdown, images and tables
    folder = site.build_html(project)   # mkdocs, strict
    problems = site.check(folder)       # dead links, orphans, left-over marks, anything from outside

`build` does the three in order.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from foretrace import analysis, page
from foretrace.album import FOLDER, Album
from foretrace.errors import CannotMeasure, GateFailed, UnreadableInput
from foretrace.examination import Examination
from foretrace.facts import Timeline
from foretrace.files import alone, write_atomically
from foretrace.project import Project
from foretrace.render import Prose, render
from foretrace.render import unexplained as _unexplained
from foretrace.study import Study

_SHOWN = 20  # problems in one message


def build(project: Project, *studies: Study, examined: Sequence[Examination] = ()) -> Path:
    """Write, build and check the whole site, one process at a time; its folder.

    Raises:
        GateFailed: mkdocs refused the pages, or the built site has a problem.
        WrongUsage: an author's page template has a mistake.
    """
    with alone(project.docs):
        write(project, *studies, examined=examined)
        folder = build_html(project)
        _publish_only(folder / "runs", {study.run.id for study in page.newest(studies).values()})
        problems = check(folder)
    if problems:
        raise GateFailed(_listed(problems), where=str(folder), remedy="mend the pages")
    return folder


def unexplained(project: Project, *studies: Study) -> tuple[str, ...]:
    """Statements of the site that came out otherwise and that nobody has explained, in words."""
    pages = page.build(*studies)
    return _unexplained(pages, prose=_prose(project, page.newest(studies)))


def write(project: Project, *studies: Study, examined: Sequence[Examination] = ()) -> list[Path]:
    """Put the reports into `docs/reports/`, and take away what is no longer one of them; the files that it now holds.

    Everything is rendered before the first file is written, each file is written whole or not at all, and a file that
    has not changed keeps its time.
    """
    chosen = page.newest(studies)
    changed = {
        slug
        for slug, study in chosen.items()
        if project.source_sha256(slug) != study.investigations[slug].sealed.source_sha256
    }
    pages = page.build(*studies, changed=frozenset(changed), timelines=dict(_timelines(chosen)), examined=examined)
    images = Album(project.root / FOLDER)
    files = render(pages, prose=_prose(project, chosen), draw=images.draw)
    images.prune()
    for path, data in files.items():
        target = project.docs / path
        if not target.is_file() or target.read_bytes() != data:
            write_atomically(target, data)
    written = [project.docs / path for path in files]
    _remove_others(project.reports, keep=set(written))
    return written


def build_html(project: Project) -> Path:
    """Let mkdocs build the site, strictly; its folder.

    mkdocs must not be told to be quiet: it would not count its warnings then, and pass.

    Raises:
        GateFailed: it built the site and complains about pages.
        UnreadableInput: it built nothing, such as where its configuration is no YAML, or the site cannot be written.
    """
    done = subprocess.run(
        [*_mkdocs(), "build", "--strict", "--clean", "--config-file", str(project.root / "mkdocs.yml")],
        capture_output=True,
        text=True,
        check=False,
        cwd=project.root,
        env=_environment(),
    )
    if done.returncode:
        said = [line.strip() for line in done.stderr.splitlines() if line.strip() and not line.startswith("INFO")]
        where = str(project.root / "mkdocs.yml")
        if "in strict mode" not in done.stdout:  # where it counts its warnings, once all pages are built
            what = f"mkdocs could not build the site: {said[-1] if said else 'it says nothing'}"
            raise UnreadableInput(what, where=where, remedy="mend what it names")
        raise GateFailed(f"mkdocs refused to build: {_listed(said)}", where=where)
    return project.root / "site"


def serve(project: Project, *, address: str = "127.0.0.1:8000") -> None:
    """Show the site at a local address until it is interrupted; pages are rebuilt when their Markdown changes."""
    arguments = ["serve", "--config-file", str(project.root / "mkdocs.yml"), "--dev-addr", address]
    try:
        done = subprocess.run([*_mkdocs(), *arguments], check=False, cwd=project.root, env=_environment())
    except KeyboardInterrupt:
        return
    if done.returncode:
        raise CannotMeasure("mkdocs could not serve the site", where=address, remedy="is the address in use?")


def check(folder: Path) -> list[str]:
    """What is wrong with a built site, a sentence each: dead links and anchors, orphans, marks, things from outside."""
    pages = {path.relative_to(folder).as_posix(): _read(path) for path in sorted(folder.rglob("*.html"))}
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    problems = [problem for name, html in pages.items() for problem in _marks(name, html)]
    problems += [problem for name, html in pages.items() for problem in _outside(name, html)]
    for style in sorted(folder.rglob("*.css")):
        name = style.relative_to(folder).as_posix()
        problems += [f"{name} fetches {found}" for found in _fetched_by_css(style.read_text(encoding="utf-8"))]
    problems += [problem for name, html in pages.items() for problem in _dead(name, html, pages, files)]
    return problems + _orphans(pages)


@dataclass
class _Html(HTMLParser):
    """What a page refers to and what it says."""

    links: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    css: list[str] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)  # text as in the file, character references unread
    pre: int = 0  # how many <pre> are open: there a page may quote a template
    _inside: str = ""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=False)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what matters of a tag."""
        values = {key: value or "" for key, value in attrs}
        self.anchors |= {values[key] for key in ("id", "name") if values.get(key)}
        self._inside = tag if tag in {"script", "style"} else self._inside
        self.pre += tag == "pre"
        if "style" in values:
            self.css.append(values["style"])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif (
            tag == "link"
            and "href" in values
            and not {"canonical", "next", "prev"} & set(values.get("rel", "").split())
        ):
            self.fetched.append(values["href"])
        self.fetched += [values[key] for key in ("src", "data", "poster") if values.get(key)]
        self.fetched += [part.split()[0] for part in values.get("srcset", "").split(",") if part.split()]

    def handle_endtag(self, tag: str) -> None:
        """Leave a script, a style or preformatted text."""
        self._inside = "" if tag == self._inside else self._inside
        self.pre -= tag == "pre"

    def handle_data(self, data: str) -> None:
        """Keep text, by where it stands."""
        if self._inside == "style":
            self.css.append(data)
        elif not self._inside and not self.pre:
            self.raw.append(data)


def _read(path: Path) -> _Html:
    html = _Html()
    html.feed(path.read_text(encoding="utf-8"))
    html.close()
    return html


def _marks(name: str, html: _Html) -> Iterator[str]:
    """Template marks that were printed instead of obeyed; a name that holds them is printed as references."""
    for mark in ("{{", "{%", "{#"):
        if any(mark in text for text in html.raw):
            yield f"{name} shows the template mark {mark}"


def _outside(name: str, html: _Html) -> Iterator[str]:
    """What a browser would fetch from another host."""
    for address in html.fetched:
        if urlsplit(address).scheme in {"http", "https"} or address.startswith("//"):
            yield f"{name} fetches {address}"
    for css in html.css:
        yield from (f"{name} fetches {address}" for address in _fetched_by_css(css))


def _fetched_by_css(css: str) -> list[str]:
    found = re.findall(r"""(?:@import\s*(?:url\()?|url\()\s*["']?((?:https?:)?//[^"')\s]+)""", css)
    return [str(address) for address in found]


def _dead(name: str, html: _Html, pages: Mapping[str, _Html], files: set[str]) -> Iterator[str]:
    """Links to what is not there; the page for lost readers is exempt, since it can stand at any depth."""
    for address in dict.fromkeys([*html.links, *html.fetched]) if name != "404.html" else ():
        target, anchor = _target(name, address)
        if target is None:
            continue
        if target not in files:
            yield f"{name} links to {address}, which is not there"
        elif anchor and target in pages and anchor not in pages[target].anchors and not anchor.startswith("__"):
            yield f"{name} links to {address}, which has no such anchor"


def _target(name: str, address: str) -> tuple[str | None, str]:
    """The file of the site that an address on the page `name` means, with its anchor; None for other sites."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return None, ""
    anchor = "" if parts.fragment.startswith("only-") else unquote(parts.fragment)
    if not parts.path:
        return name, anchor
    path = posixpath.normpath(posixpath.join("/", posixpath.dirname(name), unquote(parts.path))).lstrip("/")
    return (posixpath.join(path, "index.html") if parts.path.endswith(("/", ".")) else path), anchor


def _orphans(pages: Mapping[str, _Html]) -> list[str]:
    """Pages that no path of links leads to from the first one."""
    reached, waiting = {"index.html", "404.html"}, ["index.html"]
    while waiting:
        name = waiting.pop()
        for address in pages[name].links if name in pages else ():
            target, _ = _target(name, address)
            if target is not None and target in pages and target not in reached:
                reached.add(target)
                waiting.append(target)
    return [f"{name} cannot be reached from the first page" for name in sorted(pages.keys() - reached)]


def _timelines(chosen: Mapping[str, Study]) -> Iterator[tuple[tuple[str, str], Timeline]]:
    """The timeline of each variant that has a trace; one trace is in memory at a time."""
    for slug, study in chosen.items():
        scenario = study.investigations[slug].sealed.scenario
        for declared in scenario.variants:
            trace = study.trace(slug, declared.name)
            if trace is not None:
                yield (slug, declared.name), analysis.timeline(trace, label=scenario.label)


def _prose(project: Project, slugs: Iterator[str] | Mapping[str, Study]) -> dict[str, Prose]:
    where = {slug: PurePosixPath(project.scenarios.name, slug, "page.md.j2").as_posix() for slug in slugs}
    return {slug: Prose(source=text, where=name) for slug, name in where.items() if (text := project.prose(slug))}


def _publish_only(runs: Path, shown: set[str]) -> None:
    """Take the records that no page rests on out of the built site."""
    for path in runs.glob("*"):
        if path.name not in shown:
            shutil.rmtree(path)


def _remove_others(reports: Path, *, keep: set[Path]) -> None:
    """Take away generated files of earlier builds, and the folders that are empty then."""
    for path in sorted(reports.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                path.rmdir()
        elif path not in keep:
            path.unlink()


def _mkdocs() -> list[str]:
    return [sys.executable, "-m", "mkdocs"]


def _environment() -> dict[str, str]:
    return {**os.environ, "NO_MKDOCS_2_WARNING": "1"}


def _listed(problems: Sequence[str]) -> str:
    more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
    count = f"{len(problems)} problem{'s' if len(problems) != 1 else ''}"
    return f"{count}: {'; '.join(problems[:_SHOWN])}{more}"
