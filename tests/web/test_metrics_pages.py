"""The pages about metrics: open to everybody, sound, in both languages, linked from every page."""

from __future__ import annotations

import pytest
from django.test import Client

from scoring.cards import GROUPS, HEADINGS, card_names, load_card, recipes_with
from scoring.recipes import get_recipe
from tests.web import html

pytestmark = pytest.mark.django_db
LANGUAGES = ("ko", "en")


def page_of(client: Client, address: str, language: str = "ko") -> html.Element:
    return html.parse(client.get(address, headers={"accept-language": language}).content.decode())


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_index_lists_every_card_with_its_summary(client: Client, language: str) -> None:
    page = page_of(client, "/metrics/", language)
    assert html.problems(page) == []
    shown = [(card.one("a").attributes["href"], card.one("p").text) for card in page.one("main").all("article")]
    cards = [load_card(name, language) for name in card_names()]
    assert shown == [(f"/metrics/{card.name}/", card.summary) for card in cards]
    assert len(page.one("main").all("h2")) == len(GROUPS) + 1  # and how sure ranks are


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", card_names())
def test_a_card_page_shows_the_card_and_the_recipes_that_use_it(client: Client, name: str, language: str) -> None:
    page = page_of(client, f"/metrics/{name}/", language)
    assert html.problems(page) == []
    assert page.one("h1").text == load_card(name, language).title
    assert [heading.text for heading in page.one("div", "prose").all("h2")] == list(HEADINGS[language])
    assert page.one("div", "prose").all("pre"), "the formula is a block of its own"
    used_by = [badge.text for badge in page.one("aside").all("span", "badge")]
    assert used_by == [recipe.id for recipe in recipes_with(name)]
    assert all(get_recipe(recipe).title(language) in page.one("aside").text for recipe in used_by)


def test_nothing_of_a_card_is_lost_in_rendering(client: Client) -> None:
    for name in card_names():
        prose = page_of(client, f"/metrics/{name}/").one("div", "prose").text
        assert "**" not in prose, name
        assert "`" not in prose.replace("```", ""), name


@pytest.mark.parametrize("name", ["nothing", "bleu_4", "final_score"])
def test_an_unknown_metric_is_not_found(client: Client, name: str) -> None:
    assert client.get(f"/metrics/{name}/").status_code == 404


def test_every_page_leads_to_the_metrics(client: Client) -> None:
    for address in ("/", "/metrics/", "/no/such/page/"):
        links = [link.attributes["href"] for link in page_of(client, address).one("footer").all("a")]
        assert "/metrics/" in links, address


def test_the_index_and_a_card_ask_the_database_only_for_human_evaluations(
    client: Client, django_assert_num_queries
) -> None:
    for address in ("/metrics/", "/metrics/meteor/"):
        with django_assert_num_queries(1):
            client.get(address)
