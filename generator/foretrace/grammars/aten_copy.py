"""ATen kernels that only move data: cat, split, roll, flip, padding.

Source: pytorch aten/src/ATen/native/cuda/Shape.cu, TensorTransformations.cu, TensorShape.cu
(https://github.com/pytorch/pytorch/tree/main/aten/src/ATen/native/cuda). `OpaqueType<2u>` is any type of two bytes:
only the size survives. Copies between layouts and casts are elementwise kernels with a copy functor.
"""

from __future__ import annotations

import re

from foretrace.grammars.functions import Function, Table
from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms
from foretrace.grammars.spelling import Name, dtype

TABLE = Table(
    "aten",
    (
        Function(r"CatArrayBatchedCopy\w*|HIP_CatArrayBatchedCopy\w*", "copy", {"op": "cat"}),
        Function(r"chunk_cat_cuda_kernel", "copy", {"op": "cat"}),
        Function(r"split_with_sizes_copy_out\w*", "copy", {"op": "split"}),
        Function(r"roll_cuda_kernel", "copy", {"op": "roll"}, ("dtype",)),
        Function(r"(?:flip|kernel_pointwise_flip)\w*", "copy", {"op": "flip"}, ("dtype",)),
        Function(r"(?:reflection|replication)_pad\w*|constant_pad\w*", "copy", {"op": "pad"}, ("dtype",)),
    ),
    namespaces=r"at::native::(?:\w++::)*+|detail::(?=split_)",
)
OPAQUE = re.compile(r"OpaqueType<(?:\([\w ]+\))?(\d+)")
TERMS: Terms = {
    "function": Term("data is moved, nothing is computed", "B"),
    "elem_bytes": Term("bytes per element; the type itself is not in the name", "B"),
    "dtype": Term("element type", "B"),
}
EXAMPLES: Examples = {
    "void at::native::(anonymous namespace)::CatArrayBatchedCopy_contig<at::native::(anonymous namespace)::"
    "OpaqueType<2u>, "
    "unsigned int, 3, 128, 1>(int)": {"op": "cat", "elem_bytes": 2},
}


def read(name: Name) -> Draft:
    """The operation and what is known of the elements."""
    draft = TABLE.read(name)
    if name.arguments and draft.fields.get("op") == "cat":
        first = name.arguments[0]
        if opaque := OPAQUE.search(first.text):
            draft.say(first.span, "elem_bytes", int(opaque[1][:4]))
        elif kind := dtype(first.text):
            draft.say(first.span, "dtype", kind)
    return draft


GRAMMAR = Grammar(
    "aten_copy", __doc__, "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/cuda/Shape.cu",
    TABLE.pattern,
    read, TERMS,
    EXAMPLES,
)  # fmt: skip
