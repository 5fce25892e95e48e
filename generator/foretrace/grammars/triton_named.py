"""Hand-written Triton kernels with known names: Liger, Transformer Engine, vLLM, mamba, the tutorials.

Source: linkedin/Liger-Kernel src/liger_kernel/ops (https://github.com/linkedin/Liger-Kernel), TransformerEngine
common/triton/permutation.py, vllm attention/ops, state-spaces/mamba ops/triton. A Triton kernel is called like its
Python function, so the library is likely and no more.
"""

from __future__ import annotations

import re

from foretrace.grammars.functions import Function, Table
from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms
from foretrace.grammars.spelling import Name

ROWS: tuple[tuple[str, Function], ...] = (
    ("liger", Function(r"_(?:block_)?rms_norm_forward_kernel", "norm", {"op": "rms_norm", "norm_pass": "fwd"})),
    ("liger", Function(r"_(?:block_)?rms_norm_backward_kernel", "norm", {"op": "rms_norm", "norm_pass": "bwd"})),
    ("liger", Function(r"_layer_norm_forward_kernel", "norm", {"op": "layer_norm", "norm_pass": "fwd"})),
    ("liger", Function(r"_layer_norm_backward_kernel", "norm", {"op": "layer_norm", "norm_pass": "bwd"})),
    ("liger", Function(r"_group_norm_forward_kernel", "norm", {"op": "group_norm", "norm_pass": "fwd"})),
    ("liger", Function(r"_group_norm_backward_kernel", "norm", {"op": "group_norm", "norm_pass": "bwd"})),
    ("liger", Function(r"liger_cross_entropy_kernel", "softmax", {"op": "cross_entropy"})),
    ("liger", Function(r"_triton_rope|_triton_qwen2vl_mrope|_triton_llama4_rope", "pointwise", {"op": "rope"})),
    ("liger", Function(r"_(swiglu|geglu)(?:_tanh)?_(?:forward|backward)_kernel", "pointwise", {})),
    ("transformer-engine", Function(r"_permute_kernel", "copy", {"op": "moe_permute"})),
    ("transformer-engine", Function(r"_unpermute_(?:bwd_\w+_)?kernel", "copy", {"op": "moe_unpermute"})),
    ("transformer-engine", Function(r"_sort_chunks_by_\w+_kernel", "copy", {"op": "moe_sort_chunks"})),
    ("vllm", Function(r"fused_moe_kernel\w*", "gemm", {"op": "fused_moe"})),
    ("vllm", Function(r"kernel_unified_attention_[23]d|kernel_paged_attention_2d", "attention", {"attn_pass": "fwd"})),
    ("vllm", Function(r"_fwd_grouped_kernel_stage1|_fwd_kernel_stage[12]|_decode_paged_kernel", "attention", {})),
    ("mamba", Function(r"_chunk_scan_fwd_kernel|_chunk_state_fwd_kernel|_state_passing_fwd_kernel|_bmm_chunk_fwd_kernel"
                       r"|_chunk_cumsum_fwd_kernel|_selective_scan_update_kernel", "other", {})),
    ("triton-flash-attention",
    Function(r"_?attn_fwd(?:_inner)?|_attn_bwd(?:_preprocess|_dkdv|_dq)?|bwd_kernel_(?:fuse|dk_dv|dq)"
                                        r"|_fwd_kernel_splitK|_bwd_(?:kernel_dk_dv|kernel_dq|preprocess\w*)",
                                        "attention", {})),
)  # fmt: skip
TABLE = Table("triton", tuple(function for _, function in ROWS), namespaces="")
TERMS: Terms = {"function": Term("a hand-written Triton kernel, called like its Python function", "B")}
EXAMPLES: Examples = {
    "_rms_norm_forward_kernel": {"family": "norm", "op": "rms_norm", "norm_pass": "fwd"},
    "liger_cross_entropy_kernel": {"family": "softmax", "op": "cross_entropy"},
    "_permute_kernel.kd": {"family": "copy", "op": "moe_permute"},
    "kernel_unified_attention_2d": {"family": "attention"},
}


def read(name: Name) -> Draft:
    """The operation that the function is known for."""
    draft = TABLE.read(name)
    symbol = name.symbol
    library = next(library for library, function in ROWS if re.fullmatch(function.pattern, symbol))
    draft.note(f"likely from {library}: a Triton kernel bears the name of a Python function and not of a library")
    if draft.family == "attention" and (found := re.search(r"fwd|bwd|decode", symbol)):
        draft.fields["attn_pass"] = "bwd" if found[0] == "bwd" else "fwd"
    return draft


GRAMMAR = Grammar(
    "triton_named", __doc__, "https://github.com/linkedin/Liger-Kernel", TABLE.pattern, read, TERMS, EXAMPLES
)
