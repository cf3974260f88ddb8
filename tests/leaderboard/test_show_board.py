"""The board as a text table in a terminal."""

from malpan.leaderboard.management.commands.show_board import NAME_WIDTH, _aligned, _cut, _width


def test_columns_stand_under_each_other_whatever_the_script() -> None:
    lines = _aligned([["순위", "팀", "점수"], ["1", "한글 팀", "99.5"], ["12", "Latin", "1.25"]], left={1})
    assert [_width(line) for line in lines] == [_width(lines[0])] * 3
    assert lines[0].endswith("점수")
    assert lines[1].endswith("99.5")


def test_a_long_team_name_is_cut_to_its_column() -> None:
    name = "사전을 함께 읽는 다섯 사람의 긴 이름을 가진 모임"
    assert _width(_cut(name)) <= NAME_WIDTH
    assert _cut(name).endswith("…")
    assert _cut("짧은 이름") == "짧은 이름"


def test_a_combining_mark_takes_no_room() -> None:
    assert _width("é") == 1
