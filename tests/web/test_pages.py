"""What holds for every page: it opens, it is sound and accessible markup, it writes nothing and leaks nothing."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from malpan.competitions.models import Competition, Phase
from malpan.competitions.services import add_data_file
from malpan.leaderboard import standings
from scoring.recipes import get_recipe
from tests.factories import CANARY
from tests.web import html
from tests.web.conftest import Contest, Look, PageList

NOT_FOUND = {"not found", "no such competition"}
HANGUL = re.compile(r"[가-힣ㄱ-ㅎㅏ-ㅣ]+")
QUERY_LIMIT = 25


def test_every_page_opens(pages: PageList, look: Look) -> None:
    statuses = {name: look(address, is_member).status_code for name, address, is_member in pages}
    assert statuses == {name: 404 if name in NOT_FOUND else 200 for name in statuses}


def test_every_page_is_sound_markup_within_the_policy(pages: PageList, look: Look) -> None:
    found = {}
    for name, address, is_member in pages:
        response = look(address, is_member)
        found[name] = html.problems(html.parse(response.content.decode()))
        assert "default-src 'self'" in response["Content-Security-Policy"], name
    assert {name: problems for name, problems in found.items() if problems} == {}


def test_looking_writes_nothing(pages: PageList, look: Look) -> None:
    """Sessions apart: the framework touches its own row where it keeps a message. The standings follow the scores: the
    first who looks after a change has them computed.
    """
    for phase in Phase.objects.all():
        standings.refresh(phase)
    for name, address, is_member in pages:
        with CaptureQueriesContext(connection) as queries:
            look(address, is_member)
        writes = [
            query["sql"]
            for query in queries
            if re.match(r"\s*(INSERT|UPDATE|DELETE)", query["sql"]) and "django_session" not in query["sql"]
        ]
        assert writes == [], name


def test_every_page_takes_few_queries(pages: PageList, look: Look) -> None:
    counts = {}
    for name, address, is_member in pages:
        with CaptureQueriesContext(connection) as queries:
            look(address, is_member)
        counts[name] = len(queries)
    assert {name: count for name, count in counts.items() if count > QUERY_LIMIT} == {}


def test_no_page_holds_a_reference_answer(pages: PageList, look: Look) -> None:
    leaks = [name for name, address, is_member in pages if CANARY in look(address, is_member).content.decode()]
    assert leaks == []


def test_english_pages_have_no_hangul_but_data(pages: PageList, look: Look) -> None:
    """Marked ``lang=ko``: the contest's official messages, the example of a file, the switch to Korean."""
    recipe_rule = get_recipe("rag-qa@1").rule_text.en  # quotes the Korean of the answers
    left = {}
    for name, address, is_member in pages:
        page = html.parse(look(address, is_member, accept_language="en").content.decode())
        assert page.one("html").attributes["lang"] == "en", name
        left[name] = [word for text in _english(page) for word in HANGUL.findall(text.replace(recipe_rule, ""))]
    assert {name: words for name, words in left.items() if words} == {}


def _english(element: html.Element) -> list[str]:
    """Texts and worded attributes outside what is marked as Korean."""
    if element.attributes.get("lang") == "ko":
        return []
    texts = [value for name, value in element.attributes.items() if name.startswith(("aria-", "data-", "title"))]
    own = " ".join(child for child in element.children if isinstance(child, str))
    below = [text for child in element.children if isinstance(child, html.Element) for text in _english(child)]
    return [" ".join(own.split()), *texts, *below]


def test_korean_is_the_language_of_a_reader_who_names_none(db: None, client: Client) -> None:
    assert html.parse(client.get("/").content.decode()).one("html").attributes["lang"] == "ko"


def test_the_language_switch_is_a_post_that_lasts_and_returns_to_the_page(contest: Contest, client: Client) -> None:
    back = contest.url("board/?sort=bleurt")
    response = client.post("/language/", {"language": "en", "next": back})
    assert (response.status_code, response["Location"]) == (302, back)
    assert response.cookies["django_language"]["max-age"] > 0
    assert 'lang="en"' in client.get("/").content.decode()


def test_the_language_switch_does_not_lead_elsewhere(db: None, client: Client) -> None:
    response = client.post("/language/", {"language": "en", "next": "https://elsewhere.example/"})
    assert response["Location"] == "/"


@pytest.mark.parametrize("page", ["", "data/", "submit/", "board/", "team/"])
def test_an_unpublished_competition_is_there_for_staff_only(
    contest: Contest, member: Client, admin_client: Client, page: str
) -> None:
    Competition.objects.update(is_published=False)
    assert member.get(contest.url(page)).status_code == 404
    assert admin_client.get(contest.url(page)).status_code == 200


def test_no_cache_keeps_a_page_made_for_one_person(contest: Contest, member: Client, client: Client) -> None:
    for page in ("", "submit/", "submissions/", "board/"):
        assert "no-store" in member.get(contest.url(page))["Cache-Control"]
    assert "no-store" in member.get(f"/submissions/{contest.finished.public_id}/status/")["Cache-Control"]
    assert not client.get(contest.url("board/")).has_header("Cache-Control")


def test_pages_made_with_demo_models_say_so(contest: Contest, member: Client, settings: Any) -> None:
    for page in ("", "data/", "submit/", "board/", "submissions/", "team/"):
        assert "데모 모델" in html.parse(member.get(contest.url(page)).content.decode()).one("div", "banner").text, page
    contest.track.profile = "official"
    contest.track.save()
    page = html.parse(member.get(contest.url()).content.decode())
    assert page.all("div", "banner") == []
    contest.track.profile, contest.track.recipe = "demo", "captioning-lexical@1"  # whose scores no model makes
    contest.track.save()
    page = html.parse(member.get(contest.url()).content.decode())
    assert page.all("div", "banner") == []


def test_the_data_page_says_what_a_file_holds(contest: Contest, client: Client) -> None:
    rows = [{"id": "q1", "input": {"question": "<b>무엇입니까</b>"}}, {"id": "q2", "input": {"question": "왜"}}]
    data = json.dumps(rows, ensure_ascii=False).encode()
    add_data_file(track=contest.track, kind="data", title_ko="문항", file_name="preview.json", data=data)
    page = html.parse(client.get(contest.url("data/")).content.decode())
    [facts] = [each for each in page.all("details", "data-facts") if "preview.json" in each.text]
    assert "항목 2개" in facts.one("summary").text
    cells = {row.one("th").text: [cell.text for cell in row.all("td")] for row in facts.one("tbody").all("tr")}
    assert cells == {"id": ["2", "2", "2", "2"], "input.question": ["2", "1", "6", "12"]}
    assert "<b>무엇입니까</b>" in facts.all("pre")[0].text
    assert html.problems(page) == []
