"""A judge beside the scores of a track, as an organiser chooses it on the page of the track."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from malpan.competitions.models import Competition, Track
from malpan.core.models import AuditEntry
from malpan.submissions.models import ScoringRun
from malpan.web.forms.setup import TrackForm
from tests.factories import CompetitionFactory, PhaseFactory, TeamFactory, publish
from tests.submissions.conftest import send
from tests.web import html
from tests.web.manage_people import client_with_role

TRACK = {
    "title_ko": "어문 규범", "title_en": "Norms", "slug": "norms", "recipe": "rag-qa@1", "profile": "demo",
    "score_scale": "100", "score_decimals": "7", "position": "0",
}  # fmt: skip


def address(competition: Competition, rest: str) -> str:
    return f"/competitions/{competition.slug}/manage/setup/{rest}"


def page_of(response: Any) -> html.Element:
    page = html.parse(response.content.decode())
    assert html.problems(page) == []
    return page


def chosen(page: html.Element, name: str) -> str:
    options = page.one("select", name=name).all("option")
    [value] = [option.attributes["value"] for option in options if "selected" in option.attributes]
    return value


@pytest.fixture
def organiser(db: None) -> Client:
    competition = CompetitionFactory.create(slug="contest")
    return client_with_role(competition, "organiser")


def saved(client: Client, page: str, **fields: str) -> Any:
    return client.post(address(Competition.objects.get(slug="contest"), page), TRACK | fields)


def test_a_judge_is_chosen_kept_and_left_out_again(organiser: Client) -> None:
    assert saved(organiser, "new-track/", judge="fluency+faithfulness").status_code == 302
    track = Track.objects.get()
    assert track.recipe == "rag-qa@1+fluency+faithfulness"
    page = page_of(organiser.get(address(track.competition, "tracks/norms/")))
    assert (chosen(page, "recipe"), chosen(page, "judge")) == ("rag-qa@1", "fluency+faithfulness")
    for value, recipe in (("fluency", "rag-qa@1+fluency"), ("", "rag-qa@1")):
        assert saved(organiser, "tracks/norms/", judge=value).status_code == 302
        track.refresh_from_db()
        assert track.recipe == recipe
    changes = AuditEntry.objects.filter(action="track.update").order_by("pk").values_list("after__recipe", flat=True)
    assert list(changes) == ["rag-qa@1+fluency", "rag-qa@1"]


def test_without_the_field_nothing_is_judged(organiser: Client) -> None:
    assert saved(organiser, "new-track/").status_code == 302
    assert Track.objects.get().recipe == "rag-qa@1"


@pytest.mark.parametrize("value", ["fluency", "style", "faithfulness+fluency"])
def test_what_cannot_be_judged_is_explained_beside_the_field(organiser: Client, value: str) -> None:
    response = saved(organiser, "new-track/", judge=value, recipe="classification@1")
    assert response.status_code == 422
    assert page_of(response).one("ul", "errorlist").attributes["id"] == "id_judge_error"
    assert not Track.objects.exists()


def test_a_refused_judge_makes_no_recipe_that_does_not_exist(db: None) -> None:
    sent = TRACK | {"recipe": "classification@1", "judge": "fluency"}
    form = TrackForm(sent, competition=CompetitionFactory.create())
    assert list(form.errors) == ["judge"]
    assert (form.cleaned_data["recipe"], form.instance.recipe) == ("classification@1", "classification@1")


def test_once_there_are_scores_only_rescoring_changes_it(organiser: Client) -> None:
    saved(organiser, "new-track/")
    phase = PhaseFactory.create(track=Track.objects.get())
    publish(phase)
    submission = send(phase, TeamFactory.create(competition=phase.track.competition))
    run = ScoringRun.objects.get(submission=submission)
    submission.live_run = run
    submission.save()
    response = saved(organiser, "tracks/norms/", judge="fluency")
    assert response.status_code == 409
    assert page_of(response).one("ul", "errorlist").attributes["id"] == "id_recipe_error"
    assert Track.objects.get().recipe == "rag-qa@1"


def test_a_profile_without_a_judge_is_on_the_checklist(organiser: Client, settings: Any, monkeypatch: Any) -> None:
    monkeypatch.delenv("MALPAN_DEMO_JUDGE_URL", raising=False)
    saved(organiser, "new-track/", judge="fluency")
    setup = address(Competition.objects.get(slug="contest"), "")
    assert "심사 모델([judge])이 없어" in page_of(organiser.get(setup)).text
    monkeypatch.setenv("MALPAN_DEMO_JUDGE_URL", "http://127.0.0.1:9")
    assert "심사 모델([judge])이 없어" not in page_of(organiser.get(setup)).text
    monkeypatch.delenv("MALPAN_DEMO_JUDGE_URL")
    saved(organiser, "tracks/norms/")
    assert "심사 모델([judge])이 없어" not in page_of(organiser.get(setup)).text


def test_the_pages_of_the_metrics_name_the_recipes(organiser: Client) -> None:
    for name in ("judge_fluency", "judge_faithfulness"):
        text = page_of(organiser.get(f"/metrics/{name}/")).text
        assert "rag-qa@1+fluency+faithfulness" in text
        assert f"captioning@1+{name.removeprefix('judge_')}" in text
