"""xmma kernels: GEMM and convolution in cuBLAS, cuDNN, cuSPARSELt and TensorRT under one naming scheme.

Source: read off many traces and public issues; the scheme is not documented. The element types come in two pairs,
storage of A and D, then math and accumulator: `f32f32_tf32f32` is fp32 data multiplied on TF32 cores.
`segment_k_off` means that segment-K is off. The library shows in the suffix, if at all
(https://docs.nvidia.com/deeplearning/cudnn/latest/).
"""

from __future__ import annotations

import re

from foretrace.grammars.cublas_sass import ARCHES, TARGET
from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms, words
from foretrace.grammars.spelling import Name

TYPE = r"(?:bf16|tf32|f16|f32|f64|e4m3|e5m2|i8|s8|u8|i32|s32|i4|s4|u4)"
PATTERN = re.compile(r"(?:trt_)?(?:ampere|hopper|turing|volta|sm\d+[af]?)_xmma_")
HEAD = re.compile(
    r"(?:trt_)?(?P<arch>ampere|hopper|turing|volta|sm\d+[af]?)_xmma_(?:(?P<sparse>sparse)_)?"
    r"(?:(?P<conv>fprop|dgrad|wgrad)_)?(?:(?P<algo>implicit_gemm|gemm|winograd)(?![^\W_]))?"
    r"(?P<indexed>_indexed(?:_wo_smem)?(?![^\W_]))?"
    rf"(?:_(?P<a>{TYPE})(?P<d>{TYPE})_(?P<math>{TYPE})(?P<acc>{TYPE})(?:_(?P<scale>{TYPE}))?(?![^\W_]))?"
)
TILE = re.compile(r"tilesize(\d+x\d+)x(\d+)$")
PREFIXED = re.compile(r"(stage|warpsize|warpgroupsize|g|tensor|sptensor|aligna|alignc|cluster)(\d[\dx]*)$")
LAYOUT = re.compile(r"[nt]{2}|[nt]|[a-z]*[nckhwrsd]{4,}[a-z\d]*|interleaved|vect|c")
FILTER = re.compile(r"t\d+r\d+s\d+$")
EPILOGUE_TYPES = frozenset({"bf16", "f16", "f32"})
SAME = {"i8": "i8", "s8": "i8", "s4": "i4", "s32": "i32"}
TERMS: Terms = {
    "arch": Term("architecture it is compiled for, not the GPU it ran on", "B"),
    "sparse": Term("A is 2:4 sparse", "B"),
    "conv_pass": Term("convolution: output, data gradient or weight gradient", "B"),
    "algo": Term("matrix multiplication, or a convolution as one", "B"),
    "indexed": Term("addresses come from precomputed offsets", "B"),
    "dtype": Term("storage type of A", "B"),
    "dtype_out": Term("storage type of D", "B"),
    "math": Term("type the matrix instruction multiplies", "B"),
    "accum": Term("accumulator type", "B"),
    "scale": Term("type of the scaling factors", "B"),
    "layout": Term("A and B, then the output: n column-major, t row-major; or tensor and filter, then output", "B"),
    "tile": Term("output tile M × N, then K, in elements", "B"),
    "stages": Term("pipeline stages", "B"),
    "warps": Term("warps per tile along M, N and K", "B"),
    "warpgroups": Term("warpgroups per tile along M, N and K", "B"),
    "groups": Term("groups of the convolution", "B"),
    "mma": Term("matrix instruction M × N × K; ffma: none", "B"),
    "align": Term("alignment in elements", "B"),
    "cluster": Term("thread-block cluster", "B"),
    "filter": Term("filter extents", "B"),
    "splitk": Term("K is split over CTAs", "B"),
    "segment": Term("segment-K is off", "B"),
    "execute": Term("a kernel of the xmma scheme", "B"),
    "library": Term("the library that it belongs to", "B"),
    "epilogue": Term("an epilogue that can add a bias", "B"),
}
EXAMPLES: Examples = {
    "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_c"
    "ublas": {
        "arch": "sm90", "dtype": "f32", "math": "tf32", "dtype_out": "f32", "accum": "f32", "layout": "tnn",
        "tile": "128x128",
        "tile_k": 32, "warpgroups": "1x1x1", "library": "cublas",
    },
    "sm80_xmma_dgrad_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x128x32_stage5_warpsize2x2x1_g1_tenso"
    "r16x8x8_"
    "execute_kernel_cudnn_infer": {
        "family": "conv", "conv_pass": "dgrad", "layout": "nhwckrsc_nhwc", "groups": 1, "mma": "16x8x8",
        "library": "cudnn",
    },
}  # fmt: skip
ROLES = {"stage": "stages", "warpsize": "warps", "warpgroupsize": "warpgroups", "g": "groups", "tensor": "mma",
         "sptensor": "mma", "aligna": "align", "alignc": "", "cluster": "cluster"}  # fmt: skip


def read(name: Name) -> Draft:
    """Types, layouts, tile, pipeline, instruction and library."""
    draft = Draft("gemm", "unknown")
    match = HEAD.match(name.text, name.inner, name.end)
    if match is None:
        return draft
    draft.say(match.span("arch"), "arch", ARCHES.get(match["arch"], match["arch"]))
    draft.mark((match.end("arch") + 1, match.end("arch") + 5), "execute")
    if match["conv"]:
        draft.family = "conv"
        draft.say(match.span("conv"), "conv_pass", match["conv"])
    if match["algo"]:
        draft.mark(match.span("algo"), "algo")
    if match["indexed"]:
        draft.mark(match.span("indexed"), "indexed")
    if match["sparse"]:
        draft.say(match.span("sparse"), "sparse", "2:4")
    _types(draft, match)
    layouts: list[str] = []
    for word, span in words(name, match.end()):
        _word(draft, layouts, word, span)
    if layouts:
        short = all(len(layout) < 3 for layout in layouts)
        draft.fields["layout"] = "".join(layouts) if short else "_".join(layouts)
    draft.note(TARGET)
    if draft.library == "unknown":
        draft.note("without a library suffix it is likely from TensorRT or an older cuDNN")
    return draft


def _types(draft: Draft, match: re.Match[str]) -> None:
    if match["a"]:
        for group, term in (("a", "dtype"), ("d", "dtype_out"), ("acc", "accum")):
            draft.say(match.span(group), term, SAME.get(match[group], match[group]))
        draft.mark(match.span("math"), "math", match["math"])
        if match["math"] != match["a"]:
            draft.fields["math"] = match["math"]
        if match["scale"]:
            draft.mark(match.span("scale"), "scale")


def _word(draft: Draft, layouts: list[str], word: str, span: tuple[int, int]) -> None:
    """One word behind the element types."""
    if tile := TILE.match(word):
        draft.say(span, "tile", tile[1])
        draft.fields["tile_k"] = int(tile[2][:6])
    elif prefixed := PREFIXED.match(word):
        role, value = ROLES[prefixed[1]], prefixed[2]
        if role:
            draft.say(span, role, int(value[:6]) if value.isdecimal() else value)
        else:
            draft.mark(span, "align", value)
    elif word == "ffma":
        draft.say(span, "mma", "none")
    elif word in ("cublas", "cudnn", "cusparselt"):
        draft.mark(span, "library")
        draft.library = word
    elif word in ("execute", "kernel"):
        draft.mark(span, "execute")
    elif word in ("segment", "k", "off"):
        draft.mark(span, "segment")
    elif word in ("5x", "infer", "train"):
        draft.mark(span, "library")
    elif word == "split":
        draft.flag(span, "splitk")
    elif word == "bias" or ("tile" in draft.fields and word in EPILOGUE_TYPES):
        draft.mark(span, "epilogue")
    elif FILTER.match(word):
        draft.mark(span, "filter", word)
    elif "tile" not in draft.fields and LAYOUT.fullmatch(word):
        draft.mark(span, "layout", word)
        layouts.append(word)


GRAMMAR = Grammar("xmma", __doc__, "https://docs.nvidia.com/deeplearning/cudnn/latest/", PATTERN, read, TERMS, EXAMPLES)
