"""The step: a gated MLP without biases, down(gelu(gate(x)) · up(x)); GELU in its tanh approximation in every form."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from torch.nn.functional import gelu

from foretrace.errors import CannotMeasure
from foretrace.scenario import Variant

PRELOAD = ("liger_kernel.ops.geglu",)  # takes seconds to import


class GegluMLP(nn.Module):
    """Two pointwise operators between three products."""

    def __init__(self, dim: int, hidden: int, *, device: str) -> None:
        super().__init__()
        where = {"bias": False, "device": device, "dtype": torch.bfloat16}
        self.gate = nn.Linear(dim, hidden, **where)
        self.up = nn.Linear(dim, hidden, **where)
        self.down = nn.Linear(hidden, dim, **where)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Batch × length × dim, in and out."""
        return self.down(gelu(self.gate(x), approximate="tanh") * self.up(x))


class LigerMLP(GegluMLP):
    """The same with Liger's kernel between the products."""

    def __init__(self, dim: int, hidden: int, *, device: str) -> None:
        super().__init__(dim, hidden, device=device)
        if device != "cuda":
            raise CannotMeasure("Liger's kernel is written in Triton", remedy="measure it with --device cuda")
        try:
            from liger_kernel.ops.geglu import LigerGELUMulFunction
        except ImportError as missing:
            raise CannotMeasure(f"liger-kernel: {missing}", remedy="pip install -e '.[liger]'") from missing
        self.geglu = LigerGELUMulFunction.apply

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Batch × length × dim, in and out."""
        return self.down(self.geglu(self.gate(x), self.up(x)))


def build(variant: Variant, device: str) -> Callable[[], object]:
    """A step on an input that stays where it is: bf16, random, batch × length × dim."""
    shape, mode = (str(variant.params[key]) for key in ("shape", "mode"))
    batch, length, dim, hidden = map(int, shape.split("x"))
    x = torch.randn((batch, length, dim), device=device, dtype=torch.bfloat16)
    mlp = (LigerMLP if mode == "liger" else GegluMLP)(dim, hidden, device=device)
    if mode in ("compile", "reduce-overhead"):
        mlp.compile(mode=None if mode == "compile" else mode)
    return lambda: mlp(x)
