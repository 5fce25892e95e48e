"""Mangled names become readable, as far as they go."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretrace.grammars.mangled import demangle
from foretrace.grammars.registry import GRAMMARS

READABLE = {
    "_Z3addPfS_i": "add",
    "_ZN4cuda3addIfLi4ELb1EEEvPT_": "cuda::add<float, 4, true>",
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_": (
        "at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1>>"
    ),
    "_ZN2at6native12_GLOBAL__N_14workIN3c108BFloat16ES4_EEvPT_": (
        "at::native::(anonymous namespace)::work<c10::BFloat16, c10::BFloat16>"
    ),
    "_Z3runIN1a1bIiEENS2_1cEEvv": "run<a::b<int>, a::b<int>::c>",
    "_Z4packIJifDF16bEEvDpT_": "pack<int, float, __bf16>",
    "_Z5applyIZN1n4workERNS0_1TEEUlfE_EvT_": "apply<n::work(n::T&)::{lambda(float)#1}>",
    "_Z1fILin3ELN1n4EnumE2EEvv": "f<-3, (n::Enum)2>",
}


@pytest.mark.parametrize("name", READABLE)
def test_a_mangled_name_reads_as_its_function_with_template_arguments(name: str) -> None:
    assert demangle(name) == (READABLE[name], False)


@pytest.mark.parametrize(
    ("name", "survives"),
    [
        (
            "_ZN7ck_tile6kentryILi256ELi2ENS_13FmhaFwdKernelINS_2",
            "ck_tile::kentry<256, 2, ck_tile::FmhaFwdKernel<ck_tile",
        ),
        ("_ZN2at6native29vectorized_elem", "at::native"),
        ("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bLi2", "aiter::add_rmsnorm_quant_kernel<__bf16"),
    ],
)
def test_of_a_cut_mangled_name_what_is_whole_survives(name: str, survives: str) -> None:
    assert demangle(name) == (survives, True)


def test_doubling_substitutions_do_not_grow_without_bound() -> None:
    name = "_Z1fI1aI" + "".join(f"S{digit}_S{digit}_E1bI" for digit in "0123456789ABCDEFGHIJKLMNOP") * 40
    text, cut = demangle(name)
    assert cut
    assert len(text) < 200_000


@given(st.text(alphabet="NZISEJLKPRTUDFXlbijfvStK0123456789_abc", max_size=80).map("_Z".__add__))
def test_any_mangled_looking_text_gives_some_text(name: str) -> None:
    text, _ = demangle(name)
    assert text


@pytest.mark.skipif(shutil.which("c++filt") is None, reason="c++filt is not installed")
def test_examples_read_as_the_system_demangler_reads_them() -> None:
    names = [
        name.split(".")[0]
        for grammar in GRAMMARS
        for name in grammar.examples
        if name.startswith("_Z") and "..." not in name
    ]
    told = subprocess.run(["c++filt", *names], capture_output=True, text=True, check=True).stdout.splitlines()
    for name, other in zip(names, told, strict=True):
        if other != name:
            ours = demangle(name)[0].replace("__bf16", "std::bfloat16_t").replace(" ", "")
            assert ours in other.replace(" ", "")
