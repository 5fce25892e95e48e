"""Traces made to exhaust their reader: each is read within bounds or refused in one sentence, early."""

from __future__ import annotations

import contextlib
import gzip
import json
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from builders import data, kernel, launch, step
from click.testing import CliRunner

from foretrace import kineto
from foretrace.analysis.inspection import inspect, to_json, to_lines
from foretrace.cli import main
from foretrace.errors import UnreadableInput
from foretrace.kineto import Limits
from foretrace.kineto.assembly import assemble
from foretrace.kineto.document import read_document
from foretrace.kineto.source import unpack

MEGABYTE = 1_000_000
HEAD = b'{"traceEvents":['
EVENT = b'{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":%d,"dur":1},'
FRAME = {"Python parent id": 1, "Python id": 2, "Ev Idx": 3}


class Endless:
    """A head and then one piece for ever, in chunks; `given` is how many bytes were asked for."""

    def __init__(self, head: bytes, piece: bytes | Callable[[int], bytes]) -> None:
        self._head, self._piece, self.given = head, piece, 0

    def __iter__(self) -> Iterator[bytes]:
        numbers = count()
        chunk = self._head
        while True:
            self.given += len(chunk)
            yield chunk
            if callable(self._piece):
                chunk = b"".join(self._piece(next(numbers)) for _ in range(100))
            else:
                chunk = self._piece * (100_000 // len(self._piece))


def refusal(text: Endless, *, limits: Limits = kineto.USUAL) -> str:
    with pytest.raises(UnreadableInput) as caught:
        read_document(unpack(iter(text), where="big.json", limits=limits), where="big.json", limits=limits)
    sentence = str(caught.value)
    assert sentence.startswith("big.json: ")
    assert caught.value.remedy
    assert len(sentence.splitlines()) == 1
    return sentence


@pytest.mark.parametrize(
    ("head", "piece", "problem"),
    [
        (HEAD + b'{"ph":"X","name":"', b"x", "an event of more than 4,000,000 bytes at byte 16, inside a string"),
        (
            HEAD + b'{"ph":"X","args":{"grid":[',
            b'"xxxxxxxxxxxxxxxxxxxxxxxxxx",',
            "more than 4,000,000 bytes at byte 16",
        ),
        (HEAD + b'{"ph":"X"', b" ", "an event of more than 4,000,000 bytes at byte 16, inside an object"),
        (b'{"otherData":"', b"x", "more than 16,000,000 bytes beside its traceEvents, at byte 13"),
        (b'{"otherData":["', b"x", "more than 16,000,000 bytes beside its traceEvents, at byte 13"),
        (b'{"otherData":[', b'{"key":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},', "bytes beside its traceEvents, at byte 13"),
        (b'{"', b"x", "bytes beside its traceEvents, at byte 1"),
        (b"{", lambda number: b'"%d":"%b",' % (number, b"x" * 100_000), "bytes beside its traceEvents"),
        (b"{", lambda number: b'"%d":0,' % number, "more than 1,000 members beside its traceEvents"),
        (b'{"member":', b"[", "nested deeper than 64"),
        (HEAD, b"[", "nested deeper than 64"),
        (HEAD, b'{"args":', "nested deeper than 64"),
        (HEAD, b"1,", "more than 100,000 unreadable events"),
    ],
)
def test_what_never_ends_is_refused_before_much_of_it_is_read(
    head: bytes, piece: bytes | Callable[[int], bytes], problem: str
) -> None:
    text = Endless(head, piece)
    assert problem in refusal(text)
    assert text.given < 120 * MEGABYTE


SMALL = Limits(json=3 * MEGABYTE)


@pytest.mark.parametrize(
    ("piece", "problem"),
    [
        (b" ", "holds more than 3,000,000 bytes"),
        (b'{"ph":"i"},', "more than 46,875 events"),
        (lambda number: EVENT % number, "needs more than 1,000,000 bytes of memory for its first"),
        (lambda number: EVENT.replace(b'"a"', b'"%d"' % number) % number, "needs more than 1,000,000 bytes of memory"),
        (lambda number: EVENT.replace(b'"pid":1', b'"pid":%d' % number) % number, "needs more than 1,000,000 bytes"),
        (
            lambda number: b'{"ph":"M","name":"thread_name","pid":%d,"args":{"name":"%d"}},' % (number, number),
            "needs more than 1,000,000 bytes of memory",
        ),
        (b'{"ph":"X","name":"a","ts":NaN,"dur":1,"args":{"x":NaN}},', "too many malformed events"),
    ],
)
def test_a_trace_beyond_the_limit_is_refused_with_the_way_to_raise_it(
    piece: bytes | Callable[[int], bytes], problem: str
) -> None:
    sentence = refusal(Endless(HEAD, piece), limits=SMALL)
    assert problem in sentence
    assert "--max-gb" in sentence


def test_many_small_members_are_too_much_together() -> None:
    members = b",".join(b'"%d":["%b"]' % (number, b"x" * 1000) for number in range(13))
    with pytest.raises(UnreadableInput, match="more than 12,000 bytes beside its traceEvents"):
        read_document(iter([b"{%b}" % members]), where="t", limits=SMALL)


def test_packed_text_beyond_the_limit_is_refused_whatever_it_is_packed_in() -> None:
    text = b'{"ph":"i","name":"%b"},' % (b"x" * 100)
    packed = Endless(gzip.compress(HEAD), gzip.compress(text * 100))
    assert "unpacks to more than 3,000,000 bytes" in refusal(packed, limits=SMALL)


def test_a_bomb_of_many_members_is_seen_for_what_it_is() -> None:
    bomb = Endless(gzip.compress(HEAD), gzip.compress(b" " * (4 << 20)))
    assert "which no trace does" in refusal(bomb)
    assert bomb.given < MEGABYTE


def test_the_usual_limit_lets_a_trace_of_three_gigabytes_through() -> None:
    """The densest that PyTorch writes: one Python frame after the other, names short, every hundredth one new."""
    frames = [
        {"ph": "X", "cat": "python_function", "name": f"f.py({number // 100}): g", "pid": 1, "tid": 1}
        | {"ts": 5163956876002.002 + number, "dur": 1.5, "args": FRAME}
        for number in range(20_000)
    ]
    flow = {"ph": "s", "id": 419993, "pid": 1353, "tid": 1353, "ts": 5163956876767.256, "cat": "ac2g", "name": "ac2g"}
    text = json.dumps({"traceEvents": frames}).encode()
    columns, _, _ = read_document(iter([text]), where="t")
    share = len(text) / (3000 * MEGABYTE)
    assert columns.nbytes < kineto.USUAL.memory * share
    assert 3000 * MEGABYTE / len(json.dumps(flow)) < kineto.USUAL.events


@pytest.mark.parametrize(
    "place", ["ts", "dur", "pid", "tid", "correlation", "bytes", "stream", "External id", "shared memory"]
)
@pytest.mark.parametrize("digits", ["9" * 1_000_000, "0." + "1" * 1_000_000, "1e" + "9" * 1_000_000, "9" * 4000])
def test_a_number_of_a_million_digits_costs_no_event(place: str, digits: str) -> None:
    member = f'"{place}":{digits},'
    outer, inner = (member, "") if place in ("ts", "dur", "pid", "tid") else ("", member)
    text = '{"traceEvents":[{%s"ph":"X","cat":"kernel","name":"k"%s,"args":{%s"device":0}},{"ph":"X","ts":1,"dur":1}]}'
    times = ',"ts":1,"dur":1' if place not in ("ts", "dur") else f',"{"ts" if place == "dur" else "dur"}":1'
    trace = kineto.parse((text % (outer, times, inner)).encode(), where="t")
    assert to_json(inspect(trace))


def test_a_base_time_of_a_million_digits_is_no_base_time() -> None:
    text = b'{"baseTimeNanoseconds":%b,"traceEvents":[{"ph":"X","ts":1,"dur":1}]}' % (b"9" * MEGABYTE)
    assert kineto.parse(text, where="t").origin_ns == 1000


def test_the_command_refuses_what_is_beyond_its_limit_and_reads_it_once_that_is_raised(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(data(*(launch(at=number, correlation=number) for number in range(1000))))
    small = CliRunner().invoke(main, ["inspect", "--max-gb", "0.0001", str(path)])
    assert (small.exit_code, small.stdout) == (3, "")
    assert "more than 100,000 bytes; if you trust it, foretrace inspect reads more with --max-gb" in small.stderr
    assert CliRunner().invoke(main, ["inspect", "--max-gb", "0.01", str(path)]).exit_code == 0


SIZE = 300_000


@pytest.mark.parametrize(
    ("head", "piece", "tail"),
    [
        (b"", b"1,", b""),
        (b"", b"{,},", b""),
        (b"", b"{ph:X},", b""),
        (b"", b'{"ph":1},', b""),
        (b"", b'{"ph":"s","name":"a, "pid":1},', b""),
        (b"", b",", b""),
        (b'{"ph":"X","args":{"grid":[1', b",", b"]}},"),
        (b'{"ph":"X","args":[', b"[],", b"NaN]},"),
        (b'{"ph":"X","args":[', b"x,", b"NaN]},"),
        (b'{"ph":"X","name":"', b'"', b'"},'),
        (b'{"ph":"X","name":"', b'",', b'"},'),
        (b'{"ph":"X","name":"', rb"\q", b'"},'),
        (b'{"ph":"X","name":"', rb"\ud800", b'"},'),
        (b"", b'{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":NaN},', b""),
        (b"", b'{"ph":"i",\n "s":"t",\n "name": \n "id": 2,)"parent": 1 }},\n', b""),
        (b"", b'{"ph":"i","a":[0,' + b'{"ph":"i","b":NaN},' * 60, b""),
        (b'{"ph":"i","args":{"a":1},{"ph":"i"},', b'{"q":NaN},', b'{"q":1},'),
    ],
)
@pytest.mark.parametrize("chunk", [SIZE * 2, 1 << 14])
def test_no_text_is_read_slowly(head: bytes, piece: bytes, tail: bytes, chunk: int) -> None:
    text = HEAD + head + piece * (SIZE // len(piece)) + tail + b'{"ph":"X"}]}'
    chunks = (text[at : at + chunk] for at in range(0, len(text), chunk))
    begin = time.process_time()
    with contextlib.suppress(UnreadableInput):
        read_document(chunks, where="t")
    assert time.process_time() - begin < 4 * SIZE / MEGABYTE


def activities(number: int) -> list[dict[str, object]]:
    return [kernel(at=number, us=1, correlation=0), launch(at=number, us=1, correlation=0)]


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(activities, id="one id for all"),
        pytest.param(lambda number: [kernel(at=number, us=1, device=number)], id="a device each"),
        pytest.param(lambda number: [step(1, at=number, us=1, pid=number), launch(at=number)], id="a process each"),
        pytest.param(lambda number: [step(number, at=number, us=1), *activities(number)], id="a step each"),
        pytest.param(lambda number: [kernel(at=0, us=1)], id="all the same"),
        pytest.param(lambda number: [kernel(f"{number}" * 40, at=number, us=1)], id="a name each"),
    ],
)
def test_no_trace_is_analysed_slowly(make: Callable[[int], list[dict[str, object]]]) -> None:
    trace = kineto.parse(data(*(event for number in range(4000) for event in make(number))), where="t")
    begin = time.process_time()
    found = inspect(trace)
    assert (len(to_lines(found)), len(to_json(found))) > (0, 0)
    assert time.process_time() - begin < 1


def test_a_name_as_long_as_an_event_may_be_is_shown_short() -> None:
    begin = time.process_time()
    lines = to_lines(inspect(kineto.parse(data(kernel("\x1b" * 500_000, at=0, us=1)), where="t")))
    assert max(map(len, lines)) < 400
    assert time.process_time() - begin < 1


def test_columns_are_put_in_order_within_themselves() -> None:
    """Large traces depend on it: the columns of a trace are those that were filled, not copies."""
    columns, metadata, warnings = read_document(iter([data(*activities(3), *activities(1))]), where="t")
    filled = columns.rows()
    trace = assemble(columns, metadata, warnings)
    for column in ("start", "dur", "correlation", "external", "lane"):
        of_trace = getattr(trace, {"start": "start_ns", "dur": "dur_ns"}.get(column, column))
        assert np.shares_memory(of_trace, getattr(filled, column))
