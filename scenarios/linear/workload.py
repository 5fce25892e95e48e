"""The step: one linear layer, with or without a bias, eager or compiled."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name

from foretrace.scenario import Variant


def build(variant: Variant, device: str) -> Callable[[], object]:
    """A step on inputs that stay where they are: bf16, random; the weight as `nn.Linear` keeps it, out × in."""
    shape, bias, mode = (str(variant.params[key]) for key in ("shape", "bias", "mode"))
    rows, features, outputs = map(int, shape.split("x"))
    x, weight, row = (
        torch.randn(size, device=device, dtype=torch.bfloat16)
        for size in ((rows, features), (outputs, features), (outputs,))
    )
    linear = F.linear if mode == "eager" else torch.compile(F.linear)
    added = row if bias == "bias" else None
    return lambda: linear(x, weight, added)
