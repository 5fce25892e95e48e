"""GEMMs with quantized weights: Marlin, Machete, AWQ, GPTQ, bitsandbytes, and OpenAI's triton_kernels.

Source: vllm-project/vllm csrc/quantization, bitsandbytes-foundation/bitsandbytes csrc/kernels.cu,
triton-lang/triton python/triton_kernels (https://github.com/vllm-project/vllm). Marlin packs its types into 64-bit
numbers, which are not read here; the third number of bitsandbytes' 4-bit kernel is the width of the activations and
not 4.
"""

from __future__ import annotations

import re

from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms, words
from foretrace.grammars.spelling import Name, dtype

PATTERN = re.compile(
    r"(?:\w++::)*+(?:Marlin\w*|marlin\w*_kernel|kgemm_4bit_inference\w*|gemm_half_q_half\w*|awq_gemm\w*"
    r"|gptq_gemm\w*|machete\w*)$|_(?:p_)?matmul_ogs"
)
OGS = re.compile(
    r"_(?P<p>p_)?matmul_ogs(?:_(?P<layout>[NTRC]{3})(?![^\W_]))?"
    r"(?:_(?P<dtypes>[a-z]+\d+\w*?x[a-z]+\d+\w*?x[a-z]+\d+\w*?)(?![^\W_]))?"
    r"(?:_(?P<tile>\d+x\d+)x(?P<tile_k>\d+)(?:x(?P<splitk>\d+))?(?![^\W_]))?"
)
TERMS: Terms = {
    "function": Term("GEMM with quantized weights", "B"),
    "persistent": Term("p: a fixed number of blocks walk over all tiles", "B"),
    "layout": Term("layouts of activations, weights and output", "B"),
    "dtypes": Term("types of activations, weights and output", "B"),
    "tile": Term("block M × N", "B"),
    "tile_k": Term("block K", "B"),
    "splitk": Term("parts that K is split into", "B"),
    "fused_act": Term("activation in the epilogue", "B"),
    "dtype": Term("type of the activations", "B"),
}
EXAMPLES: Examples = {
    "_p_matmul_ogs_NNT_bf16xbf16xmxfp4_16x256x128x1_swiglu": {
        "layout": "nnt", "tile": "16x256", "tile_k": 128, "splitk": 1, "fused_act": "swiglu",
        "dtypes": "bf16xbf16xmxfp4",
        "persistent": True,
    },
    "void kgemm_4bit_inference_naive<__nv_bfloat16, 128, 16>(int, int, int, __nv_bfloat16*)": {"dtype": "bf16"},
}  # fmt: skip


def read(name: Name) -> Draft:
    """Of triton_kernels all parts; of the others the type of the activations."""
    if "matmul_ogs" in name.symbol:
        return _ogs(name)
    draft = Draft("gemm", "marlin" if "arlin" in name.subject else "unknown")
    if name.symbol.startswith("kgemm_4bit"):
        draft.library = "bitsandbytes"
        if name.arguments and (kind := dtype(name.arguments[0].text)):
            draft.say(name.arguments[0].span, "dtype", kind)
    draft.mark(name.leaf, "function")
    return draft


def _ogs(name: Name) -> Draft:
    draft = Draft("gemm", "triton_kernels")
    match = OGS.match(name.text, name.inner, name.end)
    if match is None:
        return draft
    draft.mark((match.start(), match.start() + 1 + len("matmul_ogs") + len(match["p"] or "")), "function")
    if match["p"]:
        draft.flag(match.span("p"), "persistent")
    if match["layout"]:
        draft.say(match.span("layout"), "layout", match["layout"].lower())
    for group in ("dtypes", "tile", "tile_k", "splitk"):
        draft.take(match, group)
    for word, span in words(name, match.end()):
        if word in ("swiglu", "silu", "gelu", "relu"):
            draft.say(span, "fused_act", word)
    return draft


GRAMMAR = Grammar("quantized_gemm", __doc__, "https://github.com/vllm-project/vllm", PATTERN, read, TERMS, EXAMPLES)
