"""The last resort, for names that no grammar claims: takes the plain words of a function name, gives at most a family.

The words of a name say what its author called the kernel. Only words that mean one thing are believed; the library
stays unknown unless the namespace is a known project's.
"""

from __future__ import annotations

import re

from foretrace.grammars.reading import Draft, Family, Term, Terms
from foretrace.grammars.spelling import Name

NAMESPACES = {"at": "aten", "c10": "aten", "cudnn": "cudnn", "cublas": "cublas", "cublasLt": "cublaslt", "cub": "cub",
              "thrust": "thrust", "vllm": "vllm", "flashinfer": "flashinfer", "ck": "ck", "ck_tile": "ck-tile",
              "aiter": "aiter",
              "cusparse": "cusparse", "fbgemm_gpu": "fbgemm", "rocprim": "rocprim", "tensorrt_llm": "trtllm",
              "cutlass": "cutlass",
              "transformer_engine": "transformer-engine"}  # fmt: skip
WORDS: tuple[tuple[str, Family, str], ...] = (
    (r"all_?reduce", "comm", "all_reduce"),
    (r"layer_?norm", "norm", "layer_norm"),
    (r"rms_?norm", "norm", "rms_norm"),
    (r"softmax", "softmax", "softmax"),
)
PATTERNS = tuple((re.compile(pattern, re.IGNORECASE), family, op) for pattern, family, op in WORDS)
TERMS: Terms = {
    "word": Term("a word of the function's name, whose meaning is its author's", "B"),
    "library": Term("namespace of the library", "B"),
}


def read(name: Name) -> Draft:
    """What the function's name says in plain words."""
    draft = Draft("other", NAMESPACES.get(name.subject.split("::")[0], "unknown"))
    for pattern, family, op in PATTERNS:
        if match := pattern.search(name.text, name.leaf[0], name.leaf[1]):
            draft.family = family
            draft.say(match.span(), "word", op)
            draft.fields["op"] = draft.fields.pop("word")
            break
    return draft
