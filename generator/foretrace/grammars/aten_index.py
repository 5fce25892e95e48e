"""ATen indexing: select, gather, scatter, put, embedding and its gradient.

Source: pytorch aten/src/ATen/native/cuda/Indexing.cu, IndexKernel.cu, ScatterGatherKernel.cu, Embedding.cu,
EmbeddingBackwardKernel.cu, EmbeddingBag.cu
(https://github.com/pytorch/pytorch/tree/main/aten/src/ATen/native/cuda). The gradient of an embedding is several
kernels: a sort, segment offsets, partial sums, and `sum_and_scatter`.
"""

from __future__ import annotations

import re

from foretrace.grammars.functions import Function, Table
from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms
from foretrace.grammars.spelling import Name, flag

TABLE = Table(
    "aten",
    (
        Function(r"indexSelect(?:Large|Small)Index", "index", {"op": "index_select"}, ("dtype", "index_dtype")),
        Function(r"indexFunc(?:Large|Small)Index", "index", {}, ("dtype", "index_dtype")),
        Function(r"indexAdd(?:Large|Small)Index", "index", {"op": "index_add"}, ("dtype", "index_dtype")),
        Function(r"index_elementwise_kernel", "index", {}, ("threads", "vt", "functor")),
        Function(r"_scatter_gather_elementwise_kernel", "index", {}, ("threads", "vt", "functor")),
        Function(r"vectorized_gather_kernel", "index", {"op": "gather"}),
        Function(r"indexing_backward_kernel\w*", "index", {"op": "index_put"}, ("dtype",)),
        Function(r"embedding_backward\w*kernel|compute_grad_weight\w*|sum_and_scatter", "index",
        {"op": "embedding_bwd"},
                 ("dtype",)),
        Function(r"krn_partials_per_segment|krn_partial_segment_offset|compute_num_of_partial_segments"
                 r"|write_num_of_segments\w*", "index", {}),
        Function(r"EmbeddingBag_updateOutputKernel\w*", "index", {"op": "embedding_fwd"}, ("dtype",)),
        Function(r"EmbeddingBag_accGrad\w*|_embedding_bag_per_sample_weights_backward_kernel", "index",
                 {"op": "embedding_bwd"}, ("dtype",)),
        Function(r"renormRows|renorm_kernel", "index", {"op": "renorm"}, ("dtype",)),
        Function(r"masked_scatter_\w+|masked_select\w*", "index", {"op": "masked_scatter"}),
        Function(r"compute_cuda_kernel|repeat_interleave\w*", "index", {"op": "repeat_interleave"}),
    ),
    namespaces=r"(?:at::native::(?:\w++::)*+)?",
)  # fmt: skip
FUNCTORS = re.compile(
    r"\b(index_put|index_copy|index_fill|index|take|put|masked_fill)_kernel(?:_impl)?\b|cuda_(take)_put_kernel"
)
SCATTER = re.compile(r"_cuda_scatter_(gather|fill)_internal_kernel<([^,]{0,20}),")
OPAQUE = re.compile(r"OpaqueType<(?:\([\w ]+\))?(\d+)")
TERMS: Terms = {
    "function": Term("reading or writing by index", "B"),
    "dtype": Term("element type", "B"),
    "index_dtype": Term("type of the indices", "B"),
    "threads": Term("threads per block", "B"),
    "vt": Term("elements per thread", "B"),
    "functor": Term("what is done at each index", "B"),
}
EXAMPLES: Examples = {
    "void at::native::(anonymous namespace)::indexSelectLargeIndex<float, long, unsigned int, 2, 2, -2, true>(int)": {
        "op": "index_select", "dtype": "f32", "index_dtype": "i64",
    },
    "void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int, long, long, long, long, bool)": {
        "op": "gather",
    },
    "void at::native::index_elementwise_kernel<(int)128, (int)4, void at::native::gpu_index_kernel<void "
    "at::native::index_put_kernel_impl<at::native::OpaqueType<(int)2>>(at::TensorIterator &)::[lambda(char *) "
    "(instance 1)]>"
    "(int)::[lambda(int) (instance 1)]>(long, T3)": {"op": "index_put", "elem_bytes": 2},
}  # fmt: skip


def read(name: Name) -> Draft:
    """The operation, and the types of elements and indices."""
    draft = TABLE.read(name)
    text = name.text
    if name.symbol == "index_elementwise_kernel":
        if match := FUNCTORS.search(text, name.leaf[1], name.rest):
            draft.fields["op"] = match[1] or match[2]
    elif name.symbol == "_scatter_gather_elementwise_kernel":
        if match := SCATTER.search(text, name.leaf[1], name.rest):
            adds = "ReduceAdd" in text[match.end() : match.end() + 300]
            scatters = match[1] == "fill" or flag(match[2])
            draft.fields["op"] = "gather" if not scatters else "scatter_add" if adds else "scatter"
    elif name.symbol.startswith("indexFunc") and "ReduceAdd" in text[: name.rest]:
        draft.fields["op"] = "index_add"
    if opaque := OPAQUE.search(text, name.leaf[1], name.rest):
        draft.fields["elem_bytes"] = int(opaque[1][:4])
    return draft


GRAMMAR = Grammar(
    "aten_index", __doc__, "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/cuda/Indexing.cu",
    TABLE.pattern, read,
    TERMS, EXAMPLES,
)  # fmt: skip
