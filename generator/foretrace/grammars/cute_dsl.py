"""Kernels written in CuTe's Python DSL: FlashAttention 4, FlashInfer's norms.

Source: NVIDIA/cutlass python/CuTeDSL (https://github.com/NVIDIA/cutlass), names as FlashInfer and flash-attention
print them. The name runs module and class together, and then the tensors; `object_at_…` is an address and changes
from run to run.
"""

from __future__ import annotations

import re

from foretrace.grammars.reading import Draft, Examples, Family, Grammar, Term, Terms, Value
from foretrace.grammars.spelling import Name

PATTERN = re.compile(r"kernel_cutlass_")
HEAD = re.compile(
    r"kernel_cutlass_(?:kernel_)?(?P<module>[A-Za-z0-9_]*?)(?P<object>_object_at_+(?:0x[0-9a-f]+)?"
    r"|(?=_tensorptr)|$)"
)
TENSOR = re.compile(r"tensorptr(bf16|f16|f32|f8\w*?|i32|i64)gmem")
CLASSES: tuple[tuple[str, Family, dict[str, Value]], ...] = (
    ("RMSNorm", "norm", {"op": "rms_norm"}),
    ("LayerNorm", "norm", {"op": "layer_norm"}),
    ("FlashAttentionForward", "attention", {"attn_pass": "fwd"}),
    ("FlashAttentionBackward", "attention", {"attn_pass": "bwd"}),
    ("FlashAttention", "attention", {}),
    ("Softmax", "softmax", {}),
    ("Gemm", "gemm", {}),
)
TERMS: Terms = {
    "library": Term("kernel from CuTe's Python DSL", "B"),
    "class": Term("module and class that define it", "B"),
    "address": Term("address of an object, or nothing; not stable", "B"),
    "dtype": Term("type of the first tensor", "B"),
}
EXAMPLES: Examples = {
    "kernel_cutlass_kernel_flashinfernormkernelsrmsnormRMSNormKernel_object_at__tensorptrbf16gmemalign128o204820481_"
    "tensorptrbf16gmemalign16o20481___True_4__0": {"family": "norm", "op": "rms_norm", "dtype": "bf16"},
}


def read(name: Name) -> Draft:
    """What the class is called, and the type of its first tensor."""
    draft = Draft("other", "cute-dsl")
    draft.mark((name.inner, name.inner + len("kernel_cutlass")), "library")
    match = HEAD.match(name.text, name.inner, name.end)
    if match is None:
        return draft
    draft.mark(match.span("module"), "class")
    if match["object"]:
        draft.mark(match.span("object"), "address")
    for word, family, fields in CLASSES:
        if word in match["module"]:
            draft.family = family
            draft.fields |= fields
            break
    if "flashinfer" in match["module"]:
        draft.library = "cute-dsl-flashinfer"
    if tensor := TENSOR.search(name.text, match.end(), name.end):
        draft.say(tensor.span(1), "dtype", tensor[1])
    return draft


GRAMMAR = Grammar("cute_dsl", __doc__, "https://github.com/NVIDIA/cutlass", PATTERN, read, TERMS, EXAMPLES)
