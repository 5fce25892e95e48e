"""The folder a user works in: `mkdocs.yml`, `docs/` and `scenarios/`, and the declarations found there.

Loading a declaration runs the author's `scenario.py`; only measuring does that. Reports are built from what was sealed.
"""

from __future__ import annotations

import ast
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import msgspec

from foretrace.errors import ForetraceError, UnreadableInput, WrongUsage
from foretrace.files import sha256
from foretrace.prediction import Unmeasured, judge
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
    def traces(self) -> Path:
        """Where traces are kept that came along without a scenario."""
        return self.docs / "traces"

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
        return sha256(_read(path)) if path.exists() else ""

    def preloads(self, slug: str) -> tuple[str, ...]:
        """The modules that a workload names in its literal `PRELOAD`; none where it has none, or cannot be read."""
        path = self.scenarios / slug / "workload.py"
        try:
            tree = ast.parse(path.read_bytes())
            (value,) = (
                ast.literal_eval(node.value)
                for node in tree.body
                if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["PRELOAD"]
            )
            return msgspec.convert(value, tuple[str, ...])
        except (OSError, SyntaxError, ValueError):
            return ()

    def prose(self, slug: str) -> str:
        """The author's page template for a scenario; "" where there is none."""
        path = self.scenarios / slug / "page.md.j2"
        try:
            return _read(path).decode() if path.exists() else ""
        except UnicodeDecodeError as error:
            raise UnreadableInput(f"is not UTF-8 at byte {error.start}", where=str(path), remedy="convert it") from None

    def load(self, slug: str) -> Sealed:
        """Run a scenario's declaration and seal it; `WrongUsage` says what is wrong with it and in which line."""
        path = self.scenarios / slug / "scenario.py"
        if path not in self.scenarios.glob("*/scenario.py"):
            known = ", ".join(self.slugs()) or "none"
            raise WrongUsage("there is no such scenario", where=slug, remedy=f"known here: {known}")
        if not (slug.isidentifier() and slug.isascii()):
            raise WrongUsage("a scenario's folder name must be an ASCII identifier", where=slug, remedy="rename it")
        source = _read(path)
        scenario = _as_recorded(_execute(source, path), path)
        return Sealed(
            slug=slug,
            scenario=scenario,
            seal=scenario.seal(),
            source_sha256=sha256(source),
            workload_sha256=_digest(path.with_name("workload.py")),
        )


def _digest(path: Path) -> str:
    return sha256(_read(path)) if path.exists() else ""


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


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnreadableInput(f"cannot be read ({error.strerror})", where=str(path)) from error


def _execute(source: bytes, path: Path) -> Scenario:
    """Run these very bytes, whose digest is recorded; an import could take an outdated `.pyc` for them."""
    module = ModuleType(f"scenarios.{path.parent.name}.scenario")
    module.__file__ = str(path)
    try:
        exec(compile(source, str(path), "exec"), module.__dict__)  # noqa: S102 - the author's declaration is code
    except ForetraceError as error:
        where = f"{path}, line {_line(error, path)}"
        raise WrongUsage(
            error.what, where=f"{where}: {error.where}" if error.where else where, remedy=error.remedy
        ) from error
    except (Exception, SystemExit) as error:  # whatever the author's code does, it is the author who must hear of it
        raise WrongUsage(
            f"{type(error).__name__}: {error}",
            where=f"{path}, line {_line(error, path)}",
            remedy="mend the declaration",
        ) from error
    scenario = getattr(module, "scenario", None)
    if not isinstance(scenario, Scenario):
        raise WrongUsage("declares no `scenario = Scenario(…)`", where=str(path), remedy="see scenarios/_template")
    return scenario


def _line(error: BaseException, path: Path) -> int:
    """The last line of the declaration that was running, or that could not be parsed."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return (lines[-1] if lines else getattr(error, "lineno", None)) or 1


def _as_recorded(scenario: Scenario, path: Path) -> Scenario:
    """The declaration as a later reader of the record will get it; refused where it would not be readable."""
    try:
        recorded = msgspec.json.decode(msgspec.json.encode(scenario), type=Scenario)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise WrongUsage(
            f"cannot be written down: {error}", where=str(path), remedy="use text, numbers and the words of `predict`"
        ) from error
    nothing = {variant.name: Unmeasured(params=variant.params, reason="") for variant in recorded.variants}
    for expected in recorded.predictions:
        where = f"{path}: {expected.describe()}"
        if not expected.because:
            raise WrongUsage("a prediction gives no reason", where=where, remedy="say why you expect it in `because`")
        if not all(finding.about for finding in judge(expected, nothing).findings):
            raise WrongUsage("no variant fits this prediction", where=where, remedy="mend its `where`, or the grid")
    return recorded
