"""The words of file errors: complete in both languages, verbatim where the contest has its own, safe to show."""

import json
from string import Formatter

import pytest

from scoring.errors import MESSAGES, ROW_PLACES, ErrorRow, FileError, InvalidFile, format_errors, quoted
from scoring.messages import TERMS, term

OFFICIAL = {
    "제출 파일과 정답 파일의 데이터 개수가 서로 다름",
    "제출 파일과 정답 파일의 id가 일치하지 않음",
    "정답 데이터에 중복된 id를 가지는 경우 존재",
    "파일 형식 오류 - json, 또는 jsonl 형식이 아님",
    "파일 형식 오류 - 데이터 형태가 제출 기준과 다름",
}


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("code", sorted(MESSAGES))
def test_korean_and_english_texts_use_only_parameters_of_each_other(code):
    message = MESSAGES[code]
    assert message.ko
    assert message.en
    assert placeholders(message.ko) == placeholders(message.en)


@pytest.mark.parametrize("code", sorted(MESSAGES))
def test_every_text_says_what_to_do(code):
    assert "주십시오" in MESSAGES[code].ko or "하나여야 합니다" in MESSAGES[code].ko
    assert not any("가" <= character <= "힣" for character in MESSAGES[code].en)


def test_the_five_official_messages_are_verbatim():
    assert {message.official for message in MESSAGES.values()} - {None} == OFFICIAL


def test_korean_reason_leads_with_the_official_message_and_english_does_not():
    error = FileError("missing_id", item_id="q-1")
    assert error.reason("ko").startswith("제출 파일과 정답 파일의 id가 일치하지 않음: 평가 데이터에 있는")
    assert error.reason("en") == error.message("en")
    assert error.as_dict("en")["official"] == "제출 파일과 정답 파일의 id가 일치하지 않음"


def test_types_are_named_in_the_readers_language():
    error = FileError("wrong_type", {"expected": "string", "found": "null"})
    assert "필요: 문자열" in error.message("ko")
    assert "needed: a string" in error.message("en")


def test_only_the_parameters_meant_for_terms_are_translated():
    assert term("value", "string", "ko") == "string"
    assert term("found", "string", "ko") == TERMS["string"][0]
    assert term("found", 3, "ko") == 3


def test_an_uploads_braces_are_not_taken_for_placeholders():
    error = FileError("unknown_question_type", {"value": "{0.__class__}", "allowed": "{code}"})
    assert "«{0.__class__}»" in error.message("en")


def test_rows_hold_line_id_field_and_reason_and_are_empty_where_no_place_applies():
    located = FileError("missing_field", line=3, item_id="q-1", field="output")
    rows = format_errors([located, FileError("empty_file")], "en")
    assert rows[0] == ErrorRow("3", "q-1", "output", located.reason("en"))
    assert rows[1][:3] == ("", "", "")


def test_errors_that_say_the_same_of_many_items_are_one_row_with_their_number():
    same = [
        FileError("wrong_type", {"expected": "string", "found": "number"}, n, f"q-{n}", "output") for n in range(1, 67)
    ]
    other = FileError("wrong_type", {"expected": "string", "found": "list"}, 70, "q-70", "output")
    missing = [FileError("missing_id", item_id=f"q-{n}") for n in (8, 9)]
    rows = format_errors([same[0], other, *same[1:], *missing])
    assert [row.reason.split("]")[0] for row in rows[::2]] == ["[×66", "[×2"]
    assert rows[0].line.startswith("1, 2, 3, ")
    assert rows[0].line.endswith(" …")
    assert rows[0].id.count("q-") == ROW_PLACES
    assert rows[1] == ErrorRow("70", "q-70", "output", other.reason())
    assert rows[2][:3] == ("", "q-8, q-9", "")


def test_an_error_can_be_stored_as_json_and_worded_later():
    error = FileError(
        "text_too_long", {"length": 300_000, "limit": 200_000}, line=4, item_id="q", field="output.answer"
    )
    stored = json.loads(json.dumps({"code": error.code, "params": dict(error.params)}))
    assert FileError(stored["code"], stored["params"]).message("ko") == error.message("ko")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("가나다", "가나다"),
        ("a\u202eb", "a\\u202eb"),
        ("\x00\n\t\x7f\x85", "\\u0000\\u000a\\u0009\\u007f\\u0085"),
        ("\ud800", "\\ud800"),
        ("\u200b\ufeff\u2028", "\\u200b\\ufeff\\u2028"),
        ("\U000e0001", "\\U000e0001"),
        ("말\u3164글\u115f\uffa0\u2800\u034f", "말\\u3164글\\u115f\\uffa0\\u2800\\u034f"),
        ("❤\ufe0f 가 나", "❤\\ufe0f 가 나"),
        ("x" * 41, "x" * 40 + "…"),
    ],
)
def test_quoted_text_is_short_and_shows_what_cannot_be_seen(text, shown):
    assert quoted(text) == shown


def test_the_exceptions_own_text_holds_codes_and_lines_only():
    error = InvalidFile([FileError("padded_id", {"known": "비밀"}, line=2)], total=7)
    assert str(error) == "padded_id@2"
    assert error.total == 7
