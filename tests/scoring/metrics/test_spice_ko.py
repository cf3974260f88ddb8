"""Tuples of objects, attributes and relations: what the rules read off tags."""

import time

import pytest

from scoring.metrics.spice_ko import SpiceKo, is_adnominal, role_of, tuple_f1, tuples_of

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
    [
        ("가", "이"),
        ("는", "이"),
        ("를", "을"),
        ("으로", "로"),
        ("에서는", "에서"),
        ("에도", "에"),
        ("이나", "이나"),
        ("도", "도"),
    ],
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


def nouns(text):
    return tags(*((word, N) for word in text.split()))


def test_the_metric_scores_with_the_tagger_it_is_given():
    done = []
    values = SpiceKo().score_pairs(
        ["가 나", "가"], ["가 나", "나"], lambda count, total: done.append((count, total)), tokenize=nouns
    )
    assert values == [1.0, 0.0]
    assert done == [(1, 2), (2, 2)]


def test_experimental_it_says_of_itself():
    assert SpiceKo().parameters() == {"is_experimental": True}


# --- what waits, and what it waits for --------------------------------------------------------------------------------
CHILD = (("아이", N), ("가", J))


def test_of_a_run_of_nouns_each_describes_the_last():
    assert tuples_of(tags(("한옥", N), ("마을", N), ("골목", N))) == {
        ("한옥",), ("마을",), ("골목",), ("한옥", "골목"), ("마을", "골목"),
    }  # fmt: skip
    assert tuples_of(tags(("줄", N), ("줄", N))) == {("줄",)}


@pytest.mark.parametrize("between", [("한", "Determiner"), ("그", "Determiner"), ("3", "Number")])
def test_an_article_or_a_number_begins_another_noun(between):
    described = set() if between[0] == "한" else {(between[0], "남자")}
    assert tuples_of(tags(("아이", N), between, ("남자", N))) == {("아이",), ("남자",)} | described


def test_the_clause_is_whole_only_if_the_scene_follows_directly():
    """In 웃는 그 장면 the verb describes the scene, as it does any other noun."""
    laughing = (*CHILD, ("웃는", V, "웃다"))
    assert tuples_of(tags(*laughing, ("장면", N))) == {("아이",), ("장면",), ("아이", "이", "웃다")}
    assert ("웃다", "장면") in tuples_of(tags(*laughing, ("그", "Determiner"), ("장면", N)))
    assert ("웃다", "장면") in tuples_of(tags(*laughing, ("한", "Determiner"), ("장면", N)))


def test_a_clause_takes_its_arguments_with_it():
    reads_and_runs = tags(*CHILD, ("책", N), ("을", J), ("읽고", V, "읽다"), ("뛴다", V, "뛰다"))
    assert tuples_of(reads_and_runs) == {
        ("아이",), ("책",), ("아이", "이", "읽다"), ("책", "을", "읽다"), ("아이", "이", "뛰다"),
    }  # fmt: skip


def test_a_relative_clause_takes_the_nearest_noun_of_a_role_and_leaves_the_others():
    """우산을 모자를 쓴 개가 든다, and 우산을 든 빨간 개: what was taken is gone, what was not still waits."""
    two = tags(
        ("우산", N), ("을", J), ("모자", N), ("를", J), ("쓴", V, "쓰다"), ("개", N), ("가", J), ("든다", V, "들다")
    )
    assert tuples_of(two) == {
        ("우산",), ("모자",), ("개",), ("모자", "을", "쓰다"), ("쓰다", "개"),
        ("개", "이", "들다"), ("우산", "을", "들다"),
    }  # fmt: skip
    one = tags(("우산", N), ("을", J), ("든", V, "들다"), ("빨간", A, "빨갛다"), ("개", N))
    assert {("우산", "을", "들다"), ("빨갛다", "개")} <= tuples_of(one)


def test_a_noun_without_particle_belongs_to_the_verb_after_it():
    running = tags(("아이", N), ("뛰는", V, "뛰다"), ("개", N))
    assert tuples_of(running) == {("아이",), ("개",), ("아이", "", "뛰다"), ("뛰다", "개")}


def test_there_is_is_a_verb_where_none_is_open():
    book = tags(("책", N), ("이", J), ("있다", A, "있다"))
    assert tuples_of(book) == {("책",), ("책", "이", "있다")}


def test_to_do_is_a_verb_of_its_own_without_what_is_done():
    assert tuples_of(tags(*CHILD, ("한다", V, "하다"))) == {("아이",), ("아이", "이", "하다")}
    assert tuples_of(tags(("을", J), ("한다", V, "하다"))) == set()


def test_han_after_its_noun_is_a_verb():
    strolling = tags(("산책", N), ("한", V, "하다"), ("남자", N))
    assert tuples_of(strolling) == {("산책",), ("남자",), ("산책하다", "남자")}


def test_adverbs_are_skipped_and_end_nothing():
    expected = {("아이",), ("아이", "이", "웃다")}
    for adverb in (("예쁘게", A, "예쁘다"), ("빨리", "Adverb")):
        assert tuples_of(tags(*CHILD, adverb, ("웃는다", V, "웃다"))) == expected
    assert ("아이", "이", "먹다") in tuples_of(tags(*CHILD, ("먹게", V, "먹다"), ("둔다", V, "두다")))


@pytest.mark.parametrize("end", [".", "...", "?!", "…"])
def test_a_sentence_ends_however_often_its_mark_is_written(end):
    found = tuples_of(tags(*CHILD, (end, "Punctuation"), ("뛴다", V, "뛰다")))
    assert found == {("아이",)}
