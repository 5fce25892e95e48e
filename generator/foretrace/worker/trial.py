"""One variant, measured: the workload's step is built, warmed up, timed without the profiler and then recorded with it.

A cold variant (`warm_calls` = 0) is recorded before anything else runs, and timed afterwards.
"""

from __future__ import annotations

import gc
import importlib.util
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from foretrace.record import Round
from foretrace.wire import TRACE, Measured, Trial
from foretrace.worker import loop, window
from foretrace.worker.device import Device, open_device

Step = Callable[[], object]


class Laps:
    """Seconds a phase, from the moment the process was asked for."""

    def __init__(self, began: float) -> None:
        self.seconds: dict[str, float] = {}
        self._began = self._last = began

    def lap(self, phase: str) -> None:
        """What passed since the last lap was `phase`."""
        now = time.monotonic()
        self.seconds |= {phase: now - self._last, "total": now - self._began}
        self._last = now


def measure(task: Trial, began: float, *, measured: Callable[[], object]) -> Measured:
    """Measure a variant in this process, leave its trace in the working directory and return the rest.

    Args:
        task: what to measure.
        began: the monotonic clock, in seconds, when the process was given its job.
        measured: is called when nothing is left but to write the trace: what runs beside it disturbs no figure.
    """
    laps, started = Laps(began), f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    laps.lap("start")
    device = open_device(task.device)
    laps.lap("device")
    torch.manual_seed(0)
    with torch.no_grad():
        step = _build(task)
        device.synchronize()
        laps.lap("build")
        before = device.state()
        laps.lap("state")
        if task.variant.protocol.warm_calls:
            _warm_up(step, task, device=device, laps=laps)
            samples, steps = _time(step, device=device, laps=laps)
            profiler = _profile(step, task, device=device, laps=laps)
        else:
            profiler = _profile(step, task, device=device, laps=laps)
            samples, steps = _time(step, device=device, laps=laps)
    peak, after = device.peak_bytes(), device.state()
    measured()
    window.export(profiler, Path(TRACE).absolute(), title=task.title, private=task.private)
    laps.lap("export")
    found = Round(
        started_utc=started,
        samples=samples,
        steps_per_block=steps,
        peak_memory_bytes=peak,
        before=before,
        after=after,
        seconds=laps.seconds | {"compile": _compiling_s()},
    )
    return Measured(round=found, unavailable=dict(device.unavailable))


def _compiling_s() -> float:
    """Seconds that torch.compile took in this process, of the other phases' time; 0 where nothing was compiled."""
    dynamo = sys.modules.get("torch._dynamo.utils")
    tell: Callable[[], dict[str, float]] | None = getattr(dynamo, "calculate_time_spent", None)
    return tell().get("total_wall_time", 0.0) if tell else 0.0


def _build(task: Trial) -> Step:
    """The step that the workload's `build(variant, device)` returns."""
    path = Path(task.workload)
    sys.path.append(str(path.parents[2]))  # a workload may import what its project shares between scenarios
    spec = importlib.util.spec_from_file_location(f"scenarios.{path.parent.name}.workload", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    build = getattr(module, "build", None)
    if not callable(build):
        raise TypeError("workload.py defines no function build(variant, device)")
    step: Step = build(task.variant, task.device)
    if not callable(step):
        raise TypeError(f"build(…) in workload.py returned a {type(step).__name__}, not a step to call")
    return step


def _warm_up(step: Step, task: Trial, *, device: Device, laps: Laps) -> None:
    step()
    device.synchronize()
    laps.lap("first")
    for _ in range(task.variant.protocol.warm_calls - 1):
        step()
    device.synchronize()
    laps.lap("warm")


def _time(step: Step, *, device: Device, laps: Laps) -> tuple[dict[str, tuple[float, ...]], int]:
    device.forget_peak()
    gc.collect()
    gc.disable()  # a collection in the middle of a step would be told as the step's time
    samples, steps = loop.sample(step, device)
    gc.enable()
    laps.lap("loop")
    return samples, steps


def _profile(step: Step, task: Trial, *, device: Device, laps: Laps) -> Any:
    gc.collect()
    gc.disable()
    profiler = window.record(step, device=device, protocol=task.variant.protocol, label=task.label)
    gc.enable()
    laps.lap("profile")
    return profiler
