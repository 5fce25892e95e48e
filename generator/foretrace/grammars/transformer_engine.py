"""Transformer Engine and apex: layer norms, casts with transposes, fused softmax and attention helpers.

Source: NVIDIA/TransformerEngine transformer_engine/common/normalization and apex contrib/csrc/layer_norm
(https://github.com/NVIDIA/TransformerEngine). `ln_fwd_kernel<Kernel_traits<weight, input, output, …>>`.
"""

from __future__ import annotations

from foretrace.grammars.functions import Function, Table
from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms
from foretrace.grammars.spelling import Name, dtype, inside

TABLE = Table(
    "transformer-engine",
    (
        Function(r"ln_fwd\w*|layernorm_fwd\w*", "norm", {"op": "layer_norm", "norm_pass": "fwd"}),
        Function(r"ln_bwd\w*|layernorm_bwd\w*", "norm", {"op": "layer_norm", "norm_pass": "bwd"}),
        Function(r"rmsnorm_fwd\w*", "norm", {"op": "rms_norm", "norm_pass": "fwd"}),
        Function(r"rmsnorm_bwd\w*", "norm", {"op": "rms_norm", "norm_pass": "bwd"}),
        Function(r"\w*softmax_warp_forward|scaled_\w*softmax\w*forward", "softmax", {"softmax_pass": "fwd"}),
        Function(r"\w*softmax_warp_backward|scaled_\w*softmax\w*backward", "softmax", {"softmax_pass": "bwd"}),
        Function(r"fused_rope_\w+", "pointwise", {"op": "rope"}),
        Function(r"(?:remove|add)_padding\w*", "copy", {}),
        Function(r"\w*cast\w*transpose\w*|\w*quantize\w*|cast_\w+", "pointwise", {"op": "quantize"}),
        Function(r"transpose\w*", "copy", {"op": "transpose"}),
        Function(r"\w*gated\w*|\w*swiglu\w*|\w*gelu\w*", "pointwise", {}),
        Function(r"multi_tensor\w*adam\w*", "optimizer", {"op": "adam"}),
        Function(r"(?!multi_tensor_apply_kernel)\w+", "other", {}),
    ),
    namespaces=r"(?:layer_norm|transformer_engine|transformer_engine_\w+)::(?:\w++::)*+",
)  # fmt: skip
TERMS: Terms = {
    "function": Term("a kernel of Transformer Engine or apex, named after what it does", "B"),
    "dtype": Term("input type", "B"),
}
EXAMPLES: Examples = {
    "void layer_norm::ln_bwd_kernel<layer_norm::Kernel_traits<__nv_bfloat16, __nv_bfloat16, __nv_bfloat16, "
    "__nv_bfloat16, float, "
    "unsigned int, 512u, 1u, 4u, 1u, 16u>, false, false, false, true>(layer_norm::BwdParams)": {
        "op": "layer_norm", "norm_pass": "bwd", "dtype": "bf16",
    },
    "void transformer_engine::normalization::rmsnorm_bwd_finalize_general_kernel<float, 4, 1>(int)": {"op": "rms_norm"},
}  # fmt: skip


def read(name: Name) -> Draft:
    """The operation, its pass, and the input type where the traits give it."""
    draft = TABLE.read(name)
    if name.subject.startswith("layer_norm"):
        draft.library = "apex"
    if name.symbol.startswith("remove_pad"):
        draft.family, draft.fields["op"] = "copy", "unpad"
    traits = inside(name, "Kernel_traits")
    if len(traits) > 1 and (kind := dtype(traits[1].text)):
        draft.say(traits[1].span, "dtype", kind)
    return draft


GRAMMAR = Grammar(
    "transformer_engine", __doc__, "https://github.com/NVIDIA/TransformerEngine", TABLE.pattern, read, TERMS, EXAMPLES
)
