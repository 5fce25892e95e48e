"""ATen softmax: one warp a row for short rows, one block a row for long ones.

Source: pytorch aten/src/ATen/native/cuda/SoftMax.cu and PersistentSoftmax.cuh
(https://github.com/pytorch/pytorch/tree/main/aten/src/ATen/native/cuda). `softmax_warp_forward<input, output,
accumulator, log2 of the row length rounded up, is log-softmax, is masked>`; longer rows go to
`cunn_SoftMaxForward`.
"""

from __future__ import annotations

from foretrace.grammars.functions import Function, Table
from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms
from foretrace.grammars.spelling import Name, dtype, number

WARP = ("dtype", "dtype_out", "accum", "log2_elements", "log_softmax", "masked")
TABLE = Table(
    "aten",
    (
        Function("softmax_warp_forward", "softmax", {"softmax_pass": "fwd"}, WARP),
        Function("softmax_warp_backward", "softmax", {"softmax_pass": "bwd"}, WARP),
        Function(r"cunn_(?:Spatial)?SoftMaxForward\w*", "softmax", {"softmax_pass": "fwd"}),
        Function(r"cunn_(?:Spatial)?SoftMaxBackward\w*", "softmax", {"softmax_pass": "bwd"}),
        Function(r"softMaxForward\w*|host_softmax\w*", "softmax", {"softmax_pass": "fwd"}),
    ),
    namespaces=r"(?:at::native::)?(?:\w++::)*+",
)
TERMS: Terms = {
    "function": Term("softmax over rows", "B"),
    "dtype": Term("input type", "B"),
    "dtype_out": Term("output type", "B"),
    "accum": Term("accumulator type", "B"),
    "log2_elements": Term("the row is at most two to this power long", "B"),
    "log_softmax": Term("log-softmax instead of softmax", "B"),
    "ilp": Term("elements per thread at once", "B"),
    "masked": Term("with a mask", "B"),
}
EXAMPLES: Examples = {
    "void (anonymous namespace)::softmax_warp_forward<c10::BFloat16, c10::BFloat16, float, 10, false, false>(c10::"
    "BFloat16*, "
    "c10::BFloat16 const*, int, int, int, bool const*, int, bool)": {
        "softmax_pass": "fwd", "dtype": "bf16", "accum": "f32", "log2_elements": 10, "log_softmax": False,
    },
    "void at::native::<unnamed>::cunn_SoftMaxForward<(int)4, float, float, float, "
    "at::native::<unnamed>::LogSoftMaxForwardEpilogue>(T4 *, const T2 *, int)": {"log_softmax": True, "dtype": "f32"},
}  # fmt: skip


def read(name: Name) -> Draft:
    """Pass, types, row length, and whether it is a log-softmax."""
    draft = TABLE.read(name)
    if not name.symbol.startswith("softmax_warp"):
        roles = ["dtype", "accum", "dtype_out"]
        if name.arguments and number(name.arguments[0].text) is not None:
            draft.mark(name.arguments[0].span, "ilp")
        for argument in name.arguments:
            if "SoftMax" in argument.text:
                draft.say(argument.span, "log_softmax", "LogSoftMax" in argument.text)
            elif roles and (kind := dtype(argument.text)):
                draft.say(argument.span, roles.pop(0), kind)
    return draft


GRAMMAR = Grammar(
    "aten_softmax", __doc__, "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/cuda/SoftMax.cu",
    TABLE.pattern, read,
    TERMS, EXAMPLES,
)  # fmt: skip
