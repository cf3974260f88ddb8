"""What a judge enters: drafts, what each protocol takes, what practice tells them."""

from __future__ import annotations

import pytest
from django.utils import translation

from malpan.arena.errors import (
    ValueInvalid,
)
from malpan.arena.feedback import feedback_of
from malpan.arena.judging import save_draft
from malpan.arena.models import Assignment, Judgement, JudgementDraft
from tests.arena.panels import VALUES, open_panel

pytestmark = pytest.mark.django_db
FIRST, SECOND, TIE = ({"choice": choice, "reasons": []} for choice in ("first", "second", "tie"))


# --- drafts -----------------------------------------------------------------------------------------------------------
def test_draft_is_kept_as_far_as_it_goes_and_taken_over_by_the_next(panel, ready):
    shown = panel.next(ready)

    save_draft(assignment=shown, actor=ready.user, value={"choice": "first"})
    draft = save_draft(assignment=shown, actor=ready.user, value={}, note="아직")

    assert JudgementDraft.objects.get(assignment=shown) == draft
    assert (draft.value, draft.note) == ({}, "아직")


def test_draft_that_comes_after_the_judgement_is_nothing(panel, ready):
    shown = panel.next(ready)
    panel.judge(shown)

    assert save_draft(assignment=shown, actor=ready.user, value=FIRST) is None
    assert not JudgementDraft.objects.exists()


@pytest.mark.parametrize(
    "value", [[], "tie", None, {"choice": "a\0b"}, {"x": float("nan")}, {"x": "\ud800"}, {"x": "가" * 60_000}]
)
def test_draft_that_cannot_be_stored_is_refused(panel, ready, value):
    shown = panel.next(ready)

    with pytest.raises(ValueInvalid):
        save_draft(assignment=shown, actor=ready.user, value=value)
    assert not JudgementDraft.objects.exists()


# --- practice ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("protocol", "bad", "good_values", "bad_values"),
    [
        ("pairwise", 0, [{"choice": "second"}], [{"choice": each} for each in ("first", "tie", "both_bad")]),
        ("pairwise", 1, [{"choice": "first"}], [{"choice": "second"}]),
        ("ranking", 1, [{"ranks": [1, 3, 2]}, {"ranks": [1, 3, 1]}], [{"ranks": [1, 2, 2]}, {"ranks": [2, 1, 3]}]),
        ("errors", 0, [{"score": 49, "spans": []}], [{"score": 50, "spans": []}]),
        # weights 1 and 3: (0.75 * 1 + 0.25 * 3) / 4 = 0.375, and 0.625 the other way round
        (
            "rubric", 0, [{"scores": {"fluency": 4, "accuracy": 2}}],
            [{"scores": {"fluency": 2, "accuracy": 4}}, {"scores": {"fluency": 3, "accuracy": 3}}],
        ),
    ],
)  # fmt: skip
def test_feedback_says_whether_the_bad_output_was_seen(protocol, bad, good_values, bad_values):
    panel = open_panel(protocol)
    practice = Assignment.objects.filter(campaign=panel.campaign, kind="calibration").select_related("item").first()
    practice.bad_index = bad

    assert [feedback_of(practice, value)[0] for value in good_values] == [True] * len(good_values)
    assert [feedback_of(practice, value)[0] for value in bad_values] == [False] * len(bad_values)
    with translation.override("en"):
        assert feedback_of(practice, good_values[0])[1] == "It was shuffled."


# --- what is entered --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("protocol", list(VALUES))
def test_each_protocol_takes_what_is_complete(protocol):
    panel = open_panel(protocol)
    panel.judge_next(panel.judges[0])

    assert panel.judge_next(panel.judges[0]).value == VALUES[protocol]


def test_what_is_not_of_the_protocol_is_refused_and_leaves_all_as_it_was(panel, ready):
    shown = panel.next(ready)
    save_draft(assignment=shown, actor=ready.user, value={"choice": "tie"})

    with pytest.raises(ValueInvalid):
        panel.judge(shown, {"choice": "third"})

    shown.refresh_from_db()
    assert shown.state == "open"
    assert not Judgement.objects.filter(assignment=shown).exists()
    assert JudgementDraft.objects.get(assignment=shown).value == {"choice": "tie"}


def test_note_that_is_too_long_is_refused(panel, ready):
    with pytest.raises(ValueInvalid) as refusal:
        panel.judge(panel.next(ready), note="가" * 2001)
    assert refusal.value.variant == "note"
