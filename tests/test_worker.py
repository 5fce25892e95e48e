"""The program that runs workloads, in parts: how it times, what it writes of a trace, and how it reads an exception."""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from foretrace.record import Ceilings, Environment
from foretrace.scenario import Variant
from foretrace.wire import Ended, Hello, Job, Look, Trial

if importlib.util.find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)

from foretrace.errors import CannotMeasure
from foretrace.worker import child, loop, machine, nvml, roofs, window


class Clock:
    """A device on which time passes only as told: a call keeps the host for a while and the device for longer."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, host_us: float, device_us: float) -> None:
        self.now = self.idle = 0.0
        self.host_us, self.device_us = host_us, device_us
        self.longest_queue = self.queue = self.calls = 0
        monkeypatch.setattr(loop.time, "perf_counter_ns", lambda: int(self.now * 1e3))

    def step(self) -> None:
        self.calls += 1
        self.queue += 1
        self.longest_queue = max(self.queue, self.longest_queue)
        self.now += self.host_us
        self.idle = max(self.idle, self.now) + self.device_us

    def synchronize(self) -> None:
        self.now = self.idle = max(self.now, self.idle)
        self.queue = 0

    def mark(self) -> Any:
        event = SimpleNamespace()
        event.record = lambda: setattr(event, "at", max(self.now, self.idle))
        return event

    def elapsed_us(self, begin: Any, end: Any) -> float | None:
        return float(end.at - begin.at)


def test_a_step_that_the_host_limits_is_told_from_one_that_the_device_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for host, device, step in ((20, 5, 20), (20, 300, 300)):
        clock = Clock(monkeypatch, host_us=host, device_us=device)
        samples, steps = loop.sample(clock.step, clock)
        assert set(samples) == {"step_us", "dispatch_us", "event_us", "latency_us"}
        assert samples["dispatch_us"] == pytest.approx([host] * 20)
        assert samples["latency_us"] == pytest.approx([host + device] * 20)
        assert samples["step_us"] == pytest.approx([step] * 20, rel=0.07)
        assert samples["event_us"] == pytest.approx([step] * 20, rel=0.07)
        assert 1 < steps <= 100


@pytest.mark.parametrize(
    ("us", "steps", "blocks"),
    [(1, 100, 20), (49, 100, 20), (1_000, 5, 20), (4_000, 2, 20), (8_000, 1, 20), (20_000, 1, 10), (1_000_000, 1, 6)],
)
def test_blocks_are_long_enough_to_time_and_short_enough_to_wait_for(
    monkeypatch: pytest.MonkeyPatch, us: float, steps: int, blocks: int
) -> None:
    clock = Clock(monkeypatch, host_us=us / 2, device_us=us / 2)
    samples, found = loop.sample(clock.step, clock)
    assert (found, len(samples["step_us"]), len(samples["latency_us"])) == (steps, blocks, blocks)
    assert clock.longest_queue <= 100  # a launch queue holds about a thousand; a full one would make calls wait


class Profiler:
    """Exports what it is given."""

    def __init__(self, text: str) -> None:
        self.text = text

    def export_chrome_trace(self, path: str) -> None:
        Path(path).write_text(self.text.replace("PATH", path))


def exported(text: str, tmp_path: Path, private: dict[str, str]) -> bytes:
    path = tmp_path / "trace.json.gz"
    window.export(Profiler(text), path, title="slug/variant", private=private)
    assert [file.name for file in tmp_path.iterdir()] == ["trace.json.gz"]
    return path.read_bytes()


def test_a_trace_is_published_without_private_words(tmp_path: Path) -> None:
    text = json.dumps({"host_name": 'a"b', "traceEvents": [{"name": "/home/ada/x.py: f"}], "traceName": "PATH"})
    found = gzip.decompress(exported(text, tmp_path, {"/home/ada": "~"}))
    assert json.loads(found) == {
        "host_name": "<host>",
        "traceEvents": [{"name": "~/x.py: f"}],
        "traceName": "slug/variant",
    }
    kept = gzip.decompress(exported(text, tmp_path, {}))
    assert json.loads(kept) == json.loads(text.replace("PATH", "slug/variant"))


def test_equal_traces_become_equal_bytes(tmp_path: Path) -> None:
    assert exported("{}", tmp_path, {}) == exported("{}", tmp_path, {})


def caused(error: BaseException, cause: BaseException) -> BaseException:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "reason", "message"),
    [
        (ValueError("one\ntwo"), "error", "ValueError: one"),
        (ValueError(), "error", "ValueError"),
        (ValueError("it raised:\n  TypeError: y\n"), "error", "ValueError: it raised: TypeError: y"),
        (MemoryError(), "out-of-memory", "MemoryError"),
        (RuntimeError("CUDA error: out of memory\nhint"), "out-of-memory", "RuntimeError: CUDA error: out of memory"),
        (RuntimeError("CUBLAS_STATUS_ALLOC_FAILED"), "out-of-memory", "RuntimeError: CUBLAS_STATUS_ALLOC_FAILED"),
        (caused(RuntimeError("wrapped"), MemoryError("inner")), "out-of-memory", "RuntimeError: wrapped"),
        (CannotMeasure("no device", remedy="plug one in"), "error", "no device; plug one in."),
    ],
)
def test_an_exception_is_told_in_a_line_with_its_reason(error: BaseException, reason: str, message: str) -> None:
    assert (child._reason(error), child._message(error)) == (reason, message)


@pytest.mark.parametrize(("number", "said"), [(91900, "9.19.0"), (8902, "8.9.2"), (None, "")])
def test_cudnn_versions_read_as_they_are_published(number: int | None, said: str) -> None:
    assert machine._dotted(number) == said


def test_without_the_management_library_the_device_state_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvml, "pynvml", None)
    nvml._device.cache_clear()
    assert (nvml.state(), nvml.max_mhz(), nvml.power_limit_w()) == (None, (0, 0), 0)


class Library:
    """A management library that knows some things and not others."""

    NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU = 1, 2, 0

    class NVMLError(Exception):
        pass

    def nvmlDeviceGetClockInfo(self, device: str, clock: int) -> int:  # noqa: N802
        return {1: 1980, 2: 3201}[clock]

    def nvmlDeviceGetTemperature(self, device: str, sensor: int) -> int:  # noqa: N802
        raise self.NVMLError

    def nvmlDeviceGetPowerUsage(self, device: str) -> int:  # noqa: N802
        return 123_456

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, device: str) -> int:  # noqa: N802
        return 0x1 | 0x4 | 0x40


def test_the_device_state_names_active_throttle_reasons_other_than_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvml, "pynvml", Library())
    monkeypatch.setattr(nvml, "_device", lambda: "handle")
    state = nvml.state()
    assert state is not None
    assert (state.sm_mhz, state.memory_mhz, state.power_w, state.temperature_c) == (1980, 3201, 123.456, None)
    assert state.throttle == ("software power cap", "hardware thermal slowdown")


def test_a_cpu_has_no_ceilings_and_says_so() -> None:
    assert roofs.measure("cpu") == Ceilings(tflops={}, copy_gbps=None, how="not measured on a CPU")


@pytest.mark.parametrize(("capability", "extra"), [((8, 0), set()), ((8, 9), {"fp8"}), ((9, 0), {"fp8"})])
def test_fp8_has_a_ceiling_where_the_hardware_multiplies_it(
    monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int], extra: set[str]
) -> None:
    monkeypatch.setattr(roofs.torch.cuda, "get_device_capability", lambda: capability)
    for name in ("_tflops", "_fp8_tflops", "_copy_gbps"):
        monkeypatch.setattr(roofs, name, lambda *_: 1.0)
    assert set(roofs.measure("cuda").tflops) == {"bf16", "fp16", "tf32", "fp32"} | extra


@contextmanager
def server(*preload: str) -> Iterator[subprocess.Popen[bytes]]:
    """The program, ready for jobs; a module that cannot be imported is no obstacle."""
    command = [sys.executable, "-m", "foretrace.worker", "no_such_module", *preload]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert msgspec.json.decode(program.stdout.readline(), type=Hello) == Hello()
        yield program


def ask(program: subprocess.Popen[bytes], job: Job) -> None:
    program.stdin.write(msgspec.json.encode(job) + b"\n")
    program.stdin.flush()


def test_the_server_answers_a_line_with_a_line_and_the_rest_is_in_the_folder(tmp_path: Path) -> None:
    with server() as program:
        ask(program, Job(folder=str(tmp_path), limit_s=60, task=Look(device="cpu")))
        assert msgspec.json.decode(program.stdout.readline(), type=Ended) == Ended(code=0)
    found = msgspec.json.decode((tmp_path / "answer.json").read_bytes(), type=Environment)
    assert (found.device, found.gpu) == ("cpu", None)
    assert found.cpu_model


def test_a_job_is_given_up_when_the_one_who_asked_goes_away(tmp_path: Path) -> None:
    workload = tmp_path / "scenarios" / "slug" / "workload.py"
    workload.parent.mkdir(parents=True)
    workload.write_text(
        "import os, time\n"
        "from pathlib import Path\n"
        "def build(variant, device):\n"
        "    Path('pid').write_text(str(os.getpid()))\n"
        "    Path('pid').rename('started')\n"
        "    time.sleep(1000)\n"
    )
    task = Trial(
        device="cpu",
        workload=str(workload),
        variant=Variant(name="v", params={}),
        label="step",
        title="slug/v",
    )
    with server() as program:
        ask(program, Job(folder=str(tmp_path), limit_s=1000, task=task))
        deadline = time.monotonic() + 60
        while not (tmp_path / "started").exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        program.stdin.close()
        assert program.wait(30) == 0
    assert not Path("/proc", (tmp_path / "started").read_text()).exists()


def runs(pid: int) -> bool:
    """Whether a process is there; one that is dead is listed until its parent has looked at it."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_a_process_stands_ready_after_a_measurement_and_is_replaced_where_it_died(tmp_path: Path) -> None:
    workload = tmp_path / "scenarios" / "slug" / "workload.py"
    workload.parent.mkdir(parents=True)
    workload.write_text(
        "import os\n"
        "from pathlib import Path\n"
        "def build(variant, device):\n"
        "    Path('pid').write_text(str(os.getpid()))\n"
        "    return int\n"
    )
    task = Trial(device="cpu", workload=str(workload), variant=Variant(name="v", params={}), label="s", title="t")
    ran, ready = [], []
    with server() as program:
        for number in range(3):
            folder = tmp_path / f"{number}"
            folder.mkdir()
            ask(program, Job(folder=str(folder), limit_s=60, task=task))
            assert msgspec.json.decode(program.stdout.readline(), type=Ended) == Ended(code=0)
            ran.append(int((folder / "pid").read_text()))
            (spare,) = children(program.pid)
            ready.append(spare)
            if number == 1:
                os.kill(spare, signal.SIGKILL)
        assert ran[1] == ready[0]
        assert ran[2] not in ready
        program.stdin.close()
        assert program.wait(30) == 0
    deadline = time.monotonic() + 30
    while runs(ready[-1]):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_no_process_stands_ready_after_a_job_that_measured_nothing(tmp_path: Path) -> None:
    with server() as program:
        ask(program, Job(folder=str(tmp_path), limit_s=60, task=Look(device="cpu")))
        assert msgspec.json.decode(program.stdout.readline(), type=Ended) == Ended(code=0)
        assert children(program.pid) == []


def test_what_is_preloaded_is_there_in_every_process(tmp_path: Path) -> None:
    workload = tmp_path / "scenarios" / "slug" / "workload.py"
    workload.parent.mkdir(parents=True)
    workload.write_text(
        "import sys\n"
        "from pathlib import Path\n"
        "def build(variant, device):\n"
        "    Path('loaded').write_text(str('colorsys' in sys.modules))\n"
        "    return int\n"
    )
    task = Trial(device="cpu", workload=str(workload), variant=Variant(name="v", params={}), label="s", title="t")
    for preload, there in (("colorsys", "True"), ("this_raises.at_import", "False")):
        with server(preload) as program:
            ask(program, Job(folder=str(tmp_path), limit_s=60, task=task))
            assert msgspec.json.decode(program.stdout.readline(), type=Ended) == Ended(code=0)
        assert (tmp_path / "loaded").read_text() == there
