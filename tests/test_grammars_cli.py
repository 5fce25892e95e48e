"""`foretrace decode` as a user meets it."""

from __future__ import annotations

import json

from click.testing import CliRunner

from foretrace.cli import main

NVJET = "nvjet_sm90_tst_256x128_64x4_1x2_h_badd_coopA_NNT"


def test_json_is_one_object_a_line_in_the_order_given() -> None:
    names = [NVJET, "Memset (Device)", "zork"]
    result = CliRunner().invoke(main, ["decode", "--json", "-"], input="\n".join(names) + "\n")
    assert result.exit_code == 0
    answers = [json.loads(line) for line in result.output.splitlines()]
    assert [answer["name"] for answer in answers] == names
    assert [answer["family"] for answer in answers] == ["gemm", "memset", "other"]
    assert answers[0].keys() == {"name", "family", "library", "fields", "notes", "unread"}


def test_a_terminal_shows_each_token_with_its_meaning_and_what_is_unread() -> None:
    result = CliRunner().invoke(main, ["decode", NVJET, "nvjet_tst_64x8_64x16_1x1_h_bz_wobble_NNT"])
    assert result.exit_code == 0
    assert "thread-block cluster" in result.output
    assert "C is added" in result.output
    assert "unread: wobble" in result.output


def test_control_characters_in_a_name_do_not_reach_the_terminal() -> None:
    result = CliRunner().invoke(main, ["decode", "void \x1b[31mevil\x07<4>(int)"])
    assert result.exit_code == 0
    assert "\x1b" not in result.output
    assert "\x07" not in result.output


def test_decode_without_a_name_is_wrong_usage() -> None:
    assert CliRunner().invoke(main, ["decode"]).exit_code == 2
