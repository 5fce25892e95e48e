"""What a command waits for: a declaration is read without torch, and without the tools that draw and write pages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"torch", "matplotlib", "jinja2", "mkdocs", "click", "rich", "hypothesis"}
HERE = Path(__file__).parents[1]


def loaded(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after `code`."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"],
        check=True,
        capture_output=True,
        text=True,
        cwd=HERE,
    )
    return {name.partition(".")[0] for name in done.stdout.split()}


LOAD_ALL = """
from pathlib import Path
from foretrace.project import Project
project = Project(Path())
assert [project.load(slug) for slug in project.slugs()]
"""


@pytest.mark.parametrize(
    "code",
    [
        "import foretrace",
        "import foretrace.predict, foretrace.scenario",
        "import foretrace.record, foretrace.project",
        LOAD_ALL,
    ],
)
def test_a_declaration_is_read_without_anything_heavy(code: str) -> None:
    assert loaded(code) & HEAVY == set()


def test_the_measure_of_this_test_sees_what_is_loaded() -> None:
    assert "jinja2" in loaded("import jinja2.sandbox")
