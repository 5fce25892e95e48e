"""The waist of the hourglass: what a run is on disk, frozen as it was measured.

    docs/runs/<run>/run.json                        the run: environment, ceilings, command, commit
    docs/runs/<run>/<slug>/declaration.json         the scenario as sealed before the run
    docs/runs/<run>/<slug>/<variant>.json           one outcome: samples, device state, or a failure with its reason
    docs/runs/<run>/<slug>/<variant>.<n>.trace.json.gz  the trace of its round n, from 1

Everything above this room is a function of these files. Each is written whole or not at all, one outcome at a time, so
that a run that was cut short can be resumed and one that is going on can be read.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from foretrace.errors import UnreadableInput, WrongUsage
from foretrace.files import sha256, write_atomically
from foretrace.scenario import Name, Sealed, Variant
from foretrace.stats import Rounds

SCHEMA = 2

_OWN_WORK = ("build", "first", "warm", "loop", "profile")  # phases of a round that are the variant's

Reason = Literal["crashed", "killed", "out-of-memory", "time-limit", "bad-result", "error", "unavailable"]
"""Why a variant has no figures; `unavailable`: this machine lacks what it needs, which is nobody's mistake."""


class Gpu(msgspec.Struct, frozen=True, kw_only=True):
    """The device and its limits, as the driver states them; 0 or "" where it does not."""

    name: str
    compute_capability: str
    multiprocessors: int
    memory_bytes: int
    l2_bytes: int = 0
    warp_size: int = 32
    threads_per_block: int = 0
    threads_per_multiprocessor: int = 0
    registers_per_multiprocessor: int = 0
    shared_bytes_per_multiprocessor: int = 0
    shared_bytes_per_block_optin: int = 0
    power_limit_w: float = 0.0
    max_sm_mhz: int = 0
    max_memory_mhz: int = 0


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """What the run was measured on and with."""

    device: Literal["cuda", "cpu"]
    gpu: Gpu | None
    versions: dict[str, str]  # driver, cuda, cudnn, torch, triton, python, os, foretrace …
    cpu_model: str
    cpu_count: int


class Ceilings(msgspec.Struct, frozen=True, kw_only=True):
    """What this device reached in this run: the roofs that kernels are held against."""

    tflops: dict[str, float]  # dtype -> best matrix-multiply rate, 10¹² FLOP/s
    copy_gbps: float | None  # device-to-device copy, bytes read and written, 10⁹ bytes/s
    how: str


class DeviceState(msgspec.Struct, frozen=True, kw_only=True):
    """The device at one moment; None where the management library does not say."""

    sm_mhz: int | None = None
    memory_mhz: int | None = None
    temperature_c: int | None = None
    power_w: float | None = None
    throttle: tuple[str, ...] = ()  # active reasons other than idle


class TraceFile(msgspec.Struct, frozen=True, kw_only=True):
    """A trace beside the outcome."""

    name: Name
    sha256: str
    size_bytes: int


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """Why a variant has no figures."""

    reason: Reason
    message: str  # one sentence
    stderr: str = ""  # its end, scrubbed
    after_s: float = 0.0  # how long it took until then


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """What one process measured of a variant."""

    started_utc: str
    samples: dict[str, tuple[float, ...]]  # quantity of `facts.QUANTITIES` -> every sample, none dropped
    steps_per_block: int = 1  # steps run back to back between two synchronisations
    peak_memory_bytes: int | None = None
    before: DeviceState | None = None
    after: DeviceState | None = None
    seconds: dict[str, float] = {}  # phase -> how long it took; `compile` is part of others
    trace: TraceFile | None = None

    @property
    def overhead_s(self) -> float | None:
        """What it took beyond the variant's own work (building, calling, timing, recording); None where unknown."""
        if "wall" not in self.seconds:
            return None
        return self.seconds["wall"] - sum(self.seconds.get(phase, 0.0) for phase in _OWN_WORK)


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one variant: a process a round, all variants in turn."""

    variant: Variant
    rounds: tuple[Round, ...] = ()
    failure: Failure | None = None  # of the round after those that are there
    unavailable: dict[str, str] = {}  # quantity -> why this device cannot tell

    @property
    def failed(self) -> bool:
        """Whether it went wrong, and not only lacks here what it needs."""
        return self.failure is not None and self.failure.reason != "unavailable"

    @property
    def trace(self) -> TraceFile | None:
        """The first round's trace."""
        return next((each.trace for each in self.rounds if each.trace), None)

    @property
    def samples(self) -> dict[str, Rounds]:
        """Every sample of a quantity, by the process that took it; none where a process took none."""
        names = dict.fromkeys(name for each in self.rounds for name in each.samples)
        return {name: tuple(each.samples.get(name, ()) for each in self.rounds) for name in names}

    @property
    def states(self) -> tuple[DeviceState, ...]:
        """The device before and after each round, where it tells."""
        return tuple(state for each in self.rounds for state in (each.before, each.after) if state is not None)

    @property
    def peak_memory_bytes(self) -> int | None:
        """The largest of the rounds' peaks."""
        return max((each.peak_memory_bytes for each in self.rounds if each.peak_memory_bytes is not None), default=None)


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What the user chose for the run."""

    rounds: int = 3  # processes a variant
    time_limit_s: float = 300.0  # for each of them
    quick: bool = False
    only: tuple[str, ...] = ()  # patterns of variant names, or of slug/name; all where it is empty
    keep_paths: bool = False


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One run of the tool: who, where, when, with what."""

    schema: int
    id: Name
    started_utc: str
    command: str  # that repeats it
    commit: str  # "" where unknown
    dirty: bool | None  # whether the tree differed from the commit; None where unknown
    environment: Environment
    ceilings: Ceilings
    options: Options
    scenarios: tuple[Name, ...]
    finished_utc: str = ""  # "" while it goes on, or where it was cut short
    files: dict[str, str] = {}  # once it is finished: every other JSON file of the folder -> its sha256


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A run as read back."""

    folder: Path
    run: Run
    declarations: dict[str, Sealed]  # by slug, in the run's order
    outcomes: dict[str, dict[str, Outcome]]  # slug -> variant name -> outcome

    def trace(self, slug: str, file: TraceFile) -> bytes:
        """The bytes of a trace; `UnreadableInput` where they are not those that were recorded."""
        path = self.folder / slug / file.name
        data = _read(path)
        if sha256(data) != file.sha256:
            raise UnreadableInput(
                "the trace is not the one that was recorded (its sha256 differs)",
                where=str(path),
                remedy="restore the file from where the run was published, or measure again",
            )
        return data


def create(runs: Path, run: Run, declarations: Mapping[str, Sealed]) -> Path:
    """Make the run's folder with its sealed declarations; `WrongUsage` where it is there already."""
    folder = runs / run.id
    runs.mkdir(parents=True, exist_ok=True)
    try:
        folder.mkdir()
    except FileExistsError:
        raise WrongUsage("there is a run of this name", where=run.id, remedy="continue it with --resume") from None
    for slug, sealed in declarations.items():
        write_atomically(folder / slug / "declaration.json", _encode(sealed))
    write_run(folder, run)
    return folder


def write_run(folder: Path, run: Run) -> None:
    """Write `run.json`."""
    write_atomically(folder / "run.json", _encode(run))


def write_outcome(folder: Path, slug: str, outcome: Outcome, trace: bytes | None) -> Outcome:
    """Write one outcome after the trace of its last round, and return it with the trace's digest."""
    if trace is not None:
        *before, last = outcome.rounds
        name = f"{outcome.variant.name}.{len(outcome.rounds)}.trace.json.gz"
        write_atomically(folder / slug / name, trace)
        file = TraceFile(name=name, sha256=sha256(trace), size_bytes=len(trace))
        outcome = msgspec.structs.replace(outcome, rounds=(*before, msgspec.structs.replace(last, trace=file)))
    write_atomically(folder / slug / f"{outcome.variant.name}.json", _encode(outcome))
    return outcome


def finish(folder: Path, run: Run, *, finished_utc: str) -> None:
    """Write `run.json` for the last time, with the digest of every declaration and outcome in the folder."""
    paths = sorted(path for slug in run.scenarios for path in (folder / slug).glob("*.json"))
    files = {path.relative_to(folder).as_posix(): sha256(_read(path)) for path in paths}
    write_run(folder, msgspec.structs.replace(run, finished_utc=finished_utc, files=files))


def load(folder: Path) -> Record:
    """Read a run; `UnreadableInput` names the file that cannot be read and why.

    It is refused too where the predictions are not those that were sealed.
    """
    head = _decode(folder / "run.json", _Head)
    if head.schema != SCHEMA:
        raise UnreadableInput(
            f"the record has schema {head.schema}, this version reads {SCHEMA}",
            where=str(folder / "run.json"),
            remedy="use the version of foretrace that wrote it, or measure again",
        )
    run = _decode(folder / "run.json", Run)
    if run.id != folder.resolve().name:
        raise _invalid(folder / "run.json", f"it is the run {run.id}; its evidence is linked under that name")
    declarations = {slug: _sealed(folder / slug / "declaration.json") for slug in run.scenarios}
    outcomes = {slug: _outcomes(folder / slug, sealed) for slug, sealed in declarations.items()}
    for name, digest in run.files.items():
        if sha256(_read(folder / name)) != digest:
            raise UnreadableInput(
                "is not the file that was recorded (its sha256 differs)",
                where=str(folder / name),
                remedy="restore it from where the run was published, or measure again",
            )
    return Record(folder=folder, run=run, declarations=declarations, outcomes=outcomes)


def newest(runs: Path) -> list[Path]:
    """For each scenario the folder of the run that started last, each folder once; `WrongUsage` where there is none."""
    heads = {path.parent: _decode(path, _Head) for path in runs.glob("*/run.json")}
    ordered = sorted(heads, key=lambda folder: (heads[folder].started_utc, folder.name))
    last = {slug: folder for folder in ordered for slug in heads[folder].scenarios}
    if not last:
        raise WrongUsage("there is no recorded run", where=str(runs), remedy="measure one with `foretrace run`")
    return [folder for folder in ordered if folder in last.values()]


def find(runs: Path, name: str) -> Path:
    """The folder of a run, given its name or its path; `WrongUsage` where there is none."""
    for folder in (runs / name, Path(name)):
        with suppress(OSError):  # a name that no file can have
            if (folder / "run.json").exists():
                return folder
    known = ", ".join(sorted(path.parent.name for path in runs.glob("*/run.json"))) or "none"
    raise WrongUsage("there is no such run", where=name, remedy=f"known here: {known}")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the run's folder for writing; `WrongUsage` where another process holds it or it is not there."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:
        raise WrongUsage("there is no run of this name", where=folder.name, remedy=f"see {folder.parent}") from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise WrongUsage(
                "another process is measuring into this run",
                where=folder.name,
                remedy="wait for it, or start a new run",
            ) from None
        yield
    finally:
        os.close(handle)


class _Head(msgspec.Struct):
    """What is read of a run before its schema is known."""

    schema: int
    started_utc: str = ""
    scenarios: tuple[str, ...] = ()


_Decoded = TypeVar("_Decoded")


def _encode(value: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def _outcomes(folder: Path, sealed: Sealed) -> dict[str, Outcome]:
    """What came of the variants that were measured, by name; refused where it is not of the variant declared."""
    outcomes = {}
    for variant in sealed.scenario.variants:
        path = folder / f"{variant.name}.json"
        if path.exists():
            outcomes[variant.name] = outcome = _decode(path, Outcome)
            if outcome.variant != variant or not (outcome.rounds or outcome.failure):
                raise _invalid(path, "it is not the outcome of the variant that was declared")
    return outcomes


def _sealed(path: Path) -> Sealed:
    sealed = _decode(path, Sealed)
    if sealed.slug != path.parent.name:
        raise _invalid(path, f"it declares {sealed.slug}")
    if sealed.scenario.seal() != sealed.seal:
        raise UnreadableInput(
            "what is measured or expected here is not what was sealed before the run (its hash differs)",
            where=str(path),
            remedy="restore the file, or measure again",
        )
    return sealed


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnreadableInput(
            f"cannot be read ({error.strerror})", where=str(path), remedy="is this the folder of a run?"
        ) from error


def _decode(path: Path, kind: type[_Decoded]) -> _Decoded:
    try:
        return msgspec.json.decode(_read(path), type=kind)
    except (msgspec.DecodeError, WrongUsage, RecursionError) as error:
        raise _invalid(path, error.what if isinstance(error, WrongUsage) else str(error)) from error


def _invalid(path: Path, why: str) -> UnreadableInput:
    return UnreadableInput(f"is not a valid record: {why}", where=str(path), remedy="restore it, or measure again")
