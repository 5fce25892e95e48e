"""What a page says of a study, before it is rendered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import facts_builder
import msgspec
import pytest
import studies

from foretrace import page
from foretrace.facts import QUANTITIES, Facts, Link
from foretrace.page import (
    addresses,
    comparison,
    definitions,
    front,
    layers,
    questions,
    readings,
    runs,
    statements,
    sweep,
)
from foretrace.page.models import ScenarioPage, Table, VariantPage
from foretrace.page.variant import GROUPS, notices
from foretrace.prediction import Finding, Unmeasured, Verdict
from foretrace.record import Environment, Failure
from foretrace.scenario import Sealed, grid
from foretrace.study import Investigation, Study

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def build(study: Study | None = None, **more: Any) -> page.Pages:
    return page.build(study or studies.study(), timelines=studies.TIMELINES, **more)


def scenario(study: Study | None = None, **more: Any) -> ScenarioPage:
    (found,) = build(study, **more).scenarios
    return found


def variant(name: str, study: Study | None = None) -> VariantPage:
    return next(found for found in build(study).variants if found.name == name)


def tables(*models: msgspec.Struct) -> Iterator[Table]:
    for model in models:
        for value in msgspec.structs.asdict(model).values():
            if isinstance(value, Table):
                yield value
            elif isinstance(value, tuple):
                yield from tables(*(one for one in value if isinstance(one, msgspec.Struct)))


def heads(table: Table) -> list[str]:
    return [column.title for column in table.columns]


def column(table: Table, title: str) -> list[str]:
    place = heads(table).index(title)
    return [row[place].text for row in table.rows]


def on_cpu() -> Study:
    """A run without a GPU: CPU times and operators only."""
    study = studies.study(
        environment=Environment(device="cpu", gpu=None, versions={}, cpu_model="Test CPU", cpu_count=2)
    )
    investigation = study.investigations["matmul_add"]
    cpu = {"dispatch_us": studies.around(20.0), "step_us": studies.around(21.0)}
    facts: dict[str, Facts | Unmeasured] = {
        name: msgspec.structs.replace(
            facts_builder.facts(found.params, steps=(0, 0, 0), withheld={"activities": "there was no GPU"}, **cpu),
            calls=(facts_builder.call("aten::mm"),),
            chain=(Link(depth=0, kind="op", name="aten::mm", start_us=0.1, dur_us=9.0, launched=()),),
        )
        for name, found in investigation.facts.items()
    }
    investigation = msgspec.structs.replace(investigation, facts=facts)
    return msgspec.structs.replace(study, investigations={"matmul_add": investigation})


def test_the_scoreboard_counts_predictions_and_claims_apart() -> None:
    ours, theirs = build().front.scores

    assert (ours.held, ours.refuted, ours.undecided, ours.total) == ("2", "0", "2", "4")
    assert (theirs.held, theirs.refuted, theirs.undecided, theirs.total) == ("1", "1", "0", "2")


def test_every_statement_that_did_not_hold_is_on_the_front_page() -> None:
    found = [(mismatch.statement.key, mismatch.statement.state) for mismatch in build().front.mismatches]

    assert found == [("3", "undecided"), ("4", "undecided"), ("P1-13", "refuted")]


def test_gpu_time_never_stands_without_cpu_time() -> None:
    pages = build()

    for table in tables(*pages.scenarios):
        if any("GPU busy" in head for head in heads(table)):
            assert any("CPU dispatch" in head for head in heads(table)), table.caption


def test_a_failed_variant_is_shown_with_its_reason_and_the_end_of_its_stderr() -> None:
    failed = variant("8192-compile")

    assert [notice.title for notice in failed.notices] == ["Failed: out of memory"]
    assert failed.notices[0].text == "CUDA ran out of memory: 40 GiB asked for"
    assert failed.notices[0].block.startswith("line 1\n")
    assert failed.quantities is None
    assert failed.kernels is None
    assert [link.text for link, _ in scenario().failures] == ["8192-compile"]
    assert [link.text for link, _ in build().front.failures] == ["Matmul and add, 8192-compile"]


def test_a_failed_variant_has_no_row_of_blanks_but_is_counted() -> None:
    shown = scenario()
    assert shown.steps is not None

    assert "8192-compile" not in column(shown.steps, "Variant")
    assert shown.steps.left_out == "1 variant was not measured: see the table of variants."
    assert "8192-compile" in column(shown.variants, "Variant")


def test_a_variant_that_was_never_measured_says_so() -> None:
    study = studies.study()
    investigation = study.investigations["matmul_add"]
    unknown = Unmeasured(params={"size": 64, "mode": "eager"}, reason="the run ended before it")
    facts = {**investigation.facts, "64-eager": unknown}
    study = msgspec.structs.replace(
        study,
        investigations={"matmul_add": msgspec.structs.replace(investigation, facts=facts, outcomes={})},
    )

    assert [notice.text for notice in variant("64-eager", study).notices] == ["the run ended before it"]
    assert variant("64-eager", study).files == ()


def test_a_withheld_quantity_is_named_with_its_reason_and_has_no_figure() -> None:
    found = variant("64-eager")

    assert found.quantities is not None
    assert QUANTITIES["sync_us"].title not in column(found.quantities, "Quantity")
    assert found.withheld == ((QUANTITIES["sync_us"].title, "the trace has no closing synchronisation"),)


def test_a_run_on_the_cpu_says_what_it_cannot_tell_and_has_no_empty_gpu_tables() -> None:
    study = on_cpu()
    shown, one = scenario(study), variant("64-eager", study)

    assert [notice.title for notice in shown.notices] == ["Measured without a GPU"]
    assert shown.cpu_gpu is None
    assert shown.beside is None
    assert one.kernels is None
    assert one.layers is None
    assert one.chain is not None
    assert heads(one.chain)[-1] == "Takes"
    assert one.steps is not None
    assert "Kernel time" not in heads(one.steps)
    assert one.calls is not None
    assert "GPU time" not in heads(one.calls)
    assert all("GPU busy" not in head for table in tables(shown) for head in heads(table))


def test_a_declaration_that_changed_since_the_run_is_pointed_out() -> None:
    assert scenario().seal.changed == ""
    assert "sealed" in scenario(changed=frozenset({"matmul_add"})).seal.changed


def test_an_unfinished_run_is_pointed_out() -> None:
    assert "Not finished" in [notice.title for notice in scenario(studies.study(finished_utc="")).notices]


@pytest.mark.parametrize("named", ["--name mine", "--name=mine", "--rounds 12 --name 2026.11_a~b"])
def test_the_command_that_repeats_a_run_does_not_ask_for_its_name(named: str) -> None:
    said = runs.card(studies.run(command=f"foretrace run {named} matmul_add"), ()).command
    assert "name" not in said
    assert said.endswith(" matmul_add")


def test_each_scenario_comes_from_the_newest_run_that_has_it() -> None:
    old = studies.study(id="old", started_utc="2026-11-29T10:00:00Z")
    new = studies.study(id="new", started_utc="2026-11-30T10:00:00Z")

    for order in ((old, new), (new, old)):
        (found,) = page.build(*order).scenarios
        assert found.run.id == "new"


def test_times_of_a_column_are_in_one_unit() -> None:
    table = scenario().cpu_gpu
    assert table is not None

    assert {text.split()[-1] for text in column(table, "GPU busy") if text != "n/a"} == {"µs"}


def test_short_and_long_times_share_a_readable_unit() -> None:
    kernels = variant("64-eager").kernels
    assert kernels is not None

    assert {text.split()[-1] for text in column(kernels, "Duration")} == {"µs"}


def test_a_kernel_row_has_the_decoded_label_a_link_to_the_name_and_both_occupancies() -> None:
    found = variant("64-eager")
    kernels = found.kernels
    assert kernels is not None
    row = dict(zip(heads(kernels), kernels.rows[0], strict=True))

    assert row["GPU work"].text == "nvjet gemm 128×256×64 bf16"
    assert row["GPU work"].to == f"{found.address}#{found.names[0].anchor}"
    assert found.names[0].name == studies.GEMM
    assert (row["Occupancy"].text, row["Occupancy"].detail) == ("12.5 %", "shared memory")
    assert row["Reported"].text == "0 %"
    assert (row["Grid × block"].text, row["Grid × block"].detail) == ("16 × 32 × 1", "× 128 × 1 × 1")


def test_work_launched_outside_the_steps_is_told_apart() -> None:
    assert variant("64-eager").outside == "0 kernels + 1 memset"


def test_a_mismatch_links_the_variants_that_it_rests_on() -> None:
    said = next(found for found in scenario().claims if found.key == "P1-13")

    assert [link.to for one in said.evidence for link in one.variants] == [
        "reports/matmul-add/4096-eager.md",
        "reports/matmul-add/4096-compile.md",
    ]


def answers(study: Study | None = None) -> dict[str, tuple[str, tuple[str, ...]]]:
    (found,) = scenario(study).comparisons
    return {answer.question: (answer.short, answer.said) for answer in found.answers}


def test_a_comparison_answers_the_four_questions() -> None:
    one, both = "on 1 of 2 pairs", " (64-compile, 4096-compile)"

    assert answers() == {
        "Did CPU dispatch shrink?": (
            "no, it grew",
            ("CPU dispatch time higher on 2 of 2 pairs: 1.43× (64-compile), 1.43× (4096-compile).",),
        ),
        "Did the number of GPU kernels shrink?": (
            "yes",
            (f"2 kernels → 1 kernel + 1 memcpy{both}.",),
        ),
        "Did the GEMM really change?": (
            "in a detail only",
            (f"Same family and tile: beta zero → added; tile 128x256, type bf16, layout nnt in both{both}.",),
        ),
        "Does the gain carry over?": (
            "no pair got faster",
            (
                f"Step time higher {one}: 1.41× (64-compile); not told apart {one}: 1.00× (4096-compile).",
                "Varied: size 64, 4096. Matrix products in bf16 only.",
            ),
        ),
    }


@pytest.mark.parametrize(
    ("other", "relation", "differs"),
    [
        (studies.GEMM, "same kernel", ""),
        ("nvjet_tst_64x8_64x16_1x4_h_bz_NNT", "same family, other tile", "tile 128x256 → 64x8"),
        ("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT", "other kernel", "layout nnt → tnt"),
        ("triton_tem_fused_addmm_0", "other kernel", "tile 128x256 → not said"),
    ],
)
def test_two_gemms_are_told_apart_by_tile_type_and_layout(other: str, relation: str, differs: str) -> None:
    one, two = (
        msgspec.structs.replace(facts_builder.facts({}), kernels=(facts_builder.kernel(name),))
        for name in (studies.GEMM, other)
    )
    found = questions.gemm(one, two)

    assert found is not None
    assert (found.relation, found.differs.split(";")[0]) == (relation, differs)


def test_a_step_is_split_into_its_three_layers() -> None:
    table = variant("64-compile").layers
    assert table is not None

    assert column(table, "Layer")[0] == "CPU dispatch"
    assert {"GPU: gemm", "GPU: memcpy"} <= set(column(table, "Layer"))
    assert column(table, "A step")[0] == "33.8 µs"


def test_work_of_a_family_that_one_side_lacks_is_none_there() -> None:
    (found,) = scenario().comparisons

    assert "memcpy none → " in column(found.layers, "GPU work")[1]


def test_layers_that_cannot_be_trusted_are_not_shown() -> None:
    facts = msgspec.structs.replace(studies.measured(64, "eager"), withheld={"kernel_us": "kernels are missing"})

    assert layers.families(facts) == {}


def test_a_kernels_name_is_read_piece_by_piece() -> None:
    found = variant("64-eager").names[0]

    assert "".join(piece.text for piece in found.pieces) == studies.GEMM
    assert ("128x256", "B") in [(piece.text, piece.confidence) for piece in found.told]
    assert found.notes == ("without a bias flag a separate kernel may still add a bias",)


def test_a_very_long_name_is_cut_and_says_so() -> None:
    name = f"void kernel<{'at::native::Functor<float>, ' * 200}>"
    (found,) = readings.readings([facts_builder.kernel(name)])

    assert sum(len(piece.text) for piece in found.pieces) == readings.LONGEST
    assert found.more == f"{len(name) - readings.LONGEST:,} more characters of the name are in the trace."


def test_every_quantity_is_in_one_group() -> None:
    grouped = [key for keys in GROUPS.values() for key in keys]

    assert sorted(grouped) == sorted(QUANTITIES)


def test_what_was_held_fixed_carries_no_general_conclusion() -> None:
    said = comparison.extent([{"size": 64, "dtype": "bf16"}, {"size": 128, "dtype": "bf16"}])

    assert said == ("Varied: size 64, 128.", "Held fixed, so nothing is said about other values: dtype bf16.")


def test_a_variant_measured_in_several_processes_shows_the_runs_own_noise() -> None:
    found = scenario()
    assert found.noise is not None

    assert column(found.noise, "CPU dispatch time")[0] == "21.0 … 26.2 µs"
    assert column(found.noise, "CPU dispatch time, apart")[0] == "1.25×"
    assert found.own_noise == ("1.25×", "1.25×")
    assert column(build().front.scenarios, "Noise") == ["1.25×"]


def lined(variants: Mapping[str, dict[str, Any]]) -> tuple[sweep.Line, ...]:
    return sweep.lines({name: facts_builder.facts(params) for name, params in variants.items()})


def test_a_sweep_needs_three_values_of_a_number() -> None:
    two = {"a": {"n": 1, "m": "x"}, "b": {"n": 2, "m": "x"}, "c": {"n": 3, "m": "y"}}
    three = {**two, "c": {"n": 3, "m": "x"}}

    assert lined(two) == ()
    (found,) = lined(three)
    assert (found.parameter, found.fixed, found.values) == ("n", {"m": "x"}, (1.0, 2.0, 3.0))


def test_switches_and_words_are_no_sweep() -> None:
    assert lined({"a": {"on": True}, "b": {"on": False}, "c": {"on": True, "m": "x"}}) == ()
    assert lined({word: {"m": word} for word in "abc"}) == ()


def test_the_limiters_turn_is_said_under_the_sweep() -> None:
    (drawn,) = scenario().swept

    assert drawn.caption == "The limiter turns from overhead to compute between 1024 and 4096."


def test_every_column_that_a_page_shows_is_defined() -> None:
    known = {column for columns in definitions.TABLES.values() for column in columns}
    pages = build()
    shown = {column for table in tables(*pages.scenarios, *pages.variants, pages.front) for column in table.columns}

    assert shown - known == set()


@pytest.mark.parametrize("name", ["index", "README", "definitions", "claims"])
def test_no_name_takes_the_place_of_a_generated_page(name: str) -> None:
    found = {addresses.scenario(name), addresses.variant("matmul_add", name)}

    assert not found & {
        "reports/index.md",
        "reports/definitions.md",
        "reports/claims.md",
        "reports/matmul-add/index.md",
    }
    assert not any(address.casefold().endswith("/readme.md") for address in found)


def test_a_scenario_without_statements_or_traces_still_has_a_page() -> None:
    bare = msgspec.structs.replace(studies.SCENARIO, variants=grid(size=(1,)), predictions=(), claims=(), baseline={})
    facts = facts_builder.facts({"size": 1}, steps=(), step_us=(1.0, 2.0))
    sealed = Sealed(slug="bare", scenario=bare, seal="0", source_sha256="0")
    empty = Investigation(sealed=sealed, outcomes={}, facts={"1": facts}, predictions=(), claims=())
    study = msgspec.structs.replace(studies.study(), investigations={"bare": empty})

    (found,) = page.build(study).scenarios
    assert found.noise is None
    assert found.comparisons == ()
    assert found.key_variants == ()
    assert page.build(study).front.mismatches == ()


def test_a_verdict_shows_the_findings_that_decided_it_and_counts_the_others() -> None:
    found = {said.key: said for said in scenario().statements}

    assert [line.measured for line in found["2"].lines] == ["2 kernels in each of 3 steps"]
    assert [link.text for link in found["2"].lines[0].variants] == ["64-eager", "1024-eager"]
    assert found["2"].lines[0].others == "and 1 more"
    assert found["P1-13"].lines[0].part == "same gemm kernel names for mode eager and compile"


def test_differences_that_the_rounds_show_too_are_not_told_apart() -> None:
    study = studies.study()
    investigation = study.investigations["matmul_add"]
    rounds = studies.around(21.0), studies.around(42.0)
    swapped = {"eager": rounds, "compile": rounds[::-1]}
    facts = {
        f"64-{mode}": facts_builder.facts({"size": 64, "mode": mode}, dispatch_us=found)
        for mode, found in swapped.items()
    }
    study = msgspec.structs.replace(
        study, investigations={"matmul_add": msgspec.structs.replace(investigation, facts=investigation.facts | facts)}
    )

    assert "differs from process to process by more than 10.0 %, at worst 2.00×" in scenario(study).drift
    short, (said,) = answers(study)["Did CPU dispatch shrink?"]
    assert short == "on none of 2"
    assert "higher on 1 of 2 pairs: 1.43× (4096-compile); not told apart on 1 of 2 pairs: " in said


def test_a_quiet_run_has_no_notice_of_noise() -> None:
    one = facts_builder.facts({"size": 64}, dispatch_us=((20.0, 21.0), (20.5, 21.5)))

    assert comparison.drift({"a": one}) == ""


def test_the_environment_says_what_measuring_cost_beyond_the_work() -> None:
    known = studies.study().investigations["matmul_add"].outcomes["64-eager"]
    costly = [
        msgspec.structs.replace(each, seconds={"build": 1.0, "loop": 0.5, "wall": wall})
        for each, wall in zip(known.rounds, (1.75, 2.0), strict=True)
    ]
    card = runs.card(studies.run(), [msgspec.structs.replace(known, rounds=tuple(costly))])

    assert ("Measuring", "375 ms a process beyond the variant's own work, 500 ms at most") in card.environment
    assert "Measuring" not in dict(runs.card(studies.run(), [known]).environment)


def test_the_whole_runs_cost_is_told_with_and_without_compiling() -> None:
    known = studies.study().investigations["matmul_add"].outcomes["64-eager"]
    rounds = tuple(
        msgspec.structs.replace(each, seconds={"first": 2.0, "wall": 3.0, "compile": spent})
        for each, spent in zip(known.rounds, (1.5, 0.25), strict=True)
    )
    outcome = msgspec.structs.replace(known, rounds=rounds)

    assert (
        runs.cost([outcome, outcome])
        == "4 measurements of 2 variants in 12.0 s: 8.00 s for first calls that compile, 4.00 s for all else, "
        "2.00 s of that a round"
    )
    assert runs.cost([known]) == ""
    card = runs.card(studies.run(), [outcome], cost="4 measurements")
    assert ("The whole run", "4 measurements") in card.environment


def test_what_a_machine_lacks_is_told_and_is_no_failure() -> None:
    failure = Failure(reason="unavailable", message="liger-kernel is not installed.")
    known = studies.study().investigations["matmul_add"].outcomes["64-eager"]
    lacking = msgspec.structs.replace(known, failure=failure)
    (notice,) = notices(lacking, Unmeasured(params={}, reason=failure.message))

    assert (notice.kind, notice.title, notice.block) == ("info", "Not possible on this machine", "")
    assert not lacking.failed
    assert msgspec.structs.replace(known, failure=msgspec.structs.replace(failure, reason="error")).failed


def test_what_a_cpu_measured_and_cannot_decide_asks_for_a_reason_and_what_it_cannot_measure_does_not() -> None:
    """The fixture's third prediction is a ratio of dispatch times, its first and second are about the GPU."""
    study = on_cpu()
    investigation = study.investigations["matmul_add"]
    open_verdicts = tuple(
        msgspec.structs.replace(
            each,
            verdict=Verdict(
                state="undecided", findings=(Finding(about=("64-eager",), state="undecided", measured="1.2×"),)
            ),
        )
        for each in investigation.predictions
    )
    told = statements.statements(
        msgspec.structs.replace(investigation, predictions=open_verdicts), study.run.environment
    )[0]
    assert [each.untold for each in told[:3]] == [
        "cannot be told without a GPU",
        "cannot be told without a GPU",
        "",
    ]
    assert [each.mismatch for each in told[:3]] == [False, False, True]
    claims = msgspec.structs.replace(
        investigation.claims[0], expectation=open_verdicts[2].expectation, verdict=open_verdicts[2].verdict
    )
    published = statements.statements(msgspec.structs.replace(investigation, claims=(claims,)), study.run.environment)[
        1
    ]
    assert [each.untold for each in published] == ["cannot be told without a GPU"]


def test_without_a_gpu_no_zero_is_compared_and_the_scoreboard_counts_what_was_not_told() -> None:
    pages = build(on_cpu())
    for compared in pages.scenarios[0].comparisons:
        assert "Launched a step" not in [column.title for column in compared.table.columns]
    shown = pages.scenarios[0]
    untold = tuple(msgspec.structs.replace(said, untold="cannot be told without a GPU") for said in shown.predictions)
    told = tuple(msgspec.structs.replace(said, untold="") for said in shown.predictions)
    assert front._untold([msgspec.structs.replace(shown, predictions=told, claims=())]) == ""
    assert front._untold([msgspec.structs.replace(shown, predictions=untold, claims=())]).startswith(
        f"{len(untold)} more could not be told"
    )
