"""Time without the profiler: a step and a device go in, every sample of how long the step takes comes out."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from foretrace.worker.device import Device

Step = Callable[[], object]

_BLOCK_US = 5_000.0  # a block should last at least this long, so that the clocks' grain does not show
_MOST_STEPS = 100  # in a block: far fewer launches than a queue holds, so that no call waits for a place in it
_BLOCKS = 20
_LONG_US = 10_000.0  # where a block takes longer than this there are fewer
_FEWEST = 6  # with fewer samples no interval holds a median with 95 % confidence


def sample(step: Step, device: Device) -> tuple[dict[str, tuple[float, ...]], int]:
    """All samples of `step_us`, `dispatch_us`, `event_us` and `latency_us`, in µs, in order; and the steps a block."""
    alone = _estimate(step, device)
    steps = min(_MOST_STEPS, max(1, math.ceil(_BLOCK_US / alone)))
    count = max(_FEWEST, int(_BLOCKS * min(1.0, _LONG_US / (steps * alone))))
    blocks = [_block(step, device, steps) for _ in range(count)]
    samples = {name: tuple(block[name] for block in blocks) for name in blocks[0]}
    return samples | {"latency_us": tuple(_alone(step, device) for _ in range(count))}, steps


def _estimate(step: Step, device: Device) -> float:
    """The shortest of a few single steps, in µs; of fewer where they are slow."""
    times = [_alone(step, device)]
    while len(times) < _FEWEST and sum(times) < _LONG_US:
        times.append(_alone(step, device))
    return min(times)


def _block(step: Step, device: Device, steps: int) -> dict[str, float]:
    """One block of steps back to back, between two synchronisations: µs a step."""
    begin, end = device.mark(), device.mark()
    device.synchronize()
    begin.record()
    start = time.perf_counter_ns()
    for _ in range(steps):
        step()
    returned = time.perf_counter_ns()
    end.record()
    device.synchronize()
    idle = time.perf_counter_ns()
    times = {"step_us": (idle - start) / 1e3 / steps, "dispatch_us": (returned - start) / 1e3 / steps}
    elapsed = device.elapsed_us(begin, end)
    return times if elapsed is None else times | {"event_us": elapsed / steps}


def _alone(step: Step, device: Device) -> float:
    device.synchronize()
    start = time.perf_counter_ns()
    step()
    device.synchronize()
    return (time.perf_counter_ns() - start) / 1e3
