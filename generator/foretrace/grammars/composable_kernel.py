"""AMD's Composable Kernel and CK Tile: the class in the template states the operation.

Source: ROCm/composable_kernel include/ck, include/ck_tile (https://github.com/ROCm/composable_kernel). In mangled
names `t` is unsigned short, which CK uses for bf16 among others, so no type is read from it. `FmhaBwdOGradDotO`
prepares the backward pass, `FmhaBwdConvertQGrad` finishes it.
"""

from __future__ import annotations

import re

from foretrace.grammars.functions import Function, Words
from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms
from foretrace.grammars.spelling import Name

PATTERN = re.compile(r"ck::|ck_tile::")
CLASSES = Words(
    Function(r"FmhaBwd", "attention", {"attn_pass": "bwd"}),
    Function(r"Fmha", "attention", {"attn_pass": "fwd"}),
    Function(r"Rmsnorm2dFwd|Rmsnorm", "norm", {"op": "rms_norm"}),
    Function(r"Layernorm2dFwd|Layernorm", "norm", {"op": "layer_norm"}),
    Function(r"conv_fwd|ConvFwd|ConvolutionForward|conv\w*_fwd", "conv", {"conv_pass": "fprop"}),
    Function(r"_bwd_data|BwdData|ConvolutionBackwardData", "conv", {"conv_pass": "dgrad"}),
    Function(r"_bwd_weight|BwdWeight|ConvolutionBackwardWeight", "conv", {"conv_pass": "wgrad"}),
    Function(r"MoeSorting", "sort", {"op": "moe_sorting"}),
    Function(r"TopkSoftmax", "softmax", {"op": "topk_softmax"}),
    Function(r"[Gg]emm|GEMM", "gemm", {}),
    Function(r"Elementwise|elementwise|unary|Unary", "pointwise", {}),
    Function(r"[Ss]oftmax", "softmax", {}),
    Function(r"[Rr]educe", "reduction", {}),
    Function(r"[Pp]ermute|[Tt]ranspose|[Ii]mage_?[Tt]o_?[Cc]olumn", "copy", {}),
)
WORD = re.compile(r"[A-Za-z_]\w*")
TERMS: Terms = {
    "function": Term("entry function; what it runs is in its template arguments", "B"),
    "class": Term("the class that states the operation", "B"),
}
EXAMPLES: Examples = {
    "_ZN7ck_tile6kentryILi256ELi2ENS_13FmhaFwdKernelINS_2...": {"family": "attention", "attn_pass": "fwd"},
    "void ck::kernel_moe_gemm<ck::GridwiseMoeGemm<ck::tensor_layout::gemm::RowMajor, unsigned short, float> >(int)": {
        "family": "gemm",
    },
    "void ck::tensor_operation::device::(anonymous namespace)::kernel_grouped_conv_fwd_xdl_cshuffle_v3<ck::"
    "Gridwise<int> >(int)": {
        "family": "conv", "conv_pass": "fprop",
    },
}  # fmt: skip


def read(name: Name) -> Draft:
    """The operation, from the function's name, else from the class inside it."""
    draft = Draft("other", "ck-tile" if name.subject.startswith("ck_tile") else "ck")
    draft.mark(name.leaf, "function")
    spans = [name.leaf]
    if name.symbol in ("kentry", "kernel", "kernel_launch"):
        spans = [match.span() for match in WORD.finditer(name.text, name.leaf[1], min(name.rest, name.leaf[1] + 400))]
    for span in spans:
        if CLASSES.tell(draft, name.text[slice(*span)]):
            if span != name.leaf:
                draft.mark(span, "class")
            break
    return draft


GRAMMAR = Grammar(
    "composable_kernel", __doc__, "https://github.com/ROCm/composable_kernel", PATTERN, read, TERMS, EXAMPLES
)
