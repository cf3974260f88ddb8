"""What a judge enters, checked and in the form of the votes file: no database."""

from __future__ import annotations

import pytest
from django.utils import translation

from malpan.arena.errors import ValueInvalid
from malpan.arena.models import Rubric
from malpan.arena.values import clean_draft, clean_note, clean_value
from malpan.core.messages import text_of
from scoring.arena.votes import ArenaItem, Criterion, Judge, System, Vote, Votes, read_votes, votes_bytes
from tests.arena.panels import CRITERIA, GROUPS, REASONS, VALUES

RUBRIC = Rubric(criteria=CRITERIA, reasons=REASONS)
TEXTS = ["첫째 출력입니다.", "둘째 출력입니다.", "셋째 출력입니다."]


def cleaned(protocol: str, value: object, rubric: Rubric = RUBRIC) -> dict:
    return clean_value(protocol, rubric, TEXTS[: GROUPS[protocol]], value)


LONG = {"output": 0, "start": 0, "end": 10_000, "severity": "major", "category": "accuracy"}
SPAN = LONG | {"end": 3}


@pytest.mark.parametrize(
    ("protocol", "value", "reason"),
    [
        ("pairwise", {}, "choice"),
        ("pairwise", {"choice": "third"}, "choice"),
        ("pairwise", {"choice": ["first"]}, "choice"),
        ("pairwise", {"choice": "first", "reasons": ["unknown"]}, "reasons"),
        ("pairwise", {"choice": "first", "reasons": "accuracy"}, "reasons"),
        ("pairwise", {"choice": "first", "scores": {}}, "form"),
        ("pairwise", None, "form"),
        ("rubric", {"scores": {"fluency": 3}}, "score_missing"),
        ("rubric", {"scores": {"fluency": 3, "accuracy": 6}}, "score_range"),
        ("rubric", {"scores": {"fluency": 3, "accuracy": True}}, "score_range"),
        ("rubric", {"scores": {"fluency": 3, "accuracy": 3.5}}, "score_range"),
        ("rubric", {"scores": {"fluency": 3, "accuracy": 3, "more": 1}}, "form"),
        ("rubric", {"scores": [3, 3]}, "form"),
        ("ranking", {"ranks": [1, 2]}, "rank_missing"),
        ("ranking", {"ranks": [1, None, 2]}, "rank_missing"),
        ("ranking", {"ranks": [1, 2, 4]}, "rank_range"),
        ("ranking", {"ranks": [2, 2, 3]}, "rank_gap"),
        ("ranking", {"ranks": [1, 1, 2, 3]}, "rank_missing"),
        ("ranking", {"ranks": [1, 3, 3]}, "rank_gap"),
        ("errors", {"score": 101, "spans": []}, "score"),
        ("errors", {"spans": []}, "score"),
        ("errors", {"score": 50, "spans": [LONG]}, "span"),
        ("errors", {"score": 50, "spans": [SPAN | {"start": 3}]}, "span"),
        ("errors", {"score": 50, "spans": [SPAN | {"output": 1}]}, "span"),
        ("errors", {"score": 50, "spans": [SPAN | {"severity": "grave"}]}, "severity"),
        ("errors", {"score": 50, "spans": [SPAN | {"category": "style"}]}, "category"),
        ("errors", {"score": 50, "spans": [SPAN] * 201}, "spans_many"),
        ("errors", {"score": 50, "spans": [SPAN | {"x": 1}]}, "form"),
        ("errors", {"score": 50, "spans": 3}, "form"),
    ],
)
def test_what_is_not_of_the_protocol_is_refused(protocol, value, reason):
    with pytest.raises(ValueInvalid) as refusal:
        cleaned(protocol, value)

    assert refusal.value.variant == reason
    assert text_of(refusal.value)


@pytest.mark.parametrize("protocol", list(VALUES))
def test_what_is_kept_is_what_a_votes_file_takes(protocol):
    """The instrument reads it back, the same."""
    value, shown = cleaned(protocol, VALUES[protocol]), tuple(f"S0{place}" for place in range(1, GROUPS[protocol] + 1))
    votes = Votes(
        campaign={"number": 1},
        protocol=protocol,
        systems=tuple(System(label) for label in ("S01", "S02", "S03")),
        items=(ArenaItem("I0001"),),
        judges=(Judge("J01"),),
        votes=(Vote(1, "J01", "I0001", shown, value),),
        criteria=tuple(Criterion(each["key"], each["low"], each["high"], each["weight"]) for each in CRITERIA)
        if protocol == "rubric"
        else (),
    )

    [read] = read_votes(votes_bytes(votes)).votes
    assert dict(read.value) == value


@pytest.mark.parametrize(
    ("entered", "kept"),
    [([1, 2, 2], [1, 2, 2]), ([1, 1, 2], [1, 1, 3]), ([1, 1, 1], [1, 1, 1]), ([3, 1, 2], [3, 1, 2])],
)
def test_equal_ranks_are_kept_in_one_way(entered, kept):
    assert cleaned("ranking", {"ranks": entered}) == {"ranks": kept}


def test_spans_are_kept_once_and_in_order():
    later = SPAN | {"start": 5, "end": 6}

    assert cleaned("errors", {"score": 50, "spans": [later, SPAN, later]})["spans"] == [SPAN, later]


def test_span_ends_at_the_end_of_the_output_in_characters():
    text = "가😀나"
    whole = SPAN | {"end": 3}

    assert clean_value("errors", RUBRIC, [text], {"score": 1, "spans": [whole]})["spans"] == [whole]
    with pytest.raises(ValueInvalid):
        clean_value("errors", RUBRIC, [text], {"score": 1, "spans": [SPAN | {"end": 4}]})


def test_rubric_without_reasons_has_no_categories():
    bare = Rubric(criteria=CRITERIA, reasons=[])

    assert cleaned("errors", {"score": 1, "spans": [SPAN | {"category": ""}]}, bare)["spans"][0]["category"] == ""
    with pytest.raises(ValueInvalid):
        cleaned("errors", {"score": 1, "spans": [SPAN]}, bare)


def test_refusal_names_the_criterion_in_the_readers_language():
    for language, word in (("ko", "정확성"), ("en", "Accuracy")):
        with translation.override(language), pytest.raises(ValueInvalid) as refusal:
            cleaned("rubric", {"scores": {"fluency": 3}})
        assert refusal.value.params["name"] == word
        assert refusal.value.field == "scores.accuracy"


def test_note_keeps_its_lines_and_loses_what_nobody_sees():
    assert clean_note(" 첫 줄\r\n둘째\0\ud800\u0007 줄\t끝 ") == "첫 줄\n둘째 줄\t끝"
    for bad in ("가" * 2001, None, 3):
        with pytest.raises(ValueInvalid):
            clean_note(bad)


def test_draft_comes_back_as_it_was_however_incomplete():
    assert clean_draft({"choice": None, "spans": [{"start": 1}]}) == {"choice": None, "spans": [{"start": 1}]}
    deep: dict = {}
    for _level in range(100_000):
        deep = {"x": deep}
    with pytest.raises(ValueInvalid):
        clean_draft(deep)
