"""FlashInfer: attention for serving, and the kernels around it.

Source: flashinfer-ai/flashinfer include/flashinfer/attention/prefill.cuh, decode.cuh, mask.cuh
(https://github.com/flashinfer-ai/flashinfer). Prefill traits are `<mask mode, tile of Q, MMAs along Q, KV, head dim
of QK, head dim of VO, …>` with 16 elements an MMA; mask mode 1 is causal.
"""

from __future__ import annotations

import re

from foretrace.grammars.functions import Function, Table
from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms
from foretrace.grammars.spelling import Name, dtype, inside, number

TABLE = Table(
    "flashinfer",
    (
        Function(r"\w*Prefill\w*Kernel\w*", "attention", {"attn_pass": "fwd", "phase": "prefill"}),
        Function(r"\w*Decode\w*Kernel\w*", "attention", {"attn_pass": "fwd", "phase": "decode"}),
        Function(r"\w*(?:MLA|Attention)\w*Kernel\w*|\w*MergeState\w*|PersistentVariableLengthMergeStatesKernel",
        "attention",
                 {"attn_pass": "fwd"}),
        Function(r"FusedAddRMSNorm\w*Kernel", "norm", {"op": "add_rms_norm", "norm_pass": "fwd"}, ("vec", "dtype")),
        Function(r"\w*RMSNorm\w*Kernel", "norm", {"op": "rms_norm", "norm_pass": "fwd"}, ("vec", "dtype")),
        Function(r"\w*LayerNorm\w*Kernel", "norm", {"op": "layer_norm", "norm_pass": "fwd"}),
        Function(r"act_and_mul_kernel", "pointwise", {"op": "act_and_mul"}, ("dtype",)),
        Function(r"\w*Rotary\w*|\w*Rope\w*", "pointwise", {"op": "rope"}),
        Function(r"\w*Append\w*KVCache\w*Kernel", "copy", {"op": "kv_cache_write"}),
        Function(r"\w*TopK\w*|RadixTopK\w*", "sort", {"op": "topk"}),
        Function(r"\w*Sampling\w*Kernel", "rng", {"op": "sampling"}),
        Function(r"\w*[Qq]uantiz\w*", "pointwise", {"op": "quantize"}),
        Function(r"\w*Softmax\w*Kernel", "softmax", {"op": "softmax"}),
    ),
    namespaces=r"flashinfer::(?:\w++::)*+",
)  # fmt: skip
ACTIVATION = re.compile(r"&\(?(?:\w+::)*(\w+)")
MODES = {0: False, 1: True}
TERMS: Terms = {
    "function": Term("a kernel of FlashInfer, named after what it does", "A"),
    "vec": Term("elements per vector access", "A"),
    "dtype": Term("element type", "A"),
    "op": Term("the activation", "A"),
    "causal": Term("mask mode: 0 none, 1 causal, 2 custom, 3 multi-item", "A"),
    "block_m": Term("queries per block", "A"),
    "head_dim": Term("head dimension, in steps of 16", "A"),
    "head_dim_v": Term("head dimension of V, in steps of 16", "A"),
}
EXAMPLES: Examples = {
    "void flashinfer::activation::act_and_mul_kernel<__nv_bfloat16, &(silu(float const&))>(__nv_bfloat16*, int)": {
        "op": "silu_and_mul", "dtype": "bf16", "family": "pointwise",
    },
    "void flashinfer::BatchPrefillWithPagedKVCacheKernel<flashinfer::KernelTraits<(flashinfer::MaskMode)1, 128u, "
    "2u, 2u, 8u, 8u, "
    "4u, 1u, (flashinfer::PosEncodingMode)0, __nv_bfloat16, __nv_bfloat16, __nv_bfloat16, float, int>, int>(int)": {
        "family": "attention", "causal": True, "kv": "paged", "head_dim": 128, "head_dim_v": 128, "dtype": "bf16",
        "block_m": 128,
    },
    "void flashinfer::BatchDecodeWithPagedKVCacheKernel<(flashinfer::PosEncodingMode)0, (unsigned int)2, (unsigned "
    "int)1, "
    "(unsigned int)8, (unsigned int)16, (unsigned int)2, (unsigned int)4, flashinfer::DefaultAttention<(bool)0>, "
    "Params>(T9)": {
        "phase": "decode", "head_dim": 128,
    },
}  # fmt: skip


def read(name: Name) -> Draft:
    """The operation; of prefill attention mask, block and head dimensions."""
    draft = TABLE.read(name)
    if draft.fields.get("op") == "act_and_mul" and len(name.arguments) > 1:
        argument = name.arguments[1]
        if match := ACTIVATION.match(argument.text):
            draft.say(argument.span, "op", f"{match[1].removesuffix('_kernel')}_and_mul")
    if "Paged" in name.symbol:
        draft.fields["kv"] = "paged"
    if "Decode" in name.symbol:
        _decode(draft, name)
    traits = inside(name, "KernelTraits")
    for role, argument in zip(("mask", "block_m", "", "", "head_dim", "head_dim_v"), traits, strict=False):
        value = number(argument.text)
        if value is None or not role:
            continue
        if role == "mask":
            if value in MODES:
                draft.say(argument.span, "causal", MODES[value])
        else:
            draft.say(argument.span, role, value if role == "block_m" else 16 * value)
    for argument in traits[6:]:
        if kind := dtype(argument.text):
            draft.say(argument.span, "dtype", kind)
            break
    return draft


def _decode(draft: Draft, name: Name) -> None:
    """`<position encoding, stages, tile, vector, threads x, y, z, …>`: a row of threads holds one head."""
    values = [number(argument.text) for argument in name.arguments[:7]]
    if len(values) == 7 and None not in values:
        draft.mark((name.arguments[3].start, name.arguments[4].end), "head_dim")
        draft.fields["head_dim"] = (values[3] or 0) * (values[4] or 0)


GRAMMAR = Grammar(
    "flashinfer", __doc__, "https://github.com/flashinfer-ai/flashinfer", TABLE.pattern, read, TERMS, EXAMPLES
)
