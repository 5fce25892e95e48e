"""The ceilings: what this device reaches on the two things it should be best at, multiplying matrices and copying."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable
from functools import partial

import torch

from foretrace.record import Ceilings
from foretrace.wire import DeviceName

_SIZE = 8192
_COPY_BYTES = 1 << 30
_WARM, _TIMED = 3, 20
_BUDGET_MS = 600.0  # of timed work; a slow device repeats less, but five times at least
_DTYPES = {  # name of the ceiling -> dtype and the precision that fp32 products may be made in
    "bf16": (torch.bfloat16, "highest"),
    "fp16": (torch.float16, "highest"),
    "tf32": (torch.float32, "high"),
    "fp32": (torch.float32, "highest"),
}
_FP8_SINCE = (8, 9)  # the compute capability whose tensor cores first multiply e4m3
_HOW = (
    f"Matrix products of {_SIZE} × {_SIZE} with normally distributed entries, the better of two layouts; fp8 is e4m3 "
    "in the one layout that it has, with a scale a tensor, fast accumulation and a bf16 result. A copy of "
    f"{_COPY_BYTES >> 30} GiB within the device, counting bytes read and bytes written. Medians of up to {_TIMED} "
    "repetitions timed by CUDA events, warm."
)


def measure(device: DeviceName) -> Ceilings:
    """Measure the ceilings; on a CPU there are none."""
    if device == "cpu":
        return Ceilings(tflops={}, copy_gbps=None, how="not measured on a CPU")
    with torch.no_grad():
        torch.manual_seed(0)
        return Ceilings(
            tflops={name: _tflops(dtype, precision) for name, (dtype, precision) in _DTYPES.items()} | _fp8(),
            copy_gbps=_copy_gbps(),
            how=_HOW,
        )


def _tflops(dtype: torch.dtype, precision: str) -> float:
    torch.set_float32_matmul_precision(precision)
    left, right = (torch.randn(_SIZE, _SIZE, device="cuda", dtype=dtype) for _ in range(2))
    out = torch.empty_like(left)
    return _rate(min(_median_ms(partial(torch.mm, left, other, out=out)) for other in (right, right.t())))


def _fp8() -> dict[str, float]:
    """The ceiling of fp8; none where the tensor cores do not multiply it."""
    if torch.version.hip is not None or torch.cuda.get_device_capability() < _FP8_SINCE:
        return {}
    return {"fp8": _fp8_tflops()}


def _fp8_tflops() -> float:
    left, right = (torch.randn(_SIZE, _SIZE, device="cuda").to(torch.float8_e4m3fn) for _ in range(2))
    one = torch.ones((), device="cuda")
    multiply = torch._scaled_mm  # noqa: SLF001 - older torch has no public name for it
    return _rate(
        _median_ms(partial(multiply, left, right.t(), one, one, out_dtype=torch.bfloat16, use_fast_accum=True))
    )


def _rate(took_ms: float) -> float:
    """The TFLOP/s of one product."""
    return 2.0 * _SIZE**3 / took_ms / 1e9


def _copy_gbps() -> float:
    source = torch.empty(_COPY_BYTES, device="cuda", dtype=torch.uint8).random_()
    target = torch.empty_like(source)
    return 2.0 * _COPY_BYTES / _median_ms(partial(target.copy_, source)) / 1e6


def _median_ms(work: Callable[[], object]) -> float:
    """The median time of repetitions run back to back, in ms."""
    alone = statistics.median(_times_ms(work, _WARM))
    return statistics.median(_times_ms(work, max(5, min(_TIMED, int(_BUDGET_MS / alone)))))


def _times_ms(work: Callable[[], object], count: int) -> list[float]:
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
    marks[0].record()
    for mark in marks[1:]:
        work()
        mark.record()
    torch.cuda.synchronize()
    return [float(begin.elapsed_time(end)) for begin, end in itertools.pairwise(marks)]
