"""The step: a linear layer or a GeGLU MLP forward, alone or followed by its backward pass, eager or compiled."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn import functional

from foretrace.scenario import Variant

SHAPES = {
    "linear": ((4096, 4096), (4096,)),  # weight, bias
    "geglu_mlp": ((3072, 768), (3072, 768), (768, 3072)),  # gate, up, down
}


def build(variant: Variant, device: str) -> Callable[[], object]:
    """A step on bf16 inputs that stay where they are; with a backward pass it leaves no gradient behind."""
    program, tokens = str(variant.params["program"]), int(variant.params["tokens"])
    parameters = tuple(_random(shape, device) * shape[-1] ** -0.5 for shape in SHAPES[program])
    x = _random((tokens, SHAPES[program][0][-1]), device)
    function = {"linear": functional.linear, "geglu_mlp": geglu_mlp}[program]
    forward = function if variant.params["mode"] == "eager" else torch.compile(function)
    if variant.params["phase"] == "forward":
        return lambda: forward(x, *parameters)
    leaves = [tensor.requires_grad_() for tensor in (x, *parameters)]
    gradient = _random((tokens, SHAPES[program][-1][0]), device)
    return lambda: forward_backward(forward, leaves, gradient)


def geglu_mlp(x: torch.Tensor, gate: torch.Tensor, up: torch.Tensor, down: torch.Tensor) -> torch.Tensor:
    """The rows of x, gated and projected up and down again; the weights are stored as `nn.Linear` stores them."""
    gated = functional.gelu(functional.linear(x, gate), approximate="tanh") * functional.linear(x, up)
    return functional.linear(gated, down)


def forward_backward(
    forward: Callable[..., torch.Tensor], leaves: list[torch.Tensor], gradient: torch.Tensor
) -> list[torch.Tensor | None]:
    """The gradients of all leaves, for a given gradient of the output; none is kept for the next step."""
    with torch.enable_grad():
        torch.autograd.backward(forward(*leaves), gradient)
    found = [leaf.grad for leaf in leaves]
    for leaf in leaves:
        leaf.grad = None
    return found


def _random(shape: tuple[int, ...], device: str) -> torch.Tensor:
    return torch.randn(shape, device=device, dtype=torch.bfloat16)
