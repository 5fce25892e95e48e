"""Damage done to texts: a seed and a random source come in, a text that profilers never wrote goes out.

Mutations know the tokens of JSON and of kernel names, so that most of what they make goes deeper than the first byte.
"""

from __future__ import annotations

import gzip
import re
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|\w+|\s+|::|.', re.DOTALL)
GZIP = b"\x1f\x8b"
REPEATED = (1, 1, 1, 2, 2, 5, 20, 100, 1000)  # times; rarely as often as there is room for
STRANGE = (
    b"", b"null", b"true", b"NaN", b"-Infinity", b"inf", b"N/A", b"...", b"-1", b"0", b"-0.0", b"1e999", b"1e-999",
    b"2147483648", b"9223372036854775807", b"18446744073709551616", b"4503599627370496.5", b"1716954500593638.123",
    b"9" * 400, b'""', b'"\\u0000"', b'"\\ud800"', b'"\x01"', b'"\xff\xfe"', b'"a"b"', b'"7"', b'"stream 7"',
    b'"ProfilerStep#1"', b'"ProfilerStep#999999999999999999"', b'"kernel"', b'"gpu_memcpy"', b'"cuda_runtime"',
    b'"cuda_driver"', b'"cpu_op"', b'"Operator"', b'"python_function"', b'"user_annotation"', b'"X"', b'"M"',
    b'"CPU functions"', b'"cudaGraphLaunch"', b'"traceEvents"', b'"deviceProperties"', b'"baseTimeNanoseconds"',
    b'"args"', b'"correlation"', b'"External id"', b'"grid"', b'"device"', b'"id"', b'"ts"', b'"dur"', b'"pid"',
    b"[]", b"{}", b"[[]]", b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"\xef\xbb\xbf", b"\0", b" ", b"<", b">",
    b"(", b")", b"::", b"_Z", b"N", b"E", b"I", b"S_", b"T_", b"Lb1", b"{lambda(int)#1}", b"(anonymous namespace)::",
    b"operator()", b"const", b"64x64x8", b"bf16", b"_", b"99999999999999999999",
)  # fmt: skip


def mutate(seeds: Sequence[bytes], random: Random, *, most: int) -> bytes:
    """One of the seeds, damaged in one to five ways, of at most `most` bytes."""
    text = random.choice(seeds)
    packed = text.startswith(GZIP) and random.random() < 0.9
    if packed:
        text = _unpacked(text, most)
    for _ in range(random.randint(1, 5)):
        text = _damaged(text, seeds, random, most)[:most]
    if packed or random.random() < 0.02:
        cut = random.randrange(len(text) + 1)
        text = b"".join(gzip.compress(part, compresslevel=1, mtime=0) for part in (text[:cut], text[cut:]))
        if random.random() < 0.3:
            text = _with_another_byte(text, random)
    return text[:most]


def _damaged(text: bytes, seeds: Sequence[bytes], random: Random, most: int) -> bytes:
    tokens = TOKEN.findall(text[: 1 << 16]) or [b""]
    rest = text[1 << 16 :]
    at = random.randrange(len(tokens))
    until = min(len(tokens), at + random.choice((1, 1, 2, 8, 40)))
    span = tokens[at:until]
    kind = random.randrange(9)
    if kind == 0:
        tokens[at:until] = []
    elif kind == 1:
        tokens[at] = random.choice(STRANGE)
    elif kind == 2:
        tokens.insert(at, random.choice(STRANGE))
    elif kind == 3:
        other = random.randrange(len(tokens))
        tokens[at], tokens[other] = tokens[other], tokens[at]
    elif kind == 4:
        size = max(1, len(b"".join(span)))
        times = random.choice(REPEATED) if random.random() < 0.98 else most
        tokens[at:at] = span * min(times, max(1, (most - len(text)) // size))
    elif kind == 5:
        donor = TOKEN.findall(random.choice(seeds)[: 1 << 14]) or [b""]
        begin = random.randrange(len(donor))
        tokens[at:until] = donor[begin : begin + random.choice((1, 5, 60))]
    elif kind == 6:
        return _with_another_byte(text, random)
    elif kind == 7 and random.random() < 0.3:
        return text[: random.randrange(len(text) + 1)]
    else:
        same = [place for place, token in enumerate(tokens) if token == tokens[at]]
        value = random.choice(STRANGE)
        for place in same:
            tokens[place] = value
    return b"".join(tokens) + rest


def _with_another_byte(text: bytes, random: Random) -> bytes:
    at = random.randrange(len(text) + 1)
    return text[:at] + bytes([random.randrange(256)]) + text[at + random.randrange(2) :]


def _unpacked(text: bytes, most: int) -> bytes:
    """What comes out of the first member, as far as it is sound."""
    try:
        return zlib.decompressobj(wbits=31).decompress(text, most)
    except zlib.error:
        return text
