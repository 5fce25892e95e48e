"""Where a page or a recorded file is, relative to the site's source folder."""

from __future__ import annotations

REPORTS = "reports"
FRONT = f"{REPORTS}/index.md"
CLAIMS = f"{REPORTS}/claims.md"
DEFINITIONS = f"{REPORTS}/definitions.md"
GLOSSARY = f"{REPORTS}/kernel-names.md"

_TAKEN = {
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


def recorded(run: str, *path: str) -> str:
    """A file of a run's record."""
    return "/".join(("runs", run, *path))


def _free(name: str) -> str:
    return f"{name}-page" if name.casefold() in _TAKEN else name
