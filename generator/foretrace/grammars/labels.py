"""Short names for readings: takes a reading, gives a label for a table cell and an identity for comparing versions."""

from __future__ import annotations

from foretrace.grammars.reading import Reading
from foretrace.grammars.spelling import Name

WIDEST = 40
VIEWS = frozenset(
    {
        "view",
        "_unsafe_view",
        "transpose",
        "permute",
        "unsqueeze",
        "squeeze",
        "expand",
        "t",
        "_to_copy",
        "clone",
        "reshape",
    }
)
MEMORY = ("HtoD", "DtoH", "DtoD", "PtoP", "HtoH")


def shorten(reading: Reading, name: Name) -> str:
    """A label of at most 40 characters."""
    fields = reading.fields
    if reading.library == "triton-inductor":
        words = ["triton", _fused(reading)]
    elif reading.family in ("gemm", "conv", "attention"):
        words = [
            reading.library,
            *_texts(reading, "op", "conv_pass", "attn_pass", "dtype", "tile", "tile_k", "beta"),
        ]
        if "layout" in fields:
            words.append(str(fields["layout"]).upper())
    elif reading.family in ("memcpy", "memset"):
        words = [reading.family, *_texts(reading, "direction", "src")]
    else:
        words = _texts(reading, "op", "dtype") or [name.symbol]
        if "vec" in fields:
            words.append(f"vec{fields['vec']}")
    text = " ".join(word for word in words if word)
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"


def _texts(reading: Reading, *terms: str) -> list[str]:
    return [str(reading.fields[term]) for term in terms if term in reading.fields]


def _fused(reading: Reading) -> str:
    ops = reading.fields.get("fused_ops", ())
    if not isinstance(ops, tuple):
        return str(ops)
    return "+".join([op for op in ops if op not in VIEWS] or ops)


def identify(reading: Reading, name: Name) -> str:
    """Operation, types, layout and fused operations, in one string."""
    fields = reading.fields
    parts: list[str] = [reading.family]
    for term in ("op", "conv_pass", "attn_pass", "norm_pass", "softmax_pass", "collective", "direction",
    "triton_kind", "dtype", "dtype_out",
                 "accum", "math", "layout", "fused_ops"):  # fmt: skip
        if term in fields:
            value = fields[term]
            parts.append(f"{term}={','.join(value) if isinstance(value, tuple) else value}")
    if len(parts) == 1:
        parts.append(name.subject)
    return " ".join(parts)
