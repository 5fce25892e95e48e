"""cuBLAS GEMM kernels written in SASS: `ampere_…gemm_…`, `volta_…`, `turing_…`, `maxwell_…`, `pascal_…`.

Source: read off many traces; the instruction digits are CUTLASS's (https://github.com/NVIDIA/cutlass,
gemm_operation.py). The arch word is the compile target: `ampere_…` kernels run on Ada, Hopper and Blackwell. `relu`
says that the epilogue can apply a ReLU, not that it does.
"""

from __future__ import annotations

import re

from foretrace.grammars.mma import ACCUMULATORS, SHAPES, TYPES
from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms, words
from foretrace.grammars.spelling import Name

TARGET = "the architecture is the one it is compiled for, and not the GPU it ran on"
RELU = "relu is what the epilogue can do; whether it was applied does not show"
ARCHES = {"maxwell": "sm50", "pascal": "sm60", "volta": "sm70", "turing": "sm75", "ampere": "sm80", "hopper": "sm90"}
PATTERN = re.compile(r"(?:maxwell|pascal|volta|turing|ampere|hopper)_(?:[a-z]+\d+_)?(?:gc|gz|[shdicz])\d*gemm")
HEAD = re.compile(
    r"(?P<arch>[a-z]+)_(?:(?P<out>[a-z]+\d+)_)?(?P<acc>gc|gz|[shdicz])(?P<mma>\d*)gemm(?=_|$)"
    r"(?:_(?P<a>[a-z]+\d+)(?=_|$))?(?:_(?P<tile>\d+x\d+)(?=_|$))?"
)
STAGES = re.compile(r"_stages_(?P<tile_k>\d+)x(?P<stages>\d+)(?=_|$)")
TERMS: Terms = {
    "arch": Term("architecture it is compiled for, not the GPU it ran on", "B"),
    "dtype_out": Term("output type, printed where it differs from the accumulator", "B"),
    "accum": Term("accumulator type", "B"),
    "mma": Term("tensor-core instruction, M × N × K", "A"),
    "gemm": Term("matrix multiplication; without digits before it no tensor core is used", "B"),
    "dtype": Term("input type, printed where it differs from the accumulator", "B"),
    "tile": Term("output tile of one CTA, M × N elements", "B"),
    "sliced_k": Term("the K of one CTA tile is shared out among warp groups, without an extra kernel", "B"),
    "ldg": Term("elements per global load", "B"),
    "relu_variant": Term("the epilogue can apply a ReLU; it says not that it did", "B"),
    "f2f": Term("likely a type conversion in the epilogue", "C"),
    "stages": Term("tile K in elements × pipeline stages", "B"),
    "splitk": Term("K is split over CTAs", "B"),
    "layout": Term("column-major letters of A and B: n as stored, t transposed", "A"),
}
EXAMPLES: Examples = {
    "ampere_fp16_s16816gemm_fp16_128x128_ldg8_relu_f2f_stages_32x5_tn": {
        "arch": "sm80", "dtype": "f16", "accum": "f32", "dtype_out": "f16", "mma": "16x8x16", "tile": "128x128",
        "tile_k": 32,
        "stages": 5, "layout": "tn", "ldg": 8, "relu_variant": True,
    },
    "volta_sgemm_32x32_sliced1x4_nt": {"dtype": "f32", "mma": "none", "sliced_k": "1x4", "layout": "nt"},
    "volta_h884gemm_64x128_ldg8_nn": {"accum": "f16", "dtype": "f16", "mma": "8x8x4"},
}  # fmt: skip


def read(name: Name) -> Draft:
    """Compile target, types, instruction, tile, load width, pipeline and layout."""
    draft = Draft("gemm", "cublas")
    match = HEAD.match(name.text, name.inner, name.end)
    if match is None:
        return draft
    draft.say(match.span("arch"), "arch", ARCHES[match["arch"]])
    _types(draft, match)
    draft.take(match, "tile")
    at = match.end()
    for word, span in words(name, at):
        if stages := STAGES.match(name.text, span[0] - 1, name.end):
            draft.mark(stages.span(), "stages", f"{stages['tile_k']}x{stages['stages']}")
            draft.fields |= {"tile_k": int(stages["tile_k"]), "stages": int(stages["stages"])}
        else:
            _word(draft, word, span)
    draft.note(TARGET)
    if "relu_variant" in draft.fields:
        draft.note(RELU)
    return draft


def _types(draft: Draft, match: re.Match[str]) -> None:
    accum = ACCUMULATORS[match["acc"]]
    digits = match["mma"]
    draft.say(match.span("acc"), "accum", accum)
    if digits in SHAPES:
        draft.say(match.span("mma"), "mma", SHAPES[digits])
    elif not digits:
        draft.fields["mma"] = "none"
    gemm = match.end("mma")
    draft.mark((gemm, gemm + 4), "gemm")
    if match["a"] in TYPES:
        draft.say(match.span("a"), "dtype", TYPES[match["a"]])
    elif not match["a"]:
        draft.fields["dtype"] = accum
    if match["out"] in TYPES:
        draft.say(match.span("out"), "dtype_out", TYPES[match["out"]])


def _word(draft: Draft, word: str, span: tuple[int, int]) -> None:
    """One word behind the tile."""
    if word in ("nn", "nt", "tn", "tt"):
        draft.say(span, "layout", word)
    elif word == "relu":
        draft.flag(span, "relu_variant")
    elif word == "f2f":
        draft.mark(span, "f2f")
    elif word.startswith("ldg") and word[3:].isdecimal():
        draft.say(span, "ldg", int(word[3:4]))
    elif word.startswith("sliced"):
        draft.say(span, "sliced_k", word.removeprefix("sliced"))
    elif word == "splitK":
        draft.flag(span, "splitk")


GRAMMAR = Grammar("cublas_sass", __doc__, "https://github.com/NVIDIA/cutlass", PATTERN, read, TERMS, EXAMPLES)
