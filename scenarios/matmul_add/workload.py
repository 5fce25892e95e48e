"""The step: one matrix product, one addition of a whole matrix, eager or compiled."""

from __future__ import annotations

from collections.abc import Callable

import torch

from foretrace.scenario import Variant


def build(variant: Variant, device: str) -> Callable[[], object]:
    """A step on inputs that stay where they are: bf16, random, square or a batch of squares."""
    size, dims, mode = (variant.params[key] for key in ("size", "dims", "mode"))
    shape = (int(size),) * (3 if dims == "3d" else 2)
    x, w, b = (torch.randn(shape, device=device, dtype=torch.bfloat16) for _ in range(3))
    step = matmul_add if mode == "eager" else torch.compile(matmul_add, mode=None if mode == "compile" else str(mode))
    return lambda: step(x, w, b)


def matmul_add(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """x @ w + b, written as two calls."""
    return torch.add(torch.matmul(x, w), b)
