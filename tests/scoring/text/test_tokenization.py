"""mecab-ko: the right engine, safe against strange text, the same for ordinary text. And what every analyser shares."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import mecab
import pytest

from scoring.text.mecab_ko import MECAB_PIECE_CHARS
from scoring.text.tokenization import TOKENIZERS, Tokenizer, readable, split_at_space, tokenizer
from tests.scoring.texts import random_pairs


def mecab_ko():
    return tokenizer("mecab-ko")


@pytest.fixture(scope="module")
def plain_mecab():
    return mecab.MeCab()


def test_mecab_is_the_korean_engine_with_its_left_space_penalty():
    assert mecab_ko().tokenize("아버지가방에들어가신다") == ("아버지", "가", "방", "에", "들어가", "신다")
    assert mecab_ko().tokenize("아버지 가방에 들어가신다") == ("아버지", "가방", "에", "들어가", "신다")


def test_morphs_of_ordinary_texts_are_those_of_the_bare_analyser(plain_mecab):
    for reference, candidate in random_pairs(100):
        for text in (reference, candidate):
            assert mecab_ko().tokenize(text) == tuple(plain_mecab.morphs(text))


def test_text_up_to_the_piece_limit_is_analysed_whole(plain_mecab):
    text = ("그는 밤새 책을 읽었대. " * 1000)[:MECAB_PIECE_CHARS]
    assert mecab_ko().tokenize(text) == tuple(plain_mecab.morphs(text))


def test_empty_and_blank_text_has_no_morphs():
    for text in ("", " ", "\n\t "):
        assert mecab_ko().tokenize(text) == ()


def test_nul_does_not_end_the_text():
    assert mecab_ko().tokenize("책을\x00읽었다") == mecab_ko().tokenize("책을 읽었다")


def test_lone_surrogate_is_passed_over():
    assert mecab_ko().tokenize("책을\ud83d읽었다") == mecab_ko().tokenize("책을 읽었다")


@pytest.mark.parametrize("unit", ["1234567890", "!@.,?", "ab", "가나다라", "😀"])
def test_100_kb_without_space_takes_a_moment(unit):
    text = (unit * 100_000)[:100_000]
    start = time.process_time()
    morphs = mecab_ko().tokenize(text)
    assert time.process_time() - start < 6  # the bare analyser: 7 to 12 s, growing with the square
    assert "".join(morphs) == text


def test_readable_leaves_ordinary_text_alone():
    text = "한글 ABC 123 😀 漢字\n다음 줄"
    assert readable(text) == text


def test_long_text_is_cut_at_space_and_nothing_is_lost():
    text = "책을 읽었다\n" * 50
    pieces = list(split_at_space(text, 20))
    assert "".join(pieces) == text
    assert all(len(piece) <= 20 for piece in pieces)
    assert all(piece[0] in " \n" for piece in pieces[1:] if piece)


def test_unbroken_text_is_cut_at_the_limit():
    assert list(split_at_space("가" * 45, 20)) == ["가" * 20, "가" * 20, "가" * 5]


def test_one_analyser_a_process_whoever_asks():
    with ThreadPoolExecutor(4) as pool:
        found = {id(analyser) for analyser in pool.map(lambda _: mecab_ko(), range(16))}
    assert len(found) == 1


def test_threads_get_the_morphs_of_their_own_text(plain_mecab):
    texts = [reference for reference, _ in random_pairs(60, seed=7)]
    expected = [tuple(plain_mecab.morphs(text)) for text in texts]
    barrier = threading.Barrier(4)

    def analyse(_: int) -> list[tuple[str, ...]]:
        barrier.wait()
        return [mecab_ko().tokenize(text) for text in texts]

    with ThreadPoolExecutor(4) as pool:
        assert all(result == expected for result in pool.map(analyse, range(4)))


def test_signature_names_engine_and_dictionary():
    signature = mecab_ko().signature()
    assert signature["engine"].startswith("python-mecab-ko 1.")
    assert signature["dictionary"].startswith("python-mecab-ko-dic 2.")
    assert signature["dictionary_words"][0] > 800_000


def test_an_analyser_that_is_slow_to_start_holds_up_no_other(monkeypatch):
    """Okt's warm-up starts Java for seconds; a plug-in's may ask a server that does not answer."""
    begun, let_go = threading.Event(), threading.Event()

    class Slow(Tokenizer):
        name = "slow"
        made = 0

        def __init__(self):
            type(self).made += 1
            begun.set()
            assert let_go.wait(30)

        def tokenize(self, text):
            return (text,)

        def signature(self):
            return {"name": self.name}

    class Quick(Slow):
        name = "quick"

        def __init__(self):
            pass

    monkeypatch.setitem(TOKENIZERS.entries, "slow", Slow)
    monkeypatch.setitem(TOKENIZERS.entries, "quick", Quick)
    with ThreadPoolExecutor(3) as pool:
        warm_up = [pool.submit(tokenizer, "slow") for _thread in range(2)]
        try:
            assert begun.wait(30)
            quick = pool.submit(lambda: tokenizer("quick").tokenize("글"))
            assert quick.result(timeout=10) == ("글",)
            assert not any(each.done() for each in warm_up)
        finally:
            let_go.set()
        one, other = (each.result(timeout=30) for each in warm_up)
    assert one is other is tokenizer("slow")
    assert Slow.made == 1
