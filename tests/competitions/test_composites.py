"""What a track ranks by and which submission counts: checked by the services, copied, and kept once it is used."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import Permission as SitePermission
from django.utils import timezone

from malpan.competitions.composites import components_of
from malpan.competitions.errors import (
    CompositeInUse,
    CompositeInvalid,
    CountingInvalid,
    PhaseAlreadyPublished,
    RuleInUse,
)
from malpan.competitions.models import CompetitionRole, Phase, Track
from malpan.competitions.phases import update_phase
from malpan.competitions.services import create_phase, create_track, update_track
from malpan.competitions.setup import create_owned_competition
from malpan.core.messages import text_of
from malpan.submissions import scoring_changes
from malpan.submissions.rescoring import services as rescoring
from malpan.submissions.rescoring.batches import Selection
from malpan.web.presenters.composites import scores_of_composite
from scoring.composite import Component
from scoring.recipes import RECIPES
from tests.composite_boards import RECIPE, install
from tests.factories import CompetitionFactory, PhaseFactory, TeamFactory, UserFactory, finished_submission, publish

pytestmark = pytest.mark.django_db
OWN = [{"score": "bleurt", "weight": 45}, {"score": "exact_match", "weight": 10.5}]


@pytest.fixture(autouse=True)
def recipe(monkeypatch: pytest.MonkeyPatch) -> str:
    return install(monkeypatch)


def test_a_track_ranks_by_its_own_components_else_by_those_of_its_recipe() -> None:
    plain = PhaseFactory.create().track
    assert components_of(plain) == ()
    of_recipe = PhaseFactory.create(track__recipe=RECIPE).track
    assert [each.score for each in components_of(of_recipe)] == ["rmse", "spearman", "judge"]
    of_recipe.composite = [{"score": "rmse", "weight": 1}]
    assert components_of(of_recipe) == (Component("rmse", 1.0, higher_is_better=False),), (
        "the recipe knows what is better"
    )
    errors = PhaseFactory.create(track__recipe="regression@1", track__composite=[{"score": "mse", "weight": 2}]).track
    assert components_of(errors) == (Component("mse", 2.0, higher_is_better=False),), "or its metric does"
    names = ("mae", "rmse_content", "kappa")
    own = [{"score": name, "weight": 1} for name in names]
    of_essays = PhaseFactory.create(track__recipe="essay-scoring@1", track__composite=own).track
    assert [each.higher_is_better for each in components_of(of_essays)] == [False, False, True], "or its column does"


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([{"score": "bleurt"}], "form"),
        ([{"score": "bleurt", "weight": 1, "more": 2}], "form"),
        (["bleurt"], "form"),
        ([{"score": "none", "weight": 1}], "score"),
        ([{"score": ["bleurt"], "weight": 1}], "score"),
        ([{"score": "bleurt", "weight": 1}] * 2, "twice"),
        ([{"score": "bleurt", "weight": 0}], "weight"),
        ([{"score": "bleurt", "weight": True}], "weight"),
        ([{"score": "bleurt", "weight": "45"}], "weight"),
        ([{"score": "bleurt", "weight": float("nan")}], "weight"),
        ([{"score": "bleurt", "weight": 1001}], "weight"),
        ([{"score": "bleurt", "weight": 1}] * 11, "count"),
    ],
)
def test_no_service_takes_unsound_components(rows: list[Any], reason: str) -> None:
    track = PhaseFactory.create().track
    for attempt in (
        lambda: update_track(track=track, actor=None, composite=rows),
        lambda: create_track(
            competition=track.competition, slug="new", title_ko="새", recipe="rag-qa@1", composite=rows
        ),
    ):
        with pytest.raises(CompositeInvalid) as refused:
            attempt()
        assert refused.value.params["reason"] == reason
        assert "%" not in str(text_of(refused.value))
    track.refresh_from_db()
    assert (track.composite, Track.objects.filter(slug="new").exists()) == ([], False)


def test_ten_components_with_weights_of_up_to_1000_are_sound() -> None:
    track = PhaseFactory.create(track__recipe="essay-scoring@1").track
    names = [key for key, _name in scores_of_composite(track)][:10]
    rows = [{"score": name, "weight": 1000} for name in names]
    assert len(names) == 10
    assert update_track(track=track, actor=None, composite=rows).composite == rows


def test_the_best_by_the_final_score_counts_where_no_score_is_named() -> None:
    phase = PhaseFactory.create(track__recipe=RECIPE, counting="latest")
    assert update_phase(phase=phase, actor=None, counting="best").counting == "best"
    Phase.objects.filter(pk=phase.pk).update(counting_score="bleurt")
    assert update_phase(phase=phase, actor=None, counting="latest").counting_score == "bleurt", "which means nothing"


@pytest.mark.parametrize("score", ["bias", "integer_share", "rationale_length", "rationale_quotes", "rationale_hangul"])
def test_what_only_describes_ranks_nobody(score: str) -> None:
    """More of it is neither better nor worse: no component, and it chooses no best submission."""
    phase = PhaseFactory.create(track__recipe="essay-scoring@1")
    with pytest.raises(CompositeInvalid) as refused:
        update_track(track=phase.track, actor=None, composite=[{"score": score, "weight": 1}])
    assert refused.value.params["reason"] == "direction"
    with pytest.raises(CountingInvalid) as not_best:
        update_phase(phase=phase, actor=None, counting="best", counting_score=score)
    assert (not_best.value.params["reason"], not_best.value.field) == ("direction", "counting_score")
    offered = [key for key, _name in scores_of_composite(phase.track)]
    assert score not in offered
    assert {"rmse", "mae", "parse_failures", "final_score"} <= set(offered)
    update_track(track=phase.track, actor=None, composite=[{"score": "mae", "weight": 1}])


def test_a_recipe_without_the_scores_is_refused_by_set_up_and_by_rescoring() -> None:
    phase = PhaseFactory.create(track__composite=OWN)
    with pytest.raises(CompositeInvalid):
        update_track(track=phase.track, actor=None, recipe="regression@1")
    publish(phase)
    finished_submission(phase, TeamFactory.create(competition=phase.track.competition), 0.5)
    with pytest.raises(CompositeInvalid):
        rescoring.start_batch(
            phase=phase, selection=Selection(), reason="규칙", actor=UserFactory.create(), recipe="regression@1"
        )


def test_rescoring_by_a_recipe_without_the_score_that_chooses_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The choice of the best submission would have nothing to compare."""
    phase = PhaseFactory.create(track__composite=OWN, counting="best", counting_score="rouge_1")
    publish(phase)
    finished_submission(phase, TeamFactory.create(competition=phase.track.competition), 0.5)
    known = RECIPES["rag-qa@1"]
    columns = tuple(column for column in known.columns if column.key != "rouge_1")
    fewer = replace(known, id="rag-qa-fewer@1", columns=columns)
    monkeypatch.setitem(RECIPES.entries, fewer.id, fewer)
    with pytest.raises(CountingInvalid) as refused:
        rescoring.start_batch(
            phase=phase, selection=Selection(), reason="규칙", actor=UserFactory.create(), recipe=fewer.id
        )
    assert refused.value.params["reason"] == "score"


def test_components_are_kept_once_scores_count() -> None:
    phase = PhaseFactory.create(track__composite=OWN)
    submission = finished_submission(phase, TeamFactory.create(competition=phase.track.competition), 0.5)
    with pytest.raises(CompositeInUse):
        scoring_changes.update_track(track=phase.track, actor=None, composite=[])
    with pytest.raises(RuleInUse):
        scoring_changes.update_track(track=phase.track, actor=None, composite=[], recipe="rag-qa-strict@1")
    scoring_changes.update_track(track=phase.track, actor=None, title_ko="제목", composite=OWN)
    type(submission).objects.update(withdrawn_at=timezone.now())
    assert scoring_changes.update_track(track=phase.track, actor=None, composite=[]).composite == []


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"counting": "latest", "finals_limit": 1}, "latest"),
        ({"counting": "chosen"}, "chosen"),
        ({"counting": "chosen", "finals_limit": 2}, "chosen"),
        ({"counting": "best", "counting_score": "bleurt"}, "score"),
        ({"is_ladder": True, "score_step": Decimal("0.01")}, "ladder"),
    ],
)
def test_what_counts_must_fit_the_finals_and_the_recipe(fields: dict[str, Any], reason: str) -> None:
    phase = PhaseFactory.create(track__recipe=RECIPE, counting="best", counting_score="rmse")
    with pytest.raises(CountingInvalid) as refused:
        update_phase(phase=phase, actor=None, **fields)
    assert refused.value.params["reason"] == reason
    moments = {"starts_at": phase.starts_at, "ends_at": phase.ends_at}
    with pytest.raises(CountingInvalid):
        create_phase(track=phase.track, slug="b", title_ko="예선", **moments, **fields)
    phase.refresh_from_db()
    assert (phase.counting, phase.counting_score, Phase.objects.filter(slug="b").exists()) == ("best", "rmse", False)


def test_where_the_final_score_ranks_the_setting_means_nothing() -> None:
    phase = PhaseFactory.create()
    update_phase(phase=phase, actor=None, counting="latest", finals_limit=2)
    assert Phase.objects.get(pk=phase.pk).finals_limit == 2


def test_what_counts_is_kept_once_the_final_board_is_published() -> None:
    phase = PhaseFactory.create(track__recipe=RECIPE, counting="latest", final_published_at=timezone.now())
    with pytest.raises(PhaseAlreadyPublished):
        update_phase(phase=phase, actor=None, counting="best", counting_score="rmse")


def test_a_copy_of_a_competition_ranks_as_it_does() -> None:
    phase = PhaseFactory.create(track__composite=OWN, counting="best", counting_score="bleurt")
    owner = UserFactory.create()
    owner.user_permissions.add(SitePermission.objects.get(codename="add_competition"))
    CompetitionRole.objects.create(user=owner, competition=phase.track.competition, role="owner")
    made = create_owned_competition(owner=owner, slug="again", title_ko="다시", copy_of=phase.track.competition)
    copy = Phase.objects.get(track__competition=made)
    assert (copy.track.composite, copy.counting, copy.counting_score) == (OWN, "best", "bleurt")
    assert CompetitionFactory.create().tracks.count() == 0
