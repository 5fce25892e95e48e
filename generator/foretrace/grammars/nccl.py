"""NCCL and RCCL device kernels.

Source: NVIDIA/nccl src/device/generate.py and, before 2.19, src/enqueue.cc (https://github.com/NVIDIA/nccl). Nearly
every function runs from a few launch stubs, so algorithm, protocol and reduction in the name need not be those that
ran, and signed integers show as unsigned. Broadcast and AllGather print a type that means nothing. RCCL's `Generic`
names no collective.
"""

from __future__ import annotations

import re

from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms
from foretrace.grammars.spelling import Name

PATTERN = re.compile(r"ncclDevKernel|ncclKernel_|mscclKernel_|nccl[A-Z]\w+Kernel_")
COLLECTIVES = {
    "AllReduce": "all_reduce", "AllGather": "all_gather", "ReduceScatter": "reduce_scatter", "Broadcast": "broadcast",
    "Reduce": "reduce", "SendRecv": "send_recv", "Generic": "unknown", "AllToAll": "all_to_all",
    "AllToAllPivot": "all_to_all",
}  # fmt: skip
NEW = re.compile(
    r"ncclDevKernel(?:Debug)?_(?P<coll>[A-Z]\w*?)"
    r"(?:_(?P<redop>Sum|Prod|Max|Min|MinMax|PreMulSum|SumPostDiv)_(?P<dtype>[a-z]+\d+\w*?))?"
    r"(?:_(?P<algo>RING|TREE|NVLS|NVLS_TREE|COLLNET_DIRECT|COLLNET_CHAIN|PAT))?"
    r"(?:_(?P<proto>LL128|LL|SIMPLE))?(?:_\d+)?$"
)
OLD = re.compile(
    r"ncclKernel_(?P<coll>[A-Z][A-Za-z]*)_(?P<algo>RING|TREE|COLLNET\w*|NVLS)_(?P<proto>LL128|LL|SIMPLE)"
    r"_(?P<redop>[A-Z][a-zA-Z]*)_(?P<dtype>\w+)$"
)
OLDEST = re.compile(
    r"nccl(?P<coll>[A-Z][A-Za-z]+?)(?P<algo>Ring|Tree|CollNet)?(?P<proto>LL128|LL)?Kernel_"
    r"(?P<redop>[a-z]+)_(?P<dtype>[a-z]+\d+)$"
)
CTYPES = {
    "float": "f32", "double": "f64", "half": "f16", "__nv_bfloat16": "bf16", "int8_t": "i8", "uint8_t": "u8",
    "int32_t": "i32", "uint32_t": "u32", "int64_t": "i64", "uint64_t": "u64", "rccl_bfloat16": "bf16",
    "hip_bfloat16": "bf16",
}  # fmt: skip
TERMS: Terms = {
    "library": Term("kernel of NCCL or RCCL", "A"),
    "collective": Term("the collective; Generic runs any", "A"),
    "redop": Term("reduction of the launch stub; the one that ran may differ", "A"),
    "dtype": Term("element type of the launch stub", "A"),
    "algo": Term("algorithm of the launch stub; the one that ran may differ", "A"),
    "proto": Term("protocol of the launch stub; the one that ran may differ", "A"),
}
EXAMPLES: Examples = {
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)": {
        "collective": "all_reduce", "redop": "sum", "dtype": "bf16", "algo": "RING", "proto": "LL",
    },
    "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)": {
        "collective": "send_recv", "algo": "RING", "proto": "SIMPLE",
    },
    "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)": {"collective": "unknown"},
}  # fmt: skip


def read(name: Name) -> Draft:
    """The collective; of a reduction the stub's operator and type; the stub's algorithm and protocol."""
    draft = Draft("comm", "nccl")
    start, end = name.inner, min(name.end, name.leaf[1])
    draft.mark((start, name.text.find("_", start)), "library")
    match = next((found for old in (NEW, OLD, OLDEST) if (found := old.match(name.text, start, end))), None)
    if match is None:
        draft.fields["collective"] = "unknown"
        draft.note("the name does not tell the collective")
        return draft
    collective = COLLECTIVES.get(match["coll"].split("_")[0], "unknown")
    draft.say(match.span("coll"), "collective", collective)
    reduces = collective in ("all_reduce", "reduce_scatter", "reduce")
    if match["redop"]:
        if reduces:
            draft.say(match.span("redop"), "redop", match["redop"].lower())
            draft.say(match.span("dtype"), "dtype", CTYPES.get(match["dtype"], match["dtype"]))
        else:
            draft.mark((match.start("redop"), match.end("dtype")), "redop", "")
    for group in ("algo", "proto"):
        if match[group]:
            draft.say(match.span(group), group, match[group].upper())
    if collective == "unknown":
        draft.note("the name does not tell the collective")
    else:
        draft.note("algorithm, protocol and reduction are those of the launch stub; others may have run")
    return draft


GRAMMAR = Grammar(
    "nccl", __doc__, "https://github.com/NVIDIA/nccl/blob/master/src/device/generate.py", PATTERN, read, TERMS, EXAMPLES
)
