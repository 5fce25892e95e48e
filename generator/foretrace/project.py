"""The folder a user works in: `mkdocs.yml`, `docs/` and `scenarios/`, and the declarations found there.

Loading a declaration runs the author's `scenario.py`; only measuring does that. Reports are built from what was sealed.
"""

from __future__ import annotations

import importlib.util
import traceback
from dataclasses import dataclass
from pathlib import Path

from foretrace.errors import ForetraceError, WrongUsage
from foretrace.files import sha256
from foretrace.prediction import seal
from foretrace.scenario import Scenario, Sealed


@dataclass(frozen=True)
class Project:
    """Paths of one project."""

    root: Path

    @property
    def scenarios(self) -> Path:
        """Where the experiments are."""
        return self.root / "scenarios"

    @property
    def docs(self) -> Path:
        """The site's source."""
        return self.root / "docs"

    @property
    def runs(self) -> Path:
        """Where the records are."""
        return self.docs / "runs"

    @property
    def reports(self) -> Path:
        """Where generated pages go."""
        return self.docs / "reports"

    def slugs(self) -> tuple[str, ...]:
        """Every scenario's folder name, in order; names that start with `_` are templates."""
        return tuple(path.parent.name for path in sorted(self.scenarios.glob("[!_.]*/scenario.py")))

    def source_sha256(self, slug: str) -> str:
        """The digest of a scenario's declaration as it is now; "" where it is gone."""
        path = self.scenarios / slug / "scenario.py"
        return sha256(path.read_bytes()) if path.exists() else ""

    def prose(self, slug: str) -> str:
        """The author's page template for a scenario; "" where there is none."""
        path = self.scenarios / slug / "page.md.j2"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def load(self, slug: str) -> Sealed:
        """Run a scenario's declaration and seal it; `WrongUsage` says what is wrong with it and in which line."""
        path = self.scenarios / slug / "scenario.py"
        if not path.exists():
            known = ", ".join(self.slugs()) or "none"
            raise WrongUsage("there is no such scenario", where=slug, remedy=f"known here: {known}")
        if not slug.isidentifier():
            raise WrongUsage("a scenario's folder name must be a Python identifier", where=slug, remedy="rename it")
        scenario = _execute(path)
        return Sealed(
            slug=slug,
            scenario=scenario,
            seal=seal(scenario.predictions, scenario.claims),
            source_sha256=self.source_sha256(slug),
        )


def find(start: Path) -> Project:
    """The project that holds `start`: the nearest folder upwards with a `mkdocs.yml`."""
    for folder in (start.resolve(), *start.resolve().parents):
        if (folder / "mkdocs.yml").exists():
            return Project(folder)
    raise WrongUsage(
        "no mkdocs.yml here or in a folder above",
        where=str(start),
        remedy="change into a project or name one with --project",
    )


def _execute(path: Path) -> Scenario:
    spec = importlib.util.spec_from_file_location(f"scenarios.{path.parent.name}.scenario", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ForetraceError as error:
        raise WrongUsage(
            error.what, where=f"{path}: {error.where}" if error.where else str(path), remedy=error.remedy
        ) from error
    except Exception as error:  # whatever the author's code does, it is the author who must hear of it
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        line = lines[-1] if lines else getattr(error, "lineno", None) or 1
        raise WrongUsage(
            f"{type(error).__name__}: {error}", where=f"{path}, line {line}", remedy="mend the declaration"
        ) from error
    scenario = getattr(module, "scenario", None)
    if not isinstance(scenario, Scenario):
        raise WrongUsage("declares no `scenario = Scenario(…)`", where=str(path), remedy="see scenarios/_template")
    return scenario
