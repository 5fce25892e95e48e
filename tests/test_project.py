"""The author's folder: where it is found, which scenarios are in it, and what is said about a broken declaration."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import pytest

from foretrace.errors import UnreadableInput, WrongUsage
from foretrace.project import Project, find

HERE = Path(__file__).parents[1]
SUMS = '''"""Sums."""

from foretrace import Protocol, Scenario, grid, predict

scenario = Scenario(
    title="Sums",
    question="How long?",
    variants=grid(n=(1, 2)),
    predictions=(predict.within("step_us", (1, 3), because="it is small"),),
)
'''


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "mkdocs.yml").write_text("site_name: x\n")
    return Project(tmp_path)


def declare(project: Project, source: str | bytes, slug: str = "sums") -> Path:
    """Write a declaration and say where it is."""
    path = project.scenarios / slug / "scenario.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(source.encode() if isinstance(source, str) else source)
    return path


def refusal(project: Project, slug: str = "sums") -> str:
    with pytest.raises(WrongUsage) as caught:
        project.load(slug)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_project_is_found_from_any_folder_in_it(project: Project) -> None:
    deep = project.scenarios / "sums"
    deep.mkdir(parents=True)
    assert find(project.root) == find(deep) == find(deep / "scenario.py") == Project(project.root.resolve())


def test_the_nearest_project_wins(project: Project) -> None:
    inner = project.root / "inner"
    inner.mkdir()
    (inner / "mkdocs.yml").write_text("site_name: y\n")
    assert find(inner).root == inner.resolve()


def test_outside_a_project_the_user_hears_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match=r"no mkdocs.yml here or in a folder above; change into a project") as caught:
        find(tmp_path)
    assert str(tmp_path) in str(caught.value)


def test_a_project_has_its_folders(project: Project) -> None:
    root = project.root
    assert (project.scenarios, project.docs) == (root / "scenarios", root / "docs")
    assert (project.runs, project.reports) == (root / "docs" / "runs", root / "docs" / "reports")


def test_hidden_folders_templates_and_folders_without_a_declaration_are_no_scenarios(project: Project) -> None:
    assert project.slugs() == ()
    for slug in ("zeta", "alpha", "_template", ".hidden", "__pycache__"):
        declare(project, SUMS, slug)
    (project.scenarios / "empty").mkdir()
    (project.scenarios / "__init__.py").touch()
    assert project.slugs() == ("alpha", "zeta")


def test_a_declaration_is_sealed_as_it_stands(project: Project) -> None:
    path = declare(project, SUMS)
    found = project.load("sums")
    assert (found.slug, found.scenario.title) == ("sums", "Sums")
    assert found.seal == found.scenario.seal()
    assert found.source_sha256 == project.source_sha256("sums") == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_comment_changes_the_source_and_not_the_seal(project: Project) -> None:
    declare(project, SUMS)
    before = project.load("sums")
    declare(project, SUMS + "# a remark\n")
    after = project.load("sums")
    assert after.seal == before.seal
    assert after.source_sha256 != before.source_sha256


def test_a_changed_prediction_is_seen_even_within_the_same_second(project: Project) -> None:
    path = declare(project, SUMS)
    before, time = project.load("sums"), path.stat()
    declare(project, SUMS.replace("(1, 3)", "(1, 4)"))
    os.utime(path, ns=(time.st_atime_ns, time.st_mtime_ns))
    assert project.load("sums").seal != before.seal


def test_loading_leaves_nothing_behind(project: Project) -> None:
    path = declare(project, SUMS)
    modules = set(sys.modules)
    project.load("sums")
    assert list(path.parent.iterdir()) == [path]
    assert set(sys.modules) == modules


def test_without_a_scenario_its_source_and_prose_are_empty(project: Project) -> None:
    assert (project.source_sha256("gone"), project.prose("gone")) == ("", "")


def test_the_prose_is_read_as_the_author_wrote_it(project: Project) -> None:
    path = declare(project, SUMS).with_name("page.md.j2")
    path.write_text("Größer als {{ x }}\n", encoding="utf-8")
    assert project.prose("sums") == "Größer als {{ x }}\n"
    path.write_bytes("Größer".encode("latin-1"))
    with pytest.raises(UnreadableInput, match=r"page\.md\.j2: is not UTF-8 at byte 2"):
        project.prose("sums")


def test_an_unknown_scenario_is_refused_with_those_that_are_known(project: Project) -> None:
    assert refusal(project, "smus") == "smus: there is no such scenario; known here: none."
    declare(project, SUMS)
    assert refusal(project, "smus") == "smus: there is no such scenario; known here: sums."


@pytest.mark.parametrize("slug", ["matmul-add", "2d", "größe", "a b"])
def test_a_folder_name_must_be_an_identifier(project: Project, slug: str) -> None:
    declare(project, SUMS, slug)
    assert refusal(project, slug) == f"{slug}: a scenario's folder name must be an ASCII identifier; rename it."


@pytest.mark.parametrize(
    ("source", "line", "what"),
    [
        ("x = 1\ny = (\n", 2, "SyntaxError: '(' was never closed"),
        ("\n\nx = 1 / 0\n", 3, "ZeroDivisionError: division by zero"),
        ("def f():\n    return {}['k']\n\nf()\n", 2, "KeyError: 'k'"),
        ("import no_such_module_here\n", 1, "ModuleNotFoundError: No module named 'no_such_module_here'"),
        ("import json\n\njson.loads('{')\n", 3, "JSONDecodeError: "),
        ("from foretrace import predict\n\npredict.within('speed', (1, 2))\n", 3, "speed: no such quantity"),
        (
            "from foretrace import Scenario\nScenario(title='t', question='q', variants=())\n",
            2,
            "t: there is no variant",
        ),
        ("x = '\xe9'".encode("latin-1"), 1, "SyntaxError: "),
        ("raise ValueError('one\\ntwo')", 1, "ValueError: one two"),
        ("import sys\n\nsys.exit(3)\n", 3, "SystemExit: 3"),
    ],
)
def test_a_broken_declaration_is_named_with_its_line(
    project: Project, source: str | bytes, line: int, what: str
) -> None:
    path = declare(project, source)
    assert refusal(project).startswith(f"{path}, line {line}: {what}")


@pytest.mark.parametrize("source", ["", "scenario = None\n", "Scenario = 1\n"])
def test_a_file_without_a_scenario_says_what_it_should_declare(project: Project, source: str) -> None:
    path = declare(project, source)
    assert refusal(project) == f"{path}: declares no `scenario = Scenario(…)`; see scenarios/_template."


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("n=(1, 2)", "n=(None, 2)", "variants[0].params"),
        ("n=(1, 2)", "n=(object(),)", "type object is unsupported"),
        ('predict.within("step_us", (1, 3),', 'predict.bound("overhed",', "predictions[0].limiter"),
        ('"How long?"', "5", "$.question"),
        ('predict.within("step_us", (1, 3), because="it is small")', "1", "predictions[0]"),
        ("n=(1, 2)", "n=1, protocol=Protocol(active=0)", "variants[0].protocol.active"),
    ],
)
def test_what_no_record_could_hold_is_refused_before_it_is_measured(
    project: Project, old: str, new: str, what: str
) -> None:
    path = declare(project, SUMS.replace(old, new))
    said = refusal(project)
    assert said.startswith(f"{path}: cannot be written down: ")
    assert what in said


def test_a_prediction_without_a_reason_is_refused(project: Project) -> None:
    path = declare(project, SUMS.replace('because="it is small"', ""))
    assert refusal(project) == (
        f"{path}: Step time 1.00 … 3.00 µs: a prediction gives no reason; say why you expect it in `because`."
    )


@pytest.mark.parametrize(
    "prediction",
    [
        'predict.within("step_us", (1, 3), where={"nn": 1}, because="b")',
        'predict.order("step_us", parameter="n", growing=(3, 4), because="b")',
        'predict.all_of(predict.count("kernel", 1), predict.count("kernel", 1, where={"n": 3}), because="b")',
    ],
)
def test_a_prediction_about_no_variant_is_refused(project: Project, prediction: str) -> None:
    declare(project, SUMS.replace('predict.within("step_us", (1, 3), because="it is small")', prediction))
    assert refusal(project).endswith("no variant fits this prediction; mend its `where`, or the grid.")


@pytest.mark.parametrize("slug", ["../sums", "x" * 300])
def test_a_name_that_is_no_folder_of_the_project_is_no_scenario(project: Project, slug: str) -> None:
    declare(project, SUMS)
    assert refusal(project, slug) == f"{slug}: there is no such scenario; known here: sums."


@pytest.mark.parametrize("slug", [*Project(HERE).slugs(), "_template"])
def test_every_scenario_of_this_repository_can_be_measured_and_predicts_something(slug: str) -> None:
    found = Project(HERE).load(slug)
    assert found.scenario.predictions
    assert (HERE / "scenarios" / slug / "workload.py").exists()


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ('PRELOAD = ("numpy", "a.b")\n', ("numpy", "a.b")),
        ("import torch\n", ()),
        ("PRELOAD = names()\n", ()),
        ("PRELOAD = (1, 2)\n", ()),
        ("def build(:\n", ()),
    ],
)
def test_a_workload_names_what_is_to_be_imported_once(project: Project, source: str, named: tuple[str, ...]) -> None:
    path = declare(project, SUMS)
    assert project.preloads("sums") == ()
    path.with_name("workload.py").write_text(source)
    assert project.preloads("sums") == named
