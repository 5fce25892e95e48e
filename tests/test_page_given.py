"""Pages of traces that came along: what they say first, what they mark, and what they do not make up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import builders
from builders import annotation, kernel, launch, op, step

from foretrace import intake, page
from foretrace.page import given
from foretrace.page.models import ReportPage, Table
from foretrace.prediction import Counted, Within
from foretrace.render import markdown

TALK = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


def steps(*, us: float = 100, talk: float = 10, extra: int = 0, count: int = 8) -> list[dict[str, Any]]:
    """Steps of two kernels, one of which communicates, and some more."""
    events: list[dict[str, Any]] = []
    for number in range(count):
        start, first = 1000 * number, 100 * number + 1
        names = [("gemm", 20.0), (TALK, talk), *((f"extra{place}", 1.0) for place in range(extra))]
        events += [step(number, at=start, us=us + number % 2), op("aten::mm", at=start + 1, us=us / 2)]
        for place, (name, duration) in enumerate(names):
            at = start + 2 + place
            events += [
                launch(at=at, us=0.5, correlation=first + place),
                kernel(name, at=at + 5, us=duration, stream=7 + place, correlation=first + place),
            ]
    return events


def report(folder: Path, *traces: list[dict[str, Any]], world: int = 0, **wish: Any) -> page.Pages:
    """The pages of a report on traces of these events."""
    given = folder / "job"
    given.mkdir()
    for rank, events in enumerate(traces):
        members = (
            {"distributedInfo": {"rank": rank, "world_size": world or len(traces)}} if len(traces) > 1 or world else {}
        )
        (given / f"rank{rank}.json").write_text(json.dumps(builders.document(*events, **members)))
    path = given if len(traces) > 1 else given / "rank0.json"
    found = intake.add(folder / "traces", [path], intake.Wish(**wish), workspace=folder)
    return page.build(examined=found)


def only(pages: page.Pages) -> ReportPage:
    (found,) = pages.reports
    return found


def column(table: Table | None, title: str) -> list[tuple[str, str]]:
    """Text and smaller line of each cell."""
    assert table is not None
    place = [each.title for each in table.columns].index(title)
    return [(row[place].text, row[place].detail) for row in table.rows]


def test_one_trace_is_one_page_with_all_that_it_shows(tmp_path: Path) -> None:
    pages = report(tmp_path, steps(), title="A run")
    (trace,) = only(pages).traces
    text = markdown(pages, prose={})[only(pages).address]

    assert only(pages).ranks is None
    assert only(pages).address == trace.address == "reports/traces/rank0.md"
    for section in (
        "timeline",
        "usage",
        "layers",
        "gpu-work",
        "names",
        "steps",
        "chain",
        "calls",
        "quantities",
        "integrity",
    ):
        assert f"{{ #{section} }}" in text
    assert "in the first round" not in text


def test_the_slowest_rank_and_the_one_that_communicates_least_are_marked(tmp_path: Path) -> None:
    found = only(report(tmp_path, steps(talk=30), steps(us=200, talk=10), steps(talk=30)))

    assert [detail == "the slowest" for _, detail in column(found.ranks, "Step")] == [False, True, False]
    assert [detail for _, detail in column(found.ranks, "Communication")] == ["", "spends least in communication", ""]
    assert found.ranks is not None
    assert found.ranks.left_out == ""


def test_no_rank_is_marked_where_all_are_alike(tmp_path: Path) -> None:
    found = only(report(tmp_path, steps(), steps()))

    assert "the slowest" not in {detail for _, detail in column(found.ranks, "Step")}
    assert {detail for _, detail in column(found.ranks, "Communication")} == {""}
    assert found.ranks is not None
    assert "No rank is the slowest beyond doubt" in found.ranks.left_out


def test_a_rank_that_launches_something_else_says_so(tmp_path: Path) -> None:
    found = only(report(tmp_path, steps(), steps(extra=1), steps()))

    assert column(found.ranks, "Differs") == [("in nothing", ""), ("1 more extra0", ""), ("in nothing", "")]
    assert [text for text, _ in column(found.ranks, "Kernels")] == ["2", "3", "2"]


def test_a_rank_is_told_to_communicate_least_only_by_a_margin_in_time_and_not_in_share(tmp_path: Path) -> None:
    for number, (least, others) in enumerate([(25, 29), (0.5, 1.2), (10, 10)]):
        ranks = [steps(talk=others), steps(us=150 if least == others else 100, talk=least), steps(talk=others)]
        folder = tmp_path / str(number)
        folder.mkdir()
        found = only(report(folder, *ranks))
        assert {detail for _, detail in column(found.ranks, "Communication")} == {""}, (least, others)


def test_ranks_with_other_numbers_of_steps_are_compared_by_the_step(tmp_path: Path) -> None:
    found = only(report(tmp_path, steps(), steps(count=4), steps(count=6)))

    assert column(found.ranks, "Differs") == [("in nothing", "")] * 3


def unlinked(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same without the launches that start the kernels."""
    return [event for event in events if event["cat"] != "cuda_runtime"]


def test_a_rank_whose_launches_are_not_known_differs_in_nothing_that_anybody_saw(tmp_path: Path) -> None:
    found = only(report(tmp_path, steps(), steps(), unlinked(steps())))

    assert [text for text, _ in column(found.ranks, "Differs")] == ["in nothing", "in nothing", "withheld"]


def test_of_two_ranks_of_which_one_is_not_known_none_differs(tmp_path: Path) -> None:
    found = only(report(tmp_path, steps(), unlinked(steps())))

    assert [text for text, _ in column(found.ranks, "Differs")] == ["n/a", "withheld"]


def test_kernels_of_one_label_are_told_apart_by_their_names(tmp_path: Path) -> None:
    names = [f"void at::native::vectorized_elementwise_kernel<4, F>({kind})" for kind in ("int", "long")]
    ranks = [[{**event, "name": event["name"].replace("gemm", name)} for event in steps()] for name in names]
    found = only(report(tmp_path, *ranks, ranks[0]))
    (_, (text, _), _) = column(found.ranks, "Differs")

    assert text == f"1 fewer {names[0]}, 1 more {names[1]}"


def test_a_rank_whose_gpu_times_cannot_be_trusted_does_not_read_as_one_that_is_silent(tmp_path: Path) -> None:
    broken = [{**event, "dur": -1} if event["cat"] == "kernel" else event for event in steps()]
    found = only(report(tmp_path, steps(), broken))

    assert [text for text, _ in column(found.ranks, "Communication")][1] == "withheld"


def test_ranks_that_do_not_communicate_have_no_share_of_it(tmp_path: Path) -> None:
    silent = [[step(1, at=0, us=50), launch(at=1, correlation=1), kernel(at=9, us=10, correlation=1)]] * 2
    found = only(report(tmp_path, *silent))

    assert found.ranks is not None
    assert "Communication" not in [each.title for each in found.ranks.columns]


def test_each_of_several_ranks_has_a_page_of_its_own(tmp_path: Path) -> None:
    pages = report(tmp_path, steps(), steps(), name="job")
    texts = markdown(pages, prose={})

    assert {"reports/traces/job.md", "reports/traces/job/rank-0.md", "reports/traces/job/rank-1.md"} <= texts.keys()
    assert 'href="job/rank-1.html"' in texts["reports/traces/job.md"]
    assert 'href="../job.html"' in texts["reports/traces/job/rank-1.md"]
    assert 'href="traces/job.html"' in texts["reports/index.md"]


def test_missing_ranks_are_said(tmp_path: Path) -> None:
    found = only(report(tmp_path, steps(), world=8))

    assert [notice.title for notice in found.notices] == ["Not all ranks"]
    assert "8 ranks, one trace is here" in found.notices[0].text


def test_predictions_are_judged_by_rank_and_lead_to_its_page(tmp_path: Path) -> None:
    expected = (
        Counted(activity="kernel", number=2, because="one GEMM, one all-reduce"),
        Counted(activity="kernel", number=3, where={"rank": 1}, because="one more"),
        Within(quantity="step_us", high=1, because="fast"),
    )
    found = only(report(tmp_path, steps(), steps(), name="job", predictions=expected))

    assert [said.state for said in found.predictions] == ["held", "refuted", "undecided"]
    assert [link.to for link in found.predictions[1].evidence[0].variants] == ["reports/traces/job/rank-1.md"]
    assert found.predictions[1].parts[0].where == "rank 1"


def test_a_guess_is_told_apart_from_a_prediction(tmp_path: Path) -> None:
    guess = (Counted(activity="kernel", number=3),)
    text = markdown(report(tmp_path, steps(), guesses=guess, name="x"), prose={})["reports/traces/x.md"]

    assert "guess 1" in text
    assert "prediction 1" not in text
    assert "Sealed before the trace was opened" in text


def test_a_window_without_steps_is_said_first(tmp_path: Path) -> None:
    (trace,) = only(report(tmp_path, [annotation("train", at=0, us=90), op("aten::mm", at=1, us=50)])).traces

    assert "The trace marks none: the whole window stands for one." in [notice.text for notice in trace.notices]


def test_why_nothing_limits_a_step_is_a_sentence_and_said_once(tmp_path: Path) -> None:
    (trace,) = only(report(tmp_path, [step(1, at=0, us=90), op("aten::mm", at=1, us=50)])).traces

    assert trace.bound == "undecided"
    assert trace.bound_evidence == "Neither CUDA calls nor GPU activity were recorded."
    assert trace.bound_evidence not in [notice.text for notice in trace.notices]


def test_no_table_prints_a_zero_for_what_was_not_recorded(tmp_path: Path) -> None:
    missing = [step(1, at=0, us=50), launch(at=1, correlation=1), launch(at=9, correlation=2)]
    (trace,) = only(report(tmp_path, missing)).traces
    quantities = dict(
        zip(*(([text for text, _ in column(trace.quantities, title)]) for title in ("Quantity", "Median")), strict=True)
    )

    assert trace.usage is None
    assert trace.kernels is None
    assert "0" not in quantities.values()
    assert [each.title for each in trace.steps.columns] == ["Step", "Begins", "Width"] if trace.steps else False


def test_thousands_of_names_make_a_page_that_a_reader_can_load(tmp_path: Path) -> None:
    events: list[dict[str, Any]] = [step(1, at=0, us=100_000)]
    for number in range(1500):
        name = f"void kernel_{number}<{', '.join(f'Type{at}<{number}>' for at in range(60))}>(float*)"
        at = 10 + 20 * number
        events += [
            annotation(f"label {number} " + "<x>" * 500, at=at, us=18),
            op(f"op::{number}<" + "&" * 500, at=at, us=15),
            launch(at=at + 1, us=2, correlation=number + 1),
            kernel(name, at=at + 4, us=3, correlation=number + 1),
        ]
    pages = report(tmp_path, events, name="big")
    text = markdown(pages, prose={})["reports/traces/big.md"]
    (trace,) = only(pages).traces

    assert len(text.encode()) < 900_000
    assert trace.kernels is not None
    assert len(trace.kernels.rows) == 1500
    assert "The first 200 of 1,500 rows; all are in the files." in text
    assert trace.more_names.startswith("1,4")


def test_a_report_takes_no_name_that_a_site_builder_reads_otherwise(tmp_path: Path) -> None:
    pages = report(tmp_path, steps(), steps(), name="index")

    assert only(pages).address == "reports/traces/index-page.md"
    assert [trace.address for trace in only(pages).traces] == [
        "reports/traces/index-page/rank-0.md",
        "reports/traces/index-page/rank-1.md",
    ]


def test_every_report_is_listed_however_many_there_are(tmp_path: Path) -> None:
    listed = given.listed([only(report(tmp_path, steps()))] * 201)
    assert listed is not None
    assert len(listed.shown) == 201


def test_work_without_a_usable_duration_has_no_time_in_any_table(tmp_path: Path) -> None:
    lost = kernel("k", at=20, us=5, correlation=1) | {"dur": None}
    events = [step(1, at=0, us=50), op("aten::mm", at=1, us=9), launch(at=2, us=2, correlation=1), lost]
    (trace,) = only(report(tmp_path, events)).traces

    for table, titles in (
        (trace.kernels, ("Duration", "Share")),
        (trace.steps, ("Kernel time", "GPU busy")),
        (trace.operators, ("GPU time a step",)),
        (trace.calls, ("GPU time a step",)),
    ):
        for title in titles:
            assert {text for text, _ in column(table, title)} == {"withheld"}, title
