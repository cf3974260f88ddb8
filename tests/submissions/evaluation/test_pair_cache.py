"""The site's store of pair values: shared by teams and workers, of no weight for a score, bounded, without a text."""

from __future__ import annotations

import logging
import math
import threading
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from malpan.competitions.models import Phase
from malpan.submissions.evaluation import pair_cache
from malpan.submissions.evaluation.pair_cache import DatabasePairValues
from malpan.submissions.models import PairValue, RescoreBatch, ScoringRun
from malpan.submissions.scoring_changes import publish_reference_version
from malpan.submissions.tasks import prune_pair_values
from malpan.teams.models import Team
from tests.factories import PhaseFactory, ScoringRunFactory, TeamFactory, UserFactory, file_bytes
from tests.scoring.fakes import FakeNeural
from tests.submissions.conftest import execute, send
from tests.threads import at_once

ITEMS = 30
SECRET = "비밀정답문장"  # stands in every reference reason
Asked = list[tuple[str, str, str]]
in_one_transaction = pytest.mark.django_db
committed = pytest.mark.django_db(transaction=True)  # the lease is renewed on a connection of its own
State = ScoringRun.State


@pytest.fixture
def contest(db: None, rings: list[str]) -> Phase:
    """An open phase with ``ITEMS`` items, each with a reason."""
    phase = PhaseFactory.create()
    publish_reference_version(phase=phase, data=a_file("기준", text=SECRET), actor=None)
    return phase


def a_file(mark: str, *, changed: int = 0, text: str = "규범에 따라 적는다") -> bytes:
    """Answers with reasons; the first ``changed`` of them say ``mark`` and are like no other file's."""
    return file_bytes(
        [
            {
                "id": f"q{number}",
                "input": {"question_type": "선택형", "question": f"{number}번 문제"},
                "output": {
                    "answer": f"답{number}이 옳다. {mark if number < changed else '같은'} 이유 {number}: {text}"
                },
            }
            for number in range(ITEMS)
        ]
    )


def scored(phase: Phase, data: bytes, team: Team | None = None) -> ScoringRun:
    team = team or TeamFactory.create(competition=phase.track.competition)
    return execute(send(phase, team, data).runs.get())


def counted(asked: Asked) -> dict[str, int]:
    """How many pairs each neural metric was asked since the last time."""
    counts = {name: sum(each[0] == name for each in asked) for name in ("bleurt", "bertscore")}
    asked.clear()
    return counts


NOTHING = {"bleurt": 0, "bertscore": 0}
ALL = {"bleurt": ITEMS, "bertscore": ITEMS}


# --- nothing twice ----------------------------------------------------------------------------------------------------
@committed
def test_ten_changed_answers_of_another_team_cost_ten_pairs_a_neural_metric(contest: Phase, neural: Asked) -> None:
    first = scored(contest, a_file("하나"))
    assert counted(neural) == ALL

    second = scored(contest, a_file("둘", changed=10))
    assert counted(neural) == {"bleurt": 10, "bertscore": 10}
    assert (first.state, second.state) == (State.FINISHED, State.FINISHED)

    PairValue.objects.all().delete()
    again = scored(contest, a_file("둘", changed=10))
    assert counted(neural) == ALL
    assert (again.scores, again.signature_hash) == (second.scores, second.signature_hash)


@committed
def test_another_metric_signature_computes_anew(contest: Phase, neural: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    scored(contest, a_file("하나"))
    counted(neural)
    monkeypatch.setattr(FakeNeural, "version", 2)

    scored(contest, a_file("둘", changed=1))
    assert counted(neural) == ALL


@committed
def test_a_repetition_made_to_show_noise_takes_nothing_from_the_store(contest: Phase, neural: Asked) -> None:
    run = scored(contest, a_file("하나"))
    counted(neural)
    batch = RescoreBatch.objects.create(
        competition=contest.track.competition, phase=contest, reason="반복", repeats=2, created_by=UserFactory.create()
    )
    repeated = ScoringRunFactory.create(
        submission=run.submission, reference_version=run.reference_version, recipe=run.recipe, batch=batch
    )

    assert execute(repeated).state == State.FINISHED
    assert counted(neural) == ALL


@committed
def test_a_store_that_is_turned_off_keeps_nothing(contest: Phase, neural: Asked, settings: Any) -> None:
    settings.PAIR_VALUES_MAX_ROWS = 0
    scored(contest, a_file("하나"))
    scored(contest, a_file("둘", changed=1))
    assert counted(neural) == {"bleurt": 2 * ITEMS, "bertscore": 2 * ITEMS}
    assert not PairValue.objects.exists()


@committed
def test_values_come_back_bit_for_bit(contest: Phase) -> None:
    store = DatabasePairValues()
    values = {("기준", f"답 {n}"): math.sin(n) / 3 for n in range(12_001)}  # three chunks
    store.put("bleurt", "s" * 64, values)

    assert DatabasePairValues().get("bleurt", "s" * 64, [*values, ("기준", "다른 답")]) == values
    assert PairValue.objects.count() == len(values)


@in_one_transaction
def test_pairs_that_run_together_alike_are_told_apart() -> None:
    store = DatabasePairValues()
    store.put("m", "s", {("가", "나다"): 1.0})
    others = [("가나", "다"), ("", "가나다"), ("나다", "가")]
    assert store.get("m", "s", [*others, ("가", "나다")]) == {("가", "나다"): 1.0}
    assert store.get("ms", "", [("가", "나다")]) == {}


@in_one_transaction
def test_a_strange_text_is_kept_like_any_other() -> None:
    strange = {("\ud800", "\x00"): 0.5, ("", ""): 0.25, ("가" * 100_000, "\udfff\ud800"): 0.75}
    DatabasePairValues().put("m", "s", strange)
    assert DatabasePairValues().get("m", "s", list(strange)) == strange


# --- no text, no key to guess it by -----------------------------------------------------------------------------------
@committed
def test_the_table_holds_no_text_and_its_keys_depend_on_the_sites_secret(
    contest: Phase, neural: Asked, settings: Any
) -> None:
    scored(contest, a_file("하나"))
    with connection.cursor() as cursor:
        cursor.execute("SELECT t::text FROM submissions_pairvalue t")
        everything = "".join(row for (row,) in cursor.fetchall())
    assert SECRET.encode().hex() not in everything
    assert all(len(bytes(key)) == 32 for key in PairValue.objects.values_list("key", flat=True))

    settings.SECRET_KEY = "another-site"
    counted(neural)
    scored(contest, a_file("둘", changed=1))
    assert counted(neural) == ALL


# --- a help, never a need ---------------------------------------------------------------------------------------------
@committed
def test_a_table_that_lost_everything_changes_no_score(contest: Phase, neural: Asked) -> None:
    first = scored(contest, a_file("하나"))
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE submissions_pairvalue")
        cursor.execute("SELECT relpersistence FROM pg_class WHERE relname = 'submissions_pairvalue'")
        assert cursor.fetchone() == ("u",)
    counted(neural)

    assert scored(contest, a_file("하나")).scores == first.scores
    assert counted(neural) == ALL


@committed
def test_a_locked_table_delays_a_score_by_one_statement_and_is_told_once(
    contest: Phase, neural: Asked, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(pair_cache, "STATEMENT_SECONDS", 0.2)
    locked, done = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE submissions_pairvalue IN ACCESS EXCLUSIVE MODE")
            locked.set()
            assert done.wait(60)

    def score() -> ScoringRun:
        assert locked.wait(60)
        try:
            return scored(contest, a_file("하나"))
        finally:
            done.set()

    with caplog.at_level(logging.WARNING, "malpan.submissions.evaluation.pair_cache"):
        _, run = at_once([hold, score])
    assert isinstance(run, ScoringRun)
    assert run.state == State.FINISHED
    assert counted(neural) == ALL
    logged = [record.message for record in caplog.records if record.name == "malpan.submissions.evaluation.pair_cache"]
    assert logged == ["the store of pair values is not used for the rest of this scoring: OperationalError"]


@committed
def test_a_missing_table_fails_no_score(contest: Phase, neural: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_cache, "_SELECT", "SELECT key, value FROM no_such_table WHERE key = ANY(%s)")
    assert scored(contest, a_file("하나")).state == State.FINISHED
    assert counted(neural) == ALL


@committed
def test_a_connection_cut_while_the_metric_worked_is_made_anew(db: None, caplog: pytest.LogCaptureFixture) -> None:
    store = DatabasePairValues()
    assert store.get("m", "s", [("가", "나")]) == {}
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (backend,) = cursor.fetchone()

    def cut() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [backend])

    at_once([cut])
    store.put("m", "s", {("가", "나"): 0.5})
    assert store.get("m", "s", [("가", "나")]) == {("가", "나"): 0.5}
    assert not caplog.records


@in_one_transaction
def test_a_store_that_dawdles_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    store = DatabasePairValues()
    store.put("m", "s", {("가", "나"): 1.0})
    monkeypatch.setattr(pair_cache, "BUDGET_SECONDS", 0.0)
    monkeypatch.setattr(pair_cache, "CHUNK_SECONDS", 0.0)
    assert store.get("m", "s", [("가", "나")]) == {("가", "나"): 1.0}  # what was answered late still holds
    assert store.get("m", "s", [("가", "나")]) == {}


@in_one_transaction
def test_an_error_that_is_not_the_databases_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_cache, "_select", lambda keys: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        DatabasePairValues().get("m", "s", [("가", "나")])


@in_one_transaction
@pytest.mark.parametrize("evil", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_neither_kept_nor_believed(evil: float, monkeypatch: pytest.MonkeyPatch) -> None:
    store = DatabasePairValues()
    store.put("m", "s", {("가", "나"): evil, ("가", "다"): 0.5})
    assert store.get("m", "s", [("가", "나"), ("가", "다")]) == {("가", "다"): 0.5}
    with pytest.raises(IntegrityError, match="pair_value_is_finite"), transaction.atomic():
        PairValue.objects.create(key=b"k" * 32, value=evil)
    monkeypatch.setattr(pair_cache, "_select", lambda keys: [(key, evil) for key in keys])
    assert store.get("m", "s", [("가", "나")]) == {}


# --- many at once, and bounded ----------------------------------------------------------------------------------------
@committed
def test_workers_that_write_the_same_pairs_in_any_order_all_finish(
    db: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Time is no matter here: PostgreSQL ends a deadlock after a second, and the store would say so."""
    monkeypatch.setattr(pair_cache, "STATEMENT_SECONDS", 60.0)
    monkeypatch.setattr(pair_cache, "BUDGET_SECONDS", 600.0)
    workers, rounds = 6, 5
    pairs = [{(f"기준 {turn} {n}", "답"): n / 7 for n in range(3_000)} for turn in range(rounds)]
    together = threading.Barrier(workers)

    def work(place: int) -> None:
        store = DatabasePairValues()
        for of_round in pairs:
            together.wait(60)
            store.put("m", "s", dict(sorted(of_round.items(), reverse=bool(place % 2))))

    at_once([lambda place=place: work(place) for place in range(workers)])
    for of_round in pairs:
        assert DatabasePairValues().get("m", "s", list(of_round)) == of_round
    assert PairValue.objects.count() == 3_000 * rounds
    assert not caplog.records


@in_one_transaction
@pytest.mark.parametrize("without", ["", "hashjoin mergejoin hashagg sort material"])
def test_the_oldest_rows_beyond_the_bound_go_a_bounded_number_a_pass(
    settings: Any, monkeypatch: pytest.MonkeyPatch, without: str
) -> None:
    """Whichever plan PostgreSQL chooses: ``without`` names those that it may not use."""
    with connection.cursor() as cursor:
        for plan in without.split():
            cursor.execute(f"SET LOCAL enable_{plan} = off")
    settings.PAIR_VALUES_MAX_ROWS = 40
    monkeypatch.setattr(pair_cache, "PRUNE_CHUNK", 10)
    monkeypatch.setattr(pair_cache, "PRUNE_CHUNKS", 3)
    store = DatabasePairValues()
    ages = [("기준", f"{n}") for n in range(100)]
    for pair in ages:
        store.put("m", "s", {pair: 0.5})

    assert [pair_cache.prune(), pair_cache.prune(), pair_cache.prune()] == [30, 30, 0]
    assert list(store.get("m", "s", ages)) == ages[60:]


@in_one_transaction
def test_an_empty_store_and_one_within_its_bound_are_left_as_they_are(settings: Any) -> None:
    assert pair_cache.prune() == 0
    DatabasePairValues().put("m", "s", {("가", "나"): 1.0})
    prune_pair_values()
    assert PairValue.objects.count() == 1


def test_the_beat_prunes() -> None:
    from django.conf import settings

    assert prune_pair_values.name in {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
