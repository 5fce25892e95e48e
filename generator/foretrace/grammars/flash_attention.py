"""FlashAttention 2 and 3, as the pip package and inside PyTorch, and FlashMLA.

Source: Dao-AILab/flash-attention csrc/flash_attn/src/kernel_traits.h, flash_fwd_launch_template.h, hopper/
(https://github.com/Dao-AILab/flash-attention). The traits are `<head dim rounded up, block M, block N, warps, …,
element>`; the flags behind them grew from five to eight: dropout and causal stay first, split-KV kernels have no
dropout. Version 3 puts all into `CollectiveMainloopFwdSm90<stages, cluster, tile, head dim of V, element,
accumulator, arch, causal, local, …>`.
"""

from __future__ import annotations

import re

from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms
from foretrace.grammars.spelling import Argument, Name, dtype, flag, inside, number

PATTERN = re.compile(
    r"(?:pytorch_flash::|flash::|fmha::"
    r")?(?:flash_(?:fwd|bwd)_\w+|flash_\w*mla\w*|prepare_varlen_num_blocks_kernel|compute_attn\w*)$"
    r"|cutlass::device_kernel<(?:pytorch_flash::|flash::|(?:enable_sm\w+<)?FlashAttn)"
)
TRAITS = (
    ("Flash_fwd_kernel_traits", "fwd"), ("Flash_bwd_kernel_traits", "bwd"), ("Flash_fwd_kernel_traits_mla", "fwd"),
)  # fmt: skip
NUMBERS = re.compile(r"C<(?:\(int\))?(\d+)")
TERMS: Terms = {
    "function": Term("fused attention, or a step before or after it", "A"),
    "wrapper": Term("CUTLASS's entry function, which says nothing by itself", "A"),
    "head_dim": Term("head dimension, rounded up", "A"),
    "head_dim_v": Term("head dimension of V", "A"),
    "block_m": Term("queries per block", "A"),
    "block_n": Term("keys per block", "A"),
    "tile": Term("queries × keys × head dimension per block", "A"),
    "warps": Term("warps per block", "A"),
    "stages": Term("pipeline stages", "A"),
    "dtype": Term("element type", "A"),
    "accum": Term("accumulator type", "A"),
    "causal": Term("causal mask", "A"),
    "dropout": Term("dropout", "A"),
    "local": Term("sliding window", "A"),
    "alibi": Term("ALiBi bias", "A"),
    "softcap": Term("scores are soft-capped", "A"),
    "varlen": Term("sequences of different lengths", "A"),
    "split": Term("keys are split over blocks, and combined by another kernel", "A"),
    "append": Term("new keys and values are appended to the cache", "A"),
    "even": Term("a length is a multiple of its block", "A"),
    "arch": Term("architecture it is compiled for", "A"),
}
EXAMPLES: Examples = {
    "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, "
    "cutlass::bfloat16_t, pytorch_flash::Flash_kernel_traits<64, 128, 128, 4, cutlass::bfloat16_t> >, false, true, "
    "false, "
    "false, false, true, false>(pytorch_flash::Flash_fwd_params)": {
        "head_dim": 64, "block_m": 128, "block_n": 128, "warps": 4, "dtype": "bf16", "dropout": False, "causal": True,
        "attn_pass": "fwd",
    },
    "void flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<128, 64, 128, 8, 2, 4, ...": {"attn_"
    "pass": "bwd"},
    "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::"
    "CollectiveMainloopFwdSm90<2, "
    "cute::tuple<cute::C<1>, cute::C<1>, cute::C<1> >, cute::tuple<cute::C<128>, cute::C<128>, cute::C<192> >, 128, "
    "cutlass::bfloat16_t, float, cutlass::arch::Sm90, true, false, false, true, false> > > >(int)": {
        "head_dim": 192, "head_dim_v": 128, "causal": True, "local": False, "varlen": True, "stages": 2, "arch": "sm90",
    },
}  # fmt: skip


def read(name: Name) -> Draft:
    """Pass, head dimensions, block sizes, type and mask."""
    library = "flash-attn"
    draft = Draft("attention", library)
    text = name.text
    if name.symbol == "device_kernel":
        _third(draft, name)
        return draft
    if text.startswith("pytorch_flash", name.start):
        draft.library = "flash-attn(pytorch)"
    draft.mark(name.leaf, "function")
    symbol = name.symbol
    if symbol.startswith(("flash_fwd", "flash_bwd")):
        draft.fields |= {"attn_pass": symbol[6:9]}
    if "combine" in symbol:
        draft.fields["op"] = "splitkv_combine"
    if symbol.startswith("compute_attn"):
        draft.library = "flash-attn-3"
        draft.fields |= {"attn_pass": "fwd"}
    if "mla" in symbol:
        draft.library = "flashmla"
        draft.fields |= {"attn_pass": "fwd"}
    _traits(draft, name)
    flags = [
        (a, value) for a in name.arguments[1:] if (value := flag(a.text)) is not None and number(a.text) in (None, 0, 1)
    ]
    _flags(draft, symbol, flags)
    return draft


def _traits(draft: Draft, name: Name) -> None:
    for template, _ in TRAITS:
        arguments = inside(name, template)
        for role, argument in zip(("head_dim", "block_m", "block_n", "warps"), arguments, strict=False):
            value = number(argument.text)
            if value is not None:
                draft.say(argument.span, role, value)
        for at, argument in enumerate(arguments):
            if kind := dtype(argument.text):
                draft.say(argument.span, "dtype", kind)
                after = number(arguments[at + 1].text) if at + 1 < len(arguments) else None
                if after:
                    draft.say(arguments[at + 1].span, "head_dim_v", after)
                break
        if arguments:
            break


def _flags(draft: Draft, symbol: str, flags: list[tuple[Argument, bool]]) -> None:
    """The flags behind the traits, whose number tells the version."""
    count = len(flags)
    if symbol.startswith("compute_attn") and count:
        draft.say(flags[0][0].span, "causal", flags[0][1])
    if "combine" in symbol or "mla" in symbol or count < 4:
        return
    if symbol == "flash_fwd_kernel" and 5 <= count <= 8:
        terms = ["dropout", "causal", *["local"] * (count > 5), *["alibi"] * (count > 6), "even", "even",
                 *["softcap"] * (count > 7)]  # fmt: skip
    elif "splitkv" in symbol and 5 <= count <= 8:
        terms = ["causal", *["local"] * (count > 5), *["alibi"] * (count > 6), "even", "even",
        *["softcap"] * (count > 7),
                 "split", "append"]  # fmt: skip
    elif symbol.startswith("flash_bwd_dq_dk_dv"):
        terms = ["dropout", "causal"]
    else:
        return
    for term, (argument, value) in zip(terms, flags, strict=False):
        if term == "even":
            draft.mark(argument.span, term, str(value))
        else:
            draft.say(argument.span, term, value)


def _third(draft: Draft, name: Name) -> None:
    """Version 3: the main loop says it all."""
    draft.library = "flash-attn-3"
    text = name.text
    draft.mark((name.start, name.leaf[1]), "wrapper")
    backward = text.find("FlashAttnBwd", name.inner, name.rest) >= 0
    draft.fields |= {"attn_pass": "bwd" if backward else "fwd"}
    if text.find("Sm90", name.inner, name.rest) >= 0:
        draft.fields["arch"] = "sm90"
    arguments = inside(name, "CollectiveMainloopFwdSm90")
    roles = (
        "stages",
        "cluster",
        "tile",
        "head_dim_v",
        "dtype",
        "accum",
        "arch",
        "causal",
        "local",
        "softcap",
        "varlen",
    )
    for role, argument in zip(roles, arguments, strict=False):
        if role == "tile":
            sizes = [int(size) for size in NUMBERS.findall(argument.text)]
            if len(sizes) == 3:
                draft.mark(argument.span, "tile", "x".join(map(str, sizes)))
                draft.fields |= dict(zip(("block_m", "block_n", "head_dim"), sizes, strict=True))
        elif role in ("stages", "head_dim_v"):
            value = number(argument.text)
            if value is not None:
                draft.say(argument.span, role, value)
        elif role in ("dtype", "accum"):
            draft.say(argument.span, role, dtype(argument.text) or argument.text)
        elif role not in ("cluster", "arch") and (truth := flag(argument.text)) is not None:
            draft.say(argument.span, role, truth)


GRAMMAR = Grammar(
    "flash_attention", __doc__, "https://github.com/Dao-AILab/flash-attention", PATTERN, read, TERMS, EXAMPLES
)
