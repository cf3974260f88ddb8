"""Founding, copying, publishing and hiding a competition; taking out what nothing was made with."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import Permission as SitePermission
from django.utils import timezone

from malpan.competitions import roles, setup
from malpan.competitions.errors import (
    CompetitionNotReady,
    ManageNotFound,
    MayNotCreate,
    NoticeNotFound,
    PartInUse,
    RuleInUse,
    UnknownTrackRecipe,
)
from malpan.competitions.models import Competition, CompetitionRole, DataFile, Notice, Phase, TermsAcceptance, Track
from malpan.competitions.services import add_data_file, post_notice, update_competition, update_notice
from malpan.competitions.services import withdraw_notice as withdraw
from malpan.core.models import AuditEntry
from malpan.submissions.scoring_changes import update_track
from tests.factories import (
    CompetitionFactory,
    PhaseFactory,
    SubmissionFactory,
    TeamFactory,
    TrackFactory,
    UserFactory,
    finished_submission,
    publish,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def founder():
    person = UserFactory.create()
    person.user_permissions.add(SitePermission.objects.get(codename="add_competition"))
    return type(person).objects.get(pk=person.pk)


def test_a_founder_owns_a_competition_that_nobody_else_sees(founder):
    competition = setup.create_owned_competition(owner=founder, slug="new", title_ko="새 대회")

    assert not competition.is_published
    assert CompetitionRole.objects.get(competition=competition).role == "owner"
    assert {entry.action for entry in AuditEntry.objects.filter(actor=founder)} == {
        "competition.create",
        "role.appoint",
    }


def test_only_people_with_the_sites_permission_found_competitions():
    with pytest.raises(MayNotCreate):
        setup.create_owned_competition(owner=UserFactory.create(is_staff=True), slug="new", title_ko="새 대회")

    assert setup.may_create(UserFactory.create(is_superuser=True))
    assert not Competition.objects.exists()


def test_a_copy_takes_the_definition_and_nothing_else(founder):
    source = CompetitionFactory.create(terms_ko="약관", terms_version=4, prize_places=[3], is_demo=True)
    roles.appoint(competition=source, user=founder, role="viewer", actor=None)
    track = TrackFactory.create(competition=source, score_decimals=4)
    start = timezone.now() - timedelta(days=30)
    old = PhaseFactory.create(
        track=track, starts_at=start, ends_at=start + timedelta(days=9), public_percent=40, split_seed="비밀",
        board="hidden", daily_limit=3,
    )  # fmt: skip
    publish(old)
    SubmissionFactory.create(phase=old)
    add_data_file(track=track, kind="data", title_ko="자료", file_name="a.json", data=b"[]")

    copy = setup.create_owned_competition(owner=founder, slug="copy", title_ko="복사", copy_of=source)

    assert (copy.terms_ko, copy.terms_version, copy.prize_places) == ("약관", 1, [3])
    assert not copy.is_demo
    assert copy.tracks.get().score_decimals == 4
    phase = Phase.objects.get(track__competition=copy)
    assert (phase.daily_limit, phase.public_percent, phase.split_seed, phase.board) == (3, 40, "", "live")
    assert phase.ends_at - phase.starts_at == timedelta(days=9)
    assert phase.starts_at >= timezone.now() + timedelta(days=7)
    assert (phase.starts_at - old.starts_at) % timedelta(weeks=1) == timedelta(0)
    assert not phase.reference_versions.exists()
    assert not DataFile.objects.filter(track__competition=copy).exists()
    assert not copy.teams.exists()


def test_a_competition_without_a_role_in_it_cannot_be_copied(founder):
    with pytest.raises(ManageNotFound):
        setup.create_owned_competition(owner=founder, slug="copy", title_ko="복사", copy_of=CompetitionFactory.create())


def test_a_coming_schedule_is_copied_as_it_stands():
    now = datetime(2026, 11, 20, tzinfo=UTC)
    assert setup.shift_to_future(now + timedelta(days=8), now) == timedelta(0)
    assert setup.shift_to_future(now - timedelta(days=1), now) == timedelta(weeks=2)
    assert setup.shift_to_future(now, now) == timedelta(weeks=1)


def test_a_competition_with_gaps_is_published_only_by_saying_so():
    competition, owner = CompetitionFactory.create(is_published=False), UserFactory.create()

    with pytest.raises(CompetitionNotReady):
        setup.publish_competition(competition=competition, actor=owner)
    assert not Competition.objects.get().is_published

    setup.publish_competition(competition=competition, actor=owner, accepts_gaps=True)
    entry = AuditEntry.objects.get(action="competition.publish")
    assert (entry.before, entry.after["is_published"]) == ({"is_published": False}, True)
    assert "tracks" in entry.after["gaps"]


def test_hiding_is_audited_once():
    competition, owner = CompetitionFactory.create(), UserFactory.create()

    for _again in range(2):
        setup.hide_competition(competition=competition, actor=owner)

    assert not Competition.objects.get().is_published
    assert AuditEntry.objects.filter(action="competition.hide").count() == 1


def test_what_something_was_made_with_is_not_taken_out():
    phase, owner = PhaseFactory.create(), UserFactory.create()
    publish(phase)

    with pytest.raises(PartInUse):
        setup.remove_phase(phase=phase, actor=owner)
    with pytest.raises(PartInUse):
        setup.remove_track(track=phase.track, actor=owner)

    assert Phase.objects.exists()
    assert not AuditEntry.objects.filter(action__endswith=".remove").exists()


def test_an_unused_part_is_taken_out_and_audited():
    phase, owner = PhaseFactory.create(), UserFactory.create()
    track = phase.track
    file = add_data_file(track=track, kind="data", title_ko="자료", file_name="a.json", data=b"[]")

    setup.remove_phase(phase=phase, actor=owner)
    setup.remove_data_file(file=file, actor=owner)
    setup.remove_track(track=track, actor=owner)

    assert not Track.objects.exists()
    assert AuditEntry.objects.get(action="data_file.remove").before["file_name"] == "a.json"
    assert set(AuditEntry.objects.filter(action__endswith=".remove").values_list("competition_pk", flat=True)) == {
        track.competition_id
    }


# --- changes of what stands -------------------------------------------------------------------------------------------
def test_a_change_of_a_competition_is_audited_with_before_and_after():
    competition, owner = CompetitionFactory.create(team_size_max=5), UserFactory.create()

    update_competition(competition=competition, actor=owner, team_size_max=3, title_ko=competition.title_ko)

    entry = AuditEntry.objects.get(action="competition.update")
    assert (entry.before, entry.after) == ({"team_size_max": 5}, {"team_size_max": 3})


@pytest.mark.parametrize("field", ["is_published", "terms_version", "id", "no_such_column"])
def test_what_is_not_set_here_cannot_be_set_here(field):
    with pytest.raises(TypeError):
        update_competition(competition=CompetitionFactory.create(), actor=None, **{field: 1})


def test_terms_have_a_version_nobody_accepted_before():
    competition, person = CompetitionFactory.create(), UserFactory.create()

    def terms(text, renews=False):
        row = update_competition(competition=competition, actor=None, renews_terms=renews, terms_ko=text)
        return row.terms_version

    assert terms("하나") == 1
    assert terms("하나, 오탈자 고침") == 1
    assert terms("둘", renews=True) == 2
    TermsAcceptance.objects.create(user=person, competition=competition, version=2)
    assert terms("") == 0
    assert terms("셋") == 3


def test_a_track_changes_its_recipe_to_a_known_one_only():
    track = TrackFactory.create()

    with pytest.raises(UnknownTrackRecipe):
        update_track(track=track, actor=None, recipe="no@1")
    update_track(track=track, actor=None, recipe="rag-qa-strict@1")

    assert AuditEntry.objects.get(action="track.update").after == {"recipe": "rag-qa-strict@1"}


def test_a_notice_is_changed_and_withdrawn_with_its_words_in_the_log():
    notice = post_notice(competition=CompetitionFactory.create(), title_ko="공지", body_ko="본문")

    update_notice(notice=notice, actor=None, is_pinned=True)
    withdraw(notice=notice, actor=None)

    assert not Notice.objects.exists()
    assert AuditEntry.objects.get(action="notice.update").after == {"is_pinned": True}
    assert AuditEntry.objects.get(action="notice.withdraw").before["body_ko"] == "본문"
    with pytest.raises(NoticeNotFound):
        withdraw(notice=notice, actor=None)


def test_the_rule_of_a_track_is_not_edited_away_under_scores_that_count():
    phase = PhaseFactory.create()
    submission = finished_submission(phase, TeamFactory.create(competition=phase.track.competition), 0.5)
    with pytest.raises(RuleInUse):
        update_track(track=phase.track, actor=None, recipe="rag-qa-strict@1")
    with pytest.raises(RuleInUse):
        update_track(track=phase.track, actor=None, profile="official")
    update_track(track=phase.track, actor=None, title_ko="새 제목", recipe=phase.track.recipe)
    submission.live_run = None
    submission.save(update_fields=["live_run"])
    assert update_track(track=phase.track, actor=None, recipe="rag-qa-strict@1").recipe == "rag-qa-strict@1"
