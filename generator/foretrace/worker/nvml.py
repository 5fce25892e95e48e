"""What NVIDIA's management library says about the current CUDA device; None or 0 for what it does not say."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from foretrace.record import DeviceState

try:
    import pynvml
except ImportError:  # it is not needed to measure
    pynvml = None

_MODULE = Path("/proc/driver/nvidia/version")
_REASONS = {
    0x002: "clocks set by an application",
    0x004: "software power cap",
    0x008: "hardware slowdown",
    0x010: "sync boost",
    0x020: "software thermal slowdown",
    0x040: "hardware thermal slowdown",
    0x080: "hardware power brake",
    0x100: "display clocks",
}


def state() -> DeviceState | None:
    """Clocks, temperature, power and active throttle reasons at this moment; None without the library."""
    device = _device()
    if device is None:
        return None
    power = _ask("nvmlDeviceGetPowerUsage", device)
    return DeviceState(
        sm_mhz=_ask("nvmlDeviceGetClockInfo", device, pynvml.NVML_CLOCK_SM),
        memory_mhz=_ask("nvmlDeviceGetClockInfo", device, pynvml.NVML_CLOCK_MEM),
        temperature_c=_temperature(device),
        power_w=None if power is None else power / 1e3,
        throttle=_throttle(device),
    )


def power_limit_w() -> float:
    """The power limit in force, in watts; 0 where unknown."""
    return (_ask("nvmlDeviceGetEnforcedPowerLimit", _device()) or 0) / 1e3


def max_mhz() -> tuple[int, int]:
    """The highest clocks of the multiprocessors and of the memory, in MHz; 0 where unknown."""
    if pynvml is None:
        return 0, 0
    sm, memory = (
        _ask("nvmlDeviceGetMaxClockInfo", _device(), clock) for clock in (pynvml.NVML_CLOCK_SM, pynvml.NVML_CLOCK_MEM)
    )
    return sm or 0, memory or 0


def driver() -> str:
    """The driver's version, without the library as the kernel module tells it; "" where unknown."""
    if _device() is not None:
        return _text(_ask("nvmlSystemGetDriverVersion"))
    try:
        said = _MODULE.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    found = re.search(r"Kernel Module\D*([\d.]+)", said)
    return found[1] if found else ""


@functools.cache
def _device() -> Any:
    """The handle of the device that CUDA calls current; None where it cannot be told for sure."""
    if pynvml is None:
        return None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return None
    uuid = getattr(torch.cuda.get_device_properties(torch.cuda.current_device()), "uuid", None)
    if uuid is not None:
        found = _ask("nvmlDeviceGetHandleByUUID", f"GPU-{str(uuid).removeprefix('GPU-')}")
        if found is not None:
            return found
    return _ask("nvmlDeviceGetHandleByIndex", 0) if _ask("nvmlDeviceGetCount") == 1 else None


def _ask(question: str, *arguments: Any) -> Any:
    function: Callable[..., Any] | None = getattr(pynvml, question, None)
    if function is None or None in arguments:
        return None
    try:
        return function(*arguments)
    except pynvml.NVMLError:
        return None


def _temperature(device: Any) -> int | None:
    found: int | None = _ask("nvmlDeviceGetTemperature", device, pynvml.NVML_TEMPERATURE_GPU)
    if found is None:  # the older call is announced to go
        found = _ask("nvmlDeviceGetTemperatureV", device, pynvml.NVML_TEMPERATURE_GPU)
    return found


def _throttle(device: Any) -> tuple[str, ...]:
    active = _ask("nvmlDeviceGetCurrentClocksEventReasons", device)
    if active is None:
        active = _ask("nvmlDeviceGetCurrentClocksThrottleReasons", device)
    return tuple(said for bit, said in _REASONS.items() if (active or 0) & bit)


def _text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value or "")
