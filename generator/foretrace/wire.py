"""What passes between `measure` and `worker`: jobs and what became of them, as JSON.

    measure ── Job ───► server ── fork ──► child ──► answer.json, or failure.json, and trace.json.gz
            ◄── Ended ──                             in the job's folder

The server talks in lines, strictly by turns. A child leaves files, so that whatever it does to its streams or to
itself, the server's line stays clean.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from foretrace.record import Reason, Round
from foretrace.scenario import Variant

DeviceName = Literal["cuda", "cpu"]

ANSWER, FAILURE, TRACE, STDERR = "answer.json", "failure.json", "trace.json.gz", "stderr.txt"
"""The files of a job's folder."""

NVML_CHECK = "PYTORCH_NVML_BASED_CUDA_CHECK"
"""Set to 1, torch asks the management library whether CUDA is there, and does not initialise it by asking."""


class Hello(msgspec.Struct, frozen=True, kw_only=True):
    """The server's first line."""

    problem: str = ""  # why it cannot serve
    touched_cuda: bool = False  # whether importing initialised the CUDA driver, so that no child could use it


class Look(msgspec.Struct, frozen=True, kw_only=True, tag="look"):
    """Say what this machine is; answered by a `record.Environment`, or a failure where the device is not there."""

    device: DeviceName


class Roofs(msgspec.Struct, frozen=True, kw_only=True, tag="roofs"):
    """Measure the ceilings; answered by a `record.Ceilings`."""

    device: DeviceName


class Trial(msgspec.Struct, frozen=True, kw_only=True, tag="trial"):
    """Measure one variant; answered by a `Measured` and a trace."""

    device: DeviceName
    workload: str  # path of the module with `build(variant, device) -> step`
    variant: Variant
    label: str  # around each step
    title: str  # of the trace
    private: dict[str, str] = {}  # what to replace in the trace


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One task for one fresh process."""

    folder: str  # its working directory, where its answer goes
    limit_s: float
    task: Look | Roofs | Trial


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """How the process of a job ended; it and all that it started are gone."""

    code: int | None  # its exit code; None where a signal ended it
    signal: int | None = None
    timed_out: bool = False


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """What a variant's process found."""

    round: Round
    unavailable: dict[str, str]  # as in `record.Outcome`


class Failed(msgspec.Struct, frozen=True, kw_only=True):
    """What a process says of its own failure."""

    reason: Reason
    message: str
