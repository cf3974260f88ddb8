"""Two windows with the same form: nothing that its reader has not seen is overwritten."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from malpan.competitions.models import Competition, Phase
from tests.factories import PhaseFactory, TrackFactory
from tests.web.html import Element, fields_of, parse
from tests.web.manage_people import client_with_role

pytestmark = pytest.mark.django_db


@pytest.fixture
def phase() -> Phase:
    return PhaseFactory.create(daily_limit=5, track__competition__summary_ko="처음 소개")


@pytest.fixture
def organiser(phase: Phase) -> Client:
    return client_with_role(phase.track.competition, "organiser")


def texts_of(phase: Phase) -> str:
    return f"/competitions/{phase.track.competition.slug}/manage/setup/texts/"


def opened(client: Client, address: str) -> dict[str, list[str]]:
    """What a window would send as it is."""
    return filled(parse(client.get(address).content.decode()))


def filled(page: Element) -> dict[str, list[str]]:
    forms = [form for form in page.all("form") if form.all("input", name="seen")]
    return fields_of(forms[0])


def test_a_second_window_keeps_what_the_first_one_saved(organiser: Client, phase: Phase) -> None:
    address = texts_of(phase)
    first, second = opened(organiser, address), opened(organiser, address)
    assert organiser.post(address, first | {"summary_ko": "새 소개"}).status_code == 302
    assert organiser.post(address, second | {"organiser_ko": "국립국어원"}).status_code == 302
    competition = Competition.objects.get()
    assert (competition.summary_ko, competition.organiser_ko) == ("새 소개", "국립국어원")

    address = f"/competitions/{competition.slug}/manage/phases/{phase.pk}/"
    first, second = opened(organiser, address), opened(organiser, address)
    organiser.post(address, first | {"daily_limit": "9"})
    organiser.post(address, second | {"total_limit": "30"})
    phase.refresh_from_db()
    assert (phase.daily_limit, phase.total_limit) == (9, 30)


def test_two_answers_to_one_question_are_shown_and_the_second_saving_is_meant(organiser: Client, phase: Phase) -> None:
    address = texts_of(phase)
    first, second = opened(organiser, address), opened(organiser, address)
    organiser.post(address, first | {"summary_ko": "첫 창의 소개", "organiser_ko": "첫 주최"})
    refused = organiser.post(address, second | {"summary_ko": "둘째 창의 소개"})
    page = parse(refused.content.decode())
    assert refused.status_code == 422
    assert "지금 값: 첫 창의 소개" in page.text
    assert Competition.objects.get().summary_ko == "첫 창의 소개"
    assert organiser.post(address, filled(page)).status_code == 302
    competition = Competition.objects.get()
    assert (competition.summary_ko, competition.organiser_ko) == ("둘째 창의 소개", "첫 주최")


def test_what_a_form_derives_from_a_column_is_kept_and_asked_as_well(organiser: Client, phase: Phase) -> None:
    """The step of shown scores is typed in points and kept as a share."""
    address = f"/competitions/{phase.track.competition.slug}/manage/phases/{phase.pk}/"
    first, second, third = (opened(organiser, address) for _ in range(3))
    assert organiser.post(address, first | {"step_points": "0.5", "shows_own_score": []}).status_code == 302
    assert organiser.post(address, second | {"total_limit": "30"}).status_code == 302
    phase.refresh_from_db()
    assert (phase.score_step, phase.total_limit, phase.shows_own_score) == (Decimal("0.005"), 30, False)
    refused = organiser.post(address, third | {"step_points": "2"})
    assert refused.status_code == 422
    assert "지금 값: 0.5" in parse(refused.content.decode()).text


def test_the_judge_of_a_track_is_not_taken_away_by_a_window_opened_before(organiser: Client) -> None:
    track = TrackFactory.create(competition=Competition.objects.get(), recipe="rag-qa@1")
    address = f"/competitions/{track.competition.slug}/manage/setup/tracks/{track.slug}/"
    first, second, third = (opened(organiser, address) for _ in range(3))
    assert organiser.post(address, first | {"judge": "fluency"}).status_code == 302
    assert organiser.post(address, second | {"title_ko": "새 제목"}).status_code == 302
    track.refresh_from_db()
    assert (track.title_ko, track.recipe) == ("새 제목", "rag-qa@1+fluency")
    refused = organiser.post(address, third | {"judge": "faithfulness"})
    assert refused.status_code == 422
    assert refused.content.decode().count("지금 값: ") == 1


@pytest.mark.parametrize("seen", ["", "x", "summary_ko:zz no_such:1 :", "summary_ko"])
def test_whatever_stands_in_the_marks_a_form_is_answered(organiser: Client, phase: Phase, seen: str) -> None:
    sent: dict[str, Any] = opened(organiser, texts_of(phase)) | {"seen": seen, "summary_ko": "새 소개"}
    assert organiser.post(texts_of(phase), sent).status_code in (302, 422)
