"""cuDNN's C++ kernels: direct, FFT and Winograd convolutions, layout changes, batch norm, pooling, RNNs.

Source: read off traces; cuDNN does not document the names (https://docs.nvidia.com/deeplearning/cudnn/). An FFT
convolution is `fft2d_r2c`, a complex GEMM and `fft2d_c2r`; `computeOffsetsKernel` only prepares addresses.
"""

from __future__ import annotations

import re

from foretrace.grammars.functions import Function, Table
from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms, Value
from foretrace.grammars.spelling import Name

LAYOUT: dict[str, Value] = {"op": "layout_transform"}
TABLE = Table(
    "cudnn",
    (
        Function(r"fft[12]d_r2c_\w+|fft[12]d_c2r_\w+|fft[12]d_c2c_\w+", "conv", {"algo": "fft"}),
        Function(r"flip_filter|transform_\w*filter\w*", "conv", {}),
        Function(r"winograd\w*|generateWinograd\w+|\w*Winograd\w*", "conv", {"algo": "winograd"}),
        Function(r"implicit_convolve_\w*gemm\w*|implicit_convolveNd_\w*gemm\w*|precomputed_convolve_\w*gemm\w*", "conv",
                 {"algo": "implicit_gemm", "conv_pass": "fprop"}),
        Function(r"explicit_convolve_\w*gemm\w*|convolve_\w+|conv2d_\w+|conv3d_\w+|im2col\w*"
        r"|kern_precompute_indices\w*", "conv",
                 {}),
        Function(r"compute\w*OffsetsKernel\w*", "conv", {"op": "conv_offsets"}),
        Function(r"(?:reduce_)?wgrad\w*", "conv", {"conv_pass": "wgrad"}),
        Function(r"dgrad\w*", "conv", {"conv_pass": "dgrad"}),
        Function(r"nchwToNhwcKernel|nchwToNchwhw2cKernel", "copy", {**LAYOUT, "direction": "nchw_to_nhwc"}),
        Function(r"nhwcToNchwKernel", "copy", {**LAYOUT, "direction": "nhwc_to_nchw"}),
        Function(r"nchwToFoldedNhwcKernel|nhwcToFoldedNhwcKernel|foldedNhwc\w+|tensorTransformGeneric"
        r"|genericTranspose_kernel"
                 r"|transpose_readWrite_alignment_kernel|cubeTranspose\w+|nhwcAddPaddingKernel", "copy", LAYOUT),
        Function(r"bn_fw_\w+|batchnorm_fw\w+|bn_fw\w*", "norm", {"op": "batch_norm", "norm_pass": "fwd"}),
        Function(r"bn_bw_\w+|batchnorm_bw\w+|bn_bw\w*", "norm", {"op": "batch_norm", "norm_pass": "bwd"}),
        Function(r"pooling_[fb]w_\w+", "other", {"op": "pooling"}),
        Function(r"softmax_fw_\w+", "softmax", {"softmax_pass": "fwd"}),
        Function(r"softmax_bw_\w+", "softmax", {"softmax_pass": "bwd"}),
        Function(r"RNN_\w+|LSTM_\w+|GRU_\w+|\w*_elementWise_\w+", "other", {"op": "rnn"}),
        Function(r"dropout_fp|dropout_bp\w*", "rng", {"op": "dropout"}),
        Function(r"op_tensor_kernel\w*|op_generic_tensor_kernel|scalePackedTensor_kernel|activation_[fb]w_\w+"
        r"|add_tensor\w*"
                 r"|setTensor\w*|setOutputKernel", "pointwise", {}),
        Function(r"CTC\w+", "other", {}),
        Function(r"compute_dot_do_o\w*|convert_dq_to_16bits\w*", "attention", {"attn_pass": "bwd"}),
    ),
    namespaces=r"(?:cudnn::(?:\w++::)*+|cask_cudnn\w*::(?:\w++::)*+)?",
)  # fmt: skip
CELL = re.compile(r"_(GRU|LSTM)(?![a-z])")
TERMS: Terms = {
    "function": Term("a kernel of cuDNN, named after what it does", "B"),
}
EXAMPLES: Examples = {
    "void fft2d_r2c_32x32<float, false, 0u, false>(float2*, float const*, int)": {"family": "conv", "algo": "fft"},
    "void cudnn::cnn::wgrad_alg1_engine<float, 128, 5, 5, 3, 3, 3, false, true>(int)": {"conv_pass": "wgrad"},
    "void cask_cudnn::computeOffsetsKernel<false, false>(cask_cudnn::ComputeOffsetsParams)": {"op": "conv_offsets"},
    "void nchwToNhwcKernel<float, float, float, true, false, (cudnnKernelDataType_t)0>(int)": {
        "direction": "nchw_to_nhwc"
    },
    "void cudnn::bn_bw_1C11_singleread<float, 512, true, 1, 2, 0>(int)": {"norm_pass": "bwd"},
    "RNN_blockPersist_fp_GRU<f,f,f,128>": {"op": "rnn", "cell": "gru"},
}


def read(name: Name) -> Draft:
    """What the function's name fixes."""
    draft = TABLE.read(name)
    if draft.fields.get("op") == "rnn" and (cell := CELL.search(name.symbol)):
        draft.fields["cell"] = cell[1].lower()
    return draft


GRAMMAR = Grammar(
    "cudnn_functions", __doc__, "https://docs.nvidia.com/deeplearning/cudnn/", TABLE.pattern, read, TERMS, EXAMPLES
)
