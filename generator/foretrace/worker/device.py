"""The two devices a workload may run on, under one face: wait, mark a moment, look at the memory.

What a device cannot tell is named in `unavailable`, with the reason, under the quantity's name in `facts.QUANTITIES`;
`activities` stands for everything about GPU work.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import torch
from torch.profiler import ProfilerActivity

from foretrace.record import DeviceState
from foretrace.wire import DeviceName
from foretrace.worker import nvml


class Device(Protocol):
    """What measuring needs of a device."""

    activities: tuple[ProfilerActivity, ...]
    unavailable: Mapping[str, str]

    def synchronize(self) -> None:
        """Wait until it is idle."""

    def mark(self) -> Any:
        """An event that `record()` places in the device's queue."""

    def elapsed_us(self, begin: Any, end: Any) -> float | None:
        """Microseconds between two recorded events; None where the device has none."""

    def forget_peak(self) -> None:
        """Count the peak of memory from here on."""

    def peak_bytes(self) -> int | None:
        """The peak of allocated memory; None where it is not counted."""

    def state(self) -> DeviceState | None:
        """Its clocks, temperature, power and throttle reasons; None where nothing tells them."""


class Cuda:
    """The current CUDA device."""

    activities = (ProfilerActivity.CPU, ProfilerActivity.CUDA)
    unavailable: Mapping[str, str] = {}

    def __init__(self) -> None:
        torch.cuda.init()
        torch.cuda.synchronize()  # makes the context, and runs nothing in it

    def synchronize(self) -> None:
        """Wait until every stream is idle."""
        torch.cuda.synchronize()

    def mark(self) -> Any:
        """A CUDA event with a clock."""
        return torch.cuda.Event(enable_timing=True)

    def elapsed_us(self, begin: Any, end: Any) -> float | None:
        """The events' own clock, in microseconds; both must have passed."""
        return float(begin.elapsed_time(end)) * 1e3

    def forget_peak(self) -> None:
        """Count the allocator's peak from here on."""
        torch.cuda.reset_peak_memory_stats()

    def peak_bytes(self) -> int | None:
        """The allocator's peak."""
        return int(torch.cuda.max_memory_allocated())

    def state(self) -> DeviceState | None:
        """What the management library says."""
        return nvml.state()


class _NoEvent:
    def record(self) -> None:
        """Nothing to be placed in a queue that is not there."""


class Cpu:
    """The host, where every call has done its work when it returns."""

    activities = (ProfilerActivity.CPU,)
    unavailable: Mapping[str, str] = {
        "activities": "measured on a CPU: there is no GPU work to record",
        "event_us": "measured on a CPU: there are no CUDA events",
        "peak_memory_bytes": "measured on a CPU: the framework counts no peak there",
    }

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def mark(self) -> Any:
        """An event that does nothing."""
        return _NoEvent()

    def elapsed_us(self, begin: Any, end: Any) -> float | None:  # noqa: ARG002
        """None."""
        return None

    def forget_peak(self) -> None:
        """Nothing to forget."""

    def peak_bytes(self) -> int | None:
        """None."""
        return None

    def state(self) -> DeviceState | None:
        """None."""
        return None


def open_device(name: DeviceName) -> Device:
    """The device, ready for its first work."""
    return Cuda() if name == "cuda" else Cpu()
