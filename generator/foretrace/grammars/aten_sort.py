"""ATen sort, top-k and order statistics; one call is several kernels.

Source: pytorch aten/src/ATen/native/cuda/Sort.cu, SortUtils.cuh, TensorTopK.cu, Sorting.cu
(https://github.com/pytorch/pytorch/tree/main/aten/src/ATen/native/cuda). `sbtopk` works with one block a slice,
`mbtopk` with many; larger sorts go to CUB.
"""

from __future__ import annotations

from foretrace.grammars.functions import Function, Table
from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms
from foretrace.grammars.spelling import Name

TABLE = Table(
    "aten",
    (
        Function(r"bitonicSortKVInPlace|radixSortKVInPlace|warpMergeSortKVInPlace", "sort", {"op": "sort"}),
        Function(r"sort_postprocess_kernel|fill_(?:index_and_segment|reverse_indices)_kernel", "sort", {"op": "sort"}),
        Function(r"gatherTopK|radixFindKthValues|computeBlock\w+|computeDigitCumSum|gatherKthValue|fill\w*TopK", "sort",
                 {"op": "topk"}),
        Function(r"gatherMedian", "sort", {"op": "median"}),
        Function(r"compute_mode", "sort", {"op": "mode"}),
    ),
    namespaces=r"(?:at::native::(?:\w++::)*+)?",
)  # fmt: skip
TERMS: Terms = {"function": Term("sorting or selecting the largest", "B")}
EXAMPLES: Examples = {
    "void at::native::bitonicSortKVInPlace<-2, -1, 16, 16, float, long, at::native::LTOp<float, true>, unsigned "
    "int>(int)": {
        "op": "sort",
    },
    "void at::native::mbtopk::computeBlockDigitCounts<float, unsigned int, unsigned int, (int)2>(int)": {"op": "topk"},
}


def read(name: Name) -> Draft:
    """Sort, top-k, k-th value, median or mode."""
    draft = TABLE.read(name)
    if name.symbol == "gatherKthValue":
        draft.fields["op"] = "kthvalue"
    return draft


GRAMMAR = Grammar(
    "aten_sort", __doc__, "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/cuda/TensorTopK.cu",
    TABLE.pattern, read,
    TERMS, EXAMPLES,
)  # fmt: skip
