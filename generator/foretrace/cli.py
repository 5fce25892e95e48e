"""The command line: each command parses, calls one function, prints what it returns and exits.

Heavy modules are imported inside the commands, so that each starts as fast as what it needs.
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from foretrace.errors import ForetraceError


class Program(click.Group):
    """A click group that tells our errors in one sentence and exits with their code."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a `ForetraceError` becomes `Error: <sentence>` on stderr."""
        try:
            return super().invoke(ctx)
        except ForetraceError as error:
            from foretrace.analysis.inspection import visible

            click.echo(f"Error: {visible(str(error))}", err=True)
            sys.exit(error.exit_code)


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("foretrace"), prog_name="foretrace")
def main() -> None:
    """Say what you expect before you open the trace."""


@main.command()
@click.argument("trace", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def inspect(trace: Path, *, as_json: bool) -> None:
    """Show what is in a Kineto TRACE (.json or .json.gz): devices, activities, steps, kernels and doubts."""
    from foretrace import kineto
    from foretrace.analysis import inspection

    found = inspection.inspect(kineto.read(trace))
    click.echo(inspection.to_json(found) if as_json else "\n".join(inspection.to_lines(found)))


@main.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def decode(names: tuple[str, ...], *, as_json: bool) -> None:
    """Say what a kernel NAME says, and what it does not; `-` reads one name a line from stdin."""
    import msgspec

    from foretrace import grammars

    given = [line for name in names for line in (sys.stdin.read().splitlines() if name == "-" else [name])]
    if as_json:
        for name in given:
            click.echo(msgspec.json.encode(grammars.decode(name)))
    else:
        _print_readings(given)


def _print_readings(names: list[str]) -> None:
    """Print each name broken into coloured tokens with their meaning; control characters in names are made visible."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from foretrace import grammars
    from foretrace.analysis.inspection import visible

    console = Console(highlight=False)
    colours = {"A": "green", "B": "cyan", "C": "yellow", "": "dim"}
    for name in names:
        reading = grammars.decode(name)
        tokens = grammars.tokens(name)
        console.print(Text().join(Text(visible(token.text), style=colours[token.confidence]) for token in tokens))
        console.print(Text(f"  {reading.family} · {reading.library} · {visible(grammars.label(name))}", style="bold"))
        table = Table(box=None, show_header=False, padding=(0, 2))
        for token in tokens:
            if token.meaning:
                piece = Text(visible(token.text), style=colours[token.confidence])
                table.add_row(piece, Text(visible(token.meaning)), token.confidence)
        console.print(table)
        for note in reading.notes:
            console.print(Text(f"  note: {visible(note)}"))
        if reading.unread:
            console.print(Text(f"  unread: {visible(' '.join(reading.unread))}", style="yellow"))
