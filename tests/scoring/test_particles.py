"""Particles follow the word before them: a site about Korean never says 은(는)."""

from __future__ import annotations

import pytest

from scoring.messages.language import Message
from scoring.particles import fitted


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("‘말판’은(는)", "‘말판’은"),
        ("‘나비’은(는)", "‘나비’는"),
        ("나비이(가) 꽃을(를) 보고 집(으)로", "나비가 꽃을 보고 집으로"),
        ("초안 7(으)로", "초안 7로"),  # 칠, as 서울로
        ("초안 3(으)로", "초안 3으로"),
        ("서울(으)로", "서울로"),
        ("#10을(를), #2을(를), #6을(를)", "#10을, #2를, #6을"),
        ("'score'이(가), 'metric'은(는), 'bleurt'을(를)", "'score'가, 'metric'는, 'bleurt'를"),
        ("«item»은(는), [Malpan]을(를), URL과(와)", "«item»은, [Malpan]을, URL과"),
        ("‘점수’(이)라는, ‘값’(이)라는", "‘점수’라는, ‘값’이라는"),
        ("‘nothing’(이)라는, big을(를)", "‘nothing’이라는, big를"),
        ("rouge(F1)이(가)", "rouge(F1)이"),
        ("🙂은(는)", "🙂은(는)"),  # nothing that is read
        ("은(는)", "은(는)"),
        ("한국어(영어)로 된 (선택) 글", "한국어(영어)로 된 (선택) 글"),
    ],
)
def test_one_of_both_forms_is_chosen(written: str, read: str) -> None:
    assert fitted(written) == read


def test_a_message_of_the_instrument_reads_as_korean() -> None:
    message = Message("«{name}»이(가) 없습니다", "«{name}» is missing (here)")
    assert message.filled("ko", name="답") == "«답»이 없습니다"
    assert message.filled("en", name="답") == "«답» is missing (here)"
