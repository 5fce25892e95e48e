"""Where the measured code came from: a commit, and an honest word on whether the tree was that commit."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from foretrace.provenance import commit

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Git with an author of its own, without this machine's settings, and blind to repositories above."""
    for name in ("FORETRACE_COMMIT", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    settings = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CEILING_DIRECTORIES": str(tmp_path)}
    for who in ("AUTHOR", "COMMITTER"):
        settings |= {f"GIT_{who}_NAME": "A. Author", f"GIT_{who}_EMAIL": "author@example.org"}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A clean checkout with one commit."""
    root = tmp_path / "checkout"
    (root / "docs" / "runs").mkdir(parents=True)
    (root / "code.py").write_text("one\n")
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "first")
    return root


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_a_clean_checkout_is_its_commit(checkout: Path) -> None:
    assert commit(checkout) == (git(checkout, "rev-parse", "HEAD"), False)


@pytest.mark.parametrize("name", ["code.py", "new.py", "docs/page.md"])
def test_a_changed_or_an_added_file_makes_it_dirty(checkout: Path, name: str) -> None:
    (checkout / name).write_text("two\n")
    assert commit(checkout) == (git(checkout, "rev-parse", "HEAD"), True)


def test_a_staged_change_makes_it_dirty(checkout: Path) -> None:
    (checkout / "code.py").write_text("two\n")
    git(checkout, "add", ".")
    assert commit(checkout)[1] is True


def test_a_recorded_run_does_not_make_it_dirty(checkout: Path) -> None:
    (checkout / "docs" / "runs" / "one").mkdir()
    (checkout / "docs" / "runs" / "one" / "run.json").write_text("{}")
    assert commit(checkout)[1] is False


def test_what_git_ignores_does_not_make_it_dirty(checkout: Path) -> None:
    (checkout / ".git" / "info" / "exclude").write_text("site/\n")
    (checkout / "site").mkdir()
    (checkout / "site" / "index.html").write_text("x")
    assert commit(checkout)[1] is False


@pytest.mark.parametrize("state", ["no repository", "no commit", "no git", "broken", "no folder"])
def test_where_nobody_can_tell_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str) -> None:
    root = tmp_path / "root"
    if state != "no folder":
        root.mkdir()
    if state == "no commit":
        git(root, "init", "--quiet")
    if state == "no git":
        monkeypatch.setenv("PATH", str(tmp_path))
    if state == "broken":
        (root / ".git").write_text("gitdir: nowhere")
    assert commit(root) == ("", None)


def test_a_tree_that_cannot_be_compared_is_not_called_clean(checkout: Path) -> None:
    head = git(checkout, "rev-parse", "HEAD")
    (checkout / ".git" / "index").write_bytes(b"rubbish")
    assert commit(checkout) == (head, None)


@pytest.mark.parametrize(
    ("told", "found"),
    [("abc123", ("abc123", False)), ("abc123-dirty", ("abc123", True)), (" abc123\n", ("abc123", False))],
)
def test_the_environment_speaks_for_a_copy_without_a_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str, found: tuple[str, bool]
) -> None:
    monkeypatch.setenv("FORETRACE_COMMIT", told)
    assert commit(tmp_path) == found


def test_the_environment_speaks_louder_than_the_repository(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORETRACE_COMMIT", "abc123")
    assert commit(checkout) == ("abc123", False)
    monkeypatch.setenv("FORETRACE_COMMIT", "")
    assert commit(checkout)[0] == git(checkout, "rev-parse", "HEAD")


def test_the_repository_is_left_as_it_was(checkout: Path) -> None:
    index = checkout / ".git" / "index"
    os.utime(checkout / "code.py", (10**9, 10**9))  # git would note the new time in its index
    before = index.read_bytes()
    commit(checkout)
    assert index.read_bytes() == before
