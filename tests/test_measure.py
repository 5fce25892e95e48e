"""Measuring on a CPU: whatever a variant does to its process is recorded, and nothing of it reaches another variant."""

from __future__ import annotations

import contextlib
import gzip
import importlib.util
import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from foretrace import measure, record
from foretrace.errors import CannotMeasure, WrongUsage
from foretrace.measure import session
from foretrace.project import Project
from foretrace.record import Options, Outcome, Record, Run

HOST, USER = "planted-host-7", "ada_lovelace"
OPTIONS = Options(rounds=1, time_limit_s=6)
NEEDS_TORCH = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")

DECLARATION = """
    from foretrace import Protocol, Scenario, grid, predict

    scenario = Scenario(
        title="Trials",
        question="What becomes of a variant that {question}?",
        label="trial",
        variants=grid(does="cold", protocol=Protocol(warm_calls=0)) + grid(does={does!r}),
        predictions=(predict.count("kernel", 1, because="it multiplies once"),),
    )
"""
WORKLOAD = """
    import os, signal, subprocess, sys, time
    from pathlib import Path

    import torch
    from torch.profiler import record_function

    from foretrace.errors import CannotMeasure

    HERE = Path(__file__).parent
    PRIVATE = f"{Path.home()}/weights of ada_lovelace on planted-host-7"

    def leave_behind():
        left = subprocess.Popen(["sleep", "98765"], start_new_session=True)
        with (HERE / "left.pids").open("a") as file:
            print(left.pid, file=file)

    def runs(pid):
        try:  # a dead process is listed until the init process has looked at it
            return "\\nState:\\tZ" not in Path("/proc", pid, "status").read_text()
        except OSError:
            return False

    def alone():
        left = [pid for pid in (HERE / "left.pids").read_text().split() if runs(pid)]
        if left:
            raise RuntimeError("another variant left something behind")

    def build(variant, device):
        matrix = torch.ones(8, 8, device=device)
        does = variant.params["does"]
        if does in ACTS:
            ACTS[does]()
        calls = []

        def step():
            if len(calls) < 12:
                calls.append("profiled" if torch.autograd._profiler_enabled() else "plain")
                (HERE / f"{variant.name}.calls").write_text(" ".join(calls))
            with record_function(PRIVATE if does == "private" else "product"):
                return matrix @ matrix

        return step

    def oom():
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9.00 GiB.")

    def error():
        print(PRIVATE)
        raise ValueError(f"no such file: {PRIVATE}")

    def lacking():
        raise CannotMeasure("no such unit in this device", remedy="use another device")

    def rubbish():
        Path("answer.json").write_text('{"samples": 7')
        os._exit(0)

    def abyss():
        Path("answer.json").write_text('{"round": ' + "[" * 100_000)
        os._exit(0)

    def until_told():
        leave_behind()
        if not (HERE / "go").exists():
            time.sleep(1000)

    def once_told():
        if not (HERE / "go").exists():
            raise RuntimeError("not yet")

    def quit():
        sys.exit(3)

    ACTS = {
        "abort": os.abort,
        "error": error,
        "lacking": lacking,
        "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
        "hang": until_told,
        "flaky": once_told,
        "oom": oom,
        "rubbish": rubbish,
        "abyss": abyss,
        "vanish": lambda: os._exit(0),
        "quit": quit,
        "next": alone,
        "last": alone,
        "fell_server": lambda: (leave_behind(), os.kill(os.getppid(), signal.SIGKILL), time.sleep(1000)),
    }
"""
ALL = (
    "good",
    "private",
    "abort",
    "error",
    "lacking",
    "kill",
    "hang",
    "next",
    "oom",
    "rubbish",
    "abyss",
    "vanish",
    "quit",
    "fell_server",
    "last",
)


def project(root: Path, *does: str) -> Project:
    folder = root / "scenarios" / "trials"
    folder.mkdir(parents=True)
    (root / "mkdocs.yml").touch()
    (folder / "scenario.py").write_text(textwrap.dedent(DECLARATION).format(question="does this", does=does))
    (folder / "workload.py").write_text(textwrap.dedent(WORKLOAD))
    return Project(root)


class Log:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def started(self, run: Run, total: int) -> None:
        self.said.append(f"started {total}")

    def variant_started(self, slug: str, variant: str) -> None:
        self.said.append(f"{slug}/{variant} …")

    def variant_done(self, slug: str, outcome: Outcome) -> None:
        self.said.append(f"{slug}/{outcome.variant.name} {outcome.failure.reason if outcome.failure else 'ok'}")

    def note(self, text: str) -> None:
        self.said.append(text)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> pytest.MonkeyPatch:
    """A machine whose names are known and unlike anything else."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home") / USER))
        for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
            patch.setenv(variable, USER)
        patch.setenv("OMP_NUM_THREADS", "1")
        patch.setattr("foretrace.measure.bench.PRELOADED", ())  # nothing here compiles
        patch.setattr("socket.gethostname", lambda: HOST)
        patch.setattr("socket.getfqdn", lambda: f"{HOST}.example.org")
        yield patch


@pytest.fixture(scope="module")
def log() -> Log:
    return Log()


@pytest.fixture(scope="module")
def measured(machine: pytest.MonkeyPatch, log: Log, tmp_path_factory: pytest.TempPathFactory) -> Record:
    """One run with a variant for everything that can go wrong."""
    root = project(tmp_path_factory.mktemp("project"), *ALL)
    command = f"foretrace --project {root.root} run"
    folder = measure.run(root, ["trials"], OPTIONS, device="cpu", command=command, progress=log)
    return record.load(folder)


def outcome(measured: Record, name: str) -> Outcome:
    return measured.outcomes["trials"][name]


@NEEDS_TORCH
@pytest.mark.parametrize(
    ("name", "reason", "message"),
    [
        ("abort", "crashed", "crashed with SIGABRT"),
        ("error", "error", "ValueError: no such file: ~/weights of <user> on <host>"),
        ("lacking", "unavailable", "no such unit in this device; use another device."),
        ("kill", "killed", "was killed by SIGKILL"),
        ("hang", "time-limit", "was stopped at the time limit of 6 s"),
        ("oom", "out-of-memory", "OutOfMemoryError: CUDA out of memory. Tried to allocate 9.00 GiB."),
        ("rubbish", "bad-result", "left a result that cannot be read"),
        ("abyss", "bad-result", "left a result that cannot be read"),
        ("vanish", "bad-result", "ended as if all were well, and left no result"),
        ("quit", "crashed", "ended with exit code 3"),
        ("fell_server", "crashed", "took the process that started it down with it"),
    ],
)
def test_a_variant_that_goes_wrong_is_recorded_with_its_reason(
    measured: Record, name: str, reason: str, message: str
) -> None:
    failure = outcome(measured, name).failure
    assert failure is not None
    assert (failure.reason, failure.message[: len(message)]) == (reason, message)
    assert outcome(measured, name).trace is None


@NEEDS_TORCH
@pytest.mark.parametrize("name", ["cold", "good", "private", "next", "last"])
def test_the_other_variants_are_measured_as_if_nothing_had_happened(measured: Record, name: str) -> None:
    found = outcome(measured, name)
    assert found.failure is None
    assert set(found.samples) == {"step_us", "dispatch_us", "latency_us"}
    assert all(min(samples) > 0 for (samples,) in found.samples.values())
    trace = gzip.decompress(measured.trace("trials", found.trace)).decode()
    assert trace.count('"ProfilerStep#') == found.variant.protocol.active
    assert trace.count('"trial"') == found.variant.protocol.active


@NEEDS_TORCH
def test_the_end_of_standard_error_says_where_it_went_wrong(measured: Record) -> None:
    for name, place in (("abort", "in build"), ("error", "in error"), ("hang", "in until_told"), ("oom", "in oom")):
        failure = outcome(measured, name).failure
        assert failure is not None
        assert place in failure.stderr
        assert "<workspace>/scenarios/trials/workload.py" in failure.stderr
    failure = outcome(measured, "error").failure
    assert failure is not None
    assert failure.stderr.startswith('~/weights of <user> on <host>\nTraceback (most recent call last):\n  File "<work')


@NEEDS_TORCH
def test_what_a_cpu_cannot_tell_is_named_with_the_reason(measured: Record) -> None:
    assert set(outcome(measured, "good").unavailable) == {"activities", "event_us", "peak_memory_bytes"}
    assert outcome(measured, "good").peak_memory_bytes is None
    assert measured.run.ceilings.how == "not measured on a CPU"
    assert measured.run.environment.gpu is None


@NEEDS_TORCH
def test_a_cold_variant_is_recorded_before_it_is_timed_and_a_warm_one_after(measured: Record) -> None:
    scenario = measured.folder.parents[2] / "scenarios" / "trials"
    assert (scenario / "cold.calls").read_text().startswith("plain plain profiled profiled profiled plain plain")
    assert "profiled" not in (scenario / "good.calls").read_text()


@NEEDS_TORCH
def test_the_seconds_of_a_variant_say_where_its_time_went(measured: Record) -> None:
    (warm,), (cold,) = outcome(measured, "good").rounds, outcome(measured, "cold").rounds
    assert {"start", "device", "build", "first", "warm", "loop", "profile", "export", "total", "wall"} <= set(
        warm.seconds
    )
    assert not {"first", "warm"} & set(cold.seconds)
    spent = warm.overhead_s
    assert spent is not None
    own = sum(warm.seconds[phase] for phase in ("build", "first", "warm", "loop", "profile"))
    assert spent == pytest.approx(warm.seconds["wall"] - own)
    assert 0 < spent < warm.seconds["wall"]
    assert record.Round(started_utc="", samples={}).overhead_s is None


@NEEDS_TORCH
def test_names_of_machine_user_and_folders_are_in_no_file_of_the_record(measured: Record) -> None:
    private = (HOST, USER, str(measured.folder.parents[2]), str(Path(record.__file__).parent))
    for path in measured.folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
            assert not [word for word in private if word in text], path.name
    assert measured.run.command == "foretrace --project <workspace> run"
    trace = gzip.decompress(measured.trace("trials", outcome(measured, "private").trace)).decode()
    assert '"~/weights of <user> on <host>"' in trace
    assert '"traceName": "trials/private"' in trace


@NEEDS_TORCH
def test_no_process_outlives_the_run(measured: Record) -> None:
    assert started_here() == []


@NEEDS_TORCH
def test_progress_is_told_of_every_variant_in_order(measured: Record, log: Log) -> None:
    planned = [variant.name for variant in measured.declarations["trials"].scenario.planned()]
    assert [line.split()[0] for line in log.said if line.endswith("…")] == [f"trials/{name}" for name in planned]
    assert log.said[0] == f"started {len(planned)}"
    assert log.said[1:3] == ["trials/cold …", "trials/cold ok"]


@NEEDS_TORCH
def test_a_run_knows_when_and_with_what_it_was_made(measured: Record) -> None:
    run = measured.run
    assert run.id.endswith(tuple("0123456789abcdef"))
    assert "-cpu-" in run.id
    assert run.started_utc <= outcome(measured, "cold").rounds[0].started_utc <= run.finished_utc
    assert {"torch", "python", "os", "numpy", "foretrace"} <= set(run.environment.versions)
    assert run.environment.cpu_count >= 1


@NEEDS_TORCH
def test_an_interrupted_run_can_be_read_and_resumed(machine: pytest.MonkeyPatch, tmp_path: Path) -> None:
    root = project(tmp_path, "flaky", "good", "hang")
    folder, program = root.runs / "cut-short", interruptible(root, "cut-short")
    wait_for(folder / "trials" / "good.json", program)
    time.sleep(0.5)  # well inside the variant that hangs
    program.send_signal(signal.SIGINT)
    said, _ = program.communicate(timeout=30)
    assert "foretrace run --resume cut-short" in said
    assert started_here() == []

    before = record.load(folder)
    assert {name: found.failure is None for name, found in before.outcomes["trials"].items()} == {
        "cold": True,
        "flaky": False,
        "good": True,
    }
    assert before.run.finished_utc == ""

    (root.scenarios / "trials" / "go").touch()
    log = Log()
    measure.resume(root, folder, time_limit_s=30, progress=log)
    after = record.load(folder)
    assert log.said[0] == "started 2"
    assert [line for line in log.said if line.endswith("ok")] == [f"trials/{name} ok" for name in ("flaky", "hang")]
    for name in ("cold", "good"):
        assert after.outcomes["trials"][name] == before.outcomes["trials"][name]
    assert after.run.finished_utc != ""


@NEEDS_TORCH
def test_two_runs_at_once_do_not_mix(machine: pytest.MonkeyPatch, tmp_path: Path) -> None:
    root = project(tmp_path, "good", "private")

    def one(name: str) -> Path:
        options = msgspec.structs.replace(OPTIONS, keep_paths=name == "open", time_limit_s=60)
        return measure.run(root, ["trials"], options, device="cpu", command="", name=name)

    with ThreadPoolExecutor() as pool:
        folders = list(pool.map(one, ("closed", "open")))
    for folder in folders:
        assert {name for name, found in record.load(folder).outcomes["trials"].items() if found.failure is None} == {
            "cold",
            "good",
            "private",
        }
    kept = record.load(root.runs / "open")
    trace = gzip.decompress(kept.trace("trials", kept.outcomes["trials"]["private"].trace)).decode()
    assert f"{Path.home()}/weights of {USER} on {HOST}" in trace


@NEEDS_TORCH
def test_rounds_take_all_variants_in_turn_and_each_has_its_trace(machine: pytest.MonkeyPatch, tmp_path: Path) -> None:
    root, log = project(tmp_path, "good", "private"), Log()
    two = msgspec.structs.replace(OPTIONS, rounds=2)
    folder = measure.run(root, ["trials"], two, device="cpu", command="", progress=log)
    turn = ["trials/cold ok", "trials/good ok", "trials/private ok"]
    assert [line for line in log.said if line.endswith("ok")] == turn * 2
    for found in record.load(folder).outcomes["trials"].values():
        assert len(found.rounds) == 2
        assert [each.trace.name for each in found.rounds] == [f"{found.variant.name}.{n}.trace.json.gz" for n in (1, 2)]
        assert [len(rounds) for rounds in found.samples.values()] == [2, 2, 2]
        assert found.trace is not None


@NEEDS_TORCH
def test_a_run_that_ended_between_rounds_is_resumed_where_it_stood(machine: pytest.MonkeyPatch, tmp_path: Path) -> None:
    root, log = project(tmp_path, "good"), Log()
    folder = measure.run(root, ["trials"], OPTIONS, device="cpu", command="")
    before = record.load(folder)
    more = msgspec.structs.replace(before.run, options=msgspec.structs.replace(OPTIONS, rounds=2))
    record.write_run(folder, more)
    measure.resume(root, folder, time_limit_s=30, progress=log)
    assert log.said[0] == "started 2"
    for name, found in record.load(folder).outcomes["trials"].items():
        assert found.rounds[0] == before.outcomes["trials"][name].rounds[0]
        assert len(found.rounds) == 2
        assert found.trace == before.outcomes["trials"][name].trace


@NEEDS_TORCH
def test_only_the_selected_variants_are_measured(machine: pytest.MonkeyPatch, tmp_path: Path) -> None:
    root = project(tmp_path, "good", "fine")
    folder = measure.run(
        root, ["trials"], msgspec.structs.replace(OPTIONS, only=("f*", "other/good")), device="cpu", command=""
    )
    assert list(record.load(folder).outcomes["trials"]) == ["fine"]


@NEEDS_TORCH
def test_a_run_of_some_variants_is_resumed_with_these_and_finished_when_they_are_there(
    machine: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    root, log = project(tmp_path, "good", "fine", "far"), Log()
    some = msgspec.structs.replace(OPTIONS, only=("f*",))
    folder = measure.run(root, ["trials"], some, device="cpu", command="")
    record.write_run(folder, msgspec.structs.replace(record.load(folder).run, finished_utc="", files={}))
    (folder / "trials" / "fine.json").unlink()
    (folder / "trials" / "far.json").unlink()
    measure.resume(root, folder, select=["far"])
    kept = record.load(folder)
    assert (list(kept.outcomes["trials"]), kept.run.finished_utc) == (["far"], "")
    assert kept.run.options == some
    measure.resume(root, folder, progress=log)
    kept = record.load(folder)
    assert (list(kept.outcomes["trials"]), bool(kept.run.finished_utc)) == (["fine", "far"], True)
    assert [line for line in log.said if line.endswith("ok")] == ["trials/fine ok"]


def test_resuming_what_is_finished_changes_nothing(tmp_path: Path) -> None:
    root, log = project(tmp_path, "good"), Log()
    folder = empty_run(root)
    for variant in record.load(folder).declarations["trials"].scenario.variants:
        done = Outcome(variant=variant, rounds=(record.Round(started_utc="", samples={}),))
        record.write_outcome(folder, "trials", done, None)
    record.write_run(folder, msgspec.structs.replace(record.load(folder).run, finished_utc="2026-01-02T03:04:05Z"))
    before = (folder / "run.json").read_bytes()
    measure.resume(root, folder, time_limit_s=1, progress=log)
    assert (folder / "run.json").read_bytes() == before
    assert log.said == ["Nothing of what was asked for is missing in empty."]


def test_resuming_is_refused_where_the_declaration_has_changed(tmp_path: Path) -> None:
    root = project(tmp_path, "good")
    folder = empty_run(root)
    path = root.scenarios / "trials" / "scenario.py"
    path.write_text(path.read_text().replace("kernel", "memcpy"))
    with pytest.raises(WrongUsage, match="trials: the declaration has changed since this run sealed it"):
        measure.resume(root, folder, time_limit_s=1)


@pytest.mark.parametrize(
    ("there", "said"),
    [
        ({"torch": "2.9.0"}, "torch is 2.11.0 here and was 2.9.0"),
        ({"cuda": "12.8"}, "cuda is 13.0 here and was 12.8"),
    ],
)
def test_resuming_is_refused_with_other_software(tmp_path: Path, there: dict[str, str], said: str) -> None:
    root = project(tmp_path, "good")
    versions = {"torch": "2.11.0", "cuda": "13.0"}
    kept = record.load(empty_run(root, versions | there))
    here = msgspec.structs.replace(kept.run.environment, versions=versions)
    with pytest.raises(WrongUsage, match=said):
        session._check_machine(kept, here)


def test_resuming_is_refused_while_another_process_is_at_the_run(tmp_path: Path) -> None:
    root = project(tmp_path, "good")
    folder = empty_run(root)
    with record.locked(folder), pytest.raises(WrongUsage, match="another process is measuring into this run"):
        measure.resume(root, folder, time_limit_s=1)


def test_what_cannot_be_measured_is_said_before_anything_is_started(tmp_path: Path) -> None:
    root = project(tmp_path, "good")
    empty_run(root)
    wrong = {
        "there is no such scenario": {"slugs": ["nothing"]},
        "no variant has such a name": {"options": msgspec.structs.replace(OPTIONS, only=("nothing",))},
        "there is a run of this name": {"name": "empty"},
        "cannot name a run": {"name": "../elsewhere"},
    }
    for said, arguments in wrong.items():
        with pytest.raises(WrongUsage, match=said):
            measure.run(root, **{"slugs": ["trials"], "device": "cpu", "command": "", "options": OPTIONS} | arguments)
    (root.scenarios / "trials" / "workload.py").unlink()
    with pytest.raises(WrongUsage, match="there is no workload"):
        measure.run(root, ["trials"], OPTIONS, device="cpu", command="")
    assert [path.name for path in root.runs.iterdir()] == ["empty"]


@NEEDS_TORCH
def test_a_machine_without_cuda_is_told_so_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(CannotMeasure, match=r"torch \S+ (is built without CUDA|sees no CUDA device); use --device cpu"):
        measure.probe("cuda")


def test_an_environment_without_torch_is_told_so_in_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('planted')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(
        CannotMeasure, match=r"torch cannot be imported \(planted\); .*install torch into this environment"
    ):
        measure.probe("cpu")


@pytest.mark.gpu
@NEEDS_TORCH
def test_on_a_gpu_every_quantity_is_there(tmp_path: Path) -> None:
    import torch

    if not torch.cuda.is_available():
        pytest.skip("this machine has no CUDA device")
    root = project(tmp_path, "good")
    options = msgspec.structs.replace(OPTIONS, time_limit_s=120)
    measured = record.load(measure.run(root, ["trials"], options, device="cuda", command=""))
    for found in measured.outcomes["trials"].values():
        assert found.failure is None
        assert set(found.samples) == {"step_us", "dispatch_us", "latency_us", "event_us"}
        assert found.unavailable == {}
        assert found.peak_memory_bytes
        trace = gzip.decompress(measured.trace("trials", found.trace)).decode()
        assert trace.count('"cat": "kernel"') >= found.variant.protocol.active
        assert "cudaDeviceSynchronize" in trace
    assert set(measured.run.ceilings.tflops) - {"fp8"} == {"bf16", "fp16", "tf32", "fp32"}
    assert measured.run.environment.gpu is not None


def empty_run(root: Project, versions: dict[str, str] | None = None) -> Path:
    environment = record.Environment(device="cpu", gpu=None, versions=versions or {}, cpu_model="", cpu_count=1)
    run = Run(
        schema=record.SCHEMA,
        id="empty",
        started_utc="2026-11-30T10:00:00Z",
        command="",
        commit="",
        dirty=None,
        environment=environment,
        ceilings=record.Ceilings(tflops={}, copy_gbps=None, how=""),
        options=OPTIONS,
        scenarios=("trials",),
    )
    return record.create(root.runs, run, {"trials": root.load("trials")})


def interruptible(root: Project, name: str) -> subprocess.Popen[str]:
    """A program that measures, and prints what progress is told."""
    program = f"""
        import signal, sys
        from pathlib import Path
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may start its background jobs deaf to it
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from foretrace import measure
        from foretrace.project import Project
        from foretrace.record import Options
        from test_measure import Log

        log = Log()
        try:
            measure.run(Project(Path({str(root.root)!r})), ["trials"], Options(rounds=1, time_limit_s=100),
                        device="cpu", command="", name={name!r}, progress=log)
        except KeyboardInterrupt:
            print(*log.said, sep="\\n")
    """
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True)


def wait_for(path: Path, program: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert program.poll() is None, "it ended early"
        assert time.monotonic() < deadline, f"{path.name} does not come"
        time.sleep(0.05)


def started_here() -> list[str]:
    """The command lines of the processes that live in this test's home, this one aside."""
    home, found = os.fsencode(f"HOME={Path.home()}"), []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if home in path.read_bytes().split(b"\0") and int(path.parent.name) != os.getpid():
                found.append(path.with_name("cmdline").read_text(errors="replace"))
    return found
