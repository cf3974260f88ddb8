"""A file cut into shards: equal input gives equal shards, of equal weight, and together the whole file's values."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest

from scoring.engine import score
from scoring.metrics import METRICS, is_corpus_metric
from scoring.models.store import ModelStore
from scoring.recipes import RECIPES, get_recipe
from scoring.records import AnswerFile
from scoring.running import sharding
from scoring.running.pair_values import MemoryPairValues
from scoring.running.run import MetricFault
from scoring.running.sharding import ForeignShard, GatheredValues, Shard, open_pairs, plan, score_shard
from tests.scoring.fakes import FakeNeural
from tests.scoring.texts import answer_file

RECIPE = get_recipe("rag-qa@1")
REASON = "사이시옷은 순우리말로 된 합성어에서 앞말이 모음으로 끝날 때 받치어 적는다"
FAKE = SimpleNamespace(
    profile=SimpleNamespace(name="fake", is_demo=False, clip=None),
    bertscore=SimpleNamespace(references=SimpleNamespace(max_bytes=1)),
)


def reasons(count: int, seed: int = 1) -> tuple[AnswerFile, AnswerFile]:
    """Files whose every item has a reason, some of them the same."""
    chance = random.Random(seed)
    words = REASON.split()
    texts = [" ".join(chance.choices(words, k=chance.randint(3, 30))) for _ in range(2 * count)]
    gold = [f"바른말{number}이 옳다. {texts[number]} {number}" for number in range(count)]
    given = [f"바른말{number % 7}이 옳다. {texts[count + number]} {number}" for number in range(count)]
    given[count // 2] = given[0]
    ids = [f"q{number}" for number in range(count)]
    return answer_file(list(zip(ids, gold, strict=True))), answer_file(list(zip(ids, given, strict=True)))


def wanted_of(references: AnswerFile, predictions: AnswerFile) -> dict[str, list[tuple[str, str]]]:
    prepared = RECIPE.prepare(references, predictions)
    return {metric: open_pairs(metric, prepared) for metric in sharding.sharded_metrics(RECIPE)}


def gathered(files: tuple[AnswerFile, AnswerFile], resources: Any, *, shards: list[Shard]) -> Any:
    """The report of a run whose shards were scored in the order given."""
    signatures = signatures_of(resources)
    values = GatheredValues(signatures)
    for shard in shards:
        values.add(shard, score_shard(shard, RECIPE, signatures, resources=resources))
    return score(RECIPE.id, *files, resources=resources, pair_values=values)


def signatures_of(resources: Any) -> dict[str, str]:
    metrics = sharding.load_metrics(sharding.sharded_metrics(RECIPE), resources)
    return sharding.signature_hashes(RECIPE, metrics)


# --- planning ---------------------------------------------------------------------------------------------------------
def test_every_pair_of_every_metric_stands_in_one_shard_once():
    wanted = {"bleurt": [("가", "나"), ("다", "라"), ("마", "바")], "rouge_1": [("다", "라"), ("사", "아")]}

    shards = plan(wanted, 2)

    for metric, pairs in wanted.items():
        planned = [pair for shard in shards if metric in shard.wanted for pair in shard.pairs_of(metric)]
        assert sorted(planned) == sorted(pairs)
    assert sorted(len(shard.pairs) for shard in shards) == [2, 2]


def test_order_of_the_input_changes_no_shard():
    wanted = wanted_of(*reasons(200))
    shuffled = {metric: random.Random(3).sample(pairs, len(pairs)) for metric, pairs in reversed(wanted.items())}

    assert plan(shuffled, 30) == plan(wanted, 30)
    assert [shard.dump() for shard in plan(shuffled, 30)] == [shard.dump() for shard in plan(wanted, 30)]


def test_shards_are_about_equally_heavy():
    shards = plan(wanted_of(*reasons(2000)), 200)

    weights = [shard.characters for shard in shards]
    assert len(shards) == 10
    assert max(weights) / min(weights) < 1.05
    assert max(len(shard.pairs) for shard in shards) <= 220


def test_pairs_of_one_candidate_stay_together_but_a_constant_answer_is_cut():
    few = plan({"bertscore": [(f"정답 {n} {m}", f"답 {n}") for n in range(100) for m in range(5)]}, 50)
    for number in range(100):
        assert sum(any(candidate == f"답 {number}" for _, candidate in shard.pairs) for shard in few) == 1

    constant = plan({"bertscore": [(f"정답 {n}", "늘 같은 답") for n in range(5000)]}, 500)
    assert max(len(shard.pairs) for shard in constant) <= 500 + sharding.BUNDLE


def test_known_items_and_equal_pairs_are_not_planned():
    references, predictions = reasons(20)
    prepared = RECIPE.prepare(references, predictions)
    known = [f"q{number}" for number in range(15)]

    assert len(open_pairs("bleurt", prepared, known)) == 5
    twice = answer_file([(f"q{n}", "말이 옳다. 같은 까닭이다.") for n in range(20)])
    assert len(open_pairs("bleurt", RECIPE.prepare(twice, twice))) == 1
    assert plan({"bleurt": []}, 10) == []


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_of_every_recipe_the_pair_metrics_are_sharded_but_for_the_trivial_ones(recipe):
    sharded = sharding.sharded_metrics(get_recipe(recipe))
    assert not any(map(is_corpus_metric, sharded))
    left = set(get_recipe(recipe).metrics) - set(sharded)
    assert all(name in sharding.TRIVIAL_METRICS or is_corpus_metric(name) for name in left)


def test_shard_survives_its_file():
    shard = Shard((("가\ud800", "나\n"), ("", "다")), {"bleurt": (0, 1), "rouge_1": (1,)})

    assert Shard.load(shard.dump()) == shard


def test_shard_holds_at_least_one_pair():
    with pytest.raises(ValueError):
        plan({}, 0)


# --- scoring and gathering, with fake models --------------------------------------------------------------------------
@pytest.fixture
def fakes(fake_models: None, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, str]]:
    monkeypatch.setattr(FakeNeural, "asked", [])
    return FakeNeural.asked


def test_gathering_gives_the_report_of_the_whole_file_and_asks_no_model(fakes):
    files = reasons(60)
    whole = score(RECIPE.id, *files, resources=FAKE)
    shards = plan(wanted_of(*files), 7)
    asked_by_whole = sorted(fakes)
    fakes.clear()

    assert gathered(files, FAKE, shards=shards) == whole
    assert sorted(fakes) == asked_by_whole  # each pair once by its shard, none by the gathering


def test_values_of_another_signature_are_not_taken(fakes):
    files = reasons(10)
    [shard] = plan(wanted_of(*files), 100)
    signatures = signatures_of(FAKE)
    values = GatheredValues(signatures | {"bleurt": "0" * 64})
    values.add(shard, score_shard(shard, RECIPE, signatures, resources=FAKE))
    fakes.clear()

    score(RECIPE.id, *files, resources=FAKE, pair_values=values)

    assert {name for name, *_ in fakes} == {"bleurt"}


def test_worker_with_other_models_refuses_the_shard(fakes):
    [shard] = plan(wanted_of(*reasons(5)), 100)

    with pytest.raises(ForeignShard, match="bleurt"):
        score_shard(shard, RECIPE, signatures_of(FAKE) | {"bleurt": "0" * 64}, resources=FAKE)
    assert fakes == []


@pytest.mark.parametrize("broken", ["ShortBleurt", "NanBleurt"])
def test_what_is_no_score_is_refused_as_in_a_whole_file(fakes, monkeypatch, broken):
    monkeypatch.setitem(METRICS, "bleurt", f"tests.scoring.fakes:{broken}")
    [shard] = plan(wanted_of(*reasons(5)), 100)

    with pytest.raises(MetricFault):
        score_shard(shard, RECIPE, signatures_of(FAKE), resources=FAKE)


def test_values_that_do_not_fit_their_shard_are_refused():
    shard = Shard((("가", "나"), ("다", "라")), {"bleurt": (0, 1)})

    with pytest.raises(ValueError):
        GatheredValues({"bleurt": "s"}).add(shard, {"bleurt": [0.5]})


def test_further_store_answers_for_pairs_that_no_shard_scored_and_hears_what_is_computed():
    further = MemoryPairValues(10)
    further.put("bleurt", "s", {("다", "라"): 0.25, ("가", "나"): 0.9})
    values = GatheredValues({"bleurt": "s"}, further)
    values.add(Shard((("가", "나"),), {"bleurt": (0,)}), {"bleurt": [0.5]})

    assert values.get("bleurt", "s", [("가", "나"), ("다", "라"), ("마", "바")]) == {
        ("가", "나"): 0.5,
        ("다", "라"): 0.25,
    }
    values.put("bleurt", "s", {("마", "바"): 0.1})
    assert further.get("bleurt", "s", [("마", "바")]) == {("마", "바"): 0.1}


# --- with real, tiny models -------------------------------------------------------------------------------------------
def test_order_repetition_and_what_the_models_remember_change_no_bit(profile):
    files = reasons(40)
    shards = plan(wanted_of(*files), 6)
    cold = ModelStore(profile, "cpu")
    first = gathered(files, cold, shards=shards)

    warm = ModelStore(profile, "cpu")
    score(RECIPE.id, *files, resources=warm)  # remembers every reference, embedded in other batches
    for shard in shards[:3]:
        score_shard(shard, RECIPE, signatures_of(warm), resources=warm)

    assert gathered(files, warm, shards=shards[::-1]) == first


def test_sharded_report_is_that_of_the_whole_file_but_for_the_noise_of_batches(profile):
    files = reasons(40)
    resources = ModelStore(profile, "cpu")
    whole = score(RECIPE.id, *files, resources=resources)

    report = gathered(files, resources, shards=plan(wanted_of(*files), 6))

    assert (report.signature, report.coverage, report.warnings) == (whole.signature, whole.coverage, whole.warnings)
    for one, other in zip(report.items, whole.items, strict=True):
        assert one.scores["exact_match"] == other.scores["exact_match"]
        assert one.scores["rouge_1"] == other.scores["rouge_1"]
        assert dict(one.scores) == pytest.approx(dict(other.scores), abs=1e-6)


def test_embeddings_of_a_shard_drive_out_no_reference_that_is_kept(profile):
    resources = ModelStore(profile, "cpu")
    kept = resources.bertscore.references
    [shard] = plan(wanted_of(*reasons(5)), 100)

    score_shard(shard, RECIPE, signatures_of(resources), resources=resources)

    assert resources.bertscore.references is kept
    assert not any(reference in kept for reference, _ in shard.pairs)
