"""rocPRIM device primitives, the AMD counterpart of CUB.

Source: ROCm/rocPRIM rocprim/include/rocprim/device (https://github.com/ROCm/rocPRIM). `trampoline_kernel` says only
in its template arguments what it runs.
"""

from __future__ import annotations

import re

from foretrace.grammars.functions import Function, Table
from foretrace.grammars.reading import Draft, Examples, Family, Grammar, Term, Terms
from foretrace.grammars.spelling import Name

TABLE = Table(
    "rocprim",
    (
        Function(r"onesweep_\w+|radix_sort_\w+|block_sort_\w+|merge_sort_\w+|device_\w*merge\w+|segmented_sort\w*"
        r"|device_merge\w*",
                 "sort", {"op": "sort"}),
        Function(r"lookback_scan\w*|init_lookback_scan\w*|\w*_scan_\w*kernel|single_scan_kernel", "reduction",
        {"op": "scan"}),
        Function(r"block_reduce_kernel|segmented_reduce_kernel|reduce_\w*kernel", "reduction", {"op": "reduce"}),
        Function(r"partition_kernel|select_\w*kernel", "index", {"op": "select"}),
        Function(r"transform_kernel", "pointwise", {"op": "transform"}),
        Function(r"trampoline_kernel|init_offset_scan_state_kernel|\w+", "other", {}),
    ),
    namespaces=r"rocprim::(?:\w++::)*?",
)  # fmt: skip
INSIDE = re.compile(
    r"\b(radix_sort|onesweep|merge_sort|block_sort|scan|reduce|partition|select|transform)_(?:impl|config)\w*"
)
WORK: dict[str, tuple[Family, str]] = {
    "scan": ("reduction", "scan"), "reduce": ("reduction", "reduce"), "partition": ("index", "select"),
    "select": ("index", "select"), "transform": ("pointwise", "transform"),
}  # fmt: skip
TERMS: Terms = {"function": Term("a primitive of rocPRIM, or one step of it", "A")}
EXAMPLES: Examples = {
    "void rocprim::ROCPRIM_400001_NS::detail::onesweep_scan_histograms_kernel<rocprim::ROCPRIM_400001_NS::"
    "default_config, long, "
    "unsigned long>(unsigned long*)": {"family": "sort", "op": "sort"},
    "void rocprim::ROCPRIM_400400_NS::detail::trampoline_kernel<rocprim::ROCPRIM_400400_NS::default_config, "
    "rocprim::ROCPRIM_400400_NS::detail::reduce_config_selector<bool>, int>(int)": {"family": "reduction",
    "op": "reduce"},
}  # fmt: skip


def read(name: Name) -> Draft:
    """The primitive; of a trampoline, what it jumps to."""
    draft = TABLE.read(name)
    if name.symbol == "trampoline_kernel" and (match := INSIDE.search(name.text, name.leaf[1], name.rest)):
        draft.family, draft.fields["op"] = WORK.get(match[1], ("sort", "sort"))
    return draft


GRAMMAR = Grammar("rocprim", __doc__, "https://github.com/ROCm/rocPRIM", TABLE.pattern, read, TERMS, EXAMPLES)
