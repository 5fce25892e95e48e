"""Any bytes end in an answer or in one sentence: what holds of every trace and every name, and a search for exceptions.

A text that begins as a trace does is parsed, inspected and written in every form; any other is read as a kernel's name.
No other exception than a `ForetraceError` leaves, nothing takes over 2 s or 500 MB for at most 1 MB of input.

    python -m venv fuzz && fuzz/bin/pip install atheris msgspec numpy
    PYTHONPATH=generator:tests fuzz/bin/python tests/fuzz/target.py -max_total_time=600 -max_len=1000000 FOUND

Atheris follows the coverage of the package, with the mutations of `mutation` and its own; `FOUND` is a folder for the
inputs that reach something new. All options of libFuzzer work. A text that breaks a rule is left as `crash-*`;

    PYTHONPATH=generator:tests python tests/fuzz/target.py --check FILE...

holds it against the rules alone, which needs no atheris and is not slowed down by it. `tests/test_fuzz.py` holds some
hundred mutations against them, always the same ones.
"""

from __future__ import annotations

import csv
import io
import json
import resource
import sys
import time
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

CORPUS = Path(__file__).parent / "corpus"
SECONDS = 2.0
SLOWED_DOWN = 4.0  # by the coverage that atheris counts
MEGABYTES = 500.0
BEGINS_A_TRACE = (b"{", b"[", b"\x1f\x8b", b"\xef\xbb\xbf", b" ", b"\n")


def seeds() -> list[bytes]:
    """The texts of the corpus, by the names of their files."""
    return [path.read_bytes() for path in sorted(CORPUS.iterdir())]


def hold(text: bytes, *, seconds: float = SECONDS) -> bool:
    """Assert the rules for one input; True if it was read, False if it was refused."""
    before, begin = _peak_megabytes(), time.process_time()
    read = _read_trace(text) if text.startswith(BEGINS_A_TRACE) else _read_name(text.decode(errors="replace"))
    took, grown = time.process_time() - begin, _peak_megabytes() - before
    assert took <= seconds, f"{took:.1f} s for {len(text)} bytes"
    assert grown <= MEGABYTES, f"{grown:.0f} MB for {len(text)} bytes"
    return read


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _read_trace(text: bytes) -> bool:
    from foretrace import kineto
    from foretrace.analysis import inspection
    from foretrace.errors import ForetraceError

    refusal = None
    try:
        trace = kineto.parse(text, where="input")
    except ForetraceError as error:
        refusal = error
    if refusal is not None:
        assert len(str(refusal).splitlines()) == 1
        assert refusal.remedy
        return False
    found = inspection.inspect(trace)
    assert json.loads(inspection.to_json(found))["activities"]["kernel"] == found.activities.kernel
    assert all(line.isprintable() for line in inspection.to_lines(found))
    assert len({len(row) for row in csv.reader(io.StringIO(inspection.to_csv(found)))}) == 1
    return True


def _read_name(name: str) -> bool:
    from foretrace import grammars

    grammars.decode.cache_clear()
    grammars.tokens.cache_clear()
    assert grammars.decode(name).name == name
    assert "".join(token.text for token in grammars.tokens(name)) == name
    assert len(grammars.label(name)) <= 40
    return True


def _run(arguments: list[str]) -> None:
    import atheris
    from fuzz.mutation import mutate

    with atheris.instrument_imports(include=["foretrace"]):
        import foretrace.analysis.inspection
        import foretrace.grammars
        import foretrace.kineto  # noqa: F401 - imported to be instrumented

    known, counts = seeds(), {"read": 0, "refused": 0}

    def one_input(text: bytes) -> None:
        counts["read" if hold(text, seconds=SECONDS * SLOWED_DOWN) else "refused"] += 1

    def custom_mutator(text: bytes, most: int, seed: int) -> bytes:
        random = Random(seed)  # noqa: S311 - for damage, not for secrets
        if random.random() < 0.25:
            return bytes(atheris.Mutate(text, most))
        return mutate([bytes(text), *known] if random.random() < 0.2 else [bytes(text)], random, most=most)

    atheris.Setup([sys.argv[0], *arguments, str(CORPUS)], one_input, custom_mutator=custom_mutator)
    atheris.Fuzz()


def _check(paths: list[str]) -> Iterator[str]:
    for path in paths:
        try:
            yield f"{path}: {'read' if hold(Path(path).read_bytes()) else 'refused'}"
        except Exception as error:  # noqa: BLE001 - any is a finding
            yield f"{path}: {type(error).__name__}: {error}"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        sys.stdout.writelines(f"{line}\n" for line in _check(sys.argv[2:]))
    else:
        _run(sys.argv[1:])
