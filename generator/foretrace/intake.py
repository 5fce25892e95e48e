"""Traces that came along: paths come in, a dossier in `docs/traces/` goes out, scrubbed, sealed, whole or not at all.

What is expected is sealed before a trace is opened, and each trace is read once whole before anything is kept.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from foretrace import __version__, dossier, kineto
from foretrace.dossier import Dossier, Kept, Report
from foretrace.errors import UnreadableInput, WrongUsage
from foretrace.examination import Examination, examine
from foretrace.kineto.source import chunks
from foretrace.prediction import Kind, Unmeasured, judge
from foretrace.privacy import publishable, publishable_name, replacements, told
from foretrace.trace import Kind as Row
from foretrace.trace import Trace
from foretrace.units import natural

ENDINGS = (".json", ".json.gz", ".gz")
"""What the names of traces in a folder end with."""

_COMPRESSION = 6
_MOST_WAITING = 1 << 24  # characters of text without an object's end
_TRACE_NAME = re.compile(r'("traceName"\s*:\s*)"(?:[^"\\]|\\.)*"')


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What the user wants of a report."""

    title: str = ""  # made from the file's name where it is empty
    name: str = ""
    command: str = ""
    keep_paths: bool = False
    predictions: tuple[Kind, ...] = ()
    guesses: tuple[Kind, ...] = ()
    where: str = "--expect"  # what messages call the source of the predictions


class _Found(msgspec.Struct, frozen=True):
    """What a trace says of its place in a job."""

    path: Path
    rank: int | None
    world: int


def add(traces: Path, given: Sequence[Path], wish: Wish, *, workspace: Path) -> list[Examination]:
    """Keep traces, a report each, once each can be shown; what they show.

    Args:
        traces: the folder of all dossiers.
        given: each a trace's file, or a folder with the ranks of a job.
        wish: what the user wants.
        workspace: the project's folder, which must not be named in what is published.

    Raises:
        UnreadableInput: a trace cannot be read, or has nothing to report; none of them is kept.
        WrongUsage: a folder holds no trace, the name is taken or impossible, a prediction speaks of no rank.
    """
    sealed_utc = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if len(given) > 1 and (wish.name or wish.title):
        remedy = "report them one by one, or put the ranks of a job into a folder"
        raise WrongUsage("names one report, and there are several traces", where="--name or --title", remedy=remedy)
    if wish.name and dossier.slug(wish.name) != wish.name:
        remedy = f"use small letters, digits and dashes, at most {dossier.LONGEST}: `{dossier.slug(wish.name)}`"
        raise WrongUsage("cannot name a report", where=f"--name {wish.name}", remedy=remedy)
    with ExitStack() as stack:
        staged = [(stack.enter_context(dossier.staging(traces)), path) for path in given]
        reports = [_staged(folder, path, wish, workspace, sealed_utc) for folder, path in staged]
        found = [examine(each) for each in reports]
        placed = [dossier.place(each.folder, traces, each.report, named=bool(wish.name)) for each in reports]
    kept = [dossier.load(folder).report for folder in placed]
    return [msgspec.structs.replace(each, report=report) for each, report in zip(found, kept, strict=True)]


def files(given: Path) -> tuple[list[Path], list[Path]]:
    """The traces that a path means, in natural order of their names, and the other files of a folder."""
    if not given.is_dir():
        return [given], []
    inside = sorted(
        (path for path in given.iterdir() if not path.name.startswith(".")), key=lambda path: natural(path.name)
    )
    traces = [path for path in inside if path.name.lower().endswith(ENDINGS) and (path.is_file() or not path.exists())]
    if not traces:
        raise WrongUsage("holds no trace (.json or .json.gz)", where=str(given), remedy="name the folder of the ranks")
    return traces, [path for path in inside if path not in traces]


def _staged(staged: Path, given: Path, wish: Wish, workspace: Path, sealed_utc: str) -> Dossier:
    """Read what was given, and put it together in the folder `staged` as it is published."""
    paths, _ = files(given)
    found = [_look(path) for path in paths]
    ranks = [each.rank for each in found if each.rank is not None]
    numbered = len(found) > 1 and (len(ranks) < len(found) or len(set(ranks)) < len(ranks))
    placed = [(place if numbered else each.rank or 0, each) for place, each in enumerate(found)]
    placed.sort(key=lambda pair: pair[0])
    _refuse_misses(wish, [rank for rank, _ in placed])
    private = {} if wish.keep_paths else _private(paths, (workspace, Path.cwd(), given.absolute().parent))
    shown = given.resolve().name if given.is_dir() else given.name
    shown = shown if wish.keep_paths else publishable_name(shown, private)
    kept = [
        _keep(each.path, staged, rank=rank, alone=len(found) == 1, private=None if wish.keep_paths else private)
        for rank, each in placed
    ]
    report = Report(
        schema=dossier.SCHEMA,
        id=wish.name or dossier.slug(_stem(_legible(shown))),
        title=_legible(wish.title if wish.keep_paths else publishable(wish.title, private))
        or _stem(_legible(shown))
        or "Trace",
        command=_legible(wish.command if wish.keep_paths else _published(wish.command, private)),
        version=__version__,
        sealed_utc=sealed_utc,
        seal=dossier.sealed(wish.predictions, wish.guesses),
        traces=tuple(kept),
        predictions=wish.predictions,
        guesses=wish.guesses,
        world=max(each.world for each in found),
        numbered=numbered,
        keep_paths=wish.keep_paths,
    )
    return Dossier(folder=staged, report=report)


def _look(path: Path) -> _Found:
    """Read a trace whole, to refuse it before anything is written."""
    if path.exists() and not path.is_file():
        what = "is no regular file, and a report reads a trace more than once"
        raise UnreadableInput(what, where=str(path), remedy="save it to a file first")
    trace = kineto.read(path)
    if not len(trace.rows(*(kind for kind in Row if kind not in (Row.OTHER, Row.PYTHON, Row.OVERHEAD)))):
        what = "holds no operator, label, launch or GPU activity"
        raise UnreadableInput(what, where=str(path), remedy="there is nothing to report; record the trace again")
    return _Found(path, *_place(trace))


def _place(trace: Trace) -> tuple[int | None, int]:
    """The rank and the number of ranks that a trace names; None and 0 where it does not."""
    told_of = trace.metadata.get("distributedInfo")
    rank, world = (told_of.get("rank"), told_of.get("world_size")) if isinstance(told_of, dict) else (None, None)
    return _number(rank), _number(world) or 0


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31 else None


def _refuse_misses(wish: Wish, ranks: Sequence[int]) -> None:
    """Raise where a prediction speaks of ranks that no trace has."""
    nothing = {str(rank): Unmeasured(params={"rank": rank}, reason="") for rank in ranks}
    for number, expected in enumerate(wish.predictions, 1):
        if not all(finding.about for finding in judge(expected, nothing).findings):
            known = ", ".join(map(str, ranks[:9])) + (" …" if len(ranks) > 9 else "")
            raise WrongUsage(
                "fits no trace of this report",
                where=f"{wish.where}, table {number}",
                remedy=f"mend its `where`; the only parameter is `rank`, here {known}",
            )


def _private(paths: Iterable[Path], folders: Iterable[Path]) -> dict[str, str]:
    """What must not be published: this machine's names and folders, and what the traces tell of theirs."""
    found = replacements(*folders)
    for path in paths:
        for text in _texts(path):
            found |= {word: instead for word, instead in told(text).items() if word not in found}
    return found


def _texts(path: Path) -> Iterator[str]:
    """The text of a trace in pieces that end with an object, so that no word is cut."""
    waiting = b""
    for chunk in chunks(path):
        waiting += chunk
        cut = waiting.rfind(b"}") + 1
        if not cut and len(waiting) > _MOST_WAITING:
            cut = len(waiting)
        if cut:
            yield waiting[:cut].decode("utf-8", "surrogateescape")
            waiting = waiting[cut:]
    yield waiting.decode("utf-8", "surrogateescape")


def _keep(path: Path, staged: Path, *, rank: int, alone: bool, private: Mapping[str, str] | None) -> Kept:
    """Write a trace as it is published; with `private` None as it is."""
    name = "trace.json.gz" if alone else f"rank-{rank}.trace.json.gz"
    source = path.name if private is None else publishable_name(path.name, private)
    target = staged / name
    with target.open("wb") as raw, gzip.GzipFile("", "wb", _COMPRESSION, raw, mtime=0) as packed:
        for text in _texts(path):
            fit = text if private is None else _TRACE_NAME.sub(rf'\g<1>"{name}"', publishable(text, private))
            packed.write(fit.encode("utf-8", "surrogateescape"))
    target.chmod(0o644)
    return Kept(
        name=name,
        source=_legible(source),
        source_sha256=_digest(path),
        sha256=_digest(target),
        size_bytes=target.stat().st_size,
        rank=rank,
    )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _published(command: str, private: Mapping[str, str]) -> str:
    return " ".join(publishable_name(word, private) for word in command.split(" "))


def _legible(text: str) -> str:
    """A text of the command line or the file system, whose bytes may be no UTF-8, that JSON can hold."""
    return text.encode(errors="replace").decode()


def _stem(name: str) -> str:
    """A file's name without the endings of traces."""
    return re.sub(r"(?:\.pt)?(?:\.trace)?\.json(?:\.gz)?$|\.gz$", "", name, flags=re.IGNORECASE)
