"""Notices on the manage pages and on the participants' pages: written, previewed, pinned, kept back, taken down."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from malpan.competitions.models import Competition, Notice
from malpan.competitions.services import post_notice
from malpan.core.models import AuditEntry
from malpan.core.times import KST
from tests.factories import CompetitionFactory
from tests.web import html
from tests.web.manage_people import client_with_role

NOTICE = {"title_ko": "정답 정정", "title_en": "Erratum", "body_ko": "**굵게** <script>x</script>", "body_en": "*Text*"}


@pytest.fixture
def competition(db: None) -> Competition:
    return CompetitionFactory.create()


def at(moment: Any) -> str:
    return moment.astimezone(KST).strftime("%Y-%m-%dT%H:%M")


def access(competition: Competition, page: str = "") -> str:
    return f"/competitions/{competition.slug}/manage/notices/{page}"


def page_of(response: Any) -> html.Element:
    page = html.parse(response.content.decode())
    assert html.problems(page) == []
    return page


def notice(competition: Competition, **fields: Any) -> Notice:
    return post_notice(competition=competition, title_ko="공지", body_ko="본문", **fields)


def test_a_notice_of_another_competition_is_not_found(competition: Competition) -> None:
    other = notice(CompetitionFactory.create())
    client = client_with_role(competition, "owner")
    assert client.get(access(competition, f"{other.pk}/")).status_code == 404
    for action in ("", "pin/", "withdraw/"):
        assert client.post(access(competition, f"{other.pk}/{action}"), {"confirm": "on"}).status_code == 404
    assert Notice.objects.filter(pk=other.pk, is_pinned=False).exists()


def test_a_notice_is_posted_and_read_by_everybody_in_their_language(competition: Competition) -> None:
    client = client_with_role(competition, "organiser")
    sent = client.post(access(competition, "new/"), NOTICE | {"published_at": at(timezone.now()), "is_pinned": "on"})
    assert sent["Location"] == access(competition)
    korean = Client().get(f"/competitions/{competition.slug}/notices/")
    assert "<strong>굵게</strong>" in korean.content.decode()
    assert "<script>" not in korean.content.decode()
    assert "정답 정정" in page_of(korean).text
    english = Client().get(f"/competitions/{competition.slug}/notices/", headers={"accept-language": "en"})
    assert "<em>Text</em>" in english.content.decode()
    assert AuditEntry.objects.get(action="notice.post").competition_pk == competition.pk


def test_a_preview_shows_both_languages_and_posts_nothing(competition: Competition) -> None:
    client = client_with_role(competition, "organiser")
    fields = NOTICE | {"published_at": at(timezone.now()), "preview": "1"}
    response = client.post(access(competition, "new/"), fields)
    page = page_of(response)
    assert [text.attributes["lang"] for text in page.one("section", id="preview").all("div", "prose")] == ["ko", "en"]
    assert "<strong>굵게</strong>" in response.content.decode()
    assert page.one("input", name="title_ko").attributes["value"] == "정답 정정"
    assert not Notice.objects.exists()


def test_a_notice_for_later_is_seen_on_the_manage_alone(competition: Competition) -> None:
    client = client_with_role(competition, "organiser")
    later = timezone.now() + timedelta(hours=2)
    client.post(access(competition, "new/"), NOTICE | {"published_at": at(later)})
    assert "예약" in page_of(client.get(access(competition))).one("table").text
    for address in ("", "notices/"):
        assert "정답 정정" not in Client().get(f"/competitions/{competition.slug}/{address}").content.decode()
    Notice.objects.update(published_at=timezone.now())
    assert "정답 정정" in Client().get(f"/competitions/{competition.slug}/").content.decode()


def test_a_change_is_audited_with_before_and_after(competition: Competition) -> None:
    row = notice(competition)
    client = client_with_role(competition, "owner")
    client.post(access(competition, f"{row.pk}/"), NOTICE | {"published_at": at(row.published_at)})
    entry = AuditEntry.objects.get(action="notice.update")
    assert (entry.before["title_ko"], entry.after["title_ko"]) == ("공지", "정답 정정")
    assert "published_at" not in entry.after


def test_a_notice_is_pinned_and_let_go(competition: Competition) -> None:
    row = notice(competition)
    client = client_with_role(competition, "organiser")
    for value, is_pinned in (("1", True), ("0", False)):
        client.post(access(competition, f"{row.pk}/pin/"), {"pinned": value})
        row.refresh_from_db()
        assert row.is_pinned is is_pinned


def test_a_notice_is_taken_down_after_a_box_is_ticked(competition: Competition) -> None:
    row = notice(competition)
    client = client_with_role(competition, "organiser")
    refused = client.post(access(competition, f"{row.pk}/withdraw/"))
    assert "확인란에 표시해 주십시오" in page_of(refused).one("ul", "errorlist").text
    assert Notice.objects.exists()
    client.post(access(competition, f"{row.pk}/withdraw/"), {"confirm": "on"})
    assert not Notice.objects.exists()


# --- participants -----------------------------------------------------------------------------------------------------
def test_the_overview_shows_five_notices_and_leads_to_the_others(competition: Competition) -> None:
    now = timezone.now()
    for number in range(5):
        notice(competition, published_at=now - timedelta(hours=number))
    address = f"/competitions/{competition.slug}/"
    post_notice(competition=competition, title_ko="가장 오래된", body_ko="본문", published_at=now - timedelta(days=9))
    overview = html.parse(Client().get(address).content.decode())
    assert len(overview.one("ul", "notices").all("li")) == 5
    assert f"{address}notices/" in [a.attributes["href"] for a in overview.all("a")]
    assert "가장 오래된" in page_of(Client().get(f"{address}notices/")).text


def test_all_notices_stand_newest_first_whatever_is_pinned(competition: Competition) -> None:
    now = timezone.now()
    for days, title in ((1, "어제"), (0, "오늘"), (9, "옛날")):
        moment = now - timedelta(days=days)
        post_notice(
            competition=competition, title_ko=title, body_ko="본문", published_at=moment, is_pinned=title == "옛날"
        )
    page = page_of(Client().get(f"/competitions/{competition.slug}/notices/"))
    assert [article.one("h3").text for article in page.all("article")] == ["오늘", "어제", "옛날"]


def test_notices_come_in_pages_of_twenty(competition: Competition) -> None:
    for _number in range(21):
        notice(competition)
    address = f"/competitions/{competition.slug}/notices/"
    first = page_of(Client().get(address))
    assert len(first.all("article")) == 20
    assert "?page=2" in [a.attributes["href"] for a in first.all("a")]
    assert len(page_of(Client().get(f"{address}?page=99")).all("article")) == 1


def test_notices_of_a_hidden_competition_are_hidden(db: None) -> None:
    hidden = CompetitionFactory.create(is_published=False)
    assert Client().get(f"/competitions/{hidden.slug}/notices/").status_code == 404
