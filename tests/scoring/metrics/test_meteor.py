"""METEOR equals NLTK's and the golden values; meteor_ko looks through inflection, particles and order of search."""

import json
import math
import random
import re
import time

import pytest

from scoring.matching.alignment import greedy_alignment, optimal_alignment
from scoring.matching.synonyms import InvalidSynonyms, load_synonyms
from scoring.metrics import MetricOptions, load_metric
from scoring.metrics.meteor import Meteor, MeteorKo, MeteorSynonym, exact_meteor, meteor
from scoring.text.okt import okt
from tests.paths import ROOT
from tests.scoring.taggers import FakeTagger, nltk_meteor

GOLDEN = json.loads((ROOT / "tests/scoring/golden_captioning.json").read_text(encoding="utf-8"))
NAMES = ("meteor", "meteor_synonym", "meteor_ko")
GROUPS = [["파도", "물결"], ["바다", "해양", "대양"], ["푸른", "파란"], ["물결", "웨이브"], ["길", "거리", "도로"]]
POOL = re.findall(
    r"\S+",
    """
    파도 물결 바다 해양 대양 푸른 파란 웨이브 길 거리 도로 하얀 사람 들 걷고 있다 이 가 이 가 을 를 에 에서 하늘 구름
    도시 자전거 타고 있다 wave Wave BMX bmx
    """,
)


def same_token(token):
    """The exact stage for tokens that are plain strings."""
    return (token.lower(),)


def write_table(folder, groups):
    path = folder / "synonyms.tsv"
    rows = [f"g{number}\t{word}\tnoun\ttest" for number, group in enumerate(groups) for word in group]
    path.write_text("\n".join(["group\tword\tpos\tsource", *rows]) + "\n", encoding="utf-8")
    return path


def score(name, reference, candidate):
    return load_metric(name).score_pairs([reference], [candidate])[0]


def random_item(source):
    """One to three references and a candidate that reuses, shuffles, repeats and replaces their words."""
    references = [[source.choice(POOL) for _ in range(source.randint(1, 18))] for _ in range(source.randint(1, 3))]
    words = source.choice(references)[:]
    cut = source.randint(0, len(words))
    candidate = source.choice([words[cut:] + words[:cut], source.sample(words, len(words)), words + words[:cut], []])
    candidate = [source.choice(synonyms(word)) for word in candidate]
    return references, [*candidate, *(source.choice(POOL) for _ in range(source.randint(0, 4)))]


def synonyms(word):
    return [word, *(other for group in GROUPS if word in group for other in group)]


@pytest.mark.parametrize(("name", "key"), [("meteor", "meteor_exact"), ("meteor_synonym", "meteor_with_synonyms")])
def test_golden_values_of_every_item_and_of_the_mean(name, key, tmp_path):
    options = MetricOptions(synonyms=write_table(tmp_path, GOLDEN["synonym_groups"]))
    items = GOLDEN["items"]
    references, candidates = [item["reference"] for item in items], [item["prediction"] for item in items]
    values = load_metric(name, None, options).score_pairs(references, candidates)
    assert values == pytest.approx([item[key] for item in items], abs=1e-9)
    assert math.fsum(values) / len(values) == pytest.approx(GOLDEN["corpus"][key], abs=1e-9)


def test_golden_tokens_are_those_of_okt():
    for item in GOLDEN["items"]:
        assert list(okt().morphs(item["reference"])) == item["reference_tokens"]
        assert list(okt().morphs(item["prediction"])) == item["prediction_tokens"]


def test_nltk_agrees_on_300_random_items_of_several_references(tmp_path):
    source = random.Random(20261121)
    exact, tagged = Meteor().value, FakeTagger()
    synonym = MeteorSynonym(None, MetricOptions(synonyms=write_table(tmp_path, GROUPS))).value
    differ = 0
    for _ in range(300):
        references, candidate = random_item(source)
        text = tagged(" ".join(candidate))
        plain = max(exact(reference, candidate) for reference in references)
        best = max(synonym(tagged(" ".join(reference)), text) for reference in references)
        assert plain == pytest.approx(nltk_meteor(references, candidate), abs=1e-12)
        assert best == pytest.approx(nltk_meteor(references, candidate, GROUPS), abs=1e-12)
        differ += plain != best
    assert differ > 100


def test_a_perfect_match_of_eight_morphs_is_not_one():
    text = "강변을 따라 벚꽃이 활짝 피어 있다"
    assert len(okt().morphs(text)) == 8
    for name in ("meteor", "meteor_synonym"):
        assert score(name, text, text) == 0.9990234375


def test_latin_case_does_not_count_as_in_nltk():
    assert (
        score("meteor", "TV를 보는 사람", "tv를 보는 사람") == score("meteor", "TV를 보는 사람", "TV를 보는 사람") > 0.9
    )
    assert nltk_meteor([["TV", "사람"]], ["tv", "사람"]) == meteor(["TV", "사람"], ["tv", "사람"], [same_token])


def test_exact_meteor_is_meteor_with_the_exact_stage_to_the_last_digit():
    source = random.Random(8)
    for _ in range(300):
        (reference, *_), candidate = random_item(source)
        assert exact_meteor(reference, candidate) == meteor(reference, candidate, [same_token])


def test_who_looks_for_synonyms_needs_the_table():
    assert [each.needs_synonyms for each in (Meteor, MeteorKo, MeteorSynonym)] == [False, True, True]


def test_parameters_are_the_formulas():
    reference, candidate = list("가나다라"), list("가나마")
    recall, precision = 2 / 4, 2 / 3
    f_mean = precision * recall / (0.5 * precision + 0.5 * recall)
    found = meteor(reference, candidate, [same_token], alpha=0.5, beta=2, gamma=0.4)
    assert found == pytest.approx(f_mean * (1 - 0.4 * (1 / 2) ** 2), abs=1e-15)


EDGES = ["", " ", "바다", "이 가 을 를 은 는", "😀🌊😀", "ㅋㅋ", "...", "\n", "바" * 300]


@pytest.mark.parametrize("name", NAMES)
def test_every_edge_case_has_a_value_between_zero_and_one(name):
    metric = load_metric(name)
    for reference in EDGES:
        values = metric.score_pairs([reference] * len(EDGES), EDGES)
        assert all(0 <= value <= 1 for value in values)
    assert metric.score_pairs([], []) == []
    assert metric.score_pairs(["", "바다", ""], ["", "", "바다"]) == [0.0, 0.0, 0.0]
    assert metric.score_pairs(["바다"], ["바다"]) == [0.5]  # one match is one chunk: the full penalty


def test_emoji_count_as_tokens():
    for name in NAMES:
        assert score(name, "😀 바다", "😀") > 0


def test_a_caption_of_particles_alone_scores_zero_in_meteor_ko():
    reference = "이 사람은 바다를 보고 그를 부르는 나를 본다"
    particles = " ".join(morph for morph, pos, _ in okt().tokenize(reference) if pos == "Josa")
    tagged = FakeTagger(dict.fromkeys(("은", "를", "는"), ("Josa", "은")))
    assert MeteorKo().value(tagged("사람 은 바다 를"), tagged("은 를 는")) == 0.0
    assert score("meteor", reference, particles) > 0


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("파도가 친다", "물결이 친다"),
        ("푸른 바다", "파란 바다"),
        ("푸른 하늘 아래 파도가 부서진다", "파란 하늘 아래 물결이 부서지며"),
        ("아이들이 거리를 걷는다", "어린이들이 길에서 걷고"),
        ("하얀 구름", "흰 구름"),
        ("추운 바다", "춥고 바다"),
    ],
)
def test_meteor_ko_matches_what_a_reader_would(reference, candidate):
    assert score("meteor_ko", reference, candidate) == score("meteor_ko", reference, reference) > 0.9
    assert score("meteor", reference, candidate) < score("meteor", reference, reference)


def test_particles_do_not_matter_to_meteor_ko():
    reference = "아이가 공원에서 자전거를 탄다"
    for candidate in ("아이는 공원에서 자전거를 탄다", "아이도 공원에 자전거를 탄다"):
        assert score("meteor_ko", reference, candidate) == score("meteor_ko", reference, reference)
        assert score("meteor", reference, candidate) < score("meteor", reference, reference)


def test_order_still_matters_to_meteor_ko():
    reference = "남자가 개를 안고 여자가 고양이를 본다"
    swapped = "여자가 개를 안고 남자가 고양이를 본다"
    assert score("meteor_ko", reference, swapped) < score("meteor_ko", reference, reference)


def test_synonyms_are_looked_up_as_they_stand_and_only_then_by_lemma(tmp_path):
    tagged = FakeTagger({"파란": ("Adjective", "파랗다"), "푸르게": ("Adjective", "푸르다")})
    blue, green, red = tagged("파란 바다"), tagged("푸르게 바다"), tagged("붉게 바다")
    by_lemma = MeteorSynonym(None, MetricOptions(synonyms=write_table(tmp_path, [["파랗다", "푸르다"]])))
    assert by_lemma.value(blue, green) > by_lemma.value(blue, red)
    table = write_table(tmp_path, [["파랗다", "푸르다"], ["파란", "시퍼런"]])
    as_it_stands = MeteorSynonym(None, MetricOptions(synonyms=table))
    assert as_it_stands.value(blue, green) == as_it_stands.value(blue, red)


# reference, candidate, chunks of NLTK's alignment: it takes the later of two equal particles, away from their nouns.
SCATTERED = [
    ("남자가 기타를 치고 여자가 노래를 부른다", "남자가 기타를 친다", 4, 1),
    ("산 위에 구름이 있고 산 아래에 마을이 있다", "산 위에 구름이 있다", 5, 2),
    ("공원에서 아이들이 놀고 벤치에서 노인들이 쉬고 있다", "공원에서 아이들이 뛰어놀고 있다", 5, 2),
]


@pytest.mark.parametrize(("reference", "candidate", "greedy_chunks", "optimal_chunks"), SCATTERED)
def test_greedy_alignment_scores_lower_where_it_scatters(reference, candidate, greedy_chunks, optimal_chunks):
    tokens = okt().morphs(reference), okt().morphs(candidate)
    greedy, optimal = greedy_alignment(*tokens, [same_token]), optimal_alignment(*tokens, [same_token])
    assert len(greedy.matches) == len(optimal.matches)
    assert (greedy.chunks, optimal.chunks) == (greedy_chunks, optimal_chunks)
    assert optimal.proven
    assert meteor(*tokens, [same_token]) < meteor(*tokens, [same_token], alignment="optimal") - 0.1


@pytest.mark.parametrize("name", NAMES)
def test_5000_morphs_against_5000_take_bounded_time(name):
    source = random.Random(1)
    words = re.findall(
        r"\S+", "푸른 바다가 하늘과 파도를 거리에서 아이들이 걷고 있다 자전거를 타고 도시의 하얀 구름이 물결에"
    )
    reference, candidate = (" ".join(source.choices(words, k=3200)) for _ in range(2))
    assert all(len(okt().tokenize(text)) >= 5000 for text in (reference, candidate))
    metric = load_metric(name)
    start = time.process_time()
    value = metric.score_pairs([reference], [candidate])[0]
    assert time.process_time() - start < 20  # meteor_ko, the slowest: about 1 s
    assert 0 < value < 1


def test_signature_names_rule_stages_table_and_alignment(tmp_path):
    exact, synonym, ko = (load_metric(name).signature() for name in NAMES)
    assert (exact["rule"], synonym["rule"], ko["rule"]) == ("nltk-meteor@1", "nltk-meteor-synonym@1", "meteor-ko@1")
    assert [part["metric"] for part in (exact, synonym, ko)] == list(NAMES)
    assert all(part["tokenizer"]["name"] == "okt" for part in (exact, synonym, ko))
    assert synonym["synonyms"] == ko["synonyms"] == load_synonyms().signature()
    assert ko["alignment"]["name"] == "optimal"
    other = load_metric("meteor_ko", None, MetricOptions(synonyms=write_table(tmp_path, GROUPS))).signature()
    assert other["synonyms"]["groups"] == len(GROUPS)
    assert other["synonyms"]["sha256"] != ko["synonyms"]["sha256"]
    json.dumps([exact, synonym, ko])


def test_a_malformed_table_stops_the_metric_before_any_pair(tmp_path):
    path = tmp_path / "s.tsv"
    path.write_text("a\t바다\tnoun\n", encoding="utf-8")
    with pytest.raises(InvalidSynonyms, match="1번째 줄"):
        load_metric("meteor_synonym", None, MetricOptions(synonyms=path))


def test_progress_counts_pairs_and_sides_must_be_aligned():
    calls = []
    metric = load_metric("meteor")
    metric.score_pairs(["책", "책"], ["책", "밤"], lambda done, total: calls.append((done, total)))
    assert calls == [(1, 2), (2, 2)]
    with pytest.raises(ValueError, match="zip"):
        metric.score_pairs(["책"], [])
