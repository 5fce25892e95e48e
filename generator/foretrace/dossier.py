"""A report on traces that came along: what is on disk of it, frozen as it was added.

    docs/traces/<name>/report.json            what was expected, as sealed before a trace was opened, and the command
    docs/traces/<name>/<trace>.trace.json.gz  each trace, fit to be published

Everything above this room is a function of these files. A folder appears whole or not at all, and none is ever changed.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import msgspec

from foretrace.errors import UnreadableInput, WrongUsage
from foretrace.files import sha256, write_atomically
from foretrace.prediction import Kind, seal

SCHEMA = 1
LONGEST = 60  # characters of a name

Slug = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,99}\Z")]
"""What may name a report: it is a folder's name, and part of an address, on any file system."""


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A trace beside the report."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9.-]*\Z")]
    source: str  # what its file was called, without anything private
    source_sha256: str  # of the file that was given
    sha256: str
    size_bytes: int
    rank: int


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a report beside its traces."""

    schema: int
    id: Slug
    title: str
    command: str  # that added it, without anything private
    version: str  # of foretrace
    sealed_utc: str  # when the expectations were fixed: before a trace was opened
    seal: str
    traces: Annotated[tuple[Kept, ...], msgspec.Meta(min_length=1)]  # by rank
    predictions: tuple[Kind, ...] = ()
    guesses: tuple[Kind, ...] = ()
    world: int = 0  # ranks of the job, as the traces say; 0 where they do not
    numbered: bool = False  # ranks are the order of the files' names: the traces do not tell
    keep_paths: bool = False

    def same(self, other: Report) -> bool:
        """Whether it says the same of the same traces, under whatever name."""
        blank = {"id": "x", "command": "", "version": "", "sealed_utc": ""}
        return msgspec.structs.replace(self, **blank) == msgspec.structs.replace(other, **blank)


class Dossier(msgspec.Struct, frozen=True, kw_only=True):
    """A report as read back."""

    folder: Path
    report: Report

    def trace(self, kept: Kept) -> bytes:
        """The bytes of a trace; `UnreadableInput` where they are not those that were kept."""
        path = self.folder / kept.name
        data = _read(path)
        if sha256(data) != kept.sha256:
            raise UnreadableInput(
                "the trace is not the one that was kept (its sha256 differs)",
                where=str(path),
                remedy="restore the file, or take the folder away and report the trace again",
            )
        return data


def sealed(predictions: tuple[Kind, ...], guesses: tuple[Kind, ...]) -> str:
    """The sha256, in hex, of all that is expected, as a later reader gets it: a limit of `1` is one of `1.0`."""
    recorded = msgspec.json.decode(msgspec.json.encode((predictions, guesses)), type=tuple[tuple[Kind, ...], ...])
    return seal(*recorded)


@contextmanager
def staging(traces: Path) -> Iterator[Path]:
    """A folder beside the others in which a report is put together; what was not placed is gone afterwards."""
    traces.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=traces, prefix="."))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def place(staged: Path, traces: Path, report: Report, *, named: bool) -> Path:
    """Give the staged traces their report and their place; the folder.

    Where a report that says the same is there already, it stands for this one. Where another has the name, a number is
    put behind it, or, if the user chose the name, `WrongUsage` is raised.
    """
    for number in range(1, 10_000):
        numbered = msgspec.structs.replace(report, id=report.id if number == 1 else f"{report.id}-{number}")
        folder = traces / numbered.id
        if not folder.exists():
            write_atomically(staged / "report.json", _encode(numbered))
            staged.chmod(0o755)
            try:
                return staged.rename(folder)
            except OSError:
                if not folder.exists():
                    raise
        if (folder / "report.json").exists() and load(folder).report.same(report):
            return folder
        if named:
            break
    remedy = "choose another with --name, or take that folder away"
    raise WrongUsage("there is another report of this name", where=report.id, remedy=remedy)


def load(folder: Path) -> Dossier:
    """Read a report; `UnreadableInput` names what cannot be read, or is not what was sealed."""
    path = folder / "report.json"
    try:
        report = msgspec.json.decode(_read(path), type=Report)
    except (msgspec.DecodeError, WrongUsage, RecursionError) as error:
        raise _invalid(path, error.what if isinstance(error, WrongUsage) else str(error)) from error
    if report.schema != SCHEMA:
        raise _invalid(path, f"it has schema {report.schema}, this version reads {SCHEMA}")
    if report.id != folder.resolve().name:
        raise _invalid(path, f"it is the report {report.id}; its evidence is linked under that name")
    if sealed(report.predictions, report.guesses) != report.seal:
        raise _invalid(path, "what is expected here is not what was sealed (its hash differs)")
    return Dossier(folder=folder, report=report)


def every(traces: Path) -> list[Path]:
    """The folder of each report, by name; `OSError` for one that may not be looked into: it is not passed over."""
    inside = traces.iterdir() if traces.exists() else ()
    return sorted(path for path in inside if not path.name.startswith(".") and (path / "report.json").exists())


def slug(text: str) -> str:
    """A name for a report, made of any text: `Run A (2).json` is `run-a-2-json`."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:LONGEST].strip("-") or "trace"


def _encode(report: Report) -> bytes:
    return msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n"


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnreadableInput(
            f"cannot be read ({error.strerror})", where=str(path), remedy="is this the folder of a report?"
        ) from error


def _invalid(path: Path, why: str) -> UnreadableInput:
    return UnreadableInput(f"is not a valid report: {why}", where=str(path), remedy="restore it, or take it away")
