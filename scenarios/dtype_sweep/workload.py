"""The step: one matrix product in one of five number formats, its second operand column by column."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch

from foretrace.errors import CannotMeasure
from foretrace.scenario import Variant

DTYPES = {
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
    "fp32": torch.float32,
    "tf32": torch.float32,
    "fp8": torch.float8_e4m3fn,
}
SINCE = {"bf16": (8, 0), "tf32": (8, 0), "fp8": (8, 9)}  # the compute capability whose tensor cores first multiply it
TENSOR_CORES_ONLY = ("tf32", "fp8")


def build(variant: Variant, device: str) -> Callable[[], object]:
    """A step on inputs that stay where they are: normally distributed, rounded to the format."""
    dtype, shape = str(variant.params["dtype"]), str(variant.params["shape"])
    require(dtype, device)
    rows, width = (int(size) for size in (shape.split("x") * 2)[:2])
    torch.set_float32_matmul_precision("high" if dtype == "tf32" else "highest")
    left, right = (torch.randn(size, width, device=device).to(DTYPES[dtype]) for size in (rows, width))
    if dtype != "fp8":
        return partial(torch.mm, left, right.t())
    one = torch.ones((), device=device)
    return partial(
        torch._scaled_mm,  # noqa: SLF001 - older torch has no public name for it
        left,
        right.t(),
        scale_a=one,
        scale_b=one,
        out_dtype=torch.bfloat16,
        use_fast_accum=True,
    )


def require(dtype: str, device: str) -> None:
    """Refuse a format that this device has no arithmetic for.

    Raises:
        CannotMeasure: there is none.
    """
    if device == "cpu":
        if dtype in TENSOR_CORES_ONLY:
            raise CannotMeasure(f"{dtype} is a format of tensor cores, and a CPU has none", remedy="use a CUDA device")
        return
    least, found = SINCE.get(dtype, (0, 0)), torch.cuda.get_device_capability()
    if found < least:
        raise CannotMeasure(
            f"{dtype} products need compute capability {least[0]}.{least[1]}, and this device has {found[0]}.{found[1]}",
            remedy="use a newer device",
        )
