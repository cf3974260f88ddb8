"""운영실 › 시상: from the proposal to the publication, as an organiser does it in a browser."""

from __future__ import annotations

import copy
import re
from io import BytesIO
from typing import Any

import pytest
from django.test import Client
from pypdf import PdfReader

from malpan.competitions.models import Competition
from malpan.stages.awarded import awards_of
from malpan.stages.models import Award
from malpan.teams.services import disqualify_team
from tests.factories import person_in
from tests.stages.conftest import Contest, make_contest
from tests.stages.test_awards import give, share_second_place
from tests.web import html
from tests.web.conftest import client_of


@pytest.fixture(scope="module")
def made(kept: None) -> Contest:
    return make_contest()


@pytest.fixture
def contest(db: None, made: Contest) -> Contest:
    return copy.deepcopy(made)


@pytest.fixture
def client(contest: Contest) -> Client:
    return client_of(contest.writer)


def url(contest: Contest, page: str = "") -> str:
    return f"/competitions/{contest.competition.slug}/manage/awards/{page}"


def sent(contest: Contest, **values: Any) -> dict[str, Any]:
    given = {"title_ko": "대상", "team": contest.teams[1].pk, "track": contest.track.pk, "awarded_on": "2026-12-05"}
    return given | values


def titles(contest: Contest) -> list[str]:
    return [each.title_ko for each in awards_of(contest.competition)]


def test_from_the_proposal_to_the_publication(contest: Contest, client: Client) -> None:
    share_second_place(contest)
    text = client.get(url(contest, "proposal/")).content.decode()
    ticked = {each["name"] for each in (tag.attributes for tag in html.parse(text).all("input")) if "checked" in each}
    assert ticked == {"team-1-is_chosen"}, "who shares a place is for the organiser to choose"
    assert text.count("같은 순위 2팀") == 2
    form = {"awarded_on": "2026-12-05", "team-1-is_chosen": "on", "team-3-is_chosen": "on"}
    for number, title in ((1, "대상"), (2, "최우수상"), (3, "최우수상")):
        form |= {f"team-{number}-title_ko": title}
    answer = client.post(url(contest, f"proposal/?track={contest.track.slug}&places=3"), form, follow=True)
    assert "고른 팀의 상을 더했습니다" in answer.content.decode()
    made = list(awards_of(contest.competition))
    assert [(each.title_ko, each.team.number) for each in made] == [("대상", 1), ("최우수상", 3)]
    assert set(awards_of(contest.competition).values_list("board_snapshot__number", flat=True)) == {2}

    answer = client.post(url(contest, "publish/"), follow=True)
    assert "확인란에 표시해 주십시오" in answer.content.decode()
    assert not Award.objects.filter(published_at__isnull=False)
    answer = client.post(url(contest, "publish/"), {"confirm": "on"}, follow=True)
    assert "시상을 공개했습니다" in answer.content.decode()
    assert "제2026-1호" in answer.content.decode()
    client.post(url(contest, "withdraw/"), {"confirm": "on"})
    assert not Award.objects.filter(published_at__isnull=False)


def test_a_winner_with_an_award_elsewhere_is_ticked_and_said_to_have_one(contest: Contest, client: Client) -> None:
    give(contest, 1, title_ko="특별상")
    give(contest, 2, title_ko="우수상", track=contest.track)
    text = client.get(url(contest, "proposal/")).content.decode()
    ticked = {each["name"] for each in (tag.attributes for tag in html.parse(text).all("input")) if "checked" in each}
    assert ticked == {"team-1-is_chosen", "team-3-is_chosen"}
    assert text.count("이 트랙 밖의 상이 있음") == 1
    assert text.count("이 트랙의 상이 이미 있음") == 1


def test_the_proposal_goes_as_far_as_prizes_do_and_as_was_asked(contest: Contest, client: Client) -> None:
    def teams(query: str = "") -> int:
        text = client.get(url(contest, f"proposal/{query}")).content.decode()
        return len(re.findall(r'name="team-\d+-is_chosen"', text))

    assert teams() == 3
    Competition.objects.filter(pk=contest.competition.pk).update(prize_places=[1, 4])
    assert teams() == 4
    assert teams("?places=1") == 1
    for query in ("?places=0", "?places=x", "?track=none"):
        assert client.get(url(contest, f"proposal/{query}")).status_code == 422


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"awarded_on": "2026-12-05"}, "하나 이상 고르십시오"),
        ({"awarded_on": "x", "team-1-is_chosen": "on"}, "2026-11-20처럼"),
        ({"awarded_on": "2026-12-05", "team-1-is_chosen": "on", "team-1-title_ko": ""}, "입력해 주십시오"),
    ],
)
def test_a_proposal_is_added_only_whole(contest: Contest, client: Client, form: dict[str, str], said: str) -> None:
    named = {f"team-{number}-title_ko": "상" for number in (1, 2, 3)}
    answer = client.post(url(contest, "proposal/"), named | form)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert titles(contest) == []


def test_one_award_is_added_changed_and_removed(contest: Contest, client: Client) -> None:
    client.post(url(contest, "new/"), sent(contest, prize_ko="300만 원"))
    award = awards_of(contest.competition).get()
    assert (award.prize_ko, award.team, award.board_snapshot is None) == ("300만 원", contest.teams[1], False)
    text = client.get(url(contest, f"{award.pk}/")).content.decode()
    assert 'value="2026-12-05"' in text
    client.post(url(contest, f"{award.pk}/"), sent(contest, title_ko="특별상", track="", team=contest.teams[4].pk))
    award.refresh_from_db()
    assert (award.title_ko, award.team, award.board_snapshot, award.prize_ko) == ("특별상", contest.teams[4], None, "")
    assert client.post(url(contest, f"{award.pk}/remove/")).status_code == 422
    client.post(url(contest, f"{award.pk}/remove/"), {"confirm": "on"})
    assert titles(contest) == []


def test_moving_is_a_button_of_the_row(contest: Contest, client: Client) -> None:
    give(contest, 1, title_ko="가")
    second = give(contest, 2, title_ko="나")
    client.post(url(contest, f"{second.pk}/move/"), {"position": "1"})
    assert titles(contest) == ["나", "가"]
    for wrong in ("9", "-1", "x", "²", "99999999999"):
        answer = client.post(url(contest, f"{second.pk}/move/"), {"position": wrong}, follow=True)
        assert "차례는 목록 안의 수로" in answer.content.decode()
    assert titles(contest) == ["나", "가"]


def test_a_disqualified_team_is_refused_in_words(contest: Contest, client: Client) -> None:
    award = give(contest, 2)
    disqualify_team(team=contest.teams[2], actor=contest.writer, note_ko="사유")
    answer = client.post(url(contest, "new/"), sent(contest, team=contest.teams[2].pk))
    assert answer.status_code == 409
    assert "실격한 팀에는 상을 줄 수 없습니다" in answer.content.decode()
    assert "이 상은 보이지 않습니다" in client.get(url(contest)).content.decode()
    answer = client.post(url(contest, "publish/"), {"confirm": "on"})
    assert answer.status_code == 409
    assert contest.teams[2].name in answer.content.decode()
    assert awards_of(contest.competition).get() == award


def test_a_number_keeps_its_team(contest: Contest, client: Client) -> None:
    award = give(contest)
    client.post(url(contest, "publish/"), {"confirm": "on"})
    answer = client.post(url(contest, f"{award.pk}/"), sent(contest, team=contest.teams[2].pk))
    assert answer.status_code == 409
    assert "이미 번호를 받아" in answer.content.decode()
    text = client.get(url(contest, f"{award.pk}/")).content.decode()
    assert "상 취소" in text
    assert "공개한 상입니다" in text


def test_the_page_can_be_printed_before_and_says_that_it_has_no_number(contest: Contest, client: Client) -> None:
    award = give(contest)

    def text() -> str:
        answer = client.get(url(contest, f"{award.pk}/award.pdf"))
        return PdfReader(BytesIO(answer.content)).pages[0].extract_text().replace("\0", "")

    assert "미리 보기" in text()
    assert "/awards/" not in text()
    client.post(url(contest, "publish/"), {"confirm": "on"})
    assert "제2026-1호" in text()
    assert "/awards/" in text()


def test_before_a_final_result_the_page_says_what_is_missing(contest: Contest, client: Client) -> None:
    contest.track.phases.update(final_published_at=None)
    text = client.get(url(contest)).content.decode()
    assert "최종 결과(최종 순위표나 종합 결과)를 먼저 발표해" in text
    assert "proposal/" not in text
    for name in ("new/", "proposal/"):
        assert client.get(url(contest, name)).status_code == 409


def test_a_viewer_reads_and_an_award_of_another_competition_is_not_found(contest: Contest, client: Client) -> None:
    award = give(contest)
    viewer = client_of(person_in(contest.competition, "viewer"))
    text = viewer.get(url(contest)).content.decode()
    assert "대상" in text
    assert "<button" not in text.split("<main", 1)[1]
    assert viewer.get(url(contest, f"{award.pk}/award.pdf")).status_code == 200
    assert viewer.get(url(contest, f"{award.pk}/")).status_code == 403
    other = client_of(make_contest().writer)
    theirs = Competition.objects.exclude(pk=contest.competition.pk).get()
    for name in ("", "award.pdf"):
        answer = other.get(f"/competitions/{theirs.slug}/manage/awards/{award.pk}/{name}")
        assert answer.status_code == 404
    assert (
        other.post(f"/competitions/{theirs.slug}/manage/awards/{award.pk}/remove/", {"confirm": "on"}).status_code
        == 404
    )
    assert awards_of(contest.competition).get() == award
