"""causal-conv1d: the short depthwise convolution of state-space models.

Source: Dao-AILab/causal-conv1d csrc/causal_conv1d_fwd.cu, causal_conv1d_bwd.cu
(https://github.com/Dao-AILab/causal-conv1d). Traits are `<threads, width of the filter, …, input type, weight
type>`; with the channels last a third number stands before the flag.
"""

from __future__ import annotations

import re

from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms
from foretrace.grammars.spelling import Argument, Name, dtype, number, split

PATTERN = re.compile(r"causal_conv1d_\w+$")
WAY = re.compile(r"_(fwd|bwd|update)(?:_|$)")
TERMS: Terms = {
    "function": Term("causal depthwise convolution over a sequence", "A"),
    "threads": Term("threads per block", "A"),
    "conv_width": Term("width of the filter", "A"),
    "dtype": Term("input type", "A"),
}
EXAMPLES: Examples = {
    "void causal_conv1d_channellast_bwd_kernel<Causal_conv1d_channellast_bwd_kernel_traits<128, 4, 64, true, true, "
    "c10::BFloat16, float>, false, false, false>(ConvParamsBwd)": {
        "op": "causal_conv1d", "conv_pass": "bwd", "threads": 128, "conv_width": 4, "dtype": "bf16",
    },
}  # fmt: skip


def read(name: Name) -> Draft:
    """Pass, threads, filter width and type."""
    draft = Draft("conv", "causal-conv1d")
    draft.mark(name.leaf, "function")
    draft.fields["op"] = "causal_conv1d"
    if (way := WAY.search(name.symbol)) and way[1] != "update":
        draft.fields["conv_pass"] = "bwd" if way[1] == "bwd" else "fprop"
    opening = name.text.find("_traits<", name.leaf[1], name.rest)
    if opening < 0:
        return draft
    spans, _ = split(name.text, opening + len("_traits"))
    arguments = [Argument(name.text[a:b].strip(), a, b) for a, b in spans]
    for role, argument in zip(("threads", "conv_width"), arguments, strict=False):
        value = number(argument.text)
        if value is not None:
            draft.say(argument.span, role, value)
    for argument in arguments:
        if kind := dtype(argument.text):
            draft.say(argument.span, "dtype", kind)
            break
    return draft


GRAMMAR = Grammar(
    "causal_conv1d", __doc__, "https://github.com/Dao-AILab/causal-conv1d", PATTERN, read, TERMS, EXAMPLES
)
