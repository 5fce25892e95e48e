"""Short names for readings: takes readings, gives labels for tables and timelines, identities for comparing versions.

A label has parts that are always shown and parts that are shown where two kernels would look alike. An identity
keeps the operation, the types, the layout and what is fused, so that one kernel of two library versions, or of two
tiles, is one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from foretrace.grammars.reading import Reading
from foretrace.grammars.spelling import Name

WIDEST, HEAD = 40, 26
Relation = Literal["same kernel", "same family, other tile", "other kernel"]
VIEWS = frozenset(
    {"_reshape_alias", "_to_copy", "_unsafe_view", "alias", "as_strided", "clone", "detach", "expand", "permute",
     "reshape", "slice", "split", "squeeze", "t", "transpose", "unbind", "unsqueeze", "view"}
)  # fmt: skip
SHORT = {
    "cublaslt": "nvjet", "cublas-cutlass": "cutlass", "hipblaslt-tensile": "hipblaslt", "rocblas-tensile": "tensile",
    "flash-attn(pytorch)": "flash-attn", "memory-efficient": "mem-eff", "trtllm-fmha_v2": "fmha_v2",
    "aten-foreach": "foreach", "apex/fbgemm": "foreach",
}  # fmt: skip
BETA: Mapping[object, str] = {"zero": "bz", "added": "badd"}
SILENT = frozenset({"aten", "cuda-runtime", "hip-runtime", "level-zero", "unknown", "symmetric-memory"})
COUNTER = re.compile(r"(?:_\d+|_?0d[\dcde]*|_object_at_\w*)$")
NUMBERS = re.compile(r"_\d[\dx]*(?=_|$)")


class Part(NamedTuple):
    """One word of a label and what it tells; shown always, or only where it tells two kernels apart."""

    term: str
    text: str
    always: bool


def parts(reading: Reading, name: Name) -> list[Part]:
    """The words of a label, in the order in which they are shown."""
    if reading.library == "triton-inductor":
        return _triton(reading, name)
    fields = reading.fields
    library = "" if reading.library in SILENT else SHORT.get(reading.library, reading.library)
    shown = [Part("library", library, always=True)]
    shown += [Part("operation", word, always=True) for word in _operation(reading)]
    shown.append(Part("dtype", _types(fields), always=True))
    for term, form, always in DETAILS:
        value = fields.get(term)
        if value not in (None, False, "", "none") and not isinstance(value, tuple):
            shown.append(Part(term, form.format(BETA.get(value, value)), always=always))
    if "layout" in fields:
        layout = str(fields["layout"])
        shown.append(Part("layout", layout.upper() if reading.family == "gemm" else layout, always=True))
    told = sum(part.always and part.text != "" for part in shown)
    shown.append(Part("symbol", name.symbol, always=told == (library != "")))
    shown += [Part(f"unread{at}", word, always=False) for at, word in enumerate(reading.unread[:8])]
    return [part for part in shown if part.text]


DETAILS = (
    ("direction", "{}", True), ("src", "{}", True), ("elem_bytes", "{}B", True), ("tile", "{}", True),
    ("head_dim", "hd{}", True), ("causal", "causal", True), ("vec", "vec{}", True), ("log2_elements", "≤2^{}", True),
    ("beta", "{}", True), ("splitk", "splitK", True), ("bias", "bias", True), ("fused_act", "{}", True),
    ("phase", "{}", True), ("mode", "{}", True), ("tile_k", "k{}", False), ("stages", "s{}", False),
    ("cluster", "{}", False), ("two_cta", "2cta", False), ("coop", "coop{}", False), ("mma", "mma{}", False),
    ("op_class", "{}", False), ("align", "align{}", False), ("sliced_k", "sliced{}", False), ("ldg", "ldg{}", False),
    ("relu_variant", "relu?", False), ("wave_tile", "wave{}", False), ("warps", "warps{}", False),
    ("block_m", "m{}", False), ("block_n", "n{}", False), ("threads", "{}t", False), ("vt", "x{}", False),
    ("algo", "{}", False), ("proto", "{}", False), ("dropout", "dropout", False), ("arch", "{}", False),
)  # fmt: skip


def _operation(reading: Reading) -> list[str]:
    """What is done, in one or a few words."""
    fields = reading.fields
    words: list[str] = []
    if reading.family in ("memcpy", "memset"):
        words.append(reading.family)
    if "log_softmax" in fields:
        words.append("log_softmax" if fields["log_softmax"] else "softmax")
    words += [str(fields[term]) for term in OPERATION if term in fields and not (term == "functor" and "op" in fields)]
    if reading.library == "torchscript-fuser":
        words.append(_fused(reading))
    return words


OPERATION = (
    "op", "collective", "functor", "redop", "conv_pass", "norm_pass", "attn_pass", "softmax_pass", "cell", "optimizer",
)  # fmt: skip


def _types(fields: Mapping[str, object]) -> str:
    """`bf16`, `f16→f32`, `e4m3×e5m2→bf16`."""
    kind = fields.get("dtype") or fields.get("dtype_a")
    if kind is None:
        return ""
    text = str(fields["math"]) if fields.get("math") == "tf32" else str(kind)
    other, out = fields.get("dtype_b"), fields.get("dtype_out")
    if other and other != kind:
        text += f"×{other}"
    if out and out not in (kind, "c64" if kind == "f32" else kind):
        text += f"→{out}"
    return text


def _triton(reading: Reading, name: Name) -> list[Part]:
    kind = str(reading.fields.get("triton_kind", ""))
    counter = re.search(r"_(\d+)$", name.text[max(0, name.end - 12) : name.end])
    fused = _fused(reading)
    shown = [
        Part("library", "triton", always=True),
        Part("kind", TRITON_KINDS.get(kind, kind), always=True),
        Part("fused", fused, always=True),
        Part("counter", f"#{counter[1]}" if counter else "", always=False),
        Part("symbol", name.symbol, always=not fused),
    ]
    return [part for part in shown if part.text]


TRITON_KINDS = {
    "pointwise": "", "persistent_reduction": "per", "reduction": "red", "template": "tem", "foreach": "for",
    "split_scan": "spl",
}  # fmt: skip


def _fused(reading: Reading) -> str:
    ops = reading.fields.get("fused_ops", ())
    if not isinstance(ops, tuple):
        return ""
    return "+".join([op for op in ops if op not in VIEWS] or ops)


def shorten(found: list[Part], telling: frozenset[str] = frozenset()) -> str:
    """The parts that are always shown and those in `telling`; what exceeds 40 characters is left out of the middle."""
    text = " ".join(part.text for part in found if part.always or part.term in telling)
    text = " ".join(text.split())
    return text if len(text) <= WIDEST else f"{text[:HEAD]}…{text[HEAD + 1 - WIDEST :]}"


def distinguish(given: Mapping[str, list[Part]]) -> dict[str, str]:
    """The shortest labels that keep names apart: names that would look alike show what differs, or else a number."""
    groups: dict[str, list[str]] = {}
    for name, found in given.items():
        groups.setdefault(shorten(found), []).append(name)
    wanted = {
        name: label
        for group in groups.values()
        for name, label in _spell({name: given[name] for name in group}).items()
    }
    taken = set(groups)
    numbers = dict.fromkeys(taken, 1)
    labels: dict[str, str] = {}
    for name, label in wanted.items():
        text = label
        if label in taken and not (label in groups and groups[label][0] == name):
            while text in taken:
                numbers[label] = numbers.get(label, 1) + 1
                text = f"{label[: WIDEST - 6]} ·{numbers[label]}"
        taken.add(text)
        labels[name] = text
    return {name: labels[name] for name in given}


def _spell(group: Mapping[str, list[Part]]) -> dict[str, str]:
    """Labels for kernels with one short label: with the details that differ; symbols and what is unread come last."""
    told = {name: {part.term: part.text for part in found if not part.always} for name, found in group.items()}
    terms = set().union(*told.values())
    telling = {term for term in terms if len({words.get(term) for words in told.values()}) > 1}
    details = frozenset(term for term in telling if term not in LAST)
    labels = {name: shorten(found, details) for name, found in group.items()}
    counts = Counter(labels.values())
    for name, label in labels.items():
        if counts[label] > 1:
            labels[name] = shorten(group[name], details | telling)
    return labels


LAST = frozenset({"symbol", *(f"unread{at}" for at in range(8))})


def identify(reading: Reading, name: Name) -> str:
    """Operation, types, layout and fused operations, in one string."""
    fields = reading.fields
    words: list[str] = [reading.family]
    words += [str(fields[term]) for term in (*OPERATION, "algo", "direction", "triton_kind") if term in fields]
    words = list(dict.fromkeys(words))
    if fields.get("log_softmax") is True:
        words.append("log")
    if _named(reading, name, len(words) > 1):
        words.append(COUNTER.sub("", NUMBERS.sub("", name.symbol)) or name.symbol)
    words.append(_types(fields))
    words += [f"{term}={fields[term]}" for term in ("head_dim", "causal", "fused_act", "bias") if fields.get(term)]
    if "layout" in fields:
        layout = str(fields["layout"])
        words.append(layout[:2] if reading.family == "gemm" else layout)
    ops = fields.get("fused_ops")
    if isinstance(ops, tuple):
        words.append("+".join(ops))
    return " ".join(word for word in words if word)


def _named(reading: Reading, name: Name, has_operation: bool) -> bool:  # noqa: FBT001 - private, one caller
    """Whether the function's name belongs to the identity: where one operation is several kernels, or is not known."""
    if reading.library == "triton-inductor" or reading.family in ("memcpy", "memset", "gemm"):
        return False
    if reading.family == "conv":
        return "dtype" not in reading.fields
    if "elementwise_kernel" in name.symbol or reading.family in ("pointwise", "attention", "comm", "softmax"):
        return not has_operation
    return True


def relate(first: Reading, second: Reading, identities: Iterable[str]) -> Relation:
    """How two kernels are related, as far as their names tell."""
    if first.name == second.name:
        return "same kernel"
    one, other = identities
    if one != other:
        return "other kernel"
    same = (first.library, first.fields, first.unread) == (second.library, second.fields, second.unread)
    return "same kernel" if same and not first.fields.get("truncated") else "same family, other tile"
