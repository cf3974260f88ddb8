"""Tuples of objects, attributes and relations: what the rules read off tags, and what their F1 sees and what not."""

import json
import math
import time

import pytest

from scoring.metrics import load_metric
from scoring.metrics.spice_ko import SpiceKo, is_adnominal, role_of, tuple_f1, tuples_of
from scoring.text.okt import okt

N, J, V, A = "Noun", "Josa", "Verb", "Adjective"


def tags(*morphs):
    """(surface, tag[, lemma]) to what an analyser gives."""
    return [(morph[0], morph[1], morph[-1] if len(morph) > 2 else morph[0]) for morph in morphs]


CAT_CHASES_DOG = tags(("고양이", N), ("가", J), ("개", N), ("를", J), ("쫓는다", V, "쫓다"))


def test_objects_and_relations_of_a_simple_sentence():
    assert tuples_of(CAT_CHASES_DOG) == {("고양이",), ("개",), ("고양이", "이", "쫓다"), ("개", "을", "쫓다")}


def test_an_adnominal_adjective_describes_the_noun_after_it_and_no_other():
    red = tags(("빨간", A, "빨갛다"), ("우산", N), ("과", J), ("개", N))
    assert ("빨갛다", "우산") in tuples_of(red)
    assert ("빨갛다", "개") not in tuples_of(red)


def test_a_relative_clause_takes_its_object_and_leaves_the_subject_to_the_main_verb():
    """아이가 우산을 든 개를 본다"""
    sentence = tags(
        ("아이", N), ("가", J), ("우산", N), ("을", J), ("든", V, "들다"), ("개", N), ("를", J), ("본다", V, "보다")
    )
    found = tuples_of(sentence)
    assert {("우산", "을", "들다"), ("들다", "개"), ("아이", "이", "보다"), ("개", "을", "보다")} <= found
    assert ("아이", "이", "들다") not in found


def test_a_following_clause_inherits_the_subject_unless_it_has_one():
    eats = [("먹고", V, "먹다")]
    inherits = tuples_of(tags(("아이", N), ("가", J), *eats, ("뛰어갔다", V, "뛰어가다")))
    own = tuples_of(tags(("아이", N), ("가", J), *eats, ("개", N), ("가", J), ("뛰어갔다", V, "뛰어가다")))
    assert ("아이", "이", "뛰어가다") in inherits
    assert ("개", "이", "뛰어가다") in own
    assert ("아이", "이", "뛰어가다") not in own


def test_a_sentence_does_not_inherit_from_the_one_before():
    found = tuples_of(tags(("아이", N), ("가", J), ("먹는다", V, "먹다"), (".", "Punctuation"), ("뛴다", V, "뛰다")))
    assert found == {("아이",), ("아이", "이", "먹다")}


def test_an_auxiliary_belongs_to_the_verb_before_it():
    walking = tags(("아이", N), ("가", J), ("걷고", V, "걷다"), ("있다", A, "있다"))
    assert tuples_of(walking) == {("아이",), ("아이", "이", "걷다")}
    walking_child = tags(("걷고", V, "걷다"), ("있는", A, "있다"), ("아이", N))
    assert tuples_of(walking_child) == {("아이",), ("걷다", "아이")}


def test_a_noun_with_hada_is_a_verb_with_or_without_particle():
    one = tags(("남자", N), ("가", J), ("산책", N), ("을", J), ("한다", V, "하다"))
    other = tags(("남자", N), ("가", J), ("산책", N), ("한다", V, "하다"))
    assert tuples_of(one) == tuples_of(other) == {("남자",), ("산책",), ("남자", "이", "산책하다")}


def test_hago_before_an_auxiliary_is_no_particle():
    """Okt reads 산책하고 있다 as a noun with the particle 하고 (with); 친구하고 is one."""
    strolling = tags(("남자", N), ("가", J), ("산책", N), ("하고", J), ("있다", A, "있다"))
    assert tuples_of(strolling) == {("남자",), ("산책",), ("남자", "이", "산책하다")}
    assert ("친구", "와", "먹다") in tuples_of(tags(("친구", N), ("하고", J), ("먹는다", V, "먹다")))


def test_the_article_han_is_nothing():
    assert tuples_of(tags(("한", V, "하다"), ("남자", N))) == tuples_of(tags(("한", "Determiner"), ("남자", N)))
    assert tuples_of(tags(("한", V, "하다"), ("남자", N))) == {("남자",)}
    sees_a_dog = tags(("아이", N), ("가", J), ("한", V, "하다"), ("개", N), ("를", J), ("본다", V, "보다"))
    assert tuples_of(sees_a_dog) == {("아이",), ("개",), ("아이", "이", "보다"), ("개", "을", "보다")}


def test_han_after_its_object_is_a_verb():
    assert ("산책하다", "남자") in tuples_of(tags(("산책", N), ("을", J), ("한", V, "하다"), ("남자", N)))


def test_numbers_nouns_and_genitives_are_attributes():
    assert ("3", "명") in tuples_of(tags(("3", "Number"), ("명", N)))
    assert ("기와", "지붕") in tuples_of(tags(("기와", N), ("지붕", N)))
    assert ("고양이", "꼬리") in tuples_of(tags(("고양이", N), ("의", J), ("꼬리", N)))


def test_a_clause_before_moseup_is_whole():
    """여자가 웃는 모습 is a picture of her laughing, not a sight that laughs."""
    found = tuples_of(tags(("여자", N), ("가", J), ("웃는", V, "웃다"), ("모습", N)))
    assert ("여자", "이", "웃다") in found
    assert ("웃다", "모습") not in found


@pytest.mark.parametrize(
    ("particle", "role"),
    [("가", "이"), ("는", "이"), ("를", "을"), ("으로", "로"), ("에서는", "에서"), ("에도", "에"), ("이나", "이나")],
)
def test_particles_of_one_role_are_one(particle, role):
    assert role_of(particle) == role


@pytest.mark.parametrize("particle", ["이다", "입니다", "이며"])
def test_the_copula_gives_no_role(particle):
    assert role_of(particle) is None


def test_adnominal_forms_end_in_nieun_or_rieul():
    assert not [form for form in ("쓴", "쓰는", "쓸", "빨간", "쓰던") if not is_adnominal(form)]
    assert not [form for form in ("쓰면", "쓰지만", "쓴다", "쓰고", "ok", "ㄴ", "😀") if is_adnominal(form)]


def test_f1_of_tuple_sets():
    assert tuple_f1({("가",), ("나",)}, {("가",), ("나",)}) == 1.0
    assert tuple_f1({("가",), ("나",)}, {("가",)}) == pytest.approx(2 / 3)
    assert tuple_f1({("가",)}, {("나",)}) == tuple_f1(set(), set()) == tuple_f1(set(), {("가",)}) == 0.0


def okt_score(reference, candidate):
    return load_metric("spice_ko").score_pairs([reference], [candidate])[0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("관광객들이 한옥 마을을 걷는다", "한옥 마을을 관광객들이 걷는다"),
        ("아이가 빨간 우산을 쓴다", "빨간 우산을 아이가 쓴다"),
        ("남자가 공원에서 산책을 하고 있다.", "공원에서 남자가 산책하고 있습니다."),
    ],
)
def test_word_order_and_style_change_nothing(one, other):
    assert okt_score(one, other) == okt_score(other, one) == 1.0


@pytest.mark.parametrize(
    ("reference", "swapped", "at_most"),
    [
        ("고양이가 개를 쫓는다", "개가 고양이를 쫓는다", 0.5),
        ("빨간 우산을 쓴 아이", "파란 우산을 쓴 아이", 0.9),
        ("하얀 옷을 입은 사람이 노란 꽃을 본다", "노란 옷을 입은 사람이 하얀 꽃을 본다", 0.8),
        ("아이가 우산을 쓴 개를 본다", "개가 우산을 쓴 아이를 본다", 0.7),
    ],
)
def test_swapping_who_does_what_or_which_is_which_lowers_the_score(reference, swapped, at_most):
    assert okt_score(reference, reference) == 1.0
    assert 0 < okt_score(reference, swapped) <= at_most


def test_negation_is_not_seen():
    """A limit of the metric, held here so that nobody believes otherwise."""
    assert okt_score("사람이 음식을 먹는다", "사람이 음식을 먹지 않는다") == 1.0


@pytest.mark.parametrize("candidate", ["", " ", "은 는 이 가", "😀😀", "ㅋㅋㅋ", "책", ".", "\n", "abc 123"])
def test_strange_texts_have_a_finite_score(candidate):
    for reference in ("아이가 책을 읽는다", candidate):
        assert 0.0 <= okt_score(reference, candidate) <= 1.0


@pytest.mark.parametrize(
    "unit",
    [
        [("책", N)],
        [("책", N), ("이", J)],
        [("책", N), ("이", J), ("읽고", V, "읽다")],
        [("책", N), ("을", J), ("읽은", V, "읽다")],
        [("이", "Determiner")],
        [("읽은", V, "읽다")],
    ],
)
def test_time_grows_with_the_length_only(unit):
    tagged = [tag for number in range(50_000 // len(unit)) for tag in tags(*numbered(unit, number))]
    started = time.process_time()
    found = tuples_of(tagged)
    assert time.process_time() - started < 5
    assert len(found) <= 3 * 50_000


def numbered(unit, number):
    """Every noun another one, so that nothing is saved by being equal."""
    return [(f"{morph[0]}{number}", *morph[1:]) if morph[1] == N else morph for morph in unit]


def test_five_thousand_tokens_are_scored():
    text = "아이가 빨간 우산을 쓰고 공원을 걷는다. " * 500
    value = okt_score(text, text)
    assert math.isclose(value, 1.0)


def nouns(text):
    return tags(*((word, N) for word in text.split()))


def test_the_metric_scores_with_the_tagger_it_is_given():
    done = []
    values = SpiceKo().score_pairs(
        ["가 나", "가"], ["가 나", "나"], lambda count, total: done.append((count, total)), tokenize=nouns
    )
    assert values == [1.0, 0.0]
    assert done == [(1, 2), (2, 2)]


def test_the_signature_says_that_it_is_experimental_and_not_spice():
    signature = json.loads(json.dumps(SpiceKo().signature()))
    assert signature == {
        "metric": "spice_ko",
        "rule": "spice-ko@1",
        "is_experimental": True,
        "tokenizer": okt().signature(),
    }
