"""The last resort, for names that no grammar claims: takes the plain words of a function name, gives at most a family.

The words of a name say what its author called the kernel, and no more. Only words that mean one thing are believed,
the first in the list below; the library stays unknown unless the namespace is a known project's.
"""

from __future__ import annotations

import re

from foretrace.grammars.reading import Draft, Family, Term, Terms
from foretrace.grammars.spelling import Name

NAMESPACES = {
    "at": "aten", "at::native": "aten", "c10": "aten", "cudnn": "cudnn", "cublas": "cublas",
    "cublasLt": "cublaslt", "thrust": "thrust",
    "vllm": "vllm", "ck_fused_attn": "transformer-engine(rocm)", "cutlass": "cutlass", "moe": "trtllm-gen",
    "cuda": "unknown",
}  # fmt: skip
WORDS: tuple[tuple[str, Family, str], ...] = (
    (r"all_?reduce", "comm", "all_reduce"),
    (r"all_?gather", "comm", "all_gather"),
    (r"reduce_?scatter", "comm", "reduce_scatter"),
    (r"all_?to_?all", "comm", "all_to_all"),
    (r"cross_?entropy", "softmax", "cross_entropy"),
    (r"qk_?norm", "norm", "qk_norm"),
    (r"add_rms_?norm", "norm", "add_rms_norm"),
    (r"rms_?norm", "norm", "rms_norm"),
    (r"layer_?norm", "norm", "layer_norm"),
    (r"batch_?norm", "norm", "batch_norm"),
    (r"group_?norm", "norm", "group_norm"),
    (r"topk_?softmax", "softmax", "topk_softmax"),
    (r"attention|(?<![a-z])fmha|(?<![a-z])(?:attn|mha|xqa)(?![a-z])", "attention", ""),
    (r"soft_?max", "softmax", "softmax"),
    (r"(?<![a-z])conv[123]?d?(?:olution)?(?![a-z])", "conv", ""),
    (r"(?<![a-z])rope(?![a-z])|rotary", "pointwise", "rope"),
    (r"gemm|gemv|matmul|mul_mat(?![a-z])", "gemm", ""),
    (r"dequant", "pointwise", "dequantize"),
    (
        r"quantize|(?<![a-z])quant(?![a-z])|cast_to_fp8|channel_cast|token_cast|cast_and_transpose",
        "pointwise",
        "quantize",
    ),
    (r"swiglu", "pointwise", "swiglu"),
    (r"silu_and_mul", "pointwise", "silu_and_mul"),
    (r"(?<![a-z])gelu|(?<![a-z])silu|(?<![a-z])relu(?![a-z])", "pointwise", ""),
    (r"dropout|philox", "rng", ""),
    (r"(?<![a-z])adamw?(?![a-z])|(?<![a-z])lamb(?![a-z])|(?<![a-z])sgd(?![a-z])", "optimizer", ""),
    (r"top_?k", "sort", "topk"),
    (r"(?<![a-z])(?:arg|radix_?|merge_?)?sort(?![a-z])", "sort", "sort"),
    (r"embedding", "index", ""),
    (r"kv_?cache", "copy", "kv_cache_write"),
    (r"transpose", "copy", "transpose"),
    (r"(?<![a-z])(?:memcpy|copy|cpy)(?![a-z])", "copy", "copy"),
    (r"cum_?sum|prefix_?sum|(?<![a-z])scan(?![a-z])", "reduction", "scan"),
    (r"elementwise|element_wise|pointwise", "pointwise", ""),
)
PATTERN = re.compile("|".join(f"(?P<w{i}>{pattern})" for i, (pattern, _, _) in enumerate(WORDS)), re.IGNORECASE)
PASS = re.compile(r"(?<![a-z])(?:(fwd|forward)|(bwd|backward|dk_dv|dkdv|dq))(?![a-z])")
LONGEST = 400
PASSES = {"norm": "norm_pass", "attention": "attn_pass", "softmax": "softmax_pass", "conv": "conv_pass"}
TERMS: Terms = {
    "word": Term("a word of the function's name, whose meaning is its author's", "B"),
}


def read(name: Name) -> Draft:
    """What the function's name says in plain words."""
    draft = Draft("other", NAMESPACES.get(name.subject.split("::")[0], "unknown"))
    start, end = name.leaf[0], min(name.leaf[1], name.leaf[0] + LONGEST)
    found = _words(name.text, start, end) or _words(name.text, name.start, start)
    if not found:
        return draft
    first = min(found)
    _, draft.family, op = WORDS[first]
    draft.mark(found[first].span(), "word")
    if op:
        draft.fields["op"] = op
    if draft.family in PASSES and (way := PASS.search(name.text, start, end)):
        draft.fields[PASSES[draft.family]] = ("fprop" if draft.family == "conv" else "fwd") if way[1] else "bwd"
    draft.note("the family is read from the words of the function's name, in no known library")
    return draft


def _words(text: str, start: int, end: int) -> dict[int, re.Match[str]]:
    """The telling words between two offsets, by their row."""
    return {int(match.lastgroup[1:]): match for match in PATTERN.finditer(text, start, end) if match.lastgroup}
