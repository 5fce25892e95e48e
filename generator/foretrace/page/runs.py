"""A run in short: a `Run` comes in; its card, with its environment, goes out as text."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable

from foretrace import units
from foretrace.page import addresses
from foretrace.page.models import RunCard
from foretrace.record import Ceilings, Environment, Gpu, Outcome, Run


def card(run: Run, outcomes: Iterable[Outcome], *, cost: str = "") -> RunCard:
    """Who measured, on what, when and with what, what measuring these outcomes cost, and what the whole run did."""
    return RunCard(
        id=run.id,
        date=date(run.started_utc),
        device=device(run.environment),
        commit=commit(run),
        command=repeated(run.command),
        record=addresses.recorded(run.id, "run.json"),
        environment=tuple(_environment(run) + _overhead(outcomes) + ([("The whole run", cost)] if cost else [])),
    )


def cost(outcomes: Iterable[Outcome]) -> str:
    """What measuring all of a run took, and how much of that were first calls that compiled, in a sentence.

    It is "" where that is unknown.
    """
    known = [outcome for outcome in outcomes if outcome.rounds]
    seconds = [each.seconds for outcome in known for each in outcome.rounds]
    if not seconds or not all("wall" in each for each in seconds):
        return ""
    wall = sum(each["wall"] for each in seconds)
    compiling = sum(each.get("first", each["compile"]) for each in seconds if each.get("compile"))
    rounds = max(len(outcome.rounds) for outcome in known)
    whole, part, rest, each_round = (
        units.quantity(each * 1e6, "us") for each in (wall, compiling, wall - compiling, (wall - compiling) / rounds)
    )
    said = f"{len(seconds):,} measurements of {len(known)} variants in {whole}"
    if not compiling:
        return said
    return f"{said}: {part} for first calls that compile, {rest} for all else, {each_round} of that a round"


def repeated(command: str) -> str:
    """The command line that measures again what one measured: without the run's name, which is taken now."""
    return re.sub(r" --name[ =][\w.~-]+", "", command)


def device(environment: Environment) -> str:
    """The GPU's name, or what stands for it."""
    return environment.gpu.name if environment.gpu else f"CPU only ({environment.cpu_model})"


def commit(run: Run) -> str:
    """The commit's first twelve digits, and whether the tree differed from it."""
    if not run.commit:
        return "unknown commit"
    state = {True: " with uncommitted changes", False: "", None: " (tree not checked)"}[run.dirty]
    return f"{run.commit[:12]}{state}"


def date(moment: str) -> str:
    """An ISO moment to the minute: `2026-11-30 10:24 UTC`."""
    return f"{moment[:10]} {moment[11:16]} UTC" if len(moment) >= 16 else moment


def _environment(run: Run) -> list[tuple[str, str]]:
    environment = run.environment
    rows = [("Device", device(environment))]
    rows += _gpu(environment.gpu) if environment.gpu else []
    rows += [("CPU", f"{environment.cpu_model}, {environment.cpu_count} logical cores")]
    rows += [(name, version) for name, version in environment.versions.items() if version]
    rows += _ceilings(run.ceilings)
    rows += [
        ("Rounds", f"{run.options.rounds} processes a variant, each within {units.number(run.options.time_limit_s)} s"),
        ("Started", date(run.started_utc)),
        ("Finished", date(run.finished_utc) if run.finished_utc else "not yet, or cut short"),
        ("Commit", commit(run)),
    ]
    return rows


def _overhead(outcomes: Iterable[Outcome]) -> list[tuple[str, str]]:
    costs = [cost for outcome in outcomes for each in outcome.rounds if (cost := each.overhead_s) is not None]
    if not costs:
        return []
    middle, most = (units.quantity(cost * 1e6, "us") for cost in (statistics.median(costs), max(costs)))
    return [("Measuring", f"{middle} a process beyond the variant's own work, {most} at most")]


def _gpu(gpu: Gpu) -> list[tuple[str, str]]:
    said = {
        "Compute capability": gpu.compute_capability,
        "Multiprocessors": str(gpu.multiprocessors) if gpu.multiprocessors else "",
        "GPU memory": units.quantity(gpu.memory_bytes, "bytes") if gpu.memory_bytes else "",
        "L2 cache": units.quantity(gpu.l2_bytes, "bytes") if gpu.l2_bytes else "",
        "Power limit": f"{units.number(gpu.power_limit_w)} W" if gpu.power_limit_w else "",
        "Largest clocks": f"{gpu.max_sm_mhz:,} MHz SM, {gpu.max_memory_mhz:,} MHz memory" if gpu.max_sm_mhz else "",
    }
    return [(name, text) for name, text in said.items() if text]


def _ceilings(ceilings: Ceilings) -> list[tuple[str, str]]:
    rows = [(f"Ceiling, {dtype} product", units.quantity(rate, "tflops")) for dtype, rate in ceilings.tflops.items()]
    if ceilings.copy_gbps is not None:
        rows.append(("Ceiling, copy", units.quantity(ceilings.copy_gbps, "gbps")))
    return [*rows, ("How the ceilings were measured", ceilings.how)] if rows else rows
