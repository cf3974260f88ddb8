"""Which warnings organisers alone are shown, and what stands where another version's warning has no text."""

from scoring.recipes.warning_texts import INTEGRITY_CODES, ORGANISER_CODES, warning_text, warning_texts
from scoring.records import ScoreWarning


def test_organisers_alone_are_shown_what_is_about_references_and_what_tells_a_cheater() -> None:
    """What is said of characters helps whoever wrote them, and tells nobody anything."""
    shown, hidden = INTEGRITY_CODES - ORGANISER_CODES, ORGANISER_CODES - INTEGRITY_CODES
    assert shown == {"invisible_characters", "looks_empty", "many_normalized"}
    assert hidden == {
        "empty_alternatives", "references_cut", "nfc_changed_score", "other_task", "references_not_korean",
        "averages_differ", "rationale_repeated",
        "llm_judge_source_truncated", "judge_fluency_source_truncated", "judge_faithfulness_source_truncated",
    }  # fmt: skip
    assert warning_texts().keys() >= ORGANISER_CODES


def test_a_warning_of_another_version_is_its_code() -> None:
    assert "of_tomorrow" in warning_text(ScoreWarning("of_tomorrow"))
    assert "texts_cut" in warning_text(ScoreWarning("texts_cut"), "en")  # without what fills its text
