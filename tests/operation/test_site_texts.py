"""The privacy statement and the terms of use have what the operator wrote, in both languages; nobody else writes it."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from malpan.core.models import AuditEntry, SiteText
from malpan.core.site_texts import write_site_text
from tests.factories import UserFactory
from tests.web import html

pytestmark = pytest.mark.django_db
PLACE = "/manage/site/texts/"


def page_of(client: Client, address: str, **headers: str) -> html.Element:
    page = html.parse(client.get(address, headers=headers).content.decode())
    assert html.problems(page) == []
    return page


@pytest.mark.parametrize(("kind", "address"), [("privacy", "/privacy/"), ("terms", "/terms/")])
def test_what_the_operator_writes_is_on_the_page_in_both_languages(
    admin_client: Client, client: Client, kind: str, address: str
) -> None:
    texts = {"text_ko": "**책임자** 홍길동 <script>x</script>", "text_en": "**Officer** Hong"}
    assert admin_client.post(PLACE, {"kind": kind, **texts})["Location"] == PLACE
    prose = page_of(client, address).one("div", "prose")
    assert prose.one("strong").text == "책임자"
    assert not prose.all("script")
    assert page_of(client, f"{address}?lang=en").one("div", "prose").one("strong").text == "Officer"
    assert len(page_of(admin_client, PLACE).all("form", "manage-form")) == 2


def test_a_change_is_in_the_audit_log_with_both_versions_and_nothing_changed_is_not(admin_client: Client) -> None:
    for text in ("처음", "다음", "다음"):
        admin_client.post(PLACE, {"kind": "terms", "text_ko": text, "text_en": ""})
    entries = AuditEntry.objects.filter(action="site_text.update").order_by("pk")
    assert [(each.before["text_ko"], each.after["text_ko"]) for each in entries] == [("", "처음"), ("처음", "다음")]


def test_a_preview_saves_nothing(admin_client: Client) -> None:
    response = admin_client.post(PLACE, {"kind": "privacy", "text_ko": "*기울임*", "preview": "1"})
    assert html.parse(response.content.decode()).one("section", id="preview").one("em").text == "기울임"
    assert not SiteText.objects.exclude(text_ko="").exists()


def test_only_staff_write(client: Client) -> None:
    assert client.post(PLACE, {"kind": "terms", "text_ko": "x"}).status_code == 302
    client.force_login(UserFactory.create())
    assert client.post(PLACE, {"kind": "terms", "text_ko": "x"}).status_code == 404
    assert client.get(PLACE).status_code == 404
    assert not SiteText.objects.exists()


def test_without_a_text_the_pages_say_what_holds(client: Client) -> None:
    assert "따로 정한 이용약관이 없습니다" in page_of(client, "/terms/").text
    assert not page_of(client, "/privacy/").all("section", **{"aria-labelledby": "own-text"})


def test_the_footer_has_the_way_to_both_and_to_who_answers(client: Client, settings: Any) -> None:
    settings.SITE_CONTACT = "help@example.org"
    links = {link.attributes["href"] for link in page_of(client, "/").one("footer", "site-footer").all("a")}
    assert {"/privacy/", "/terms/", "mailto:help@example.org"} <= links
    assert "/terms/" in {
        link.attributes["href"] for link in page_of(client, "/accounts/signup/").all("a") if "href" in link.attributes
    }


def test_english_readers_get_korean_where_no_english_was_written(client: Client) -> None:
    write_site_text(kind="terms", text_ko="약관", text_en="", actor=UserFactory.create())
    assert page_of(client, "/terms/?lang=en").one("div", "prose").text == "약관"
