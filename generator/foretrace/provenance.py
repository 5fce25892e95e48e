"""Where the code came from: the commit of the checkout and whether the tree differs from it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def commit(root: Path) -> tuple[str, bool | None]:
    """The commit of `root` and whether the tree is dirty; ("", None) where neither git nor the environment tells.

    `FORETRACE_COMMIT` (a hash, with `-dirty` behind it where that is so) speaks for a copy without `.git`, such as a
    container image. Recorded runs and kept traces do not count as a change.
    """
    told = os.environ.get("FORETRACE_COMMIT", "").strip()
    if told:
        return told.removesuffix("-dirty"), told.endswith("-dirty")
    head = _git(root, "rev-parse", "HEAD")
    if head is None:
        return "", None
    kept = (":(exclude)docs/runs", ":(exclude)docs/traces")
    changed = _git(root, "status", "--porcelain", "--untracked-files=normal", "--", ".", *kept)
    return head.strip(), None if changed is None else bool(changed.strip())


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "-C", str(root), *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
