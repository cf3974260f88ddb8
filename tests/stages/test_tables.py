"""A table of scores: every form that a spreadsheet gives, and every error with its line."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malpan.stages.errors import TableInvalid, TableUnreadable
from malpan.stages.tables import CHARS_MAX, Participant, decoded, differences, plain_number, read_table, template
from malpan.web.csv_export import safe_cell

TEAMS = [Participant(1, "가나다"), Participant(2, "=합계, 팀"), Participant(7, "12"), Participant(12, '"따옴표"')]
SCALE = (0.0, 100.0)
SCORES = {1: 90.0, 2: 80.5, 7: 0.0, 12: 100.0}


def problems(text: str) -> list[tuple[str, int | None]]:
    with pytest.raises(TableInvalid) as refused:
        read_table(text, TEAMS, SCALE)
    assert all(problem.text for problem in refused.value.problems)
    return [(problem.code, problem.line) for problem in refused.value.problems]


@pytest.mark.parametrize(
    "text",
    [
        "팀 번호\t점수\n1\t90\n2\t80.5\n7\t0\n12\t100\n",
        "팀 번호,점수,팀\r\n1,90,가나다\r\n2,80.5,'=합계 팀\r\n".replace("'=합계 팀", '"=합계, 팀"')
        + "7,0,12\r\n#12,100,\r\n",
        "점수;팀번호\n90;1\n80.5;2\n0;7\n100;12\n",
        "\ufeff번호\t팀\t비고\t점수\n\n"
        '1\t가나다\t좋음\t９０\n2\t=합계, 팀\t\t80.50\n7\t12\t\t+0\n12\t"""따옴표"""\t\t100\n\n',
        "1\t가나다\t90\n2\t=합계, 팀\t80.5\n7\t12\t0\n12\t\t100\n",
        'Team,Score\n가나다,90\n"\'=합계, 팀",80.5\n#7,0\n"""따옴표""",100\n',
    ],
)
def test_what_a_spreadsheet_gives_is_read(text: str) -> None:
    assert read_table(text, TEAMS, SCALE) == SCORES


def test_the_template_is_read_when_it_is_filled_in() -> None:
    text = template(TEAMS, SCORES, ["팀 번호", "팀", "점수"])
    assert read_table(text, TEAMS, SCALE) == SCORES
    assert [code for code, _line in problems(template(TEAMS, {}, ["팀 번호", "팀", "점수"]))] == ["score_empty"] * 4


def test_every_error_is_named_with_its_line() -> None:
    text = "팀 번호,점수\n1,90\n\n3,50\n1,91\n2,100.5\n7,많음\n,5\n12\n"
    assert problems(text) == [
        ("team_unknown", 4),
        ("team_twice", 5),
        ("score_out_of_scale", 6),
        ("score_not_number", 7),
        ("team_empty", 8),
        ("columns", 9),
        ("team_missing", None),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [("empty", None)]),
        (" \n\t\n", [("empty", None)]),
        ("점수\n1\n", [("headings", 1)]),
        ("팀,점수,점수\n가나다,1,2\n", [("headings", 1)]),
        ("팀 번호,팀\n1,가나다\n", [("headings", 1)]),
        ('팀,점수\n"가나다,1\n', [("quotes", None)]),
    ],
)
def test_a_table_of_another_kind_is_said_to_be_one(text: str, expected: list[tuple[str, int | None]]) -> None:
    assert problems(text) == expected


@pytest.mark.parametrize(
    "cell", ["nan", "inf", "-inf", "1e2", "0x1", "90점", "1,000", "--1", ".", "100.0000001", "-0.1"]
)
def test_what_is_no_number_of_the_scale_is_refused(cell: str) -> None:
    found = problems(f'팀 번호\t점수\n1\t"{cell}"\n2\t1\n7\t1\n12\t1\n')
    assert [line for _code, line in found] == [2]


def test_a_number_that_is_also_a_name_needs_a_heading() -> None:
    assert ("team_ambiguous", 1) in problems("12,50\n")


def test_number_and_name_must_agree() -> None:
    assert ("team_mismatch", 2) in problems("팀 번호,팀,점수\n1,12,50\n")


def test_a_long_table_is_not_read() -> None:
    with pytest.raises(TableUnreadable):
        read_table("1,1\n" * CHARS_MAX, TEAMS, SCALE)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp949", "utf-16"])
def test_files_as_spreadsheets_save_them_are_read(encoding: str) -> None:
    assert decoded("팀,점수\n가나다,1\n".encode(encoding)) == "팀,점수\n가나다,1\n"


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(TableUnreadable):
        decoded(b"\xff\x00\x81\xff")


def test_a_name_that_the_csv_of_the_site_marks_is_read() -> None:
    assert safe_cell(TEAMS[1].name) == "'=합계, 팀"


def test_differences_name_what_changed() -> None:
    found = differences({1: 1.0, 2: 2.0}, {2: 3.0, 3: 0.0}, {1: "가", 2: "나", 3: "다"})
    assert [(each.number, each.before, each.after) for each in found] == [(1, 1.0, None), (2, 2.0, 3.0), (3, None, 0.0)]
    assert not differences({1: 1.0}, {1: 1.0}, {})[0].is_changed


@settings(deadline=None)
@given(st.floats(min_value=0, max_value=100, allow_subnormal=False).map(lambda value: round(value, 9)))
def test_a_score_comes_back_as_it_was(value: float) -> None:
    written = plain_number(value)
    assert "e" not in written
    assert read_table(f"1,{written}\n", TEAMS[:1], SCALE) == {1: value}


@settings(deadline=None)
@given(st.text(max_size=60))
def test_no_text_breaks_the_reading(text: str) -> None:
    assert problems(text)  # of no such text: a score of every team


def test_a_team_and_a_score_with_only_a_space_between_them_are_told_how_to_be_written() -> None:
    with pytest.raises(TableInvalid) as refused:
        read_table("감자팀 80\n고구마 팀 72.5\n감자팀\n", TEAMS, (0.0, 100.0))
    first, second, third = refused.value.problems[:3]
    assert [each.code for each in (first, second, third)] == ["separator", "separator", "columns"]
    assert "‘감자팀, 80’처럼" in first.text
    assert "‘고구마 팀, 72.5’처럼" in second.text
