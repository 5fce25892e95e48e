"""rocBLAS's own kernels beside Tensile: matrix-vector products, dot products, small GEMMs.

Source: ROCm/rocBLAS library/src (https://github.com/ROCm/rocBLAS), vLLM csrc/rocm for the skinny GEMMs.
"""

from __future__ import annotations

from foretrace.grammars.functions import Function, Table
from foretrace.grammars.reading import Examples, Grammar, Term, Terms

TABLE = Table(
    "rocblas",
    (
        Function(r"rocblas_gemv\w*|rocblas_\w*gemvt?\w*|wvSplitK\w*|LLGemm1\w*|LLMM1\w*", "gemm", {"op": "gemv"}),
        Function(r"rocblas_gemm\w*|rocblas_\w*gemm_\w*kernel", "gemm", {}),
        Function(r"rocblas_dot\w*", "reduction", {"op": "dot"}),
        Function(r"rocblas_(?:nrm2|asum|reduction)\w*", "reduction", {}),
        Function(r"rocblas_(?:axpy|scal)\w*", "pointwise", {}),
        Function(r"rocblas_(?:copy|transpose)\w*", "copy", {}),
        Function(r"rocblas_(?:trsm|trsv|getrf)\w*", "other", {}),
    ),
)
TERMS: Terms = {"function": Term("a kernel of rocBLAS, named after its operation", "B")}
EXAMPLES: Examples = {
    "void rocblas_gemvn_kernel<64, 4, int, float, float, float>(int)": {"family": "gemm", "op": "gemv"},
}
GRAMMAR = Grammar("rocblas", __doc__, "https://github.com/ROCm/rocBLAS", TABLE.pattern, TABLE.read, TERMS, EXAMPLES)
