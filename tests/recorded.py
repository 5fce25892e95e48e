"""A project on disk with one recorded run, small and complete: mkdocs.yml, authored pages, a record with traces."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import builders
import studies

from foretrace import record, study
from foretrace.files import sha256
from foretrace.project import Project
from foretrace.record import Failure, Outcome, Round
from foretrace.scenario import Sealed
from foretrace.study import Study

ROOT = Path(__file__).parent.parent
DECLARATION = "# the declaration as it was sealed\n"


def project(root: Path) -> Project:
    """A project with the real site's configuration and authored pages, and no run yet."""
    shutil.copy(ROOT / "mkdocs.yml", root)
    for part in ("index.md", "assets", "guide"):
        source, target = ROOT / "docs" / part, root / "docs" / part
        target.parent.mkdir(exist_ok=True)
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    folder = root / "scenarios" / "matmul_add"
    folder.mkdir(parents=True)
    (folder / "scenario.py").write_text(DECLARATION)
    return Project(root)


def run(project: Project) -> Study:
    """Record a run whose kernels have hostile names, and read it back."""
    sealed = Sealed(
        slug="matmul_add",
        scenario=studies.SCENARIO,
        seal=studies.SEALED.seal,
        source_sha256=sha256(DECLARATION.encode()),
    )
    folder = record.create(project.runs, studies.run(), {"matmul_add": sealed})
    for variant in studies.SCENARIO.planned():
        failed = variant.params["size"] == 8192
        outcome = Outcome(
            variant=variant,
            failure=Failure(reason="crashed", message="the process ended with signal 11") if failed else None,
            rounds=() if failed else (_round(),),
        )
        record.write_outcome(folder, "matmul_add", outcome, None if failed else _trace())
    return study.read(record.load(folder))


def _round() -> Round:
    samples = {"step_us": studies.around(60.0), "dispatch_us": studies.around(50.0)}
    return Round(started_utc="2026-11-30T10:25:00Z", samples=samples)


def _trace() -> bytes:
    """Three steps of an operator that launches two kernels each."""
    names = [*studies.HOSTILE, studies.GEMM]
    events = []
    for number in range(3):
        start = 100 * number
        events += [
            builders.step(number, at=start, us=90),
            builders.annotation("matmul_add", at=start + 1, us=80),
            builders.op(studies.HOSTILE[number], at=start + 5, us=60),
        ]
        for place, name in enumerate(names):
            correlation = 1000 * number + place + 1
            events += [
                builders.launch(at=start + 6 + 2 * place, us=1, correlation=correlation),
                builders.kernel(name, at=start + 20 + 2 * place, us=1.5, correlation=correlation),
            ]
    return gzip.compress(json.dumps(builders.document(*events)).encode(), mtime=0)
