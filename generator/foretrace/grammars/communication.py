"""Communication outside NCCL: DeepEP, symmetric memory, custom all-reduce, NVSHMEM, user buffers.

Source: deepseek-ai/DeepEP csrc/kernels, pytorch torch/csrc/distributed/c10d/symm_mem, vllm
csrc/custom_all_reduce.cuh, TransformerEngine userbuffers (https://github.com/deepseek-ai/DeepEP). DeepEP moves
tokens to experts (dispatch) and back (combine); `internode_ll` is its low-latency mode.
"""

from __future__ import annotations

import re

from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms
from foretrace.grammars.spelling import Name

PATTERN = re.compile(
    r"(?:\w++::)*?(?:deep_ep|ep)::(?:intranode|internode|internode_ll|layout)::\w+$|(?:\w++::)*+"
    r"(?:multimem_\w+|(?:one|two)_shot_\w+|cross_device_reduce_\w+|kuserbuffers_\w+|(?:one"
    r"|two)shotAllReduce\w*|symm_\w*barrier\w*|nvshmem\w*|allreduce_fusion_kernel\w*|barrier_all\w*)$"
)
EP = re.compile(r"(intranode|internode|internode_ll|layout)::")
COLLECTIVES = (
    (re.compile(r"all_?reduce|cross_device_reduce", re.IGNORECASE), "all_reduce"),
    (re.compile(r"all_?gather|gather", re.IGNORECASE), "all_gather"),
    (re.compile(r"reduce_?scatter", re.IGNORECASE), "reduce_scatter"),
    (re.compile(r"broadcast", re.IGNORECASE), "broadcast"),
)
TERMS: Terms = {
    "function": Term("moves data between GPUs", "B"),
    "mode": Term("DeepEP's kernels between nodes; ll: low latency", "B"),
}
EXAMPLES: Examples = {
    "void deep_ep::intranode::combine<__nv_bfloat16, (int)2, (int)768, (int)4096>(T1 *, float *)": {
        "op": "moe_combine"
    },
    "void deep_ep::internode_ll::dispatch<true, 3, 10, 7168>(void*)": {"op": "moe_dispatch", "mode": "low_latency"},
    "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)": {
        "collective": "all_reduce"
    },
    "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(int)": {"collective": "all_reduce"},
}


def read(name: Name) -> Draft:
    """The step of an expert exchange, or the collective."""
    draft = Draft("comm", "deepep")
    draft.mark(name.leaf, "function")
    symbol = name.symbol
    if place := EP.search(name.subject):
        draft.fields["op"] = f"moe_{symbol.removesuffix('_ll').removesuffix('_kernel')}"
        if place[1].endswith("_ll") or symbol.endswith("_ll"):
            draft.fields["mode"] = "low_latency"
        return draft
    space = name.subject.split("::")[0]
    draft.library = {
        "vllm": "vllm",
        "flashinfer": "flashinfer",
        "sglang": "sglang",
        "kuserbuffers": "transformer-engine",
    }.get(space, "symmetric-memory")
    for pattern, collective in COLLECTIVES:
        if pattern.search(symbol):
            draft.fields["collective"] = collective
            break
    return draft


GRAMMAR = Grammar("communication", __doc__, "https://github.com/deepseek-ai/DeepEP", PATTERN, read, TERMS, EXAMPLES)
