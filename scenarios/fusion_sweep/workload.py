"""The step: one chain of operators on one tensor, eager or compiled."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from torch import Tensor

from foretrace.scenario import Variant

WIDTH, WIDE = 4096, 131072  # of a row
SCALE, DROPPED = 0.125, 0.1


def build(variant: Variant, device: str) -> Callable[[], object]:
    """A step on inputs that stay where they are: bf16, random; a chain's parameters say which it takes."""
    name, rows, mode = (variant.params[key] for key in ("chain", "rows", "mode"))
    chain = CHAINS[str(name)]
    width = WIDE if name == "rms_norm_wide" else WIDTH
    full, row = (int(rows), width), (width,)
    shapes = {"x": full, "other": full, "weight": row, "bias": row, "matrix": (width, width)}
    inputs = [
        torch.randn(shapes[parameter], device=device, dtype=torch.bfloat16)
        for parameter in inspect.signature(chain).parameters
    ]
    step = chain if mode == "eager" else torch.compile(chain)
    return lambda: step(*inputs)


def bias_relu(x: Tensor, bias: Tensor) -> Tensor:
    """A row added to every row, and the ReLU of the sum."""
    return F.relu(x + bias)


def bias_gelu(x: Tensor, bias: Tensor) -> Tensor:
    """The same with an activation that computes more."""
    return F.gelu(x + bias)


def swiglu(x: Tensor, other: Tensor) -> Tensor:
    """A gate through SiLU, times another tensor."""
    return F.silu(x) * other


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Rows brought to mean 0 and variance 1, scaled and moved."""
    return F.layer_norm(x, weight.shape, weight, bias)


def rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    """Rows divided by their root mean square, and scaled."""
    return F.rms_norm(x, weight.shape, weight)


def add_layer_norm(x: Tensor, other: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """A residual and its normalization."""
    return layer_norm(x + other, weight, bias)


def add_rms_norm(x: Tensor, other: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """The sum, which the next block adds to, and its norm."""
    total = x + other
    return total, rms_norm(total, weight)


def softmax(x: Tensor) -> Tensor:
    """Rows to weights that add up to 1."""
    return F.softmax(x, dim=-1)


def scaled_masked_softmax(x: Tensor, other: Tensor) -> Tensor:
    """Attention scores to weights, with a mask that is added."""
    return F.softmax(SCALE * x + other, dim=-1)


def layer_norm_gelu(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """A normalization with an activation behind it."""
    return F.gelu(layer_norm(x, weight, bias))


def dropout(x: Tensor) -> Tensor:
    """A tenth of the values set to 0, the others scaled."""
    return F.dropout(x, DROPPED, training=True)


def dropout_add_layer_norm(x: Tensor, other: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """What ends a block of a model in training."""
    return layer_norm(dropout(x) + other, weight, bias)


def linear_gelu_add(x: Tensor, matrix: Tensor, other: Tensor) -> Tensor:
    """A matrix product, an activation and a residual."""
    return F.gelu(F.linear(x, matrix)) + other


CHAINS: dict[str, Callable[..., object]] = {
    "bias_relu": bias_relu,
    "bias_gelu": bias_gelu,
    "swiglu": swiglu,
    "layer_norm": layer_norm,
    "rms_norm": rms_norm,
    "rms_norm_wide": rms_norm,
    "add_layer_norm": add_layer_norm,
    "add_rms_norm": add_rms_norm,
    "softmax": softmax,
    "scaled_masked_softmax": scaled_masked_softmax,
    "layer_norm_gelu": layer_norm_gelu,
    "dropout": dropout,
    "dropout_add_layer_norm": dropout_add_layer_norm,
    "linear_gelu_add": linear_gelu_add,
}
