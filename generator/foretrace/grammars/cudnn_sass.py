"""cuDNN convolutions written in SASS: `volta_scudnn_128x64_relu_…`, `turing_fp16_s1688cudnn_fp16_…`.

Source: read off traces; cuDNN does not document the names (https://docs.nvidia.com/deeplearning/cudnn/). They
follow cuBLAS's SASS names: accumulator letter and instruction digits, no digits meaning no tensor core; `relu` is a
variant that need not be applied; the arch word is the compile target.
"""

from __future__ import annotations

import re

from foretrace.grammars.cublas_sass import ARCHES, TARGET
from foretrace.grammars.mma import ACCUMULATORS, SHAPES, TYPES
from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms, words
from foretrace.grammars.spelling import Name

PATTERN = re.compile(
    r"(?:cudnn_(?:infer_|train_|ops_|cnn_)?)?(?:maxwell|pascal|volta|turing|ampere|hopper)_"
    r"(?:[a-z]+\d+_)?[shdi]\d*cudnn"
)
HEAD = re.compile(
    r"(?:(?P<library>cudnn)_(?:infer_|train_|ops_|cnn_)?)?(?P<arch>[a-z]+)_(?:(?P<out>[a-z]+\d+)_)?"
    r"(?P<acc>[shdi])(?P<mma>\d*)cudnn(?P<algo>_winograd)?(?:_(?P<a>[a-z]+\d+)(?![^\W_]))?"
    r"(?:_(?P<tile>\d+x\d+)(?![^\W_]))?"
)
VARIANTS = frozenset(
    {"relu", "xregs", "large", "medium", "small", "interior", "exp", "stridedB", "v0", "v1", "mobile", "split", "c32"}
)
TERMS: Terms = {
    "library": Term("cuDNN, built for inference or training", "B"),
    "arch": Term("architecture it is compiled for, not the GPU it ran on", "B"),
    "dtype_out": Term("output type", "B"),
    "accum": Term("accumulator type", "B"),
    "mma": Term("tensor-core instruction, M × N × K", "B"),
    "conv": Term("convolution; without digits before it no tensor core is used", "B"),
    "algo": Term("algorithm", "B"),
    "dtype": Term("input type", "B"),
    "tile": Term("output tile of one CTA", "B"),
    "variant": Term("a variant: relu can be applied in the epilogue, small to large filters, strided, …", "B"),
    "splitk": Term("K is split over CTAs", "B"),
    "sliced_k": Term("the K of one tile is shared out among warp groups", "B"),
    "ldg": Term("elements per global load", "B"),
    "layout": Term("operand layouts, or the tensor layout", "B"),
}
EXAMPLES: Examples = {
    "cudnn_infer_volta_scudnn_128x128_relu_small_nn_v1": {
        "arch": "sm70", "tile": "128x128", "dtype": "f32", "accum": "f32", "mma": "none",
    },
    "volta_scudnn_128x64_stridedB_splitK_xregs_large_nn_v1": {"splitk": True},
    "turing_fp16_s1688cudnn_fp16_128x128_ldg8_relu_f2f_exp_small_nhwc_tn_v1": {
        "dtype": "f16", "dtype_out": "f16", "accum": "f32", "mma": "16x8x8",
    },
    "volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1": {"algo": "winograd", "tile": "128x128"},
}  # fmt: skip


def read(name: Name) -> Draft:
    """Compile target, types, instruction, tile and algorithm."""
    draft = Draft("conv", "cudnn")
    match = HEAD.match(name.text, name.inner, name.end)
    if match is None:
        return draft
    if match["library"]:
        draft.mark((match.start(), match.start("arch") - 1), "library")
    draft.say(match.span("arch"), "arch", ARCHES[match["arch"]])
    accum = ACCUMULATORS[match["acc"]]
    draft.say(match.span("acc"), "accum", accum)
    if match["mma"] in SHAPES:
        draft.say(match.span("mma"), "mma", SHAPES[match["mma"]])
    elif not match["mma"]:
        draft.fields["mma"] = "none"
    draft.mark((match.end("mma"), match.end("mma") + 5), "conv")
    if match["algo"]:
        draft.say(match.span("algo"), "algo", "winograd")
    if match["a"] in TYPES:
        draft.say(match.span("a"), "dtype", TYPES[match["a"]])
    elif not match["a"]:
        draft.fields["dtype"] = accum
    if match["out"] in TYPES:
        draft.say(match.span("out"), "dtype_out", TYPES[match["out"]])
    draft.take(match, "tile")
    for word, span in words(name, match.end()):
        _word(draft, word, span)
    draft.note(TARGET)
    return draft


def _word(draft: Draft, word: str, span: tuple[int, int]) -> None:
    if word == "splitK":
        draft.flag(span, "splitk")
    elif word.startswith("sliced"):
        draft.say(span, "sliced_k", word.removeprefix("sliced"))
    elif word.startswith("ldg") and word[3:].isdecimal():
        draft.mark(span, "ldg", word[3:])
    elif word in ("nn", "nt", "tn", "tt", "nhwc", "nchw"):
        draft.mark(span, "layout")
    elif word in VARIANTS or word.startswith("tile") or word == "f2f":
        draft.mark(span, "variant", word)


GRAMMAR = Grammar("cudnn_sass", __doc__, "https://docs.nvidia.com/deeplearning/cudnn/", PATTERN, read, TERMS, EXAMPLES)
