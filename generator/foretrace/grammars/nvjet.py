"""nvjet: the GEMM kernels that cuBLASLt generates for Hopper and Blackwell, in two dialects.

Source: strings in libcublasLt quoted in public issues (https://github.com/NVIDIA/Fuser/issues/3279,
https://github.com/NVIDIA/Fuser/issues/3137), and own traces on an H200: `bz` goes with `aten::mm`, `badd` with
`aten::addmm` into a seeded buffer. NVIDIA documents none of it, so what `v`, `h`, `bx` and `coop` mean stays likely
at best.
"""

from __future__ import annotations

import re

from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms, words
from foretrace.grammars.spelling import Name

PATTERN = re.compile(r"nvjet_")
PIPELINE = re.compile(r"_(?P<tile_k>\d+)x(?P<stages>\d+)(?:_(?P<cluster>\d+x\d+))?(?=_|$)")
CONSUMER = re.compile(r"_(?P<stages>\d+)(?:_(?P<warp_tile>\d+x\d+x\d+))?(?=_|$)")
TYPES = {"h": "f16", "t": "bf16", "s": "f32", "q": "e4m3", "r": "e5m2", "o": "e2m1", "b": "i8", "i": "i32", "d": "f64"}
HEAD = re.compile(
    r"nvjet(?:_(?P<arch>sm\d+[af]?))?_(?P<types>[a-z]{5}|[a-z]{3})(?:_(?P<dialect>mma))?(?=_|$)"
    r"(?:_(?P<tile>\d+x\d+)(?:x(?P<k>\d+))?(?=_|$))?"
)
SCALE = re.compile(r"([A-D])(vec|blk)(\d+)(UE4M3|UE8M0)?$")
OTHER = re.compile(r"bx|aux\w*|algo\d+|ovscale|ptrBatch|tmaAB|alignCD\d+")
LAYOUT = re.compile(r"[NT]{3,4}$")
TERMS: Terms = {
    "library": Term("GEMM kernel of cuBLASLt for Hopper and Blackwell", "B"),
    "arch": Term("compute capability it is compiled for; names from CUDA 12 lack it", "B"),
    "dtype": Term("element types: three letters are A and B, compute, D; five are A, B, C, compute, D", "B"),
    "dialect": Term("the dialect of consumer Blackwell", "B"),
    "tile": Term("output tile of one CTA, M × N elements", "B"),
    "tile_k": Term("K per pipeline stage, in elements: 128 bytes of A in every name seen", "B"),
    "stages": Term("pipeline stages", "B"),
    "cluster": Term("thread-block cluster", "B"),
    "two_cta": Term("a pair of CTAs works on one tile (Blackwell)", "B"),
    "warp_tile": Term("tile of one warp, M × N × K", "B"),
    "raster": Term("likely the order in which output tiles are visited: h along rows, v along columns", "C"),
    "beta": Term("bz: C is not read (beta is zero); badd: C is added", "B"),
    "coop": Term("likely two consumer warpgroups that share one tile along A or B", "C"),
    "bias": Term("a bias is added in the epilogue", "B"),
    "splitk": Term("K is split over CTAs; a splitKreduce_kernel that follows belongs to this GEMM", "B"),
    "block_scale": Term("so many elements of the operand share one scale factor of this type", "B"),
    "layout": Term("column-major letters of A, B and D: N as stored, T transposed", "B"),
    "variant": Term("a variant whose meaning is not published", "C"),
}
EXAMPLES: Examples = {
    "nvjet_sm90_tst_256x128_64x4_1x2_h_badd_coopA_NNT": {
        "arch": "sm90", "dtype": "bf16", "accum": "f32", "dtype_out": "bf16", "tile": "256x128", "tile_k": 64,
        "stages": 4,
        "cluster": "1x2", "beta": "added", "coop": "A", "layout": "nnt",
    },
    "nvjet_hss_64x8_64x16_1x1_h_bz_splitK_NNT": {"dtype": "f16", "dtype_out": "f32", "splitk": True},
    "nvjet_sm120_hss_mma_128x176x64_2_32x88x64_tmaAB_alignCD4_bz_NNNN": {"tile_k": 64, "stages": 2,
    "warp_tile": "32x88x64"},
    "nvjet_qqtst_128x256_128x4_2x1_v_bz_Avec32UE8M0_Bvec32UE8M0_TNT": {"dtype": "e4m3", "block_scale": "ue8m0_vec32"},
}  # fmt: skip


def read(name: Name) -> Draft:
    """Types, tile, pipeline, cluster, epilogue flags and layout."""
    draft = Draft("gemm", "cublaslt")
    begin = name.inner
    draft.mark((begin, begin + 5), "library")
    match = HEAD.match(name.text, begin, name.end)
    if match is None:
        return draft
    if match["arch"]:
        draft.say(match.span("arch"), "arch", match["arch"])
    _types(draft, match)
    if match["dialect"]:
        draft.mark(match.span("dialect"), "dialect")
    draft.take(match, "tile")
    draft.take(match, "k", "tile_k")
    after = (CONSUMER if match["k"] else PIPELINE).match(name.text, match.end(), name.end)
    if after:
        for group in after.groupdict():
            draft.take(after, group)
    for word, span in words(name, (after or match).end()):
        _flag(draft, word, span)
    draft.note("without a bias flag a separate kernel may still add a bias")
    return draft


def _types(draft: Draft, match: re.Match[str]) -> None:
    letters = match["types"]
    if all(letter in TYPES for letter in letters):
        draft.say(match.span("types"), "dtype", TYPES[letters[0]])
        if len(letters) == 5:
            draft.fields["dtype_c"] = TYPES[letters[2]]
            if letters[1] != letters[0]:
                draft.fields["dtype_b"] = TYPES[letters[1]]
        draft.fields |= {"accum": TYPES[letters[-2]], "dtype_out": TYPES[letters[-1]]}


def _flag(draft: Draft, word: str, span: tuple[int, int]) -> None:
    """One word behind the cluster."""
    if LAYOUT.match(word):
        draft.say(span, "layout", word.lower())
    elif word in ("h", "v"):
        draft.mark(span, "raster", word)
    elif word in ("bz", "badd"):
        draft.say(span, "beta", "zero" if word == "bz" else "added")
    elif word == "2cta":
        draft.flag(span, "two_cta")
    elif word in ("coopA", "coopB"):
        draft.say(span, "coop", word[-1])
    elif word in ("bias", "relubias", "gelubias"):
        draft.flag(span, "bias")
        if word != "bias":
            draft.fields["fused_act"] = word.removesuffix("bias")
    elif word.startswith("splitK"):
        draft.flag(span, "splitk")
    elif scale := SCALE.match(word):
        value = f"{(scale[4] or '').lower()}_{scale[2]}{scale[3]}".lstrip("_")
        draft.mark(span, "block_scale", value)
        if scale[1] in "AB" and (told := draft.fields.setdefault("block_scale", value)) != value:
            draft.fields["block_scale"] = f"{told}/{value}"
    elif OTHER.fullmatch(word):
        draft.mark(span, "variant", word)


GRAMMAR = Grammar("nvjet", __doc__, "https://github.com/NVIDIA/Fuser/issues/3279", PATTERN, read, TERMS, EXAMPLES)
