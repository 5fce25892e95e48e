"""Kernels of other frameworks, recognised and left at that: XLA, TensorFlow, ONNX Runtime, cuSPARSE, SYCL.

Source: openxla/xla, tensorflow/tensorflow, microsoft/onnxruntime (https://github.com/openxla/xla). An XLA fusion
names its root operation; what else was fused does not show.
"""

from __future__ import annotations

import re

from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms
from foretrace.grammars.spelling import Name

PATTERN = re.compile(
    r"[a-z_]+_fusion(?:_\d+)?$|Eigen::|tensorflow::|onnxruntime::|cusparse::|Run$|(?:\w++::)*+csrm[mv]_\w+"
    r"|convert_(?:Coo|Csr)To\w+$"
    r"|cusparse\w*$"
)
TERMS: Terms = {
    "function": Term("a kernel of another framework, recognised and not read further", "B"),
    "op": Term("root operation of an XLA fusion", "B"),
}
EXAMPLES: Examples = {
    "loop_transpose_fusion": {"library": "xla"},
    "void cusparse::csrmm_v2_kernel<cusparse::CsrMMPolicy<int, float, float, float>, true, false, int>(int)": {
        "op": "spmm"
    },
    "void onnxruntime::cuda::_UnaryElementWise<float, float, 4>(int)": {
        "library": "onnxruntime",
        "family": "pointwise",
    },
}


def read(name: Name) -> Draft:
    """The framework, and of its element-wise kernels the family."""
    subject = name.subject
    draft = Draft("other", "unknown")
    draft.mark(name.leaf, "function")
    if "_fusion" in subject:
        draft.library = "xla"
        draft.family = "reduction" if "reduce" in subject else "pointwise" if subject.startswith("loop_") else "other"
        draft.note("an XLA fusion; what was fused does not show")
    elif subject.startswith("Eigen"):
        draft.library, draft.family = "tensorflow", "pointwise"
    elif "cusparse" in subject or subject.startswith(("csrm", "convert_")):
        draft.library = "cusparse"
        if product := re.search(r"csrm([mv])|spm([mv])", subject, re.IGNORECASE):
            draft.fields["op"] = "spmm" if "m" in product.groups() else "spmv"
    elif subject.startswith("onnxruntime"):
        draft.library = "onnxruntime"
        draft.family = "pointwise" if re.search(r"ElementWise|Elementwise|_Fill", subject) else "other"
    elif subject == "Run":
        draft.library = "sycl"
    elif subject.startswith("tensorflow"):
        draft.library = "tensorflow"
    return draft


GRAMMAR = Grammar("foreign", __doc__, "https://github.com/openxla/xla", PATTERN, read, TERMS, EXAMPLES)
