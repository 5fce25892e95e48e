"""ATen normalizations: layer, RMS, batch, group and weight norm.

Source: pytorch aten/src/ATen/native/cuda/layer_norm_kernel.cu, Normalization.cuh, group_norm_kernel.cu,
WeightNorm.cu (https://github.com/pytorch/pytorch/tree/main/aten/src/ATen/native/cuda). `GammaBetaBackward…` gives
the gradients of weight and bias; newer layer-norm kernels do RMS norm too and say so in a template argument whose
place is not settled.
"""

from __future__ import annotations

from foretrace.grammars.functions import Function, Table
from foretrace.grammars.reading import Examples, Family, Grammar, Term, Terms, Value

NORM: Family = "norm"


def _says(op: str, norm_pass: str = "") -> dict[str, Value]:
    return {"op": op, "norm_pass": norm_pass} if norm_pass else {"op": op}


TABLE = Table(
    "aten",
    (
        Function(r"vectorized_layer_norm_kernel|LayerNormForwardCUDAKernel|cuApplyLayerNorm", NORM,
        _says("layer_norm", "fwd"),
                 ("dtype", "accum")),
        Function(r"layer_norm_grad_input_kernel\w*|LayerNormBackward\w*|cuComputeGradInput|cuComputePartGradGammaBeta"
                 r"|cuComputeGradGammaBeta|GammaBetaBackward(?:Simple)?CUDAKernel(?:_32x32|Template)?"
                 r"|ComputeGradientFusedParamsCUDAKernel",
                 NORM, _says("layer_norm", "bwd"), ("dtype", "accum")),
        Function(r"RowwiseMomentsCUDAKernel", NORM, _says("norm_helper"), ("dtype",)),
        Function(r"ComputeInternalGradientsCUDAKernel|GammaBeta(?:1d)?BackwardCUDAKernel[12]"
                 r"|Compute(?:1d)?BackwardFusedParamsCUDAKernel",
                 NORM, _says("group_norm", "bwd"), ("dtype",)),
        Function(r"ComputeFusedParamsCUDAKernel|GroupNorm\w*Kernel\w*", NORM, _says("group_norm"), ("dtype",)),
        Function(r"batch_norm_backward\w*|batch_norm_\w*backward\w*", NORM, _says("batch_norm", "bwd"), ("dtype",)),
        Function(r"batch_norm_collect_statistics_kernel|batch_norm_collect_grad_statistics\w*", NORM,
                 _says("batch_norm", "fwd"), ("", "dtype")),
        Function(r"batch_norm_(?:transform_input|collect_statistics|reduce_statistics|elementwise|update)\w*", NORM,
                 _says("batch_norm", "fwd"), ("dtype",)),
        Function(r"weight_norm_fwd\w*", NORM, _says("weight_norm", "fwd"), ("dtype",)),
        Function(r"weight_norm_bwd\w*", NORM, _says("weight_norm", "bwd"), ("dtype",)),
    ),
    namespaces=r"(?:at::native::(?:\w++::)*+)?",
)  # fmt: skip
TERMS: Terms = {
    "function": Term("a normalization, or a part of one", "B"),
    "dtype": Term("input type", "B"),
    "accum": Term("type that sums are kept in", "B"),
}
EXAMPLES: Examples = {
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float, c10::"
    "BFloat16 "
    "const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, float*, c10::BFloat16*)": {
        "op": "layer_norm", "norm_pass": "fwd", "dtype": "bf16", "accum": "f32",
    },
    "void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernel_32x32<float, float>(long)": {
        "norm_pass": "bwd",
    },
    "void at::native::batch_norm_transform_input_kernel<float, float, float, true, int>(int)": {"op": "batch_norm"},
}  # fmt: skip
GRAMMAR = Grammar(
    "aten_norm", __doc__, "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/cuda/layer_norm_kernel.cu",
    TABLE.pattern, TABLE.read, TERMS, EXAMPLES,
)  # fmt: skip
