"""ATen random numbers: distributions, dropout, sampling.

Source: pytorch aten/src/ATen/native/cuda/DistributionTemplates.h, Dropout.cu, MultinomialKernel.cu, Randperm.cu
(https://github.com/pytorch/pytorch/tree/main/aten/src/ATen/native/cuda). The grid-stride kernel names its
distribution in the functor that draws.
"""

from __future__ import annotations

import re

from foretrace.grammars.functions import Function, Table
from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms
from foretrace.grammars.spelling import Name

TABLE = Table(
    "aten",
    (
        Function(r"distribution_elementwise_grid_stride_kernel|distribution_binary_elementwise_kernel", "rng", {},
                 ("accum", "vec")),
        Function(r"fused_dropout_kernel(?:_vec)?", "rng", {"op": "dropout"}, ("dtype", "accum")),
        Function(r"sampleMultinomialOnce|sampleMultinomialWithReplacement", "rng", {"op": "multinomial"}, ("dtype",)),
        Function(r"randperm_handle_duplicate_keys_kernel", "rng", {"op": "randperm"}),
        Function(r"bernoulli_tensor_cuda_kernel\w*", "rng", {"op": "bernoulli"}),
    ),
    namespaces=r"at::native::(?:\w++::)*+",
)  # fmt: skip
DRAWS = re.compile(
    r"\b(uniform|normal|bernoulli|exponential|cauchy|geometric|log_normal|random_from_to|random|poisson"
    r"|binomial|gamma)(?:_and_transform|_kernel|_tensor_cuda|_full_64|_cuda|_tensor)"
)
TERMS: Terms = {
    "function": Term("random numbers are drawn", "B"),
    "accum": Term("type in which numbers are drawn", "B"),
    "dtype": Term("element type", "B"),
    "vec": Term("numbers drawn at once per thread", "B"),
}
EXAMPLES: Examples = {
    "void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float, 4, "
    "at::native::templates::cuda::normal_and_transform<float, float, at::CUDAGeneratorImpl*>(at::TensorIteratorBase&)"
    "::{lambda(curandStatePhilox4_32_10*)#2}>(int)": {"op": "normal"},
    "void at::native::(anonymous namespace)::fused_dropout_kernel_vec<c10::BFloat16, float, unsigned int, 1, 8, "
    "bool>(int)": {
        "op": "dropout", "dtype": "bf16",
    },
}  # fmt: skip


def read(name: Name) -> Draft:
    """The distribution, where a functor names one."""
    draft = TABLE.read(name)
    if "op" not in draft.fields and (match := DRAWS.search(name.text, name.leaf[1], name.rest)):
        draft.fields["op"] = match[1]
    return draft


GRAMMAR = Grammar(
    "aten_rng", __doc__,
    "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/cuda/DistributionTemplates.h",
    TABLE.pattern,
    read, TERMS, EXAMPLES,
)  # fmt: skip
