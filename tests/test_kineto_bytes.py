"""Which files are read and which are refused: packing, cuts, foreign formats; one sentence with a place for each."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from builders import data, document, kernel, launch, op, step

from foretrace import kineto
from foretrace.errors import UnreadableInput
from foretrace.kineto import document as document_module
from foretrace.kineto import source

EVENTS = (
    step(1, at=0, us=100),
    op("aten::mm", at=5, us=20, external=1),
    launch(at=10, correlation=1),
    kernel("gemm", at=50, us=30, correlation=1),
)
WHOLE = data(*EVENTS)
PACKED = gzip.compress(WHOLE)
HALF = len(WHOLE) // 2


def refusal(content: bytes) -> str:
    with pytest.raises(UnreadableInput) as caught:
        kineto.parse(content, where="some.json")
    sentence = str(caught.value)
    assert sentence.startswith("some.json: ")
    assert len(sentence.splitlines()) == 1
    assert caught.value.remedy
    return sentence


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(WHOLE, id="plain"),
        pytest.param(b"\xef\xbb\xbf" + WHOLE, id="byte order mark"),
        pytest.param(b"\n \t" + WHOLE + b"\r\n \n", id="white space around"),
        pytest.param(PACKED, id="gzip"),
        pytest.param(gzip.compress(WHOLE[:HALF]) + gzip.compress(WHOLE[HALF:]), id="gzip in two members"),
        pytest.param(PACKED + gzip.compress(b""), id="gzip and an empty member"),
        pytest.param(PACKED + b"\0" * 512, id="gzip padded with zeros"),
        pytest.param(json.dumps(list(EVENTS)).encode(), id="bare list of events"),
        pytest.param(json.dumps(document(*EVENTS)).encode(), id="on one line"),
    ],
)
def test_a_whole_trace_reads_the_same_in_any_wrapping(content: bytes) -> None:
    read = kineto.parse(content, where="t")
    assert [read.text(row) for row in range(len(read))] == ["ProfilerStep#1", "aten::mm", "cudaLaunchKernel", "gemm"]
    assert read.warnings == ()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty (0 bytes)"),
        (b" \n", "nothing but white space"),
        (gzip.compress(b""), "is empty (gzip of 0 bytes)"),
        (PACKED[:-9], "ends early"),
        (PACKED[:2], "ends early"),
        (PACKED[:-5] + b"\xff" + PACKED[-4:], "damaged"),
        (PACKED + b"more", "damaged"),
        (gzip.compress(PACKED), "gzip packed twice"),
        (b"PK\x03\x04....", "a zip archive"),
        (b"SQLite format 3\0", "SQLite"),
        (WHOLE.decode().encode("utf-16"), "UTF-16"),
        (WHOLE.decode().encode("utf-16-le"), "UTF-16"),
        (b"\x7fELF\x02", "begins with '\\x7fELF\\x02'"),
        (b"42", "begins with '42'"),
        (b'"text"', "is no trace"),
        (b"{}", "has no traceEvents"),
        (b'{"nodes": [], "schema": 1}', "its members: nodes, schema"),
        (b'{"traceEvents": null}', "at byte 16 that is no list"),
        (b'{"traceEvents": {"ph": "X"}}', "that is no list"),
        (b"[[1, 2], [3, 4]]", "is a list of lists"),
        (b"[1, 2]", "none that is an event"),
        (b'[{"a": 1}]', "none that is an event"),
        (b"[" * 100_000, "nested deeper"),
    ],
)
def test_what_is_no_trace_is_refused_with_the_reason(content: bytes, problem: str) -> None:
    assert problem in refusal(content)


def test_a_trace_cut_anywhere_is_refused_and_never_half_read() -> None:
    for size in range(1, len(WHOLE)):
        assert str(size) in refusal(WHOLE[:size])


def test_a_cut_tells_its_byte_and_what_it_cut() -> None:
    cut = WHOLE.index(b"gemm") + 2
    sentence = refusal(WHOLE[:cut])
    assert f"ends at byte {cut}, inside a string of traceEvents, after 3 whole events" in sentence


@pytest.mark.parametrize("between", [b"", b"\n", b"}  "])
def test_a_second_document_in_the_file_is_no_part_of_the_first(between: bytes) -> None:
    assert f"extra data after the JSON document, which ends at byte {len(WHOLE)}" in refusal(WHOLE + between + WHOLE)


def test_a_gzip_bomb_is_stopped_long_before_it_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "CHUNK_BYTES", 1 << 10)
    bomb = gzip.compress(b'{"traceEvents": [' + b" " * (8 << 20))
    assert "which no trace does" in refusal(bomb)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="no such file"):
        kineto.read(tmp_path / "missing.json")
    with pytest.raises(UnreadableInput, match="is a folder"):
        kineto.read(tmp_path)


def test_a_file_is_judged_by_content_and_not_by_name(tmp_path: Path) -> None:
    for name, content in (("packed.json", PACKED), ("plain.json.gz", WHOLE), ("x.pt.trace.json", WHOLE)):
        (tmp_path / name).write_bytes(content)
        assert len(kineto.read(tmp_path / name)) == len(EVENTS)


def test_an_event_longer_than_a_block_is_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_module, "BLOCK_BYTES", 1 << 10)
    long = kernel("k" * 20_000, at=200, us=1)
    read = kineto.parse(data(*EVENTS, long, kernel("last", at=300, us=1)), where="t")
    assert [len(read.text(row)) for row in (4, 5)] == [20_000, 4]


@pytest.mark.parametrize("snapshot", [b"[%b0]" % (b'"]", ' * 50), b'"%b"' % (b"x" * 200), b"[%b0]" % (b"NaN, " * 50)])
def test_a_long_member_is_stepped_over(snapshot: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_module, "MOST_KEPT_BYTES", 100)
    read = kineto.parse(b'{"snapshot": %b, "traceEvents": [], "traceName": "x"}' % snapshot, where="t")
    assert read.metadata == {"traceName": "x"}
    assert read.warnings[-1] == "a member too long to be kept, 'snapshot', at byte 13"
