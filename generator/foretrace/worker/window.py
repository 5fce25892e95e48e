"""The profiled window: a step goes in, the profiler's trace of a few steps comes out, fit to be published."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from torch.profiler import profile, record_function, schedule

from foretrace.privacy import nameless, scrub
from foretrace.scenario import Protocol
from foretrace.worker.device import Device

_COMPRESSION = 9


def record(step: Callable[[], object], *, device: Device, protocol: Protocol, label: str) -> Any:
    """Run the protocol's steps under the profiler, each inside `label`, and return the profiler."""
    calendar = schedule(wait=protocol.wait, warmup=protocol.warmup, active=protocol.active, repeat=1)
    with profile(activities=list(device.activities), schedule=calendar) as profiler:
        for _ in range(protocol.wait + protocol.warmup + protocol.active):
            with record_function(label):
                step()
            profiler.step()
        device.synchronize()
    return profiler


def export(profiler: Any, path: Path, *, title: str, private: Mapping[str, str]) -> None:
    """Write the trace to `path`, gzipped, under `title`, with every private word replaced."""
    raw = path.with_name("trace.json")
    profiler.export_chrome_trace(str(raw))
    text = raw.read_bytes().decode("utf-8", "surrogateescape").replace(str(raw), title)
    raw.unlink()
    if private:
        text = nameless(text)
    text = scrub(text, {word: instead for word, instead in private.items() if word in text})
    path.write_bytes(gzip.compress(text.encode("utf-8", "surrogateescape"), _COMPRESSION, mtime=0))
