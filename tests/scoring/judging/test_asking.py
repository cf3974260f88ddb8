"""Every fault of a server: nothing lost, nothing paid twice, every repetition counted, and an end in time."""

from __future__ import annotations

import time
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scoring.engine import score
from scoring.judging.asking import Tally
from scoring.judging.budget import Limits, MemoryLedger
from scoring.judging.client import MAX_ANSWER_BYTES, JudgeClient
from scoring.judging.demo import FAULTS, DemoJudge
from scoring.judging.errors import JudgeBudgetSpent, JudgeRefused, JudgeUnreachable
from scoring.judging.judge import Judge
from scoring.models.profile import load_profile
from scoring.models.store import ModelStore
from tests.scoring.judging.toys import ESSAY, GOOD, STOCK, demo_judge, profile_for
from tests.scoring.memory_store import MemoryPairValues
from tests.scoring.texts import answer_file

ITEMS = 24
REFERENCES = answer_file([(f"e{number}", f"{ESSAY} {number}") for number in range(ITEMS)])
PREDICTIONS = answer_file([(f"e{number}", f"{GOOD if number % 2 else STOCK} {number}") for number in range(ITEMS)])


def report_of(profile: Path, predictions: Any = PREDICTIONS, references: Any = REFERENCES, **options: Any) -> Any:
    return score("judged@1", references, predictions, store=ModelStore(load_profile(profile), "cpu"), **options)


def values_of(report: Any) -> dict[str, float]:
    return {item.id: item.scores["llm_judge"] for item in report.items}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    """The values by a server without faults."""
    from scoring.recipes import RECIPES
    from tests.scoring.judging.toys import TOY

    with demo_judge() as server, pytest.MonkeyPatch.context() as patch:
        patch.setitem(RECIPES.entries, TOY.id, TOY)
        found = values_of(report_of(profile_for(tmp_path_factory.mktemp("sound") / "sound.toml", server.url)))
    assert len(set(found.values())) > 1
    assert 0.0 not in found.values()
    return found


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_loses_no_item_and_pays_for_none_twice(fault: str, tmp_path: Path, expected: dict[str, float]) -> None:
    limit = 1.0 if fault in ("hang", "slow") else 10.0  # what is answered too late may have been paid for
    with demo_judge(faults=(fault,), rate=0.4, seed=3, hang=20.0) as server:
        profile = profile_for(tmp_path / "p.toml", server.url, concurrency=12, timeout=limit)
        store = MemoryPairValues()
        report = report_of(profile, pair_values=store)
        assert values_of(report) == expected
        assert not [each for each in report.warnings if each.code.endswith("unparsable")]
        stats = server.stats.as_dict()
        assert sorted(stats["billed"].values()) == [1] * ITEMS  # every judgement paid for once
        assert stats["faults"][fault] > 0
        told = report.signature["about"]["llm_judge"]
        assert sum(told["repeated"].values()) == sum(stats["faults"].values())
        assert told["requests"] == stats["requests"]

        again = report_of(profile, pair_values=store)
        assert values_of(again) == expected
        assert server.stats.as_dict()["requests"] == stats["requests"]  # not one more
        assert again.signature_hash == report.signature_hash


def test_all_faults_at_once_in_a_seeded_mixture(tmp_path: Path, expected: dict[str, float]) -> None:
    with demo_judge(faults=FAULTS, rate=0.5, seed=11, hang=20.0) as server:
        report = report_of(profile_for(tmp_path / "p.toml", server.url, concurrency=12, timeout=1.0))
        stats = server.stats.as_dict()
    assert values_of(report) == expected
    assert sorted(stats["billed"].values()) == [1] * ITEMS
    assert len(stats["faults"]) >= 6


def test_equal_pairs_are_asked_for_once(judged: Path, server: DemoJudge) -> None:
    references = answer_file([(str(number), ESSAY) for number in range(10)])
    predictions = answer_file([(str(number), GOOD) for number in range(10)])
    assert len(set(values_of(report_of(judged, predictions, references)).values())) == 1
    assert server.stats.as_dict()["requests"] == 1


def test_what_nfc_changed_is_not_judged_again(judged: Path, server: DemoJudge) -> None:
    """Other metrics compare the texts as they stand in the file once more; a judge would be paid for it."""
    written = tuple(replace(item, raw=(unicodedata.normalize("NFD", item.text),)) for item in PREDICTIONS.items)
    report = report_of(judged, replace(PREDICTIONS, items=written))
    assert server.stats.as_dict()["requests"] == ITEMS
    assert report.signature["about"]["llm_judge"]["requests"] == ITEMS


def test_a_text_longer_than_is_sent_is_told(tmp_path: Path, server: DemoJudge) -> None:
    long = answer_file([("a", GOOD + "가 " * 20_000), ("b", GOOD)])
    profile = profile_for(tmp_path / "p.toml", server.url, max_chars=500)
    report = report_of(profile, long, answer_file([("a", ESSAY), ("b", ESSAY)]))
    [warning] = [each for each in report.warnings if each.code == "llm_judge_truncated"]
    assert (warning.params["count"], warning.params["limit"]) == (1, 500)


def test_a_blank_candidate_is_not_sent_and_is_no_parse_failure(judged: Path, server: DemoJudge) -> None:
    report = report_of(judged, answer_file([("a", " "), ("b", GOOD)]), answer_file([("a", ESSAY), ("b", ESSAY)]))
    assert values_of(report)["a"] == 0.0
    assert server.stats.as_dict()["requests"] == 1
    assert not [each for each in report.warnings if each.code == "llm_judge_unparsable"]


@pytest.mark.parametrize("fault", ["broken-json", "wrong-schema", "huge"])
def test_what_stays_unparsable_counts_as_0_and_is_named(fault: str, tmp_path: Path) -> None:
    with demo_judge(faults=(fault,), rate=0.3, most=99, seed=5) as server:
        profile, store = profile_for(tmp_path / "p.toml", server.url), MemoryPairValues()
        report = report_of(profile, pair_values=store)
        stats, values = server.stats.as_dict(), values_of(report)
        lost = sorted(item for item, value in values.items() if value == 0.0)
        # the witness: which questions were struck three times in a row
        hit = [question for question, times in stats["asked"].items() if question not in stats["billed"]]
        assert 0 < len(lost) == len(hit) < ITEMS
        assert all(stats["asked"][question] == 3 for question in hit)
        [warning] = [each for each in report.warnings if each.code == "llm_judge_unparsable"]
        assert warning.params["count"] == len(lost)
        assert sorted(warning.params["items"].split(", ")) == lost
        assert report.scores["llm_judge"] == pytest.approx(sum(values.values()) / ITEMS)
        again = report_of(profile, pair_values=store)
        assert server.stats.as_dict()["requests"] == stats["requests"]
        assert [each for each in again.warnings if each.code == "llm_judge_unparsable"] == [warning]


def test_an_answer_that_is_too_large_is_refused_while_it_comes(tmp_path: Path) -> None:
    with demo_judge(faults=("huge",)) as server:
        judge = Judge(load_profile(profile_for(tmp_path / "p.toml", server.url)).judge_spec())
        body = judge.body(judge.prompt("llm_judge", "rationale-1"), {"reference": ESSAY, "candidate": GOOD})
        client, read = JudgeClient(server.url, timeout=5), []
        from urllib3.response import HTTPResponse

        whole = HTTPResponse.stream
        with pytest.MonkeyPatch.context() as patch:

            def counted(self: Any, *args: Any, **options: Any) -> Any:
                for chunk in whole(self, *args, **options):
                    read.append(len(chunk))
                    yield chunk

            patch.setattr(HTTPResponse, "stream", counted)
            assert client.post("/v1/chat/completions", body).failure == "too_large"
    assert sum(read) < MAX_ANSWER_BYTES + 100_000  # of ten million


@pytest.mark.parametrize("fault", ["slow", "hang"])
def test_the_time_limit_is_on_the_whole_answer(fault: str, tmp_path: Path) -> None:
    with demo_judge(faults=(fault,), hang=20.0) as server:
        judge = Judge(load_profile(profile_for(tmp_path / "p.toml", server.url)).judge_spec())
        body = judge.body(judge.prompt("llm_judge", "rationale-1"), {"reference": ESSAY, "candidate": GOOD})
        began = time.monotonic()
        assert JudgeClient(server.url, timeout=0.4).post("/v1/chat/completions", body).failure == "timeout"
        assert 0.3 < time.monotonic() - began < 1.5


def test_retry_after_is_honoured_by_all_questions(tmp_path: Path) -> None:
    with demo_judge(faults=("busy",), rate=0.2, most=1, seed=1, retry_after=1.0) as server:
        began = time.monotonic()
        report = report_of(profile_for(tmp_path / "p.toml", server.url))
    assert time.monotonic() - began >= 1.0
    assert report.signature["about"]["llm_judge"]["repeated"]["busy"] == server.stats.faults["busy"]


def test_a_server_that_wants_a_long_pause_is_left_alone(tmp_path: Path) -> None:
    with demo_judge(faults=("busy",), most=99, retry_after=900.0) as server, pytest.raises(JudgeUnreachable) as caught:
        report_of(profile_for(tmp_path / "p.toml", server.url))
    assert caught.value.retry_after == 900.0


def test_an_outage_keeps_what_was_answered_and_only_the_rest_is_asked_later(tmp_path: Path) -> None:
    store = MemoryPairValues()
    with demo_judge(faults=("error",), rate=0.2, most=99, seed=2) as server:
        with pytest.raises(JudgeUnreachable):
            report_of(profile_for(tmp_path / "p.toml", server.url, retries=0), pair_values=store)
        first = server.stats.as_dict()
    assert 0 < len(store) == len(first["billed"]) < ITEMS
    with demo_judge() as server:
        report_of(profile_for(tmp_path / "p.toml", server.url), pair_values=store)
        second = server.stats.as_dict()
    assert not first["billed"].keys() & second["asked"].keys()
    assert first["billed"].keys() | second["billed"].keys() == {*first["billed"], *second["asked"]}
    assert len(first["billed"]) + len(second["billed"]) == ITEMS


def test_nobody_listening_is_an_outage(tmp_path: Path) -> None:
    with demo_judge() as server:
        profile = profile_for(tmp_path / "p.toml", server.url)
    with pytest.raises(JudgeUnreachable) as caught:
        report_of(profile)
    assert caught.value.params["why"] == "unreachable"


def test_a_request_that_is_refused_is_not_repeated(judged: Path, server: DemoJudge, monkeypatch: Any) -> None:
    monkeypatch.setattr("scoring.judging.demo.MAX_QUESTION_BYTES", 10)
    with pytest.raises(JudgeRefused):
        report_of(judged)
    assert server.stats.as_dict()["requests"] == 0


# --- the budget -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("limit", [1, 5, ITEMS - 1])
def test_the_budget_of_requests_is_never_exceeded_and_used_up(limit: int, tmp_path: Path) -> None:
    with demo_judge() as server:
        store, ledger = MemoryPairValues(), MemoryLedger()
        profile = profile_for(tmp_path / "p.toml", server.url, max_requests=limit, concurrency=8)
        with pytest.raises(JudgeBudgetSpent) as caught:
            report_of(profile, pair_values=store, options=_with(ledger))
        assert server.stats.as_dict()["requests"] == limit == len(store)
        assert caught.value.params["requests"] == limit
        report_of(profile_for(tmp_path / "p.toml", server.url), pair_values=store, options=_with(ledger))
        assert sorted(server.stats.as_dict()["asked"].values()) == [1] * ITEMS


def test_the_budget_of_tokens_ends_within_one_request(tmp_path: Path) -> None:
    with demo_judge() as server:
        ledger = MemoryLedger()
        judge = Judge(load_profile(profile_for(tmp_path / "p.toml", server.url)).judge_spec())
        body = judge.body(judge.prompt("llm_judge", "rationale-1"), {"reference": ESSAY, "candidate": GOOD})
        most = len(body) + judge.spec.max_tokens + 100
        limit = 5 * most
        with pytest.raises(JudgeBudgetSpent):
            report_of(profile_for(tmp_path / "q.toml", server.url, max_tokens_total=limit), options=_with(ledger))
        assert server.stats.tokens == ledger.usage().tokens <= limit
        assert limit - server.stats.tokens < most


def test_requests_that_were_not_done_cost_nothing(tmp_path: Path) -> None:
    with demo_judge(faults=("busy",), rate=0.5) as server:
        ledger = MemoryLedger()
        report_of(profile_for(tmp_path / "p.toml", server.url, max_requests=ITEMS), options=_with(ledger))
        assert server.stats.faults["busy"] > 0
        assert (ledger.usage().requests, ledger.usage().tokens) == (ITEMS, server.stats.tokens)


def test_what_may_have_been_done_is_taken_to_cost_all_it_could(tmp_path: Path) -> None:
    with demo_judge(faults=("cut",), most=1) as server:
        ledger = MemoryLedger()
        report_of(profile_for(tmp_path / "p.toml", server.url), options=_with(ledger))
        assert ledger.usage().requests == 2 * ITEMS
        assert ledger.usage().tokens > 2 * server.stats.tokens


def test_limits_of_0_are_none() -> None:
    ledger = MemoryLedger()
    assert all(ledger.reserve(Limits(), 10**9) for _ in range(3))
    assert not MemoryLedger().reserve(Limits(tokens=5), 6)
    assert MemoryLedger().reserve(Limits(tokens=6), 6)


def test_whoever_stops_the_scoring_waits_for_no_answer(tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def stop(progress: Any) -> None:
        if progress.stage == "llm_judge":
            raise Enough

    with demo_judge(faults=("hang",), hang=30.0, most=99) as server:
        began = time.monotonic()
        with pytest.raises(Enough):
            report_of(profile_for(tmp_path / "p.toml", server.url, timeout=30.0), progress=stop)
    assert time.monotonic() - began < 5


def test_the_tally_says_what_was_repeated_and_why() -> None:
    tally = Tally()
    tally.repeated.update(["busy", "cut", "busy"])
    assert tally.as_dict()["repeated"] == {"busy": 2, "cut": 1}


def _with(ledger: MemoryLedger) -> Any:
    from scoring.metrics import MetricOptions

    return MetricOptions(ledger=ledger)
