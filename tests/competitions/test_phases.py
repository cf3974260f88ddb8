"""What an organiser sets on a phase, and how its references are split."""

import json
from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from malpan.competitions.drafts import create_draft
from malpan.competitions.errors import (
    CountingInvalid,
    PhaseAlreadyPublished,
    PhaseNotRunning,
    PhaseSettingsInvalid,
    ReferencesInUse,
    SplitInvalid,
)
from malpan.competitions.models import Phase
from malpan.competitions.phases import SETTINGS, close_phase, set_board, update_phase
from malpan.competitions.services import create_competition, create_phase, create_track
from malpan.competitions.setup import COPIED_PHASE
from malpan.competitions.splitting import split_ids
from malpan.core.messages import text_of
from malpan.core.models import AuditEntry
from malpan.submissions.scoring_changes import publish_reference_version, split_again
from tests.factories import PhaseFactory, SubmissionFactory, UserFactory, file_bytes, publish, reference_bytes

pytestmark = pytest.mark.django_db


@pytest.fixture
def phase():
    return PhaseFactory.create(public_percent=40)


def test_a_new_column_of_a_phase_is_a_setting_and_copied_or_named_here_as_neither():
    columns = {column.name for column in Phase._meta.concrete_fields}
    assert columns - set(SETTINGS) == {"id", "track", "slug", "split_seed", "final_published_at"}
    assert set(SETTINGS) - set(COPIED_PHASE) == {"starts_at", "ends_at", "board", "frozen_at"}
    assert set(COPIED_PHASE) - set(SETTINGS) == {"slug"}


def test_a_board_is_frozen_from_then_on_whichever_way_it_is_set(phase):
    moment, later = timezone.now(), timezone.now() + timedelta(hours=1)
    for change in (update_phase, set_board):
        assert change(phase=phase, actor=None, board="frozen", now=moment).frozen_at == moment
        assert change(phase=phase, actor=None, board="frozen", now=later).frozen_at == moment
        assert change(phase=phase, actor=None, board="hidden").frozen_at is None
    actions = list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))
    assert actions == ["phase.update"] * 2 + ["phase.set_board"] * 2, "what changed nothing is no entry"


def test_a_running_phase_is_closed_at_this_very_second_and_no_other_one():
    begun = timezone.now().replace(microsecond=0) - timedelta(days=1)
    phase = PhaseFactory.create(starts_at=begun, ends_at=begun + timedelta(days=3))
    moment = begun + timedelta(days=1, microseconds=500_001)
    for early_or_late in (begun - timedelta(seconds=1), begun + timedelta(days=3, seconds=1)):
        with pytest.raises(PhaseNotRunning):
            close_phase(phase=phase, actor=None, now=early_or_late)
    assert close_phase(phase=phase, actor=None, now=moment).ends_at == begun + timedelta(days=1)
    with pytest.raises(PhaseNotRunning):
        close_phase(phase=phase, actor=None, now=moment)

    other = PhaseFactory.create(starts_at=begun, ends_at=begun + timedelta(days=3))
    closed = close_phase(phase=other, actor=None)
    assert timedelta() <= timezone.now() - closed.ends_at < timedelta(minutes=2), "now, where no moment is given"


def test_references_are_split_by_the_share_of_the_phase_and_its_secret_seed(phase):
    first = publish(phase, 10)
    again = publish(phase, 10)

    phase.refresh_from_db()
    assert len(first.public_ids) == 4
    assert first.public_ids == again.public_ids
    assert len(phase.split_seed) == 32
    assert first.published_at is not None


def test_every_phase_has_a_seed_of_its_own(phase):
    other = PhaseFactory.create(track=phase.track, public_percent=40)
    publish(other, 10)
    first = Phase.objects.get(pk=other.pk).split_seed
    publish(phase, 10)

    seeds = dict(Phase.objects.values_list("pk", "split_seed"))
    assert seeds[other.pk] == first
    assert len(set(seeds.values())) == 2


def test_every_kind_of_question_gives_its_share(phase):
    """Half of six and half of two, by a seed that draws none or both of the two from all eight."""
    items = json.loads(reference_bytes(8))
    for item in items[:2]:
        item["input"]["question_type"] = "교정형"
    ids, few = [item["id"] for item in items], {"q1", "q2"}
    seed = next(seed for seed in map(str, range(99)) if len(few & set(split_ids(ids, 50, seed))) != 1)
    Phase.objects.filter(pk=phase.pk).update(split_seed=seed, public_percent=50)

    public = set(publish_reference_version(phase=phase, data=file_bytes(items), actor=None).public_ids)

    assert (len(public), len(public & few)) == (4, 1)


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


LONG = "x" * 61


@pytest.mark.parametrize(
    ("wrong", "reason", "params"),
    [
        (["q1", "q9"], "unknown", {"count": 1, "first": "q9"}),
        (["q1", LONG, "q9"], "unknown", {"count": 2, "first": LONG[:60]}),
        (["q1", "q2", "q3"], "empty", {"count": 3, "first": ""}),
    ],
)
def test_a_list_names_known_items_and_leaves_some_private(phase, wrong, reason, params):
    with pytest.raises(SplitInvalid) as refused:
        publish_reference_version(phase=phase, data=reference_bytes(3), actor=None, public_ids=wrong)
    assert refused.value.params == {"reason": reason, **params}
    assert not phase.reference_versions.exists()


def test_a_new_file_keeps_the_public_items_that_it_still_has_but_never_loses_the_split(phase):
    publish_reference_version(phase=phase, data=reference_bytes(6), actor=None, public_ids=["q2", "q5"])
    assert publish(phase, 4).public_ids == ["q2"]
    with pytest.raises(SplitInvalid) as refused:
        publish(phase, 1)  # which has no public item any more
    assert refused.value.params == {"reason": "empty", "count": 0, "first": ""}


def test_a_file_is_split_as_the_current_version_is_whatever_came_after_it(phase):
    """A draft has a higher number and another split: the phase had a share when it was made."""
    publish_reference_version(phase=phase, data=reference_bytes(6), actor=None, public_ids=["q2"])
    update_phase(phase=phase, actor=None, public_percent=50)
    assert len(create_draft(phase=phase, data=reference_bytes(5), actor=None).public_ids) > 1
    update_phase(phase=phase, actor=None, public_percent=None)
    assert publish(phase, 4).public_ids == ["q2"]
    without = PhaseFactory.create(track=phase.track)
    assert [publish(without, count).public_ids for count in (6, 5)] == [None, None]


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
        with pytest.raises(PhaseSettingsInvalid) as refused:
            update_phase(phase=phase, actor=None, **wrong)
    assert refused.value.fields == ("board",)
    with pytest.raises(TypeError):
        update_phase(phase=phase, actor=None, split_seed="known")


WRONG = {
    "ends_at": ({"ends_at": timezone.now() - timedelta(days=9)}, "마감은 시작보다 뒤여야"),
    "public_percent": ({"public_percent": 150}, "1부터 99까지"),
    "score_step": ({"score_step": Decimal("0.5")}, "0.1 이하"),
    "a ladder": ({"is_ladder": True}, "단위를 적어"),
}


@pytest.mark.parametrize(("wrong", "said"), WRONG.values(), ids=WRONG)
def test_what_the_constraints_refuse_is_said_in_words(phase, wrong, said):
    with pytest.raises(PhaseSettingsInvalid) as refused:
        update_phase(phase=phase, actor=None, **wrong)
    again = {"track": phase.track, "slug": "second", "title_ko": "둘째"}
    times = {"starts_at": phase.starts_at, "ends_at": phase.ends_at}
    with pytest.raises(ValidationError) as made:
        create_phase(**again, **{**times, **wrong})
    for text in (text_of(refused.value), " ".join(made.value.messages)):
        assert said in text
        assert not any(constraint.name in text for constraint in Phase._meta.constraints)


def test_a_name_that_another_one_has_is_said_in_words(phase):
    track = phase.track
    makers = (
        lambda: create_phase(
            track=track, slug=phase.slug, title_ko="또", starts_at=phase.starts_at, ends_at=phase.ends_at
        ),
        lambda: create_track(competition=track.competition, slug=track.slug, title_ko="또", recipe=track.recipe),
        lambda: create_competition(slug=track.competition.slug, title_ko="또"),
    )
    for make, said in zip(makers, ("다른 단계가", "다른 트랙이", "다른 대회가"), strict=True):
        with pytest.raises(ValidationError) as refused:
            make()
        assert any(said in each for each in refused.value.messages), refused.value.messages


def test_a_published_phase_keeps_its_end_its_split_and_its_finals(phase):
    publish(phase, 10)
    Phase.objects.update(final_published_at=timezone.now())
    for change in ({"public_percent": 50}, {"finals_limit": 1}, {"ends_at": phase.ends_at + timedelta(1)}):
        with pytest.raises(PhaseAlreadyPublished):
            update_phase(phase=phase, actor=None, **change)
    for public_ids in (["q1"], None):
        with pytest.raises(PhaseAlreadyPublished):
            split_again(phase=phase, actor=None, public_ids=public_ids)
    assert update_phase(phase=phase, actor=None, title_en="Finals").title_en == "Finals"


def test_other_settings_are_free_where_what_counts_no_longer_fits():
    """What counts is asked about where it changes: a recipe may have made it unsound since."""
    phase = PhaseFactory.create(track__recipe="essay-scoring@1", counting="best", counting_score="bleurt")
    assert update_phase(phase=phase, actor=None, title_en="Finals").title_en == "Finals"
    with pytest.raises(CountingInvalid):
        update_phase(phase=phase, actor=None, finals_limit=2)
