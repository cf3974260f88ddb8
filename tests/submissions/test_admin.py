"""Runs in the admin."""

import pytest
from django.utils import timezone

from malpan.submissions.models import ScoringRun
from tests.admin_pages import address, messages_of, organiser, pages
from tests.factories import (
    PhaseFactory,
    ScoringRunFactory,
    SubmissionFactory,
    TeamFactory,
    finished_submission,
    publish,
)

__all__ = ["organiser", "pages"]
pytestmark = pytest.mark.django_db


def test_given_up_run_is_tried_again_by_an_action_and_others_are_not(pages):
    phase = PhaseFactory.create()
    publish(phase)
    failed = ScoringRunFactory.create(
        submission=SubmissionFactory.create(phase=phase, refunded_at=timezone.now()), state=ScoringRun.State.FAILED
    )
    waiting = ScoringRunFactory.create(submission=SubmissionFactory.create(phase=phase))

    answer = pages.post(
        address(ScoringRun, "changelist"),
        {"action": "retry", "_selected_action": [failed.pk, waiting.pk]},
        follow=True,
    )

    assert failed.submission.runs.count() == 2
    assert waiting.submission.runs.count() == 1
    told = messages_of(answer)
    assert any(message.startswith(f"{waiting.pk} — 요청 오류") for message in told)


NOTED = [
    {"code": "demo_models", "params": {"profile": "demo"}},
    {"code": "answer_repeated", "params": {"count": 80, "items": 100, "percent": 80.0, "reference_percent": 1.0}},
]


@pytest.fixture
def runs():
    """A run with something to look into, one with a plain note, one still waiting."""
    noted, plain = (finished_submission(PhaseFactory.create(), TeamFactory.create(), 0.5).live_run for _ in range(2))
    ScoringRun.objects.filter(pk=noted.pk).update(warnings=NOTED)
    ScoringRun.objects.filter(pk=plain.pk).update(warnings=NOTED[:1])
    return noted, plain, ScoringRunFactory.create()


def listed(pages, **query):
    return set(pages.get(address(ScoringRun, "changelist"), query).context["cl"].queryset)


def test_organiser_reads_the_warnings_of_a_run_as_sentences(pages, runs):
    page = pages.get(address(ScoringRun, "change", runs[0].pk)).content.decode()
    assert "<p>똑같은 답변 하나가 100개 문항 가운데 80개(80.0%)에 쓰였습니다." in page
    assert "answer_repeated" not in page


def test_sentences_are_in_the_language_of_the_organiser(pages, runs):
    page = pages.get(address(ScoringRun, "change", runs[0].pk), headers={"accept-language": "en"}).content.decode()
    assert "One and the same answer stands for 80 of 100 items" in page


def test_organiser_lists_the_runs_whose_answers_are_worth_reading(pages, runs):
    noted, plain, waiting = runs
    assert listed(pages, integrity="noted") == {noted}
    assert listed(pages, integrity="clear") == {plain}
    assert listed(pages) == {noted, plain, waiting}


def test_runs_are_ordered_by_their_number_of_warnings(pages, runs):
    columns = pages.get(address(ScoringRun, "changelist")).context["cl"].list_display
    answer = pages.get(address(ScoringRun, "changelist"), {"o": f"-{columns.index('warning_count')}"})
    assert list(answer.context["cl"].queryset) == list(runs)


def test_a_warning_of_another_version_does_not_break_the_page(pages, runs):
    ScoringRun.objects.filter(pk=runs[0].pk).update(warnings=[{"code": "of_tomorrow", "params": {"x": "<b>"}}])
    answer = pages.get(address(ScoringRun, "change", runs[0].pk))
    assert answer.status_code == 200
    assert "of_tomorrow" in answer.content.decode()
