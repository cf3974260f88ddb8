"""What looks like playing the metrics is hinted at; honest answers, however simple, are left in peace."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest

from scoring.integrity import copied_share, integrity_warnings
from scoring.integrity.loops import is_loop
from scoring.recipes.warning_texts import INTEGRITY_CODES, INTEGRITY_TEXTS, warning_text
from scoring.records import Item, Items, ScoreWarning
from tests.scoring.caption_sets import HONEST_FRAMES, REFERENCE, answers, captions, scenes, several, stuffed

SCENES = scenes(400)
REFERENCES = answers(captions(SCENES, REFERENCE))


def codes(found: Sequence[ScoreWarning]) -> set[str]:
    return {warning.code for warning in found}


def caption_codes(texts: Sequence[str], references: Items = REFERENCES) -> set[str]:
    return codes(integrity_warnings("captions", references, answers(texts)))


def one(code: str, found: Sequence[ScoreWarning]) -> ScoreWarning:
    return next(warning for warning in found if warning.code == code)


@pytest.mark.parametrize("frame", HONEST_FRAMES.values(), ids=HONEST_FRAMES.keys())
@pytest.mark.parametrize("count", [10, 50, 400])
def test_honest_simple_captions_give_no_hint(frame: str, count: int) -> None:
    assert caption_codes(captions(SCENES[:count], frame), answers(captions(SCENES[:count], REFERENCE))) == set()


def test_one_caption_of_the_commonest_words_is_seen_from_every_side() -> None:
    found = integrity_warnings("captions", REFERENCES, answers([stuffed(REFERENCES)] * 400))
    assert codes(found) >= {"answer_repeated", "few_unique", "near_constant", "length_ratio"}
    assert one("answer_repeated", found).params["percent"] == 100
    assert one("few_unique", found).params["unique"] == 1
    assert one("near_constant", found).params["percent"] == pytest.approx(100)
    assert one("length_ratio", found).params["ratio"] > 2


@pytest.mark.parametrize("count", [10, 30, 400])
def test_constant_captions_are_seen_in_a_small_set_too(count: int) -> None:
    references = answers(captions(SCENES[:count], REFERENCE))
    assert caption_codes([stuffed(references)] * count, references) >= {"near_constant", "length_ratio"}


def test_shuffling_and_decorating_a_constant_caption_does_not_hide_it() -> None:
    source = random.Random(1)
    words = stuffed(REFERENCES).split()
    texts = [" ".join([*source.sample(words, 24), str(n)]) for n in range(len(SCENES))]
    assert len(set(texts)) == len(texts)
    assert "near_constant" in caption_codes(texts)


def test_a_few_captions_dealt_out_are_seen() -> None:
    texts = [f"{scene['who']} {scene['what']} 들고 있다." for scene in SCENES[:8]] * 50
    assert "few_unique" in caption_codes(texts)


def test_one_answer_for_a_fifth_of_the_items_is_seen() -> None:
    texts = captions(SCENES, HONEST_FRAMES["who, what and act"])
    texts[:79] = ["사람이 무언가를 하고 있다."] * 79
    assert "answer_repeated" not in caption_codes(texts)
    texts[:80] = ["사람이 무언가를 하고 있다."] * 80
    assert "answer_repeated" in caption_codes(texts)


def test_a_formulaic_reference_set_makes_formulaic_answers_no_offence() -> None:
    references = answers([f"화면 중앙에 {s['look']} 건물이 서 있는 맑은 날의 영상이다." for s in SCENES])
    texts = [f"화면 중앙에 {s['look']} 건물이 서 있는 흐린 날의 영상이다." for s in SCENES]
    assert caption_codes(texts, references) == set()


def test_references_that_are_nearly_all_equal_are_the_measure() -> None:
    references = answers(["바다가 보인다."] * 300 + ["산이 보인다."] * 100)
    assert caption_codes(["바다가 보인다."] * 400, references) == set()


@pytest.mark.parametrize(("words", "expected"), [(2, True), (4, False), (7, False), (13, False), (16, True)])
def test_length_is_compared_with_the_references(words: int, expected: bool) -> None:
    texts = [" ".join((text.split() * 3)[:words]) for text in captions(SCENES, REFERENCE)]  # references have 7 words
    assert ("length_ratio" in caption_codes(texts)) is expected


def test_length_is_compared_with_the_closest_of_several_references() -> None:
    short, long = captions(SCENES, "{who} {what} {act} 있다."), captions(SCENES, f"{REFERENCE} {REFERENCE}")
    assert "length_ratio" in caption_codes(short, several(long))
    assert caption_codes(short, several(long, short)) == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", False),
        ("한 남자가 공을 차고 있다.", False),
        ("아이들이 공원에서 자전거를 타고 아이들이 공원에서 자전거를 타고 있다", True),
        ("남자가 걷고 있다 " * 3, True),
        ("있다 " * 5, True),
        ("가" * 60, True),
        ("아니" * 30, True),
        ("https://example.com/a/long/address/with/many/parts?and=1&queries=2", False),
        ("그는 책을 읽고 있다. 그녀는 창가에서 비 오는 거리를 바라보며 그는 책을 읽고 있다고 말했다.", False),
        ("그는 조용히 방에서 책을 읽고 있다. 그녀는 넓은 방에서 책을 읽고 있다 말고 나갔다.", False),
    ],
)
def test_a_text_that_runs_in_circles_is_a_loop(text: str, expected: bool) -> None:
    assert is_loop(text) is expected


def test_loops_are_hinted_at_unless_few_or_in_the_reference() -> None:
    texts = captions(SCENES, REFERENCE)
    looping = [f"{text} {text}" if number < 20 else text for number, text in enumerate(texts)]
    assert caption_codes(looping) == {"repeated_phrases"}
    assert caption_codes(looping[1:20] + texts[19:]) == set()  # 19 of 400
    assert caption_codes(looping, answers(looping)) == set()


STORY = " ".join(captions(scenes(12, seed=3), REFERENCE))


def with_input(text: str, number: int, **fields: object) -> Item:
    return Item(
        str(number), text, number + 1, input={"question": "요약하십시오.", "context": [{"text": STORY}]}, **fields
    )


def test_answers_taken_from_the_input_are_hinted_at() -> None:
    words = STORY.split()
    honest = captions(scenes(40, seed=4), f"{REFERENCE} {REFERENCE.replace('있다', '있었다')}")
    copied = [" ".join(words[start : start + 24]) for start in range(40)]
    references = Items(tuple(map(with_input, honest, range(40))), "json-array", "0")
    extractive = Items(tuple(map(with_input, copied, range(40))), "json-array", "0")

    found = integrity_warnings("answers", references, answers(copied))

    assert one("copied_input", found).params == {"count": 40, "items": 40, "percent": 100}
    assert "copied_input" not in codes(integrity_warnings("answers", references, answers(honest)))
    assert "copied_input" not in codes(integrity_warnings("answers", extractive, answers(copied)))


def test_share_of_copied_word_runs() -> None:
    words = [str(n) for n in range(20)]
    source = f" {' '.join(words)} "
    assert copied_share(words, source) == 1
    assert copied_share(words[:7], source) == 0
    assert copied_share([*words[:10], *"abcdefghij"], source) == pytest.approx(3 / 13)
    assert copied_share(words, " a b ") == 0
    assert copied_share(["0", *words[2:]], f" 1{source}") < 1  # whole words


def test_equal_choices_and_short_answers_are_no_offence() -> None:
    rows = [
        ("선다형", "3"),
        ("단답형", "세종대왕 이도 (조선 제4대 임금)"),
        ("선다형", "가장 알맞은 것은 네 번째이다."),
    ] * 40
    references = Items(
        tuple(Item(str(n), f"{text} {n}", n + 1, question_type=kind) for n, (kind, text) in enumerate(rows)),
        "json-array",
        "0",
    )
    assert integrity_warnings("answers", references, answers(["가장 알맞은 것은 네 번째이다."] * 120)) == ()


def test_short_references_make_no_statement_about_sameness() -> None:
    references = answers([f"{n}번" for n in range(100)])
    assert integrity_warnings("answers", references, answers(["3번"] * 100)) == ()


@pytest.mark.parametrize("form", ["labels", "number"])
def test_labels_and_numbers_may_all_be_equal(form: str) -> None:
    references = answers([f"긴 이름의 분류 {n}" for n in range(100)])
    assert integrity_warnings(form, references, answers(["긴 이름의 분류 1"] * 100)) == ()


@pytest.mark.parametrize("form", ["answers", "captions", "labels", "number"])
def test_invisible_characters_are_counted_and_named_whatever_the_form(form: str) -> None:
    texts = captions(SCENES, REFERENCE)
    texts[0] += "\u200b\u200b"
    texts[1] = texts[1].replace(" ", "\u3164 ")
    texts[2] += "👨\u200d👩\u200d👧"
    found = integrity_warnings(form, REFERENCES, answers(texts))
    assert [(w.code, dict(w.params)) for w in found] == [
        ("invisible_characters", {"count": 2, "items": 400, "code_points": "U+3164, U+200B"})
    ]


def test_invisible_characters_of_the_reference_or_the_input_are_no_offence() -> None:
    rows = (Item("0", "가나\u200b다", 1), Item("1", "라", 2, input={"question": "마\u2060바"}))
    references = Items(rows, "json-array", "0")
    assert integrity_warnings("answers", references, answers(["가\u200b나다", "마\u2060바"])) == ()


def test_answers_that_only_look_empty_are_counted() -> None:
    found = integrity_warnings("captions", REFERENCES, answers(["\u3164"] * 400))
    assert one("looks_empty", found).params == {"count": 400}


def test_decomposed_text_is_hinted_at_when_it_is_much() -> None:
    texts = captions(SCENES, REFERENCE)
    for many, expected in ((79, set()), (80, {"many_normalized"})):
        rows = answers(texts).items
        file = Items((*(replace(row, raw=("풀어쓴 글",)) for row in rows[:many]), *rows[many:]), "json-array", "0")
        assert codes(integrity_warnings("captions", REFERENCES, file)) == expected


@pytest.mark.parametrize("form", ["answers", "captions", "labels", "number"])
@pytest.mark.parametrize("texts", [[], [""], ["가"], ["가", ""], [" "] * 40, ["😀"] * 5, ["단어 " * 5000]])
def test_small_and_odd_files_are_survived(form: str, texts: list[str]) -> None:
    references = answers([f"정답 {n} 문장이 여기에 있다." for n in range(len(texts))])
    for warning in integrity_warnings(form, references, answers(texts)):
        assert warning_text(warning)


def test_missing_answers_are_left_out() -> None:
    assert caption_codes(captions(SCENES[:20], REFERENCE)) == set()


def test_every_hint_has_words_in_both_languages() -> None:
    params = {"count": 3, "items": 40, "percent": 7.5, "reference_percent": 2.5, "unique": 4, "ratio": 0.3, "low": 0.5}
    params |= {"high": 2.0, "code_points": "U+200B"}
    for code in INTEGRITY_CODES:
        for language in ("ko", "en"):
            text = INTEGRITY_TEXTS[code].text(language).format(**params)
            assert "{" not in text
            assert len(text) > 40


@pytest.mark.parametrize(
    ("code", "params", "korean"),
    [
        ("captions_missing", {"count": 4, "total": 60}, "전체 60개 가운데 4개에 설명문이 없어"),
        ("clip_not_configured", {}, "계산하지 않았습니다"),
        ("clip_truncated", {"count": 7}, "캡션 7개가"),
    ],
)
def test_what_happened_to_captions_is_told(code: str, params: dict[str, int], korean: str) -> None:
    warning = ScoreWarning(code, params)
    assert korean in warning_text(warning)
    assert all(str(value) in warning_text(warning, "en") for value in params.values())


def test_a_warning_of_another_version_is_named_by_its_code() -> None:
    assert "from_the_future" in warning_text(ScoreWarning("from_the_future", {}))
    assert "few_unique" in warning_text(ScoreWarning("few_unique", {"renamed": 1}), "en")


def test_fifty_thousand_captions_take_seconds() -> None:
    shown = scenes(50_000)
    references, predictions = (
        answers(captions(shown, REFERENCE)),
        answers(captions(shown, HONEST_FRAMES["two sentences"])),
    )
    started = time.process_time()
    assert integrity_warnings("captions", references, predictions) == ()
    assert time.process_time() - started < 10
