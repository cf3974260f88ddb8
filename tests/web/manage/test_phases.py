"""운영실 › 단계: settings, the board, the split, and publishing the final board."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.competitions.phases import SETTINGS
from malpan.core.models import AuditEntry
from malpan.leaderboard.models import BoardSnapshot
from malpan.submissions.models import HiddenResult, Submission
from malpan.teams.models import Team
from malpan.web.forms.phases import PhaseForm
from malpan.web.presenters.scores import step_text
from tests.factories import PhaseFactory, TeamFactory, finished_submission, person_in, publish
from tests.web.conftest import client_of
from tests.web.html import parse
from tests.web.visibility_world import canaries_in


def manage_of(phase: Phase, role: str) -> Client:
    return client_of(person_in(phase.track.competition, role))


def url(phase: Phase, page: str = "") -> str:
    return f"/competitions/{phase.track.competition.slug}/manage/phases/{phase.pk}/{page}"


def fields_of(phase: Phase, **changes: object) -> dict[str, object]:
    """What the settings form sends, as shown for ``phase``."""
    kst = "%Y-%m-%dT%H:%M"
    shown = {
        "title_ko": phase.title_ko,
        "title_en": phase.title_en,
        "starts_at": timezone.localtime(phase.starts_at).strftime(kst),
        "ends_at": timezone.localtime(phase.ends_at).strftime(kst),
        "daily_limit": phase.daily_limit or "",
        "total_limit": phase.total_limit or "",
        "min_interval": f"{int(phase.min_interval.total_seconds())}초",
        "public_percent": phase.public_percent or "",
        "finals_limit": phase.finals_limit or "",
        "step_points": step_text(phase) or "",
        "is_ladder": "on" if phase.is_ladder else "",
        "position": phase.position,
        "shows_own_score": "on" if phase.shows_own_score else "",
        "board": phase.board,
        "frozen_at": timezone.localtime(phase.frozen_at).strftime(kst) if phase.frozen_at else "",
    }
    return shown | changes


@pytest.fixture
def organiser(phase: Phase) -> Client:
    return manage_of(phase, "organiser")


@pytest.fixture
def over(phase: Phase) -> Phase:
    """The phase, ended, with one result that has a private split."""
    phase.reference_versions.update(public_ids=["q1"])
    team = TeamFactory.create(competition=phase.track.competition, name="Winner")
    row = finished_submission(phase, team, 0.5)
    HiddenResult.objects.create(
        run=row.live_run, final_score=0.7654321, scores={"final_score": 0.7654321}, signature_hash="h"
    )
    phase.ends_at = timezone.now() - timedelta(minutes=5)
    phase.save()
    return phase


def test_every_phase_is_listed_with_its_state(phase: Phase, organiser: Client) -> None:
    page = organiser.get(f"/competitions/{phase.track.competition.slug}/manage/phases/").content.decode()
    assert phase.title_ko in page
    assert "실시간 공개" in page


def test_the_form_has_every_setting_of_a_phase() -> None:
    assert {*PhaseForm.Meta.fields} == {"slug", "step_points", *SETTINGS} - {"score_step"}


def test_a_board_that_is_shown_again_in_the_form_has_no_moment(phase: Phase, organiser: Client) -> None:
    organiser.post(url(phase, "board/"), {"board": "frozen"})
    phase.refresh_from_db()
    organiser.post(url(phase), fields_of(phase, board="live"))
    phase.refresh_from_db()
    assert (phase.board, phase.frozen_at) == ("live", None)


def test_settings_are_saved_and_what_was_left_alone_stays_to_the_second(phase: Phase, organiser: Client) -> None:
    before = phase.ends_at
    answer = organiser.post(url(phase), fields_of(phase, finals_limit=2, daily_limit=3))
    phase.refresh_from_db()
    assert answer.status_code == 302
    assert (phase.finals_limit, phase.daily_limit, phase.ends_at) == (2, 3, before)


def test_a_frozen_board_keeps_its_moment_when_other_settings_are_saved(phase: Phase, organiser: Client) -> None:
    organiser.post(url(phase, "board/"), {"board": "frozen"})
    phase.refresh_from_db()
    moment = phase.frozen_at
    assert moment is not None
    organiser.post(url(phase), fields_of(phase, title_en="Other"))
    phase.refresh_from_db()
    assert (phase.board, phase.frozen_at, phase.title_en) == ("frozen", moment, "Other")


def test_wrong_settings_are_told_beside_their_field(phase: Phase, organiser: Client) -> None:
    answer = organiser.post(url(phase), fields_of(phase, public_percent=100))
    assert answer.status_code == 422
    assert "1부터 99까지의 수" in answer.content.decode()


@pytest.mark.parametrize(("name", "moment"), [("starts_at", "0001-01-01T00:00"), ("ends_at", "9999-12-31T23:59")])
def test_a_moment_of_another_age_is_refused(phase: Phase, organiser: Client, name: str, moment: str) -> None:
    """The first second of the first year in Korea lies before the first year in UTC, which no page could read again."""
    answer = organiser.post(url(phase), fields_of(phase, **{name: moment}))
    assert answer.status_code == 422
    assert organiser.get("/").status_code == 200


@pytest.mark.parametrize(
    ("scale", "points", "step"), [(100, "0.5", "0.005"), (1, "0.005", "0.005"), (100, "10", "0.1")]
)
def test_the_step_of_public_scores_is_given_in_points(
    phase: Phase, organiser: Client, scale: int, points: str, step: str
) -> None:
    type(phase.track).objects.update(score_scale=scale)
    answer = organiser.post(url(phase), fields_of(phase, step_points=points, is_ladder="on"))
    phase.refresh_from_db()
    assert (answer.status_code, phase.score_step, phase.is_ladder) == (302, Decimal(step), True)
    assert f'value="{points}"' in organiser.get(url(phase)).content.decode()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"step_points": "0"}, "0.0001에서 10까지, 0.0001의 배수로"),
        ({"step_points": "10.1"}, "0.0001에서 10까지"),
        ({"step_points": "0.00001"}, "0.0001의 배수로"),
        ({"step_points": "NaN"}, "숫자를 입력"),
        ({"is_ladder": "on"}, "오른 점수만 공개하려면 단위를"),
    ],
)
def test_a_senseless_step_is_told_beside_its_field(
    phase: Phase, organiser: Client, changes: dict[str, str], told: str
) -> None:
    answer = organiser.post(url(phase), fields_of(phase, **changes))
    assert answer.status_code == 422
    assert told in answer.content.decode()


def test_another_share_says_that_it_needs_a_new_version(phase: Phase, organiser: Client) -> None:
    answer = organiser.post(url(phase), fields_of(phase, public_percent=30), follow=True)
    assert "정답을 새 판으로 올리거나" in answer.content.decode()


def test_a_list_of_public_items_makes_a_new_version(phase: Phase, organiser: Client) -> None:
    answer = organiser.post(url(phase, "split/"), {"way": "list", "public_ids": "q1\nq3"})
    assert answer.status_code == 302
    assert phase.reference_versions.get(is_current=True).public_ids == ["q1", "q3"]


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"way": "list", "public_ids": "q1\nq77"}, "q77"),
        ({"way": "list"}, "공개 문항의 id를 적어 주십시오"),
        ({}, "방법을 골라 주십시오"),
    ],
)
def test_a_wrong_list_is_refused(phase: Phase, organiser: Client, sent: dict[str, str], told: str) -> None:
    answer = organiser.post(url(phase, "split/"), sent)
    assert answer.status_code == 422
    assert told in answer.content.decode()
    assert phase.reference_versions.count() == 1


def test_splitting_where_there_are_submissions_asks_first(phase: Phase, organiser: Client) -> None:
    finished_submission(phase, TeamFactory.create(competition=phase.track.competition), 0.5)
    sent = {"way": "list", "public_ids": "q1"}
    assert organiser.post(url(phase, "split/"), sent).status_code == 409
    assert organiser.post(url(phase, "split/"), {**sent, "replaces": "on"}).status_code == 302


def test_the_final_board_is_published_once_the_phase_s_name_is_typed(over: Phase, organiser: Client) -> None:
    preview = organiser.get(url(over, "?show=final")).content.decode()
    assert "76.5432100" in preview
    assert organiser.post(url(over, "publish/"), {"word": "yes"}).status_code == 422
    assert not BoardSnapshot.objects.exists()

    answer = organiser.post(url(over, "publish/"), {"word": over.slug, "note_ko": "축하합니다"})

    assert answer.status_code == 302
    board = Client().get(f"/competitions/{over.track.competition.slug}/board/?digits=all").content.decode()
    assert "최종 순위표" in board
    assert "76.5432100" in board
    assert "공개 1위 → 최종 1위" in board
    assert "축하합니다" in board
    public = Client().get(f"/competitions/{over.track.competition.slug}/board/?view=public&digits=all").content.decode()
    assert "76.5432100" not in public
    assert "50.0000000" in public


def test_the_preview_tells_the_public_score_of_the_team_from_that_of_the_submission(
    over: Phase, organiser: Client
) -> None:
    """The team chose another file than its best public one."""
    over.finals_limit = 1
    over.save()
    chosen = Submission.objects.get(live_run__hidden_result__isnull=False)
    Submission.objects.filter(pk=chosen.pk).update(is_final_choice=True, file_name="chosen.json")
    better = finished_submission(over, chosen.team, 0.625, file_name="better.json")
    HiddenResult.objects.create(run=better.live_run, final_score=0.1, scores={"final_score": 0.1}, signature_hash="h")
    row = parse(organiser.get(url(over, "?show=final")).content.decode()).one("section", id="final").one("tbody").text
    assert "chosen.json" in row
    assert "62.5" in row
    assert "이 제출의 공개 점수 50.0" in row


def test_without_a_split_nothing_is_said_of_private_items(over: Phase, organiser: Client) -> None:
    over.reference_versions.update(public_ids=None)
    preview = parse(organiser.get(url(over, "?show=final")).content.decode())
    assert "비공개" not in preview.one("section", id="final").text

    answer = organiser.post(url(over, "publish/"), {"word": over.slug}, follow=True)

    assert "발표했습니다. 이제 누구나 볼 수 있습니다." in answer.content.decode()
    assert "비공개 문항의 점수" not in answer.content.decode()


def test_the_preview_does_without_the_recipe_of_what_was_published(over: Phase, organiser: Client) -> None:
    """A board published by a recipe that this site no longer has is listed, and who left it since."""
    organiser.post(url(over, "publish/"), {"word": over.slug, "note_ko": "첫 발표"})
    BoardSnapshot.objects.update(recipe="gone@1")
    Team.objects.filter(name="Winner").update(disqualified_at=timezone.now())
    answer = organiser.get(url(over, "?show=final"))
    assert answer.status_code == 200
    text = answer.content.decode()
    assert "첫 발표" in text
    assert "실격하여 이번에 빠지는 팀: Winner" in text


def test_a_phase_that_runs_is_not_published(phase: Phase, organiser: Client) -> None:
    answer = organiser.post(url(phase, "publish/"), {"word": phase.slug})
    assert answer.status_code == 409
    assert "끝난 뒤에" in answer.content.decode()


@pytest.mark.parametrize("role", ["viewer", "operator"])
def test_people_without_the_permission_look_and_change_nothing(over: Phase, role: str) -> None:
    access = manage_of(over, role)
    assert access.get(url(over)).status_code == 200
    assert "76.5432100" in access.get(url(over, "?show=final")).content.decode()
    for page, sent in (
        ("", fields_of(over, finals_limit=9)),
        ("board/", {"board": "hidden"}),
        ("split/", {"way": "none", "replaces": "on"}),
        ("publish/", {"word": over.slug}),
    ):
        assert access.post(url(over, page), sent).status_code == 403
    over.refresh_from_db()
    assert (over.finals_limit, over.board, over.final_published_at) == (None, "live", None)


def test_a_phase_of_another_competition_is_not_there(phase: Phase, organiser: Client) -> None:
    other = PhaseFactory.create()
    slug = phase.track.competition.slug
    for page in ("", "?show=final"):
        assert organiser.get(f"/competitions/{slug}/manage/phases/{other.pk}/{page}").status_code == 404


def test_references_do_not_come_out_on_these_pages(phase: Phase, organiser: Client) -> None:
    publish(phase)
    for page in ("", "?show=final"):
        assert list(canaries_in(organiser.get(url(phase, page)).content.decode())) == []


def test_the_final_board_is_worked_out_only_where_it_is_asked_for(over: Phase, organiser: Client) -> None:
    assert "76.5432100" not in organiser.get(url(over)).content.decode()
    assert "76.5432100" in organiser.get(url(over, "?show=final")).content.decode()


def test_a_phase_whose_final_board_is_out_keeps_its_end_split_and_finals(over: Phase, organiser: Client) -> None:
    organiser.post(url(over, "publish/"), {"word": over.slug})
    over.refresh_from_db()
    kept = (over.finals_limit, over.public_percent, over.ends_at)
    for change in ({"finals_limit": 9}, {"public_percent": 10}, {"ends_at": "2031-01-01T00:00"}):
        answer = organiser.post(url(over), fields_of(over, **change))
        assert answer.status_code == 409
        assert "최종 순위표를 발표한 단계" in answer.content.decode()
    over.refresh_from_db()
    assert (over.finals_limit, over.public_percent, over.ends_at) == kept


def test_settings_and_board_changes_are_audited_with_who_made_them(phase: Phase, organiser: Client) -> None:
    organiser.post(url(phase), fields_of(phase, daily_limit=3))
    organiser.post(url(phase, "board/"), {"board": "frozen"})
    update, board = AuditEntry.objects.get(action="phase.update"), AuditEntry.objects.get(action="phase.set_board")
    assert update.after["daily_limit"] == 3
    assert update.actor is not None
    assert update.actor == board.actor


# --- closing at once --------------------------------------------------------------------------------------------------
def test_a_running_phase_is_closed_at_once_and_what_waits_is_scored(phase: Phase, organiser: Client) -> None:
    assert "지금 마감" in organiser.get(url(phase)).content.decode()
    assert organiser.post(url(phase, "close/")).status_code == 422  # the box is not ticked
    phase.refresh_from_db()
    assert phase.is_open()
    assert organiser.post(url(phase, "close/"), {"confirm": "on"}).status_code == 302
    phase.refresh_from_db()
    assert phase.is_over()
    assert timezone.now() - phase.ends_at < timedelta(seconds=30)
    entry = AuditEntry.objects.filter(action="phase.update").first()
    assert entry is not None
    assert "ends_at" in entry.after
    assert "지금 마감" not in organiser.get(url(phase)).content.decode()


def test_a_phase_that_does_not_run_is_not_closed(over: Phase, organiser: Client) -> None:
    before = over.ends_at
    response = organiser.post(url(over, "close/"), {"confirm": "on"})
    assert response.status_code == 409
    assert "지금 제출을 받고 있는 단계만" in response.content.decode()
    over.refresh_from_db()
    assert over.ends_at == before
