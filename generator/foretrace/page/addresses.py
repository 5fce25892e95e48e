"""Where a page or a recorded file is, relative to the site's source folder."""

from __future__ import annotations

REPORTS = "reports"
FRONT = f"{REPORTS}/index.md"
CLAIMS = f"{REPORTS}/claims.md"
DEFINITIONS = f"{REPORTS}/definitions.md"
GLOSSARY = f"{REPORTS}/kernel-names.md"

TRACES = f"{REPORTS}/traces"

_TAKEN = {
    "traces",
    "index",
    "readme",
    "claims",
    "definitions",
    "kernel-names",
}  # by generated pages, or by names that a site builder reads as `index`


def scenario(slug: str) -> str:
    """A scenario's page: `matmul_add` is at `reports/matmul-add.md`."""
    return f"{REPORTS}/{_free(slug.replace('_', '-'))}.md"


def variant(slug: str, name: str) -> str:
    """A variant's page, in a folder named like the scenario's page."""
    return f"{scenario(slug).removesuffix('.md')}/{_free(name)}.md"


def picture(slug: str, name: str) -> str:
    """Where an image of a scenario is, without `-light.svg` and `-dark.svg`."""
    return f"{scenario(slug).removesuffix('.md')}/images/{name}"


def report(name: str) -> str:
    """The page of a report on traces that came along; a name is a slug, and in a folder of its own."""
    return f"{TRACES}/{_free(name)}.md"


def rank(name: str, number: int) -> str:
    """The page of one of several ranks of a report."""
    return f"{report(name).removesuffix('.md')}/rank-{number}.md"


def beside(page: str, name: str) -> str:
    """Where an image of a page is, without `-light.svg` and `-dark.svg`."""
    return f"{page.removesuffix('.md')}/images/{name}"


def kept(name: str, *path: str) -> str:
    """A file of a report's dossier."""
    return "/".join(("traces", name, *path))


def recorded(run: str, *path: str) -> str:
    """A file of a run's record."""
    return "/".join(("runs", run, *path))


def _free(name: str) -> str:
    return f"{name}-page" if name.casefold() in _TAKEN else name
