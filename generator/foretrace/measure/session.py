"""A session at the bench: what was declared is sealed, the machine looked at, and each variant measured and recorded.

Declarations are sealed before anything is measured. The record is written after every variant, good or bad, so that a
session which ends early leaves a record that can be read and resumed.
"""

from __future__ import annotations

import re
import secrets
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from foretrace import privacy, provenance, record
from foretrace.errors import CannotMeasure, WrongUsage
from foretrace.measure.bench import PRELOADED, Bench
from foretrace.measure.progress import Progress, Silence
from foretrace.project import Project
from foretrace.record import Ceilings, Environment, Failure, Options, Outcome, Record, Run
from foretrace.scenario import Sealed, Variant
from foretrace.wire import DeviceName, Look, Measured, Roofs, Trial

_LOOK_LIMIT_S, _ROOFS_LIMIT_S = 120.0, 300.0


def run(
    project: Project,
    slugs: Sequence[str],
    options: Options,
    *,
    device: DeviceName,
    command: str,
    name: str = "",
    progress: Progress | None = None,
) -> Path:
    """Measure scenarios into a new record and return its folder.

    Args:
        project: where the scenarios are and the record goes.
        slugs: which scenarios.
        options: what the user chose.
        device: where to run them.
        command: the command line that repeats this, for the record.
        name: of the run; made from time and device where it is empty.
        progress: is told what happens.

    Raises:
        WrongUsage: a scenario or variant that does not exist, a name that is taken.
        CannotMeasure: no torch, or no such device.
    """
    progress = progress or Silence()
    declarations = {slug: project.load(slug) for slug in slugs}
    plan = _plan(project, declarations, quick=options.quick, select=options.only)
    _check_name(project, name)
    private = _private(project, options)
    with Bench(private, preload=_preloads(project, declarations)) as bench:
        environment = _look(bench, device)
        ceilings = _ceilings(bench, environment, progress)
        started = datetime.now(UTC)
        commit, dirty = provenance.commit(project.root)
        head = Run(
            schema=record.SCHEMA,
            id=name or _identify(started, environment),
            started_utc=_stamp(started),
            command=privacy.scrub(command, private),
            commit=commit,
            dirty=dirty,
            environment=environment,
            ceilings=ceilings,
            options=options,
            scenarios=tuple(declarations),
        )
        folder = record.create(project.runs, head, declarations)
        with record.locked(folder):
            _Session(bench=bench, folder=folder, run=head, private=private, progress=progress).measure(plan, {})
            _finish(folder, head)
    return folder


def resume(
    project: Project,
    folder: Path,
    *,
    time_limit_s: float | None = None,
    select: Sequence[str] = (),
    progress: Progress | None = None,
) -> Path:
    """Measure what is missing in a record, or failed there, and return its folder.

    Args:
        project: where the record's scenarios are.
        folder: of the record.
        time_limit_s: for one round of a variant; None: the one that the run was started with.
        select: patterns of the variants to measure, as in `Options.only`; those of the run where it is empty.
        progress: is told what happens.

    Raises:
        WrongUsage: there is no such run, another process is at it, a declaration has changed since it was sealed, or
            this is not the machine and software that it was started on.
        CannotMeasure: no torch, or no such device.
    """
    progress = progress or Silence()
    with record.locked(folder):
        kept = record.load(folder)
        _check_declarations(project, kept)
        missing = _missing(project, kept, kept.run.options.only)
        plan = _missing(project, kept, select) if select else missing
        if plan:
            limit = kept.run.options.time_limit_s if time_limit_s is None else time_limit_s
            options = msgspec.structs.replace(kept.run.options, time_limit_s=limit)
            head = msgspec.structs.replace(kept.run, options=options, finished_utc="", files={})
            private = _private(project, head.options)
            with Bench(private, preload=_preloads(project, {planned.sealed.slug for planned in plan})) as bench:
                _check_machine(kept, _look(bench, head.environment.device))
                record.write_run(folder, head)  # it goes on, and its outcomes change
                _Session(bench=bench, folder=folder, run=head, private=private, progress=progress).measure(
                    plan, kept.outcomes
                )
        else:
            head = kept.run
            progress.note(f"Nothing of what was asked for is missing in {head.id}.")
        if (plan or not head.finished_utc) and _names(missing) <= _names(plan):
            _finish(folder, head)
    return folder


def probe(device: DeviceName) -> Environment:
    """What would be measured on; `CannotMeasure` says in a sentence what is missing."""
    with Bench({}, preload=()) as bench:
        return _look(bench, device)


@dataclass(frozen=True, eq=False)
class _Planned:
    """One variant to be measured."""

    sealed: Sealed
    variant: Variant
    workload: Path


@dataclass(frozen=True, kw_only=True)
class _Session:
    """A record that is being written to."""

    bench: Bench
    folder: Path
    run: Run
    private: Mapping[str, str]
    progress: Progress

    def measure(self, plan: Sequence[_Planned], kept: Mapping[str, Mapping[str, Outcome]]) -> None:
        """Measure every variant once in each round, all of them in turn; the record is whole after each.

        Args:
            plan: the variants.
            kept: what the record holds of them, to be continued.
        """
        outcomes = {planned: _begun(planned, kept) for planned in plan}
        rounds = self.run.options.rounds
        self.progress.started(self.run, sum(rounds - len(outcome.rounds) for outcome in outcomes.values()))
        with self._resumable():
            for planned in (
                planned for number in range(rounds) for planned in plan if _lacks(outcomes[planned], number)
            ):
                self.progress.variant_started(planned.sealed.slug, planned.variant.name)
                outcome, trace = self._continue(planned, outcomes[planned])
                outcomes[planned] = record.write_outcome(self.folder, planned.sealed.slug, outcome, trace)
                self.progress.variant_done(planned.sealed.slug, outcomes[planned])

    def _continue(self, planned: _Planned, outcome: Outcome) -> tuple[Outcome, bytes | None]:
        """An outcome with one more round, or with the failure that ends it; and the trace, where there is a new one."""
        task = Trial(
            device=self.run.environment.device,
            workload=str(planned.workload),
            variant=planned.variant,
            label=planned.sealed.scenario.label,
            title=f"{planned.sealed.slug}/{planned.variant.name}",
            private=dict(self.private),
        )
        result = self.bench.run(task, Measured, limit_s=self.run.options.time_limit_s)
        found = result.answer
        if not isinstance(found, Failure) and result.trace is None:
            found = Failure(reason="bad-result", message="left no trace")
        if isinstance(found, Failure):
            failure = msgspec.structs.replace(found, after_s=result.seconds)
            return msgspec.structs.replace(outcome, failure=failure), None
        seconds = found.round.seconds | {"wall": result.seconds}
        rounds = (*outcome.rounds, msgspec.structs.replace(found.round, seconds=seconds))
        return msgspec.structs.replace(outcome, rounds=rounds, unavailable=found.unavailable), result.trace

    @contextmanager
    def _resumable(self) -> Iterator[None]:
        try:
            yield
        except (KeyboardInterrupt, CannotMeasure):
            self.progress.note(f"What was measured is recorded; continue with `foretrace run --resume {self.run.id}`.")
            raise


def _plan(
    project: Project, declarations: Mapping[str, Sealed], *, quick: bool, select: Sequence[str]
) -> list[_Planned]:
    """Every variant that is asked for, in order; `WrongUsage` where there is none."""
    plan = []
    for slug, sealed in declarations.items():
        workload = project.scenarios / slug / "workload.py"
        if not workload.exists():
            raise WrongUsage("there is no workload", where=str(workload), remedy="see scenarios/_template")
        for variant in sealed.scenario.planned(quick=quick):
            names = (variant.name, f"{slug}/{variant.name}")
            if not select or any(fnmatchcase(name, pattern) for name in names for pattern in select):
                plan.append(_Planned(sealed=sealed, variant=variant, workload=workload))
    if not plan:
        raise WrongUsage("no variant has such a name", where=", ".join(select), remedy="see `foretrace list`")
    return plan


def _missing(project: Project, kept: Record, select: Sequence[str]) -> list[_Planned]:
    """The variants that are asked for and lack a round in the record, or failed there."""
    asked, last = (
        _plan(project, kept.declarations, quick=kept.run.options.quick, select=select),
        kept.run.options.rounds,
    )
    return [planned for planned in asked if _lacks(_begun(planned, kept.outcomes), last - 1)]


def _names(plan: Sequence[_Planned]) -> set[tuple[str, str]]:
    return {(planned.sealed.slug, planned.variant.name) for planned in plan}


def _finish(folder: Path, run: Run) -> None:
    record.finish(folder, run, finished_utc=_stamp(datetime.now(UTC)))


def _private(project: Project, options: Options) -> dict[str, str]:
    """What to replace by what in all that is recorded: also where this package and this Python are installed."""
    if options.keep_paths:
        return {}
    found = privacy.replacements(project.root) | {str(Path(record.__file__).parent): "<foretrace>"}
    if sys.prefix != sys.base_prefix:
        found[sys.prefix] = "<python>"
    return dict(sorted(found.items(), key=lambda item: -len(item[0])))


def _preloads(project: Project, slugs: Iterable[str]) -> tuple[str, ...]:
    """What is imported once, so that no variant's process has to: what all need, and what workloads ask for."""
    asked = (name for slug in slugs for name in project.preloads(slug))
    return tuple(dict.fromkeys((*PRELOADED, *asked)))


def _look(bench: Bench, device: DeviceName) -> Environment:
    found = bench.run(Look(device=device), Environment, limit_s=_LOOK_LIMIT_S).answer
    if isinstance(found, Failure):
        raise CannotMeasure(found.message)
    return found


def _ceilings(bench: Bench, environment: Environment, progress: Progress) -> Ceilings:
    """The device's ceilings; where they cannot be measured, none, with the reason."""
    if environment.gpu is not None:
        progress.note(f"Measuring what {environment.gpu.name} reaches at best.")
    found = bench.run(Roofs(device=environment.device), Ceilings, limit_s=_ROOFS_LIMIT_S).answer
    if isinstance(found, Failure):
        progress.note(f"The ceilings could not be measured: {found.message}.")
        return Ceilings(tflops={}, copy_gbps=None, how=f"could not be measured: {found.message}")
    return found


def _identify(started: datetime, environment: Environment) -> str:
    """Such as `20261130-101500-h200-ab12`."""
    device = environment.gpu.name if environment.gpu else "cpu"
    words = [word for word in re.findall(r"[a-z0-9]+", device.lower()) if word not in ("nvidia", "geforce", "tesla")]
    return "-".join((f"{started:%Y%m%d-%H%M%S}", *words, secrets.token_hex(2)))


def _check_name(project: Project, name: str) -> None:
    """Before anything is started: `record.create` looks again."""
    if name and not re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9_.~-]{0,99}", name):
        raise WrongUsage("cannot name a run", where=name, remedy="use up to 100 letters, digits and - _ . ~")
    if name and (project.runs / name).exists():
        raise WrongUsage("there is a run of this name", where=name, remedy="continue it with --resume")


def _check_declarations(project: Project, kept: Record) -> None:
    for slug, sealed in kept.declarations.items():
        if project.load(slug).seal != sealed.seal:
            raise WrongUsage(
                "the declaration has changed since this run sealed it",
                where=slug,
                remedy="restore scenario.py, or start a new run",
            )


def _check_machine(kept: Record, here: Environment) -> None:
    for what, then, now in (
        ("the GPU", kept.run.environment.gpu and kept.run.environment.gpu.name, here.gpu and here.gpu.name),
        *((name, kept.run.environment.versions.get(name), here.versions.get(name)) for name in ("torch", "cuda")),
    ):
        if then != now:
            raise WrongUsage(
                f"{what} is {now} here and was {then} when this run was started",
                where=kept.run.id,
                remedy="resume it where it was started, or start a new run",
            )


def _begun(planned: _Planned, kept: Mapping[str, Mapping[str, Outcome]]) -> Outcome:
    """What is recorded of a variant, if it has not failed; else an outcome without a round."""
    outcome = kept.get(planned.sealed.slug, {}).get(planned.variant.name)
    return outcome if outcome is not None and outcome.failure is None else Outcome(variant=planned.variant)


def _lacks(outcome: Outcome, number: int) -> bool:
    """Whether the round of this number (from 0) is still to be measured; after a failure none is."""
    return outcome.failure is None and len(outcome.rounds) <= number


def _stamp(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
