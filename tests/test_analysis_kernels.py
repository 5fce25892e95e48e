"""The table of GPU work: what is put together, where it was launched, and how many warps fit."""

from __future__ import annotations

import dataclasses

import pytest
from builders import annotation, kernel, launch, memcpy, memset, op, step, trace
from measured import known, of

from foretrace.analysis import timeline
from foretrace.analysis.occupancy import occupancy
from foretrace.trace import Device

QUERY = "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags"
RESOURCES = "registers per thread"


def device(capability: str = "9.0", *, threads: int = 2048, shared: int = 233472) -> Device:
    return Device(
        index=0,
        warp_size=32,
        registers_per_multiprocessor=65536,
        shared_bytes_per_multiprocessor=shared,
        threads_per_multiprocessor=threads,
        compute_capability=capability,
    )


A100 = device("8.0", shared=167936)
AMPERE_86 = device("8.6", threads=1536, shared=102400)
TURING = device("7.5", threads=1024, shared=65536)


@pytest.mark.parametrize(
    ("where", "launched", "share", "limit"),
    [  # the reference values are those of cudaOccMaxActiveBlocksPerMultiprocessor in cuda_occupancy.h, CUDA 13.0
        (A100, {"threads": 128, "registers": 255, "shared_bytes": 49152}, 8 / 64, "registers"),
        (A100, {"threads": 256, "registers": 240, "shared_bytes": 0}, 8 / 64, "registers"),
        (device(), {"threads": 384, "registers": 168, "shared_bytes": 213188}, 12 / 64, "registers, shared memory"),
        (device(), {"threads": 128, "registers": 34, "shared_bytes": 0}, 48 / 64, "registers"),
        (device(), {"threads": 128, "registers": 32, "shared_bytes": 0}, 1.0, "registers, threads"),
        (device(), {"threads": 32, "registers": 16, "shared_bytes": 0}, 32 / 64, "blocks"),
        (device(), {"threads": 160, "registers": 24, "shared_bytes": 0}, 60 / 64, "threads"),
        (device(), {"threads": 64, "registers": 24, "shared_bytes": 100000}, 4 / 64, "shared memory"),
        (A100, {"threads": 64, "registers": 24, "shared_bytes": 83456}, 2 / 64, "shared memory"),
        (AMPERE_86, {"threads": 32, "registers": 16, "shared_bytes": 0}, 16 / 48, "blocks"),
        (TURING, {"threads": 32, "registers": 16, "shared_bytes": 0}, 16 / 32, "blocks"),
        (TURING, {"threads": 64, "registers": 255, "shared_bytes": 0}, 8 / 32, "registers"),
    ],
)
def test_occupancy_is_what_nvidias_calculator_gives(where, launched, share, limit):
    found = occupancy(where, **launched)
    assert found is not None
    assert found == (pytest.approx(share), limit)


@pytest.mark.parametrize(
    "launched",
    [
        {"threads": 128, "registers": 0, "shared_bytes": 0},
        {"threads": 0, "registers": 32, "shared_bytes": 0},
        {"threads": 128, "registers": -1, "shared_bytes": -1},
        {"threads": 128, "registers": 32, "shared_bytes": 300000},
    ],
)
def test_no_occupancy_is_made_up_for_a_launch_that_is_not_known_or_cannot_be(launched):
    assert occupancy(device(), **launched) is None


def test_no_occupancy_is_made_up_for_an_unknown_device():
    assert occupancy(Device(index=0), threads=128, registers=32, shared_bytes=0) is None
    assert occupancy(device("99.0"), threads=128, registers=32, shared_bytes=0) is None


def test_no_occupancy_is_made_up_for_another_vendors_device_of_the_same_capability_number():
    mi250 = dataclasses.replace(device("9.0"), warp_size=64)
    assert occupancy(mi250, threads=256, registers=32, shared_bytes=0) is None


def test_a_row_has_the_occupancy_by_resources_beside_the_profilers():
    facts = known(
        step(1, at=0, us=100),
        launch(at=1, correlation=1),
        kernel(at=10, us=5, correlation=1, **{RESOURCES: 255, "shared memory": 0, "est. achieved occupancy %": 0}),
    )
    (row,) = facts.kernels
    assert row.occupancy_reported == 0
    assert (row.occupancy, row.occupancy_limit) == (0.125, "registers")
    assert (row.registers, row.shared_bytes, row.grid, row.block) == (255, 0, (1, 1, 1), (128, 1, 1))


def test_a_copy_has_no_geometry_and_no_occupancy():
    facts = known(
        step(1, at=0, us=100), launch("cudaMemcpyAsync", at=1, correlation=1), memcpy(at=9, us=5, correlation=1)
    )
    (row,) = facts.kernels
    assert (row.grid, row.registers, row.occupancy, row.occupancy_limit, row.moved_bytes) == (
        None,
        None,
        None,
        "",
        None,
    )
    assert row.family == "memcpy"


def test_one_name_with_two_grids_is_two_rows_longest_total_first():
    facts = known(
        step(1, at=0, us=100),
        *(launch(at=1 + number, us=1, correlation=number) for number in range(3)),
        kernel("k", at=20, us=5, correlation=0, grid=[1, 1, 1]),
        kernel("k", at=30, us=5, correlation=1, grid=[1, 1, 1]),
        kernel("k", at=40, us=30, correlation=2, grid=[8, 1, 1]),
    )
    assert [(row.grid, row.per_step, row.total_us, row.share, row.duration.median) for row in facts.kernels] == [
        ((8, 1, 1), (1,), 30, 0.75, 30),
        ((1, 1, 1), (2,), 10, 0.25, 5),
    ]


def test_calls_before_a_launch_are_those_of_its_own_operator_since_the_kernel_before():
    facts = known(
        step(1, at=0, us=200),
        op("aten::addmm", at=1, us=80),
        launch(QUERY, at=2, us=1),
        launch("cudaMemsetAsync", at=4, us=1, correlation=1),
        launch(at=6, us=1, correlation=2),
        launch("cudaFuncGetAttributes", at=8, us=1),
        launch(at=10, us=1, correlation=3),
        op("aten::add", at=100, us=20),
        launch(at=101, us=1, correlation=4),
        memset(at=20, us=1, correlation=1),
        kernel("gemm", at=30, us=1, correlation=2),
        kernel("reduce", at=40, us=1, correlation=3),
        kernel("add", at=110, us=1, correlation=4),
    )
    before = {row.name: (row.op, row.calls_before) for row in facts.kernels if row.activity == "kernel"}
    assert before == {
        "gemm": ("aten::addmm", (QUERY, "cudaMemsetAsync")),
        "reduce": ("aten::addmm", ("cudaFuncGetAttributes",)),
        "add": ("aten::add", ()),
    }


def test_a_driver_call_inside_a_runtime_call_is_not_a_call_before():
    facts = known(
        step(1, at=0, us=200),
        op("aten::mm", at=1, us=80),
        launch(at=2, us=10, correlation=1),
        launch("cuLaunchKernel", at=4, us=2, correlation=1, cat="cuda_driver"),
        launch(at=20, us=10, correlation=2),
        kernel("a", at=30, us=1, correlation=1),
        kernel("b", at=40, us=2, correlation=2),
    )
    assert [(row.launch_call, row.calls_before) for row in facts.kernels] == [("cudaLaunchKernel", ())] * 2


def test_the_innermost_operator_is_named_and_a_label_is_none():
    facts = known(
        step(1, at=0, us=200),
        op("aten::linear", at=1, us=80),
        op("aten::addmm", at=2, us=70),
        annotation("inner label", at=3, us=60),
        launch(at=4, us=1, correlation=1),
        annotation("forward", at=100, us=50),
        launch("cuLaunchKernelEx", at=101, us=1, correlation=2, cat="cuda_driver"),
        kernel("a", at=30, us=2, correlation=1),
        kernel("b", at=110, us=1, correlation=2),
    )
    assert [(row.op, row.launch_call) for row in facts.kernels] == [
        ("aten::addmm", "cudaLaunchKernel"),
        ("", "cuLaunchKernelEx"),
    ]


def test_limits_that_the_trace_does_not_state_come_from_the_machine():
    row = {RESOURCES: 255, "shared memory": 0}
    made = trace(
        step(1, at=0, us=100),
        launch(at=1, correlation=1),
        kernel(at=10, us=5, correlation=1, **row),
        deviceProperties=[],
    )
    assert of(made, steps=1).kernels[0].occupancy == 0.125


def test_kernels_whose_names_are_nearly_the_same_do_not_look_alike_in_tables_chains_and_timelines():
    names = ("nvjet_tst_64x8_64x16_1x4_h_bz_NNT", "nvjet_tst_64x8_64x16_2x1_h_bz_NNT")
    events = [
        step(1, at=0, us=100),
        *(launch(at=10 * number, correlation=number) for number in (1, 2)),
        *(kernel(name, at=30 + 10 * number, us=5, correlation=number) for number, name in enumerate(names, 1)),
    ]
    labels = {row.name: row.label for row in known(*events).kernels}
    assert len(set(labels.values())) == 2
    shown = timeline(trace(*events), label="forward")
    assert {span.name: span.label for lane in shown.lanes if lane.role == "gpu" for span in lane.spans} == labels
