"""What must not be published: the names of this machine, its user and its folders, replaced in any text or trace."""

from __future__ import annotations

import contextlib
import getpass
import json
import re
import socket
from collections.abc import Mapping
from pathlib import Path

_COMMON = {"root", "user", "admin", "nobody", "ubuntu", "localhost"}

# A private word starts after anything that cannot belong to it, after an escape (of JSON, or a colour in a
# terminal's text) or after a compiler's flag, but never after `::`, where it is the name of an operator.
_START = r"(?:(?<![\w.-])(?<!::)|(?<=\\[bfnrt])|(?<=\\u[0-9A-Fa-f]{4})|(?<=[\d\[]m)|(?<=\s-[A-Za-z]))"
_END = r"(?![\w-])"


def replacements(*folders: Path) -> dict[str, str]:
    """What to replace by what on this machine: the given folders, home, host and user, longest first."""
    paths = {str(spelling): "<workspace>" for folder in folders for spelling in (folder.absolute(), folder.resolve())}
    with contextlib.suppress(RuntimeError):  # neither HOME nor an account
        home = Path.home()
        paths |= {str(home): "~", str(home.resolve()): "~"}
    paths.pop("/", None)
    host = socket.gethostname()
    names = dict.fromkeys((host, host.partition(".")[0], socket.getfqdn()), "<host>")
    with contextlib.suppress(KeyError, OSError):
        user = getpass.getuser()
        names |= {user: "<user>", f"torchinductor_{user}": "torchinductor_<user>"}  # the compiler's cache folder
    found = {spelling: instead for word, instead in paths.items() for spelling in _spellings(word)}
    found |= {name: instead for name, instead in names.items() if len(name) > 2 and name not in _COMMON}
    return dict(sorted(found.items(), key=lambda item: -len(item[0])))


def scrub(text: str, private: Mapping[str, str]) -> str:
    """`text` with every private word replaced, where it stands as a whole word or as the start of a path.

    The text may be JSON. What replaces a word is not searched again.
    """
    present = sorted((word for word in private if word in text), key=len, reverse=True)
    if not present:
        return text
    words = "|".join(map(re.escape, present))
    return re.sub(f"{_START}({words}){_END}", lambda found: private[found[1]], text)


def _spellings(path: str) -> set[str]:
    """A path as it is, and as JSON writers spell it."""
    return {path, path.replace("/", r"\/"), json.dumps(path)[1:-1]}
