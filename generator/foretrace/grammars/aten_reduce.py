"""ATen reductions: `reduce_kernel` with its operation as a functor, and the scans.

Source: pytorch aten/src/ATen/native/cuda/Reduce.cuh, ReduceOps.h and SharedReduceOps.h, ScanUtils.cuh
(https://github.com/pytorch/pytorch/tree/main/aten/src/ATen/native/cuda). Template: threads per block at most,
outputs per thread, `ReduceOp<type, operation, index type, output type, …>`; WelfordOps is variance or standard
deviation, or both.
"""

from __future__ import annotations

import re

from foretrace.grammars.functions import Function, Table, fill
from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms
from foretrace.grammars.spelling import Argument, Name, dtype, split

TABLE = Table(
    "aten",
    (
        Function("reduce_kernel", "reduction", {}, ("max_threads", "output_vec", "reduce")),
        Function(
            r"tensor_kernel_scan_(?:inner|outer)most_dim\w*|tensor_kernel_scan_(?:inner|outer)_dim\w*", "reduction",
            {"op": "scan"}, ("dtype",),
        ),
        Function(r"lp(?:norm|max)_cleanup", "reduction", {"op": "foreach_norm_cleanup"}, ("dtype",)),
        Function(r"segment_reduce_\w+kernel", "reduction", {"op": "segment_reduce"}, ("dtype",)),
    ),
    namespaces=r"at::native::(?:\w++::)*+",
)  # fmt: skip
OPERATION = re.compile(
    r"(?:\w+::|\(anonymous namespace\)::|<unnamed>::|void )*(?:func_wrapper_t<[^,]*(?:<[^<>]*>)?, )?"
    r"(?:\w+::|\(anonymous namespace\)::|<unnamed>::|void )*(\w+)"
)
OPERATIONS = {
    "sum_functor": "sum", "nansum_functor": "nansum", "prod_functor": "prod", "xor_sum_functor": "xor_sum",
    "and_kernel_cuda": "all", "or_kernel_cuda": "any", "MaxNanFunctor": "max", "MinNanFunctor": "min", "MaxOps": "max",
    "MinOps": "min", "ArgMaxOps": "argmax", "ArgMinOps": "argmin", "MeanOps": "mean", "WelfordOps": "var_std",
    "NormTwoOps": "norm", "NormOneOps": "norm", "NormOps": "norm", "NormZeroOps": "norm", "AbsMaxOps": "norm",
    "AbsMinOps": "norm",
}  # fmt: skip
TERMS: Terms = {
    "function": Term("ATen's general reduction, or a scan", "B"),
    "max_threads": Term("threads per block at most", "B"),
    "output_vec": Term("outputs a thread computes at once", "B"),
    "reduce": Term("what is reduced and how", "B"),
    "op": Term("the operation", "B"),
    "dtype": Term("input type", "B"),
    "dtype_out": Term("output type", "B"),
}
EXAMPLES: Examples = {
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<c10::BFloat16, at::native::func_wrapper_t<c10::"
    "BFloat16, "
    "at::native::sum_functor<c10::BFloat16, float, c10::BFloat16>::operator()(at::TensorIterator&)::{lambda(float, "
    "float)#1}>, "
    "unsigned int, c10::BFloat16, 4, 8> >(int)": {
        "op": "sum", "dtype": "bf16", "accum": "f32", "max_threads": 512, "output_vec": 1,
    },
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float, float, "
    "float>, "
    "unsigned int, float, 4> >(at::native::ReduceOp<float, at::native::MeanOps<float, float, float, float>, "
    "unsigned int, "
    "float, 4>)": {"op": "mean", "dtype": "f32"},
}  # fmt: skip


def read(name: Name) -> Draft:
    """Block size, outputs per thread, operation and types."""
    draft = Draft("reduction", "aten")
    function = TABLE.find(name.symbol)
    if function is None:
        return draft
    draft.mark(name.leaf, "function")
    draft.fields |= function.fields
    for role, argument in zip(function.roles, name.arguments, strict=False):
        if role == "reduce":
            _reduce(draft, argument)
        else:
            fill(draft, role, argument)
    return draft


def _reduce(draft: Draft, argument: Argument) -> None:
    """`ReduceOp<type, operation, index type, output type, …>`."""
    text = argument.text
    draft.mark(argument.span, "reduce")
    opening = text.find("ReduceOp<")
    if opening < 0:
        return
    spans, _ = split(text, opening + 8)
    parts = [Argument(text[a:b].strip(), argument.start + a, argument.start + b) for a, b in spans]
    if parts and (kind := dtype(parts[0].text)):
        draft.say(parts[0].span, "dtype", kind)
    if len(parts) > 1 and (match := OPERATION.match(parts[1].text)):
        word = match[1]
        if word in OPERATIONS:
            draft.fields["op"] = OPERATIONS[word]
        if word.endswith("sum_functor") or word == "prod_functor":
            _accumulator(draft, parts[1].text[match.end() :])
    if len(parts) > 3 and (kind := dtype(parts[3].text)):
        draft.fields["dtype_out"] = kind


def _accumulator(draft: Draft, text: str) -> None:
    """`sum_functor<input, accumulator, output>`."""
    if text.startswith("<"):
        spans, _ = split(text, 0)
        if len(spans) > 1 and (kind := dtype(text[slice(*spans[1])])):
            draft.fields["accum"] = kind


GRAMMAR = Grammar(
    "aten_reduce", __doc__, "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/cuda/Reduce.cuh",
    TABLE.pattern, read,
    TERMS, EXAMPLES,
)  # fmt: skip
