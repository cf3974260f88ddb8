"""captioning@1: the golden corpus through reader, engine and report, and the rules of several references."""

from __future__ import annotations

import json

import pytest

from scoring.engine import score
from scoring.metrics import MetricOptions
from scoring.reading import read_predictions, read_references
from scoring.recipes import MismatchedFiles, get_recipe, warning_text
from scoring.recipes.captioning import hangul_share
from scoring.records import Item, Items, ScoreReport
from scoring.report import report_as_json, report_from_json
from tests.paths import ROOT

GOLDEN = json.loads((ROOT / "tests/scoring/golden_captioning.json").read_text(encoding="utf-8"))
RECIPE = "captioning-lexical@1"


def references(**texts: tuple[str, ...]) -> Items:
    answers = [Item(item, first, 1, others=tuple(others)) for item, (first, *others) in texts.items()]
    return Items(tuple(answers), "id-object", "0" * 64)


def captions(**texts: str) -> Items:
    return Items(tuple(Item(item, text, 1) for item, text in texts.items()), "id-object", "1" * 64)


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> ScoreReport:
    folder = tmp_path_factory.mktemp("golden")
    table = folder / "synonyms.tsv"
    rows = [
        f"{number}\t{word}\tnoun\tgolden" for number, group in enumerate(GOLDEN["synonym_groups"]) for word in group
    ]
    table.write_text("group\tword\tpos\tsource\n" + "\n".join(rows) + "\n", encoding="utf-8")
    recipe = get_recipe(RECIPE)
    gold = {item["id"]: item["reference"] for item in GOLDEN["items"]}
    given = {item["id"]: item["prediction"] for item in GOLDEN["items"]}
    known = read_references(json.dumps(gold, ensure_ascii=False).encode(), recipe)
    file = read_predictions(json.dumps(given, ensure_ascii=False).encode(), recipe, known)
    return score(RECIPE, known, file, options=MetricOptions(synonyms=table))


@pytest.mark.parametrize(
    ("name", "key"), [("meteor", "meteor_exact"), ("meteor_synonym", "meteor_with_synonyms"), ("cider", "cider_d")]
)
def test_golden_values_of_every_item_and_of_the_corpus(golden: ScoreReport, name: str, key: str) -> None:
    expected = {item["id"]: item[key] for item in GOLDEN["items"]}
    assert {item.id: item.scores[name] for item in golden.items} == pytest.approx(expected, abs=1e-9)
    assert golden.scores[name] == pytest.approx(GOLDEN["corpus"][key], abs=1e-9)


def test_the_final_score_is_meteor_of_the_exact_stage(golden: ScoreReport) -> None:
    assert golden.final_score == golden.scores["meteor"] < golden.scores["meteor_synonym"]


def test_every_column_but_those_of_models_has_a_value(golden: ScoreReport) -> None:
    assert {column.key for column in get_recipe(RECIPE).columns} <= golden.scores.keys()


def test_a_stored_result_holds_what_corpus_metrics_need(golden: ScoreReport) -> None:
    again = report_from_json(report_as_json(golden))
    assert again.items == golden.items
    assert {"bleu", "chrf", "diversity"} <= again.items[0].statistics.keys()


def test_stored_values_and_rows_give_the_same_scores_without_a_metric_running(
    golden: ScoreReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold = {item["id"]: (item["reference"],) for item in GOLDEN["items"]}
    given = {item["id"]: item["prediction"] for item in GOLDEN["items"]}
    first = score(RECIPE, references(**gold), captions(**given))
    recipe = get_recipe(RECIPE)
    known = {
        (metric, signature): {
            item.id: item.scores.get(recipe.score_name(metric), item.statistics.get(metric)) for item in first.items
        }
        for metric, signature in first.metric_signatures.items()
    }
    stored = json.loads(json.dumps([[*key, value] for key, value in known.items()]))  # as a database gives them back

    def forbidden(*_: object) -> None:
        raise AssertionError("everything is known")

    monkeypatch.setattr("scoring.running.run.score_distinct", forbidden)
    monkeypatch.setattr("scoring.metrics.corpus_bleu.CorpusBleu.statistics", forbidden)
    monkeypatch.setattr("scoring.metrics.cider.CiderD.statistics", forbidden)
    second = score(
        RECIPE,
        references(**gold),
        captions(**given),
        known={(metric, signature): values for metric, signature, values in stored},
    )
    assert second == first


def test_the_best_reference_counts_for_meteor_and_all_of_them_for_cider() -> None:
    gold = references(a=("아이가 공을 찬다", "바다 위로 해가 뜬다"), b=("차가 달린다", "버스가 멈춘다"))
    file = captions(a="바다 위로 해가 뜬다", b="버스가 멈춘다")
    both = score(RECIPE, gold, file)
    best = score(RECIPE, references(a=("바다 위로 해가 뜬다",), b=("버스가 멈춘다",)), file)
    assert both.scores["meteor"] == best.scores["meteor"]
    assert both.scores["rouge_l"] == best.scores["rouge_l"] == 1
    assert 0 < both.scores["cider"] < best.scores["cider"]


def test_an_unanswered_item_scores_0_and_is_counted() -> None:
    gold = references(a=("아이가 공을 찬다",), b=("바다 위로 해가 뜬다",))
    report = score(RECIPE, gold, captions(a="아이가 공을 찬다"))
    assert report.items[1].scores["meteor"] == report.items[1].scores["cider"] == 0
    assert report.final_score == report.items[0].scores["meteor"] / 2
    assert report.coverage == {"items": 2, "answered": 1, "missing": 1, "references": 2}
    assert "captions_missing" in [warning.code for warning in report.warnings]


def test_order_of_items_and_of_the_file_changes_nothing() -> None:
    gold = references(a=("아이가 공을 찬다", "공을 차는 아이"), b=("바다 위로 해가 뜬다",), c=("비가 온다",))
    forwards = score(RECIPE, gold, captions(a="아이가 찬다", b="해가 뜬다", c="눈이 온다"))
    backwards = score(RECIPE, gold, captions(c="눈이 온다", b="해가 뜬다", a="아이가 찬다"))
    assert forwards == backwards


def test_a_further_reference_changes_the_signature() -> None:
    file = captions(a="비가 온다")
    one = score(RECIPE, references(a=("비가 온다",)), file)
    two = score(RECIPE, references(a=("비가 온다", "비가 내린다")), file)
    assert one.signature_hash != two.signature_hash


def test_the_synonym_table_is_part_of_the_signature(golden: ScoreReport) -> None:
    gold = {item["id"]: (item["reference"],) for item in GOLDEN["items"]}
    given = {item["id"]: item["prediction"] for item in GOLDEN["items"]}
    built_in = score(RECIPE, references(**gold), captions(**given))
    assert built_in.metric_signatures["meteor_synonym"] != golden.metric_signatures["meteor_synonym"]
    assert built_in.metric_signatures["meteor"] == golden.metric_signatures["meteor"]
    assert built_in.signature_hash != golden.signature_hash


@pytest.mark.parametrize("text", ["", "비", "이가을를", "🌊🌊🌊", "아이가 " * 2500, "가나다라" * 500])
@pytest.mark.parametrize("others", [{}, {"b": "해가 뜬다"}])
def test_strange_captions_give_finite_scores(text: str, others: dict[str, str]) -> None:
    gold = {"a": ("아이가 공을 찬다",), "b": ("해가 뜬다", "해가 떠오른다")}
    known = references(**{item: gold[item] for item in ("a", *others)})
    report = score(RECIPE, known, captions(a=text, **others))  # the engine refuses what is not finite
    assert all(0 <= value <= 10 for value in report.scores.values() if value != report.scores["length_ratio"])


def test_an_id_without_reference_is_refused() -> None:
    with pytest.raises(MismatchedFiles):
        score(RECIPE, references(a=("비가 온다",)), captions(a="비가 온다", z="눈이 온다"))


def test_line_breaks_in_captions_are_told() -> None:
    """konlpy's morphs have one more, so its METEOR differs; with spaces both are the same."""
    from konlpy.tag import Okt as KonlpyOkt

    from scoring.text.okt import okt

    known = references(a=("아이가 공을 찬다",), b=("바다가 푸르다",), c=("산",))
    given = captions(a="아이가 공을\n찬다", b="바다가\t푸르다", c="산 위")
    prepared = get_recipe(RECIPE).prepare(known, given)
    [warning] = prepared.warnings
    assert (warning.code, warning.params) == ("line_breaks", {"count": 2})
    assert "설명 2개에 줄바꿈이나 탭" in warning_text(warning)
    assert warning_text(warning, "en").startswith("Captions with a line break or tab: 2.")

    konlpy = KonlpyOkt()
    assert konlpy.morphs("아이가 공을\n찬다") == ["아이", "가", "공", "을", "\n", "찬다"]
    assert list(okt().morphs("아이가 공을\n찬다")) == konlpy.morphs("아이가 공을 찬다")


def warned(gold: Items | None, given: Items | None) -> list[str]:
    return [warning.code for warning in get_recipe(RECIPE).file_warnings(gold, given)]


@pytest.mark.parametrize(
    ("gold", "given", "codes"),
    [
        ("파도가 친다", "파도가 친다", []),
        ("waves at the shore", "파도가 친다", ["references_not_korean"]),
        ("파도가 친다", "waves at the shore", ["captions_not_korean"]),
        ("waves", "waves at the shore", ["references_not_korean", "captions_not_korean"]),
        ("12 34", "", []),
        ("😀", "TV 앞에서 iPhone으로 YouTube를 본다", []),
    ],
)
def test_each_side_that_is_not_korean_is_named(gold: str, given: str, codes: list[str]) -> None:
    known, file = references(a=(gold, gold)), captions(a=given)
    assert warned(known, file) == codes
    assert warned(None, file) == [code for code in codes if code.startswith("captions")]
    assert warned(known, None) == [code for code in codes if code.startswith("references")]
    prepared = get_recipe(RECIPE).prepare(known, file).warnings
    assert [warning.code for warning in prepared if warning.code.endswith("korean")] == codes


def test_a_text_without_letters_is_no_foreign_one() -> None:
    assert hangul_share(["123 !?", ""]) == 1
    assert warned(None, captions(a="123 !?")) == []


@pytest.mark.parametrize(("hangul", "is_warned"), [(0, True), (1, True), (9, True), (10, False), (100, False)])
def test_less_than_a_tenth_of_hangul_is_warned_of(hangul: int, is_warned: bool) -> None:
    text = "가" * hangul + "a" * (100 - hangul) + " 123 !? 😀 _"
    assert hangul_share([text]) == hangul / 100
    assert (warned(None, captions(a=text)) == ["captions_not_korean"]) is is_warned
    for warning in get_recipe(RECIPE).file_warnings(references(a=(text,)), captions(a=text)):
        assert f"{hangul:.1f}%" in warning_text(warning, "ko")
        assert f"{hangul:.1f}%" in warning_text(warning, "en")


def test_every_text_of_a_file_counts_once() -> None:
    assert hangul_share(["가나", "ab", "ㅋㅋ ab"]) == 0.5
