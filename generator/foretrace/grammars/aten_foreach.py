"""Foreach kernels: one launch over a list of tensors, from `torch._foreach_*`, fused optimizers, apex and FBGEMM.

Source: pytorch aten/src/ATen/native/cuda/MultiTensorApply.cuh, ForeachFunctors.cuh and fused_adam_utils.cuh
(https://github.com/pytorch/pytorch/tree/main/aten/src/ATen/native/cuda). The functor says which kind of operation,
the last arguments which one. Optimizers use these kernels, and so does everything else that walks a list of
tensors.
"""

from __future__ import annotations

import re

from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms
from foretrace.grammars.spelling import Argument, Name, dtype

PATTERN = re.compile(r"(?:[\w:]*::)?multi_tensor_apply_kernel(?:_\w+)?$")
LISTS = re.compile(
    r"(?:\w+::|\(anonymous namespace\)::|<unnamed>::)*(\w*?)TensorList\w*Metadata<(?:[\w:]+, )?(?:\(int\)"
    r"|int=)?(\d+)"
)
FUNCTOR = re.compile(r"(?:\w+::|\(anonymous namespace\)::|<unnamed>::)*(\w+)(?:<([^<>,]*(?:<[^<>]*>)?))?")
PLAIN = re.compile(r"(?:\w+::)*(?:float|double|int|long|bool|char|unsigned|short|void|BFloat16|Half|\d)\b|.*[*)]")
OPS = {"plus": "add", "minus": "sub", "multiplies": "mul", "divides": "div"}
OPTIMIZER = re.compile(r"(?:Fused)?(Adam|Sgd|Adagrad|Lamb|LAMB|NovoGrad)\w*?(?:Math)?Functor$")
TERMS: Terms = {
    "launcher": Term("one launch over a list of tensors", "B"),
    "lists": Term("how many lists of tensors go in and out together", "B"),
    "functor": Term("the kind of operation", "B"),
    "dtype": Term("element type", "B"),
    "op": Term("the operation", "B"),
    "scalar": Term("type of the scalar operand, or an option of the functor", "B"),
}
EXAMPLES: Examples = {
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::"
    "TensorListMetadata<1>, "
    "at::native::(anonymous namespace)::BinaryOpScalarFunctor<float, 1, 1, 0>, std::multiplies<float>, float>(int)": {
        "functor": "BinaryOpScalarFunctor", "op": "mul", "dtype": "f32", "lists": 1,
    },
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::"
    "FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4, "
    "(at::native::(anonymous namespace)::ADAM_MODE)1, false>, float const*, double, double, bool>(int)": {
        "functor": "FusedAdamMathFunctor", "op": "adamw", "dtype": "f32", "lists": 4,
    },
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::"
    "TensorListScalarListMetadata<float, 1>, at::native::(anonymous namespace)::BinaryOpScalarListFunctor<float, 1, "
    "1, 0>, "
    "std::divides<float> >(int)": {"functor": "BinaryOpScalarListFunctor", "op": "div", "lists": 1},
}  # fmt: skip


def read(name: Name) -> Draft:
    """Functor, operation, element type and number of lists."""
    aten = "at::native" in name.text[name.start : name.leaf[0]]
    draft = Draft("optimizer", "aten-foreach" if aten else "apex/fbgemm")
    draft.mark(name.leaf, "launcher")
    rest = list(name.arguments)
    if rest and (lists := LISTS.match(rest[0].text)):
        draft.say(rest[0].span, "lists", int(lists[2]))
        if lists[1].startswith("Fused"):
            draft.fields["functor"] = "fused_optimizer"
        rest = rest[1:]
    if rest and (functor := FUNCTOR.match(rest[0].text)):
        _functor(draft, rest[0], functor)
        _operation(draft, rest[1:])
    elif "FusedOptimize" in name.text:
        draft.fields["functor"] = "fused_optimizer"
    return draft


def _functor(draft: Draft, argument: Argument, match: re.Match[str]) -> None:
    draft.say(argument.span, "functor", match[1])
    if kind := dtype(match[2] or ""):
        draft.fields["dtype"] = kind
    if fused := OPTIMIZER.match(match[1]):
        draft.fields["op"] = fused[1].lower()
        if "ADAM_MODE)1" in argument.text:
            draft.fields["op"] = "adamw"


def _operation(draft: Draft, arguments: list[Argument]) -> None:
    for argument in arguments:
        match = FUNCTOR.match(argument.text)
        text = argument.text
        if match and not PLAIN.match(text) and "op" not in draft.fields:
            word = match[1]
            draft.say(argument.span, "op", OPS.get(word, word.removesuffix("Functor").lower()))
            if draft.fields["op"] == "copy":
                draft.family = "copy"
        else:
            draft.mark(argument.span, "scalar")


GRAMMAR = Grammar(
    "aten_foreach", __doc__,
    "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/cuda/MultiTensorApply.cuh",
    PATTERN, read,
    TERMS, EXAMPLES,
)  # fmt: skip
