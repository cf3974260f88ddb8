"""Targets: what is published for captions, in two languages, and by how much a score differs."""

import pytest

from scoring.metrics.cider import cider_d
from scoring.recipes import RECIPES, get_recipe
from scoring.recipes.targets import LARGEST, Target, change_percent, published_sets, published_targets


def test_only_captions_have_published_targets():
    baseline, *goals = published_targets(get_recipe("captioning@1"))

    assert (baseline.kind, baseline.value, baseline.is_comparable) == ("baseline", 0.3052, False)
    assert [(each.kind, each.value, each.is_comparable) for each in goals] == [
        ("milestone", value, True) for value in (0.336, 0.366, 0.40)
    ]
    assert published_targets(get_recipe("rag-qa@1")) == ()


def test_cider_and_bertscore_have_milestones_where_a_recipe_shows_them():
    def milestones(recipe):
        return {score: [t.value for t in targets] for score, targets in published_sets(get_recipe(recipe)).items()}

    beside = {"cider": [0.80, 1.00, 1.20], "bertscore": [0.75, 0.80, 0.85]}
    meteor = {"final_score": [0.3052, 0.336, 0.366, 0.40]}
    assert milestones("captioning@1") == milestones("captioning-rich@1") == meteor | beside
    assert milestones("captioning-lexical@1") == meteor | {"cider": beside["cider"]}
    assert milestones("rag-qa@1") == {}
    for score in beside:
        assert {(t.kind, t.score) for t in published_targets(get_recipe("captioning@1"), score)} == {
            ("milestone", score)
        }
    assert published_targets(get_recipe("captioning@1"), "chrf") == ()


def test_what_must_be_known_of_a_published_target_is_said_in_both_languages():
    sets = [targets for recipe in RECIPES.values() for targets in published_sets(recipe).values()]
    published = {target for targets in sets for target in targets}
    assert any(not target.is_comparable for target in published)
    for target in published:
        assert "" not in (target.label_ko, target.label_en)
        assert target.label("ko") != target.label("en")
        if not target.is_comparable:
            assert "" not in (target.note_ko, target.note_en)
            assert target.note("ko") != target.note("en")


def test_texts_are_korean_where_there_is_no_english():
    both = Target("baseline", 0.3, "기준선", "Baseline", note_ko="설명", note_en="Note")
    korean = Target("baseline", 0.3, "기준선", "", note_ko="설명")

    assert [both.label(), both.label("en"), both.note(), both.note("en")] == ["기준선", "Baseline", "설명", "Note"]
    assert [korean.label(), korean.label("en"), korean.note("en")] == ["기준선", "기준선", "설명"]


@pytest.mark.parametrize(("score", "percent"), [(0.5, 25.0), (0.4, 0.0), (0.2, -50.0)])
def test_a_change_is_in_percent_of_the_baseline(score, percent):
    assert change_percent(score, 0.4) == pytest.approx(percent)


def test_no_target_is_larger_than_the_best_cider():
    tokens = [["강", "가", "에", "배", "한", "척"], ["눈", "덮인", "산", "을", "오르", "는", "사람"]]
    assert cider_d([[each] for each in tokens], tokens) == pytest.approx([LARGEST, LARGEST])
