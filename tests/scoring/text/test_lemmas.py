"""Morph, part of speech and lemma stay aligned, and Okt's known slips are set right."""

import random
import re

import pytest

from scoring.text.lemmas import LEMMA_OF, Morph, morphs_of, without_josa
from scoring.text.okt import okt
from tests.scoring.taggers import FakeTagger
from tests.scoring.texts import random_pairs

PARTICLES = tuple("이가을를은는에의도")
WORDS = tuple(
    re.findall(
        r"\S+",
        """
        푸른 하얀 맑은 높은 바다 파도 하늘 산 도시 거리 아이 사람 자전거 공원 부서지며 밀려온다 걷고 있다 반짝인다
        뛰어놀고 아름다운 ㅋㅋ 3/4 and/or 😀 . / 2026년 걸어다니고 좋아욬
        """,
    )
)


def random_sentence(source):
    words = [source.choice(WORDS) + source.choice(["", *PARTICLES]) for _ in range(source.randint(0, 15))]
    return source.choice([" ", "", "/", "\n"]).join(words)


def test_okt_gives_as_many_tags_as_morphs_in_the_same_order():
    source = random.Random(1)
    texts = [random_sentence(source) for _ in range(300)] + [text for pair in random_pairs(50) for text in pair]
    for text in texts:
        tagged = okt().tokenize(text)
        assert tuple(morph for morph, _, _ in tagged) == okt().morphs(text)
        for morph, pos, lemma in tagged:
            assert pos.isalpha()
            assert lemma == morph or pos in ("Verb", "Adjective")


def test_verbs_and_adjectives_have_their_dictionary_form():
    text = "하얀 파도가 부서지며 밀려온다"
    assert okt().tokenize(text) == (
        ("하얀", "Adjective", "하얗다"),
        ("파도", "Noun", "파도"),
        ("가", "Josa", "가"),
        ("부서지며", "Verb", "부서지다"),
        ("밀려온다", "Verb", "밀려오다"),
    )


def test_strange_text_is_tagged_as_it_is_split():
    for text in ("", " \n", "책을\x00읽었다\ud83d", "가/Noun/나", "그는밤새책을읽었대" * 40):
        assert tuple(morph for morph, _, _ in okt().tokenize(text)) == okt().morphs(text)


@pytest.mark.parametrize(
    ("form", "lemma"), [("푸른", "푸르다"), ("파란", "파랗다"), ("추운", "춥다"), ("타고", "타다"), ("썼다", "쓰다")]
)
def test_a_slip_of_okt_is_set_right(form, lemma):
    morphs = [morph for morph in morphs_of(okt().tokenize(form)) if morph.surface == form]
    assert [morph.lemma for morph in morphs] == [lemma]
    assert okt().tokenize(form)[0][2] != lemma


def test_only_slips_are_set_right():
    """A form that Okt reads correctly alone has no place in the table. Some are pieces that only longer words leave."""
    correct = [
        form
        for form, lemma in LEMMA_OF.items()
        if (okt().tokenize(form)[0][0], okt().tokenize(form)[0][2]) == (form, lemma)
    ]
    assert correct == []


def test_particles_are_dropped_by_their_tag_not_by_their_form():
    tagger = FakeTagger({"이": ("Josa", "이"), "하얀": ("Adjective", "하얗다")})
    morphs = morphs_of(tagger("하얀 파도 이 가"))
    assert without_josa(morphs) == (
        Morph("하얀", "Adjective", "하얗다"),
        Morph("파도", "Noun", "파도"),
        Morph("가", "Noun", "가"),
    )
