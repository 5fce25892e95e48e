"""ATen kernels that are none of the large families: pooling, upsampling, losses, triangles, depthwise convolution.

Source: pytorch aten/src/ATen/native/cuda/ (https://github.com/pytorch/pytorch/tree/main/aten/src/ATen/native/cuda),
files named after the layer.
"""

from __future__ import annotations

from foretrace.grammars.functions import Function, Table
from foretrace.grammars.reading import Examples, Grammar, Term, Terms

TABLE = Table(
    "aten",
    (
        Function(r"max_pool_forward\w*", "other", {"op": "max_pool"}, ("dtype",)),
        Function(r"max_pool_backward\w*", "other", {"op": "max_pool_backward"}, ("dtype",)),
        Function(r"(?:adaptive_)?(?:avg_?pool\w*|average_?pool\w*)", "other", {"op": "avg_pool"}),
        Function(r"adaptive_max_?pool\w*", "other", {"op": "max_pool"}),
        Function(r"upsample_\w+", "other", {"op": "upsample"}, ("dtype",)),
        Function(r"nll_loss_\w+|cunn_ClassNLL\w+|nll_loss2d_\w+", "reduction", {"op": "nll_loss"}, ("dtype",)),
        Function(r"triu_tril_kernel", "pointwise", {"op": "triu_tril"}, ("dtype",)),
        Function(r"conv_depthwise[23]d_forward\w*", "conv", {"conv_pass": "fprop"}, ("",)),
        Function(r"conv_depthwise[23]d_backward_kernel\w*", "conv", {"conv_pass": "dgrad"}),
        Function(r"conv_depthwise[23]d_(?:grad_weight|backward_weight)\w*", "conv", {"conv_pass": "wgrad"}),
        Function(r"(?:im|vol)2col_kernel", "conv", {"op": "im2col"}, ("dtype",)),
        Function(r"col2im\w*kernel", "conv", {"op": "col2im"}, ("dtype",)),
        Function(r"multi_margin\w*|grid_sampler\w*|roi_\w+", "other", {}),
    ),
    namespaces=r"at::native::(?:\w++::)*+",
)
TERMS: Terms = {
    "function": Term("the layer is in the function's name", "B"),
    "dtype": Term("element type", "B"),
}
EXAMPLES: Examples = {
    "void at::native::(anonymous namespace)::max_pool_forward_nchw<float, float>(int, float const*, long)": {
        "family": "other", "op": "max_pool", "dtype": "f32",
    },
    "void at::native::im2col_kernel<float>(long, float const*, long)": {"family": "conv", "op": "im2col"},
}  # fmt: skip
GRAMMAR = Grammar(
    "aten_layers", __doc__, "https://github.com/pytorch/pytorch/tree/main/aten/src/ATen/native/cuda", TABLE.pattern,
    TABLE.read, TERMS,
    EXAMPLES,
)  # fmt: skip
