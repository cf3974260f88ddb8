"""What an organiser sets on a phase, and how its references are split."""

from datetime import timedelta

import pytest
from django.utils import timezone

from malpan.competitions.errors import PhaseAlreadyPublished, PhaseSettingsInvalid, ReferencesInUse, SplitInvalid
from malpan.competitions.models import Phase
from malpan.competitions.phases import update_phase
from malpan.core.models import AuditEntry
from malpan.submissions.scoring_changes import publish_reference_version, split_again
from tests.factories import PhaseFactory, SubmissionFactory, UserFactory, publish, reference_bytes

pytestmark = pytest.mark.django_db


@pytest.fixture
def phase():
    return PhaseFactory.create(public_percent=40)


def test_references_are_split_by_the_share_of_the_phase_and_its_secret_seed(phase):
    first = publish(phase, 10)
    again = publish(phase, 10)

    phase.refresh_from_db()
    assert len(first.public_ids) == 4
    assert first.public_ids == again.public_ids
    assert len(phase.split_seed) == 32
    assert first.published_at is not None


def test_a_phase_without_a_share_has_no_split():
    assert publish(PhaseFactory.create()).public_ids is None


def test_a_list_takes_the_place_of_the_share_and_holds_for_the_next_file(phase):
    version = publish_reference_version(phase=phase, data=reference_bytes(5), actor=None, public_ids=["q3", "q1"])
    phase.refresh_from_db()
    later = publish_reference_version(phase=phase, data=reference_bytes(4), actor=None)

    assert version.public_ids == ["q1", "q3"]
    assert phase.public_percent is None
    assert later.public_ids == ["q1", "q3"]  # a corrected file never makes private items public


def test_an_empty_list_asks_for_no_split(phase):
    assert publish_reference_version(phase=phase, data=reference_bytes(5), actor=None, public_ids=[]).public_ids is None


@pytest.mark.parametrize("wrong", [["q1", "q9"], ["q1", "q2", "q3"]])
def test_a_list_names_known_items_and_leaves_some_private(phase, wrong):
    with pytest.raises(SplitInvalid):
        publish_reference_version(phase=phase, data=reference_bytes(3), actor=None, public_ids=wrong)
    assert not phase.reference_versions.exists()


def test_splitting_again_makes_a_version_of_the_same_file(phase):
    first = publish(phase, 10)
    update_phase(phase=phase, actor=None, public_percent=70)

    second = split_again(phase=phase, actor=None)

    first.refresh_from_db()
    assert (second.file_sha256, second.number, second.is_current) == (first.file_sha256, 2, True)
    assert (len(first.public_ids), first.is_current, len(second.public_ids)) == (4, False, 7)


def test_splitting_again_asks_first_where_there_are_submissions(phase):
    publish(phase, 10)
    SubmissionFactory.create(phase=phase)
    with pytest.raises(ReferencesInUse):
        split_again(phase=phase, actor=None, public_ids=["q1"])
    assert split_again(phase=phase, actor=None, public_ids=["q1"], replace_in_use=True).public_ids == ["q1"]


def test_settings_are_audited_with_before_and_after(phase):
    actor = UserFactory.create()
    update_phase(phase=phase, actor=actor, finals_limit=2, shows_own_score=False)

    entry = AuditEntry.objects.get(action="phase.update")
    assert entry.before == {"shows_own_score": True, "finals_limit": None}
    assert entry.after == {"shows_own_score": False, "finals_limit": 2}
    assert entry.competition_pk == phase.track.competition_id
    update_phase(phase=phase, actor=actor, finals_limit=2)
    assert AuditEntry.objects.filter(action="phase.update").count() == 1  # nothing changed, nothing written


def test_freezing_has_a_moment_and_another_board_has_none(phase):
    now = timezone.now()
    assert update_phase(phase=phase, actor=None, board="frozen", now=now).frozen_at == now
    assert update_phase(phase=phase, actor=None, board="frozen", frozen_at=now + timedelta(1)).frozen_at > now
    assert update_phase(phase=phase, actor=None, board="hidden").frozen_at is None


def test_a_phase_ends_after_it_starts_and_splits_off_a_public_share(phase):
    for wrong in ({"ends_at": phase.starts_at}, {"public_percent": 100}, {"board": "nowhere"}):
        with pytest.raises(PhaseSettingsInvalid):
            update_phase(phase=phase, actor=None, **wrong)
    with pytest.raises(TypeError):
        update_phase(phase=phase, actor=None, split_seed="known")


def test_a_published_phase_keeps_its_end_its_split_and_its_finals(phase):
    publish(phase, 10)
    Phase.objects.update(final_published_at=timezone.now())
    for change in ({"public_percent": 50}, {"finals_limit": 1}, {"ends_at": phase.ends_at + timedelta(1)}):
        with pytest.raises(PhaseAlreadyPublished):
            update_phase(phase=phase, actor=None, **change)
    with pytest.raises(PhaseAlreadyPublished):
        split_again(phase=phase, actor=None, public_ids=["q1"])
    assert update_phase(phase=phase, actor=None, title_en="Finals").title_en == "Finals"
