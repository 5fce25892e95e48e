"""Kernels that TorchScript's fuser names after the operations it fused: `fused_add_reciprocal_mul`.

Source: pytorch torch/csrc/jit/passes/tensorexpr_fuser.cpp (https://github.com/pytorch/pytorch). The operations
stand in the order of the graph; nothing else shows.
"""

from __future__ import annotations

import re

from foretrace.grammars.aten_ops import OPS
from foretrace.grammars.inductor import fused_operations
from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms
from foretrace.grammars.spelling import Name

PATTERN = re.compile(
    r"fused_(?=(?:add|sub|mul|div|neg|exp|log|pow|sin|cos|tanh|sigmoid|relu|gelu|cat|chunk|sqrt|rsqrt"
    r"|reciprocal|type_as|clamp|where|unsqueeze|expand|to|aten)"
    r"(?:_|$))(?!\w*(?:norm|kernel|rope|quant|bias))[a-z0-9_]+$"
)
TERMS: Terms = {
    "library": Term("kernel of TorchScript's fuser", "B"),
    "fused_ops": Term("a fused operation, in the order of the graph", "B"),
}
EXAMPLES: Examples = {
    "fused_add_mul_tanh": {"family": "pointwise", "fused_ops": ("add", "mul", "tanh")},
}


def read(name: Name) -> Draft:
    """The operations, in order."""
    draft = Draft("pointwise", "torchscript-fuser")
    start = name.inner + len("fused_")
    draft.mark((name.inner, start - 1), "library")
    ops = fused_operations(name.text[start : name.end])
    if all(op in OPS for op in ops):
        draft.fields["fused_ops"] = ops
        for op in ops:
            draft.mark((start, start + len(op)), "fused_ops")
            start += len(op) + 1
    return draft


GRAMMAR = Grammar("torchscript", __doc__, "https://github.com/pytorch/pytorch", PATTERN, read, TERMS, EXAMPLES)
