"""Tracks of texts with a judge for reference: the same cache, budget, pauses and rescoring as every judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from malpan.competitions.models import Phase, Track
from malpan.jobs.models import Job
from malpan.submissions.models import JudgeUsage, MetricResult, ScoringRun
from malpan.submissions.rescoring import services as rescoring
from malpan.submissions.rescoring.batches import Selection
from malpan.submissions.scoring_changes import publish_reference_version
from malpan.teams.models import Team
from scoring.judging.demo import DemoJudge
from scoring.judging.demo_features import fluency, grounded
from scoring.recipes import RUBRICS
from tests.factories import PhaseFactory, TeamFactory, UserFactory, file_bytes
from tests.scoring.judging.toys import ESSAY, GOOD, STOCK, demo_judge, profile_for
from tests.submissions.conftest import execute, send

ITEMS = 10
PLAIN = "generation-rouge1@1"
JUDGED = f"{PLAIN}+fluency+faithfulness"
State = ScoringRun.State
pytestmark = pytest.mark.django_db(transaction=True)  # the lease is renewed on a connection of its own


def references() -> bytes:
    asked = {"question": "채식의 날?", "passage": ESSAY}
    return file_bytes([{"id": f"e{n}", "input": asked, "output": f"{ESSAY} {n}"} for n in range(ITEMS)])


def predictions(changed: int = 0) -> bytes:
    texts = [f"{GOOD if n % 2 else STOCK} {n}{'!' if n < changed else ''}" for n in range(ITEMS)]
    return file_bytes([{"id": f"e{n}", "output": text} for n, text in enumerate(texts)])


@pytest.fixture
def server() -> Iterator[DemoJudge]:
    with demo_judge() as running:
        yield running


@pytest.fixture
def profile(tmp_path: Path, server: DemoJudge) -> Path:
    return profile_for(tmp_path / "judged.toml", server.url)


def phase_by(recipe: str, profile: Path) -> Phase:
    made = PhaseFactory.create(track__recipe=recipe, track__profile=str(profile))
    publish_reference_version(phase=made, data=references(), actor=None)
    return made


@pytest.fixture
def phase(profile: Path, rings: list[str]) -> Phase:
    return phase_by(JUDGED, profile)


@pytest.fixture
def team(phase: Phase) -> Team:
    return TeamFactory.create(competition=phase.track.competition)


def sent(phase: Phase, team: Team, data: bytes | None = None) -> ScoringRun:
    return send(phase, team, data or predictions()).runs.get()


def test_the_judge_stands_beside_the_scores_and_ranks_nobody(
    phase: Phase, team: Team, server: DemoJudge, profile: Path, client: Any
) -> None:
    run = execute(sent(phase, team))
    plain = phase_by(PLAIN, profile)
    other = execute(sent(plain, TeamFactory.create(competition=plain.track.competition)))
    assert (run.state, other.state) == (State.FINISHED, State.FINISHED)
    assert run.final_score == other.final_score
    assert {name: run.scores[name] for name in other.scores} == other.scores
    assert not {*RUBRICS.values()} & other.scores.keys()

    texts = [f"{GOOD if n % 2 else STOCK} {n}" for n in range(ITEMS)]
    source = "[질문과 자료]\nquestion: 채식의 날?\npassage: {essay}\n\n[정답]\n{essay} {n}"
    expected = {
        "judge_fluency": [fluency(text)[0] / 5 for text in texts],
        "judge_faithfulness": [grounded(source.format(essay=ESSAY, n=n), text)[0] / 5 for n, text in enumerate(texts)],
    }
    for name, values in expected.items():
        assert run.scores[name] == pytest.approx(sum(values) / ITEMS, abs=1e-12)
        stored = MetricResult.objects.get(submission=run.submission_id, metric=name).values
        assert [stored[f"e{n}"] for n in range(ITEMS)] == values

    board = reverse("board", args=[phase.track.competition.slug])
    assert "유창성(LLM 심사)" not in client.get(board).content.decode().split("<tbody")[0]
    shown = client.get(board, {"metrics": "all"}).content.decode()
    assert "유창성(LLM 심사)" in shown
    assert "충실성(LLM 심사)" in shown


def test_a_second_file_asks_only_for_what_is_new_and_both_rubrics_count_in_one_budget(
    phase: Phase, team: Team, server: DemoJudge
) -> None:
    execute(sent(phase, team))
    assert sorted(server.stats.billed.values()) == [1] * 2 * ITEMS
    execute(sent(phase, team, predictions(changed=3)))
    assert sorted(server.stats.asked.values()) == [1] * 2 * (ITEMS + 3)
    usage = JudgeUsage.objects.get()
    assert (usage.requests, usage.tokens) == (2 * (ITEMS + 3), server.stats.tokens)


def test_a_budget_that_is_used_up_pauses_the_run_and_goes_on_where_it_stopped(
    phase: Phase, team: Team, server: DemoJudge, profile: Path
) -> None:
    profile_for(profile, server.url, max_requests=ITEMS + 4)  # within the second rubric
    run = execute(sent(phase, team))
    job = Job.objects.get(pk=run.job_id)
    assert (run.state, run.error_code, job.failures) == (State.QUEUED, "judge_budget_used_up", 0)
    assert server.stats.asked.total() == ITEMS + 4
    profile_for(profile, server.url, max_requests=100)
    run = execute(run)
    assert (run.state, run.error_code) == (State.FINISHED, "")
    assert sorted(server.stats.asked.values()) == [1] * 2 * ITEMS


def test_a_judge_that_is_away_is_waited_for(phase: Phase, team: Team, profile: Path) -> None:
    run = sent(phase, team)
    with demo_judge(faults=("error",), rate=0.15, most=99, seed=4) as broken:
        profile_for(profile, broken.url, retries=0)
        run = execute(run)
        answered = Counter(broken.stats.billed)
    assert (run.state, run.error_code) == (State.QUEUED, "judge_away")
    assert 0 < answered.total() < 2 * ITEMS
    with demo_judge() as back:
        profile_for(profile, back.url)
        run = execute(run)
        assert run.state == State.FINISHED
        assert sorted((answered + back.stats.billed).values()) == [1] * 2 * ITEMS


def test_a_judge_is_added_by_rescoring_and_no_other_value_is_computed_again(
    profile: Path, server: DemoJudge, rings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = phase_by(PLAIN, profile)
    run = execute(sent(plain, TeamFactory.create(competition=plain.track.competition)))
    organiser = UserFactory.create()
    batch = rescoring.start_batch(
        phase=plain, selection=Selection(), reason="심사 추가", actor=organiser, recipe=JUDGED
    )

    def refuse(*_given: Any, **_options: Any) -> Any:
        raise AssertionError("ROUGE was computed again")

    monkeypatch.setattr("scoring.metrics.several_references.PooledRouge1.row", refuse)
    again = execute(ScoringRun.objects.get(batch=batch))
    assert (again.state, again.final_score) == (State.FINISHED, run.final_score)
    assert server.stats.asked.total() == 2 * ITEMS
    batch.refresh_from_db()
    rescoring.apply_batch(batch=batch, actor=organiser)
    assert Track.objects.get(pk=plain.track_id).recipe == JUDGED
    run.submission.refresh_from_db()
    assert run.submission.live_run_id == again.pk


def test_without_a_judge_the_run_is_scored_and_says_what_is_missing(tmp_path: Path, rings: list[str]) -> None:
    bare = tmp_path / "bare.toml"
    bare.write_text('name = "bare"\n[judge]\nbase_url_env = "MALPAN_NO_SUCH_JUDGE"\nmodel = "x"\n', encoding="utf-8")
    phase = phase_by(JUDGED, bare)
    run = execute(sent(phase, TeamFactory.create(competition=phase.track.competition)))
    assert run.state == State.FINISHED
    codes = [row["code"] for row in run.warnings]
    assert [code for code in codes if code.endswith("not_configured")] == [
        "judge_fluency_not_configured",
        "judge_faithfulness_not_configured",
    ]
