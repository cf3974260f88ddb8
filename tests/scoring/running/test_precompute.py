"""Values computed ahead, a slice of items at a time: together those of the whole file, and a score finds them."""

from __future__ import annotations

import random
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from scoring.engine import score
from scoring.metrics import METRICS, is_corpus_metric
from scoring.models.store import ModelStore
from scoring.recipes import RECIPES, get_recipe
from scoring.records import Items, Progress
from scoring.running.precompute import missing_items, pair_work, precompute
from scoring.running.run import MetricFault
from tests.scoring.fakes import FakeNeural, NanBleurt, ShortBleurt
from tests.scoring.memory_store import MemoryPairValues
from tests.scoring.texts import answer_file

RECIPE = "rag-qa@1"
REASON = "사이시옷은 순우리말로 된 합성어에서 앞말이 모음으로 끝날 때 받치어 적는다"
FAKE = SimpleNamespace(
    profile=SimpleNamespace(name="fake", is_demo=False, clip=None),
    computed_with=dict,
    bertscore=SimpleNamespace(references=SimpleNamespace(max_bytes=1)),
)
Files = tuple[Items, Items]


def reasons(count: int, seed: int = 1) -> Files:
    """Files whose every item has a reason, some of them the same."""
    chance = random.Random(seed)
    words = REASON.split()
    texts = [" ".join(chance.choices(words, k=chance.randint(3, 30))) for _ in range(2 * count)]
    gold = [f"바른말{number}이 옳다. {texts[number]} {number}" for number in range(count)]
    given = [f"바른말{number % 7}이 옳다. {texts[count + number]} {number}" for number in range(count)]
    given[count // 2] = given[0]
    ids = [f"q{number}" for number in range(count)]
    return answer_file(list(zip(ids, gold, strict=True))), answer_file(list(zip(ids, given, strict=True)))


def slices(files: Files, count: int) -> list[Files]:
    """Every ``count``-th item, from each of the first on."""
    return [tuple(replace(file, items=file.items[start::count]) for file in files) for start in range(count)]  # type: ignore[misc]


def ahead(files: Files, store: Any, values: MemoryPairValues, known: Any = None) -> None:
    work = pair_work(RECIPE, *files, store=store)
    precompute(work, known=known or {}, pair_values=values)


def filled(parts: list[Files], store: Any) -> MemoryPairValues:
    """A store with the values of these slices, computed in the order given."""
    values = MemoryPairValues()
    for part in parts:
        ahead(part, store, values)
    return values


# --- with fake models -------------------------------------------------------------------------------------------------
@pytest.fixture
def fakes(fake_models: None, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, str]]:
    monkeypatch.setattr(FakeNeural, "asked", [])
    return FakeNeural.asked


def test_score_after_its_slices_is_that_of_the_whole_file_and_asks_no_model(fakes):
    files = reasons(60)
    whole = score(RECIPE, *files, store=FAKE)
    asked_by_whole = set(fakes)
    fakes.clear()
    values = filled(slices(files, 7), FAKE)
    assert set(fakes) == asked_by_whole
    assert len(fakes) == len(asked_by_whole), "each pair once"
    fakes.clear()

    assert score(RECIPE, *files, store=FAKE, pair_values=values) == whole
    assert fakes == []


def test_what_the_store_or_an_earlier_score_knows_is_not_computed_ahead(fakes):
    files = reasons(20)
    values = filled(slices(files, 4)[:1], FAKE)
    whole = score(RECIPE, *files, store=FAKE)
    hashes, score_name = whole.metric_signatures, get_recipe(RECIPE).score_name
    scored = [item for item in whole.items if item.id in ("q1", "q2")]
    known = {
        (name, hashes[name]): {item.id: item.scores[score_name(name)] for item in scored}
        for name in ("bleurt", "bertscore", "rouge1_mecab")
    }
    work = pair_work(RECIPE, *files, store=FAKE)
    fakes.clear()

    left = missing_items(work, known=known, pair_values=values)
    assert left == {f"q{number}" for number in range(20) if number % 4} - {"q1", "q2"}
    assert fakes == [], "nothing is computed to tell"
    ahead(files, FAKE, values, known)

    assert len({name for name, *_ in fakes}) == 2
    assert len(fakes) == 2 * len(left)


def test_an_item_of_which_one_metric_is_missing_is_missing(fakes):
    files = reasons(6)
    values = filled([files], FAKE)
    [key] = [key for key in values._values if key[0] == "bleurt" and key[2][0].endswith(" 3")]
    del values._values[key]
    work = pair_work(RECIPE, *files, store=FAKE)

    assert missing_items(work, known={}, pair_values=values) == {"q3"}


def test_values_of_another_signature_are_missing(fakes, monkeypatch):
    files = reasons(10)
    values = filled([files], FAKE)
    monkeypatch.setattr(FakeNeural, "version", 2)
    work = pair_work(RECIPE, *files, store=FAKE)

    assert len(missing_items(work, known={}, pair_values=values)) == 10


@pytest.mark.parametrize("broken", [ShortBleurt, NanBleurt])
def test_what_is_no_score_is_refused_as_in_a_whole_file(fakes, monkeypatch, broken):
    monkeypatch.setitem(METRICS.entries, "bleurt", broken)

    with pytest.raises(MetricFault):
        ahead(reasons(5), FAKE, MemoryPairValues())


def test_progress_is_told_by_metric_and_can_stop_it(fakes):
    stages: list[str] = []

    def stop(progress: Progress) -> None:
        stages.append(progress.stage)
        raise KeyboardInterrupt

    work = pair_work(RECIPE, *reasons(5), store=FAKE)
    with pytest.raises(KeyboardInterrupt):
        precompute(work, known={}, pair_values=MemoryPairValues(), progress=stop)
    assert stages


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_of_every_recipe_the_pair_metrics_worth_keeping_are_computed_ahead_and_no_other(recipe, fakes):
    found = get_recipe(recipe)
    files = (answer_file([]), answer_file([]))
    work = pair_work(recipe, *files, store=FAKE)

    assert not any(map(is_corpus_metric, work.metrics))
    assert all(is_corpus_metric(name) or METRICS[name].is_cheap for name in set(found.metrics) - set(work.metrics))


# --- with real, tiny models -------------------------------------------------------------------------------------------
def test_order_repetition_and_what_the_models_remember_change_no_bit(profile):
    files = reasons(40)
    parts = slices(files, 6)
    cold = ModelStore(profile, "cpu")
    first = filled(parts, cold)

    warm = ModelStore(profile, "cpu")
    score(RECIPE, *files, store=warm)  # remembers every reference, embedded in other batches
    for part in parts[:3]:
        ahead(part, warm, MemoryPairValues())
    again = filled(parts[::-1], warm)

    assert again._values == first._values
    reports = [score(RECIPE, *files, store=each, pair_values=values) for each, values in ((cold, first), (warm, again))]
    assert reports[0] == reports[1]


def test_report_after_slices_is_that_of_the_whole_file_but_for_the_noise_of_batches(profile):
    files = reasons(40)
    store = ModelStore(profile, "cpu")
    whole = score(RECIPE, *files, store=store)

    report = score(RECIPE, *files, store=store, pair_values=filled(slices(files, 6), store))

    assert (report.signature, report.coverage, report.warnings) == (whole.signature, whole.coverage, whole.warnings)
    for one, other in zip(report.items, whole.items, strict=True):
        assert one.scores["exact_match"] == other.scores["exact_match"]
        assert one.scores["rouge_1"] == other.scores["rouge_1"]
        assert dict(one.scores) == pytest.approx(dict(other.scores), abs=1e-6)


def test_embeddings_of_a_slice_drive_out_no_reference_that_is_kept(profile):
    store = ModelStore(profile, "cpu")
    kept = store.bertscore.references
    files = reasons(5)

    ahead(files, store, MemoryPairValues())

    assert store.bertscore.references is kept
    work = pair_work(RECIPE, *files, store=store)
    assert not any(reference in kept for row in work.layout.pairs["bertscore"].references for reference in row)
