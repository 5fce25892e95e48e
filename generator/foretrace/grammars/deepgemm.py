"""DeepGEMM: FP8 GEMMs compiled at run time for one problem shape.

Source: deepseek-ai/DeepGEMM deep_gemm/include/deep_gemm (https://github.com/deepseek-ai/DeepGEMM).
`fp8_gemm_kernel<N, K, block M, block N, block K, …, GemmType>` grew from ten to fourteen arguments in three months,
so only the first five and the last are believed. M is not in the name.
"""

from __future__ import annotations

import re

from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms
from foretrace.grammars.spelling import Name, number

PATTERN = re.compile(r"(?:deep_gemm|dpsk::gemm)::(?:\w++::)*+\w*(?:gemm|GEMM|impl)\w*$")
GROUPING = {0: "normal", 1: "m_grouped_contiguous", 2: "m_grouped_masked", 3: "k_grouped", 4: "batched"}
ARCH = re.compile(r"(sm\d+)_")
TERMS: Terms = {
    "function": Term("GEMM of DeepGEMM", "A"),
    "arch": Term("architecture it is compiled for", "A"),
    "n": Term("N of the problem", "A"),
    "k": Term("K of the problem", "A"),
    "tile": Term("block M, N", "A"),
    "tile_k": Term("block K", "A"),
    "grouping": Term(
        "GemmType: 0 normal, 1 grouped along M, 2 the same with a mask, 3 grouped along K, 4 batched", "A"
    ),
}
EXAMPLES: Examples = {
    "void deep_gemm::fp8_gemm_kernel<4096u, 7168u, 128u, 128u, 128u, 1u, 5u, 128u, 128u, 1u, (deep_gemm::"
    "GemmType)0>(int)": {
        "tile": "128x128",
        "tile_k": 128,
        "grouping": "normal",
    },
    "void deep_gemm::sm100_fp8_fp4_gemm_1d1d_impl<(cute::UMMA::Major)0, 128u>(int*)": {"arch": "sm100"},
}


def read(name: Name) -> Draft:
    """Shape and tile where the template is the known one, architecture and grouping."""
    draft = Draft("gemm", "deepgemm")
    draft.mark(name.leaf, "function")
    if match := ARCH.match(name.symbol):
        draft.say((name.leaf[0], name.leaf[0] + len(match[1])), "arch", match[1])
    values = [number(argument.text) for argument in name.arguments]
    if name.symbol == "fp8_gemm_kernel" and len(values) > 5 and all(values[:5]):
        for role, argument, value in zip(("n", "k"), name.arguments, values, strict=False):
            draft.say(argument.span, role, value or 0)
        draft.mark((name.arguments[2].start, name.arguments[3].end), "tile")
        draft.mark(name.arguments[4].span, "tile_k")
        draft.fields |= {"tile": f"{values[2]}x{values[3]}", "tile_k": values[4] or 0}
    for argument in name.arguments:
        if "GemmType)" in argument.text and (value := number(argument.text)) in GROUPING:
            draft.say(argument.span, "grouping", GROUPING[value or 0])
    draft.note("M is not in the name")
    return draft


GRAMMAR = Grammar("deepgemm", __doc__, "https://github.com/deepseek-ai/DeepGEMM", PATTERN, read, TERMS, EXAMPLES)
