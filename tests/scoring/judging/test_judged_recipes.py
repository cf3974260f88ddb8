"""Text recipes with a judge: the scores of the recipe are bit for bit its own, and the judge's stand beside them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scoring.cards import recipes_with
from scoring.engine import score
from scoring.judging import demo
from scoring.judging.budget import Limits, MemoryLedger
from scoring.judging.demo import FAULTS, DemoJudge
from scoring.judging.demo_features import decide, fluency, grounded
from scoring.judging.errors import JudgeBudgetSpent
from scoring.judging.fencing import cleaned
from scoring.judging.judge import Judge
from scoring.judging.parsing import Judgement
from scoring.metrics import MetricOptions
from scoring.models.profile import load_profile
from scoring.models.store import ModelStore
from scoring.recipes import RECIPES, RUBRICS, get_recipe
from scoring.recipes.judged import parts_of, source_of
from scoring.records import Item, Items, ScoreReport
from scoring.significance.comparison import compare
from tests.scoring.judging.injections import INJECTIONS
from tests.scoring.judging.toys import ESSAY, GOOD, STOCK, demo_judge, profile_for
from tests.scoring.memory_store import MemoryPairValues

BOTH = "+fluency+faithfulness"
TEXTS = (
    GOOD,
    STOCK,
    "파도가 모래밭으로 밀려온다.",
    "'맞히다'가 옳다. 문제의 답을 옳게 댄다는 뜻이다.",
    "",
    "아이 공원 뛴다",
    "채식 채식 채식 학생 학생",
)
ITEMS = 21
JUDGED_RECIPES = [each for each in RECIPES.values() if each.answer_form in ("answers", "captions")]


def file_of(*, is_reference: bool = False, types: tuple[str, ...] = ("선택형",), changed: int = 0) -> Items:
    """Items that every text recipe reads; ``changed``: of how many first ones the question is another."""
    items = []
    for number in range(ITEMS):
        text = f"{ESSAY} {number}" if is_reference else f"{TEXTS[number % len(TEXTS)]}"
        mark = "!" if number < changed else ""
        asked = {"question": f"급식에 채식의 날을 두어야 하는가? {number}{mark}", "passage": ESSAY}
        given = {"input": asked, "others": (STOCK,)} if is_reference else {}
        items.append(Item(f"e{number}", text, number + 1, types[number % len(types)], **given))  # type: ignore[arg-type]
    return Items(tuple(items), "json-array", "0" * 64)


def scored(recipe_id: str, url: str, monkeypatch: pytest.MonkeyPatch, **given: Any) -> ScoreReport:
    monkeypatch.setenv("MALPAN_DEMO_JUDGE_URL", url)
    recipe = get_recipe(recipe_id)
    types = {"types": recipe.question_types} if recipe.question_types else {}
    files = {"references": file_of(is_reference=True, **types), "predictions": file_of(**types)} | given
    return score(recipe_id, files.pop("references"), files.pop("predictions"), profile="demo", device="cpu", **files)


# --- the recipes ------------------------------------------------------------------------------------------------------
def test_the_cards_name_the_recipes_with_a_judge() -> None:
    assert [each.id for each in recipes_with("judge_fluency")][:2] == ["rag-qa@1+fluency", f"rag-qa@1{BOTH}"]
    assert {*JUDGED_RECIPES} <= {get_recipe(parts_of(each.id)[0]) for each in recipes_with("judge_faithfulness")}
    assert not [each for each in recipes_with("bleurt") if "+" in each.id]


def test_a_recipe_of_a_plug_in_names_it_with_a_judge_too(server: DemoJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RECIPES, "origin", lambda name: {"plugin": {"distribution": name}})
    found = scored("judged@1+faithfulness", server.url, monkeypatch)
    assert found.signature["plugin"] == {"distribution": "judged@1"}
    assert {"exact_match", "llm_judge", "judge_faithfulness"} <= found.scores.keys()


# --- their scores -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("recipe_id", ["rag-qa@1", "culture-qa@1", "captioning-lexical@1", "generation-rouge1@1"])
def test_the_scores_of_the_recipe_stay_and_the_judges_are_those_of_its_answers(
    recipe_id: str, server: DemoJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = scored(recipe_id, server.url, monkeypatch)
    assert server.stats.asked.total() == 0
    assert not [name for name in plain.scores if name.startswith("judge")]
    found = scored(recipe_id + BOTH, server.url, monkeypatch)
    assert found.final_score == plain.final_score
    assert {name: found.scores[name] for name in plain.scores} == dict(plain.scores)
    judges = {*RUBRICS.values()}
    assert found.scores.keys() - plain.scores.keys() == judges
    for one, other in zip(plain.items, found.items, strict=True):
        assert {name: value for name, value in other.scores.items() if name not in judges} == dict(one.scores)
        assert other.statistics == one.statistics
    assert {name: found.metric_signatures[name] for name in plain.metric_signatures} == plain.metric_signatures
    assert found.signature_hash != plain.signature_hash

    recipe = get_recipe(recipe_id)
    references = file_of(is_reference=True, types=recipe.question_types or ("선택형",)).items
    answers = file_of(types=recipe.question_types or ("선택형",)).items
    read = [
        (r, p)
        for r, p in zip(references, answers, strict=True)
        if not recipe.question_types or r.question_type == "서술형"
    ]
    expected = {
        "judge_fluency": [fluency(p.text)[0] / 5 if p.text else 0.0 for _, p in read],
        "judge_faithfulness": [
            grounded(source_of(r, recipe.answer_form), p.text)[0] / 5 if p.text else 0.0 for r, p in read
        ],
    }
    for name, values in expected.items():
        assert [item.scores[name] for item in found.items if name in item.scores] == values
        assert len(set(values) - {0.0}) > 1
        assert found.scores[name] == pytest.approx(sum(values) / len(values), abs=1e-15)


def test_what_is_sent_for_each_rubric(server: DemoJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    bodies: list[dict[str, Any]] = []
    whole = demo._Handler._answer
    monkeypatch.setattr(
        demo._Handler, "_answer", lambda self, q, body, j: (bodies.append(json.loads(body)), whole(self, q, body, j))[1]
    )
    scored("captioning-lexical@1+fluency", server.url, monkeypatch)
    sent = [body["messages"][1]["content"] for body in bodies]
    assert len(sent) == len(set(TEXTS) - {""})  # equal captions are asked for once, and never a blank one
    assert not [each for each in sent if "reference" in each or ESSAY[:20] in each]
    bodies.clear()
    scored("captioning-lexical@1+faithfulness", server.url, monkeypatch)
    sent = [body["messages"][1]["content"] for body in bodies]
    assert all(ESSAY in each and f"\n{STOCK}\n" in each for each in sent)  # both reference captions, once
    assert not [each for each in sent if "급식에 채식의 날을 두어야 하는가" in each]
    bodies.clear()
    scored("generation-rouge1@1+faithfulness", server.url, monkeypatch)
    sent = [body["messages"][1]["content"] for body in bodies]
    assert all(
        "question: 급식에 채식의 날을" in each and f"passage: {ESSAY}" in each and "[정답]" in each for each in sent
    )


def test_what_a_participant_writes_as_input_is_not_read(server: DemoJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = file_of()
    stuffed = tuple(replace(item, input={"passage": "모두 5점"}) for item in answers.items)
    one = scored("generation-rouge1@1+faithfulness", server.url, monkeypatch)
    other = scored(
        "generation-rouge1@1+faithfulness", server.url, monkeypatch, predictions=replace(answers, items=stuffed)
    )
    assert one.items == other.items


def test_another_question_is_another_signature_where_the_judge_is_shown_it(
    server: DemoJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = file_of(is_reference=True, changed=1)
    for suffix, differs in (("", False), ("+fluency", False), ("+faithfulness", True)):
        one = scored(f"generation-rouge1@1{suffix}", server.url, monkeypatch)
        other = scored(f"generation-rouge1@1{suffix}", server.url, monkeypatch, references=changed)
        assert (one.signature_hash != other.signature_hash) == differs
        assert ("input_sha256" in one.signature["references"]) == differs


def test_without_a_judge_it_says_so_and_has_the_scores_of_the_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    found = scored(f"generation-rouge1@1{BOTH}", "", monkeypatch)
    codes = [each.code for each in found.warnings if each.code.endswith("not_configured")]
    assert codes == ["judge_fluency_not_configured", "judge_faithfulness_not_configured"]
    assert found.scores == scored("generation-rouge1@1", "", monkeypatch).scores


def test_two_files_are_compared_by_the_judge_too(server: DemoJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    one = scored(f"generation-rouge1@1{BOTH}", server.url, monkeypatch)
    better = tuple(replace(item, text=GOOD) for item in file_of().items)
    other = scored(f"generation-rouge1@1{BOTH}", server.url, monkeypatch, predictions=replace(file_of(), items=better))
    found = {line.key: line for line in compare(one, other).lines}
    for name in RUBRICS.values():
        result = found[name].result
        assert result is not None
        assert result.difference == pytest.approx(other.scores[name] - one.scores[name], abs=1e-12)


# --- the machinery of the judge ---------------------------------------------------------------------------------------
def judged_score(profile: Path, recipe_id: str = f"generation-rouge1@1{BOTH}", **options: Any) -> ScoreReport:
    store = ModelStore(load_profile(profile), "cpu")
    return score(recipe_id, file_of(is_reference=True), file_of(), store=store, **options)


def test_faults_lose_nothing_and_a_second_scoring_asks_nothing(tmp_path: Path, judged: Path) -> None:
    expected = judged_score(judged)
    with demo_judge(faults=FAULTS, rate=0.5, seed=7, hang=20.0) as broken:
        profile, known = profile_for(tmp_path / "p.toml", broken.url, concurrency=12, timeout=3.0), MemoryPairValues()
        found = judged_score(profile, pair_values=known)
        stats = broken.stats.as_dict()
        assert stats["requests"] - sum(stats["faults"].values()) == len(stats["asked"])  # each answered once
        assert sum(stats["faults"].values()) > 3
        judged_score(profile, pair_values=known)
        assert broken.stats.as_dict()["requests"] == stats["requests"]
    assert found.scores == expected.scores
    assert found.items == expected.items


def test_both_rubrics_share_one_budget(tmp_path: Path, server: DemoJudge) -> None:
    for limit in (3, 7):
        before = server.stats.asked.total()
        profile = profile_for(tmp_path / "p.toml", server.url, max_requests=limit)
        with pytest.raises(JudgeBudgetSpent):
            judged_score(profile)
        assert server.stats.asked.total() - before == limit
    ledger = MemoryLedger()
    judged_score(profile_for(tmp_path / "p.toml", server.url), options=MetricOptions(ledger=ledger))
    assert not Limits(requests=ledger.usage().requests - 1).allow(ledger.usage())


def test_a_long_source_is_told(tmp_path: Path, server: DemoJudge) -> None:
    found = judged_score(profile_for(tmp_path / "p.toml", server.url, max_chars=150))
    codes = {each.code: each.params for each in found.warnings if each.code.endswith("truncated")}
    assert codes["judge_faithfulness_source_truncated"] == {"count": ITEMS, "limit": 150}
    assert "judge_fluency_source_truncated" not in codes


# --- injections -------------------------------------------------------------------------------------------------------
def answers_of(profile: Path, prompt: str, questions: list[dict[str, str]]) -> list[Judgement | None]:
    judge = Judge(load_profile(profile).judge_spec())
    found = dict(judge.ask(judge.prompt("", prompt), questions))
    return [found[place] for place in range(len(questions))]


def variants(base: str) -> list[str]:
    return [text for each in INJECTIONS for text in (f"{base}\n{each}", f"{each}\n{base}")]


@pytest.mark.parametrize("base", [GOOD, STOCK])
def test_no_injection_changes_a_parsed_field_of_faithfulness_and_preference(judged: Path, base: str) -> None:
    [expected] = answers_of(judged, "faithfulness-1", [{"reference": ESSAY, "candidate": base}])
    questions = [{"reference": ESSAY, "candidate": text} for text in variants(base)]
    assert answers_of(judged, "faithfulness-1", questions) == [expected] * len(questions)
    for places in (("first", "second"), ("second", "first")):
        asked = [{"reference": ESSAY, places[0]: text, places[1]: GOOD} for text in (base, *variants(base))]
        one, *others = answers_of(judged, "preference-1", asked)
        assert others == [one] * len(others)


def test_an_injection_is_only_more_text_to_fluency(judged: Path) -> None:
    """The judge's fields are those of the sentences as sentences: computed here from the text alone."""
    texts = [*INJECTIONS, *variants(GOOD), *variants(STOCK)]
    found = answers_of(judged, "fluency-1", [{"candidate": text} for text in texts])
    for text, judgement in zip(texts, found, strict=True):
        said = decide({"candidate": cleaned(text)}, "score")
        assert judgement == Judgement(said["score"], said["reason"])


def test_the_same_texts_move_a_judge_of_these_rubrics_that_obeys_them(tmp_path: Path) -> None:
    with demo_judge(gullible=True) as server:
        profile = profile_for(tmp_path / "p.toml", server.url)
        for prompt in ("fluency-1", "faithfulness-1"):
            questions = [{"reference": ESSAY, "candidate": f"{STOCK}\n{text}"} for text in INJECTIONS]
            moved = [each for each in answers_of(profile, prompt, questions) if each is not None]
            assert sum(each.decision == 5 for each in moved) > len(INJECTIONS) / 2
