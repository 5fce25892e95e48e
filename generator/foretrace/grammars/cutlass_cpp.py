"""CUTLASS kernels that bear no library name but their whole C++ type: GEMM, convolution, reduction inside `Kernel2<…>`.

Source: NVIDIA/cutlass include/cutlass/gemm, conv, reduction; ATen's RowwiseScaledMM.cu and GroupMM.cu
(https://github.com/NVIDIA/cutlass). The wrapper alone says nothing. The first template argument of the main loop is
the tile of a CTA; `ReduceSplitK` is the second half of a split-K GEMM.
"""

from __future__ import annotations

import re

from foretrace.grammars.reading import Draft, Examples, Grammar, Term, Terms
from foretrace.grammars.spelling import Name, inside, number

PATTERN = re.compile(
    r"cutlass\w*::(?:device_kernel|Kernel2?)<(?:cutlass\w*::(?:gemm|conv|reduction)::"
    r"|at::cuda::detail::enable_3x_kernel|(?!flash::|pytorch_flash::|cutlass3x_|cutlass_|FlashAttn"
    r"|enable_sm\w+<FlashAttn)(?:\w++::)*+"
    r"(?:enable_sm\w+<)?\w*[Gg]emm)"
)
LOOP = re.compile(
    r"(?:Mma(?:Multistage|Pipelined|Singlestage)|ImplicitGemm(?:Multistage|Pipelined))\w*<(?:\w+::)*GemmShape<"
    r"(?:\(int\))?(\d+), (?:\(int\))?(\d+), (?:\(int\))?(\d+)>"
)
MAIN = re.compile(r"MainloopSm(\d+)\w*")
SIZES = re.compile(r"C<(?:\(int\))?(\d+)u?>")
CONVOLUTIONS = (("Fprop", "fprop"), ("Dgrad", "dgrad"), ("Wgrad", "wgrad"))
INPUTS = (
    ("float_e4m3_t", "e4m3"),
    ("float_e5m2_t", "e5m2"),
    ("bfloat16_t", "bf16"),
    ("half_t", "f16"),
    ("tfloat32_t", "tf32"),
)
TERMS: Terms = {
    "wrapper": Term("CUTLASS's entry function, which says nothing by itself", "A"),
    "inner": Term("the type of the kernel, spelled out", "A"),
    "tile": Term("tile of one CTA, M × N × K", "A"),
    "stages": Term("architecture, stages and cluster of the main loop", "A"),
}
EXAMPLES: Examples = {
    "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int, int>, "
    "cutlass::gemm::collective::CollectiveMma<cutlass::gemm::MainloopSm90TmaGmmaWarpSpecialized<4, cute::tuple<cute::"
    "C<2>, "
    "cute::C<1>, cute::C<1> >, int>, cute::tuple<cute::C<128>, cute::C<256>, cute::C<64> >, int> > >(int)": {
        "family": "gemm", "arch": "sm90", "stages": 4, "cluster": "2x1x1", "tile": "128x256", "tile_k": 64,
    },
    "void cutlass::Kernel2<cutlass::gemm::kernel::Gemm<cutlass::gemm::threadblock::MmaMultistage<cutlass::gemm::"
    "GemmShape<128, "
    "128, 32>, int>, int> >(int)": {"tile": "128x128", "tile_k": 32},
    "void cutlass::device_kernel<dpsk::grouped_gemm::cuda::m_grouped_fp8_ptp128c::GemmKernel>(int)": {
        "family": "gemm", "dtype": "fp8",
    },
    "void cutlass::Kernel<cutlass::reduction::kernel::ReduceSplitK<cutlass::MatrixShape<4, 128>, int> >(int)": {
        "family": "reduction", "op": "splitk_reduce",
    },
}  # fmt: skip


def read(name: Name) -> Draft:
    """Whether it multiplies, convolves or reduces, and what the main loop says."""
    text = name.text[name.inner : name.rest]
    cudnn = "cudnn" in name.text[name.start : name.leaf[0]]
    draft = Draft("gemm", "cudnn-cutlass" if cudnn else "cutlass")
    draft.mark((name.start, name.leaf[1]), "wrapper")
    draft.mark((name.inner, name.rest), "inner")
    if re.match(r"cutlass\w*::reduction::", text):
        draft.family = "reduction"
        draft.fields["op"] = "splitk_reduce"
        return draft
    if re.match(r"cutlass\w*::conv::", text):
        draft.family = "conv"
        for word, conv_pass in CONVOLUTIONS:
            if word in text:
                draft.fields["conv_pass"] = conv_pass
                break
    if loop := LOOP.search(name.text, name.inner, name.rest):
        draft.mark(loop.span(), "tile")
        draft.fields |= {"tile": f"{loop[1]}x{loop[2]}", "tile_k": int(loop[3][:6])}
    elif main := MAIN.search(name.text, name.inner, name.rest):
        _third(draft, name, main)
    elif re.search(r"(?<![a-z])fp8(?![a-z])", text):
        draft.fields["dtype"] = "fp8"
    if "enable_3x_kernel_for_sm9x" in text:
        draft.fields["arch"] = "sm90"
    return draft


def _third(draft: Draft, name: Name, main: re.Match[str]) -> None:
    """`CollectiveMma<MainloopSm90…<stages, cluster, …>, tile, element of A, …>` of CUTLASS 3."""
    draft.fields["arch"] = f"sm{main[1]}"
    loop = inside(name, main[0])
    if loop and (stages := number(loop[0].text)):
        draft.mark(loop[0].span, "stages")
        draft.fields["stages"] = stages
    if len(loop) > 1 and len(sizes := SIZES.findall(loop[1].text)) == 3:
        draft.fields["cluster"] = "x".join(sizes)
    collective = inside(name, "CollectiveMma")
    if len(collective) > 1 and len(sizes := SIZES.findall(collective[1].text)) == 3:
        draft.mark(collective[1].span, "tile")
        draft.fields |= {"tile": f"{sizes[0]}x{sizes[1]}", "tile_k": int(sizes[2][:6])}
    if len(collective) > 2:
        kind = next((short for word, short in INPUTS if word in collective[2].text[:200]), None)
        if kind:
            draft.fields["dtype"] = kind


GRAMMAR = Grammar("cutlass_cpp", __doc__, "https://github.com/NVIDIA/cutlass", PATTERN, read, TERMS, EXAMPLES)
