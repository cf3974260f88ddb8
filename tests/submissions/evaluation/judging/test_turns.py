"""Jobs that hold the same pair at once: one asks, and both have its answer. Real threads, and the database decides."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.jobs.models import Job
from malpan.jobs.tasks import work_next
from malpan.submissions.evaluation import judge_values, large_runs
from malpan.submissions.evaluation.judge_values import ANY, RunValues
from malpan.submissions.models import Judgement, JudgeReservation, JudgeUsage, ScoringRun
from malpan.submissions.rescoring import services as rescoring
from malpan.submissions.rescoring.batches import Selection
from malpan.submissions.scoring_changes import publish_reference_version
from malpan.submissions.tasks import prune_pair_values
from malpan.teams.models import Team
from scoring.judging import asking
from scoring.judging.demo import DemoJudge
from tests.factories import PhaseFactory, TeamFactory, UserFactory, file_bytes
from tests.scoring.judging.toys import ESSAY, GOOD, demo_judge, profile_for
from tests.submissions.conftest import execute, fresh, send
from tests.submissions.evaluation.judging.judged import ITEMS, judged_values, predictions, sent
from tests.threads import at_once

State = ScoringRun.State
pytestmark = pytest.mark.django_db(transaction=True)  # the lease is renewed on a connection of its own
PAIR, OTHER = ("가", "나"), ("가", "다")


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "WAIT_SECONDS", 0.05)


@pytest.fixture
def slow(profile: Path) -> Iterator[DemoJudge]:
    with demo_judge(delay=0.2) as running:
        profile_for(profile, running.url, timeout=10)
        yield running


# --- the turns --------------------------------------------------------------------------------------------------------
def test_a_pair_is_one_jobs_until_it_has_a_value() -> None:
    one, other = (RunValues((ANY, run), None, asker=run) for run in (1, 2))
    assert one.take("llm_judge", "s", [PAIR, OTHER], 60) == {PAIR, OTHER}
    assert one.take("llm_judge", "s", [PAIR], 60) == {PAIR}  # again, for a repeated request
    assert other.take("llm_judge", "s", [PAIR, OTHER], 60) == set()
    assert other.take("llm_judge", "another signature", [PAIR], 60) == {PAIR}
    assert other.get("llm_judge", "s", [PAIR]) == {}
    one.put("llm_judge", "s", {PAIR: 0.6})
    assert other.take("llm_judge", "s", [PAIR], 60) == set()
    assert one.take("llm_judge", "s", [PAIR], 60) == set()
    assert other.get("llm_judge", "s", [PAIR]) == {PAIR: 0.6}
    other.give_back("llm_judge", "s", [PAIR, OTHER])  # it has neither
    assert other.take("llm_judge", "s", [OTHER], 60) == set()
    one.give_back("llm_judge", "s", [PAIR, OTHER])
    assert other.take("llm_judge", "s", [OTHER], 60) == {OTHER}
    assert other.get("llm_judge", "s", [PAIR]) == {PAIR: 0.6}


def test_a_turn_ends_by_itself_and_the_value_that_was_stored_first_holds() -> None:
    one, other = (RunValues((ANY, run), None, asker=run) for run in (1, 2))
    assert one.take("llm_judge", "s", [PAIR], 60) == {PAIR}
    Judgement.objects.update(asked_until=timezone.now() - timedelta(seconds=1))
    assert other.take("llm_judge", "s", [PAIR], 60) == {PAIR}
    assert one.take("llm_judge", "s", [PAIR], 60) == set()
    other.put("llm_judge", "s", {PAIR: 0.4})
    one.put("llm_judge", "s", {PAIR: 0.8})  # late
    assert one.get("llm_judge", "s", [PAIR]) == other.get("llm_judge", "s", [PAIR]) == {PAIR: 0.4}


def test_an_unparsable_answer_ends_the_turn_and_is_no_value_for_others() -> None:
    one, other = (RunValues((ANY, run), None, asker=run) for run in (1, 2))
    one.take("llm_judge", "s", [PAIR], 60)
    one.put("llm_judge", "s", {PAIR: 0.0})
    assert one.get("llm_judge", "s", [PAIR]) == {PAIR: 0.0}
    assert other.get("llm_judge", "s", [PAIR]) == {}
    assert other.take("llm_judge", "s", [PAIR], 60) == {PAIR}


def test_of_many_at_once_one_gets_the_turn() -> None:
    pairs = [("가", str(number)) for number in range(200)]

    def take(asker: int) -> set[tuple[str, str]]:
        store = RunValues((ANY, asker), None, asker=asker)
        mine = pairs if asker % 2 else pairs[::-1]
        return set().union(*(store.take("llm_judge", "s", mine[start : start + 9], 60) for start in range(0, 200, 9)))

    found: list[Any] = at_once([partial(take, asker) for asker in range(1, 7)])
    assert sum(map(len, found)) == len(set().union(*found)) == 200


def test_turns_of_killed_jobs_are_forgotten_and_values_never() -> None:
    store = RunValues((ANY, 1), None, asker=1)
    store.take("llm_judge", "s", [PAIR, OTHER], 60)
    store.put("llm_judge", "s", {PAIR: 0.6})
    prune_pair_values()
    assert Judgement.objects.count() == 2
    Judgement.objects.filter(value=None).update(asked_until=timezone.now() - judge_values.FORGOTTEN_AFTER)
    prune_pair_values()
    assert [row.value for row in Judgement.objects.all()] == [0.6]


def test_a_database_that_is_away_keeps_no_error_from_being_told(monkeypatch: pytest.MonkeyPatch) -> None:
    store = RunValues((ANY, 1), None, asker=1)
    store.take("llm_judge", "s", [PAIR], 60)
    monkeypatch.setattr(judge_values, "_GIVE_BACK", "SELECT 1 FROM no_such_table WHERE %s || %s || %s")
    store.give_back("llm_judge", "s", [PAIR])
    connection.close()


# --- runs at once -----------------------------------------------------------------------------------------------------
def test_two_runs_with_the_same_pairs_at_once_ask_each_of_them_once(phase: Phase, slow: DemoJudge) -> None:
    teams = [TeamFactory.create(competition=phase.track.competition) for _ in range(3)]
    runs = [sent(phase, team, predictions(f"{n}", changed=n)) for n, team in enumerate(teams)]
    at_once([partial(execute, run) for run in runs])
    assert [fresh(run).state for run in runs] == [State.FINISHED] * 3
    assert sorted(slow.stats.asked.values()) == [1] * (ITEMS + 1 + 2)
    values = [judged_values(run) for run in runs]
    assert {item: values[0][item] for item in list(values[0])[2:]} == {
        item: values[2][item] for item in list(values[2])[2:]
    }
    assert not Judgement.objects.filter(value=None).exists()
    usage = JudgeUsage.objects.get()
    assert (usage.requests, usage.tokens) == (ITEMS + 3, slow.stats.tokens)


def test_a_blank_rationale_has_no_row_and_no_question(phase: Phase, team: Team, server: DemoJudge) -> None:
    rows = [{"id": f"e{n}", **{trait: {"score": 3, "rationale": " " if n < 4 else f"{GOOD} {n}"} for trait in
             ("content", "organization", "expression")}} for n in range(ITEMS)]  # fmt: skip
    run = execute(sent(phase, team, file_bytes(rows)))
    assert run.state == State.FINISHED
    values = judged_values(run)
    assert [values[f"e{n}"] for n in range(4)] == [0.0] * 4
    assert server.stats.asked.total() == Judgement.objects.count() == ITEMS - 4
    assert run.scores["llm_judge"] == pytest.approx(sum(values.values()) / ITEMS)


# --- large runs -------------------------------------------------------------------------------------------------------
@pytest.fixture
def large(settings: Any) -> Iterator[None]:
    settings.LARGE_RUN_ITEMS, settings.SLICE_ITEMS = ITEMS - 1, 3
    large_runs.forget_files()
    yield
    large_runs.forget_files()


def work_off(workers: int = 4) -> None:
    """Until nothing waits that is due, by so many workers at once."""
    while [job for job in at_once([partial(work_next, worker=f"w{n}") for n in range(workers)]) if job is not None]:
        pass


def slices_of(run: ScoringRun) -> list[Job]:
    return list(Job.objects.filter(parent=run.job_id).order_by("number"))


@pytest.mark.usefixtures("large")
def test_a_large_judged_run_without_neural_metrics_is_judged_in_slices(
    phase: Phase, team: Team, slow: DemoJudge, settings: Any
) -> None:
    settings.LARGE_RUN_ITEMS = 10**6
    whole = execute(sent(phase, team))
    assert slices_of(whole) == []
    expected, asked = judged_values(whole), slow.stats.asked.total()
    settings.LARGE_RUN_ITEMS = ITEMS - 1

    Judgement.objects.all().delete()
    other = TeamFactory.create(competition=phase.track.competition)
    run = sent(phase, other)
    work_off()
    assert fresh(run).state == State.FINISHED
    slices = slices_of(run)
    assert [(each.state, each.failures) for each in slices] == [(Job.State.FINISHED, 0)] * 4
    assert len({each.worker for each in slices}) > 1
    assert judged_values(run) == expected
    assert run.scores == whole.scores
    assert run.signature_hash == whole.signature_hash
    assert slow.stats.asked.total() == asked + ITEMS
    assert JudgeUsage.objects.get().requests == 2 * ITEMS
    assert not JudgeReservation.objects.exists()


@pytest.mark.usefixtures("large")
def test_slices_never_exceed_the_budget_and_go_on_when_there_is_more(
    phase: Phase, team: Team, profile: Path, slow: DemoJudge
) -> None:
    profile_for(profile, slow.url, timeout=10, max_requests=7)
    run = sent(phase, team)
    work_off()
    assert slow.stats.asked.total() == 7
    assert fresh(run).error_code == "judge_budget_used_up"
    waiting = [each for each in slices_of(run) if each.state == Job.State.QUEUED]
    assert waiting
    assert {each.failures for each in slices_of(run)} == {0}
    assert not Judgement.objects.filter(value=None).exists()

    profile_for(profile, slow.url, timeout=10, max_requests=ITEMS)
    Job.objects.update(not_before=None)
    work_off()
    assert fresh(run).state == State.FINISHED
    assert sorted(slow.stats.asked.values()) == [1] * ITEMS


@pytest.mark.usefixtures("large")
def test_repetitions_are_judged_in_slices_too_and_each_anew(phase: Phase, team: Team, slow: DemoJudge) -> None:
    run = sent(phase, team)
    work_off()
    batch = rescoring.start_batch(
        phase=phase, selection=Selection(), reason="반복", actor=UserFactory.create(is_superuser=True), repeats=2
    )
    work_off()
    assert [len(slices_of(each)) for each in batch.runs.all()] == [4, 4]
    assert {each.state for each in batch.runs.all()} == {State.FINISHED}
    assert sorted(slow.stats.asked.values()) == [3] * ITEMS
    assert judged_values(run).keys() == {f"e{n}" for n in range(ITEMS)}


@pytest.mark.usefixtures("large")
def test_equal_texts_in_several_slices_are_asked_about_once(
    profile: Path, slow: DemoJudge, rings: list[str], settings: Any
) -> None:
    """Fluency reads the answer alone: three different ones among twelve items."""
    settings.PAIR_VALUES_MAX_ROWS = 0  # judgements have a store of their own
    made = PhaseFactory.create(track__recipe="generation-rouge1@1+fluency", track__profile=str(profile))
    asked = {"question": "채식의 날?", "passage": ESSAY}
    rows = [{"id": f"e{n}", "input": asked, "output": f"{ESSAY} {n}"} for n in range(ITEMS)]
    publish_reference_version(phase=made, data=file_bytes(rows), actor=None)
    answers = [{"id": f"e{n}", "output": f"{GOOD} {n % 3}"} for n in range(ITEMS)]
    team = TeamFactory.create(competition=made.track.competition)
    run = send(made, team, file_bytes(answers)).runs.get()
    work_off()
    assert fresh(run).state == State.FINISHED
    assert len(slices_of(run)) == 4
    assert sorted(slow.stats.asked.values()) == [1] * 3
