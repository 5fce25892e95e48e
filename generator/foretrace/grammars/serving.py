"""CUDA kernels of vLLM, SGLang and TensorRT-LLM outside GEMM and attention.

Source: vllm-project/vllm csrc (https://github.com/vllm-project/vllm), sgl-project/sglang sgl-kernel,
NVIDIA/TensorRT-LLM cpp/tensorrt_llm/kernels.
"""

from __future__ import annotations

import re

from foretrace.grammars.functions import Function, Table
from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms
from foretrace.grammars.spelling import Name, dtype

TABLE = Table(
    "vllm",
    (
        Function(r"fused_add_rms_norm\w*", "norm", {"op": "add_rms_norm"}),
        Function(r"rms_norm\w*", "norm", {"op": "rms_norm"}),
        Function(r"fused_qk_?norm\w*", "norm", {"op": "qk_norm"}),
        Function(r"layer_?norm\w*", "norm", {"op": "layer_norm"}),
        Function(r"act_and_mul_kernel|activation_kernel", "pointwise", {"op": "act_and_mul"}),
        Function(r"rotary_embedding\w*|(?:batched_)?rotary\w*|fused_rope\w*", "pointwise", {"op": "rope"}),
        Function(r"\w*quant(?!ized_gemm)\w*|cvt_fp16_to_fp4\w*", "pointwise", {"op": "quantize"}),
        Function(r"reshape_and_cache\w*|concat_and_cache\w*|store_kv_?cache\w*|copy_blocks\w*|swap_blocks\w*", "copy",
                 {"op": "kv_cache_write"}),
        Function(r"paged_attention\w*", "attention", {"attn_pass": "fwd", "phase": "decode"}),
        Function(r"topk\w*softmax\w*|topkGating\w*", "softmax", {"op": "topk_softmax"}),
        Function(r"moe_align_block_size\w*|count_and_sort_expert\w*", "sort", {"op": "moe_align"}),
        Function(r"topk\w*", "sort", {"op": "topk"}),
    ),
    namespaces=r"(?:vllm::|sglang::|sgl\w*::|tensorrt_llm::)?(?:\w++::)*+",
)  # fmt: skip
OWNERS = {"vllm": "vllm", "sglang": "sglang", "tensorrt_llm": "trtllm"}
PATTERN = re.compile(
    r"(?:vllm|sglang|sgl_kernel|tensorrt_llm)::(?!cross_device_reduce|(?:\w++::)*+(?:Marlin|marlin|machete"
    r"|one_shot|two_shot|oneshot|twoshot|allreduce_fusion|multimem|barrier_all|gptq|awq_gemm))"
    r"(?:\w++::)*+\w+$|(?:store_kv_?cache|fused_qk_?norm_warp|rotary_embedding_kernel"
    r"|fused_rope_store_kernel|reshape_and_cache\w*_kernel)$"
)
ACTIVATION = re.compile(r"&\(?(?:[\w:]+ )?(?:\w+::)*(\w+?)(?:_kernel)?[<(]")
TERMS: Terms = {
    "function": Term("a kernel for serving, named after what it does", "B"),
    "dtype": Term("element type", "B"),
    "op": Term("the activation", "B"),
}
EXAMPLES: Examples = {
    "std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type "
    "vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long)": {"op": "add_rms_norm", "dtype": "bf16"},
    "void vllm::scaled_fp8_quant_kernel_strided<c10::BFloat16, c10::Float8_e4m3fn>(int)": {"op": "quantize"},
    "void (anonymous namespace)::store_kvcache<2048l, 4, false, long>((anonymous namespace)::StoreKVCacheParams)": {
        "family": "copy", "op": "kv_cache_write",
    },
}  # fmt: skip


def read(name: Name) -> Draft:
    """The operation, and the element type."""
    draft = TABLE.read(name)
    draft.library = OWNERS.get(name.subject.split("::")[0], "unknown")
    draft.mark(name.leaf, "function")
    for argument in name.arguments[:4]:
        if (kind := dtype(argument.text)) and kind not in ("i32", "i64", "bool"):
            draft.say(argument.span, "dtype", kind)
            break
    if draft.fields.get("op") == "act_and_mul":
        for argument in name.arguments:
            if match := ACTIVATION.match(argument.text):
                draft.say(argument.span, "op", f"{match[1]}_and_mul")
                break
    return draft


GRAMMAR = Grammar("serving", __doc__, "https://github.com/vllm-project/vllm", PATTERN, read, TERMS, EXAMPLES)
