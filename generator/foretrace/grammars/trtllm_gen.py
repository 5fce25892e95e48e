"""Generated kernels of TensorRT-LLM, which FlashInfer and vLLM ship too: `bmm_…`, `gemm_…`, `fmhaSm100…`, `fmha_v2_…`.

Source: NVIDIA/TensorRT-LLM cpp/tensorrt_llm/kernels/trtllmGenKernels (https://github.com/NVIDIA/TensorRT-LLM). GEMM
names give types of D, then A and B, then the accumulator; the prefix `Mx` is microscaling; `transOut` swaps A and
B. In attention names `Context` is prefill and `ForGen` is decode.
"""

from __future__ import annotations

import re

from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms, words
from foretrace.grammars.spelling import Name

KIND = r"(?:Mx|Nv)?(?:Bfloat16|Fp16|Fp32|E4m3|E5m2|E2m1|Int8)"
PATTERN = re.compile(rf"(?:bmm|gemm|batchedGemm)_{KIND}_|fmhaSm\d+[af]?Kernel|fmha_v2_")
GEMM = re.compile(rf"(?:bmm|gemm|batchedGemm)_(?P<d>{KIND})_(?P<a>{KIND})(?P<b>{KIND})?_(?P<acc>Fp32|Fp16)(?![^\W_])")
TILE = re.compile(r"t(\d+x\d+)x(\d+)(?:u\d+)?$")
NUMBERED = re.compile(r"(s|et|m|c|cga)(\d[\dx]*)$")
ROLES = {"s": "stages", "et": "epilogue_tile", "m": "mma", "c": "cluster", "cga": "cluster"}
FMHA = re.compile(rf"fmhaSm(?P<arch>\d+)[af]?Kernel_(?:Qkv(?P<q>{KIND})|Q(?P<q2>{KIND})Kv(?P<kv>{KIND}))O(?P<o>{KIND})")
PIECE = re.compile(
    r"HQk(?P<qk>\d+)H?V(?P<v>\d+)|H(?P<head_dim>\d+)|(?P<paged>PagedKv)"
    r"|(?P<mask>Causal|SlidingOrChunkedCausal|Dense|Custom)|(?<![A-Z])P(?P<page_size>\d+)"
    r"|(?P<sched>MultiCtasKv|Cga|VarSeq|Persistent|StaticTokenSparse|Static)"
    r"|Q(?P<block_m>\d+)Kv(?P<block_n>\d+)|(?P<phase>Context|SwapsAbForGen|KeepsAbForGen)"
)
V2 = re.compile(
    r"fmha_v2_flash_attention_(?P<dtype>[a-z]+\d+\w?\d?)"
    r"(?:_(?P<acc>fp32))?_(?P<block_m>\d+)_(?P<block_n>\d+)_S(?:_(?P<layout>[a-z]+(?:_[a-z]+)*?))?_"
    r"(?P<head_dim>\d+)(?:x(?P<head_dim_v>\d+))?(?![^\W_])"
)
TYPES = {"Bfloat16": "bf16", "Fp16": "f16", "Fp32": "f32", "E4m3": "e4m3", "E5m2": "e5m2", "E2m1": "e2m1", "Int8": "i8",
         "MxE4m3": "mxfp8_e4m3", "MxE5m2": "mxfp8_e5m2", "MxE2m1": "mxfp4_e2m1"}  # fmt: skip
OLD_TYPES = {"fp16": "f16", "bf16": "bf16", "fp32": "f32", "e4m3": "e4m3", "int8": "i8"}
ACTIVATIONS = {"swiGlu": "swiglu", "geGlu": "geglu", "relu2": "relu2", "silu": "silu", "gelu": "gelu"}
KNOWN = frozenset({"rM", "rN", "TN", "BN", "transOut", "noShfl", "dsFp8", "tma", "tmaOpt", "clmp", "dynBatch",
"dynB", "bN", "bM",
                   "biasM", "schPd2x2x1x3", "16dp256b"})  # fmt: skip
TERMS: Terms = {
    "dtype_out": Term("type of the output", "B"),
    "dtype_a": Term("type of A; Mx: with microscaling factors", "B"),
    "dtype_b": Term("type of B; Mx: with microscaling factors", "B"),
    "dtype": Term("type of Q, K and V", "B"),
    "accum": Term("accumulator type", "B"),
    "tile": Term("output tile M × N, then K", "B"),
    "stages": Term("pipeline stages", "B"),
    "epilogue_tile": Term("tile of the epilogue", "B"),
    "mma": Term("matrix instruction M × N × K", "B"),
    "cluster": Term("thread-block cluster", "B"),
    "arch": Term("architecture it is compiled for", "B"),
    "fused_act": Term("activation in the epilogue", "B"),
    "variant": Term("a variant: TN operand layout, transOut output transposed, dsFp8 FP8 block scales, …", "B"),
    "head_dim": Term("head dimension", "B"),
    "head_dim_v": Term("head dimension of V", "B"),
    "mask": Term("kind of mask", "B"),
    "kv": Term("the cache is paged", "B"),
    "page_size": Term("tokens per page", "B"),
    "block_m": Term("queries per tile", "B"),
    "block_n": Term("keys per tile", "B"),
    "phase": Term("Context prefill, ForGen decode", "B"),
    "schedule": Term("how work is shared out over CTAs", "B"),
    "library": Term("attention kernel of TensorRT-LLM", "B"),
}
EXAMPLES: Examples = {
    "gemm_Bfloat16_E4m3E4m3_Fp32_t128x8x128u2_s6_et64x8_m64x8x32_c1x1x1_rM_TN_transOut_noShfl_dsFp8_schPd2x2x1x3_sm1"
    "00f": {
        "family": "gemm", "dtype_out": "bf16", "dtype_a": "e4m3", "dtype_b": "e4m3", "accum": "f32",
        "tile": "128x8", "tile_k": 128,
        "stages": 6, "epilogue_tile": "64x8", "mma": "64x8x32", "cluster": "1x1x1", "arch": "sm100f",
    },
    "fmhaSm100fKernel_QkvBfloat16OBfloat16H128PagedKvCausalP64MultiCtasKvCgaVarSeqQ8Kv128StaticSwapsAbForGen": {
        "family": "attention", "arch": "sm100", "dtype": "bf16", "head_dim": 128, "causal": True, "page_size": 64,
        "block_m": 8,
        "block_n": 128, "phase": "decode",
    },
    "fmha_v2_flash_attention_bf16_64_128_S_q_k_v_192x128_causal_tma_ws_sm90_kernel": {"head_dim_v": 128,
    "causal": True},
    "fmha_v2_flash_attention_fp16_64_256_S_32_tma_ws_sm90_kernel": {"dtype": "f16", "head_dim": 32, "arch": "sm90"},
}  # fmt: skip


def read(name: Name) -> Draft:
    """Dispatch on the three kinds of names."""
    if match := GEMM.match(name.text, name.inner, name.end):
        return _gemm(name, match)
    if match := FMHA.match(name.text, name.inner):
        return _attention(name, match)
    if match := V2.match(name.text, name.inner, name.end):
        return _second(name, match)
    return Draft("attention" if name.text.startswith("fmha", name.inner) else "gemm", "trtllm-gen")


def _gemm(name: Name, match: re.Match[str]) -> Draft:
    draft = Draft("gemm", "trtllm-gen")
    draft.say(match.span("d"), "dtype_out", TYPES.get(match["d"], match["d"]))
    draft.say(match.span("a"), "dtype_a", TYPES.get(match["a"], match["a"]))
    if match["b"]:
        draft.say(match.span("b"), "dtype_b", TYPES.get(match["b"], match["b"]))
    draft.say(match.span("acc"), "accum", TYPES[match["acc"]])
    for word, span in words(name, match.end()):
        if tile := TILE.match(word):
            draft.say(span, "tile", tile[1])
            draft.fields["tile_k"] = int(tile[2][:6])
        elif numbered := NUMBERED.match(word):
            value = numbered[2]
            draft.say(span, ROLES[numbered[1]], int(value[:4]) if value.isdecimal() else value)
        elif re.match(r"sm\d+[af]?$", word):
            draft.say(span, "arch", word)
        elif word in ACTIVATIONS:
            draft.say(span, "fused_act", ACTIVATIONS[word])
        elif word in KNOWN or word.startswith("sched"):
            draft.mark(span, "variant", word)
    return draft


def _attention(name: Name, match: re.Match[str]) -> Draft:
    draft = Draft("attention", "trtllm-gen")
    draft.mark((match.start(), match.end()), "library")
    draft.say((match.start("arch") - 2, match.end("arch")), "arch", f"sm{match['arch']}")
    for group, term in (("q", "dtype"), ("q2", "dtype"), ("kv", "dtype_b"), ("o", "dtype_out")):
        if match[group]:
            draft.mark(match.span(group), term, TYPES.get(match[group], match[group]))
            draft.fields["dtype_kv" if group == "kv" else term] = TYPES.get(match[group], match[group])
    for piece in PIECE.finditer(name.text, match.end(), name.leaf[1]):
        if not (name.truncated and piece.end() == name.leaf[1]):
            _piece(draft, piece)
    return draft


def _piece(draft: Draft, piece: re.Match[str]) -> None:
    """One part of an attention name, of which any may be missing."""
    for group, term in (
        ("qk", "head_dim"),
        ("v", "head_dim_v"),
        ("head_dim", ""),
        ("page_size", ""),
        ("block_m", ""),
        ("block_n", ""),
    ):
        draft.take(piece, group, term)
    if piece["paged"]:
        draft.say(piece.span(), "kv", "paged")
    elif piece["mask"]:
        draft.mark(piece.span(), "mask", piece["mask"])
        if piece["mask"] in ("Causal", "Dense"):
            draft.fields["causal"] = piece["mask"] == "Causal"
    elif piece["sched"]:
        draft.mark(piece.span(), "schedule", piece["sched"])
    elif piece["phase"]:
        draft.say(piece.span(), "phase", "prefill" if piece["phase"] == "Context" else "decode")


def _second(name: Name, match: re.Match[str]) -> Draft:
    draft = Draft("attention", "trtllm-fmha_v2")
    draft.mark((match.start(), match.start("dtype") - 1), "library")
    draft.say(match.span("dtype"), "dtype", OLD_TYPES.get(match["dtype"], match["dtype"]))
    for group in ("block_m", "block_n", "head_dim", "head_dim_v"):
        draft.take(match, group)
    for word, span in words(name, match.end()):
        if re.match(r"sm\d+$", word):
            draft.say(span, "arch", word)
        elif word == "causal":
            draft.flag(span, "mask")
            draft.fields["causal"] = draft.fields.pop("mask")
        elif word in ("tma", "ws", "kernel", "nl"):
            draft.mark(span, "schedule")
    return draft


GRAMMAR = Grammar("trtllm_gen", __doc__, "https://github.com/NVIDIA/TensorRT-LLM", PATTERN, read, TERMS, EXAMPLES)
