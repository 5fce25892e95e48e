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
    *("root", "user", "admin", "nobody", "ubuntu", "localhost", "host", "git", "cpu", "gpu"),
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


def _member(start: str, rest: str) -> re.Pattern[str]:
    """A member of JSON, also of JSON within a string, whose key starts with `start`; its value is `name`."""
    literal = start.lstrip("[hH]")
    value = r'(?P<name>(?:[^"\\]|\\.)+?)(?=(?P=quote))'
    return re.compile(rf'(?P<key>{literal}(?<="{start}){rest}(?P<quote>\\*")\s*:\s*(?P=quote)){value}')


# What a trace tells of the machine that it came from. Each pattern starts with plain letters, which are found fast.
_HOST = (
    _member("[hH]ost", "(?:_?[Nn]ame)?"),  # `host_name` as torch 2.13 and later write it
    _member("HOST", "(?:_?NAME)?"),
    re.compile(r"(?P<key>=(?:(?<=\bhostname=)|(?<=\bHOSTNAME=)))(?P<name>\w[\w.-]*)"),
    re.compile(r"(?P<key>@(?<=\w@))(?P<name>[A-Za-z0-9][\w.-]*)(?=:[/~])"),  # as `scp` and prompts have it
)
_LOGIN = re.compile(r"(?P<key>)(?<![\w.-])(?P<name>[A-Za-z_][\w.-]*)(?=@[A-Za-z0-9][\w.-]*:[/~])")  # slow: see `_users`
_USER = (
    _member("user", "(?:_?name)?"),
    _member("USER", "(?:NAME)?"),
    _member("LOGNAME", ""),
    re.compile(r"(?P<key>=(?:(?<=\bUSER=)|(?<=\bLOGNAME=)))(?P<name>\w[\w.-]*)"),
)
_BEYOND_ASCII = r"\\u(?!00[0-9])[0-9A-Fa-f]{4}"  # as JSON may spell a letter
_HOME = re.compile(
    rf"home(?<=/home)/(?P<linux>(?:[^\s/\\\"':;,()<>]|{_BEYOND_ASCII}){{1,60}})"
    rf"|Users(?:(?<=/Users)/|(?<=[\\/]Users)\\{{1,2}})(?P<other>(?:[^/\\\"':;\n]|{_BEYOND_ASCII}){{1,60}})"
)
_CACHE = re.compile(r"torchinductor_(?<!\wtorchinductor_)(?P<name>[^\s/\\\"'`:;,()<>]{1,60})")  # the compiler's
_PART = rf"(?:[^\s/\\\"'`:,;()<>|*?={{}}\[\]]|{_BEYOND_ASCII})"
_FOLDERS = re.compile(
    r"/(?:(?<![\w.~>@\\/-]/)|(?<=-[A-Z]/)(?<!\w-[A-Z]/)|(?<=file:///))"  # at a word's start, or after a flag as `-I`
    rf"(?:{_PART}+/)+{_PART}*"
)
_HOMES = re.compile(rf"(?:~(?<![\w/\\.-]~)(?P<name>[A-Za-z_][\w.-]*)?|<workspace>)/(?:{_PART}+/)*{_PART}*")
_BETWEEN = r"(?:\\\\|//?|\\(?![\\\"]))"
_DRIVE = re.compile(
    rf":(?<=[A-Za-z]:)(?<![A-Za-z0-9][A-Za-z]:){_BETWEEN}(?:[^/\\\"':;,()<>|*?\n]+{_BETWEEN})+[^\s/\\\"':;,()<>|*?]*"
)
_SHARE = re.compile(
    r"\\\\\\\\(?<![\w>:\\]\\\\\\\\)(?:[^/\\\"':;,()<>|*?\n]+\\\\)+[^\s/\\\"':;,()<>|*?]*"
)  # \\server\share\… as JSON spells it
_ESCAPED_SLASH = re.compile(r"(?<!\\)((?:\\\\)*)\\/")
_SEPARATORS = re.compile(r"[\\/]+")
_PUBLIC = re.compile(
    r"(?:/usr(?:/local)?/(?:s?bin|include|lib\w*|share|cuda[\w.-]*)|/lib(?:32|64)?|/s?bin|/proc|/sys|/nix/store|/dev/dri"
    r"|/dev/(?:null|nvidia\w*|kfd)|/opt/rocm[\d.-]*|/opt/(?:conda|venv)/(?:bin|include|lib\w*|share))(?:/|$)"
)  # the same on many machines
_PACKAGES = re.compile(r"(?:site-packages|dist-packages|lib/python\d[\d.]*)/")
_FILE = re.compile(
    r"\.(?:py[cdix]?|ipynb|cpp|cc?|cxx|cuh?|h|hpp|inl|cubin|ptx|ll|ttir|ttgir|llir|so(?:\.\d+)*|dll|a|o|json|ya?ml|toml"
    r"|ini|cfg|txt|log|csv|md|html|sh|pth?|bin|onnx|safetensors|engine|gz|zip)$",
    re.IGNORECASE,
)  # how the names of files end; `alice.smith` may be a folder's
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
    hosts = {match["name"] for pattern in _HOST for match in pattern.finditer(text)}
    users = {match["linux"] or match["other"] for match in _HOME.finditer(text)}
    patterns = (*_users(text), _CACHE, _HOMES)
    users |= {match["name"] or "" for pattern in patterns for match in pattern.finditer(text)}
    found = {name: "<host>" for host in hosts for name in (host, host.partition(".")[0]) if _telling(name)}
    for user in (name for told_of in filter(_telling, users) for name in _as_json(told_of)):
        found |= {user: "<user>", f"torchinductor_{user}": "torchinductor_<user>"}
    return found


def nameless(text: str) -> str:
    """A text without the hosts and users that it names as such: by a key, an assignment or a login."""
    for patterns, instead in ((_users(text), "<user>"), (_HOST, "<host>")):
        for pattern in patterns:
            text = pattern.sub(rf"\g<key>{instead}", text)
    return text


def publishable(text: str, private: Mapping[str, str]) -> str:
    """A trace's text, wherever it was recorded, without its hosts, users, homes and the folders that programs lie in.

    Args:
        text: JSON, whole or cut between two of its objects.
        private: what is known to be private, from `replacements` and `told`.
    """
    if r"\/" in text:
        text = _ESCAPED_SLASH.sub(r"\1/", text)
    folders = {word: instead for word, instead in private.items() if "/" in word}
    text = scrub(nameless(text), folders)
    if ":\\" in text:
        text = _DRIVE.sub(lambda found: f":{_shortened(_SEPARATORS.sub('/', found[0][1:]))}", text)
    if "\\\\\\\\" in text:
        text = _SHARE.sub(lambda found: _shortened(_SEPARATORS.sub("/", found[0])), text)
    for pattern in (_FOLDERS, _HOMES):
        text = pattern.sub(lambda found: _shortened(found[0]), text)
    return scrub(_CACHE.sub("torchinductor_<user>", text), private)


def publishable_name(name: str, private: Mapping[str, str]) -> str:
    """A file's name, or another word of a command line, fit to be published; here `_` ends a private word, too."""
    folder, slash, last = name.rpartition("/")
    words = _HANDLER.sub("<host>", last).split("_")
    return publishable(folder + slash + "_".join(scrub(word, private) for word in words), private)


def _users(text: str) -> tuple[re.Pattern[str], ...]:
    """The patterns that find users in a text; that of a login only where a host has one."""
    return (*_USER, _LOGIN) if _HOST[-1].search(text) else _USER


def _telling(name: str) -> bool:
    return len(name) > 2 and name.casefold() not in _COMMON and "<" not in name


def _as_json(name: str) -> set[str]:
    """A name, as JSON may spell its letters beyond ASCII and as it is."""
    with contextlib.suppress(ValueError):
        plain = json.loads(f'"{name}"')
        return {name, plain, json.dumps(plain)[1:-1]}
    return {name}


def _shortened(path: str) -> str:
    """A path without the folders that lead to its file, unless they are the same everywhere; of a folder nothing."""
    root = "~" if path.startswith(("/home/", "/Users/", "/root/", "~")) else "<workspace>"
    if "/../" not in path:
        if _PUBLIC.match(path):
            return path
        if package := _PACKAGES.search(path):
            return f"<workspace>/{path[package.start() :]}"
    last = path.rpartition("/")[2]
    return f"{root}/{last}" if not last or _FILE.search(last) else root


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
