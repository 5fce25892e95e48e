"""What must not be published: the names of this machine, its user and its folders, replaced in any text or trace."""

from __future__ import annotations

import contextlib
import getpass
import re
import socket
from collections.abc import Mapping
from pathlib import Path

_COMMON = {"root", "user", "admin", "nobody", "ubuntu", "localhost"}


def replacements(*folders: Path) -> dict[str, str]:
    """What to replace by what on this machine: the given folders, home, host and user, longest first."""
    found = {str(folder.resolve()): "<workspace>" for folder in folders}
    found[str(Path.home())] = "~"
    names = {socket.gethostname(): "<host>", socket.getfqdn(): "<host>"}
    with contextlib.suppress(KeyError, OSError):
        names[getpass.getuser()] = "<user>"
    found |= {name: word for name, word in names.items() if len(name) > 2 and name not in _COMMON}
    found.pop("/", None)
    return dict(sorted(found.items(), key=lambda item: -len(item[0])))


def scrub(text: str, private: Mapping[str, str]) -> str:
    """`text` with every private word replaced, where it stands as a whole word or as the start of a path."""
    for word, instead in private.items():
        text = re.sub(rf"(?<![\w.-]){re.escape(word)}(?![\w-])", instead.replace("\\", r"\\"), text)
    return text
