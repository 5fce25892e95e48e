"""Pages as files: page models and authors' prose come in, Markdown, images and tables go out as bytes.

    files = render(pages, prose={"matmul_add": Prose(source=…, where="scenarios/matmul_add/page.md.j2")})

Templates hold `if`, `for` and macros; whatever they print goes through `escape`, and what is not defined is an error.
"""

from __future__ import annotations

import functools
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import cast
from urllib.parse import quote

import jinja2
from markupsafe import Markup

from foretrace.facts import Facts
from foretrace.page import Pages
from foretrace.page.models import Picture, ScenarioPage
from foretrace.page.readings import CONFIDENCE
from foretrace.render import data, pictures
from foretrace.render.escape import escape, heading, joined, printed
from foretrace.render.prose import Prose, Voice, check, told
from foretrace.render.tables import Shelf

__all__ = ["Prose", "markdown", "render", "unexplained"]

_TEMPLATES = Path(__file__).parent.parent / "templates"
_BASE = "scenario.md.j2"
_SHELVES = "shelves"
_STATES = ("held", "refuted", "undecided")
_OWN_PLACE = re.compile(r"(\]\(<?|^ *\[[^]]+\]: *<?)#", re.MULTILINE)  # of a Markdown link, in the text or below it

Draw = Callable[[Picture], Iterable[tuple[str, bytes]]]
"""From a picture to the address and the bytes of each of its files."""
Whys = Mapping[str, Mapping[str, Markup]]
"""Authors' reasons: by scenario, then by the statement's key."""


def render(pages: Pages, *, prose: Mapping[str, Prose], draw: Draw = pictures.draw) -> dict[PurePosixPath, bytes]:
    """Every file of the reports, by its path in the site's source folder.

    Args:
        pages: what to show.
        prose: authors' templates, by scenario.
        draw: what makes a picture's files.

    Raises:
        WrongUsage: an author's template has a mistake; file and line are named.
    """
    environment = _environment(prose)
    texts, whys = _written(environment, pages, prose)
    files = {address: text.encode() for address, text in texts.items()}
    files |= {address: data for shelf in _shelves(environment).values() for address, data in shelf.files()}
    files |= dict(_data(pages, whys))
    files |= {address: drawn for picture in _pictures(pages) for address, drawn in draw(picture)}
    return {PurePosixPath(address): files[address] for address in sorted(files)}


def markdown(pages: Pages, *, prose: Mapping[str, Prose]) -> dict[str, str]:
    """The text of every page, by its address: `render` without images and data."""
    texts, _ = _written(_environment(prose), pages, prose)
    return texts


def unexplained(pages: Pages, *, prose: Mapping[str, Prose]) -> tuple[str, ...]:
    """What came out otherwise and has no reason from its author: scenario and statement, in words."""
    _, whys = _written(_environment(prose), pages, prose)
    return tuple(
        f"{page.slug}, {said.kind} {said.key}"
        for page in pages.scenarios
        for said in page.statements
        if said.mismatch and said.key not in whys[page.slug]
    )


def _written(environment: jinja2.Environment, pages: Pages, prose: Mapping[str, Prose]) -> tuple[dict[str, str], Whys]:
    """Every page's text, and the reasons that the prose gave; the environment keeps the tables that were printed."""
    texts: dict[str, str] = {}
    whys: dict[str, dict[str, Markup]] = {}
    gaps: list[str] = []
    for page in pages.scenarios:
        voice = _voice(environment, pages, page)
        texts[page.address] = _scenario(environment, page, voice, prose.get(page.slug))
        whys[page.slug] = voice.whys
        gaps += [f"{page.slug}: {gap}" for gap in voice.gaps]
    for one in pages.variants:
        shown = {"page": one, "data": _facts_file(one.address), "confidence": tuple(CONFIDENCE.items())}
        texts[one.address] = _page(environment, "variant.md.j2", one.address, **shown)
    for report in pages.reports:
        shown = {"report": report, "data": _facts_file(report.address), "confidence": tuple(CONFIDENCE.items())}
        texts[report.address] = _page(environment, "report.md.j2", report.address, **shown)
        for trace in report.traces if report.ranks else ():
            shown = {"page": trace, "data": _facts_file(trace.address), "confidence": tuple(CONFIDENCE.items())}
            texts[trace.address] = _page(environment, "trace.md.j2", trace.address, **shown)
    texts[pages.front.address] = _front(environment, pages, whys, gaps)
    texts[pages.claims.address] = _claims(environment, pages, whys)
    found = pages.definitions
    texts[found.address] = _page(
        environment, "definitions.md.j2", found.address, page=found, states=found.states, tables=found.tables
    )
    names = pages.glossary
    texts[names.address] = _page(environment, "glossary.md.j2", names.address, page=names)
    return {address: _tidy(text) for address, text in texts.items()}, whys


def relative(to: str, *, here: str) -> Markup:
    """An address as it is linked to from the page `here`; pages end in `.html`, other sites' addresses stay."""
    if re.match(r"https?://", to):
        return Markup.escape(quote(to, safe=":/?#[]@!$&'()*+,;=%~"))
    path, _, anchor = to.partition("#")
    path = posixpath.relpath(path, posixpath.dirname(here)) if path else ""
    path = f"{path.removesuffix('.md')}.html" if path.endswith(".md") else path
    return Markup.escape(quote(path, safe="/~") + (f"#{quote(anchor)}" if anchor else ""))


def _environment(prose: Mapping[str, Prose]) -> jinja2.Environment:
    def load(name: str) -> tuple[str, str, Callable[[], bool]] | None:
        found = prose.get(name.removeprefix("prose/")) if name.startswith("prose/") else None
        return (found.source, found.where, lambda: True) if found else None

    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.FunctionLoader(load), jinja2.FileSystemLoader(_TEMPLATES)]),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        finalize=printed,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["join"] = joined
    environment.globals |= {"lines": _lines, "heading": _heading, _SHELVES: {}}
    return environment


def _voice(environment: jinja2.Environment, pages: Pages, page: ScenarioPage) -> Voice:
    parts = environment.get_template("parts.j2").module
    return Voice(
        holes=pages.holes[page.slug],
        href=lambda to: relative(to, here=page.address),
        chip={state: parts.chip(state) for state in _STATES}.__getitem__,  # type: ignore[attr-defined]
    )


def _scenario(environment: jinja2.Environment, page: ScenarioPage, voice: Voice, prose: Prose | None) -> str:
    """The page, rendered twice where there is prose: its reasons may stand below the place that shows them."""
    if prose:
        check(prose, environment, base=_BASE)
    template = f"prose/{page.slug}" if prose else _BASE
    shown = {"page": page, "data": _csv_file(page.address), **voice.functions()}
    try:
        _page(environment, template, page.address, whys={}, **shown)
        return _page(environment, template, page.address, whys=dict(voice.whys), **shown)
    except Exception as error:
        mistake = told(error, prose) if prose else None
        if mistake is None:
            raise
        raise mistake from error


def _front(environment: jinja2.Environment, pages: Pages, whys: Whys, gaps: list[str]) -> str:
    page = pages.front
    explained = [it for it in page.mismatches if it.statement.key in whys[it.slug]]
    unexplained = [it for it in page.mismatches if it not in explained]
    return _page(
        environment,
        "front.md.j2",
        page.address,
        page=page,
        claimed=bool(pages.claims.sources),
        gaps=gaps,
        explained=explained,
        unexplained=unexplained,
    )


def _claims(environment: jinja2.Environment, pages: Pages, whys: Whys) -> str:
    page = pages.claims
    moved = {
        scenario.slug: {key: _moved(why, scenario.address) for key, why in whys[scenario.slug].items()}
        for scenario in pages.scenarios
    }
    csv, json = _claims_files(page.address)
    return _page(environment, "claims.md.j2", page.address, page=page, whys=moved, csv=csv, json=json)


def _moved(why: Markup, address: str) -> Markup:
    """A reason as it stands on another page of its folder: where it links to a place of its own page, it still does."""
    name = quote(posixpath.basename(address))
    text = re.sub(r"""(\bhref=["'])#""", rf"\g<1>{name.removesuffix('.md')}.html#", str(why))
    text = _OWN_PLACE.sub(rf"\g<1>{name}#", text)
    return Markup(text)  # noqa: S704 - it was markup before


def _page(environment: jinja2.Environment, template: str, address: str, **shown: object) -> str:
    shelf = _shelves(environment).setdefault(address, Shelf(address))
    href = functools.partial(relative, here=address)
    return environment.get_template(template).render(href=href, export=shelf.put, **shown)


def _shelves(environment: jinja2.Environment) -> dict[str, Shelf]:
    """The tables that each page printed, by its address."""
    return cast("dict[str, Shelf]", environment.globals[_SHELVES])


def _pictures(pages: Pages) -> Iterator[Picture]:
    for page in pages.scenarios:
        alone = (page.samples, page.beside, page.families)
        yield from (picture for picture in (*alone, *page.rates, *page.swept, *page.choices) if picture)
        yield from (picture for it in page.comparisons for picture in it.changes)
    yield from (page.timeline for page in pages.variants if page.timeline)
    yield from (page.timeline for report in pages.reports for page in report.traces if page.timeline)


def _data(pages: Pages, whys: Whys) -> Iterator[tuple[str, bytes]]:
    csv, json = _claims_files(pages.claims.address)
    rows = data.claims(pages.claims, whys)
    yield csv, data.table(rows)
    yield json, data.listed(rows)
    for page in pages.scenarios:
        found = pages.holes[page.slug].found
        yield _csv_file(page.address), data.quantities(found)
    for one in pages.variants:
        known = pages.holes[one.slug].found.facts[one.name]
        if isinstance(known, Facts):
            yield _facts_file(one.address), data.known(known)
    for address, facts in pages.looks.items():
        yield _facts_file(address), data.known(facts)


def _claims_files(address: str) -> tuple[str, str]:
    stem = address.removesuffix(".md")
    return f"{stem}.csv", f"{stem}.json"


def _csv_file(address: str) -> str:
    return f"{address.removesuffix('.md')}/quantities.csv"


def _facts_file(address: str) -> str:
    return f"{address.removesuffix('.md')}.facts.json"


def _lines(text: str) -> Markup:
    """Preformatted text of several lines on one line of the page's source."""
    return Markup("&#10;").join(escape(line) for line in text.splitlines())


def _heading(text: str) -> Markup:
    return Markup(heading(text))  # noqa: S704 - for YAML, between quotes; `heading` leaves none in


def _tidy(text: str) -> str:
    """The page without trailing spaces and with one blank line where there were several."""
    stripped = "\n".join(line.rstrip() for line in text.splitlines())
    return re.sub(r"\n{3,}", "\n\n", stripped).strip() + "\n"
