"""The rule of the house: imports run down only, torch stays where work is launched, and every module has its floor."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).parents[1]
PACKAGE = HERE / "generator" / "foretrace"
CONTRACTS = tomllib.loads((HERE / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]


def test_every_module_is_given_a_floor_and_every_floor_exists() -> None:
    (layers,) = (contract["layers"] for contract in CONTRACTS if contract["type"] == "layers")
    floors = [module.strip("() ") for layer in layers for module in layer.split("|")]
    rooms = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()} - {
        "__init__"
    }
    assert sorted(floors) == sorted(rooms)


def lint(root: Path) -> subprocess.CompletedProcess[str]:
    """What import-linter says of the checkout in `root`."""
    code = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root / "generator")},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_every_contract_is_kept() -> None:
    done = lint(HERE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"Contracts: {len(CONTRACTS)} kept, 0 broken." in done.stdout


@pytest.mark.parametrize(
    ("module", "statement"),
    [
        ("generator/foretrace/units.py", "from foretrace import prediction"),
        ("generator/foretrace/kineto/source.py", "def f():\n    import foretrace.cli"),
        ("generator/foretrace/record.py", "import torch"),
        ("generator/foretrace/prediction/basis.py", "import jinja2"),
        ("generator/foretrace/study.py", "import scenarios.matmul_add.scenario"),
        ("generator/foretrace/utils.py", "import json"),
    ],
)
def test_a_breach_of_the_rule_is_found(tmp_path: Path, module: str, statement: str) -> None:
    for part in ("generator", "scenarios"):
        shutil.copytree(HERE / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(HERE / "pyproject.toml", tmp_path)
    with (tmp_path / module).open("a") as file:
        file.write(f"\n\n{statement}\n")
    done = lint(tmp_path)
    assert done.returncode == 1
    assert f"Contracts: {len(CONTRACTS) - 1} kept, 1 broken." in done.stdout
