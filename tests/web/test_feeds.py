"""Notices as Atom, deadlines as a calendar: what the pages show, for programs to read again."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

import pytest
from django.test import Client
from django.utils import timezone

from malpan.competitions.services import post_notice
from malpan.web.ics import Moment, calendar
from tests.factories import CompetitionFactory, PhaseFactory

pytestmark = pytest.mark.django_db
ATOM = "{http://www.w3.org/2005/Atom}"


def test_the_feed_has_the_published_notices_newest_first(client: Client) -> None:
    competition = CompetitionFactory.create(slug="norms")
    now = timezone.now()
    for days, title in ((-2, "첫 공지"), (-1, "둘째 & <공지>"), (1, "내일의 공지")):
        post_notice(
            competition=competition, title_ko=title, body_ko="**본문**", published_at=now + timedelta(days=days)
        )

    answer = client.get("/competitions/norms/notices.atom", headers={"Accept-Language": "ko"})

    assert answer.headers["Content-Type"] == "application/atom+xml; charset=utf-8"
    feed = ElementTree.fromstring(answer.content)
    entries = feed.findall(f"{ATOM}entry")
    assert [entry.findtext(f"{ATOM}title") for entry in entries] == ["둘째 & <공지>", "첫 공지"]
    assert "<strong>본문</strong>" in (entries[0].findtext(f"{ATOM}summary") or "")
    assert len({entry.findtext(f"{ATOM}id") for entry in entries}) == 2


def test_the_calendar_has_begin_and_end_of_every_phase(client: Client) -> None:
    phase = PhaseFactory.create(
        track__competition__slug="norms",
        track__competition__title_ko="규범, 대회; 첫째",
        starts_at=datetime(2026, 11, 1, 0, 0, tzinfo=UTC),
        ends_at=datetime(2026, 11, 20, 14, 50, tzinfo=UTC),
    )

    answer = client.get("/competitions/norms/deadlines.ics", headers={"Accept-Language": "ko"})

    assert answer.headers["Content-Type"] == "text/calendar; charset=utf-8"
    text = answer.content.decode().replace("\r\n ", "")
    assert re.findall(r"DTSTART:(\S+)", text) == ["20261101T000000Z", "20261120T145000Z"]
    assert f"UID:phase-{phase.pk}-ends@127.0.0.1" in text
    assert "SUMMARY:규범\\, 대회\\; 첫째 어문 규범: 본선 제출 마감" in text


@pytest.mark.parametrize("path", ["notices.atom", "deadlines.ics"])
def test_an_unpublished_competition_has_neither(client: Client, path: str) -> None:
    CompetitionFactory.create(slug="secret", is_published=False)
    assert client.get(f"/competitions/secret/{path}").status_code == 404


def test_long_lines_are_folded_between_characters() -> None:
    moment = Moment("u", datetime(2026, 1, 1, tzinfo=UTC), "가나다라" * 40 + "\n끝", "https://malpan.example/")
    content = calendar("달력", [moment], datetime(2026, 1, 1, tzinfo=UTC))

    lines = content.encode().split(b"\r\n")
    assert all(len(line) <= 75 for line in lines)
    assert all(line.decode() for line in lines[:-1])
    assert lines[-1] == b""
    assert "SUMMARY:" + "가나다라" * 40 + "\\n끝\r\n" in content.replace("\r\n ", "")


@pytest.mark.parametrize("has_notices", [True, False])
def test_the_overview_leads_visitors_to_all_of_them(client: Client, has_notices: bool) -> None:
    competition = CompetitionFactory.create(slug="norms")
    if has_notices:
        post_notice(competition=competition, title_ko="공지", body_ko="본문", published_at=timezone.now())
    page = client.get("/competitions/norms/").content.decode()
    for path in ("notices/", "notices.atom", "deadlines.ics"):
        assert f'href="/competitions/norms/{path}"' in page
