"""The engine: one report for one submission, however the file is ordered and whatever is known already."""

import json
import math
import random
import subprocess
import sys
import textwrap
import tomllib
from types import SimpleNamespace

import pytest

from scoring import __version__
from scoring.engine import score
from scoring.metrics import METRICS
from scoring.reading import read_references
from scoring.recipes import MismatchedFiles, UnknownRecipe, get_recipe
from scoring.report import report_as_json
from scoring.running import reporter
from scoring.running.run import MetricFault
from tests.paths import ROOT
from tests.scoring import fakes
from tests.scoring.fakes import DEMO_STORE, STORE, FakeNeural
from tests.scoring.texts import GOLDEN, answer_file

REFERENCES = answer_file([(item["id"], item["reference"]) for item in GOLDEN["items"]])
PREDICTIONS = answer_file([(item["id"], item["prediction"]) for item in GOLDEN["items"]])
ANSWERS_ONLY = answer_file([(item["id"], "짜장면") for item in GOLDEN["items"]])


@pytest.fixture(autouse=True)
def _nothing_asked_yet(fake_models, monkeypatch):
    monkeypatch.setattr(FakeNeural, "asked", [])


def golden_report(**options):
    return score("rag-qa@1", REFERENCES, PREDICTIONS, store=STORE, **options)


def test_official_values_of_every_item_and_of_the_corpus():
    report = golden_report()
    assert [item.id for item in report.items] == [item["id"] for item in GOLDEN["items"]]
    for scored, golden in zip(report.items, GOLDEN["items"], strict=True):
        assert scored.scores["exact_match"] == golden["exact_match"]
        if "rouge_1_f" in golden:
            assert scored.scores["rouge_1"] == pytest.approx(golden["rouge_1_f"], abs=1e-9)
        else:
            assert set(scored.scores) == {"exact_match"}
    assert report.scores["exact_match"] == GOLDEN["corpus"]["exact_match"]
    assert report.scores["rouge_1"] == pytest.approx(GOLDEN["corpus"]["rouge_1"], abs=1e-9)
    descriptive = math.fsum(report.scores[metric] for metric in ("bleurt", "bertscore", "rouge_1")) / 3
    assert report.final_score == pytest.approx((0.75 + descriptive) / 2, abs=1e-12)
    assert report.scores["final_score"] == report.final_score
    assert report.coverage["reason_gold"] == 7
    assert report.coverage["reason_answered"] == GOLDEN["corpus"]["n_reason_pairs"]


def test_same_submission_shuffled_gives_the_same_report():
    first = report_as_json(golden_report())
    for seed in range(5):
        rows = [(item["id"], item["prediction"]) for item in GOLDEN["items"]]
        random.Random(seed).shuffle(rows)
        again = score("rag-qa@1", REFERENCES, answer_file(rows), store=STORE)
        assert report_as_json(again) == first


def test_reference_order_orders_the_items_and_nothing_else():
    backwards = answer_file([(item["id"], item["reference"]) for item in reversed(GOLDEN["items"])])
    first, second = golden_report(), score("rag-qa@1", backwards, PREDICTIONS, store=STORE)
    assert second.scores == first.scores
    assert second.items == first.items[::-1]
    assert second.signature_hash == first.signature_hash


def test_identical_pairs_are_scored_once():
    ids = [str(number) for number in range(20)]
    references = answer_file([(item, "가가 옳다. 같은 이유") for item in ids])
    predictions = answer_file([(item, f"가가 옳다. 이유 {int(item) % 2}") for item in ids])
    report = score("rag-qa@1", references, predictions, store=STORE)
    assert len([asked for asked in FakeNeural.asked if asked[0] == "bleurt"]) == 2
    assert len(report.items) == 20
    assert all("bleurt" in item.scores for item in report.items)


def known_from(report, *metrics):
    return {
        (metric, report.metric_signatures[metric]): {
            item.id: item.scores[METRICS[metric].score_names[0]]
            for item in report.items
            if METRICS[metric].score_names[0] in item.scores
        }
        for metric in metrics
    }


def test_known_values_are_taken_and_their_metric_is_not_run():
    first = golden_report()
    FakeNeural.asked.clear()
    again = golden_report(known=known_from(first, "bleurt", "exact_match"))
    assert report_as_json(again) == report_as_json(first)
    assert {asked[0] for asked in FakeNeural.asked} == {"bertscore"}


def test_only_items_without_a_known_value_are_scored():
    first = golden_report()
    known = known_from(first, "bleurt", "bertscore")
    del known["bleurt", first.metric_signatures["bleurt"]]["g-1"]
    FakeNeural.asked.clear()
    assert golden_report(known=known).scores == first.scores
    assert [asked[0] for asked in FakeNeural.asked] == ["bleurt"]


def test_known_values_of_another_metric_signature_are_not_used(monkeypatch):
    first = golden_report()
    monkeypatch.setattr(FakeNeural, "version", 2)
    FakeNeural.asked.clear()
    again = golden_report(known=known_from(first, "bleurt", "bertscore"))
    assert len(FakeNeural.asked) == 10
    assert again.signature_hash != first.signature_hash


def test_known_values_serve_the_strict_recipe_too():
    first = golden_report()
    FakeNeural.asked.clear()
    known = known_from(first, "bleurt", "bertscore", "rouge1_mecab", "exact_match")
    strict = score("rag-qa-strict@1", REFERENCES, PREDICTIONS, store=STORE, known=known)
    assert FakeNeural.asked == []
    assert strict.scores["bleurt"] == pytest.approx(first.scores["bleurt"] * 5 / 7)
    assert {item.id: item.scores["bleurt"] for item in strict.items if item.scores.get("bleurt") == 0} == {
        "g-5": 0.0,
        "g-6": 0.0,
    }


def test_strict_zeros_in_known_values_do_not_reach_the_official_mean():
    strict = score("rag-qa-strict@1", REFERENCES, PREDICTIONS, store=STORE)
    again = golden_report(known=known_from(strict, "bleurt", "bertscore", "rouge1_mecab"))
    assert again.scores == golden_report().scores


def test_submission_without_reasons_runs_no_model(monkeypatch):
    monkeypatch.setitem(METRICS.entries, "bleurt", fakes.UnloadableBleurt)
    report = score("rag-qa@1", REFERENCES, ANSWERS_ONLY, store=STORE)
    assert report.scores["bleurt"] == 0.0
    assert report.scores["descriptive_avg"] == 0.0
    assert report.final_score == 1 / 8 / 2


def test_submission_without_reasons_has_the_signature_of_the_others():
    assert score("rag-qa@1", REFERENCES, ANSWERS_ONLY, store=STORE).signature_hash == (golden_report().signature_hash)


def test_demo_models_are_written_on_every_score_made_with_them():
    for predictions in (PREDICTIONS, ANSWERS_ONLY):
        report = score("rag-qa@1", REFERENCES, predictions, store=DEMO_STORE)
        assert report.warnings[0].code == "demo_models"
        assert report.signature["about"]["is_demo"] is True
    assert all(warning.code != "demo_models" for warning in golden_report().warnings)


def test_progress_runs_through_every_metric_from_nothing_to_all():
    heard = []
    golden_report(progress=heard.append)
    stages = list(dict.fromkeys(progress.stage for progress in heard))
    assert sorted(stages) == ["bertscore", "bleurt", "exact_match", "rouge1_mecab"]
    assert stages.index("bleurt") < stages.index("bertscore")
    assert stages.index("exact_match") < stages.index("rouge1_mecab")
    for stage in stages:
        of_stage = [progress for progress in heard if progress.stage == stage]
        assert of_stage[0].done == 0
        assert of_stage[-1].done == of_stage[-1].total
        assert [progress.done for progress in of_stage] == sorted({progress.done for progress in of_stage})


def test_progress_is_throttled_between_start_and_end(monkeypatch):
    monkeypatch.setitem(METRICS.entries, "bleurt", fakes.ChattyBleurt)
    clock = iter(range(10_000))
    monkeypatch.setattr(reporter.time, "monotonic", lambda: next(clock) * 0.05)
    ids = [str(number) for number in range(200)]
    references = answer_file([(item, f"가가 옳다. 이유 {item}") for item in ids])
    heard = []
    score("rag-qa@1", references, references, store=STORE, progress=heard.append)
    bleurt = [progress for progress in heard if progress.stage == "bleurt"]
    assert 5 < len(bleurt) < 100
    assert [bleurt[0].done, bleurt[-1].done] == [0, 200]
    assert len([progress for progress in bleurt if progress.done == 200]) == 1


@pytest.mark.parametrize("broken", ["ShortBleurt", "NanBleurt"])
def test_a_metric_that_returns_no_score_is_a_fault_of_ours(monkeypatch, broken):
    monkeypatch.setitem(METRICS.entries, "bleurt", getattr(fakes, broken))
    with pytest.raises(MetricFault, match="bleurt"):
        golden_report()


def test_unknown_recipe_and_foreign_ids_are_refused_before_any_metric_runs():
    with pytest.raises(UnknownRecipe):
        score("rag-qa@0", REFERENCES, PREDICTIONS, store=STORE)
    with pytest.raises(MismatchedFiles):
        score("rag-qa@1", REFERENCES, answer_file([("g-1", "x")]), store=STORE)
    assert FakeNeural.asked == []


@pytest.mark.parametrize("answer", ["짜장면#", "#짜장면", "짜장면# #자장면", "짜장면#''"])
def test_a_blank_answer_earns_nothing_from_an_empty_alternative_of_published_references(answer):
    rows = [{"id": "1", "output": {"answer": answer}}, {"id": "2", "output": {"answer": "만두"}}]
    references = read_references(json.dumps(rows).encode(), get_recipe("rag-qa@1"), is_published=True)
    blank = score("rag-qa@1", references, answer_file([("1", ""), ("2", " ")]), store=STORE)
    assert blank.scores["exact_match"] == 0.0
    assert [w.params for w in blank.warnings if w.code == "empty_alternatives"] == [{"count": 1}]
    right = score("rag-qa@1", references, answer_file([("1", "짜장면"), ("2", "만두")]), store=STORE)
    assert right.scores["exact_match"] == 1.0


def test_culture_scores_each_type():
    references = answer_file(
        [("1", "3", "선다형"), ("2", "훈민정음#한글", "단답형"), ("3", "겨울에 먹을 김치를 담그는 일", "서술형")]
    )
    predictions = answer_file([("3", "김치를 담그는 일"), ("2", "한글"), ("1", "3")])
    report = score("culture-qa-bleu@1", references, predictions, store=STORE)
    assert [set(item.scores) for item in report.items] == [
        {"accuracy"},
        {"exact_match"},
        {"rouge_1", "bertscore", "bleu_1"},
    ]
    assert report.scores["accuracy"] == report.scores["exact_match"] == 1.0
    assert report.final_score == pytest.approx((2 + report.scores["descriptive_avg"]) / 3)


def test_engine_imports_no_model_library():
    code = """
        import sys
        import scoring.engine, scoring.report, scoring.cli, scoring.metrics.rouge
        print({"torch", "transformers", "bert_score", "bleurt_pytorch"} & set(sys.modules))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_machine_stands_beside_the_signature_and_does_not_change_its_hash(monkeypatch):
    first = golden_report()
    assert first.signature["about"]["processor"]
    assert first.signature["about"] | {"kernel": None, "threads": None} == first.signature["about"]
    ways = SimpleNamespace(profile=STORE.profile, computed_with=lambda: {"kernel": "amx", "threads": 7})
    other = score("rag-qa@1", REFERENCES, PREDICTIONS, store=ways)
    assert (other.signature["about"]["kernel"], other.signature["about"]["threads"]) == ("amx", 7)
    assert other.signature_hash == first.signature_hash


def test_the_instruments_own_version_is_part_of_the_signature(monkeypatch):
    first = golden_report()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert first.signature["instrument"] == __version__ == project["version"]
    monkeypatch.setattr("scoring.signature.__version__", "9.9")
    assert golden_report().signature_hash != first.signature_hash
    assert golden_report().metric_signatures == first.metric_signatures  # item values outlive a release
