"""Baseline and milestones of a track: the organiser's choice, checked by the service and by the database."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from malpan.competitions.errors import TargetsInvalid
from malpan.competitions.models import TrackTarget
from malpan.competitions.setup import create_owned_competition, remove_track
from malpan.competitions.targets import (
    TARGETS_MAX,
    add_published_targets,
    board_targets_of,
    set_targets,
    targets_of,
)
from malpan.core.messages import text_of
from malpan.core.models import AuditEntry
from scoring.recipes.targets import AI_HUB_TARGETS, Target
from tests.factories import TrackFactory, UserFactory

pytestmark = pytest.mark.django_db

BASELINE = Target("baseline", 0.4, "작년 1위", "Last year's winner", is_comparable=False, note_ko="다른 데이터")
GOAL = Target("milestone", 0.5, "목표", "Goal")


def test_a_new_track_has_no_targets_whatever_its_recipe():
    assert targets_of(TrackFactory.create(recipe="captioning@1")) == []


def test_targets_are_set_replaced_and_audited():
    track, organiser = TrackFactory.create(), UserFactory.create()
    set_targets(track=track, targets=[GOAL, BASELINE], actor=organiser)
    assert targets_of(track) == [BASELINE, GOAL]
    set_targets(track=track, targets=[GOAL], actor=organiser)
    assert targets_of(track) == [GOAL]
    first, second = AuditEntry.objects.filter(action="track.set_targets").order_by("pk")
    assert (first.actor, first.competition_pk) == (organiser, track.competition_id)
    assert [row["label_ko"] for row in second.before["targets"]] == ["작년 1위", "목표"]
    assert [row["label_ko"] for row in second.after["targets"]] == ["목표"]


def test_setting_what_is_set_changes_and_records_nothing():
    track = TrackFactory.create()
    set_targets(track=track, targets=[GOAL, BASELINE], actor=None)
    rows = set(TrackTarget.objects.values_list("pk", flat=True))
    set_targets(track=track, targets=[BASELINE, GOAL], actor=None)
    assert set(TrackTarget.objects.values_list("pk", flat=True)) == rows
    assert AuditEntry.objects.filter(action="track.set_targets").count() == 1


@pytest.mark.parametrize(
    ("targets", "reason"),
    [
        ([replace(GOAL, value=1.01)], "value"),
        ([replace(GOAL, value=-0.1)], "value"),
        ([replace(GOAL, value=math.nan)], "value"),
        ([replace(GOAL, value=math.inf)], "value"),
        ([replace(GOAL, label_ko=" ")], "label"),
        ([replace(GOAL, value=n / 100) for n in range(TARGETS_MAX + 1)], "count"),
        ([BASELINE, replace(BASELINE, value=0.3)], "baselines"),
        ([replace(BASELINE, value=0.0)], "zero"),
        ([replace(GOAL, score="bertscore", value=10.1)], "value"),
        ([replace(GOAL, score="cider")], "score"),  # of another recipe
        ([replace(BASELINE, score="bertscore")], "score"),
    ],
)
def test_bad_targets_are_refused_in_words_and_nothing_changes(targets, reason):
    track = TrackFactory.create()
    set_targets(track=track, targets=[GOAL], actor=None)
    with pytest.raises(TargetsInvalid) as caught:
        set_targets(track=track, targets=targets, actor=None)
    assert caught.value.params["reason"] == reason
    assert text_of(caught.value).endswith(("주십시오.", "구합니다."))
    assert targets_of(track) == [GOAL]


def test_a_text_that_does_not_fit_is_refused():
    with pytest.raises(ValidationError):
        set_targets(track=TrackFactory.create(), targets=[replace(GOAL, label_ko="가" * 61)], actor=None)


@pytest.mark.parametrize(
    ("columns", "constraint"),
    [
        ({"value": 1.5}, "target_is_from_0_to_1"),
        ({"value": 10.5, "score": "cider"}, "target_is_from_0_to_1"),
        ({"value": -1, "score": "cider"}, "target_is_from_0_to_1"),
        ({"kind": "baseline", "score": "cider"}, "target_baseline_is_above_0"),
        ({"value": math.nan}, "target_is_from_0_to_1"),
        ({"label_ko": ""}, "target_has_a_label"),
        ({"kind": "baseline", "value": 0}, "target_baseline_is_above_0"),
        ({"kind": "else"}, "target_baseline_is_above_0"),
        ({"kind": "baseline"}, "one_baseline_per_track"),
    ],
)
def test_the_database_keeps_no_bad_target_whoever_writes_it(columns, constraint):
    track = TrackFactory.create()
    set_targets(track=track, targets=[BASELINE], actor=None)
    row = {"track": track, "kind": "milestone", "value": 0.5, "label_ko": "목표"} | columns
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        TrackTarget.objects.create(**row)


def test_published_figures_are_added_once_where_there_are_some():
    track = TrackFactory.create(recipe="captioning@1")
    own = replace(GOAL, value=0.366, label_ko="우리 목표")
    set_targets(track=track, targets=[own], actor=None)
    for _again in range(2):
        add_published_targets(track=track, actor=None)
    assert [target.value for target in targets_of(track)] == [0.3052, 0.336, 0.366, 0.40]
    assert own in targets_of(track)
    assert set(AI_HUB_TARGETS) - set(targets_of(track)) == {AI_HUB_TARGETS[2]}

    other = TrackFactory.create(recipe="rag-qa@1")
    add_published_targets(track=other, actor=None)
    assert targets_of(other) == []


def test_milestones_of_cider_and_bertscore_are_presets_of_their_own():
    track = TrackFactory.create(recipe="captioning@1")
    for score in ("cider", "bertscore", "cider", "chrf"):
        add_published_targets(track=track, actor=None, score=score)
    assert {(target.score, target.value) for target in targets_of(track)} == {
        *(("cider", value) for value in (0.80, 1.00, 1.20)),
        *(("bertscore", value) for value in (0.75, 0.80, 0.85)),
    }
    assert board_targets_of(track) == []


def test_a_baseline_of_ones_own_is_never_replaced_by_the_published_one():
    track = TrackFactory.create(recipe="captioning@1")
    set_targets(track=track, targets=[BASELINE], actor=None)
    with pytest.raises(TargetsInvalid) as caught:
        add_published_targets(track=track, actor=None)
    assert caught.value.params["reason"] == "baselines"
    assert targets_of(track) == [BASELINE]


def test_a_copied_competition_has_the_targets_of_its_source():
    track = TrackFactory.create()
    set_targets(track=track, targets=[GOAL, BASELINE], actor=None)
    founder = UserFactory.create(is_superuser=True)
    copy = create_owned_competition(owner=founder, slug="copy", title_ko="새 대회", copy_of=track.competition)
    assert targets_of(copy.tracks.get()) == [BASELINE, GOAL]


def test_a_track_goes_with_its_targets():
    track = TrackFactory.create()
    set_targets(track=track, targets=[GOAL], actor=None)
    remove_track(track=track, actor=UserFactory.create())
    assert not TrackTarget.objects.exists()


def test_a_label_and_a_note_without_english_are_shown_in_korean():
    target = replace(BASELINE, label_en="", note_en="")
    assert (target.label("en"), target.note("en")) == ("작년 1위", "다른 데이터")
    assert BASELINE.label("en") == "Last year's winner"
