"""Predictions in TOML: what a file may say, and the sentence that names the table and the key where it may not."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from test_prediction import EXAMPLES

from foretrace import expectations
from foretrace.errors import UnreadableInput, WrongUsage
from foretrace.prediction import KINDS, AllOf, Counted, Expectation, RatioWithin, Within

GOOD = """
[[expect]]
kind = "count"
activity = "kernel"
number = 5
where = { rank = [0, 1] }
because = "one GEMM and four pointwise operators"

[[expect]]
kind = "within"
quantity = "traced_busy_share"
low = 0.4
because = "the GEMM is large"

[[expect]]
kind = "ratio"
quantity = "gpu_busy_us"
of = { rank = 1 }
over = { rank = 0 }
low = 0.9
high = 1.1
because = "the ranks do the same"

[[expect]]
kind = "all"
because = "both"
[[expect.parts]]
kind = "appears"
what = "kernel"
name = "nccl*"
how_often = "always"
[[expect.parts]]
kind = "bound"
limiter = "communication"
"""


def read(folder: Path, text: str) -> tuple[object, ...]:
    path = folder / "expect.toml"
    path.write_text(text)
    return expectations.read(path)


def test_a_table_is_an_expectation_like_any_other(tmp_path: Path) -> None:
    count, share, ratio, both = read(tmp_path, GOOD)

    assert count == Counted(
        activity="kernel", number=5, where={"rank": [0, 1]}, because="one GEMM and four pointwise operators"
    )
    assert share == Within(quantity="traced_busy_share", low=0.4, because="the GEMM is large")
    assert isinstance(ratio, RatioWithin)
    assert (ratio.of, ratio.over, ratio.high) == ({"rank": 1}, {"rank": 0}, 1.1)
    assert isinstance(both, AllOf)
    assert [part.describe() for part in both.parts] == ["kernel nccl* in every step", "communication-bound"]


ONE = '[[expect]]\nkind = "count"\nactivity = "kernel"\nnumber = 1\nbecause = "x"\n'
LIMITS = '[[expect]]\nkind = "within"\nquantity = "step_us"\nbecause = "x"\n'


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("", "expect.toml", "expects nothing"),
        ("expect = 3", "expect.toml", "expects nothing"),
        ("expect = [3]", "table 1", "is no table"),
        ("[[expect]\n", "expect.toml", "is not TOML"),
        (f'title = "x"\n{ONE}', "key title", "is not a key of this file"),
        (f"{ONE}[[expect]]\nnumber = 1\n", "table 2, key kind", "is missing"),
        ('[[expect]]\nkind = "counts"\n', "table 1, key kind", "is not one that can be expected of a trace: counts"),
        ("[[expect]]\nkind = 7\n", "table 1, key kind", "is not one that can be expected of a trace: 7"),
        (f"{ONE}[[expect]]\n{ONE[11:]}activty = 1\n", "table 2, key activty", "is not one of a count's"),
        (ONE.replace("number = 1", 'number = "1"'), "table 1, key number", "expected `int`"),
        (ONE.replace("number = 1\n", ""), "table 1, key number", "missing required field"),
        (ONE.replace('"kernel"', '"kernels"'), "table 1, key activity", "invalid enum value 'kernels'"),
        (ONE.replace('because = "x"\n', ""), "table 1, key because", "gives no reason"),
        (f'{ONE}family = "gemm"\n'.replace('"kernel"', '"memcpy"'), "table 1", "only kernels have a family"),
        (LIMITS, "table 1, keys low and high", "without limits"),
        (f"{LIMITS}low = 3\nhigh = 2\n", "table 1, keys low and high", "lower end comes first"),
        (f"{LIMITS}low = nan\n", "table 1, key low", "is no finite number"),
        (f"{LIMITS}high = inf\n", "table 1, key high", "is no finite number"),
        (f"{LIMITS}low = 1\n".replace("step_us", "steps"), "table 1, key quantity", "no such quantity"),
        (ONE.replace('because = "x"', "because = 2026-11-30"), "table 1, key because", "expected `str`"),
        ('[[expect]]\nkind = "bound"\nlimiter = "undecided"\nbecause = "x"\n', "table 1", "is a verdict"),
        (ONE.replace("number = 1", "number = -1"), "table 1, key number", "less often than never"),
        (f'{ONE}family = "gemmm"\n', "table 1, key family", "no such family"),
        *(
            (f'[[expect]]\nbecause = "x"\nfamily = "gemmm"\n{rest}', "table 1, key family", "no such family")
            for rest in (
                'kind = "decoded"\nfield = "layout"\nvalue = "tn"',
                'kind = "preceded"\ncall = "cudaMalloc"\nhow_often = "never"',
                'kind = "share"\nhigh = 0.1',
                'kind = "geometry"\nfield = "registers"\nhigh = 9',
                'kind = "distinct"\nfield = "tile"\nleast = 2',
                'kind = "kernels"\nrelation = "same"\nbetween = { rank = [0, 1] }',
            )
        ),
        ('[[expect]]\nkind = "calls"\ncall = "x"\nnumber = -1\nbecause = "x"', "key number", "less often than never"),
        ('[[expect]]\nkind = "launches"\nop = "x"\nnumber = -1\nbecause = "x"', "key number", "less often than never"),
        ('[[expect]]\nkind = "share"\nfamily = "gemm"\nhigh = 20\nbecause = "x"', "keys low and high", "0 and 1"),
        (LIMITS.replace("step_us", "traced_busy_share") + "high = 80", "keys low and high", "0 and 1"),
        ('[[expect]]\nkind = "part"\npart = "up"\nmeasure = "gbps"\nlow = 1\nbecause = "x"', "key kind", "of a trace"),
        (
            f'[[expect]]\nkind = "all"\nbecause = "x"\n[[expect.parts]]\n{ONE[11:].replace("= 1", "= -1")}',
            "table 1, part 1, key number",
            "less often than never",
        ),
        (
            f'[[expect]]\nkind = "all"\nbecause = "x"\nwhere = {{ rank = 0 }}\n[[expect.parts]]\n{ONE[11:]}',
            "table 1, key where",
            "is not one of an all's",
        ),
        (
            f'[[expect]]\nkind = "all"\nbecause = "x"\n[[expect.parts]]\n{ONE[11:]}nope = 1\n',
            "table 1, part 1, key nope",
            "is not one of a count's",
        ),
    ],
)
def test_what_cannot_be_expected_is_named_by_table_and_key(tmp_path: Path, text: str, where: str, what: str) -> None:
    with pytest.raises(WrongUsage) as refused:
        read(tmp_path, text)

    assert where in refused.value.where
    assert what in refused.value.what
    assert str(refused.value).count("\n") == 0


def test_a_file_that_is_not_there_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match=r"none\.toml: cannot be read"):
        expectations.read(tmp_path / "none.toml")


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "expect.toml"
    path.write_bytes(b"\xff\xfe")

    with pytest.raises(WrongUsage, match="is not TOML"):
        expectations.read(path)


def test_the_guide_shows_what_can_be_read(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[1] / "docs" / "guide" / "traces.md").read_text()
    blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", guide, re.MULTILINE)
    (example,) = [block for block in blocks if "[[expect]]" in block]
    toml = "\n".join(line.removeprefix("    ") for line in example.splitlines() if "foretrace report" not in line)
    kinds = re.findall(r"^\| `(\w+)` \| (.*) \|$", guide, re.MULTILINE)

    assert len(read(tmp_path, toml)) == 3
    assert {tag for tag, _ in kinds} == expectations._TAGS.keys()
    for tag, keys in kinds:
        (kind,) = [kind for kind in KINDS if kind.__struct_config__.tag == tag]
        assert set(re.findall(r"`(\w+)", keys)) - {"rank"} <= set(kind.__struct_fields__), tag


@pytest.mark.parametrize("kind", expectations._TAGS.values(), ids=lambda kind: kind.__name__)
def test_every_kind_can_stand_in_a_file_and_none_without_limits(kind: type[Expectation], tmp_path: Path) -> None:
    said = msgspec.structs.replace(EXAMPLES[kind][0], because="for this reason")
    table = msgspec.to_builtins(said)

    assert expectations._expectation(table, "table 1") == said
    if {"low", "high"} <= set(kind.__struct_fields__):
        with pytest.raises(WrongUsage, match="keys low and high: an interval without limits"):
            expectations._expectation(
                {key: value for key, value in table.items() if key not in {"low", "high"}}, "table 1"
            )
