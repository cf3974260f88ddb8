"""참가 확인서: who gets one, what it says, and what the address on it says to whoever is shown it."""

from __future__ import annotations

import copy
import re
from datetime import date
from io import BytesIO
from typing import Any

import pytest
from django.core import signing
from django.test import Client
from django.utils import timezone
from pypdf import PdfReader

from malpan.accounts.models import User
from malpan.competitions.models import Competition
from malpan.privacy.erasing import erase
from malpan.teams.models import Team
from malpan.web.certificate import Certificate, drawn, font
from tests.factories import TeamFactory, UserFactory, leader_of
from tests.stages.conftest import Contest, make_contest
from tests.web import html
from tests.web.paper import heights_in


@pytest.fixture(scope="module")
def made_contest(kept: None) -> Contest:
    return make_contest()


@pytest.fixture
def contest(db: None, made_contest: Contest) -> Contest:
    found = copy.deepcopy(made_contest)
    Competition.objects.filter(pk=found.competition.pk).update(organiser_ko="국어 연구회", is_published=True)
    return found


def client_of(person: User, language: str = "ko") -> Client:
    client = Client(headers={"Accept-Language": language})
    client.force_login(person)
    return client


def address(contest: Contest) -> str:
    return f"/competitions/{contest.competition.slug}/team/certificate.pdf"


def written(contest: Contest, person: User, language: str = "ko") -> str:
    """The text of the certificate of ``person``, a single page with its font inside."""
    answer = client_of(person, language).get(address(contest))
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/pdf")
    pages = PdfReader(BytesIO(answer.content)).pages
    assert len(pages) == 1
    (font,) = pages[0]["/Resources"]["/Font"].values()
    (descendant,) = font.get_object()["/DescendantFonts"]
    assert {"/FontFile2", "/FontFile3"} & set(descendant.get_object()["/FontDescriptor"].get_object())
    text = pages[0].extract_text().replace("\0", "")  # pypdf reads codes of two bytes as two
    return " ".join(text.split())


def check_of(text: str) -> str:
    found = re.search(r"/certificates/\S+/", text)
    assert found, text
    return found[0]


def test_a_member_is_certified_what_the_published_board_says(contest: Contest) -> None:
    team = contest.teams[2]
    person = leader_of(team)
    text = written(contest, person)
    for said in ("참가 확인서", person.name, team.name, contest.competition.title, "국어 연구회"):
        assert " ".join(said.split()) in text
    assert f"‘{contest.track.title}’ 트랙에서 5팀 가운데 2위" in text
    english = written(contest, person, "en")
    assert "Certificate of participation" in english
    assert "Rank 2 of 5 teams" in english
    today = timezone.localdate()
    assert f"{today.year}년 {today.month}월 {today.day}일" in text


def test_whoever_is_shown_one_finds_the_same_at_its_address(contest: Contest) -> None:
    person = leader_of(contest.teams[3])
    answer = Client(headers={"Accept-Language": "ko"}).get(check_of(written(contest, person)))
    page = html.parse(answer.content.decode()).text
    assert (answer.status_code, answer["X-Robots-Tag"]) == (200, "noindex")
    assert person.name in page
    assert contest.teams[3].name in page
    assert "5팀 가운데 3위" in page
    assert person.email not in answer.content.decode()


def test_a_final_of_several_stages_counts_before_the_board(contest: Contest) -> None:
    board, table = contest.stage(), contest.stage()
    contest.publish(board)
    contest.judged(table, {1: 10, 2: 20, 3: 100})
    contest.publish_final()
    assert "3팀 가운데 1위" in written(contest, leader_of(contest.teams[3]))
    stopped = written(contest, leader_of(contest.teams[5]))
    assert f"‘{contest.track.title}’ 트랙에 참가" in stopped
    assert "위와 같이" in stopped


def test_names_however_long_stay_on_the_page(contest: Contest) -> None:
    team, person = contest.teams[1], leader_of(contest.teams[1])
    User.objects.filter(pk=person.pk).update(name="뷁" * 40)
    Team.objects.filter(pk=team.pk).update(name="가나다라마바사아자차" * 6)
    Competition.objects.filter(pk=contest.competition.pk).update(
        title_ko="긴 대회 이름 " * 15, organiser_ko="주최" * 60
    )
    text = written(contest, person)
    assert "뷁" * 40 in text.replace(" ", "")
    assert "/certificates/" in text


def test_results_of_many_tracks_stay_above_what_closes_the_page() -> None:
    found = font()
    assert found is not None
    results = [f"‘트랙 {number}’ 트랙에 참가" for number in range(30)]
    page = Certificate(
        heading="참가 확인서",
        subject="사람",
        lines=[("팀", "팀")] * 3,
        results=results,
        closing="위와 같이 참가하였음을 확인합니다.",
        organiser="주최",
        issued_on=date(2026, 11, 27),
        address="https://example.org/",
    )
    places = heights_in(drawn(page, found))
    (last,) = (height for text, height in places.items() if "트랙 29" in text)
    (closing,) = (height for text, height in places.items() if "확인합니다" in text)
    assert last > closing  # from the bottom


@pytest.mark.parametrize("who", ["stranger", "teamless", "baseline", "disqualified", "unranked"])
def test_nobody_else_gets_one(contest: Contest, who: str) -> None:
    team = contest.teams[1]
    person = leader_of(team)
    if who == "stranger":
        assert Client().get(address(contest)).status_code == 302
        return
    if who == "teamless":
        person = UserFactory.create()
    elif who == "unranked":
        person = leader_of(TeamFactory.create(competition=contest.competition))
    elif who == "baseline":
        Team.objects.filter(pk=team.pk).update(is_baseline=True)
    else:
        Team.objects.filter(pk=team.pk).update(disqualified_at=contest.phase.ends_at, disqualification_note_ko="사유")
    answer = client_of(person).get(address(contest))
    assert answer.status_code == 404
    assert "아직 참가 확인서를 만들 수 없습니다" in answer.content.decode()


def test_the_team_page_leads_there_only_where_there_is_one(contest: Contest) -> None:
    page = f"/competitions/{contest.competition.slug}/team/"
    assert address(contest) in client_of(leader_of(contest.teams[1])).get(page).content.decode()
    late = leader_of(TeamFactory.create(competition=contest.competition))
    assert address(contest) not in client_of(late).get(page).content.decode()


@pytest.mark.parametrize("change", ["disqualified", "erased", "hidden", "forged"])
def test_what_is_not_true_any_more_is_not_confirmed(contest: Contest, change: str) -> None:
    person = leader_of(contest.teams[1])
    place = check_of(written(contest, person))
    assert Client().get(place).status_code == 200
    if change == "disqualified":
        Team.objects.filter(pk=contest.teams[1].pk).update(
            disqualified_at=contest.phase.ends_at, disqualification_note_ko="사유"
        )
    elif change == "erased":
        erase(user=person, actor=None, force=True)
    elif change == "hidden":
        Competition.objects.filter(pk=contest.competition.pk).update(is_published=False)
    else:
        forged = signing.dumps([contest.competition.pk, person.pk], salt="another")
        place = f"/certificates/{forged}/"
    answer = Client(headers={"Accept-Language": "ko"}).get(place)
    assert answer.status_code == 404
    assert "확인할 수 없는 참가 확인서입니다" in answer.content.decode()
    assert person.name not in answer.content.decode() or not person.name


def test_without_a_font_the_server_says_so(contest: Contest, settings: Any) -> None:
    settings.CERTIFICATE_FONT = "/nowhere/font.ttf"
    answer = client_of(leader_of(contest.teams[1])).get(address(contest))
    assert answer.status_code == 503
    assert "글꼴이 서버에 없습니다" in answer.content.decode()
