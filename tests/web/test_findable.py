"""How pages are found and shown elsewhere: addresses by language, previews, what search engines are told, citations."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from xml.etree import ElementTree

import pytest
from django.test import Client
from django.utils import timezone

from malpan.competitions.models import Competition, Phase
from malpan.web.presenters.citation import bibtex
from malpan.web.presenters.timeline import timeline_of
from tests.factories import CompetitionFactory, PhaseFactory
from tests.web import html
from tests.web.conftest import Contest

pytestmark = pytest.mark.django_db
SITEMAP = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9", "x": "http://www.w3.org/1999/xhtml"}


def page_of(client: Client, address: str, **options: Any) -> html.Element:
    return html.parse(client.get(address, **options).content.decode())


def test_an_address_names_the_language_and_the_next_pages_keep_it(client: Client) -> None:
    assert page_of(client, "/?lang=en").one("html").attributes["lang"] == "en"
    assert page_of(client, "/metrics/").one("html").attributes["lang"] == "en"


def test_an_address_does_not_change_what_a_reader_chose(client: Client) -> None:
    client.post("/language/", {"language": "ko", "next": "/"})
    assert page_of(client, "/?lang=en").one("html").attributes["lang"] == "en"
    assert page_of(client, "/").one("html").attributes["lang"] == "ko"


@pytest.mark.parametrize("wanted", ["", "fr", "EN", "en-US", "en\r\nSet-Cookie: a=b"])
def test_a_language_that_the_site_does_not_speak_changes_nothing(client: Client, wanted: str) -> None:
    response = client.get("/", {"lang": wanted})
    assert html.parse(response.content.decode()).one("html").attributes["lang"] == "ko"
    assert not response.cookies


def test_the_switch_leads_to_the_page_without_the_language_of_its_address(client: Client, phase: Phase) -> None:
    page = page_of(client, f"/competitions/{phase.track.competition.slug}/board/?track=norms&lang=en")
    wanted = page.one("form", "language").one("input", name="next").attributes["value"]
    assert wanted == f"/competitions/{phase.track.competition.slug}/board/?track=norms"


def test_a_page_names_itself_in_both_languages_whatever_host_is_asked(client: Client, phase: Phase) -> None:
    path = f"/competitions/{phase.track.competition.slug}/board/"
    page = page_of(client, f"{path}?track=norms&sort=bleurt&lang=en", headers={"host": "localhost"})
    plain = f"http://127.0.0.1:8000{path}?track=norms"
    assert page.one("link", rel="canonical").attributes["href"] == plain
    alternates = [link.attributes for link in page.all("link", rel="alternate") if "hreflang" in link.attributes]
    links = {each["hreflang"]: each["href"] for each in alternates}
    assert links == {"ko": f"{plain}&lang=ko", "en": f"{plain}&lang=en", "x-default": plain}


def test_a_link_to_a_contest_is_shown_with_its_title_summary_and_picture(client: Client, phase: Phase) -> None:
    page = page_of(client, f"/competitions/{phase.track.competition.slug}/")
    metas = [meta.attributes for meta in page.all("meta") if "property" in meta.attributes]
    told = {meta["property"]: meta["content"] for meta in metas}
    assert told["og:title"] == "어문 규범 대회 · 말판"
    assert told["og:description"] == "한 줄 소개"
    assert told["og:image"].startswith("http://127.0.0.1:8000/static/web/preview")


def test_a_hidden_contest_is_in_no_preview_and_not_in_the_sitemap(admin_client: Client, phase: Phase) -> None:
    Competition.objects.update(is_published=False)
    page = page_of(admin_client, f"/competitions/{phase.track.competition.slug}/")
    assert not page.all("meta", property="og:title")
    assert phase.track.competition.slug not in Client().get("/sitemap.xml").content.decode()


def test_the_sitemap_lists_pages_that_open_for_everybody(client: Client, contest: Contest) -> None:
    found = ElementTree.fromstring(client.get("/sitemap.xml").content)
    addresses = [each.text or "" for each in found.findall("s:url/s:loc", SITEMAP)]
    assert f"http://127.0.0.1:8000{contest.url('board/')}" in addresses
    assert {client.get(each.removeprefix("http://127.0.0.1:8000")).status_code for each in addresses} == {200}
    alternates = found.findall("s:url/x:link", SITEMAP)
    assert len(alternates) == 2 * len(addresses)


def test_robots_are_kept_from_personal_pages_and_led_to_the_sitemap(client: Client) -> None:
    lines = client.get("/robots.txt").content.decode().splitlines()
    assert "Disallow: /submissions/" in lines
    assert "Disallow: /competitions/*/manage/" in lines
    assert lines[-1] == "Sitemap: http://127.0.0.1:8000/sitemap.xml"


def test_the_icon_is_where_old_browsers_look(client: Client) -> None:
    assert client.get("/favicon.ico")["Location"].endswith("/web/favicon.ico")


def test_a_contest_is_cited_in_bibtex_on_its_page_and_as_a_file(client: Client, phase: Phase) -> None:
    slug = phase.track.competition.slug
    text = client.get(f"/competitions/{slug}/citation.bib").content.decode()
    assert text.startswith(f"@misc{{malpan-{slug},\n")
    assert "  title = {{어문 규범 대회}},\n" in text
    assert f"howpublished = {{\\url{{http://127.0.0.1:8000/competitions/{slug}/}}}}" in text
    assert "author = {{말판 운영팀}}" in text
    shown = page_of(client, f"/competitions/{slug}/").one("details", "citation")
    assert shown.one("code").text == " ".join(text.split())


def test_what_latex_would_read_is_escaped() -> None:
    contest = Competition(slug="x", title_ko=r"50% {R&D} #1_a \ ^~$")
    title = r"50\% \{R\&D\} \#1\_a \textbackslash{} \textasciicircum{}\textasciitilde{}\$"
    assert f"title = {{{{{title}}}}}," in bibtex(contest, None, "https://a.example/")


def test_the_timeline_puts_the_turns_of_all_tracks_in_order_and_marks_the_next() -> None:
    now = timezone.now()
    competition = CompetitionFactory.create()
    hours = [(-3, -1), (-1, 2), (5, 9)]
    for number, (start, end) in enumerate(hours):
        PhaseFactory.create(
            track__competition=competition,
            track__title_ko=f"과제{number}",
            title_ko="본선",
            starts_at=now + timedelta(hours=start),
            ends_at=now + timedelta(hours=end),
        )
    turns = timeline_of(list(competition.tracks.order_by("pk")), now)
    assert [turn.is_over for turn in turns] == [True, True, False, False, False]
    assert [turn.is_next for turn in turns] == [False, False, True, False, False]
    assert turns[1].events == ("과제0 · 본선 마감", "과제1 · 본선 시작")


def test_the_page_of_a_contest_has_its_key_figures_and_its_timeline(client: Client, contest: Contest) -> None:
    page = page_of(client, contest.url())
    figures = {each.one("dt").text: each.one("dd").text for each in page.one("dl", "key-figures").all("div")}
    assert figures == {"참가 팀": "2", "받은 제출": "4", "트랙": "1"}
    assert [each.attributes.get("aria-current") for each in page.one("ol", "timeline").all("li")] == [None, "step"]
