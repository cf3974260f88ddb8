"""``malpan rescore`` of several phases, against the site itself."""

from __future__ import annotations

import pytest
from django.utils import timezone

from malpan.competitions.drafts import create_draft
from malpan.competitions.models import Phase
from malpan.submissions.models import RescoreBatch, RescoreOrder, ScoringRun
from tests.factories import PhaseFactory, TeamFactory, UserFactory, finished_submission, publish, reference_bytes

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def phases() -> list[Phase]:
    first = PhaseFactory.create(slug="open")
    found = [first, PhaseFactory.create(track=first.track, slug="final")]
    for phase in found:
        publish(phase)
        finished_submission(phase, TeamFactory.create(competition=first.track.competition), 0.5)
    return found


def finish() -> None:
    values = {"final_score": 0.6, "scores": {"final_score": 0.6}, "signature_hash": "new"}
    ScoringRun.objects.exclude(batch=None).update(state="finished", finished_at=timezone.now(), **values)


def test_several_phases_are_started_seen_and_applied_together(by_person, phases):
    person, contest = UserFactory.create(is_superuser=True), phases[0].track.competition.slug
    place = f"{contest}/{phases[0].track.slug}/open"
    start = ("rescore", "start", place, "--reason", "다시", "--also")
    assert "nothing" in by_person(person, *start, "nothing", status=6).err
    made = by_person(person, *start, "final", "--json").json
    first, second = RescoreBatch.objects.order_by("pk")
    assert (first.phase, second.phase) == (phases[0], phases[1])
    assert (made["id"], made["together"]) == (first.pk, [first.pk, second.pk])
    assert f"{first.pk}, {second.pk}" in by_person(person, "rescore", "show", contest, str(second.pk)).out
    waiting = by_person(person, "rescore", "show", contest, str(first.pk), "--wait", "--wait-limit", "0", status=7)
    assert str(first.pk) in waiting.out
    finish()
    by_person(person, "rescore", "show", contest, str(first.pk), "--wait")

    done = by_person(person, "rescore", "apply", contest, str(second.pk), "--yes", "--json")

    assert done.json["state"] == "applied"
    assert f"#{first.pk}" in done.err
    assert f"#{second.pk}" in done.err
    assert set(RescoreBatch.objects.values_list("state", flat=True)) == {"applied"}


def test_a_preview_speaks_as_the_board_does_and_tells_of_fewer_items(by_person, phases):
    person, phase = UserFactory.create(is_superuser=True), phases[0]
    contest, track = phase.track.competition.slug, phase.track
    track.score_scale, track.score_decimals = 100, 2
    track.save()
    draft = create_draft(phase=phase, actor=person, data=reference_bytes(2), erratum_ko="한 문항을 뺍니다.")
    start = ("rescore", "start", f"{contest}/{track.slug}/open", "--reason", "다시", "--references", str(draft.pk))
    number = str(by_person(person, *start, "--json").json["id"])
    assert "final_score" not in by_person(person, "rescore", "preview", contest, number).out, "nothing is scored yet"
    finish()
    shown = by_person(person, "rescore", "preview", contest, number).out
    assert "최종 점수" in shown
    assert "final_score" not in shown
    assert "+10.00" in shown
    team = phase.submissions.get().team.name
    [line] = [line for line in shown.splitlines() if line.startswith(team)]
    assert line.split()[-5:] == ["1", "1", "50.00", "60.00", "–"]
    assert "문항이 3개에서 2개로 줄어듭니다" in shown


def test_why_an_order_was_refused_is_told(by_person, phases):
    person, contest = UserFactory.create(is_superuser=True), phases[0].track.competition.slug
    place = f"{contest}/{phases[0].track.slug}/open"
    number = str(by_person(person, "rescore", "start", place, "--reason", "다시", "--json").json["id"])
    by_person(person, "rescore", "order", contest, number, "--guard", "0", "--yes")
    refusal = {"code": "batch_places_change", "params": {"places": 3, "changed": 2}}
    RescoreOrder.objects.update(state="refused", refusal=refusal)
    shown = by_person(person, "rescore", "show", contest, number).out
    assert "적용하지 않음" in shown
    assert "1위부터 3위까지" in shown
