"""The step: one of three programs over a number of rows, eager or compiled."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name

from foretrace.scenario import Variant


def build(variant: Variant, device: str) -> Callable[[], object]:
    """A step on inputs that stay where they are: bf16, random, weights scaled so that sums stay near 1."""
    program, rows, mode = (variant.params[key] for key in ("program", "rows", "mode"))
    function, shapes = PROGRAMS[str(program)]
    x, *weights = (torch.randn(shape, device=device, dtype=torch.bfloat16) for shape in shapes(int(rows)))
    scaled = [weight / weight.shape[-1] ** 0.5 for weight in weights]
    step = function if mode == "eager" else torch.compile(function)
    return lambda: step(x, *scaled)


def matmul_add(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """x @ w + b, written as two calls."""
    return torch.add(torch.matmul(x, w), b)


def linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """A linear layer with a bias."""
    return F.linear(x, weight, bias)


def geglu_mlp(x: torch.Tensor, gate: torch.Tensor, up: torch.Tensor, down: torch.Tensor) -> torch.Tensor:
    """Two projections of one input, one of them through GELU, multiplied and projected back."""
    return F.linear(F.gelu(F.linear(x, gate)) * F.linear(x, up), down)


PROGRAMS: dict[str, tuple[Callable[..., torch.Tensor], Callable[[int], list[tuple[int, ...]]]]] = {
    "matmul_add": (matmul_add, lambda rows: [(rows, rows)] * 3),
    "linear": (linear, lambda rows: [(rows, 4096), (4096, 4096), (4096,)]),
    "geglu_mlp": (geglu_mlp, lambda rows: [(rows, 768), (3072, 768), (3072, 768), (768, 3072)]),
}
