"""What this machine is: the device with its limits and the versions of all that shapes a measurement."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

import numpy as np
import torch

import foretrace
from foretrace.errors import CannotMeasure
from foretrace.record import Environment, Gpu
from foretrace.wire import DeviceName
from foretrace.worker import nvml


def look(device: DeviceName) -> Environment:
    """The environment; `CannotMeasure` where the device is not there."""
    if device == "cuda" and not torch.cuda.is_available():
        without = "is built without CUDA" if torch.version.cuda is None else "sees no CUDA device"
        raise CannotMeasure(f"torch {torch.__version__} {without}", remedy="use --device cpu for what a CPU can tell")
    return Environment(
        device=device,
        gpu=_gpu() if device == "cuda" else None,
        versions={name: version for name, version in _versions(device).items() if version},
        cpu_model=_cpu_model(),
        cpu_count=len(os.sched_getaffinity(0)),
    )


def _gpu() -> Gpu:
    limits = torch.cuda.get_device_properties(torch.cuda.current_device())
    max_sm_mhz, max_memory_mhz = nvml.max_mhz()
    return Gpu(
        name=str(limits.name),
        compute_capability=f"{limits.major}.{limits.minor}",
        multiprocessors=int(limits.multi_processor_count),
        memory_bytes=int(limits.total_memory),
        l2_bytes=int(getattr(limits, "L2_cache_size", 0)),
        warp_size=int(getattr(limits, "warp_size", 32)),
        threads_per_block=int(getattr(limits, "max_threads_per_block", 0)),
        threads_per_multiprocessor=int(getattr(limits, "max_threads_per_multi_processor", 0)),
        registers_per_multiprocessor=int(getattr(limits, "regs_per_multiprocessor", 0)),
        shared_bytes_per_multiprocessor=int(getattr(limits, "shared_memory_per_multiprocessor", 0)),
        shared_bytes_per_block_optin=int(getattr(limits, "shared_memory_per_block_optin", 0)),
        power_limit_w=nvml.power_limit_w(),
        max_sm_mhz=max_sm_mhz,
        max_memory_mhz=max_memory_mhz,
    )


def _versions(device: DeviceName) -> dict[str, str]:
    versions = {
        "foretrace": foretrace.__version__,
        "torch": str(torch.__version__),
        "triton": _installed("triton"),
        "numpy": np.__version__,
        "python": platform.python_version(),
        "os": f"{platform.system()} {platform.release()} {platform.machine()}",
    }
    if device == "cuda":
        versions |= {
            "cuda": str(torch.version.cuda or ""),
            "cudnn": _dotted(torch.backends.cudnn.version()),
            "cublas": _installed("nvidia-cublas", "nvidia-cublas-cu12"),
            "driver": nvml.driver(),
        }
    return versions


def _installed(*distributions: str) -> str:
    for name in distributions:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return ""


def _dotted(cudnn: int | None) -> str:
    """91900 is 9.19.0; before cuDNN 9, 8902 was 8.9.2."""
    if not cudnn:
        return ""
    major, rest = divmod(cudnn, 10_000 if cudnn >= 90_000 else 1_000)
    return f"{major}.{rest // 100}.{rest % 100}"


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return next(iter(names), platform.processor() or platform.machine())
