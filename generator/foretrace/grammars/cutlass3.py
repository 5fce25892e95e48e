"""CUTLASS 3.x kernels: library names: `cutlass3x_sm90_tensorop_…`.

Source: NVIDIA/cutlass python/cutlass_library/gemm_operation.py, library.py (https://github.com/NVIDIA/cutlass).
Stages 0 means automatic, `void` as type of C means that no C is read, `ue4m3xf4` is FP4 data with UE4M3 scales.
"""

from __future__ import annotations

import re

from foretrace.grammars.mma import TYPES
from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms, words
from foretrace.grammars.spelling import Name

ELEMENT = r"(?:ue\w{3,4}x)?(?:bf16|tf32|f16|f32|f64|f8|f6|f4|e4m3|e5m2|e3m2|e2m3|e2m1|s8|u8|s4|u4|s32|void)"
PATTERN = re.compile(r"(?:cutlass\w*::(?:device_kernel|Kernel2?)<)?cutlass3x_")
HEAD = re.compile(
    r"cutlass3x_(?P<arch>sm\d+[af]?)_(?P<op_class>[a-z]*op|simt)_(?:[a-z]?(?P<mma>\d+x\d+x\d+))?"
    r"(?P<kind>gemm|fprop|dgrad|wgrad|conv\dd_(?:fprop|dgrad|wgrad))(?P<grouped>_grouped)?"
    r"(?P<scaled>_block_scaled)?"
    rf"(?:_(?P<a>{ELEMENT})_(?P<b>{ELEMENT})_(?P<acc>{ELEMENT})_(?P<c>{ELEMENT})_(?P<d>{ELEMENT})(?![^\W_]))?"
    r"(?:_(?P<tile>\d+x\d+)x(?P<tile_k>\d+)(?![^\W_]))?(?:_(?P<cluster>\d+x\d+x\d+)(?![^\W_]))?"
    r"(?:_(?P<stages>\d+)(?![^\W_]))?(?:_(?P<layout>[nt]{3}|n[dhw]+c\w*)(?![^\W_]))?"
    r"(?:_align(?P<align>\d+)(?![^\W_]))?"
)
SCALES = re.compile(r"(ue\w{3,4})x(\w+)$")
SCHEDULES = frozenset(
    {
        "o",
        "stream",
        "k",
        "warpspecialized",
        "pingpong",
        "cooperative",
        "cpasync",
        "tma",
        "nosmem",
        "epi",
        "fp8",
        "fastaccum",
    }
)
TERMS: Terms = {
    "wrapper": Term("CUTLASS's entry function, which says nothing by itself", "A"),
    "library": Term("CUTLASS 3.x kernel", "A"),
    "arch": Term("architecture it is compiled for", "A"),
    "op_class": Term("which unit multiplies; bstensorop: block-scaled tensor cores", "A"),
    "mma": Term("matrix instruction, M × N × K", "A"),
    "kind": Term("the problem", "A"),
    "dtype": Term("type of A", "A"),
    "dtype_b": Term("type of B", "A"),
    "accum": Term("accumulator type", "A"),
    "dtype_c": Term("type of C; void: no C is read", "A"),
    "dtype_out": Term("type of D", "A"),
    "tile": Term("output tile of one CTA, M × N elements", "A"),
    "tile_k": Term("K of the tile, in elements", "A"),
    "cluster": Term("thread-block cluster", "A"),
    "stages": Term("pipeline stages; 0 is automatic", "A"),
    "layout": Term("layouts of A, B and C: n column-major, t row-major", "A"),
    "align": Term("alignment in elements", "A"),
    "schedule": Term(
        "how warps are specialized, how the epilogue stores, or that K is shared out evenly (stream_k)", "A"
    ),
    "two_cta": Term("two CTAs per tile (Blackwell)", "A"),
    "vector": Term("elements that share a scale factor", "A"),
    "epilogue": Term("an epilogue that adds a bias; its relu is a variant and need not be applied", "B"),
}
EXAMPLES: Examples = {
    "cutlass3x_sm100_bstensorop_s256x192x64gemm_block_scaled_ue4m3xf4_ue4m3xf4_f32_f16_f16_256x192x256_0_tnn_align32"
    "_o_vs16_2sm_"
    "bias_f16_relu": {
        "arch": "sm100", "dtype": "f4", "block_scale": "ue4m3_vec16", "accum": "f32", "dtype_out": "f16",
        "mma": "256x192x64",
        "tile": "256x192", "tile_k": 256, "layout": "tnn", "align": 32, "two_cta": True, "bias": True,
    },
}  # fmt: skip


def read(name: Name) -> Draft:
    """Architecture, types, tile, cluster, layout and schedule."""
    draft = Draft("gemm", "cutlass3")
    if name.inner != name.leaf[0]:
        draft.mark((name.start, name.leaf[1]), "wrapper")
    match = HEAD.match(name.text, name.inner, name.end)
    if match is None:
        return draft
    draft.mark((name.inner, name.inner + 10), "library")
    draft.take(match, "arch")
    draft.mark(match.span("op_class"), "op_class")
    draft.take(match, "mma")
    if match["mma"]:
        draft.mark((match.end("op_class") + 1, match.start("mma")), "mma")
    draft.mark(match.span("kind"), "kind")
    if match["kind"] != "gemm":
        draft.family = "conv"
        draft.fields["conv_pass"] = match["kind"][-5:]
    _types(draft, match)
    for group in ("tile", "tile_k", "cluster", "layout", "align"):
        draft.take(match, group)
    if match["align"]:
        draft.mark((match.start("align") - len("align"), match.start("align")), "align")
    if match["stages"]:
        draft.mark(match.span("stages"), "stages", match["stages"])
        if match["stages"] != "0":
            draft.fields["stages"] = int(match["stages"][:4])
    for word, span in words(name, match.end()):
        _word(draft, word, span)
    return draft


def _types(draft: Draft, match: re.Match[str]) -> None:
    if not match["a"]:
        return
    for group, term in (("a", "dtype"), ("b", "dtype_b"), ("acc", "accum"), ("c", "dtype_c"), ("d", "dtype_out")):
        scale = SCALES.match(match[group])
        kind = scale[2] if scale else match[group]
        kind = {"f4": "f4", "f6": "f6", "void": "void"}.get(kind, TYPES.get(kind, kind))
        draft.mark(match.span(group), term, kind)
        if kind != "void" and (group != "b" or match["b"] != match["a"]):
            draft.fields[term] = kind
        if scale and group == "a":
            draft.fields["block_scale"] = scale[1]


def _word(draft: Draft, word: str, span: tuple[int, int]) -> None:
    if word in ("1sm", "2sm"):
        draft.mark(span, "two_cta")
        if word == "2sm":
            draft.fields["two_cta"] = True
    elif word.startswith("vs") and word[2:].isdecimal():
        draft.mark(span, "vector", word[2:])
        if "block_scale" in draft.fields:
            draft.fields["block_scale"] = f"{draft.fields['block_scale']}_vec{word[2:]}"
    elif word == "bias":
        draft.mark(span, "epilogue")
        draft.fields["bias"] = True
    elif word in SCHEDULES:
        draft.mark(span, "schedule")


GRAMMAR = Grammar("cutlass3", __doc__, "https://github.com/NVIDIA/cutlass", PATTERN, read, TERMS, EXAMPLES)
