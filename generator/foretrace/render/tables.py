"""Tables as files: the tables that a page prints come in, each goes out as CSV and as JSON beside the page.

Both hold every row, with one head for a text, one for the smaller line under it, and one for the number that it stands
for: in µs, bytes, shares of 1 or plain counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from foretrace.analysis.inspection import cell
from foretrace.page.models import Cell, Table
from foretrace.render.data import sheet

_LONGEST = 60  # characters of a file's name


class Files(msgspec.Struct, frozen=True):
    """Where a table's files are."""

    csv: str
    json: str


@dataclass
class Shelf:
    """The tables of one page; a table that is printed again keeps its files."""

    address: str
    _placed: dict[str, Table] = field(default_factory=dict)

    def put(self, table: Table) -> Files:
        """Take a table in; the addresses of its files."""
        stem = re.sub(r"[^a-z0-9]+", "-", table.caption.lower())[:_LONGEST].strip("-") or "table"
        number = 1
        while self._placed.setdefault(_numbered(stem, number), table) is not table:
            number += 1
        place = f"{self.address.removesuffix('.md')}/tables/{_numbered(stem, number)}"
        return Files(f"{place}.csv", f"{place}.json")

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Every file with its address."""
        for table in self._placed.values():
            where, rows = self.put(table), list(_records(table))
            yield where.csv, _csv(rows)
            yield where.json, _json(table, rows)


Record = dict[str, str | float | None]
"""A row by head; None where nothing is known."""


def _numbered(stem: str, number: int) -> str:
    return stem if number == 1 else f"{stem}-{number}"


def _records(table: Table) -> Iterator[Record]:
    columns = [[row[place] for row in table.rows] for place in range(len(table.columns))]
    detailed = [any(each.detail for each in column) for column in columns]
    measured = [any(each.order for each in column) for column in columns]
    nested = any(each.depth for column in columns[:1] for each in column)
    groups = dict(table.groups)
    group = ""
    for number, row in enumerate(table.rows):
        group = groups.get(number, group)
        record: Record = ({"Group": group} if groups else {}) | ({"Depth": row[0].depth} if nested else {})
        for place, each in enumerate(row):
            title = table.columns[place].title
            record[title] = _text(each)
            if detailed[place]:
                record[f"{title}, detail"] = each.detail or None
            if measured[place]:
                record[f"{title}, value"] = float(each.order) if each.order else None
        yield record


def _text(each: Cell) -> str | None:
    return None if each.kind == "missing" else each.exact or each.full or each.text


def _csv(rows: Sequence[Record]) -> bytes:
    return sheet(map(cell, rows[0] if rows else ()), (map(_plain, row.values()) for row in rows))


def _plain(value: str | float | None) -> str:
    if isinstance(value, str):
        return cell(value)
    return "" if value is None else f"{value:.9g}"


def _json(table: Table, rows: Sequence[Record]) -> bytes:
    columns = {column.title: column.meaning for column in table.columns}
    return msgspec.json.encode({"caption": table.caption, "columns": columns, "rows": rows}) + b"\n"
