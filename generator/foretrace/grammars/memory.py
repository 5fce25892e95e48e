"""Memory operations: what the CUDA, HIP and Level Zero runtimes call a copy or a fill between host and device.

Source: CUPTI activity names as Kineto and nsys print them
(https://github.com/pytorch/kineto/tree/main/libkineto/src). Only Kineto says which memory a copy ran between; a
peer copy may also be communication.
"""

from __future__ import annotations

import re

from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms
from foretrace.grammars.spelling import Name

PATTERN = re.compile(
    r"Memcpy |Memset|\[CUDA mem|\[CUDA Unified|__amd_rocclr_(?:copy|fill)|Copy(?:Host"
    r"|Device)To(?:Host|Device)$"
)
ROCPROF = re.compile(r"Copy(Host|Device)To(Host|Device)")
ACTIVITY = re.compile(
    r"(?P<call>Memcpy|\[CUDA memcpy|\[CUDA Unified Memory memcpy) (?P<direction>[HDPAM]\w?(?:to|2)[HDPAM]|"
    r"(?:Host|Device|Peer|Array)-to-(?:Host|Device|Peer|Array))(?: \((?P<src>\w+) -> (?P<dst>\w+)\))?|"
    r"(?P<fill>Memset|\[CUDA memset)(?: \((?P<where>\w+)\))?"
)
HOST = {"M": "H"}
TERMS: Terms = {
    "call": Term("a copy by the runtime, not a kernel", "A"),
    "fill": Term("a fill by the runtime, not a kernel", "A"),
    "direction": Term("from where to where: H or M host, D device, P peer device, A array", "A"),
    "src": Term("memory copied from; a copy from pageable memory cannot be asynchronous", "A"),
    "dst": Term("memory written to", "A"),
    "kernel": Term("a kernel of the ROCm runtime that copies or fills a buffer", "B"),
}
EXAMPLES: Examples = {
    "Memcpy HtoD (Pageable -> Device)": {"direction": "HtoD", "src": "pageable", "dst": "device"},
    "[CUDA memcpy DtoH]": {"direction": "DtoH"},
    "[CUDA memcpy Device-to-Host]": {"direction": "DtoH"},
    "CopyHostToDevice": {"direction": "HtoD", "library": "hip-runtime"},
    "Memset (Device)": {"dst": "device"},
    "__amd_rocclr_copyBuffer": {},
}


def read(name: Name) -> Draft:
    """The direction and both kinds of memory, where the name has them."""
    match = ACTIVITY.match(name.text)
    if copy := ROCPROF.match(name.text):
        draft = Draft("memcpy", "hip-runtime")
        draft.say((0, copy.end()), "direction", f"{copy[1][0]}to{copy[2][0]}")
    elif match is None:
        draft = Draft("memset" if "fill" in name.text else "memcpy", "hip-runtime")
        draft.mark((0, name.end), "kernel")
    elif match["fill"]:
        draft = Draft("memset", "cuda-runtime")
        draft.mark(match.span("fill"), "fill")
        if match["where"]:
            draft.say(match.span("where"), "dst", match["where"].lower())
    else:
        direction = match["direction"]
        draft = Draft("memcpy", "level-zero" if "2" in direction else "cuda-runtime")
        draft.mark(match.span("call"), "call")
        source, destination = (
            HOST.get(letter, letter)
            for letter in (direction[0], direction.replace("-", "2").replace("to", "2").split("2")[-1][0])
        )
        draft.say(match.span("direction"), "direction", f"{source}to{destination}")
        for end in ("src", "dst"):
            if match[end]:
                draft.say(match.span(end), end, match[end].lower())
        if direction == "PtoP":
            draft.note("a peer copy may be part of a collective")
    return draft


GRAMMAR = Grammar("memory", __doc__, "https://github.com/pytorch/kineto", PATTERN, read, TERMS, EXAMPLES)
