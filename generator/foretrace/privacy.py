"""What must not be published: the names of this machine, its user and its folders, replaced in any text or trace."""

from __future__ import annotations

import contextlib
import getpass
import json
import re
import socket
from collections.abc import Mapping
from pathlib import Path

_COMMON = {
    *("root", "user", "admin", "nobody", "ubuntu", "localhost"),
    *(
        "kernel",
        "overhead",
        "operator",
        "runtime",
        "memcpy",
        "memset",
        "trace",
        "stream",
        "device",
        "process",
        "thread",
    ),
    *("python", "torch", "cuda", "nccl", "triton", "name", "args", "grid", "block", "step", "schema", "true", "false"),
    *("null", "work", "workspace", "project", "data", "model", "train", "home", "docs", "traces", "report"),
    *("public", "shared", "runner"),
}  # tell nothing of a user or a host, or are words of the traces themselves

# What a trace tells of the machine that it came from. Each pattern starts with plain letters, which are found fast.
_HOST = re.compile(r'(?P<key>"host_?name"\s*:\s*)"(?P<host>(?:[^"\\]|\\.)*)"')  # as torch 2.13 and later write it
_HOME = re.compile(
    r"home(?<=/home)/(?P<linux>[^\s/\\\"':;,()<>]{1,60})"
    r"|Users(?:(?<=/Users)/|(?<=[\\/]Users)\\{1,2})(?P<other>[^/\\\"':;\n]{1,60})"
)
_FOLDERS = re.compile(
    r"/(?:(?<![\w.~>@\\/-]/)|(?<=-[A-Z]/)(?<!\w-[A-Z]/)|(?<=file:///))"  # at a word's start, or after a flag as `-I`
    r"(?:[^\s/\\\"'`:,;()<>|*?={}\[\]]+/)+[^\s/\\\"'`:,;()<>|*?={}\[\]]*"
)
_DRIVE = re.compile(
    r":(?<=[A-Za-z]:)(?<![A-Za-z0-9][A-Za-z]:)[\\/]{1,2}(?:[^/\\\"':;,()<>|*?\n]+[\\/]{1,2})+[^\s/\\\"':;,()<>|*?]*"
)
_ESCAPED_SLASH = re.compile(r"(?<!\\)((?:\\\\)*)\\/")
_SEPARATORS = re.compile(r"[\\/]+")
_PUBLIC = (
    *("/usr/", "/lib/", "/lib64/", "/bin/", "/proc/", "/sys/", "/dev/", "/etc/", "/nix/", "/tmp/"),  # noqa: S108 - texts
    *("/opt/conda/", "/opt/rocm/", "/opt/venv/"),
)  # the same on many machines
_PACKAGES = re.compile(r"(?:site-packages|dist-packages|lib/python\d[\d.]*)/")
_HANDLER = re.compile(r"^.+(?=_\d+\.\d+\.pt\.trace\.json)")  # <host>_<pid>.<ns>, as tensorboard_trace_handler names it

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


def told(text: str) -> dict[str, str]:
    """What to replace by what according to a trace's own text: the hosts and users that it names."""
    hosts = {match["host"] for match in _HOST.finditer(text)}
    users = {match["linux"] or match["other"] for match in _HOME.finditer(text)}
    found = {name: "<host>" for host in hosts for name in (host, host.partition(".")[0]) if _telling(name)}
    for user in filter(_telling, users):
        found |= {user: "<user>", f"torchinductor_{user}": "torchinductor_<user>"}
    return found


def publishable(text: str, private: Mapping[str, str]) -> str:
    """A trace's text, wherever it was recorded, without its hosts, users, homes and the folders that programs lie in.

    Args:
        text: JSON, whole or cut between two of its objects.
        private: what is known to be private, from `replacements` and `told`.
    """
    if r"\/" in text:
        text = _ESCAPED_SLASH.sub(r"\1/", text)
    folders = {word: instead for word, instead in private.items() if "/" in word}
    text = scrub(_HOST.sub(r'\g<key>"<host>"', text), folders)
    if ":\\" in text:
        text = _DRIVE.sub(lambda found: f":{_shortened(_SEPARATORS.sub('/', found[0][1:]))}", text)
    text = _FOLDERS.sub(lambda found: _shortened(found[0]), text)
    return scrub(text, private)


def publishable_name(name: str, private: Mapping[str, str]) -> str:
    """A file's name, or another word of a command line, fit to be published; here `_` ends a private word, too."""
    folder, slash, last = name.rpartition("/")
    words = _HANDLER.sub("<host>", last).split("_")
    return publishable(folder + slash + "_".join(scrub(word, private) for word in words), private)


def _telling(name: str) -> bool:
    return len(name) > 2 and name.casefold() not in _COMMON


def _shortened(path: str) -> str:
    """A path without the folders that lead to its file, unless they are the same everywhere."""
    if path.startswith(_PUBLIC):
        return path
    if package := _PACKAGES.search(path):
        return f"<workspace>/{path[package.start() :]}"
    home = path.startswith(("/home/", "/Users/", "/root/"))
    return f"{'~' if home else '<workspace>'}/{path.rpartition('/')[2]}"


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
