"""FBGEMM's GPU kernels: embedding tables, jagged and sparse features, quantization.

Source: pytorch/FBGEMM fbgemm_gpu/codegen and fbgemm_gpu/src (https://github.com/pytorch/FBGEMM). A table's backward
pass also runs the optimizer that its name contains.
"""

from __future__ import annotations

import re

from foretrace.grammars.functions import Function, Table, Words
from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms
from foretrace.grammars.spelling import Name, dtype

TABLE = Table(
    "fbgemm",
    (
        Function(r"(?:split|dense|ssd)_embedding\w*_codegen_forward\w*|\w*embedding_codegen_forward\w*", "index",
                 {"op": "embedding_fwd"}),
        Function(r"(?:split|dense|ssd)_embedding_backward\w*|\w*embedding_backward_codegen\w*", "index",
        {"op": "embedding_bwd"}),
        Function(r"split_embedding\w*_codegen_grad\w*", "index", {"op": "embedding_bwd"}),
        Function(r"linearize_index\w*|transpose_embedding\w*|lxu_cache\w*|lru_cache\w*|lfu_cache\w*"
        r"|bounds_check_indices\w*", "index",
                 {}),
    ),
    namespaces=r"(?:fbgemm_gpu::)?(?:\w++::)*+",
)  # fmt: skip
PATTERN = re.compile(TABLE.pattern.pattern + r"|fbgemm_gpu::(?:\w++::)*+\w+$")
OPTIMIZER = re.compile(
    r"_(rowwise_adagrad|adagrad|adam|lamb|partial_rowwise_adam|partial_rowwise_lamb|lars_sgd|sgd|dense|none)_"
)
WORDS = Words(
    Function(r"to_float|dequant", "pointwise", {"op": "dequantize"}),
    Function(r"float_to|quant|FP8rowwise", "pointwise", {"op": "quantize"}),
    Function(r"permute|index_select|segment_sum|offsets|jagged|invert", "index", {}),
)
TERMS: Terms = {
    "function": Term("a kernel of FBGEMM, named after what it does", "B"),
    "optimizer": Term("optimizer that runs in the backward pass of the table", "B"),
    "dtype": Term("type of the table", "B"),
}
EXAMPLES: Examples = {
    "void split_embedding_codegen_forward_unweighted_kernel<float, float, float, false, long, 1ul, 16ul>(int)": {
        "family": "index", "op": "embedding_fwd",
    },
    "void split_embedding_backward_codegen_rowwise_adagrad_unweighted_kernel_cta_per_row_1<float, float, float, "
    "2ul>(int)": {
        "op": "embedding_bwd", "optimizer": "rowwise_adagrad",
    },
    "void fbgemm_gpu::permute_2D_lengths_kernel<int>(int, int, int const*)": {"family": "index"},
}  # fmt: skip


def read(name: Name) -> Draft:
    """Embedding pass and optimizer, or what the function's words say."""
    draft = TABLE.read(name)
    draft.mark(name.leaf, "function")
    symbol = name.symbol
    if draft.family == "other":
        WORDS.tell(draft, symbol)
    elif "op" in draft.fields:
        if match := OPTIMIZER.search(symbol):
            draft.fields["optimizer"] = match[1]
        if name.arguments and (kind := dtype(name.arguments[0].text)):
            draft.say(name.arguments[0].span, "dtype", kind)
    return draft


GRAMMAR = Grammar("fbgemm", __doc__, "https://github.com/pytorch/FBGEMM", PATTERN, read, TERMS, EXAMPLES)
