"""Every form in which organisers write Markdown shows it as readers will see it, and saves nothing meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from malpan.competitions.models import Competition, Question, Track
from malpan.core.models import AuditEntry
from malpan.stages.models import Stage
from tests.factories import CompetitionFactory, PhaseFactory, TrackFactory, UserFactory
from tests.web import html
from tests.web.manage_people import client_with_role

pytestmark = pytest.mark.django_db
TEXT = "**굵게** <script>x</script>"


@pytest.fixture
def track() -> Track:
    return PhaseFactory.create(track=TrackFactory.create(competition=CompetitionFactory.create())).track


def texts(competition: Competition) -> dict[str, Any]:
    return {"title_ko": competition.title_ko, "slug": competition.slug, "team_size_max": 5}


def forms_of(track: Track) -> dict[str, tuple[str, dict[str, Any], str]]:
    """Of each form: its address, what it needs besides, and its Markdown field."""
    question = Question.objects.create(
        competition=track.competition, asked_by=UserFactory.create(), title="질문", body="?"
    )
    track_fields = {"title_ko": "과제", "slug": track.slug, "recipe": track.recipe, "score_scale": 100}
    return {
        "texts": ("setup/texts/", texts(track.competition), "description_ko"),
        "terms": ("setup/texts/", texts(track.competition), "terms_en"),
        "track": (f"setup/tracks/{track.slug}/", track_fields | {"score_decimals": 7, "position": 0}, "description_ko"),
        "answer": (f"questions/{question.pk}/answer/", {}, "answer_ko"),
        "rubric": (f"arena/rubrics/{track.slug}/new/", {"title_ko": "기준"}, "guideline_ko"),
    }


@pytest.mark.parametrize("name", ["texts", "terms", "track", "answer", "rubric"])
def test_a_preview_is_shown_and_nothing_saved(track: Track, name: str) -> None:
    address, fields, field = forms_of(track)[name]
    client = client_with_role(track.competition, "owner")
    entries = AuditEntry.objects.count()
    place = f"/competitions/{track.competition.slug}/manage/{address}"
    response = client.post(place, fields | {field: TEXT, "preview": "1"})
    assert response.status_code in (200, 422)  # what else is wrong is said as well
    page = html.parse(response.content.decode())
    shown = page.one("section", id="preview").one("div", "prose")
    assert shown.attributes["lang"] == ("en" if field.endswith("_en") else "ko")
    assert shown.one("strong").text == "굵게"
    assert not shown.all("script")
    assert page.one("textarea", name=field).text.strip() == TEXT, "it can be written on"
    assert AuditEntry.objects.count() == entries
    assert html.problems(page) == []


def test_enter_saves_and_does_not_preview(track: Track) -> None:
    """Browsers press the first button of a form: the preview comes after the one that saves."""
    client = client_with_role(track.competition, "owner")
    for address, *_rest in forms_of(track).values():
        if address.startswith("questions"):
            address = address.removesuffix("answer/")
        page = html.parse(client.get(f"/competitions/{track.competition.slug}/manage/{address}").content.decode())
        buttons = [form.all("button") for form in page.all("form") if form.all("button", name="preview")]
        assert [each[0].attributes.get("name") == "preview" for each in buttons] == [False], address


def test_without_the_button_nothing_is_previewed(track: Track) -> None:
    client = client_with_role(track.competition, "owner")
    place = f"/competitions/{track.competition.slug}/manage/stages/new/{track.slug}/"
    page = html.parse(client.get(place).content.decode())
    assert not page.all("section", id="preview")
    response = client.post(place, {"title_ko": "심사", "notice_ko": TEXT, "preview": "1"})
    assert html.parse(response.content.decode()).one("section", id="preview").one("strong").text == "굵게"
    assert not Stage.objects.exists()
