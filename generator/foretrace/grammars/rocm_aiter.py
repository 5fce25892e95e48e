"""AITER, AMD's kernels for serving: assembly attention and GEMM, HIP norms and quantization.

Source: ROCm/aiter csrc and hsa (https://github.com/ROCm/aiter). `hd192_hd128` are the head dimensions of QK and V.
What `a16`, `a32`, `rtna` and `pssk` mean is likely at best: width of the dQ accumulation, rounding mode, padded
sequence lengths.
"""

from __future__ import annotations

import re

from foretrace.grammars.functions import Function, Words
from foretrace.grammars.mma import TYPES
from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms, words
from foretrace.grammars.spelling import Name, dtype

PATTERN = re.compile(
    r"aiter::|(?:bf16|f16|fp8|i8)gemm_[a-z]+\d+\w*_(?:tn|nn|nt|tt)_|sage_(?:fwd|bwd)\w*$"
    r"|paged_attention_ll4mi_\w+"
)
FMHA = re.compile(r"(?:fmha|sage|mla)_(?P<attn_pass>fwd|bwd)")
WORDS = Words(
    Function(r"add_rms_?norm_quant", "norm", {"op": "add_rms_norm_quant"}),
    Function(r"fused_add_rms_?norm|add_rms_?norm", "norm", {"op": "add_rms_norm"}),
    Function(r"rms_?norm", "norm", {"op": "rms_norm"}),
    Function(r"layer_?norm", "norm", {"op": "layer_norm"}),
    Function(r"topk_?softmax", "softmax", {"op": "topk_softmax"}),
    Function(r"paged_attention|pa_\w*(?:decode|fwd)|mla_\w+", "attention", {}),
    Function(r"all_?reduce|allreduce", "comm", {"collective": "all_reduce"}),
    Function(r"all_?gather", "comm", {"collective": "all_gather"}),
    Function(r"reduce_?scatter", "comm", {"collective": "reduce_scatter"}),
    Function(r"act_and_mul|silu_and_mul", "pointwise", {"op": "silu_and_mul"}),
    Function(r"quant", "pointwise", {"op": "quantize"}),
    Function(r"rope|rotary", "pointwise", {"op": "rope"}),
    Function(r"reshape_and_cache", "copy", {"op": "kv_cache_write"}),
    Function(r"top_?k|grouped_topk", "sort", {"op": "topk"}),
    Function(r"moe_sort|moe_align", "sort", {"op": "moe_sorting"}),
    Function(r"fmoe|gemm", "gemm", {}),
)
GEMM = re.compile(
    r"(?P<dtype>bf16|f16|fp8|i8)gemm_(?P<acc>[a-z]+\d+?)(?P<out>bf16|fp16|f16|fp32)?_(?P<layout>tn|nn|nt"
    r"|tt)(?:_(?P<tile>\d+x\d+)(?![^\W_]))?"
)
TERMS: Terms = {
    "function": Term("a kernel of AITER, named after what it does", "B"),
    "attn_pass": Term("attention, forward or backward", "B"),
    "head_dim": Term("head dimension of Q and K", "B"),
    "head_dim_v": Term("head dimension of V", "B"),
    "dtype": Term("element type", "B"),
    "accum": Term("accumulator type", "B"),
    "causal": Term("causal mask", "B"),
    "layout": Term("operand layouts, n as stored, t transposed", "B"),
    "tile": Term("output tile", "B"),
    "splitk": Term("K is split", "B"),
    "variant": Term("likely: width of the dQ accumulation, rounding mode, or padded sequence lengths", "C"),
}
EXAMPLES: Examples = {
    "_ZN5aiter32fmha_fwd_hd192_hd128_bf16_causalE.kd": {
        "attn_pass": "fwd", "head_dim": 192, "head_dim_v": 128, "dtype": "bf16", "causal": True,
    },
    "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb0ELb0ELb1ELi1EEEvPT0_PT_PfS4_": {
        "family": "norm", "op": "add_rms_norm_quant", "dtype": "bf16",
    },
    "aiter::topksoftmax_4x128x8_bf16": {"family": "softmax", "op": "topk_softmax", "dtype": "bf16"},
}  # fmt: skip


def read(name: Name) -> Draft:
    """Attention by the parts of its name, everything else by the words in it."""
    symbol = name.symbol
    if match := FMHA.match(symbol):
        return _attention(name, match)
    if match := GEMM.match(name.text, name.inner, name.end):
        return _gemm(name, match)
    draft = Draft("other", "aiter")
    draft.mark(name.leaf, "function")
    WORDS.tell(draft, symbol)
    if "paged_attention" in symbol:
        draft.fields["phase"] = "decode"
    if name.arguments and (kind := dtype(name.arguments[0].text)):
        draft.say(name.arguments[0].span, "dtype", kind)
    elif symbol.rsplit("_", 1)[-1] in TYPES:
        draft.fields["dtype"] = TYPES[symbol.rsplit("_", 1)[-1]]
    return draft


def _attention(name: Name, match: re.Match[str]) -> Draft:
    draft = Draft("attention", "aiter")
    start = name.leaf[0]
    draft.say((start, start + match.end()), "attn_pass", match["attn_pass"])
    for word, span in words(name, start + match.end()):
        if word.startswith("hd") and word[2:].isdecimal():
            draft.say(span, "head_dim_v" if "head_dim" in draft.fields else "head_dim", int(word[2:6]))
        elif word in TYPES:
            draft.say(span, "dtype", TYPES[word])
        elif word == "causal":
            draft.flag(span, "causal")
        elif word in ("a16", "a32", "rtna", "rtne", "rtz", "pssk"):
            draft.mark(span, "variant", word)
    if "head_dim" in draft.fields:
        draft.fields.setdefault("head_dim_v", draft.fields["head_dim"])
    return draft


def _gemm(name: Name, match: re.Match[str]) -> Draft:
    draft = Draft("gemm", "aiter")
    draft.say(match.span("dtype"), "dtype", TYPES.get(match["dtype"], match["dtype"]))
    draft.say(match.span("acc"), "accum", TYPES.get(match["acc"], match["acc"]))
    draft.take(match, "layout")
    draft.take(match, "tile")
    for word, span in words(name, match.end()):
        if word == "splitk":
            draft.flag(span, "splitk")
    return draft


GRAMMAR = Grammar("rocm_aiter", __doc__, "https://github.com/ROCm/aiter", PATTERN, read, TERMS, EXAMPLES)
