"""The step to measure: build everything it needs once, return what is to be called again and again."""

from __future__ import annotations

from collections.abc import Callable

import torch

from foretrace.scenario import Variant


def build(variant: Variant, device: str) -> Callable[[], object]:
    """A step for one variant; called in a process of its own."""
    x, y = (torch.randn(int(variant.params["elements"]), device=device) for _ in range(2))
    return lambda: torch.add(x, y)
