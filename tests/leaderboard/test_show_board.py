"""The board as a text table in a terminal."""

import io

import pytest
from django.core.management import call_command
from django.test import Client

from malpan.competitions.models import Track
from malpan.leaderboard.management.commands.show_board import NAME_WIDTH, _aligned, _cut, _width
from tests.composite_boards import install, values
from tests.factories import PhaseFactory, TeamFactory, finished_submission


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


@pytest.mark.django_db
def test_a_track_whose_recipe_is_no_longer_installed_is_named_and_the_others_are_shown() -> None:
    for name in ("있는 팀", "없는 팀"):
        phase = PhaseFactory.create(track__competition__is_published=True)
        finished_submission(phase, TeamFactory.create(competition=phase.track.competition, name=name), 0.5)
    Track.objects.filter(pk=phase.track_id).update(recipe="plugged-in@1")
    out, err = io.StringIO(), io.StringIO()

    call_command("show_board", stdout=out, stderr=err)

    assert "있는 팀" in out.getvalue()
    assert "plugged-in@1" in err.getvalue()
    page = Client().get(f"/competitions/{phase.track.competition.slug}/board/")
    assert page.status_code == 503
    assert "이 서버에 설치되어 있지 않습니다" in page.content.decode()


@pytest.mark.django_db
def test_a_composite_stands_in_the_place_of_the_final_score(monkeypatch: pytest.MonkeyPatch) -> None:
    phase = PhaseFactory.create(track__recipe=install(monkeypatch), counting="latest", track__score_decimals=1)
    for number in range(3):
        team = TeamFactory.create(competition=phase.track.competition, name=f"팀{number}")
        finished_submission(phase, team, 0.5, scores=values(0.1 * number, 0.5, 0.5))
    out = io.StringIO()
    call_command("show_board", stdout=out)
    rows = [line.split() for line in out.getvalue().splitlines()[1:]]
    assert rows[0][:4] == ["순위", "팀", "종합", "점수"]
    assert [row[:3] for row in rows[1:]] == [["1", "팀0", "72.5"], ["2", "팀1", "50.0"], ["3", "팀2", "27.5"]]
