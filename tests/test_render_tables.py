"""Every table of a page as CSV and JSON beside it: all rows, numbers in full, and no cell that a program would obey."""

from __future__ import annotations

import csv
import io
import json

import pytest

from foretrace.page.models import Cell, Column, Table
from foretrace.render.data import cell
from foretrace.render.tables import Shelf

NAME = Column(title="Name", meaning="Whose.")
TIME = Column(title="Time", meaning="How long.", numeric=True)


def table(*rows: tuple[Cell, ...], caption: str = "Times of X", **more: object) -> Table:
    return Table(caption=caption, columns=(NAME, TIME), rows=rows, **more)  # type: ignore[arg-type]


def row(name: str, value: float = 1.5) -> tuple[Cell, Cell]:
    return Cell(text=name, kind="code"), Cell(text=f"{value} µs", order=f"{value}", detail="1 … 2 µs")


def files(*tables: Table) -> dict[str, bytes]:
    shelf = Shelf("reports/x.md")
    for each in tables:
        shelf.put(each)
    return dict(shelf.files())


def read(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode(), newline="")))


def test_a_csv_has_what_is_read_and_the_number_behind_it() -> None:
    made = files(table(row("gemm")))

    assert read(made["reports/x/tables/times-of-x.csv"]) == [
        {"Name": "gemm", "Time": "1.5 µs", "Time, detail": "1 … 2 µs", "Time, value": "1.5"}
    ]


def test_a_json_has_the_same_and_the_meaning_of_each_column() -> None:
    made = json.loads(files(table(row("gemm")))["reports/x/tables/times-of-x.json"])

    assert made == {
        "caption": "Times of X",
        "columns": {"Name": "Whose.", "Time": "How long."},
        "rows": [{"Name": "gemm", "Time": "1.5 µs", "Time, detail": "1 … 2 µs", "Time, value": 1.5}],
    }


def test_files_have_the_rows_and_the_names_that_the_page_leaves_out() -> None:
    long = Cell(text="ab…yz", exact="abcdefghijklmnopqrstuvwxyz", kind="code")
    big = table(*(row(f"k{number}") for number in range(500)), (long, Cell(text="1")), most=200)
    rows = read(files(big)["reports/x/tables/times-of-x.csv"])

    assert (len(big.shown), len(rows)) == (200, 501)
    assert rows[-1]["Name"] == "abcdefghijklmnopqrstuvwxyz"


def test_what_is_not_known_is_empty_and_null() -> None:
    missing = Cell(text="n/a", hint="not recorded", kind="missing")
    made = files(table(row("gemm"), (Cell(text="add"), missing)))

    assert read(made["reports/x/tables/times-of-x.csv"])[1]["Time"] == ""
    assert json.loads(made["reports/x/tables/times-of-x.json"])["rows"][1]["Time"] is None


def test_groups_and_nesting_are_columns() -> None:
    nested = (Cell(text="inner", depth=2), Cell(text="1"))
    made = files(table(row("a"), row("b"), nested, groups=((0, "First"), (1, "Second"))))

    assert [(each["Group"], each["Depth"]) for each in read(made["reports/x/tables/times-of-x.csv"])] == [
        ("First", "0"),
        ("Second", "0"),
        ("Second", "2"),
    ]


def test_tables_of_one_caption_have_files_of_their_own_and_a_table_printed_twice_has_one() -> None:
    one, other = table(row("a")), table(row("b"))
    made = files(one, other, one)

    assert sorted(made) == [
        f"reports/x/tables/times-of-x{n}.{ending}" for n in ("-2", "") for ending in ("csv", "json")
    ]


@pytest.mark.parametrize("caption", ["../../etc/passwd", "<script>", "", "x" * 500, "a\nb", "Ünï"])
def test_a_caption_cannot_choose_a_place(caption: str) -> None:
    for address in files(table(row("a"), caption=caption)):
        assert address.startswith("reports/x/tables/")
        assert address.count("/") == 3
        assert len(address) < 100


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1"])
def test_no_spreadsheet_takes_a_name_for_a_formula(name: str) -> None:
    text = files(table(row(name)))["reports/x/tables/times-of-x.csv"].decode()

    assert cell(name).startswith("'")
    assert read(text.encode())[0]["Name"] == cell(name)
    assert len(text.splitlines()) == 2


def test_a_number_below_zero_stays_a_number() -> None:
    made = files(table(row("x", -2.5)))["reports/x/tables/times-of-x.csv"]

    assert read(made)[0]["Time, value"] == "-2.5"


def test_a_name_over_several_lines_is_one_record_that_no_terminal_obeys() -> None:
    text = files(table(row('a\nb,"c"\x1b[31m')))["reports/x/tables/times-of-x.csv"].decode()

    assert len(text.splitlines()) == 2
    assert "\x1b" not in text
