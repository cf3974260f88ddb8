"""Reading predictions and references: what is accepted, and what is refused and where."""

import hashlib
import json
import unicodedata

import pytest

from scoring import reading
from scoring.errors import MESSAGES, FileError, InvalidFile
from scoring.messages import ANSWERS, CAPTIONS, ESSAYS
from scoring.reading import MAX_ERRORS_KEPT, MAX_ITEMS, MAX_REFERENCES, json_items, read_predictions, read_references
from scoring.recipes import get_recipe
from scoring.records import Items
from tests.scoring.bad_files import (
    BAD_FILES,
    CANARY,
    GOOD,
    GOOD_TEXT,
    IDS,
    REFERENCES,
    array,
    good_items,
    item,
    lines,
    third,
)

RAG = get_recipe("rag-qa@1")
CULTURE = get_recipe("culture-qa@1")
SUMMARY = get_recipe("dialogue-summary@1")


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("[1e999x]", ["number_too_large", "missing_comma"]),
        ('[{"id": "a"}, -1e999-]', ["number_too_large", "missing_comma"]),
        ("[-Infinity5]", ["not_a_number", "missing_comma"]),
        ("[NaNx]", ["not_a_number", "missing_comma"]),
        ('[{"a": 1e999 , "b": 2}]', ["number_too_large"]),
    ],
)
def test_a_number_out_of_range_is_told_whatever_follows_it_at_once(text: str, codes: list[str]) -> None:
    found: list[str] = []
    for each in json_items.scan(text)[1]:
        found += [each.code] if isinstance(each, FileError) else [fault[0] for fault, _path, _line in each.faults()]
    assert found == codes


@pytest.fixture(scope="module")
def references() -> Items:
    return read_references(REFERENCES, RAG)


def errors_of(data: bytes | str, references: Items | None = None) -> InvalidFile:
    with pytest.raises(InvalidFile) as caught:
        read_predictions(data.encode() if isinstance(data, str) else data, RAG, references)
    return caught.value


def reference_errors_of(text: str, recipe=RAG) -> tuple[FileError, ...]:
    with pytest.raises(InvalidFile) as caught:
        read_references(text.encode(), recipe)
    return caught.value.errors


def places(errors) -> list[tuple]:
    return [(error.code, error.line, error.item_id, error.field) for error in errors]


def indented(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def small(item_id: str, answer: object = "답") -> dict:
    return {"id": item_id, "output": {"answer": answer}}


# ------------------------------------------------------------------------------------------------ accepted


@pytest.mark.parametrize(
    ("text", "file_format", "item_lines"),
    [
        (GOOD_TEXT, "json-array", (2, 3, 4, 5, 6)),
        ("\ufeff" + GOOD_TEXT, "json-array", (2, 3, 4, 5, 6)),
        (GOOD_TEXT.replace("\n", "\r\n"), "json-array", (2, 3, 4, 5, 6)),
        (GOOD_TEXT.replace("\n", "\r"), "json-array", (2, 3, 4, 5, 6)),
        ("[" + ",".join(good_items()) + "]", "json-array", (1, 1, 1, 1, 1)),
        ('{"data": ' + GOOD_TEXT + "}", "json-object", (2, 3, 4, 5, 6)),
        ('{"data": [' + ",".join(good_items()) + "]}", "json-object", (1, 1, 1, 1, 1)),
        ('{\n"id": "말뭉치",\n"tags": ["가"],\n"document":\n' + GOOD_TEXT + "}", "json-object", (6, 7, 8, 9, 10)),
        ('{"document": ' + GOOD_TEXT + ', "meta": {"n": [1]}}', "json-object", (2, 3, 4, 5, 6)),
        (lines(*good_items()), "jsonl", (1, 2, 3, 4, 5)),
        (lines(*good_items()).rstrip(), "jsonl", (1, 2, 3, 4, 5)),
        ("\n\n" + lines(*good_items()).replace("\n", "\r\n \r\n"), "jsonl", (3, 5, 7, 9, 11)),
        (lines(*good_items()).replace("\n", "\r"), "jsonl", (1, 2, 3, 4, 5)),
        ("\ufeff" + lines(*good_items()).replace("\n", "\n\ufeff"), "jsonl", (1, 2, 3, 4, 5)),
    ],
)
def test_each_form_is_recognised_and_its_lines_are_those_of_the_file(references, text, file_format, item_lines):
    read = read_predictions(text.encode(), RAG, references)
    assert read.format == file_format
    assert tuple(answer.line for answer in read.items) == item_lines
    assert [(answer.id, answer.text) for answer in read.items] == [
        (answer.id, answer.text) for answer in read_predictions(GOOD, RAG).items
    ]


@pytest.mark.parametrize("text", [indented(small("1")), json.dumps(small("1")), json.dumps(small("1")) + "\n"])
def test_a_file_of_one_item_is_a_file(text):
    assert [answer.id for answer in read_predictions(text.encode(), RAG).items] == ["1"]


def test_unicode_line_separators_inside_a_text_break_no_line():
    read = read_predictions(lines(item("1", "가\u2028나\u2029"), item("2", "다")).encode(), RAG)
    assert [(answer.id, answer.line) for answer in read.items] == [("1", 1), ("2", 2)]


def test_the_hash_is_of_the_bytes_as_uploaded():
    data = b"\xef\xbb\xbf" + GOOD
    assert read_predictions(data, RAG).sha256 == hashlib.sha256(data).hexdigest()


def test_an_empty_answer_is_the_participants_right(references):
    data = array(item("q-1", ""), *good_items()[1:]).encode()
    assert read_predictions(data, RAG, references).by_id()["q-1"].text == ""


def test_an_integer_id_becomes_its_digits():
    data = b'[{"id": 17, "output": {"answer": "x"}}, {"id": -3, "output": {"answer": "x"}}]'
    assert [answer.id for answer in read_predictions(data, RAG).items] == ["17", "-3"]


def test_escaped_emoji_tabs_and_line_breaks_are_accepted():
    read = read_predictions(b'[{"id": "1", "output": {"answer": "\\ud83d\\ude00\\n\\t\\r"}}]', RAG)
    assert read.items[0].text == "😀\n\t\r"


def test_two_thousand_characters_without_a_space_can_be_scored():
    for text in ("가" * 2000, "7" * 2000, "😀" * 2000, "글자 " * 3333):
        assert read_predictions(json.dumps([small("1", text)]).encode(), RAG).items[0].text == text


def test_nfd_answers_are_normalised_and_named(references):
    texts = [unicodedata.normalize("NFD", text) if n < 2 else text for n, text in enumerate(good_items())]
    read = read_predictions(array(*texts).encode(), RAG, references)
    assert read.normalized_ids == ("q-1", "q-2")
    assert [a.text for a in read.items] == [a.text for a in read_predictions(GOOD, RAG).items]


def test_ids_are_compared_in_nfc():
    known = read_references(array(item("문항-1", "답")).encode(), RAG)
    data = array(item(unicodedata.normalize("NFD", "문항-1"), "답")).encode()
    read = read_predictions(data, RAG, known)
    assert read.items[0].id == "문항-1"
    assert read.normalized_ids == ()  # the answer itself was in NFC


def test_the_question_type_of_a_prediction_is_checked_only_without_references():
    text = array(json.dumps(small("1") | {"input": {"question_type": "없는유형"}}, ensure_ascii=False))
    known = read_references(array(item("1", "답")).encode(), RAG)
    assert read_predictions(text.encode(), CULTURE, known).items[0].text == "답"
    with pytest.raises(InvalidFile) as caught:
        read_predictions(text.encode(), CULTURE)
    assert places(caught.value.errors) == [("unknown_question_type", 2, "1", "input.question_type")]


# ------------------------------------------------------------------------------------------------ refused, located


@pytest.mark.parametrize("bad", BAD_FILES, ids=str)
def test_a_bad_file_is_refused_with_its_place(references, bad):
    first = errors_of(bad.data, references).errors[0]
    assert (first.code, first.line, first.item_id, first.field) == (bad.code, bad.line, bad.item_id, bad.field)


@pytest.mark.parametrize("bad", BAD_FILES, ids=str)
def test_errors_are_complete_in_both_languages_storable_and_hold_no_reference(references, bad):
    invalid = errors_of(bad.data, references)
    assert invalid.__context__ is None  # a chained decoding error would hold the whole file
    for error in invalid.errors:
        shown = json.dumps([error.as_dict("ko"), error.as_dict("en"), dict(error.params)], ensure_ascii=False)
        assert CANARY not in shown
        assert shown.encode()  # no lone surrogate
        assert shown.replace("\\n", "").isprintable()


def test_every_code_is_caused_by_a_file(references):
    caused = {error.code for bad in BAD_FILES for error in errors_of(bad.data, references).errors}
    elsewhere = {"too_many_items", "unknown_question_type", "empty_reference", "empty_alternative"}  # tested beside
    elsewhere |= {"check_too_long", "check_too_much_memory", *ANSWERS}
    elsewhere |= {"too_many_references", "duplicate_reference_id", "unmatched_id", "no_answers", "no_reference_answers"}
    elsewhere |= {"bad_required", "empty_question", "other_task_file"}
    elsewhere |= {"missing_number", "missing_labels", "missing_opinions"}

    assert caused | elsewhere == set(MESSAGES) - set(CAPTIONS) - set(ESSAYS)


def test_bad_files_are_of_many_kinds():
    assert len(BAD_FILES) >= 36
    assert len({bad.name for bad in BAD_FILES}) == len(BAD_FILES)
    assert len({bad.code for bad in BAD_FILES}) >= 36


def test_all_errors_are_collected_in_file_order(references):
    text = indented(
        [
            {"id": "q-1", "output": {"answer": 1}},
            {"id": "q-1", "output": {}},
            {"id": "q-9", "output": {"answer": "\ud800"}},
            {"input": 3, "output": {"answer": "x"}},
        ]
    )
    assert places(errors_of(json.dumps(json.loads(text), indent=2), references).errors) == [
        ("count_differs", None, None, None),
        ("wrong_type", 5, "q-1", "output.answer"),
        ("duplicate_id", 9, "q-1", "id"),
        ("missing_field", 10, "q-1", "output.answer"),
        ("unknown_id", 13, "q-9", "id"),
        ("lone_surrogate", 15, "q-9", "output.answer"),
        ("missing_field", 18, None, "id"),
        *(("unmatched_id", None, item_id, None) for item_id in ("q-2", "q-3", "q-4", "q-5")),
    ]


def test_a_hundred_errors_are_kept_and_all_are_counted(references):
    data = json.dumps([small(IDS[0]), *(small(f"x-{n}") for n in range(3_000))]).encode()
    invalid = errors_of(data, references)
    assert len(invalid.errors) == MAX_ERRORS_KEPT
    assert invalid.total == 1 + 3_000 + len(IDS) - 1  # the count, every unknown id, every missing id


def test_missing_ids_stand_at_the_end_in_the_order_of_the_references(references):
    data = array(*good_items()[3:]).encode()
    assert places(errors_of(data, references).errors) == [
        ("count_differs", None, None, None),
        ("missing_id", None, "q-1", None),
        ("missing_id", None, "q-2", None),
        ("missing_id", None, "q-3", None),
    ]


@pytest.mark.parametrize("space", ["\x1c", "\x85", "\u00a0", "\u2028", "\u3000"])
@pytest.mark.parametrize("rest", ["", "\n", '\n{"id": "a"}', "\n[1]"])
def test_a_first_line_of_space_that_json_does_not_know_is_an_error_with_its_place(space, rest):
    with pytest.raises(InvalidFile) as refused:
        read_references((space + rest).encode(), get_recipe("multi-label@1"))
    first = refused.value.errors[0]
    assert (first.code, first.line) in (("not_json", 1), ("json_syntax", 1))


def test_reading_goes_on_after_a_broken_line_and_its_id_is_not_called_missing(references):
    broken = good_items()
    broken[1] = broken[1][:-1]
    broken[3] = '{"id": "q-4", "output": {"answer": 4}}'
    assert places(errors_of(lines(*broken), references).errors) == [
        ("truncated_json", 2, "q-2", None),
        ("wrong_type", 4, "q-4", "output.answer"),
    ]


def test_nothing_is_called_missing_after_an_array_broke_off(references):
    assert [error.code for error in errors_of(GOOD_TEXT[:400], references).errors] == ["truncated_json"]


def test_an_id_that_no_item_has_is_named_beside_an_item_without_a_readable_id(references):
    data = array('{"id": null, "output": {"answer": ""}}', *good_items()[1:])
    assert places(errors_of(data, references).errors) == [
        ("wrong_type", 2, None, "id"),
        ("unmatched_id", None, "q-1", None),
    ]


def test_no_id_is_named_where_no_item_has_one(references):
    data = array(*('{"ID": "q-1", "output": {"answer": ""}}' for _ in IDS))
    assert {error.code for error in errors_of(data, references).errors} == {"misspelled_field"}


@pytest.mark.parametrize(
    ("written", "needed", "found"),
    [
        ('{"id": "q-3", "outptu": {"answer": ""}}', "output", "outptu"),
        ('{"id": "q-3", "output": {"anwser": ""}}', "answer", "anwser"),
        ('{"qid": "q-3", "output": {"answer": ""}}', "id", "qid"),
        ('{"ids": 1, "Id": "q-3", "output": {"answer": ""}}', "id", "Id"),  # the same but for its case comes first
    ],
)
def test_a_misspelled_key_is_named(references, written, needed, found):
    error = errors_of(third(written), references).errors[0]
    assert (error.code, error.params) == ("misspelled_field", {"needed": needed, "key": found})
    assert f"«{found}»" in error.message()


@pytest.mark.parametrize("written", ['"result": 1', '"' + "output" * 10 + '": 1', '"input": {}'])
def test_a_key_that_is_not_alike_is_not_named(references, written):
    error = errors_of(third('{"id": "q-3", ' + written + "}"), references).errors[0]
    assert (error.code, error.field) == ("missing_field", "output")


def test_keys_are_compared_only_for_the_errors_that_are_shown(references, monkeypatch):
    compared = []
    monkeypatch.setattr(
        "scoring.reading.item_checks.get_close_matches", lambda word, *_, **__: compared.append(word) or []
    )
    data = json.dumps([{"id": f"x-{number}", "outptu": 1} for number in range(3_000)]).encode()
    errors_of(data, references)
    assert 0 < len(compared) <= 2 * MAX_ERRORS_KEPT


@pytest.mark.parametrize(("value", "found"), [("null", "null"), ("3", "숫자"), ('["답"]', "배열")])
def test_what_is_no_answer_in_the_place_of_output_is_named(references, value, found):
    error = errors_of(third('{"id": "q-3", "output": ' + value + "}"), references).errors[0]
    assert (error.code, error.line, error.item_id, error.field) == ("wrong_type", 4, "q-3", "output")
    assert f"필요: 문자열, 파일: {found}" in error.message("ko")


@pytest.mark.parametrize(
    "written", ['"output": "답"', '"input": "문항", "output": "답"', '"input": [1], "output": "답"']
)
def test_an_answer_may_be_the_output_itself_and_the_input_anything(references, written):
    """As files of 2022-2025 have them."""
    data = third('{"id": "q-3", ' + written + "}")
    assert read_predictions(data, get_recipe("rag-qa@1"), references).by_id()["q-3"].text == "답"


def test_only_a_reference_file_is_called_the_reference_data(references):
    [ours] = [e for e in errors_of(third(item("q-2", "")), references).errors if e.field == "id"]
    [theirs] = reference_errors_of(array(item("1", "답"), item("1", "답")))
    assert (ours.code, theirs.code) == ("duplicate_id", "duplicate_reference_id")
    assert ours.reason().startswith("제출 파일에 같은 id가")
    assert theirs.reason().startswith("정답 데이터에 중복된 id를 가지는 경우 존재")


def test_a_padded_id_is_reported_once_and_not_as_missing_too(references):
    data = array(*good_items()[:2], item(" q-3", "답"), *good_items()[3:])
    assert places(errors_of(data, references).errors) == [("padded_id", 4, " q-3", "id")]


def test_a_duplicate_names_the_line_of_the_first(references):
    data = array(*good_items()[:4], item("q-2", "답"))
    assert errors_of(data, references).errors[0].params["first_line"] == 3


def test_every_repeated_key_and_every_nan_of_an_item_is_located():
    text = '[{"id": "1",\n "id": "2",\n "x": [1,\n NaN, {"y": -Infinity,\n "y": 2}],\n "output": {"answer": "a"}}]'
    assert places(errors_of(text).errors) == [
        ("duplicate_key", 2, "2", "id"),
        ("not_a_number", 4, "2", "x.1"),
        ("not_a_number", 4, "2", "x.2.y"),
        ("duplicate_key", 5, "2", "x.2.y"),
    ]


def test_text_of_an_upload_is_cut_and_its_control_characters_are_escaped():
    near = errors_of('[{"id": "1", "output": {"answer": "a\u202e\x01' + "가" * 500 + '"}}]').errors[0].params["near"]
    assert "\\u202e" in near
    assert "\u202e" not in near
    assert len(near) < 60


def test_more_items_than_the_limit_are_refused_at_their_line():
    """The first error: the items up to the limit, which is the real one here, were accepted."""
    data = "".join(f'{{"id": {n}, "output": {{"answer": ""}}}}\n' for n in range(MAX_ITEMS + 3))
    assert places(errors_of(data).errors)[0][:2] == ("too_many_items", MAX_ITEMS + 1)


def test_as_many_items_as_the_limit_are_accepted(monkeypatch):
    monkeypatch.setattr(json_items, "MAX_ITEMS", 40)
    data = "".join(f'{{"id": {n}, "output": {{"answer": ""}}}}\n' for n in range(41))
    assert places(errors_of(data).errors)[0][:2] == ("too_many_items", 41)
    assert len(read_predictions(data.rsplit("\n", 2)[0].encode(), RAG).items) == 40


# ------------------------------------------------------------------------------------------------ references


def test_references_keep_their_input_and_question_type():
    text = indented([small("1") | {"input": {"question_type": "단답형", "question": "왜?", "n": 3}}])
    answer = read_references(text.encode(), CULTURE).items[0]
    assert answer.question_type == "단답형"
    assert answer.input == {"question_type": "단답형", "question": "왜?", "n": 3}


@pytest.mark.parametrize(
    ("task", "place"),
    [
        (None, ("missing_field", 2, "1", "input")),
        ({}, ("missing_field", 7, "1", "input.question_type")),
        ({"question_type": 3}, ("wrong_type", 8, "1", "input.question_type")),
        ({"question_type": "선택형"}, ("unknown_question_type", 8, "1", "input.question_type")),
        ({"question_type": "단답형", "q": ["\x00"]}, ("control_character", 10, "1", "input.q.0")),
    ],
)
def test_a_reference_needs_a_question_type_of_the_recipe(task, place):
    value = small("1") if task is None else small("1") | {"input": task}
    text = indented([value])
    assert places(reference_errors_of(text, CULTURE)) == [place]


def test_an_empty_reference_answer_and_a_repeated_id_are_refused():
    errors = reference_errors_of(array(item("1", " "), item("1", "답")))
    assert places(errors) == [("empty_reference", 2, "1", "output.answer"), ("duplicate_reference_id", 3, "1", "id")]


@pytest.mark.parametrize(
    "answer",
    ["짜장면#", "#짜장면", "짜장면# #자장면", "#", '""', "짜장면#''", '짜장면#자장면#"" ', "#짜장면이 옳다. 이유이다."],
)
def test_a_reference_with_an_empty_alternative_is_refused(answer):
    text = indented([small("1"), small("2", answer)])
    (error,) = reference_errors_of(text)
    assert places([error]) == [("empty_alternative", 11, "2", "output.answer")]
    assert "‘#’" in error.message("ko")
    assert "#" in error.message("en")
    assert read_references(text.encode(), RAG, is_published=True).items[1].text == answer


@pytest.mark.parametrize("answer", ["짜장면#자장면", "짜장면이 옳다. 번호 #는 이유에 쓴다. #", "2번 #3번"])
def test_a_reference_without_an_empty_alternative_is_read(answer):
    assert read_references(indented([small("1", answer)]).encode(), RAG).items[0].text == answer


@pytest.mark.parametrize(("kind", "is_refused"), [("단답형", True), ("선다형", False), ("서술형", False)])
def test_only_what_exact_match_compares_has_alternatives(kind, is_refused):
    text = indented([small("1", "김치#") | {"input": {"question_type": kind}}])
    if is_refused:
        assert places(reference_errors_of(text, CULTURE)) == [("empty_alternative", 5, "1", "output.answer")]
    else:
        assert read_references(text.encode(), CULTURE).items[0].text == "김치#"


def test_a_prediction_may_hold_what_it_likes_around_a_number_sign():
    assert read_predictions(indented([small("1", "짜장면#")]).encode(), RAG).items[0].text == "짜장면#"


def test_a_dialogue_may_have_several_reference_summaries():
    text = indented([small("1", ["첫 요약", "둘째 요약"]), small("2", "하나뿐인 요약")])
    references = read_references(text.encode(), SUMMARY)
    assert [answer.texts for answer in references.items] == [("첫 요약", "둘째 요약"), ("하나뿐인 요약",)]


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ([], ("empty_reference", 5, "1", "output.answer")),
        (["요약", " "], ("empty_reference", 7, "1", "output.answer.1")),
        (["요약", 3], ("wrong_type", 7, "1", "output.answer.1")),
        (["요약", ["요약"]], ("wrong_type", 7, "1", "output.answer.1")),
        (3, ("wrong_type", 5, "1", "output.answer")),
        (["요약"] * (MAX_REFERENCES + 1), ("too_many_references", 5, "1", "output.answer")),
    ],
)
def test_a_list_of_references_is_checked_text_by_text(answer, found):
    assert places(reference_errors_of(indented([small("1", answer)]), SUMMARY)) == [found]


def test_a_summary_handed_in_is_one_text():
    with pytest.raises(InvalidFile) as caught:
        read_predictions(indented([small("1", ["요약", "요약"])]).encode(), SUMMARY)
    assert places(caught.value.errors) == [("wrong_type", 5, "1", "output.answer")]


@pytest.mark.parametrize("recipe", ["rag-qa@1", "story-completion@1"])
def test_a_list_of_references_is_refused_where_the_rule_knows_one(recipe):
    errors = reference_errors_of(indented([small("1", ["하나", "둘"])]), get_recipe(recipe))
    assert places(errors) == [("wrong_type", 5, "1", "output.answer")]


@pytest.mark.parametrize("cut", range(3, 200, 7))
def test_errors_of_a_references_file_quote_nothing_of_its_text(cut):
    secret = "비밀정답"
    text = array(item("1", secret * 8), '{"id": "2", "output": {"answer": "' + secret * 20)
    for error in reference_errors_of(text[: len(text) - cut] if cut < 60 else text):
        assert secret not in json.dumps([error.as_dict(), dict(error.params)], ensure_ascii=False)


def test_the_limits_are_constants_of_the_module():
    assert all(isinstance(getattr(reading, name), int) for name in reading.__all__ if name.startswith("MAX_"))


def test_one_looping_answer_does_not_refuse_the_file():
    """It is kept whole for exact match; what analysers see of it is ``scoring.text.cutting``."""
    loop = "ㅋ" * 13_000
    [read] = read_predictions(array(item("1", loop)).encode(), RAG).items
    assert read.text == loop
    assert reading.MAX_TEXT_CHARS == 200_000


def test_the_limit_of_items_speaks_of_no_other_file(monkeypatch):
    """It led with the official words for files that differ in number, also where only one was given."""
    monkeypatch.setattr(json_items, "MAX_ITEMS", 2)
    for code, data in (("too_many_items", array(*(item(str(n), "가") for n in range(3)))), ("no_items", "[]")):
        error = errors_of(data).errors[0]
        assert error.code == code
        for language in ("ko", "en"):
            assert "정답" not in error.reason(language)
            assert "test set" not in error.reason(language)
