"""cuBLAS's C++ kernels: matrix-vector products, small GEMMs, dot products, split-K reductions, triangular solves.

Source: read off many traces; cuBLAS documents none of them (https://docs.nvidia.com/cuda/cublas/).
`splitKreduce_kernel` is the second half of the GEMM before it and may carry its bias; `dot_kernel` and
`reduce_1Block_kernel` are one dot product.
"""

from __future__ import annotations

import re

from foretrace.grammars.functions import Function, Table
from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms
from foretrace.grammars.spelling import Name, dtype

TABLE = Table(
    "cublas",
    (
        Function(r"gemv2T_kernel\w*", "gemm", {"op": "gemv", "layout": "t"}),
        Function(r"gemv2N_kernel\w*|gemvNSP_kernel\w*", "gemm", {"op": "gemv", "layout": "n"}),
        Function(r"gemv\w*kernel\w*", "gemm", {"op": "gemv"}),
        Function(r"gemmSN_(?:TN|NN|NT|TT)_kernel\w*", "gemm", {"op": "gemm_small_n"}),
        Function(r"gemmk1_kernel", "gemm", {"op": "gemm_k1"}),
        Function(r"magma_[sdczh]gemm\w*kernel", "gemm", {"op": "gemm", "mma": "none"}),
        Function(r"[sdcz]gemm_largek\w*|[sdcz]gemm_\d+x\d+x\d+_[NT]{2}\w*", "gemm", {"mma": "none"}),
        Function(r"ger_kernel|geru?_\w*kernel", "gemm", {"op": "ger"}),
        Function(r"dot_kernel", "reduction", {"op": "dot"}),
        Function(r"reduce_1Block_kernel", "reduction", {"op": "dot_reduce"}),
        Function(r"splitKreduce_kernel", "reduction", {"op": "splitk_reduce"}),
        Function(r"(?:asum|nrm2|iamax|iamin)_kernel\w*", "reduction", {}),
        Function(r"scal_kernel\w*|axpy_kernel\w*|scal_64addr_kernel", "pointwise", {}),
        Function(r"cublasTranspose\w*|transpose_kernel\w*|copy_kernel", "copy", {}),
        Function(r"trsm_\w+|getrf_\w+|laswp_\w*|ipiv_\w+|create_pivot\w*|trsv_\w+|potrf\w*|getrs\w*|geqr\w*",
        "other", {}),
        Function(r"globalKernel", "pointwise", {"op": "epilogue"}),
    ),
    namespaces=r"(?:epilogue::impl::|cublasLt::(?:\w++::)*+|cublas::(?:\w++::)*+|internal::gemvx::|magma\w*::"
    r"|cusolver\w*::)?",
)  # fmt: skip
PATTERN = re.compile(TABLE.pattern.pattern + r"|internal::gemvx::kernel$")
TERMS: Terms = {
    "function": Term("a kernel of cuBLAS, named after its operation", "B"),
    "dtype": Term("type of A", "B"),
    "accum": Term("accumulator type", "B"),
    "layout": Term("T: A is read transposed", "B"),
}
EXAMPLES: Examples = {
    "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, __nv_bfloat16, __nv_bfloat16, "
    "__nv_bfloat16, float, "
    "false, true, true, false, 7, false, cublasGemvParamsEx<int> >(cublasGemvParamsEx<int>)": {
        "op": "gemv", "dtype": "bf16", "accum": "f32",
    },
    "void gemmSN_NN_kernel<float, 256, 4, 2, 8, 4, 4, false, cublasGemvTensorStridedBatched<float const> >(int)": {
        "op": "gemm_small_n", "layout": "nn",
    },
    "void cublasLt::splitKreduce_kernel<32, 16, int, float, float, float, float, true, true, false>(int)": {
        "family": "reduction", "op": "splitk_reduce", "library": "cublaslt",
    },
}  # fmt: skip
OLD = re.compile(r"([sdcz])gemm_(\d+x\d+)x(\d+)_([NT]{2})")
SMALL = re.compile(r"gemmSN_(\w\w)_")
LETTERS = {"s": "f32", "d": "f64", "c": "c64", "z": "c128", "h": "f16"}


def read(name: Name) -> Draft:
    """The operation; of matrix-vector products the types; of small GEMMs the layout."""
    symbol = name.symbol
    draft = TABLE.read(name)
    if symbol == "kernel":
        draft = Draft("gemm", "cublas")
        draft.mark(name.leaf, "function")
        draft.fields["op"] = "gemv"
    if "cublasLt" in name.text[name.start : name.leaf[0]]:
        draft.library = "cublaslt"
    if draft.fields.get("op") == "gemv":
        _types(draft, name)
    elif match := SMALL.match(symbol):
        draft.fields["layout"] = match[1].lower()
        if name.arguments and (kind := dtype(name.arguments[0].text)):
            draft.say(name.arguments[0].span, "dtype", kind)
    elif old := OLD.match(symbol):
        draft.fields |= {"dtype": LETTERS[old[1]], "tile": old[2], "tile_k": int(old[3][:4]), "layout": old[4].lower()}
    elif symbol.startswith("magma_") or "gemm_largek" in symbol:
        draft.fields["dtype"] = LETTERS[symbol.removeprefix("magma_")[0]]
    if draft.fields.get("op") == "splitk_reduce":
        draft.note("the second half of the GEMM before it; it may also add that GEMM's bias")
    return draft


def _types(draft: Draft, name: Name) -> None:
    """`<index types, A, x, y, accumulator, …>`: the first four element types that follow the index types."""
    kinds = [(argument, dtype(argument.text)) for argument in name.arguments[:6]]
    floats = [(argument, kind) for argument, kind in kinds if kind and kind[0] not in "iu"]
    if floats:
        draft.say(floats[0][0].span, "dtype", floats[0][1] or "")
    if len(floats) > 3:
        draft.say(floats[3][0].span, "accum", floats[3][1] or "")


GRAMMAR = Grammar("cublas_helpers", __doc__, "https://docs.nvidia.com/cuda/cublas/", PATTERN, read, TERMS, EXAMPLES)
