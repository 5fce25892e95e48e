"""CUTLASS 2.x kernels by their library names, as they are or inside `cutlass::Kernel2<…>`, in cuBLAS, cuDNN or alone.

Source: NVIDIA/cutlass python/cutlass_library/gemm_operation.py, conv2d_operation.py and library.py,
media/docs/cpp/profiler.md (https://github.com/NVIDIA/cutlass). `gemm_relu`, which only cuBLAS has, is an epilogue
that can do ReLU: it appears under plain `aten::mm`. Split-K does not show in the name.
"""

from __future__ import annotations

import re

from foretrace.grammars.cublas_sass import RELU, TARGET
from foretrace.grammars.mma import ACCUMULATORS, SHAPES, TYPES
from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms
from foretrace.grammars.spelling import Name

CLASS = r"(?:wmma_tensorop|sptensorop|bstensorop|bssptensorop|tensorop|simt)"
PATTERN = re.compile(rf"(?:cutlass\w*::Kernel2?<)?cutlass_(?:\d+_)?{CLASS}_")
HEAD = re.compile(
    rf"cutlass_(?:(?P<arch>\d+)_)?(?P<op_class>{CLASS})_(?:(?P<out>[a-z]+\d+)_)?(?P<acc>[shdicz])(?P<mma>\d*)"
    r"(?P<inter>[a-z]*?\d*?)(?P<kind>gemm|fprop|dgrad|wgrad|symm|syrk|trmm|rank_k|rank_2k)(?![^\W_])"
    r"(?:_(?P<relu>relu))?(?:_(?P<grouped>grouped|planar_complex|planar_complex_array))?"
    r"(?:_(?P<iterator>optimized|analytic|few_channels|fixed_channels))?(?:_(?P<a>[a-z]+\d+)(?![^\W_]))?"
    r"(?:_(?P<tile>\d+x\d+)(?![^\W_]))?(?:_(?P<tile_k>\d+)x(?P<stages>\d+)(?![^\W_]))?"
    r"(?:_(?P<layout>nhwc|nchw|ndhwc|[nt]{2})(?![^\W_]))?(?:_(?P<unity>unity_stride))?"
    r"(?:_align(?P<align>\d+)(?![^\W_]))?"
)
TERMS: Terms = {
    "wrapper": Term("CUTLASS's entry function, which says nothing by itself", "A"),
    "library": Term("CUTLASS 2.x kernel", "A"),
    "arch": Term("architecture it is compiled for, not the GPU it ran on", "A"),
    "op_class": Term("which unit multiplies: tensor cores, or FMA for simt", "A"),
    "dtype_out": Term("type of C and D, printed where it differs from the accumulator", "A"),
    "accum": Term("accumulator type", "A"),
    "mma": Term("matrix instruction, M × N × K", "A"),
    "intermediate": Term("type the matrix instruction works in", "A"),
    "gemm": Term("matrix multiplication", "A"),
    "conv_pass": Term("convolution as implicit GEMM: output, data gradient or weight gradient", "A"),
    "relu_variant": Term("the epilogue can apply a ReLU; it says not that it did", "B"),
    "kind": Term("a variant of the problem", "A"),
    "iterator": Term("how the activation addresses are computed", "A"),
    "dtype": Term("type of A, printed where it differs from the accumulator", "A"),
    "tile": Term("output tile of one CTA, M × N elements", "A"),
    "tile_k": Term("K of the tile, in elements", "A"),
    "stages": Term("pipeline stages", "A"),
    "layout": Term("layouts of A and B, n column-major, t row-major; of a convolution the tensor layout", "A"),
    "align": Term("widest vector access to A and B, in elements", "A"),
}
EXAMPLES: Examples = {
    "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_32x1_tn_align8>"
    "(cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_32x1_tn_align8::Params)": {
        "arch": "sm80", "op_class": "wmma", "dtype": "bf16", "dtype_out": "bf16", "accum": "f32", "mma": "16x16x16",
        "tile": "32x32", "tile_k": 32, "stages": 1, "layout": "tn", "align": 8,
    },
    "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x128_32x3_nn_align4>(T1::Params)": {
        "dtype": "f32", "math": "tf32", "mma": "16x8x8", "dtype_out": "f32",
    },
    "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8": {"relu_variant": True, "align": 8},
    "void cutlass_cudnn_infer::Kernel<cutlass_tensorop_s1688dgrad_optimized_tf32_64x128_32x3_nhwc_align4>(T1::"
    "Params)": {
        "conv_pass": "dgrad", "layout": "nhwc", "math": "tf32",
    },
}  # fmt: skip


def read(name: Name) -> Draft:
    """Compile target, unit, types, instruction, tile, pipeline, layout and alignment."""
    wrapper = name.text[name.start : name.leaf[1]]
    cudnn = "cudnn" in wrapper or name.text.find("cudnn", name.start, name.rest) >= 0
    library = "cudnn-cutlass" if cudnn else "cublas-cutlass" if name.inner != name.leaf[0] else "cutlass"
    draft = Draft("gemm", library)
    if name.inner != name.leaf[0]:
        draft.mark((name.start, name.leaf[1]), "wrapper")
    draft.mark((name.inner, name.inner + 7), "library")
    match = HEAD.match(name.text, name.inner, name.end)
    if match is None:
        return draft
    if match["arch"]:
        draft.say(match.span("arch"), "arch", f"sm{match['arch']}")
    _types(draft, match)
    if match["kind"] in ("fprop", "dgrad", "wgrad"):
        draft.family = "conv"
        draft.say(match.span("kind"), "conv_pass", match["kind"])
    else:
        draft.mark(match.span("kind"), "gemm")
    if match["relu"]:
        draft.flag(match.span("relu"), "relu_variant")
    for group, term in (("grouped", "kind"), ("iterator", "iterator"), ("unity", "iterator")):
        if match[group]:
            draft.mark(match.span(group), term, match[group])
    for group in ("tile", "tile_k", "stages", "layout", "align"):
        draft.take(match, group)
    if match["align"]:
        draft.mark((match.start("align") - len("align"), match.start("align")), "align")
    if draft.family == "gemm":
        draft.note("whether K was split does not show in the name")
    if match["arch"]:
        draft.note(TARGET)
    if match["relu"]:
        draft.note(RELU)
    return draft


def _types(draft: Draft, match: re.Match[str]) -> None:
    accum, unit = ACCUMULATORS[match["acc"]], match["op_class"]
    draft.mark(match.span("op_class"), "op_class", unit)
    if unit in ("wmma_tensorop", "simt"):
        draft.fields["op_class"] = unit.removesuffix("_tensorop")
    if unit in ("sptensorop", "bssptensorop"):
        draft.fields["sparse"] = "2:4"
    draft.say(match.span("acc"), "accum", accum)
    if match["mma"] in SHAPES:
        draft.say(match.span("mma"), "mma", SHAPES[match["mma"]])
    elif not match["mma"]:
        draft.fields["mma"] = "none"
    if match["inter"]:
        draft.mark(match.span("inter"), "intermediate", match["inter"])
    kind = TYPES.get(match["a"] or "", accum if not match["a"] else "")
    if kind == "tf32" or (kind == "f32" and match["mma"] == "1688"):
        draft.fields |= {"dtype": "f32", "math": "tf32"}
    elif kind:
        draft.fields["dtype"] = kind
    if match["a"]:
        draft.mark(match.span("a"), "dtype", kind)
    out = TYPES.get(match["out"] or "", accum if not match["out"] else "")
    if out:
        draft.fields["dtype_out"] = out
    if match["out"]:
        draft.mark(match.span("out"), "dtype_out", out)


GRAMMAR = Grammar("cutlass2", __doc__, "https://github.com/NVIDIA/cutlass", PATTERN, read, TERMS, EXAMPLES)
