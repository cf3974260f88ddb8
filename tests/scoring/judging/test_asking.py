"""Every fault of a server: nothing lost, nothing asked again that was answered, every repetition counted, an end."""

from __future__ import annotations

import socket
import threading
import time
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scoring.engine import score
from scoring.judging import deadline
from scoring.judging.asking import Tally
from scoring.judging.budget import Limits, MemoryLedger, Usage
from scoring.judging.client import MAX_ANSWER_BYTES, Exchange, JudgeClient
from scoring.judging.demo import FAULTS, UNBILLED, DemoJudge
from scoring.judging.errors import JudgeBudgetSpent, JudgeRefused, JudgeUnreachable
from scoring.judging.judge import Judge
from scoring.models.profile import load_profile
from scoring.models.store import ModelStore, shared_store
from scoring.text.tokenization import tokenizer
from tests.clocks import stop_in
from tests.scoring.judging.toys import ESSAY, GOOD, STOCK, demo_judge, profile_for
from tests.scoring.memory_store import MemoryPairValues
from tests.scoring.texts import answer_file

ITEMS = 24
REFERENCES = answer_file([(f"e{number}", f"{ESSAY} {number}") for number in range(ITEMS)])
SOON = 10.0  # seconds: half of what a server takes whom nobody cuts off; a busy machine may be seconds late
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
def test_a_fault_loses_no_item_and_asks_for_no_answer_twice(
    fault: str, tmp_path: Path, expected: dict[str, float]
) -> None:
    """The server bills what it judged, whether or not it got through; the ledger never counts less than that."""
    limit = 3.0 if fault in ("hang", "slow") else 30.0  # an answer that a busy machine gives later is asked for twice
    with demo_judge(faults=(fault,), rate=0.4, seed=3, hang=20.0) as server:
        profile = profile_for(tmp_path / "p.toml", server.url, concurrency=12, timeout=limit)
        store, ledger = MemoryPairValues(), MemoryLedger()
        report = report_of(profile, pair_values=store, options=_with(ledger))
        assert values_of(report) == expected
        assert not [each for each in report.warnings if each.code.endswith("unparsable")]
        stats = server.stats.as_dict()
        assert sorted(stats["answered"].values()) == [1] * ITEMS
        assert stats["faults"][fault] > 0
        twice = sum(stats["billed"].values()) - ITEMS  # only what the fault itself had paid for in vain
        assert twice == (0 if fault in UNBILLED else stats["faults"][fault])
        assert ledger.usage().requests == stats["requests"] - (stats["faults"]["busy"] if fault == "busy" else 0)
        assert ledger.usage().tokens >= stats["tokens"]
        told = report.signature["about"]["llm_judge"]
        assert sum(told["repeated"].values()) == sum(stats["faults"].values())
        assert told["requests"] == stats["requests"]

        again = report_of(profile, pair_values=store)
        assert values_of(again) == expected
        assert server.stats.as_dict()["requests"] == stats["requests"]  # not one more
        assert again.signature_hash == report.signature_hash


def test_all_faults_at_once_in_a_seeded_mixture(tmp_path: Path, expected: dict[str, float]) -> None:
    with demo_judge(faults=FAULTS, rate=0.5, seed=11, hang=20.0) as server:
        report = report_of(profile_for(tmp_path / "p.toml", server.url, concurrency=12, timeout=3.0))
        stats = server.stats.as_dict()
    assert values_of(report) == expected
    assert sorted(stats["answered"].values()) == [1] * ITEMS
    assert len(stats["faults"]) >= 6
    struck = sum(times for fault, times in stats["faults"].items() if fault not in UNBILLED)
    assert sum(stats["billed"].values()) == ITEMS + struck


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


@pytest.mark.parametrize("fault", ["broken-json", "wrong-schema"])
def test_what_stays_unparsable_counts_as_0_and_is_named(fault: str, tmp_path: Path) -> None:
    with demo_judge(faults=(fault,), rate=0.3, most=99, seed=5) as server:
        profile, store = profile_for(tmp_path / "p.toml", server.url), MemoryPairValues()
        report = report_of(profile, pair_values=store)
        stats, values = server.stats.as_dict(), values_of(report)
        lost = sorted(item for item, value in values.items() if value == 0.0)
        # the witness: which questions were struck three times in a row
        hit = [question for question, times in stats["asked"].items() if question not in stats["answered"]]
        assert 0 < len(lost) == len(hit) < ITEMS
        assert all(stats["asked"][question] == 3 for question in hit)
        [warning] = [each for each in report.warnings if each.code == "llm_judge_unparsable"]
        assert warning.params["count"] == len(lost)
        assert sorted(warning.params["items"].split(", ")) == lost
        assert report.scores["llm_judge"] == pytest.approx(sum(values.values()) / ITEMS)
        again = report_of(profile, pair_values=store)
        assert server.stats.as_dict()["requests"] == stats["requests"]
        assert [each for each in again.warnings if each.code == "llm_judge_unparsable"] == [warning]


def test_a_known_0_of_an_unparsable_answer_is_asked_again_and_a_known_answer_is_not(
    judged: Path, server: DemoJudge
) -> None:
    report = report_of(judged)
    stored = values_of(report) | {"e3": 0.0}
    known = {("llm_judge", report.metric_signatures["llm_judge"]): stored}
    again = report_of(judged, known=known)
    assert values_of(again) == values_of(report)
    assert server.stats.as_dict()["requests"] == ITEMS + 1


@pytest.mark.parametrize("fault", ["huge", "no-json", "no-protocol"])
def test_what_is_not_the_protocol_is_an_outage_and_never_a_value(fault: str, tmp_path: Path) -> None:
    store = MemoryPairValues()
    with demo_judge(faults=(fault,), rate=0.2, most=99, seed=5) as server:
        profile = profile_for(tmp_path / "p.toml", server.url, retries=2, retry_seconds=0.2)
        began = time.monotonic()
        with pytest.raises(JudgeUnreachable) as caught:
            report_of(profile, pair_values=store)
        stats = server.stats.as_dict()
    assert caught.value.params["why"] == {"huge": "too_large"}.get(fault, fault.replace("-", "_"))
    assert time.monotonic() - began >= 0.2 + 0.4  # pauses between the tries
    assert max(stats["asked"].values()) == 3  # the first try and two more
    assert len(store) == len(stats["answered"])
    with demo_judge() as server:
        values = values_of(report_of(profile_for(tmp_path / "p.toml", server.url), pair_values=store))
    assert 0.0 not in values.values()


ENVELOPES: dict[str, tuple[Any, bool]] = {  # what a server sends, and whether a model's text, however bad, is in it
    "nothing": ({}, False),
    "no choice": ({"choices": []}, False),
    "an error beside 200": ({"error": {"message": "overloaded"}}, False),
    "no message": ({"choices": [{"text": "5"}]}, False),
    "a list of parts": ({"choices": [{"message": {"content": [{"text": "5"}]}}]}, False),
    "aborted": ({"choices": [{"message": {"content": ""}, "finish_reason": "abort"}]}, False),
    "only thoughts": ({"choices": [{"message": {"content": None, "reasoning": "…"}, "finish_reason": "stop"}]}, True),
    "cut off": ({"choices": [{"message": {"content": '{"reason'}, "finish_reason": "length"}]}, True),
    "prose": ({"choices": [{"message": {"content": "다섯 점"}, "finish_reason": "stop"}]}, True),
}


@pytest.mark.parametrize("name", ENVELOPES)
def test_a_bad_envelope_is_the_servers_and_a_bad_text_the_models(
    name: str, judged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, has_text = ENVELOPES[name]
    monkeypatch.setattr(JudgeClient, "post", lambda *_: Exchange(answer, status=200))
    judge = Judge(load_profile(profile_for(judged, "http://127.0.0.1:9", retries=2)).judge_spec())
    tally = Tally()
    asked = judge.ask(judge.prompt("llm_judge", "rationale-1"), [{"reference": ESSAY, "candidate": GOOD}], tally=tally)
    if has_text:
        assert list(asked) == [(0, None)]
        assert (tally.unparsable, tally.repeated) == (1, {"unparsable": 2})
    else:
        with pytest.raises(JudgeUnreachable):
            list(asked)
        assert (tally.unparsable, tally.repeated) == (0, {"no_protocol": 2})


def test_a_page_in_the_place_of_the_models_entry_makes_no_other_signature(
    judged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = Judge(load_profile(judged).judge_spec())
    named, whole, paths = judge.identity(), JudgeClient.get, []

    def once(client: JudgeClient, path: str) -> Exchange:
        paths.append(path)
        return Exchange(failure="no_json", status=200) if paths.count("/v1/models") == 1 else whole(client, path)

    monkeypatch.setattr(JudgeClient, "get", once)
    assert judge.identity() == named
    monkeypatch.setattr(JudgeClient, "get", lambda *_: Exchange(failure="no_json", status=200))
    with pytest.raises(JudgeUnreachable):
        judge.identity()


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
        assert 0.3 < time.monotonic() - began < SOON


def test_the_time_limit_holds_when_it_ends_while_connecting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look-up of the name takes longer than the limit; the server then sends a byte now and then, for 20 s."""
    whole = socket.getaddrinfo

    def late(*arguments: Any, **options: Any) -> Any:
        time.sleep(0.6)
        return whole(*arguments, **options)

    with demo_judge(faults=("slow",), hang=20.0) as server:
        monkeypatch.setattr(socket, "getaddrinfo", late)
        began = time.monotonic()
        assert JudgeClient(server.url, timeout=0.4).get("/version").failure == "unreachable"
        assert time.monotonic() - began < SOON
        assert server.stats.as_dict()["requests"] == 0


def test_the_time_limit_holds_when_the_connection_gets_its_socket_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = deadline._connect

    def late(*arguments: Any) -> Any:
        made = whole(*arguments)
        time.sleep(0.6)
        return made

    with demo_judge(faults=("slow",), hang=20.0) as server:
        judge = Judge(load_profile(profile_for(tmp_path / "p.toml", server.url)).judge_spec())
        body = judge.body(judge.prompt("llm_judge", "rationale-1"), {"reference": ESSAY, "candidate": GOOD})
        monkeypatch.setattr(deadline, "_connect", late)
        began = time.monotonic()
        assert JudgeClient(server.url, timeout=0.4).post("/v1/chat/completions", body).failure == "timeout"
        assert time.monotonic() - began < SOON


def test_all_addresses_together_have_one_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    limits, let_pass = list[float](), stop_in(deadline, monkeypatch)

    def unanswered(_address: Any, timeout: float) -> Any:
        limits.append(timeout)
        let_pass(timeout)
        raise TimeoutError

    rows = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (f"10.0.0.{number}", 80)) for number in range(9)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: rows)
    monkeypatch.setattr(socket, "create_connection", unanswered)
    assert JudgeClient("http://judge", timeout=45.0).get("/version").failure == "unreachable"
    assert limits == pytest.approx([5.0] * len(rows))


def test_an_address_that_never_answers_leaves_time_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, let_pass = socket.create_connection, stop_in(deadline, monkeypatch)

    def first_is_a_black_hole(address: Any, timeout: float) -> Any:
        if address[0] != "127.0.0.1":
            let_pass(timeout)
            raise TimeoutError
        return whole(address, timeout)

    with demo_judge() as server:
        port = int(server.url.rsplit(":", 1)[1])
        rows = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port)) for host in ("10.255.255.1", "127.0.0.1")]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: rows)
        monkeypatch.setattr(socket, "create_connection", first_is_a_black_hole)
        assert JudgeClient(f"http://judge:{port}", timeout=20.0).get("/version").failure is None


def test_a_handshake_that_never_comes_is_cut() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:  # it takes the connection and says nothing
        began = time.monotonic()
        client = JudgeClient(f"https://127.0.0.1:{listening.getsockname()[1]}", timeout=0.4)
        assert client.get("/version").failure == "timeout"
        assert time.monotonic() - began < SOON


def test_headers_that_never_end_are_cut(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        is_over = threading.Event()

        def drip() -> None:
            taken, _ = listening.accept()
            with taken, suppress(OSError):
                taken.sendall(b"HTTP/1.1 200 OK\r\n")
                while not is_over.wait(0.05):
                    taken.sendall(b"X-More: yes\r\n")

        thread = threading.Thread(target=drip)
        thread.start()
        began = time.monotonic()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        assert JudgeClient(url, timeout=0.4).get("/version").failure == "timeout"
        assert time.monotonic() - began < SOON
        is_over.set()
        thread.join()


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
    assert not first["answered"].keys() & second["asked"].keys()
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
        report_of(profile_for(tmp_path / "p.toml", server.url, max_requests=ITEMS, timeout=60.0), options=_with(ledger))
        assert server.stats.faults["busy"] > 0
        assert (ledger.usage().requests, ledger.usage().tokens) == (ITEMS, server.stats.tokens)


def test_what_may_have_been_done_is_taken_to_cost_all_it_could(tmp_path: Path) -> None:
    with demo_judge(faults=("cut",), most=1) as server:
        ledger = MemoryLedger()
        report_of(profile_for(tmp_path / "p.toml", server.url), options=_with(ledger))
        assert ledger.usage().requests == 2 * ITEMS
        assert sorted(server.stats.billed.values()) == [2] * ITEMS  # a cut answer was paid for
        assert ledger.usage().tokens > server.stats.tokens


def test_a_reservation_is_settled_once() -> None:
    ledger = MemoryLedger()
    first, second = ledger.reserve(Limits(), 100), ledger.reserve(Limits(), 100)
    assert first is not None
    assert second is not None
    for _again in range(2):
        ledger.settle(first, Usage(1, 30))
        assert ledger.usage() == Usage(2, 130)
    ledger.settle(second, Usage())
    assert ledger.usage() == Usage(1, 30)


def test_limits_of_0_are_none() -> None:
    ledger = MemoryLedger()
    assert all(ledger.reserve(Limits(), 10**9) for _ in range(3))
    assert not MemoryLedger().reserve(Limits(tokens=5), 6)
    assert MemoryLedger().reserve(Limits(tokens=6), 6)


def test_a_judge_that_does_not_answer_holds_up_no_tokenizer_and_no_other_profile(
    tmp_path: Path, judged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither while it is asked what it is nor while it is asked a question."""
    begun, let_go = threading.Event(), threading.Event()

    def hang(*_: Any) -> Exchange:
        begun.set()
        let_go.wait(30)
        return Exchange(failure="timeout")

    url = load_profile(judged).judge_spec().base_url
    for method in ("get", "post"):
        begun.clear()
        let_go.clear()
        with monkeypatch.context() as patch, ThreadPoolExecutor(2) as pool:
            patch.setattr(JudgeClient, method, hang)
            slow = pool.submit(report_of, profile_for(tmp_path / "slow.toml", url, retries=0))
            try:
                assert begun.wait(30)
                other = pool.submit(
                    lambda: (tokenizer("mecab-ko").tokenize("책을 읽었다"), shared_store(judged, "cpu").judge)
                )
                assert other.result(timeout=10)[0] == ("책", "을", "읽", "었", "다")
                assert not slow.done()
            finally:
                let_go.set()
            with pytest.raises(JudgeUnreachable):
                slow.result(timeout=30)


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
    assert time.monotonic() - began < SOON


def test_the_tally_says_what_was_repeated_and_why() -> None:
    tally = Tally()
    tally.repeated.update(["busy", "cut", "busy"])
    assert tally.as_dict()["repeated"] == {"busy": 2, "cut": 1}


def _with(ledger: MemoryLedger) -> Any:
    from scoring.metrics import MetricOptions

    return MetricOptions(ledger=ledger)
