"""MIOpen: assembly implicit-GEMM convolutions `igemm_…`, and the kernels around convolutions.

Source: ROCm/MIOpen src/solver/conv_asm_implicit_gemm_gtc_*.cpp, ToKernelName (https://github.com/ROCm/MIOpen).
`bwd` is the data gradient and `wrw` the weight gradient; `gkgs` can split K over the grid, the count is passed at
run time and may be zero.
"""

from __future__ import annotations

import re

from foretrace.grammars.functions import Function, Words
from foretrace.grammars.mma import TYPES
from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms, words
from foretrace.grammars.spelling import Name

PATTERN = re.compile(
    r"igemm_(?:fwd|bwd|wrw)_|miopenSp3|miopenGcn|MIOpen\w+|batched_transpose_\d|SubTensorOp\w+|Im[23]d2Col"
    r"|Col2Im[23]d|transpose_[CNDHW]{4,5}2|gridwise_convolution_|naive_conv_|Op[1-5]dTensor|gcnAsmConv"
    r"|mloPooling|wino_(?:conv|data)"
)
HEAD = re.compile(
    r"igemm_(?P<conv_pass>fwd|bwd|wrw)_(?P<gen>gtc\w*?)_(?P<layout>nhwc|nchw)_(?P<dtype>[a-z]+\d+)(?![^\W_])"
)
TILE = re.compile(r"bt(\d+x\d+)x(\d+)$")
THREADS = re.compile(r"(?:bx|ex|ws|wr|ta|tb|vs)\d[\dx]*$|\d[\dx]*$|pta|mh|me|gm\d*$")
PASSES = {"fwd": "fprop", "bwd": "dgrad", "wrw": "wgrad"}
REST = Words(
    Function(r"MIOpenBatchNormFwd", "norm", {"op": "batch_norm", "norm_pass": "fwd"}),
    Function(r"MIOpenBatchNormActivFwd", "norm", {"op": "batch_norm", "norm_pass": "fwd"}),
    Function(r"MIOpenBatchNormBwd", "norm", {"op": "batch_norm", "norm_pass": "bwd"}),
    Function(r"batched_transpose_|transpose_[CNDHW]{4,5}2", "copy", {"op": "transpose"}),
    Function(r"SubTensorOp|Op[1-5]dTensor", "pointwise", {}),
    Function(r"MIOpenSoftmax", "softmax", {}),
    Function(r"mloPooling|MIOpenPooling", "other", {"op": "pooling"}),
    Function(r"miopenSp3AsmConv\w*_f\dx\d|miopenGcnAsm\w*Winograd|wino_", "conv", {"algo": "winograd"}),
    Function(r"Im[23]d2Col", "conv", {"op": "im2col"}),
    Function(r"Col2Im[23]d", "conv", {"op": "col2im"}),
    Function(r"naive_conv_fwd", "conv", {"conv_pass": "fprop"}),
    Function(r"naive_conv_bwd", "conv", {"conv_pass": "dgrad"}),
    Function(r"naive_conv_wrw", "conv", {"conv_pass": "wgrad"}),
    Function(r"miopenSp3|miopenGcn|gridwise_convolution_|naive_conv_|gcnAsmConv|MIOpenConv", "conv", {}),
)
TERMS: Terms = {
    "library": Term("convolution of MIOpen as implicit GEMM, in assembly", "A"),
    "conv_pass": Term("fwd output, bwd data gradient, wrw weight gradient", "A"),
    "generation": Term("which generation of matrix cores it is written for", "B"),
    "layout": Term("tensor layout", "A"),
    "dtype": Term("element type", "A"),
    "tile": Term("block tile M × N, then K", "A"),
    "wave_tile": Term("tile of one wave; its K is that of the matrix instruction", "A"),
    "threads": Term("how threads share out loads and tiles", "A"),
    "splitk_capable": Term("K can be split over the grid; how often is passed at run time", "A"),
    "function": Term("a kernel of MIOpen, named after what it does", "B"),
}
EXAMPLES: Examples = {
    "igemm_bwd_gtcx2_nhwc_bf16_bx0_ex1_bt128x64x32_wt32x32x8_ws1x1_wr1x2_ta1x8x2x1_1x4x1x64_tb1x4x1x2_1x8x1x32_mh_gk"
    "gs": {
        "conv_pass": "dgrad", "layout": "nhwc", "dtype": "bf16", "tile": "128x64", "tile_k": 32, "wave_tile": "32x32x8",
        "splitk_capable": True,
    },
    "MIOpenBatchNormFwdTrainSpatial": {"family": "norm", "op": "batch_norm", "norm_pass": "fwd"},
    "miopenSp3AsmConv_v30_3_1_gfx9_fp32_f2x3_stride1": {"family": "conv", "algo": "winograd"},
}  # fmt: skip


def read(name: Name) -> Draft:
    """Of an implicit GEMM pass, layout, type and tiles; of others what the name says."""
    match = HEAD.match(name.text, name.inner, name.end)
    if match is None:
        return _rest(name)
    draft = Draft("conv", "miopen")
    draft.mark((match.start(), match.start() + 5), "library")
    draft.say(match.span("conv_pass"), "conv_pass", PASSES[match["conv_pass"]])
    draft.mark(match.span("gen"), "generation")
    draft.take(match, "layout")
    draft.say(match.span("dtype"), "dtype", TYPES.get(match["dtype"], match["dtype"]))
    for word, span in words(name, match.end()):
        if tile := TILE.match(word):
            draft.say(span, "tile", tile[1])
            draft.fields["tile_k"] = int(tile[2][:6])
        elif word.startswith("wt") and word[2:3].isdecimal():
            draft.say(span, "wave_tile", word[2:])
        elif word == "gkgs":
            draft.flag(span, "splitk_capable")
        elif THREADS.match(word):
            draft.mark(span, "threads")
    return draft


def _rest(name: Name) -> Draft:
    draft = Draft("other", "miopen")
    draft.mark(name.leaf, "function")
    REST.tell(draft, name.symbol)
    return draft


GRAMMAR = Grammar("miopen", __doc__, "https://github.com/ROCm/MIOpen", PATTERN, read, TERMS, EXAMPLES)
