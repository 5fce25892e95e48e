"""ATen's elementwise launchers: vectorized, unrolled, strided and indexed, whatever functor they apply.

Source: pytorch aten/src/ATen/native/cuda/CUDALoops.cuh, Loops.cuh and the kernels that use them
(https://github.com/pytorch/pytorch/tree/main/aten/src/ATen/native/cuda). The launcher says how memory is walked,
the functor what is computed: `CUDAFunctor_add` is add and sub, `direct_copy` is a copy or a cast and no arithmetic.
A lambda's argument is the type the functor computes on; with a casting loader memory may hold another.
"""

from __future__ import annotations

import re

from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms
from foretrace.grammars.spelling import Argument, Name, dtype, number

PATTERN = re.compile(
    r"(?:at::native::(?:\w++::)*+)?(?:vectorized_elementwise_kernel|unrolled_elementwise_kernel"
    r"|elementwise_kernel_manual_unroll|elementwise_kernel_with_index|vectorized_templated_elementwise_kernel"
    r"|unrolled_templated_elementwise_kernel"
    r"|unrolled_elementwise_kernel_for_multi_outputs)$"
    r"|at::native::(?:\w++::)*+(?:elementwise_kernel|legacy_elementwise_kernel|modern_elementwise_kernel)$"
    r"|at::native::xpu::(?:\w++::)*+(?:Vectorized|Unrolled|Legacy|Templated)?\w*?ElementwiseKernel\w*$"
)
LAYOUTS = {
    "vectorized_elementwise_kernel": ("vec", "functor", "operands"),
    "vectorized_templated_elementwise_kernel": ("vec", "functor", "operands"),
    "unrolled_elementwise_kernel": ("functor", "operands"),
    "elementwise_kernel": ("threads", "vt", "functor"),
    "legacy_elementwise_kernel": ("threads", "vt", "functor"),
    "elementwise_kernel_manual_unroll": ("threads", "vt", "functor"),
    "elementwise_kernel_with_index": ("index", "functor"),
    "unrolled_elementwise_kernel_for_multi_outputs": ("access", "functor", "operands"),
    "VectorizedElementwiseKernel": ("vec", "functor", "operands"),
    "UnrolledElementwiseKernel": ("functor", "operands"),
}
WORD = re.compile(r"[A-Za-z_]\w*+(?!::)")
ELEMENT = re.compile(r"[\w:]++(?: \w+)*(?:<[\w:]+>)?")
LAMBDA = re.compile(r"lambda\(([^()]+)\)")
OPERANDS = re.compile(r"(?:char ?\*), (?:\(unsigned long\)|\(int\))?(\d+)")
SKIPPED = frozenset({
    "BFloat16", "BUnaryFunctor", "AUnaryFunctor", "BinaryFunctor", "Float8_e4m3fn", "Float8_e4m3fnuz", "Float8_e5m2",
    "Float8_e5m2fnuz", "Half", "T1", "T2", "T3", "TensorIterator", "TensorIteratorBase", "anonymous", "bool",
    "char", "complex",
    "apply", "const", "double", "float", "instance", "int", "lambda", "long", "namespace", "operator", "short",
    "signed",
    "unnamed",
    "type_specialized_broadcast_kernel_launcher", "unsigned", "void",
})  # fmt: skip
SUFFIX = re.compile(
    r"(?:_tensor_scalar|_tensor_tensor|_scalar_tensor|_min_scalar|_max_scalar|_scalar|_tensor|_forward"
    r"|_min|_max)?(?:_kernel_cuda|_cuda_kernel|_kernel_impl|_kernel|_cuda_out|_cuda|_out|_impl)+\d?$"
)
FUNCTOR = re.compile(
    r"(?:CUDAFunctor(?:OnSelf|OnOther)?_)?(\w+?)(?:Functor|CUDAKernelImpl|KernelImpl|KernelImplInternal)?$"
)
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
COPIES = {"direct_copy", "bfloat16_copy", "float8_copy", "float16_copy", "copy", "copy_device_to_device"}
NORM = re.compile(r"(group_norm|layer_norm|batch_norm)(?:_(backward)|_\w+)?$")
TERMS: Terms = {
    "launcher": Term("ATen's elementwise loop; vectorized: contiguous memory", "B"),
    "strided": Term("ATen's elementwise loop for memory that is not contiguous", "B"),
    "vec": Term("elements per vector load and store", "B"),
    "threads": Term("threads per block", "B"),
    "vt": Term("elements per thread", "B"),
    "index": Term("type of the index that is passed to the functor", "B"),
    "functor": Term("what is applied to each element", "B"),
    "op": Term("the operation", "B"),
    "dtype": Term("type the functor computes on", "B"),
    "operands": Term("pointers to outputs and inputs, counted together", "B"),
    "access": Term("how offsets are computed and whether loads and stores cast", "B"),
}
EXAMPLES: Examples = {
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> "
    ">(int, "
    "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)": {"op": "add", "dtype": "f32", "vec": 4},
    "void at::native::elementwise_kernel<(int)128, (int)4, void at::native::gpu_kernel_impl_nocast<at::native::"
    "BinaryFunctor<"
    "c10::BFloat16, c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float>>>(at::"
    "TensorIteratorBase &, "
    "const T1 &)::[lambda(int) (instance 1)]>(int, T3)": {"op": "mul", "dtype": "bf16", "threads": 128, "vt": 4},
    "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::"
    "{lambda()#3}"
    "::operator()() const::{lambda()#4}::operator()() const::{lambda(long)#1}, std::array<char*, 2ul>, 4>(int)": {
        "op": "copy", "dtype": "i64",
    },
}  # fmt: skip


def read(name: Name) -> Draft:
    """How memory is walked, what is computed, and on which type."""
    draft = Draft("pointwise", "aten")
    launcher = name.symbol
    draft.mark(name.leaf, "strided" if launcher.startswith("elementwise_kernel") else "launcher")
    terms = LAYOUTS.get(launcher, ())
    for position, argument in enumerate(name.arguments):
        term = terms[position] if position < len(terms) else "access"
        if term == "functor":
            _functor(draft, argument)
        elif term == "operands" and (count := OPERANDS.search(argument.text)):
            draft.mark(argument.span, "operands", count[1])
        elif term in ("vec", "threads", "vt"):
            value = number(argument.text)
            if value is not None:
                draft.say(argument.span, term, value)
        else:
            draft.mark(argument.span, "access")
    return draft


def _functor(draft: Draft, argument: Argument) -> None:
    """The operation and the type it works on."""
    text = argument.text
    draft.mark(argument.span, "functor")
    found = next((word for word in WORD.finditer(text) if word[0] not in SKIPPED and "gpu_kernel" not in word[0]), None)
    if found is None:
        return
    op = operation(found[0])
    if norm := NORM.match(op):
        draft.family = "norm"
        op = norm[1]
        if norm[2]:
            draft.fields |= {"norm_pass": "bwd"}
    elif op == "copy":
        draft.family = "copy"
    draft.say((argument.start + found.start(), argument.start + found.end()), "op", op)
    if kind := _type(text, found):
        draft.say((argument.start + kind[1], argument.start + kind[2]), "dtype", kind[0])
    if found[0].startswith("bfloat16_copy"):
        draft.fields["dtype_out"] = "bf16"


def operation(functor: str) -> str:
    """The operation a functor or kernel function is named after: `CompareGEFunctor` → compare."""
    if "_" in functor and not functor.startswith("CUDAFunctor"):
        op = SUFFIX.sub("", functor.removeprefix("launch_").lstrip("_"))
        op = op.removesuffix("_scalar") if functor.startswith("launch_") else op
        return "copy" if op in COPIES else op
    match = FUNCTOR.match(functor)
    op = CAMEL.sub("_", match[1] if match else functor).lower()
    return "compare" if op.startswith("compare") else op


def _type(text: str, found: re.Match[str]) -> tuple[str, int, int] | None:
    """The type worked on and its span: first of a Binary- or UnaryFunctor, else of the functor, else of its lambda."""
    outer = text.rfind("Functor<", 0, found.start())
    begin = outer + len("Functor<") if outer >= 0 else found.end() + 1 if text.startswith("<", found.end()) else 0
    if begin and (kind := _main(text, begin)):
        return kind
    kinds = LAMBDA.search(text, found.end())
    return _main(text, kinds.start(1)) if kinds else None


def _main(text: str, begin: int) -> tuple[str, int, int] | None:
    """The first of the types listed from `begin` that is no condition or mask; `bool` only if there is no other."""
    first = None
    for _ in range(3):
        element = ELEMENT.match(text, begin)
        if element is None:
            break
        kind = dtype(element[0])
        if kind and kind != "bool":
            return kind, *element.span()
        first = first or (kind and (kind, *element.span())) or None
        begin = element.end() + len(", ")
    return first


GRAMMAR = Grammar(
    "aten_elementwise", __doc__, "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/cuda/CUDALoops.cuh",
    PATTERN, read,
    TERMS, EXAMPLES,
)  # fmt: skip
