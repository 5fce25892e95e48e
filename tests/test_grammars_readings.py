"""What a performance engineer reads off kernel names, and what must not be read off them."""

from __future__ import annotations

import pytest

from foretrace import grammars

ADD = "at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >"
MANGLED = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_"
DIALECTS = {
    "Kineto": f"void {ADD}(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
    "nsys": "void at::native::vectorized_elementwise_kernel<(int)4, at::native::CUDAFunctor_add<float>, "
    "std::array<char *, (unsigned long)3>>(int, T2, T3)",
    "nvprof": "void at::native::vectorized_elementwise_kernel<int=4, at::native::CUDAFunctor_add<float>, "
    "at::detail::Array<char*, int=3>>(int, float)",
    "mangled": MANGLED,
    "rocprof": f"{MANGLED}.kd",
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_profiler_dialect_of_one_kernel_reads_the_same(dialect: str) -> None:
    reading = grammars.decode(DIALECTS[dialect])
    assert (reading.family, reading.library) == ("pointwise", "aten")
    assert reading.fields == {"vec": 4, "op": "add", "dtype": "f32"}
    assert grammars.label(DIALECTS[dialect]) == "add f32 vec4"
    assert grammars.relation(DIALECTS["Kineto"], DIALECTS[dialect]) == "same kernel"


@pytest.mark.parametrize(
    "name",
    [
        "void (anonymous namespace)::softmax_warp_forward<float, float, float, 6, false, false>(float*)",
        "void <unnamed>::softmax_warp_forward<float, float, float, (int)6, (bool)0, (bool)0>(T2 *, const T1 *)",
        "unnamed>::softmax_warp_forward<float, float, float, 6, 0, 0>(T2 *, const T1 *)",
    ],
)
def test_an_anonymous_namespace_may_be_spelled_in_any_way(name: str) -> None:
    reading = grammars.decode(name)
    assert reading.fields["log2_elements"] == 6
    assert reading.fields["log_softmax"] is False


def test_a_relu_in_a_gemm_name_is_what_it_can_do_and_not_a_fused_relu() -> None:
    reading = grammars.decode("cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8")
    assert reading.fields["relu_variant"] is True
    assert not {"fused_act", "fused_ops", "activation"} & reading.fields.keys()
    assert any("relu" in note for note in reading.notes)


def test_an_arch_word_is_said_to_be_a_compile_target() -> None:
    reading = grammars.decode("ampere_sgemm_128x64_tn")
    assert reading.fields["arch"] == "sm80"
    assert any("compiled for" in note for note in reading.notes)
    assert "gpu" not in reading.fields


def test_f16_in_a_cudnn_attention_name_gives_no_type() -> None:
    reading = grammars.decode(
        "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x1x1_cga1x1x1"
    )
    assert reading.family == "attention"
    assert "dtype" not in reading.fields
    assert any("bf16" in note for note in reading.notes)


def test_an_addmm_in_a_pointwise_triton_name_is_no_gemm() -> None:
    reading = grammars.decode("triton_poi_fused_addmm_gelu_view_12")
    assert reading.family == "pointwise"
    assert reading.fields["fused_ops"] == ("addmm", "gelu", "view")


def test_an_addmm_template_is_a_gemm() -> None:
    assert grammars.decode("triton_tem_fused_addmm_t_view").family == "gemm"


def test_device_kernel_is_a_gemm_only_if_a_gemm_is_inside() -> None:
    assert grammars.decode("void cutlass::device_kernel<zork::Thing>(int)").family == "other"
    assert grammars.decode(
        "void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<int> > >(int)"
    ).family == ("attention")
    assert (
        grammars.decode("void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<int> >(int)").family == "gemm"
    )


def test_an_nccl_stub_is_not_trusted_beyond_its_collective() -> None:
    broadcast = grammars.decode("ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclWorkElem)")
    assert broadcast.fields["collective"] == "broadcast"
    assert not {"redop", "dtype"} & broadcast.fields.keys()
    reduce = grammars.decode("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)")
    assert any("launch stub" in note for note in reduce.notes)
    assert (
        grammars.decode("ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)").fields["collective"] == "unknown"
    )


def test_nvjet_code_words_without_a_published_meaning_are_marked_as_likely() -> None:
    name = "nvjet_sm90_tst_256x128_64x4_1x2_h_badd_coopA_NNT"
    confidence = {token.text: token.confidence for token in grammars.tokens(name)}
    assert confidence["h"] == confidence["coopA"] == "C"
    assert confidence["256x128"] == "B"
    assert grammars.decode(name).fields["beta"] == "added"


def test_flash_attention_flags_are_read_by_their_number() -> None:
    traits = "Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, cutlass::half_t>"
    five = grammars.decode(f"void flash_fwd_kernel<{traits}, true, true, false, true, false>(Flash_fwd_params)").fields
    eight = grammars.decode(
        f"void flash::flash_fwd_kernel<{traits}, false, true, true, false, true, true, true, false>(int)"
    ).fields
    split = grammars.decode(
        f"void flash::flash_fwd_splitkv_kernel<{traits}, true, false, false, false, true, false, true, false>(int)"
    ).fields
    assert (five["dropout"], five["causal"]) == (True, True)
    assert "local" not in five
    assert (eight["dropout"], eight["causal"], eight["local"], eight["softcap"]) == (False, True, True, True)
    assert (split["causal"], split["split"]) == (True, True)
    assert "dropout" not in split


def test_stages_zero_of_cutlass_3_is_automatic_and_not_a_number() -> None:
    reading = grammars.decode(
        "cutlass3x_sm90_tensorop_s64x128x16gemm_f16_f16_f32_void_f16_128x128x64_2x1x1_0_tnt_align8"
    )
    assert "stages" not in reading.fields
    assert reading.fields["dtype_out"] == "f16"
    assert "dtype_c" not in reading.fields


def test_tensile_features_are_capabilities() -> None:
    reading = grammars.decode("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1_SN_ISA942_IU1")
    assert reading.fields["bias_capable"] is True
    assert "bias" not in reading.fields
    assert any("can do" in note for note in reading.notes)


@pytest.mark.parametrize(
    ("name", "survives", "lost"),
    [
        ("void at::native::vectorized_elementwise_kernel<4, at...", "vec", "op"),
        ("nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bia…", "cluster", "bias"),
        ("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x19...", "layout", "tile"),
        ("cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x...", "tile", "tile_k"),
        ("_ZN7ck_tile6kentryILi256ELi2ENS_13FmhaFwdKernelINS_2...", "attn_pass", "dtype"),
    ],
)
def test_of_a_cut_name_only_what_is_whole_is_told(name: str, survives: str, lost: str) -> None:
    reading = grammars.decode(name)
    assert reading.fields["truncated"] is True
    assert survives in reading.fields
    assert lost not in reading.fields


def test_labels_of_kernels_that_look_alike_show_what_differs() -> None:
    names = [
        "nvjet_tst_320x128_64x3_1x1_v_bz_coopB_NTT",
        "nvjet_tst_320x128_64x3_1x2_h_bz_coopB_NTT",
        "nvjet_tst_192x192_64x3_2x1_v_bz_coopB_NTN",
    ]
    labels = grammars.labels(names)
    assert labels[names[0]] == "nvjet bf16 320x128 bz 1x1 NTT"
    assert labels[names[1]] == "nvjet bf16 320x128 bz 1x2 NTT"
    assert labels[names[2]] == grammars.label(names[2]) == "nvjet bf16 192x192 bz NTN"


def test_a_label_and_an_identity_can_be_had_from_a_reading_too() -> None:
    name = "triton_poi_fused_gelu_mul_3"
    assert grammars.label(grammars.decode(name)) == grammars.label(name) == "triton gelu+mul"
    assert grammars.identity(grammars.decode(name)) == grammars.identity(name)


def test_identity_ignores_tile_counter_and_address() -> None:
    tile = ("nvjet_tst_192x192_64x3_2x1_v_bz_coopB_NTN", "nvjet_sm90_tst_128x256_64x4_1x2_h_bz_coopA_NTN")
    counter = ("triton_poi_fused_add_mul_3", "triton_poi_fused_add_mul_17")
    address = (
        "kernel_cutlass_kernel_modZorkKernel_object_at_0x7f3a12_tensorptrbf16gmem",
        "kernel_cutlass_kernel_modZorkKernel_object_at_0x55dd00_tensorptrbf16gmem",
    )
    for one, other in (tile, counter, address):
        assert grammars.identity(one) == grammars.identity(other)
    assert grammars.relation(*tile) == "same family, other tile"
    assert grammars.identity("triton_poi_fused_add_3") != grammars.identity("triton_poi_fused_mul_3")
    assert grammars.relation("triton_poi_fused_add_3", "Memset (Device)") == "other kernel"


def test_identity_keeps_a_change_of_type() -> None:
    assert grammars.identity("nvjet_tst_64x8_64x16_1x1_h_bz_NNT") != grammars.identity(
        "nvjet_hsh_64x8_64x16_1x1_h_bz_NNT"
    )


def test_hostile_names_pass_through_as_they_are() -> None:
    name = "\x1b[31mvoid {{ 7 * 7 }}<script>|*`\n"
    assert grammars.decode(name).name == name
    assert "".join(token.text for token in grammars.tokens(name)) == name


def test_the_glossary_tells_of_every_library_why_and_from_where() -> None:
    for grammar in grammars.glossary():
        assert grammar.about
        assert "Source:" in grammar.about
        assert "https://" in grammar.about


def test_a_name_of_which_nothing_can_be_read_is_its_own_label() -> None:
    assert grammars.label("<script>x</script>") == "<script>x</script>"
    assert grammars.label("漢字") == "漢字"
    assert list(grammars.labels(["<b>", "<i>", "***"]).values()) == ["<b>", "<i>", "***"]
