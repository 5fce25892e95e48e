"""The command line: each command parses, calls one function, prints what it returns and exits.

Heavy modules are imported inside the commands, so that each starts as fast as what it needs.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.core import ParameterSource

from foretrace.errors import ForetraceError, GateFailed, UnreadableInput, WrongUsage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from foretrace.examination import Examination
    from foretrace.project import Project
    from foretrace.study import Study


class Program(click.Group):
    """A click group that tells our errors, and the file system's, in one sentence and exits with their code."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a `ForetraceError` becomes `Error: <sentence>` on stderr."""
        try:
            return super().invoke(ctx)
        except ForetraceError as error:
            _refuse(error)
        except BrokenPipeError:  # nobody reads on: click ends without a word
            raise
        except OSError as error:
            what = f"cannot be read or written ({error.strerror or error})"
            where = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else "a file"
            _refuse(UnreadableInput(what, where=where, remedy="check its permissions and the space that is left"))


_PROJECT = click.option(
    "--project",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="The project's folder; the one you are in, or above you, by default.",
)
_KEPT = ("slugs", "device", "quick", "name", "rounds", "keep_paths")  # by a run that is resumed
_JUDGED = ("refuted", "undecided")
_GATES = ("failed", *_JUDGED, "unexplained")


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="foretrace", prog_name="foretrace")
def main() -> None:
    """Say what you expect before you open the trace."""


@main.command("list")
@click.argument("slugs", nargs=-1, metavar="[SLUG]...")
@_PROJECT
def list_(slugs: tuple[str, ...], folder: Path) -> None:
    """Show the scenarios of the project, their questions and their variants."""
    from foretrace import project, terminal

    here = project.find(folder)
    for slug in slugs or here.slugs():
        click.echo("\n".join(terminal.listing(here.load(slug))))


@main.command()
@click.argument("slugs", nargs=-1, metavar="[SLUG]...")
@click.option(
    "--device", type=click.Choice(["cuda", "cpu"]), default="cuda", show_default=True, help="Where to measure."
)
@click.option("--resume", metavar="RUN", help="Continue this run: measure what is missing in it, or failed.")
@click.option(
    "--only", multiple=True, metavar="PATTERN", help="Only variants of this name; * and ? stand for any text."
)
@click.option("--quick", is_flag=True, help="Only the variants that each scenario declares as quick.")
@click.option("--name", default="", help="The run's name; made from time and device by default.")
@click.option(
    "--rounds",
    type=click.IntRange(1, 1000),
    default=3,
    show_default=True,
    help="Fresh processes a variant, all in turn.",
)
@click.option(
    "--time-limit",
    type=click.IntRange(1, 604_800),
    show_default="300, or that of the run resumed",
    metavar="S",
    help="Seconds that one round of a variant may take.",
)
@click.option("--keep-paths", is_flag=True, help="Leave host, user and folder names in the record.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but where the record is.")
@_PROJECT
def run(slugs: tuple[str, ...], folder: Path, **chosen: Any) -> None:
    """Measure scenarios, all of them by default, into a new record in docs/runs/.

    Predictions are sealed before anything is measured. Each variant runs in processes of its own; one that fails is
    recorded with its reason and the others go on.
    """
    from foretrace import project

    if chosen["resume"] is not None:
        _refuse_changes(click.get_current_context(), chosen["resume"])
    click.echo(_measure(project.find(folder), slugs, **chosen))


@main.command()
@click.option(
    "--run",
    "runs",
    multiple=True,
    metavar="RUN",
    help="A run's name or folder; by default, for each scenario, the newest that has it.",
)
@click.option("--strict", is_flag=True, help="Exit with 1 where mkdocs warns, a link is dead or a page is an orphan.")
@click.option(
    "--gate",
    multiple=True,
    type=click.Choice(_GATES),
    help="Exit with 1 where a variant or a prediction of ours is this.",
)
@_PROJECT
def build(runs: tuple[str, ...], *, strict: bool, gate: tuple[str, ...], folder: Path) -> None:
    """Make the pages in docs/reports/ from recorded runs and reported traces, and the site from the pages."""
    from foretrace import project

    _build(project.find(folder), runs, strict=strict, gate=gate)


@main.command()
@click.option("--no-run", is_flag=True, help="Measure nothing; build from the newest records.")
@_PROJECT
def site(*, no_run: bool, folder: Path) -> None:
    """Measure everything where there is CUDA, else say so, and build the site from the newest records."""
    from foretrace import measure, project
    from foretrace.errors import CannotMeasure

    here = project.find(folder)
    try:
        if not no_run:
            measure.probe("cuda")
            _measure(here, ())
    except CannotMeasure as missing:
        click.echo(f"Nothing is measured here: {missing} The pages are made from the newest records.", err=True)
    _build(here, (), strict=True, gate=())


@main.command()
@click.option("--address", default="127.0.0.1:8000", show_default=True, metavar="HOST:PORT", help="Where to listen.")
@_PROJECT
def serve(address: str, folder: Path) -> None:
    """Show the site at a local address until interrupted; rebuilt when a page of docs/ changes."""
    from foretrace import project
    from foretrace import site as published

    here = project.find(folder)
    studies, examined = _read(here, ())
    published.write(here, *studies, examined=examined)
    published.serve(here, address=address)


@main.command()
@click.argument("traces", nargs=-1, required=True, metavar="TRACE...", type=click.Path(path_type=Path, readable=False))
@click.option("--title", default="", help="The page's title; the file's name by default.")
@click.option("--name", default="", help="The report's name, part of the page's address; made from the file's name.")
@click.option(
    "--expect",
    type=click.Path(path_type=Path, readable=False),
    metavar="FILE",
    help="What you expect, in TOML; judged on the page.",
)
@click.option("--guess", is_flag=True, help="Ask for your guess before the trace is opened.")
@click.option("--keep-paths", is_flag=True, help="Leave host, user and folder names in what is published.")
@click.option(
    "--gate", multiple=True, type=click.Choice(_JUDGED), help="Exit with 1 where a prediction in FILE is this."
)
@_PROJECT
def report(
    traces: tuple[Path, ...], *, expect: Path | None, guess: bool, gate: tuple[str, ...], folder: Path, **chosen: Any
) -> None:
    """Add a page to the site for each Kineto TRACE, or for a folder with the ranks of one job.

    A trace is copied into docs/traces/ without host, user and folder names; pages are made from there, now and by
    every later build. What is expected is sealed before a trace is opened.
    """
    from foretrace import expectations, intake, project, terminal
    from foretrace.analysis.inspection import visible

    here = project.find(folder)
    if gate and not (expect or guess):
        raise WrongUsage("there is nothing that a gate could hold", where="--gate", remedy="say it with --expect")
    predictions = expectations.read(expect) if expect else ()
    for path in traces:
        for other in intake.files(path)[1]:
            click.echo(f"Warning: {visible(str(other))}: passed over, it is no file of a trace", err=True)
    wish = intake.Wish(
        command=shlex.join(["foretrace", *sys.argv[1:]]),
        predictions=predictions,
        guesses=terminal.ask() if guess else (),
        where=str(expect),
        **chosen,
    )
    added = intake.add(here.traces, traces, wish, workspace=here.root)
    _build(here, (), strict=False, gate=gate, added=added)


@main.command()
@click.argument("trace", type=click.Path(path_type=Path, readable=False))
@click.option(
    "--format", "form", type=click.Choice(["table", "json", "csv"]), help="How to print it.  [default: table]"
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option(
    "--max-gb",
    type=click.FloatRange(min=0, min_open=True, max=1000),
    default=4.0,
    show_default=True,
    metavar="GB",
    help="Refuse a trace of more JSON, or one that needs more than a third of it in memory.",
)
def inspect(trace: Path, *, form: str | None, as_json: bool, max_gb: float) -> None:
    """Show what is in a Kineto TRACE (.json or .json.gz): devices, activities, steps, kernels and doubts."""
    from foretrace import kineto
    from foretrace.analysis import inspection

    if as_json and form not in (None, "json"):
        raise WrongUsage("are two forms at once", where=f"--json and --format {form}", remedy="choose one")
    limits = kineto.Limits(json=int(max_gb * kineto.GIGABYTE))
    found = inspection.inspect(kineto.read(trace, limits=limits))
    if as_json or form == "json":
        click.echo(inspection.to_json(found))
    elif form == "csv":
        click.echo(inspection.to_csv(found), nl=False)
    else:
        click.echo("\n".join(inspection.to_lines(found)))


@main.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def decode(names: tuple[str, ...], *, as_json: bool) -> None:
    """Say what a kernel NAME says, and what it does not; `-` reads one name a line from stdin."""
    given = [name for argument in names for name in _names_in(argument) if name]
    if as_json:
        import msgspec

        from foretrace import grammars

        for name in given:
            click.echo(msgspec.json.encode(grammars.decode(name)))
    else:
        from foretrace import terminal

        terminal.print_readings(given)


def _names_in(argument: str) -> list[str]:
    """The names that an argument stands for; bytes that are not UTF-8 are shown as such."""
    if argument == "-":
        return sys.stdin.buffer.read().decode(errors="replace").split("\n")
    return [os.fsencode(argument).decode(errors="replace")]


def _refuse(error: ForetraceError) -> NoReturn:
    """Tell the sentence and exit with its code."""
    from foretrace.analysis.inspection import visible

    click.echo(f"Error: {visible(str(error))}", err=True)
    sys.exit(error.exit_code)


def _refuse_changes(ctx: click.Context, run: str) -> None:
    """A run is continued as it was started: what would make it another one is refused, not passed over."""
    named = [option for option in _KEPT if ctx.get_parameter_source(option) is ParameterSource.COMMANDLINE]
    if changes := [option for option in named if ctx.params[option]]:
        words = ", ".join("SLUG" if option == "slugs" else f"--{option.replace('_', '-')}" for option in changes)
        raise WrongUsage(f"{words} cannot be changed in a run that was started", where=run, remedy="start a new one")


def _measure(here: Project, slugs: tuple[str, ...], **chosen: Any) -> Path:
    """Run or resume with what was chosen on the command line; the record's folder."""
    from foretrace import measure, record, terminal

    watcher = None if chosen.get("quiet") else terminal.watcher()
    limit_s, only = chosen.get("time_limit"), chosen.get("only", ())
    try:
        if chosen.get("resume") is not None:
            kept = record.find(here.runs, chosen["resume"])
            return measure.resume(here, kept, time_limit_s=limit_s, select=only, progress=watcher)
        given = ("rounds", "quick", "keep_paths")
        fields: dict[str, Any] = {name: chosen[name] for name in given if name in chosen}
        if limit_s:
            fields["time_limit_s"] = float(limit_s)
        options = record.Options(only=only, **fields)
        return measure.run(
            here,
            slugs or here.slugs(),
            options,
            device=chosen.get("device", "cuda"),
            command=shlex.join(["foretrace", *sys.argv[1:]]),
            name=chosen.get("name", ""),
            progress=watcher,
        )
    finally:
        if watcher:
            watcher.ended()


def _read(
    here: Project, runs: tuple[str, ...], added: Sequence[Examination] = ()
) -> tuple[list[Study], list[Examination]]:
    """The runs, by default the newest of each scenario, and all reported traces; `added` were read before."""
    from foretrace import dossier, examination, record, study

    read = {each.report.id: each for each in added}
    kept = dossier.every(here.traces)
    folders = [record.find(here.runs, run) for run in runs]
    if not folders and not (kept and not any(here.runs.glob("*/run.json"))):
        folders = record.newest(here.runs)
    examined = [read.get(folder.name) or examination.examine(dossier.load(folder)) for folder in kept]
    return [study.read(record.load(folder)) for folder in folders], examined


def _build(
    here: Project,
    runs: tuple[str, ...],
    *,
    strict: bool,
    gate: tuple[str, ...],
    added: Sequence[Examination] | None = None,
) -> None:
    """Build the site and hold the gates: for everything it shows, or for the reports that are `added` now."""
    from foretrace import page, terminal
    from foretrace import site as published
    from foretrace.page import addresses

    studies, examined = _read(here, runs, added or ())
    shown = page.newest(tuple(studies)) if added is None else {}
    reports = examined if added is None else added
    for slug, read in shown.items():
        click.echo(f"{slug}, {read.run.id}: {terminal.verdicts(read.investigations[slug])}")
    for each in reports:
        click.echo(f"{each.report.id}: {terminal.fared(each)}")
    try:
        built = published.build(here, *studies, examined=examined)
    except GateFailed as problem:
        if strict:
            raise
        click.echo(f"Warning: {problem}", err=True)
    else:
        pages = [addresses.report(each.report.id).removesuffix(".md") for each in reports if added is not None]
        for address in pages or ["index"]:
            click.echo(built / f"{address}.html")
    _hold(shown, gate, reports)
    if "unexplained" in gate and (open_ones := published.unexplained(here, *studies)):
        said = f"{len(open_ones)} came out otherwise and nobody has explained it: {'; '.join(open_ones)}"
        raise GateFailed(said, where="gate", remedy="write the why into the scenario's page.md.j2")


def _hold(shown: Mapping[str, Study], gate: tuple[str, ...], reports: Sequence[Examination] = ()) -> None:
    """Raise where a variant failed or a prediction of ours was judged as a gate forbids, in what the site shows."""
    found = [(slug, study.investigations[slug]) for slug, study in shown.items()]
    failed = [
        f"{slug}/{name} failed"
        for slug, investigation in found
        for name, outcome in investigation.outcomes.items()
        if "failed" in gate and outcome.failed
    ]
    predictions = [(slug, each) for slug, investigation in found for each in investigation.predictions]
    predictions += [(examined.report.id, each) for examined in reports for each in examined.predictions]
    judged = [
        f"{name}: {each.expectation.describe()} is {each.verdict.state}"
        for name, each in predictions
        if each.verdict.state in gate
    ]
    if failed or judged:
        raise GateFailed("; ".join(failed + judged), where="gate", remedy="see the pages for the evidence")
