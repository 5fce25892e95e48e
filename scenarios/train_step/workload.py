"""The step: one transformer block in training, from `zero_grad` to `optimizer.step`, its loss eager or compiled."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional

from foretrace.scenario import Variant

HEAD_DIM = 64
SEQUENCES = {1024: (8, 1024), 64: (2, 64)}  # width of the block: sequences in a batch, tokens in a sequence


class Block(nn.Module):
    """A pre-norm block: causal attention, then an MLP with GELU, each added to what came in."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.before_attention, self.before_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """From batch × tokens × width to the same."""
        x = x + self.attention(self.before_attention(x))
        return x + self.down(functional.gelu(self.up(self.before_mlp(x))))

    def attention(self, x: torch.Tensor) -> torch.Tensor:
        """Every token attends to itself and to those before it."""
        q, k, v = (part.unflatten(-1, (-1, HEAD_DIM)).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        attended = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(attended.transpose(1, 2).flatten(2))


def build(variant: Variant, device: str) -> Callable[[], object]:
    """A step that fits the block to a fixed target; the loss stays on the device, unread."""
    width = int(variant.params["width"])
    block = Block(width).to(device, torch.bfloat16)
    x, target = (torch.randn((*SEQUENCES[width], width), device=device, dtype=torch.bfloat16) for _ in range(2))
    way = {"for-loop": {"foreach": False}, "foreach": {"foreach": True}, "fused": {"fused": True}}
    optimizer = torch.optim.AdamW(block.parameters(), **way[str(variant.params["optimizer"])])

    def loss_of(x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return functional.mse_loss(block(x), target)

    forward = loss_of if variant.params["mode"] == "eager" else torch.compile(loss_of)

    def step() -> torch.Tensor:
        with torch.enable_grad():
            optimizer.zero_grad(set_to_none=True)
            loss = forward(x, target)
            loss.backward()
            optimizer.step()
        return loss.detach()

    return step
