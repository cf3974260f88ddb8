"""What is read of a very long text."""

import time

import pytest

from scoring.metrics.rouge import RougeL
from scoring.text.cutting import READ_CHARS, READ_RUN_CHARS, beginning
from scoring.text.okt import okt

LOOP = "그는 밤새 책을 읽었다. " * 1_000


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("", ""),
        ("짧은 글\n두 줄", "짧은 글\n두 줄"),
        ("ㅋ" * READ_RUN_CHARS, "ㅋ" * READ_RUN_CHARS),
        ("ㅋ" * 13_000, "ㅋ" * READ_RUN_CHARS),
        ("앞 " + "ㅋ" * 2_600 + "\n뒤", "앞 " + "ㅋ" * 2_500 + "\n뒤"),
        ("ㅋ" * 2_600 + "\u3000" + "ㅎ" * 2_600, "ㅋ" * 2_500 + "\u3000" + "ㅎ" * 2_500),
        ("가 " * 5_000, "가 " * 5_000),
        ("가 " * 5_000 + "나", "가 " * 5_000),
        ("가 " * 4_000 + "나" * 9_000, "가 " * 4_000 + "나" * 2_000),  # the text is cut first, then its runs
    ],
)
def test_the_beginning_of_a_text_and_of_each_run(text, read):
    assert beginning(text) == read
    assert beginning(read) == read


def test_what_is_read_of_a_looping_answer_has_the_official_rouge():
    """ROUGE keeps the first 1,000 words, which is less."""
    metric, reference = RougeL(), "그는 밤새 책을 읽고 아침에 잠들었다."
    assert len(LOOP) == 14_000 > READ_CHARS
    whole, read = metric.score_pairs([reference] * 2, [LOOP, beginning(LOOP)])
    assert whole == read > 0


@pytest.mark.parametrize("text", [LOOP, "ㅋ" * 200_000, "a.b." * 50_000, "1" * 200_000, "가나다라마바사 " * 25_000])
def test_the_longest_text_takes_the_analysers_seconds_at_most(text):
    read = beginning(text)
    RougeL().score_pairs(["가"], ["나"])
    okt().tokenize("가")
    start = time.process_time()
    RougeL().score_pairs([read], [read[::-1]])
    okt().tokenize(read)
    assert time.process_time() - start < 10
