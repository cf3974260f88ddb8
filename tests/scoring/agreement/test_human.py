"""Scores of people: every defect with line, id and field; the record of an agreement leaves out what has no answer."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from typing import Any

import pytest

from scoring.agreement.human import read_human
from scoring.agreement.record import Judged, NoJudgement, TooFewJudged, agreement, judged_of
from scoring.errors import InvalidFile

KNOWN = {"a", "b", "7"}
JUDGE = {"model": "m", "version": "1", "quantisation": None, "prompt": {"id": "rationale-1"}}


def errors_of(text: str) -> list[tuple[str, int | None, str | None, str | None]]:
    with pytest.raises(InvalidFile) as caught:
        read_human(text.encode(), KNOWN)
    assert all(error.message(language) for error in caught.value.errors for language in ("ko", "en"))
    return [(error.code, error.line, error.item_id, error.field) for error in caught.value.errors]


@pytest.mark.parametrize(
    "text",
    [
        '[{"id": "a", "score": 3}, {"id": 7, "score": 4.5, "rater": "갑"}]',
        '{"id": "a", "score": 3}\n{"id": "7", "score": 4.5}\n',
        '\ufeff{"scores": [{"id": "a", "score": 3}, {"id": "7", "score": 4.5}]}',
    ],
)
def test_arrays_and_lines_are_read(text: str) -> None:
    assert read_human(text.encode(), KNOWN) == {"a": 3.0, "7": 4.5}


def test_an_id_is_compared_in_nfc_and_is_not_trimmed() -> None:
    known = {unicodedata.normalize("NFC", "글 1"), " b "}
    rows = [{"id": unicodedata.normalize("NFD", "글 1"), "score": 3}, {"id": " b ", "score": 2}]
    assert read_human(json.dumps(rows).encode(), known) == {"글 1": 3.0, " b ": 2.0}
    with pytest.raises(InvalidFile):
        read_human(b'[{"id": "b", "score": 3}]', known)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[{"id": "a", "score": 3},\n {"id": "a", "score": 4}]', [("duplicate_reference_id", 2, "a", "id")]),
        ('[{"id": "x", "score": 3}]', [("unknown_id", 1, "x", "id")]),
        ('[{"id": " a", "score": 3}]', [("unknown_id", 1, " a", "id")]),
        ('[{"id": "a\\u0000", "score": 3}]', [("control_character", 1, "a\\u0000", "id")]),
        (f'[{{"id": "{"a" * 5000}", "score": 3}}]', None),
        ('[{"score": 3}]', [("missing_field", 1, None, "id")]),
        ('[{"id": true, "score": 3}]', [("wrong_type", 1, None, "id")]),
        ('[{"id": "a"}]', [("missing_field", 1, "a", "score")]),
        ('[{"id": "a",\n "score": "3"}]', [("wrong_type", 2, "a", "score")]),
        ('[{"id": "a", "score": true}]', [("wrong_type", 1, "a", "score")]),
        ('[{"id": "a", "score": 0.99},\n{"id": "b", "score": 5.01}]',
         [("score_out_of_range", 1, "a", "score"), ("score_out_of_range", 2, "b", "score")]),
        ('[{"id": "a", "score": NaN}]', [("not_a_number", 1, None, None)]),
        (f'[{{"id": "a", "score": 1{"0" * 5000}}}]', [("number_too_large", 1, None, None)]),
        ('[{"id": "a", "score": 3]', [("missing_comma", 1, "a", None)]),
        (json.dumps({"format": "x", "human_sha256": "0" * 64}, indent=2), [("agreement_output", None, None, None)]),
        ('["a"]', None),
        ("[]", None),
        ("   ", None),
    ],
)  # fmt: skip
def test_every_defect_is_named_with_its_place(text: str, expected: Any) -> None:
    found = errors_of(text)
    if expected is not None:
        assert found == expected


def test_the_record_leaves_out_what_the_judge_did_not_answer() -> None:
    judged = Judged("llm_judge", "s" * 64, JUDGE, {"a": 0.6, "b": 1.0, "7": 0.0})
    data = b'[{"id": "a", "score": 3}]'
    record = agreement(judged, {"a": 3.0, "b": 4.0, "7": 1.0}, data=data, source="교사 2명")
    assert (record["items"], record["unanswered"], record["source"]) == (2, 1, "교사 2명")
    assert record["human_sha256"] == hashlib.sha256(data).hexdigest()
    assert record["pearson"]["value"] == pytest.approx(1.0)
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    with pytest.raises(TooFewJudged):
        agreement(judged, {"a": 3.0, "7": 1.0}, data=data, source="")


def test_a_metric_that_is_no_judge_has_no_agreement() -> None:
    with pytest.raises(NoJudgement, match="chrf"):
        judged_of({"metrics": {"chrf": {"rule": "chrf@1"}}}, "chrf", {"a": 0.5})
