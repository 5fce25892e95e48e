"""Tensile and hipBLASLt GEMMs: `Cijk_Ailk_Bljk_…`.

Source: ROCm/Tensile Tensile/SolutionStructs.py and ROCm/hipBLASLt tensilelite (https://github.com/ROCm/hipBLASLt).
l is the index that is summed, so `Ailk` is A as stored and `Alik` is A transposed. `Bias` and `HA_S` say what the
kernel can do and not what it did. hipBLASLt prints `MI16x16x1` as M × N × blocks, Tensile `MI16x16x16x1` as M × N ×
K × blocks.
"""

from __future__ import annotations

import re

from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms, words
from foretrace.grammars.spelling import Name

PATTERN = re.compile(r"Cijk_")
HEAD = re.compile(r"Cijk_(?P<a>A[il]{2}k)_(?P<b>B[lj]{2}k)(?:_(?P<types>[A-Z0-9]+)(?![^\W_]))?")
CODE = re.compile(r"F8N?|B8N?|I8|4xi8|[SDCZHBXI]")
CODES = {"S": "f32", "D": "f64", "C": "c64", "Z": "c128", "H": "f16", "B": "bf16", "I8": "i8", "I": "i32",
"X": "tf32", "F8": "fp8",
         "B8": "bf8", "F8N": "fp8", "B8N": "bf8"}  # fmt: skip
TILE = re.compile(r"MT(\d+x\d+)x(\d+)$")
MMA = re.compile(r"MI(\d+)x(\d+)x(\d+)(?:x(\d+))?$")
FEATURES = frozenset(
    {"Bias", "HA", "HAS", "S", "A", "SAB", "SABV", "SAV", "SCD", "UserArgs", "Grad", "GG", "Aux", "BH", "B", "H", "MXB"}
)
KEYWORDS = frozenset({"MT", "MI", "IS", "GS", "Po"})
PARAMETER = re.compile(r"[A-Z0-9][A-Za-z0-9]*$")
TERMS: Terms = {
    "library": Term("GEMM of Tensile: C[i,j] over A and B, k is the batch", "A"),
    "layout": Term("whether A or B is transposed, in the column-major sense", "A"),
    "dtype": Term("input, output and compute type by letter; a trailing B: beta is used", "A"),
    "features": Term("what the kernel can do: bias, activation, scales, arguments at run time", "A"),
    "tile": Term("macro tile M × N, then K per iteration", "A"),
    "mma": Term("matrix instruction", "A"),
    "arch": Term("architecture it is compiled for", "A"),
    "splitk": Term("global split-U: parts that K is split into", "A"),
    "parameter": Term("a parameter of the solution: abbreviation and value", "A"),
}
EXAMPLES: Examples = {
    "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1_SN_LDSB1_GSUAMB_ISA942_IU1_WG32_8_1": {
        "layout": "tn", "dtype": "bf16", "dtype_out": "bf16", "accum": "f32", "tile": "256x192", "tile_k": 64,
        "mma": "16x16",
        "arch": "gfx942", "bias_capable": True,
    },
    "Cijk_Ailk_Bjlk_SB_MT64x64x16_MI16x16x16x1_SN_ISA90a_GSU4": {
        "layout": "nt", "dtype": "f32", "dtype_out": "f32", "mma": "16x16x16", "splitk": 4, "arch": "gfx90a",
    },
}  # fmt: skip


def read(name: Name) -> Draft:
    """Layout, types, macro tile, instruction and architecture."""
    draft = Draft("gemm", "tensile")
    match = HEAD.match(name.text, name.inner, name.end)
    if match is None:
        draft.mark((name.inner, name.inner + 4), "library")
        for word, span in words(name, name.inner + 4):
            _word(draft, word, span)
        return draft
    draft.mark((match.start(), match.start() + 4), "library")
    draft.mark((match.start("a"), match.end("b")), "layout", "")
    draft.fields["layout"] = ("n" if match["a"] == "Ailk" else "t") + ("n" if match["b"] == "Bljk" else "t")
    if match["types"]:
        draft.mark(match.span("types"), "dtype", "")
        draft.fields |= _types(match["types"])
    for word, span in words(name, match.end()):
        _word(draft, word, span)
    if "bias_capable" in draft.fields:
        draft.note("bias, activation and scales are what the kernel can do; whether they were used does not show")
    if "splitk" not in draft.fields:
        draft.note("K may be split even though the name does not say so")
    return draft


def _types(text: str) -> dict[str, str]:
    """`BBS` is input, output, compute; four codes are A, B, output, compute; one, or one and B, is the same for all."""
    codes = CODE.findall(text)
    if "".join(codes) != text:
        return {}
    kinds = [CODES.get(code, code) for code in codes]
    if len(codes) == 1 and text == "B":
        return {"dtype": "bf16"}
    if len(codes) == 1 or (len(codes) == 2 and codes[1] == "B"):
        return {"dtype": kinds[0], "dtype_out": kinds[0]}
    if len(codes) == 3:
        return {"dtype": kinds[0], "dtype_out": kinds[1], "accum": kinds[2]}
    if len(codes) == 4:
        return {"dtype": kinds[0], "dtype_b": kinds[1], "dtype_out": kinds[2], "accum": kinds[3]}
    return {"dtype": kinds[0]}


def _word(draft: Draft, word: str, span: tuple[int, int]) -> None:
    """One word behind the types."""
    if word[:2] not in KEYWORDS and "tile" in draft.fields:
        draft.mark(span, "parameter")
        return
    if tile := TILE.match(word):
        draft.say(span, "tile", tile[1])
        draft.fields["tile_k"] = int(tile[2][:6])
    elif mma := MMA.match(word):
        draft.say(span, "mma", f"{mma[1]}x{mma[2]}x{mma[3]}" if mma[4] else f"{mma[1]}x{mma[2]}")
    elif word.startswith("ISA") and len(word) > 5:
        draft.say(span, "arch", f"gfx{word[3:]}")
    elif word.startswith("GSU") and word[3:].isdecimal() and int(word[3:7]) > 1:
        draft.say(span, "splitk", int(word[3:7]))
    elif word.startswith("PostGSU"):
        draft.mark(span, "parameter")
        draft.family = "reduction"
        draft.fields["op"] = "splitk_reduce"
    elif word in FEATURES and "tile" not in draft.fields:
        draft.mark(span, "features")
        if word == "Bias":
            draft.fields["bias_capable"] = True
        elif word == "UserArgs":
            draft.library = "hipblaslt-tensile"
    elif PARAMETER.match(word):
        draft.mark(span, "parameter")


GRAMMAR = Grammar("tensile", __doc__, "https://github.com/ROCm/hipBLASLt", PATTERN, read, TERMS, EXAMPLES)
