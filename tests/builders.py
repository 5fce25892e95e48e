"""Tiny literal traces: each function makes one Kineto event, `document` puts them in a file's form, `trace` reads it.

    trace(step(1, at=0, us=100), launch(at=10, correlation=5), kernel("gemm", at=30, us=40, correlation=5))

Times are in µs. Further keywords become members of `args`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from foretrace import kineto

if TYPE_CHECKING:
    from foretrace.trace import Trace

Json = dict[str, Any]
PROCESS = 100
GPU = {"id": 0, "name": "Test GPU", "numSms": 40, "warpSize": 32, "computeMajor": 9, "computeMinor": 0}


def event(cat: str, name: str, *, at: Any, us: Any, pid: Any = PROCESS, tid: Any = PROCESS, **args: Any) -> Json:
    """A complete event of any category."""
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": at, "dur": us, "args": args}


def step(number: int, *, at: float, us: float, **lane: Any) -> Json:
    """The annotation of one profiler step."""
    return event("user_annotation", f"ProfilerStep#{number}", at=at, us=us, **lane)


def annotation(name: str, *, at: float, us: float, **lane: Any) -> Json:
    """A record_function label."""
    return event("user_annotation", name, at=at, us=us, **lane)


def op(name: str, *, at: float, us: float, external: int | None = None, **more: Any) -> Json:
    """A framework operator."""
    made = event("cpu_op", name, at=at, us=us, **more)
    return made if external is None else _with(made, {"External id": external})


def launch(
    name: str = "cudaLaunchKernel", *, at: float, us: float = 5, correlation: int | None = None, **more: Any
) -> Json:
    """A runtime call."""
    made = event(more.pop("cat", "cuda_runtime"), name, at=at, us=us, **more)
    return made if correlation is None else _with(made, {"correlation": correlation})


def kernel(name: str = "gemm", *, at: float, us: float, **more: Any) -> Json:
    """A kernel; see `gpu` for the rest."""
    shape = {"grid": [1, 1, 1], "block": [128, 1, 1]}
    return gpu("kernel", name, at=at, us=us, **{**shape, **more})


def memcpy(name: str = "Memcpy HtoD (Pinned -> Device)", *, at: float, us: float, **more: Any) -> Json:
    """A copy."""
    return gpu("gpu_memcpy", name, at=at, us=us, **more)


def memset(name: str = "Memset (Device)", *, at: float, us: float, **more: Any) -> Json:
    """A memset."""
    return gpu("gpu_memset", name, at=at, us=us, **more)


def gpu(
    cat: str,
    name: str,
    *,
    at: float,
    us: float,
    stream: int = 7,
    device: int = 0,
    correlation: int | None = None,
    **args: Any,
) -> Json:
    """A GPU activity of any category."""
    made = event(cat, name, at=at, us=us, pid=device, tid=stream, device=device, stream=stream, **args)
    return made if correlation is None else _with(made, {"correlation": correlation})


def document(*events: Json, **members: Any) -> Json:
    """A whole Kineto document."""
    return {"schemaVersion": 1, "deviceProperties": [GPU], **members, "traceEvents": list(events)}


def data(*events: Json, **members: Any) -> bytes:
    """The bytes of a whole Kineto document."""
    return json.dumps(document(*events, **members), indent=1).encode()


def trace(*events: Json, **members: Any) -> Trace:
    """The trace that the reader makes of these events."""
    return kineto.parse(data(*events, **members), where="test.json")


def _with(made: Json, args: Json) -> Json:
    return {**made, "args": {**made["args"], **args}}
