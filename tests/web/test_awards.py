"""상장 and the winners' display: who sees awards and when, what the PDF says, and what its address confirms."""

from __future__ import annotations

import copy
import re
from datetime import date
from io import BytesIO
from typing import Any

import pytest
from django.core import signing
from django.test import Client
from pypdf import PdfReader

from malpan.accounts.models import User
from malpan.competitions.models import Competition
from malpan.privacy.erasing import erase
from malpan.stages.awards import create_award, publish_awards, remove_award, update_award, withdraw_awards
from malpan.stages.models import Award
from malpan.teams.models import Membership, Team
from malpan.teams.services import disqualify_team
from malpan.web.certificate import Certificate, drawn, font
from tests.factories import TrackFactory, UserFactory, leader_of
from tests.stages.conftest import Contest, make_contest
from tests.web import html
from tests.web.conftest import client_of
from tests.web.paper import heights_in

PRIZE = "국립국어원장상, 300만 원"


@pytest.fixture(scope="module")
def made_contest(kept: None) -> Contest:
    return make_contest()


@pytest.fixture
def contest(db: None, made_contest: Contest) -> Contest:
    found = copy.deepcopy(made_contest)
    Competition.objects.filter(pk=found.competition.pk).update(organiser_ko="국어 연구회", is_published=True)
    return found


@pytest.fixture
def award(contest: Contest) -> Award:
    return give(contest)


def give(contest: Contest, number: int = 1, **values: Any) -> Award:
    given = {"title_ko": "대상", "title_en": "Grand Prize", "prize_ko": PRIZE, "awarded_on": date(2026, 12, 5)}
    given |= {"team": contest.teams[number], "track": contest.track}
    return create_award(competition=contest.competition, actor=contest.writer, **(given | values))


def publish(contest: Contest) -> None:
    publish_awards(competition=contest.competition, actor=contest.writer)


def page(contest: Contest, name: str = "", client: Client | None = None, language: str = "ko") -> str:
    client = client or Client()
    address = f"/competitions/{contest.competition.slug}/{name}" if name != "/" else "/"
    answer = client.get(address, headers={"Accept-Language": language})
    assert answer.status_code == 200
    return answer.content.decode()


def pdf_address(contest: Contest, award: Award) -> str:
    return f"/competitions/{contest.competition.slug}/team/awards/{award.pk}.pdf"


def text_of(answer: Any) -> str:
    """The text of a single page."""
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/pdf")
    (found,) = PdfReader(BytesIO(answer.content)).pages
    return " ".join(found.extract_text().replace("\0", "").split())  # pypdf reads codes of two bytes as two


def written(contest: Contest, award: Award, person: User | None = None, language: str = "ko") -> str:
    client = client_of(person or leader_of(award.team))
    return text_of(client.get(pdf_address(contest, award), headers={"Accept-Language": language}))


def check_of(text: str) -> str:
    found = re.search(r"/awards/\S+/", text)
    assert found, text
    return found[0]


@pytest.mark.parametrize("name", ["", "board/", "/"])
def test_awards_are_shown_from_the_publication_on(contest: Contest, award: Award, name: str) -> None:
    organiser = client_of(contest.writer)
    for client in (Client(), organiser):
        assert PRIZE not in page(contest, name, client), "not even to organisers, who have their own page"
    publish(contest)
    shown = html.parse(page(contest, name)).one("ul", "awards")
    assert [each.strip() for each in ("대상", award.team.name, PRIZE) if each in shown.text] == [
        "대상",
        award.team.name,
        PRIZE,
    ]
    assert "Grand Prize" in page(contest, name, language="en")
    withdraw_awards(competition=contest.competition, actor=contest.writer)
    assert PRIZE not in page(contest, name)


def test_of_several_tracks_an_award_says_which_and_the_rank(contest: Contest, award: Award) -> None:
    """On a list, the team's page, the sheet and the page that confirms it; of one track nothing is said."""
    give(contest, 4, title_ko="특별상", track=None)
    publish(contest)
    basis = f"{contest.track.title} 1위"
    assert basis not in html.parse(page(contest)).one("ul", "awards").text
    TrackFactory.create(competition=contest.competition)
    for name in ("", "board/", "/"):
        assert f"대상 {basis} {award.team.name}" in html.parse(page(contest, name)).one("ul", "awards").text
    assert html.parse(page(contest)).one("ul", "awards").text.count(contest.track.title) == 1
    person = leader_of(award.team)
    assert basis in html.parse(page(contest, "team/", client_of(person))).one("ul", "awards").text
    text = written(contest, award)
    assert f"‘{contest.track.title}’ 트랙에서 1위의 뛰어난 성적을 거두었습니다" in text
    assert basis in html.parse(Client().get(check_of(text)).content.decode()).one("dl", "receipt").text


def test_the_order_is_that_of_the_list(contest: Contest) -> None:
    give(contest, 2, title_ko="최우수상")
    give(contest, 1)
    publish(contest)
    assert re.findall(r"<strong>(\S+)</strong>", page(contest)) == ["최우수상", "대상"]


def test_the_combined_standing_shows_the_awards_that_rest_on_it(contest: Contest) -> None:
    contest.publish(contest.stage())
    contest.judged(contest.stage(), {1: 10, 2: 20, 3: 100})
    contest.publish_final()
    give(contest, 3)
    give(contest, 4, title_ko="특별상", track=None)
    publish(contest)
    shown = page(contest, "stages/")
    assert "대상" in shown
    assert "특별상" not in shown, "rests on no result, so it stands on the page of the competition alone"
    assert "특별상" in page(contest)


def test_an_old_and_the_public_board_show_no_awards(contest: Contest, award: Award) -> None:
    contest.republish_board()
    publish(contest)
    assert "대상" in page(contest, "board/")
    for query in ("?snapshot=1", "?view=public"):
        assert "대상" not in page(contest, f"board/{query}")


def test_a_team_that_is_disqualified_later_is_not_shown(contest: Contest, award: Award) -> None:
    publish(contest)
    disqualify_team(team=award.team, actor=contest.writer, note_ko="사유")
    for name in ("", "board/", "/"):
        assert PRIZE not in page(contest, name)
    person = leader_of(award.team)
    assert "awards/" not in page(contest, "team/", client_of(person))
    assert client_of(person).get(pdf_address(contest, award)).status_code == 404


def test_the_page_that_is_handed_over_says_everything(contest: Contest, award: Award) -> None:
    Membership.objects.create(
        team=award.team, competition=contest.competition, user=UserFactory.create(name="김둘째"), role="member"
    )
    publish(contest)
    person = leader_of(award.team)
    text = written(contest, award)
    for said in (
        "상장", "제2026-1호", "대상", award.team.name, f"{person.name}, 김둘째", contest.competition.title, PRIZE,
        "뛰어난 성적을 거두었습니다", "2026년 12월 5일", "국어 연구회",
    ):  # fmt: skip
        assert " ".join(said.split()) in text, said
    english = written(contest, award, language="en")
    assert "Grand Prize" in english
    assert "2026-1" in english
    assert person.email not in text
    assert written(contest, award, User.objects.get(name="김둘째")) == text, "each member gets the same"


def test_the_team_page_leads_to_the_award_of_the_own_team(contest: Contest, award: Award) -> None:
    own, other = client_of(leader_of(award.team)), client_of(leader_of(contest.teams[2]))
    assert "awards/" not in page(contest, "team/", own)
    publish(contest)
    assert pdf_address(contest, award) in page(contest, "team/", own)
    assert "awards/" not in page(contest, "team/", other)


@pytest.mark.parametrize("who", ["visitor", "other team", "organiser", "before", "withdrawn", "revoked", "elsewhere"])
def test_nobody_else_gets_it(contest: Contest, award: Award, who: str) -> None:
    if who != "before":
        publish(contest)
    person, address = leader_of(award.team), pdf_address(contest, award)
    if who == "visitor":
        assert Client().get(address).status_code == 302
        return
    if who == "other team":
        person = leader_of(contest.teams[2])
    elif who == "organiser":
        person = contest.writer  # has the page of the organisers
    elif who == "withdrawn":
        withdraw_awards(competition=contest.competition, actor=contest.writer)
    elif who == "revoked":
        remove_award(award=award, actor=contest.writer)
    elif who == "elsewhere":
        other = make_contest()
        Competition.objects.filter(pk=other.competition.pk).update(is_published=True)
        person, address = leader_of(other.teams[1]), pdf_address(other, award)
    answer = client_of(person).get(address, headers={"Accept-Language": "ko"})
    assert answer.status_code == 404
    assert "상장을 찾을 수 없습니다" in answer.content.decode()


def test_whoever_is_shown_one_finds_at_its_address_that_it_stands(contest: Contest, award: Award) -> None:
    publish(contest)
    answer = Client(headers={"Accept-Language": "ko"}).get(check_of(written(contest, award)))
    text = html.parse(answer.content.decode()).text
    assert (answer.status_code, answer["X-Robots-Tag"]) == (200, "noindex")
    person = leader_of(award.team)
    for said in ("제2026-1호", "대상", award.team.name, person.name, PRIZE, "2026-12-05"):
        assert " ".join(said.split()) in " ".join(text.split())
    assert person.email not in answer.content.decode()
    update_award(award=award, actor=contest.writer, title_ko="최우수상")
    assert "최우수상" in Client().get(check_of(written(contest, award))).content.decode()


@pytest.mark.parametrize("change", ["disqualified", "withdrawn", "revoked", "hidden", "forged"])
def test_what_does_not_stand_any_more_is_not_confirmed(contest: Contest, award: Award, change: str) -> None:
    publish(contest)
    place = check_of(written(contest, award))
    assert Client().get(place).status_code == 200
    if change == "disqualified":
        disqualify_team(team=award.team, actor=contest.writer, note_ko="사유")
    elif change == "withdrawn":
        withdraw_awards(competition=contest.competition, actor=contest.writer)
    elif change == "revoked":
        remove_award(award=award, actor=contest.writer)
    elif change == "hidden":
        Competition.objects.filter(pk=contest.competition.pk).update(is_published=False)
    else:
        place = f"/awards/{signing.Signer(salt='another').sign_object(award.pk)}/"
    answer = Client(headers={"Accept-Language": "ko"}).get(place)
    assert answer.status_code == 404
    assert "확인할 수 없는 상장입니다" in answer.content.decode()
    assert award.team.name not in answer.content.decode()


def test_whose_data_were_erased_is_named_nowhere(contest: Contest, award: Award) -> None:
    member = UserFactory.create(name="김둘째")
    Membership.objects.create(team=award.team, competition=contest.competition, user=member, role="member")
    publish(contest)
    place = check_of(written(contest, award))
    assert "김둘째" in Client().get(place).content.decode()
    erase(user=member, actor=None, force=True)
    assert "김둘째" not in written(contest, award)
    assert "탈퇴" not in written(contest, award)
    assert "김둘째" not in Client().get(place).content.decode()


def test_names_however_long_stay_on_the_page(contest: Contest, award: Award) -> None:
    Team.objects.filter(pk=award.team.pk).update(name="가나다라마바사아자차" * 6)
    Competition.objects.filter(pk=contest.competition.pk).update(
        title_ko="긴 대회 이름 " * 15, organiser_ko="주최" * 60, team_size_max=50
    )
    update_award(award=award, actor=contest.writer, title_ko="상" * 60, prize_ko="부상" * 60)
    for number in range(40):
        person = UserFactory.create(name=f"{number:02}" + "뷁" * 38)
        Membership.objects.create(team=award.team, competition=contest.competition, user=person, role="member")
    publish(contest)
    text = written(contest, award).replace(" ", "")
    assert "39" + "뷁" * 38 in text
    assert "/awards/" in text


def test_lines_end_above_what_closes_the_page() -> None:
    found = font()
    assert found is not None
    made = Certificate(
        heading="상장",
        subject="대상",
        lines=[("팀", "팀"), ("구성원", ", ".join("뷁" * 40 for _each in range(50))), ("부상", "끝줄")],
        results=["긴 대회 이름 " * 15 + "까닭"],
        closing="이에 상장을 드립니다.",
        organiser="주최",
        issued_on=date(2026, 11, 27),
        address="https://example.org/",
    )
    places = heights_in(drawn(made, found))
    heights = [next(height for text, height in places.items() if part in text) for part in ("끝줄", "까닭", "드립니다")]
    assert heights == sorted(heights, reverse=True)  # from the bottom
    assert len(set(heights)) == 3


def test_without_a_font_the_server_says_so(contest: Contest, award: Award, settings: Any) -> None:
    settings.CERTIFICATE_FONT = "/nowhere/font.ttf"
    publish(contest)
    answer = client_of(leader_of(award.team)).get(pdf_address(contest, award))
    assert answer.status_code == 503
    assert "글꼴이 서버에 없습니다" in answer.content.decode()
