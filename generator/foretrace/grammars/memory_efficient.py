"""Memory-efficient attention of xFormers and PyTorch: `fmha_cutlassF_…`, `fmha_cutlassB_…`.

Source: pytorch aten/src/ATen/native/transformers/cuda/mem_eff_attention/kernels/cutlassF.h and cutlassB.h
(https://github.com/pytorch/pytorch). `sm80` is the least architecture; whether the mask is causal does not show.
"""

from __future__ import annotations

import re

from foretrace.grammars.mma import TYPES
from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms
from foretrace.grammars.spelling import Name

PATTERN = re.compile(r"fmha_cutlass[FB]_")
HEAD = re.compile(
    r"fmha_cutlass(?P<way>[FB])_(?P<dtype>[a-z]+\d+)(?:_(?P<aligned>notaligned|aligned))?"
    r"(?:_(?P<block_m>\d+)x(?P<block_n>\d+)(?![^\W_]))?(?:_(?P<accum_storage>rf|gmem))?"
    r"(?:_k(?P<k>\d+)(?![^\W_]))?(?P<dropout>_dropout)?(?P<seqaligned>_seqaligned)?"
    r"(?:_(?P<arch>sm\d+)(?![^\W_]))?"
)
TERMS: Terms = {
    "library": Term("memory-efficient attention, built on CUTLASS", "A"),
    "attn_pass": Term("F forward, B backward", "A"),
    "dtype": Term("element type", "A"),
    "aligned": Term("whether the operands are aligned for wide loads", "A"),
    "block_m": Term("queries per block", "A"),
    "block_n": Term("keys per block", "A"),
    "accum_storage": Term("where the output is accumulated: rf registers, gmem global memory", "A"),
    "max_head_dim": Term("largest head dimension", "A"),
    "dropout": Term("with dropout", "A"),
    "seqaligned": Term("sequence lengths are multiples of the block", "A"),
    "arch": Term("least architecture", "A"),
}
EXAMPLES: Examples = {
    "fmha_cutlassF_f16_aligned_64x128_rf_sm80(PyTorchMemEffAttention::AttentionKernel<cutlass::half_t, cutlass::"
    "arch::Sm80, "
    "true, 64, 128, 128, true, true>::Params)": {
        "attn_pass": "fwd", "dtype": "f16", "block_m": 64, "block_n": 128, "arch": "sm80", "accum_storage": "rf",
    },
    "fmha_cutlassB_bf16_aligned_64x64_k64_dropout_sm80": {"attn_pass": "bwd", "dropout": True, "max_head_dim": 64},
}  # fmt: skip


def read(name: Name) -> Draft:
    """Pass, type, block sizes, least architecture."""
    draft = Draft("attention", "memory-efficient")
    match = HEAD.match(name.text, name.inner, name.end)
    if match is None:
        return draft
    draft.mark((match.start(), match.start("way")), "library")
    draft.say(match.span("way"), "attn_pass", "fwd" if match["way"] == "F" else "bwd")
    draft.say(match.span("dtype"), "dtype", TYPES.get(match["dtype"], match["dtype"]))
    for group in ("block_m", "block_n", "accum_storage", "arch"):
        draft.take(match, group)
    draft.take(match, "k", "max_head_dim")
    if match["k"]:
        draft.mark((match.start("k") - 1, match.start("k")), "max_head_dim")
    for group in ("aligned", "seqaligned"):
        if match[group]:
            draft.mark(match.span(group), group)
    if match["dropout"]:
        draft.flag(match.span("dropout"), "dropout")
    draft.note("whether the mask is causal does not show in the name")
    return draft


GRAMMAR = Grammar("memory_efficient", __doc__, "https://github.com/pytorch/pytorch", PATTERN, read, TERMS, EXAMPLES)
