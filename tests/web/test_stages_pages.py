"""심사: what everybody sees of the stages of a final, and when."""

from __future__ import annotations

import copy
import csv
import io
from typing import Any

import pytest
from django.test import Client

from malpan.stages.services import update_stage
from malpan.teams.models import Team
from malpan.teams.services import disqualify_team
from tests.factories import leader_of
from tests.stages.conftest import Contest, make_contest
from tests.web.conftest import client_of

LONG = "가나다라마바사아자차카타파하" * 4 + "끝입니다"


@pytest.fixture(scope="module")
def made(kept: None) -> Contest:
    return make_contest()


@pytest.fixture
def contest(db: None, made: Contest) -> Contest:
    return copy.deepcopy(made)


def get(contest: Contest, page: str = "", client: Client | None = None) -> Any:
    return (client or Client()).get(f"/competitions/{contest.competition.slug}/stages/{page}")


@pytest.fixture
def judged(contest: Contest) -> Contest:
    """Both stages and the combined standing published; the first team has a long name."""
    team = contest.teams[1]
    team.name = LONG
    team.save()
    contest.publish(contest.stage(title_ko="1차", title_en="First", notice_ko="**정량** 평가"))
    contest.judged(contest.stage(title_ko="2차", title_en="Second"), {1: 60, 2: 90.25, 3: 80})
    contest.publish_final()
    return contest


def test_a_competition_without_stages_has_no_tab_and_an_empty_page(contest: Contest) -> None:
    home = Client().get(f"/competitions/{contest.competition.slug}/").content.decode()
    assert "/stages/" not in home
    assert "아직 알리거나 발표한 심사가 없습니다" in get(contest).content.decode()


def test_an_announced_stage_shows_its_rule_and_an_unannounced_one_nothing(contest: Contest) -> None:
    stage = contest.stage(title_ko="비밀 심사", notice_ko="곧 시작합니다")
    assert "비밀 심사" not in get(contest).content.decode()
    update_stage(stage=stage, actor=contest.writer, is_announced=True)
    page = get(contest).content.decode()
    for text in ("비밀 심사", "곧 시작합니다", "상위 3팀 진출", "발표 전", "100%"):
        assert text in page
    assert (
        f"/competitions/{contest.competition.slug}/stages/"
        in Client().get("/competitions/" + contest.competition.slug + "/").content.decode()
    )


def test_a_share_is_that_among_all_stages_also_of_those_that_are_not_announced(contest: Contest) -> None:
    contest.stage(weight=50, is_announced=True)
    contest.stage(weight=30, is_announced=True)
    contest.stage(title_ko="비밀 심사", weight=20)
    page = get(contest).content.decode()
    assert all(text in page for text in ("50%", "30%"))
    assert not any(text in page for text in ("62.5%", "비밀 심사"))


def test_entered_scores_are_nowhere_until_they_are_published_and_then_everywhere(contest: Contest) -> None:
    contest.publish(contest.stage())
    stage = contest.stage(is_announced=True)
    contest.confirm(contest.enter(stage, {1: 71.382651, 2: 20, 3: 30}))
    track = contest.track.slug
    pages = ("", f"{track}/1/", f"{track}.json", f"{track}/1.csv")
    assert not any("71.38" in get(contest, page).content.decode() for page in pages)
    for page in (f"{track}/2/", f"{track}/2.csv", f"{track}/final.csv", f"{track}/9/", f"{track}/99999999/"):
        assert get(contest, page).status_code == 404
    contest.publish(stage)
    for page in (f"{track}/2/", f"{track}/2.csv", f"{track}.json"):
        assert "71.38" in get(contest, page).content.decode()


def test_the_combined_standing_shows_parts_weights_and_who_stopped_where(judged: Contest) -> None:
    page = get(judged).content.decode()
    for text in (LONG, "85.1250", "90.25 · 1위", "1차까지", "50%", "종합 결과", "<strong>정량</strong>"):
        assert text in page, text
    assert page.index("85.1250") < page.index(LONG)  # 0.8 and 0.9025 are before 0.9 and 0.6


def test_the_own_team_is_marked_and_a_disqualified_one_too(judged: Contest) -> None:
    own = get(judged, client=client_of(leader_of(judged.teams[3]))).content.decode()
    assert own.count("내 팀</span>") == 1
    disqualify_team(team=judged.teams[2], actor=judged.writer, note_ko="규정 위반")
    for page in ("", f"{judged.track.slug}/1/"):
        assert "실격" in get(judged, page).content.decode()


def test_a_stage_page_says_who_goes_on(judged: Contest) -> None:
    page = get(judged, f"{judged.track.slug}/1/").content.decode()
    assert page.count(">진출<") == 3
    assert "상위 3팀이 진출합니다." in page
    assert ">진출<" not in get(judged, f"{judged.track.slug}/2/").content.decode()  # the last


def test_the_csv_of_the_combined_standing_has_every_part(judged: Contest) -> None:
    text = get(judged, f"{judged.track.slug}/final.csv").content.decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["team_number"] for row in rows] == ["2", "1", "3", "4", "5"]
    assert float(rows[0]["final_score"]) == pytest.approx((0.8 + 0.9025) / 2)
    assert (rows[0]["stage_2_score"], rows[0]["stage_2_rank"], rows[4]["stage_2_score"]) == ("90.25", "1", "")
    assert (rows[4]["rank"], rows[4]["stopped_at"]) == ("", "1")


def test_pages_speak_english(judged: Contest) -> None:
    for page in ("", f"{judged.track.slug}/1/"):
        text = (
            Client(headers={"Accept-Language": "en"})
            .get(f"/competitions/{judged.competition.slug}/stages/{page}")
            .content.decode()
        )
        assert "First" in text
        assert "심사" not in text


def test_a_chain_page_names_the_stages(judged: Contest) -> None:
    page = Client().get(f"/competitions/{judged.competition.slug}/chain/").content.decode()
    assert "2번째 심사" in page
    assert "종합 결과" in page


def test_a_hidden_competition_shows_no_stages(judged: Contest) -> None:
    judged.competition.is_published = False
    judged.competition.save()
    assert Team.objects.exists()
    assert {get(judged, page).status_code for page in ("", f"{judged.track.slug}/1/", f"{judged.track.slug}.json")} == {
        404
    }


def test_a_replaced_stage_is_named_above_the_combined_standing_until_that_is_published_again(judged: Contest) -> None:
    assert "다시 발표되었습니다" not in get(judged).content.decode()
    second = judged.track.stages.get(position=2)
    judged.judged(second, {1: 61, 2: 90.25, 3: 80}, reason="합산 오류")
    page = get(judged).content.decode()
    assert "심사 ‘2차’는 이 종합 결과 뒤에 2판으로 다시 발표되었습니다." in page
    judged.publish_final(note="합산 오류")
    assert "다시 발표되었습니다" not in get(judged).content.decode()
    body = get(judged, f"{judged.track.slug}.json").json()
    assert (body["format"], body["stages"][1]["newest"], body["final"]["newest"]) == ("malpan-stages@2", 2, 2)
    assert [each["snapshot"] for each in body["stages"][1]["snapshots"]] == [1, 2]


def test_a_stage_that_rests_on_a_replaced_board_says_so(judged: Contest) -> None:
    disqualify_team(team=judged.teams[5], actor=judged.writer, note_ko="규정 위반")
    judged.republish_board()
    page = get(judged, f"{judged.track.slug}/1/").content.decode()
    assert "앞 결과가 그 뒤 다시 발표되었습니다." in page
    assert "바로잡기 전의 결과" in get(judged).content.decode()


def test_a_disqualified_team_is_marked_then_leaves_and_stays_named(judged: Contest) -> None:
    """As published it is marked; after the next publication it is among the disqualified, with the reason."""
    disqualify_team(team=judged.teams[2], actor=judged.writer, note_ko="규정 위반", note_en="Rules broken")
    first = judged.track.stages.get(position=1)
    page = get(judged, f"{judged.track.slug}/1/").content.decode()
    assert ("error tiny" in page, "발표한 뒤 실격한 팀이 있습니다" in page) == (True, True)
    judged.publish(first, note="2번 팀 실격")
    page = get(judged, f"{judged.track.slug}/1/").content.decode()
    assert ("error tiny" in page, "발표한 뒤 실격한 팀이 있습니다" in page) == (False, False)
    assert (judged.teams[2].name in page, "규정 위반" in page) == (True, True)
    assert "상위 2팀이 진출합니다." in page


def test_the_combined_standing_says_that_a_team_of_it_was_disqualified_since(judged: Contest) -> None:
    notice = "발표한 뒤 실격한 팀이 있습니다. 이 결과는 발표한 그대로이며"
    assert notice not in get(judged).content.decode()
    disqualify_team(team=judged.teams[2], actor=judged.writer, note_ko="규정 위반")
    assert notice in get(judged).content.decode()


def test_points_are_of_a_hundred_everywhere_on_the_pages(judged: Contest) -> None:
    """The score of the board is shown times 100, and so are the bounds of the rule; only of the files 0-1 is said."""
    for page in ("", f"{judged.track.slug}/1/", f"{judged.track.slug}/2/"):
        text = get(judged, page).content.decode()
        assert "환산 점수(100점 만점) = 100 × (점수 − 0) ÷ (100 − 0)." in text, page
        assert "(점수 - 0)" not in text
        assert text.count("0~1") == text.count("CSV와 JSON의 환산 점수와 종합 점수는 0~1입니다."), page
