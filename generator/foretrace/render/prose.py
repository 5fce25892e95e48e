"""An author's prose around the generated parts: what it may call, and what is wrong with it, in which line.

`scenarios/<slug>/page.md.j2` extends `scenario.md.j2` and fills its blocks; numbers come from the functions of `Voice`.
"""

from __future__ import annotations

import textwrap
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import jinja2
from jinja2 import nodes
from markupsafe import Markup

from foretrace.errors import ForetraceError, WrongUsage
from foretrace.page.holes import Holes
from foretrace.render.escape import escape

GAP = "n/a"


@dataclass(frozen=True)
class Prose:
    """An author's template: its text, and the file it is in, for messages."""

    source: str
    where: str


@dataclass
class Voice:
    """What prose may call; it keeps the reasons that were given and the holes that could not be filled."""

    holes: Holes
    href: Callable[[str], Markup]
    chip: Callable[[str], Markup]
    whys: dict[str, Markup] = field(default_factory=dict)
    gaps: list[str] = field(default_factory=list)

    def functions(self) -> Mapping[str, object]:
        """By the names that prose calls them."""
        return {
            "value": self.value,
            "interval": self.interval,
            "ratio": self.ratio,
            "launched": self.launched,
            "bound": self.bound,
            "kernels": self.kernels,
            "part": self.part,
            "share": self.share,
            "geometry": self.geometry,
            "opaque": self.opaque,
            "calls": self.calls,
            "verdict": self.verdict,
            "state": self.state,
            "measured": self.measured,
            "link": self.link,
            "why": self.why,
            "gpu": self.holes.gpu,
        }

    def value(self, quantity: str, variant: str) -> Markup:
        """A median with its unit: `{{ value("dispatch_us", "64-warm-eager") }}`."""
        return self._filled(self.holes.value(quantity, variant), f"value({quantity}, {variant})")

    def interval(self, quantity: str, variant: str) -> Markup:
        """A median with its unit and the interval that holds it."""
        return self._filled(self.holes.interval(quantity, variant), f"interval({quantity}, {variant})")

    def ratio(self, quantity: str, variant: str, over: str) -> Markup:
        """A quantity of one variant over that of another, with its interval."""
        return self._filled(self.holes.ratio(quantity, variant, over), f"ratio({quantity}, {variant}, {over})")

    def launched(self, variant: str) -> Markup:
        """What a variant's steps launch: `2 kernels`."""
        return self._filled(self.holes.launched(variant), f"launched({variant})")

    def bound(self, variant: str) -> Markup:
        """What limits a variant."""
        return self._filled(self.holes.bound(variant), f"bound({variant})")

    def kernels(self, variant: str, family: str = "") -> Markup:
        """The names of a variant's kernels, of one family or all, as code."""
        names = self.holes.kernels(variant, family)
        listed = Markup(", ").join(Markup("<code>{}</code>").format(escape(name)) for name in names)
        return self._filled(listed or None, f"kernels({variant}{', ' if family else ''}{family})")

    def part(self, measure: str, part: str, variant: str) -> Markup:
        """Of a declared part its `duration`, `tflops`, `gbps`, `flops`, `bytes`, or its kernel's `name` as code."""
        found = self.holes.part(measure, part, variant)
        return self._filled(found, f"part({measure}, {part}, {variant})", code=measure == "name")

    def share(self, family: str, variant: str) -> Markup:
        """A kernel family's share of the GPU's time."""
        return self._filled(self.holes.share(family, variant), f"share({family}, {variant})")

    def geometry(self, field: str, family: str, variant: str) -> Markup:
        """`registers`, `shared_bytes`, `occupancy` or `occupancy_reported` of the longest kernel of a family."""
        return self._filled(self.holes.geometry(field, family, variant), f"geometry({field}, {family}, {variant})")

    def opaque(self, variant: str) -> Markup:
        """The operator with most CPU time that nothing recorded inside it explains, as code."""
        return self._filled(self.holes.opaque(variant), f"opaque({variant})", code=True)

    def calls(self, name: str, variant: str) -> Markup:
        """How often a step runs an operator or a CUDA call; `*` in its name stands for anything."""
        return self._filled(self.holes.calls(name, variant), f"calls({name}, {variant})")

    def verdict(self, key: str | int) -> Markup:
        """The verdict on a claim (by id) or on our prediction (by number)."""
        found = self.holes.statement(str(key))
        return self.chip(found.state) if found else self._filled(None, f"verdict({key})")

    def state(self, key: str | int) -> str:
        """`held`, `refuted` or `undecided`, for an `if`; "" where the run has no such statement."""
        found = self.holes.statement(str(key))
        return found.state if found else ""

    def measured(self, key: str | int) -> Markup:
        """What decided the verdict, in words."""
        found = self.holes.statement(str(key))
        return self._filled(found.measured if found else None, f"measured({key})")

    def link(self, variant: str) -> Markup:
        """A link to a variant's page."""
        found = self.holes.link(variant)
        if found is None:
            return self._filled(None, f"link({variant})")
        return Markup('<a href="{}"><code>{}</code></a>').format(self.href(found.to), escape(found.text))

    def why(self, key: str | int, state: str = "", on: str = "", *, caller: Callable[[], Markup]) -> Markup:
        """Why a statement did not hold: `{% call why("P1-13") %}…{% endcall %}`.

        It is printed where the verdict is a mismatch: of this state, where one is given, and on a device whose name
        holds `on`, where that is given.
        """
        found = self.holes.statement(str(key))
        if found is None:
            self._filled(None, f"why({key})")
        elif found.mismatch and state in ("", found.state) and on in self.holes.gpu:
            self.whys[found.key] = Markup(textwrap.dedent(caller()).strip())  # noqa: S704 - a template's own output
        return Markup()

    def _filled(self, text: str | None, hole: str, *, code: bool = False) -> Markup:
        if text is None:
            if hole not in self.gaps:
                self.gaps.append(hole)
            return escape(GAP)
        return Markup("<code>{}</code>").format(escape(text)) if code else escape(text)


def check(prose: Prose, environment: jinja2.Environment, *, base: str) -> None:
    """`WrongUsage` for prose that would be lost in silence: no `extends`, an unknown block, text outside all blocks."""
    tree = parse(prose, environment)
    if not any(isinstance(node, nodes.Extends) for node in tree.body):
        raise WrongUsage("does not extend a page", where=prose.where, remedy=f'begin it with {{% extends "{base}" %}}')
    known = {block.name for block in parse(_base(environment, base), environment).find_all(nodes.Block)}
    for block in tree.find_all(nodes.Block):
        if block.name not in known:
            raise WrongUsage(
                f"there is no block `{block.name}`",
                where=f"{prose.where}, line {block.lineno}",
                remedy=f"use one of {', '.join(sorted(known))}",
            )
    for node in tree.body:
        for part in node.nodes if isinstance(node, nodes.Output) else ():
            if not isinstance(part, nodes.TemplateData) or part.data.strip():
                raise WrongUsage(
                    "text outside all blocks is never shown",
                    where=f"{prose.where}, line {part.lineno}",
                    remedy="move it into a block",
                )


def parse(prose: Prose, environment: jinja2.Environment) -> nodes.Template:
    """The syntax tree; `WrongUsage` where there is none."""
    try:
        return environment.parse(prose.source, filename=prose.where)
    except jinja2.TemplateSyntaxError as error:
        raise WrongUsage(
            error.message or "a template error", where=f"{prose.where}, line {error.lineno}", remedy="mend the page"
        ) from error


def told(error: Exception, prose: Prose) -> WrongUsage | None:
    """What happened while prose was rendered, with its line; None where it did not happen in the prose."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == prose.where]
    if not lines:
        return None
    if isinstance(error, ForetraceError):
        what = f"{error.where}: {error.what}" if error.where else error.what
        return WrongUsage(what, where=f"{prose.where}, line {lines[-1]}", remedy=error.remedy)
    return WrongUsage(
        f"{type(error).__name__}: {error}", where=f"{prose.where}, line {lines[-1]}", remedy="mend the page"
    )


def _base(environment: jinja2.Environment, name: str) -> Prose:
    assert environment.loader is not None
    source, _, _ = environment.loader.get_source(environment, name)
    return Prose(source=source, where=name)
