"""What a reader of traces must see: every row, every nanosecond, whatever PyTorch wrote the file."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from builders import annotation, data, document, event, gpu, kernel, launch, memcpy, memset, op, step, trace
from hypothesis import given
from hypothesis import strategies as st

from foretrace import kineto
from foretrace.trace import Kind


@pytest.mark.parametrize(
    ("category", "kind"),
    [
        ("cpu_op", Kind.OP),
        ("Operator", Kind.OP),
        ("user_annotation", Kind.ANNOTATION),
        ("python_function", Kind.PYTHON),
        ("cuda_runtime", Kind.RUNTIME),
        ("Runtime", Kind.RUNTIME),
        ("xpu_runtime", Kind.RUNTIME),
        ("mtia_runtime", Kind.RUNTIME),
        ("hpu_op", Kind.RUNTIME),
        ("privateuse1_runtime", Kind.RUNTIME),
        ("cuda_driver", Kind.DRIVER),
        ("privateuse1_driver", Kind.DRIVER),
        ("kernel", Kind.KERNEL),
        ("Kernel", Kind.KERNEL),
        ("gpu_memcpy", Kind.MEMCPY),
        ("Memcpy", Kind.MEMCPY),
        ("gpu_memset", Kind.MEMSET),
        ("Memset", Kind.MEMSET),
        ("gpu_user_annotation", Kind.GPU_ANNOTATION),
        ("overhead", Kind.OVERHEAD),
        ("Trace", Kind.OTHER),
        ("cuda_sync", Kind.OTHER),
    ],
)
def test_a_category_says_what_a_row_is(category: str, kind: Kind) -> None:
    assert list(trace(event(category, "x", at=1, us=1)).kind) == [kind]


def test_a_step_is_an_annotation_even_where_old_versions_call_it_an_operator() -> None:
    read = trace(event("Operator", "ProfilerStep#3", at=0, us=1), event("Operator", "ProfilerStep#x", at=0, us=1))
    assert sorted(read.kind) == [Kind.OP, Kind.ANNOTATION]


def test_rows_come_in_start_order_with_times_relative_to_the_first() -> None:
    read = trace(kernel(at=20, us=4), op("aten::mm", at=10.5, us=2.25), baseTimeNanoseconds=1_000)
    assert [read.text(row) for row in range(2)] == ["aten::mm", "gemm"]
    assert list(read.start_ns) == [0, 9_500]
    assert list(read.dur_ns) == [2_250, 4_000]
    assert read.origin_ns == 11_500
    assert list(read.gpu.row) == [1]


@given(st.lists(st.integers(0, 2 * 10**18), min_size=1, max_size=5), st.sampled_from(["{}", '"{}"']))
def test_no_nanosecond_is_lost_at_any_size_of_time(ns: list[int], form: str) -> None:
    texts = [form.format(f"{value // 1000}.{value % 1000:03}") for value in ns]
    events = ",".join(f'{{"ph":"X","cat":"kernel","name":"k","ts":{text},"dur":{text}}}' for text in texts)
    read = kineto.parse(f'{{"traceEvents":[{events}]}}'.encode(), where="t")
    assert set(read.start_ns + read.origin_ns) == set(ns)
    assert set(read.dur_ns) == set(ns)


def test_epoch_times_keep_their_nanoseconds() -> None:
    text = b'{"traceEvents":[{"ph":"X","cat":"kernel","name":"k","ts":1716954500593638.123,"dur":0.001}]}'
    assert kineto.parse(text, where="t").origin_ns == 1716954500593638123


def test_gpu_rows_carry_their_launch_shape() -> None:
    shape = {"registers per thread": 64, "shared memory": 49152, "est. achieved occupancy %": 25}
    read = trace(
        memcpy(at=0, us=1, bytes=4096),
        kernel(at=5, us=1, grid=[8, 2, 1], block=[256, 1, 1], device=1, stream=13, **shape),
    )
    gpu_columns = read.gpu
    assert gpu_columns.grid.tolist() == [[-1, -1, -1], [8, 2, 1]]
    assert gpu_columns.block.tolist()[1] == [256, 1, 1]
    assert gpu_columns.device.tolist() == [0, 1]
    assert gpu_columns.stream.tolist() == [7, 13]
    assert gpu_columns.registers.tolist() == [-1, 64]
    assert gpu_columns.shared_bytes.tolist() == [-1, 49152]
    assert gpu_columns.bytes.tolist() == [4096, -1]
    assert gpu_columns.occupancy_percent[1] == 25


def test_old_gpu_rows_take_device_and_stream_from_their_lane() -> None:
    read = trace(event("Kernel", "k", at=0, us=1, pid=2, tid="stream 9"))
    assert (read.gpu.device[0], read.gpu.stream[0]) == (2, 9)


def test_external_ids_are_read_in_either_spelling() -> None:
    rows = [event("cpu_op", "a", at=0, us=1), event("Runtime", "b", at=1, us=1), event("cpu_op", "c", at=2, us=1)]
    rows[0]["args"], rows[1]["args"] = {"External id": "5"}, {"external id": 6}
    assert trace(*rows).external.tolist() == [5, 6, -1]


def test_devices_are_those_described_and_those_at_work() -> None:
    read = trace(kernel(at=0, us=1, device=3))
    assert [(device.index, device.name) for device in read.devices] == [(0, "Test GPU"), (3, "")]
    assert read.devices[0].multiprocessors == 40
    assert read.devices[0].compute_capability == "9.0"


def test_lanes_bear_the_names_the_trace_gives_them() -> None:
    name = {"ph": "M", "name": "thread_name", "pid": 0, "tid": 7, "ts": 0, "args": {"name": "stream 7 "}}
    (lane,) = trace(kernel(at=0, us=1), name).lanes
    assert (lane.process, lane.thread, lane.label) == ("0", "7", "stream 7")


def test_phases_other_than_complete_are_no_rows() -> None:
    others = [{**op("x", at=0, us=9), "ph": phase} for phase in "BEbensftCPNODviIMRc("]
    assert len(trace(kernel(at=0, us=1), *others)) == 1


def test_members_beside_the_events_are_kept_as_metadata() -> None:
    read = trace(distributedInfo={"rank": 1, "world_size": 2})
    assert read.metadata["distributedInfo"] == {"rank": 1, "world_size": 2}


@pytest.mark.parametrize(
    "odd", [None, [], "x", -1, 2.5, {"rank": "x"}, [None, {"id": "x"}, {"id": 0, "numSms": "x"}], [[]]]
)
@pytest.mark.parametrize("member", ["distributedInfo", "deviceProperties", "baseTimeNanoseconds", "traceName"])
def test_a_member_of_any_other_form_costs_nothing(member: str, odd: object) -> None:
    read = trace(kernel(at=3, us=1, device=2), **{member: odd})
    assert (len(read), read.warnings) == (1, ())
    assert read.devices[-1].index == 2
    assert read.origin_ns == (2999 if (member, odd) == ("baseTimeNanoseconds", -1) else 3000)


def test_work_of_a_kind_that_is_not_counted_is_told() -> None:
    read = trace(event("mtia_ccp_events", "dma", at=0, us=1), event("mtia_ccp_events", "fi", at=1, us=1))
    assert (len(read.gpu.row), len(read.warnings)) == (0, 1)
    assert "'mtia_ccp_events': 2 not counted" in read.warnings[0]


@pytest.mark.parametrize(
    ("process", "kind"), [("CPU functions", Kind.OP), ("CUDA functions", Kind.GPU_ANNOTATION), ("other", Kind.OTHER)]
)
def test_ranges_of_the_profiler_before_kineto_are_told_by_their_process(process: str, kind: Kind) -> None:
    row = {"ph": "X", "name": "aten::mul", "pid": process, "tid": 1, "ts": 1.5, "dur": 2, "args": {}}
    read = kineto.parse(json.dumps([row]).encode(), where="t")
    assert read.kind.tolist() == [kind]
    assert len(read.warnings) == (kind is not Kind.OTHER)


def test_packed_and_plain_bytes_read_alike() -> None:
    text = data(step(1, at=0, us=10), launch(at=1), kernel(at=2, us=1), memset(at=4, us=1), annotation("a", at=0, us=1))
    halves = gzip.compress(text[:100]) + gzip.compress(text[100:])
    for form in (gzip.compress(text), halves):
        read = kineto.parse(form, where="t")
        assert (read.names, read.start_ns.tolist()) == (
            trace(*json.loads(text)["traceEvents"]).names,
            [0, 0, 1000, 2000, 4000],
        )


def test_an_unfinished_op_is_left_out_and_a_kernel_without_time_is_still_counted() -> None:
    read = trace(op("open", at=0, us=-1), kernel("bad", at=1, us=-20), kernel("good", at=2, us=3))
    assert [read.text(row) for row in range(len(read))] == ["bad", "good"]
    assert read.dur_ns.tolist() == [0, 3000]
    assert read.unmeasured.tolist() == [0]
    assert len(read.warnings) == 2


def test_exact_duplicates_are_dropped_and_near_ones_kept() -> None:
    same = kernel(at=5, us=2, correlation=1)
    read = trace(
        same, kernel(at=5, us=2, correlation=2), gpu("kernel", "gemm", at=5, us=2, stream=8, correlation=1), same
    )
    assert len(read) == 3
    assert read.warnings == ("exact duplicates of other events dropped (a file merged from parts?): 1",)


def test_document_order_of_members_does_not_matter() -> None:
    made = document(kernel(at=0, us=1), traceName="a]b\\c")
    turned = json.dumps(dict(reversed(made.items()))).encode()
    read = kineto.parse(turned, where="t")
    assert (len(read), read.metadata["traceName"]) == (1, "a]b\\c")


def test_an_occupancy_too_large_to_be_one_is_not_known_and_says_nothing_on_the_way() -> None:
    read = trace(kernel(at=0, us=1, **{"est. achieved occupancy %": 1e308}))
    assert np.isnan(read.gpu.occupancy_percent).all()
