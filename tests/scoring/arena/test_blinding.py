"""What judges see of an output: nothing by which its team is told, everything that it says."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scoring.arena.blinding import MASK, masked, normalised


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("답변: 세종은 1446년에 훈민정음을 반포했다.", "세종은 1446년에 훈민정음을 반포했다."),
        ("[답변] **세종**은 _1446년_에", "세종은 _1446년_에"),
        ("### 정답\n세종", "정답\n세종"),
        ("Answer : 예", "예"),
        ("**답변:** 예", "예"),
        ("“세종”은 ‘왕’이다", "\"세종\"은 '왕'이다"),
        ('"전체를 감싼 답"', "전체를 감싼 답"),
        ("* 하나\n• 둘\n  ▪ 셋", "- 하나\n- 둘\n- 셋"),
        ("1) 하나\n2. 둘", "1. 하나\n2. 둘"),
        ('```json\n{"a": 1}\n```', '{"a": 1}'),
        ("> 인용\n> 둘째 줄", "인용\n둘째 줄"),
        ("하나\n\n\n\n둘  셋 \n", "하나\n\n둘 셋"),
        ("한\u200b글\ufeff과\u3000전각\u00a0빈칸", "한글과 전각 빈칸"),
        ("한\u3164글\ufe0f과\U000e0041 ❤\ufe0f와 👩\u200d🚀", "한글과 ❤\ufe0f와 👩\u200d🚀"),
        ("<b>굵게</b><br>다음 줄", "굵게\n다음 줄"),
        ("[국립국어원](https://example.org/a)의 말", "국립국어원의 말"),
        ("---\n본문\n***", "본문"),
        ("`코드`와 ~~지움~~", "코드와 지움"),
        ("한글", "한글"),  # decomposed
        ("2 * 3 * 4 = 24, a_b_c, 5 > 3, x < y", "2 * 3 * 4 = 24, a_b_c, 5 > 3, x < y"),
        ("-3도에서 +5도", "-3도에서 +5도"),
        ("답변", "답변"),
        ("", ""),
        ("   \n ", ""),
    ],
)
def test_marks_go_and_words_stay(text: str, expected: str) -> None:
    assert normalised(text) == expected


def letters(text: str) -> str:
    return "".join(each for each in unicodedata.normalize("NFC", text) if each.isalnum())


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # others may load the machine
@given(st.text(alphabet=st.sampled_from("가나다 abc123\n*_#>-•[]\"'“”.:"), max_size=60))
def test_no_letter_or_digit_goes_and_once_is_enough(text: str) -> None:
    found = normalised(text)
    assert normalised(found) == found
    assert letters(found) == letters(text)


@pytest.mark.parametrize(
    "piece", ["**가", "__a ", "*a ", "_a ", "~~a", "`a", "[a](", "<b ", "> ", '"', "- ", "#", "답변: "]
)
def test_a_long_text_of_marks_is_read_to_its_end(piece: str) -> None:
    assert normalised(piece * (20_000 // len(piece)) + "끝").endswith("끝")


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        ("저희 고래 팀입니다", ["고래"], f"저희 {MASK} 팀입니다"),
        ("고래입니다", ["고래"], f"{MASK}입니다"),
        ("참고래를 보았다", ["고래"], "참고래를 보았다"),
        ("KoreanLLM과 korean-llm, ＫＯＲＥＡＮ ＬＬＭ", ["Korean LLM"], f"{MASK}과 {MASK}, {MASK}"),
        ("fair AI and AIs", ["AI"], f"fair {MASK} and AIs"),
        ("AI는", ["AI"], f"{MASK}는"),
        ("우리파란고래팀", ["파란고래"], f"우리{MASK}팀"),
        ("파란\u200b고래", ["파란고래"], MASK),
        ("김철수와 김철수민", ["김철수", "김철수민"], f"{MASK}와 {MASK}"),
        ("아무도 없다", ["", "  ", "★"], "아무도 없다"),
        ("", ["고래"], ""),
    ],
)
def test_names_are_hidden_however_they_are_written(text: str, names: list[str], expected: str) -> None:
    assert masked(text, names) == expected


@pytest.mark.parametrize(
    "rest",
    [
        *("", "는", "의", "에서는", "에게서도", "까지만", "처럼", "으로부터의", "밖에는", "이야말로", "보다도"),
        *("입니다", "이었습니다", "였다", "인데", "이라는", "예요", "이지만", "이라서", "라며", "이다", "라고", "랑은"),
        *("팀", "팀은", "팀장님이", "교수님께서", "씨의", "네가", "들은", "모델로는", "대학교에서", "심사위원입니다"),
        *(", ", ")", ". 또", "\n다음", "7B", "LLM은", "-2"),
    ],
)
@pytest.mark.parametrize("before", ["", "저희 ", "(", "우리", "팀", "우리팀", "KoGPT", '"'])
def test_a_short_name_is_hidden_with_what_korean_writes_on_to_it(before: str, rest: str) -> None:
    assert masked(f"{before}고래{rest}", ["고래"]) == f"{before}{MASK}{rest}"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("고래싸움에 새우 등", "고래"),
        ("고래고기와 고래잡이", "고래"),
        ("참고래는 수염고래이다", "고래"),
        ("과정을 이수했다", "이수"),
        ("이수하면 이수증을 받는다", "이수"),
        ("나라말싸미", "나라말"),
        ("우리말샘에서 찾다", "우리말"),
        ("김철수민이 왔다", "김철수"),
        ("바다표범", "바다"),
        ("온바다에", "바다"),
        ("main과 AIs, AI2", "AI"),
        ("maintain", "AI"),
    ],
)
def test_a_short_name_inside_another_word_stays(text: str, name: str) -> None:
    assert masked(text, [name]) == text


def test_a_latin_name_ends_where_hangul_begins() -> None:
    assert masked("우리KAI는 KAI팀의 KAI", ["KAI"]) == f"우리{MASK}는 {MASK}팀의 {MASK}"


def test_what_is_hidden_is_hidden_once_and_for_all() -> None:
    text = "나라말싸미 팀의 나라말싸미 모델"
    found = masked(text, ["나라말싸미"])
    assert found == f"{MASK} 팀의 {MASK} 모델"
    assert masked(found, ["나라말싸미"]) == found
