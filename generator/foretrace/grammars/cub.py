"""CUB and Thrust device primitives: sort, scan, reduce, select.

Source: NVIDIA/cccl cub/cub/device/dispatch (https://github.com/NVIDIA/cccl/tree/main/cub/cub/device/dispatch). One
call is several kernels: a radix sort is histogram, exclusive sum and one sweep a digit.
"""

from __future__ import annotations

import re

from foretrace.grammars.functions import Function, Table
from foretrace.grammars.reading import Draft, Examples, Family, Grammar, Term, Terms
from foretrace.grammars.spelling import Name

TABLE = Table(
    "cub",
    (
        Function(r"DeviceRadixSort\w+|DeviceSegmentedRadixSort\w+|DeviceSegmentedSort\w+|DeviceMergeSort\w+", "sort",
                 {"op": "sort"}),
        Function(r"DeviceScan\w*|DeviceCompactInit\w+", "reduction", {"op": "scan"}),
        Function(r"DeviceReduce\w*|DeviceSegmentedReduce\w*", "reduction", {"op": "reduce"}),
        Function(r"DeviceSelect\w+|DevicePartition\w+|DeviceUnique\w+", "index", {"op": "select"}),
        Function(r"DeviceRunLengthEncode\w+|DeviceRleSweep\w+", "reduction", {"op": "run_length_encode"}),
        Function(r"DeviceHistogram\w+", "reduction", {"op": "histogram"}),
        Function(r"_kernel_agent|static_kernel|EmptyKernel|kernel_agent", "other", {}),
    ),
    namespaces=r"(?:\w++::)*?(?:cub|thrust|hipcub)::(?:\w++::)*?",
)  # fmt: skip
AGENT = re.compile(
    r"__(parallel_for|scan|reduce|unique_by_key|merge_sort|radix_sort|copy_if|unique|partition"
    r"|transform)\b"
)
AGENTS: dict[str, tuple[Family, str]] = {"scan": ("reduction", "scan"), "reduce": ("reduction", "reduce"),
"merge_sort": ("sort", "sort"),
          "radix_sort": ("sort", "sort"), "copy_if": ("index", "select"), "unique": ("index", "select"),
          "partition": ("index", "select"), "unique_by_key": ("index", "select"), "parallel_for": ("pointwise",
          "for_each")}  # fmt: skip
REDUCTIONS = re.compile(r"\b(?:cub|std|thrust|__4)::(?:\w+::)?(Sum|plus|Max|maximum|Min|minimum|ArgMax|ArgMin)\b")
NAMES = {"Sum": "sum", "plus": "sum", "Max": "max", "maximum": "max", "Min": "min", "minimum": "min",
"ArgMax": "argmax",
         "ArgMin": "argmin"}  # fmt: skip
TERMS: Terms = {
    "function": Term("a primitive of CUB or Thrust, or one step of it", "A"),
}
EXAMPLES: Examples = {
    "void cub::DeviceRadixSortOnesweepKernel<cub::DeviceRadixSortPolicy<long, int, int>::Policy800, false, long, "
    "int, int, "
    "int>(int*)": {"family": "sort", "op": "sort"},
    "void at_cuda_detail::cub::DeviceScanKernel<at_cuda_detail::cub::DeviceScanPolicy<long>::Policy900, long*, long*, "
    "at_cuda_detail::cub::ScanTileState<long, true>, std::plus<long>, int>(long*)": {
        "family": "reduction",
        "op": "scan",
    },
    "void thrust::cuda_cub::core::_kernel_agent<thrust::cuda_cub::__scan::ScanAgent<int*, int*, thrust::plus<int>, "
    "int, int>, "
    "int*>(int*)": {"op": "scan"},
}


def read(name: Name) -> Draft:
    """The primitive; of a Thrust agent, which one; of a reduction, with which operator."""
    draft = TABLE.read(name)
    text = name.text
    if "thrust::" in text[name.start : name.leaf[0]]:
        draft.library = "thrust"
        if (match := AGENT.search(text, name.leaf[1], name.rest)) and match[1] in AGENTS:
            draft.family, draft.fields["op"] = AGENTS[match[1]]
    if draft.fields.get("op") in ("reduce", "scan") and (match := REDUCTIONS.search(text, name.leaf[1], name.rest)):
        draft.fields["redop"] = NAMES[match[1]]
    return draft


GRAMMAR = Grammar(
    "cub",
    __doc__,
    "https://github.com/NVIDIA/cccl/tree/main/cub/cub/device/dispatch",
    TABLE.pattern,
    read,
    TERMS,
    EXAMPLES,
)
