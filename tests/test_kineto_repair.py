"""Traces that profilers have written and JSON does not allow: what is meant is read, and what was done is said."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from builders import data, event, kernel, launch, op, step
from hypothesis import given
from hypothesis import strategies as st

from foretrace import kineto
from foretrace.errors import UnreadableInput
from foretrace.kineto import document as document_module
from foretrace.kineto.repair import Repair, plain
from foretrace.trace import Kind, Trace

if TYPE_CHECKING:
    from collections.abc import Callable

BEFORE = (step(1, at=0, us=100), launch(at=10, correlation=1))
AFTER = (kernel("gemm", at=50, us=30, correlation=1), op("aten::mm", at=5, us=20))


def read_with(*broken: bytes) -> tuple[Trace, bytes]:
    """A sound trace of four events with further ones in its midst, as they stand; the trace and the text."""
    events = (
        [json.dumps(each).encode() for each in BEFORE] + list(broken) + [json.dumps(each).encode() for each in AFTER]
    )
    text = b'{"traceEvents": [\n%b\n], "traceName": "x"}' % b",\n".join(events)
    return kineto.parse(text, where="t"), text


def copy_with(member: bytes) -> bytes:
    return (
        b'{"ph":"X","cat":"gpu_memcpy","name":"copy","pid":0,"tid":7,"ts":90,"dur":1,"args":{"device":0,%b}}' % member
    )


def op_named(name: bytes) -> bytes:
    return (
        b'{"ph":"X","cat":"python_function","name":"%b","pid":1,"tid":1,"ts":15,"dur":1,"args":{"Python id":1}}' % name
    )


@pytest.mark.parametrize(
    ("member", "token"),
    [
        (b'"x": NaN', "'NaN'"),
        (b'"x": Infinity', "'Infinity'"),
        (b'"x": -Infinity', "'-Infinity'"),
        (b'"x": inf', "'inf'"),
        (b'"x": N/A', "'N/A'"),
        (b'"x": None', "'None'"),
        (b'"x": [1, 2, ...]', "'...'"),
        (b'"x": , "y": 1', "a missing value"),
        (b'"x": ', "a missing value"),
        (b'"x": [1, 2,]', "a comma too many"),
        (b'"x": 1,', "a comma too many"),
        (b'"x": 1 "y": 2', "a missing comma"),
        (b'x": 1', "a key without its quotes"),
        (b"x: 1", "a key without its quotes"),
        (b'"x\n": 1', "a raw control character"),
    ],
)
def test_a_broken_member_costs_no_event_and_is_told_with_its_byte(member: bytes, token: str) -> None:
    read, text = read_with(copy_with(member))
    assert (len(read), len(read.rows(Kind.MEMCPY))) == (5, 1)
    (warning,) = read.warnings
    assert warning.startswith(f"repaired {token}")
    byte = int(warning.split("at byte ")[1].split()[0])
    assert text.index(member[:3]) <= byte <= text.index(member) + len(member)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (b'_lib = make.Library("_demo", "IMPL")\n(1): <module>', '_lib = make.Library("_demo", "IMPL")\n(1): <module>'),
        (b'f("a"): "b", "c"', 'f("a"): "b", "c"'),
        (b'"quoted"', '"quoted"'),
        (b"|||S\x01(1)", "|||S\x01(1)"),
        (rb"C:\dir\new", "C:\\dir\new"),
        (b"caf\xe9 \xff", "caf\ufffd \ufffd"),
        (rb"a\ud800b", "a\ufffdb"),
        (rb"\ud83d\ude00 \u00e9", "\U0001f600 é"),
    ],
)
def test_a_broken_name_is_read_as_it_was_meant(written: bytes, meant: str) -> None:
    read, _ = read_with(op_named(written))
    assert read.text(int(read.rows(Kind.PYTHON)[0])) == meant
    assert len(read) == 5


def test_several_flaws_of_one_kind_are_one_warning_with_their_number() -> None:
    read, _ = read_with(*[copy_with(b'"x": NaN').replace(b"90", b"9%d" % number) for number in range(5)])
    (warning,) = read.warnings
    assert warning.endswith("and at 4 more places")


def test_a_sound_text_gives_no_warning_and_a_broken_header_is_repaired_too() -> None:
    assert read_with()[0].warnings == ()
    header = b'{"deviceProperties": [{"id": 0, "numSms": inf, "name": "G"}], "traceEvents": []}'
    assert kineto.parse(header, where="t").devices[0].name == "G"


def test_events_that_cannot_be_read_are_left_out_with_their_byte_if_no_figure_rests_on_them() -> None:
    flow = b'{"ph":"s","id":1,"pid":1,"tid":1,"ts":1,"cat":"ac2g","name":"ac2g, "bp":"e"}'
    read, text = read_with(flow)
    assert len(read) == 4
    assert read.warnings == (f"an unreadable event left out (a string that is not closed) at byte {text.index(flow)}",)


def test_an_event_that_is_not_closed_takes_no_other_with_it() -> None:
    """Neither those behind it that need a repair, nor such as look like several events inside."""
    flow = b'{"ph":"s","id":1,"args":{"a":1}'
    nested = copy_with(b'"x": NaN, "y": [{"q": 1}, {"q": 2}]')
    read, text = read_with(flow, nested, flow, op_named(b'f("a")'), flow, copy_with(b'"z": inf').replace(b"90", b"95"))
    assert [read.text(row) for row in read.rows(Kind.MEMCPY, Kind.PYTHON)] == ['f("a")', "copy", "copy"]
    (lost,) = (warning for warning in read.warnings if "left out" in warning)
    assert f"at byte {text.index(flow)} and at 2 more places" in lost


def test_a_string_without_its_end_takes_no_event_with_it() -> None:
    flow = b'{"ph":"s","name": \n "id": 2,)"parent": 1}'
    read, text = read_with(flow, copy_with(b'"y": 1'), flow)
    assert sorted(read.text(row) for row in range(len(read))) == sorted(
        [*(e["name"] for e in (*BEFORE, *AFTER)), "copy"]
    )
    place = f"at byte {text.index(flow)} and at 1 more places"
    assert read.warnings == (f"an unreadable event left out (a string that is not closed) {place}",)


@pytest.mark.parametrize("category", ["kernel", "gpu_memcpy", "cuda_runtime", "cuda_driver", "Kernel"])
def test_a_count_is_never_silently_short(category: str) -> None:
    broken = b'{"ph":"X","cat":"%b","name":"k, "pid":0,"tid":7,"ts":1,"dur":1}' % category.encode()
    with pytest.raises(UnreadableInput, match=r"malformed at byte \d+: a string that is not closed"):
        read_with(broken)


def test_members_of_the_wrong_type_cost_no_event() -> None:
    odd = b'{"ph":"X","cat":"kernel","name":7,"pid":0.0,"tid":null,"ts":90,"dur":1,"args":{"grid":["x"],"bytes":[]}}'
    read, _ = read_with(odd, b'{"ph":"X","cat":null,"name":"n","ts":"91","dur":"2.5","args":"none"}', b"null", b"[]")
    assert len(read) == 6
    assert (read.text(4), read.dur_ns[5]) == ("7", 2500)
    assert read.warnings[0].startswith("an element of traceEvents that is no object at byte")


def test_integers_beyond_int64_break_nothing_and_still_link() -> None:
    huge = 2**64 - 5
    read = kineto.parse(
        data(launch(at=0, correlation=huge), kernel(at=9, us=1, correlation=huge, bytes=10**400)), where="t"
    )
    assert read.correlation[0] == read.correlation[1] >= 0
    assert read.gpu.bytes[0] == -1


def in_utf8(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), json_values, max_size=5), st.sampled_from([json.dumps, in_utf8]))
def test_valid_json_is_read_as_json_and_needs_no_repair(value: dict[str, Any], write: Callable[[Any], str]) -> None:
    repair = Repair(write(value).encode())
    read, _ = repair.value(0, "element")
    assert plain(read) == value
    assert repair.flaws == []


names = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
nested = st.dictionaries(names, json_values, max_size=3)


@given(
    st.lists(st.tuples(names, nested), max_size=12),
    st.integers(16, 400),
    st.sampled_from([None, 1]),
    nested,
)
def test_where_blocks_are_cut_changes_nothing(
    made: list[tuple[str, dict[str, Any]]], block: int, indent: int | None, trailer: dict[str, Any]
) -> None:
    """Names and args may hold whatever looks like the end of an event; the strict decoder must tell it from one."""
    events = [event("cpu_op", name, at=at, us=1, tricky=args) for at, (name, args) in enumerate(made)]
    text = json.dumps({"traceEvents": events, "trailer": [trailer, trailer]}, indent=indent).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(document_module, "BLOCK_BYTES", block)
        patch.setattr(document_module, "SMALLEST_BLOCK_BYTES", block // 4)
        read = kineto.parse(text, where="t")
    assert [read.text(row) for row in range(len(read))] == [name for name, _ in made]
    assert read.warnings == ()


@given(st.binary(max_size=60), st.integers(0, 10_000), st.integers(0, 40))
def test_any_damage_ends_in_a_trace_or_in_one_sentence(junk: bytes, at: int, gone: int) -> None:
    whole = data(*BEFORE, *AFTER)
    at %= len(whole)
    sentences = []
    try:
        kineto.parse(whole[:at] + junk + whole[at + gone :], where="t").check()
    except UnreadableInput as refusal:
        sentences = str(refusal).splitlines()
    assert len(sentences) <= 1
