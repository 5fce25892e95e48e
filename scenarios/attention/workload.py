"""The step: causal attention, written by hand in two ways, or through one backend of scaled_dot_product_attention."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.backends.cuda import enable_cudnn_sdp, enable_flash_sdp, enable_math_sdp, enable_mem_efficient_sdp
from torch.nn.functional import scaled_dot_product_attention

from foretrace.errors import CannotMeasure
from foretrace.scenario import Variant

BATCH, HEADS, DIM = 8, 16, 64
SWITCHES = {
    "math": enable_math_sdp,
    "efficient": enable_mem_efficient_sdp,
    "flash": enable_flash_sdp,
    "cudnn": enable_cudnn_sdp,
}
REFUSALS = ("No viable backend", "No available kernel")


def build(variant: Variant, device: str) -> Callable[[], object]:
    """A step on inputs that stay where they are: bf16, random, contiguous batch × heads × sequence × dim."""
    seq, form, mode = (variant.params[key] for key in ("seq", "form", "mode"))
    shape = (BATCH, HEADS, int(seq), DIM)
    q, k, v = (torch.randn(shape, device=device, dtype=torch.bfloat16) for _ in range(3))
    if form not in ("naive", "inplace"):
        return through(str(form), q, k, v)
    by_hand = naive if form == "naive" else inplace
    attend = by_hand if mode == "eager" else torch.compile(by_hand)
    later = torch.ones(shape[2], shape[2], device=device, dtype=torch.bool).triu(1)
    return lambda: attend(q, k, v, later)


def naive(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, later: torch.Tensor) -> torch.Tensor:
    """Softmax of the masked scores times v; masking makes a new matrix."""
    scores = q @ k.transpose(-2, -1) * DIM**-0.5
    return scores.masked_fill(later, float("-inf")).softmax(-1) @ v


def inplace(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, later: torch.Tensor) -> torch.Tensor:
    """The same; masking writes over the scores."""
    scores = q @ k.transpose(-2, -1) * DIM**-0.5
    return scores.masked_fill_(later, float("-inf")).softmax(-1) @ v


def through(backend: str, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Callable[[], object]:
    """The library's operator with one backend alone, or with its own choice where `backend` is `auto`.

    The switches are those that `torch.nn.attention.sdpa_kernel` sets and resets. They are set once, since a process
    measures one variant, and so no step pays for them.
    """
    if backend != "auto":
        for name, enable in SWITCHES.items():
            enable(name == backend)

    def step() -> torch.Tensor:
        return scaled_dot_product_attention(q, k, v, is_causal=True)

    try:
        step()
    except RuntimeError as refused:
        if not str(refused).startswith(REFUSALS):
            raise
        raise CannotMeasure(
            f"the {backend} backend does not take these inputs on {q.device.type}", remedy="use a GPU that it supports"
        ) from refused
    return step
