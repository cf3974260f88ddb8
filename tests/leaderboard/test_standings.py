"""The standings are what ranking all live results gives, whatever changed and however: compared after every change."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from threading import Timer
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from malpan.competitions.models import Phase, ReferenceVersion, Track
from malpan.competitions.references import recipe_of
from malpan.leaderboard import composing, ranking, standings
from malpan.leaderboard.boards import COUNT, TIME, View
from malpan.leaderboard.models import Standing, StandingMark
from malpan.leaderboard.recomputing import differing
from malpan.leaderboard.results import comparable_entries, live_runs, public_entries, submission_counts
from malpan.leaderboard.rules import rule_of
from malpan.leaderboard.selectors import board
from malpan.leaderboard.tasks import compute_standings
from malpan.submissions.finals import mark_chosen, unmark_chosen
from malpan.submissions.models import FinalChoice, ScoringRun, Submission
from malpan.submissions.release import Release
from malpan.teams.models import Team
from tests.factories import PhaseFactory, ReferenceVersionFactory, TeamFactory, finished_submission
from tests.leaderboard.computing import somebody_computing

pytestmark = pytest.mark.django_db


COMPOSITE = [{"score": "final_score", "weight": 45}, {"score": "bleurt", "weight": 45}]


@pytest.fixture
def phase() -> Phase:
    return PhaseFactory.create()


def expected(phase: Phase, before: Any = None) -> tuple[Any, ...]:
    """The board from all live results, ranked in memory."""
    phase = Phase.objects.select_related("track").get(pk=phase.pk)
    recipe, runs, counts = recipe_of(phase.track), live_runs(phase, before), submission_counts(phase, before)
    release = Release(phase)
    on_ladder = {_ladder(run) for run in runs.values() if release.has_score(run.submission_id)}
    runs = {pk: run for pk, run in runs.items() if _ladder(run) in on_ladder}
    comparable = comparable_entries(runs.values(), recipe)
    entries = public_entries(comparable, release)
    if before is not None:
        entries = [replace(entry, is_chosen=_was_chosen(entry.submission_id, before)) for entry in entries]
    rows = [
        (
            *(each.rank, each.entry.team_id, each.entry.submission_id, each.entry.final_score),
            *(dict(each.entry.scores), counts[each.entry.team_id], each.composite),
        )
        for each in ranking.rank(entries, rule_of(phase, recipe))
    ]
    return rows, entries[0].signature_hash if entries else None, len(runs) - len(comparable)


def _was_chosen(submission: int, moment: Any) -> bool:
    times = FinalChoice.objects.filter(submission=submission)
    return any(each.chosen_at < moment and (each.ended_at is None or each.ended_at >= moment) for each in times)


def _ladder(run: ScoringRun) -> tuple[int, str]:
    return run.submission.team_id, run.signature_hash


def shown(phase: Phase, **view: Any) -> tuple[Any, ...]:
    found = board(Phase.objects.select_related("track__competition").get(pk=phase.pk), view=View(**view))
    rows = [
        (
            *(row.rank, row.team_id, row.submission and row.submission.pk, row.final_score),
            *(dict(row.scores), row.submission_count, row.composite),
        )
        for row in found.rows
    ]
    return rows, found.signature_hash, found.excluded_count


class World:
    """A phase with teams, and everything that can change its board, by services' statements and by others."""

    def __init__(self, phase: Phase, seed: int) -> None:
        self.phase, self.chance = phase, random.Random(seed)
        self.teams = [TeamFactory.create(competition=phase.track.competition, is_baseline=n == 0) for n in range(5)]
        self.versions = [ReferenceVersionFactory.create(phase=phase)]

    def change(self) -> str:
        steps: list[Callable[[], object]] = [self.submit] * 6 + [
            self.withdraw, self.refund, self.rescore, self.rescore_all, self.disqualify, self.readmit, self.swap_live,
            self.move_team, self.publish_references, self.change_recipe, self.freeze, self.toggle_baseline,
            self.delete_nothing, self.set_release, self.set_composite, self.set_counting, self.choose,
        ]  # fmt: skip
        step = self.chance.choice(steps)
        step()
        return step.__name__

    def submit(self) -> None:
        score = self.chance.choice([0.1, 0.5, 0.5, 0.5 + 4e-9, 0.5 + 6e-9, 0.9])
        moment = timezone.now() - timedelta(seconds=self.chance.randrange(4))
        current = self.versions[-1]
        submission = finished_submission(
            self.phase, self.chance.choice(self.teams), score, created_at=moment,
            signature_hash=self.chance.choice(["s", "s", "t", "u"]), scores=self.ties(),
        )  # fmt: skip
        runs = ScoringRun.objects.filter(submission=submission)
        runs.update(reference_version=self.chance.choice([current, *self.versions]), recipe=self.track().recipe)

    def ties(self) -> dict[str, float]:
        return {"exact_match": self.chance.choice([0.0, 0.5]), "bleurt": self.chance.random()}

    def some(self) -> Submission | None:
        found = list(Submission.objects.filter(phase=self.phase).order_by("pk"))
        return self.chance.choice(found) if found else None

    def track(self) -> Track:
        return Track.objects.get(pk=self.phase.track_id)

    def withdraw(self) -> None:
        Submission.objects.filter(pk=getattr(self.some(), "pk", None)).update(withdrawn_at=timezone.now())

    def refund(self) -> None:
        Submission.objects.filter(pk=getattr(self.some(), "pk", None)).update(refunded_at=timezone.now())

    def rescore(self) -> None:
        run = ScoringRun.objects.filter(live_for=self.some()).first()
        if run is not None:
            run.final_score, run.signature_hash = self.chance.random(), "t"
            run.save()

    def rescore_all(self) -> None:
        ScoringRun.objects.filter(live_for__phase=self.phase).update(signature_hash="v", final_score=0.25)

    def swap_live(self) -> None:
        Submission.objects.filter(pk=getattr(self.some(), "pk", None)).update(live_run=None)

    def disqualify(self) -> None:
        Team.objects.filter(pk=self.chance.choice(self.teams).pk).update(disqualified_at=timezone.now())

    def readmit(self) -> None:
        Team.objects.filter(pk__in=[team.pk for team in self.teams]).update(disqualified_at=None)

    def toggle_baseline(self) -> None:
        Team.objects.filter(pk=self.teams[1].pk).update(is_baseline=self.chance.random() < 0.5)

    def move_team(self) -> None:
        Submission.objects.filter(pk=getattr(self.some(), "pk", None)).update(team=self.chance.choice(self.teams))

    def publish_references(self) -> None:
        ReferenceVersion.objects.filter(phase=self.phase).update(is_current=False)
        number = 1 + max(ReferenceVersion.objects.filter(phase=self.phase).values_list("number", flat=True))
        self.versions.append(ReferenceVersionFactory.create(phase=self.phase, number=number, is_current=True))

    def change_recipe(self) -> None:
        recipe = self.chance.choice(["rag-qa@1", "rag-qa-strict@1"])
        Track.objects.filter(pk=self.phase.track_id).update(recipe=recipe)

    def freeze(self) -> None:
        moment = timezone.now() - timedelta(seconds=self.chance.randrange(4))
        Phase.objects.filter(pk=self.phase.pk).update(frozen_at=moment)

    def set_release(self) -> None:
        step = self.chance.choice([None, Decimal("0.1"), Decimal("0.01")])
        is_ladder = step is not None and self.chance.random() < 0.7
        Phase.objects.filter(pk=self.phase.pk).update(score_step=step, is_ladder=is_ladder)

    def set_composite(self) -> None:
        parts = self.chance.sample(["final_score", "exact_match", "bleurt", "rouge_1"], self.chance.randrange(4))
        composite = [{"score": name, "weight": self.chance.choice([45, 10])} for name in parts]
        Track.objects.filter(pk=self.phase.track_id).update(composite=composite)

    def set_counting(self) -> None:
        counting, score = self.chance.choice(Phase.Counting.values), self.chance.choice(["", "bleurt"])
        Phase.objects.filter(pk=self.phase.pk).update(counting=counting, counting_score=score)

    def choose(self) -> None:
        mark = mark_chosen if self.chance.random() < 0.7 else unmark_chosen
        if some := self.some():
            mark([some.pk], timezone.now() - timedelta(seconds=self.chance.randrange(4)))

    def delete_nothing(self) -> None:
        """A moment without a change."""


@pytest.mark.parametrize("is_composite", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_after_every_change_the_board_is_what_all_results_give(phase: Phase, seed: int, is_composite: bool) -> None:
    world = World(phase, seed)
    if is_composite:
        Track.objects.filter(pk=phase.track_id).update(composite=COMPOSITE)
        world.set_composite = world.set_counting  # type: ignore[method-assign]  # it stays one
    for step in range(40):
        name = world.change()
        again = Phase.objects.select_related("track").get(pk=phase.pk)
        assert differing(again) == [], "what is due is no difference"
        assert (step, name, shown(phase)) == (step, name, expected(phase))
        assert differing(again) == []
        phase.refresh_from_db()
        if phase.frozen_at is not None:
            Phase.objects.filter(pk=phase.pk).update(board=Phase.Board.FROZEN)
            assert (step, name, shown(phase)) == (step, name, expected(phase, phase.frozen_at))
            Phase.objects.filter(pk=phase.pk).update(board=Phase.Board.LIVE)
    standings.recompute(Phase.objects.select_related("track").get(pk=phase.pk))
    assert shown(phase) == expected(phase)


def test_only_the_teams_of_a_change_are_computed_again(phase: Phase, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = TeamFactory.create_batch(2, competition=phase.track.competition)
    finished_submission(phase, first, 0.5)
    finished_submission(phase, second, 0.6)
    board(phase)
    computed: list[Any] = []
    real = standings.recompute
    monkeypatch.setattr(standings, "recompute", lambda of, teams: (computed.append(teams), real(of, teams)))
    board(phase)
    finished_submission(phase, first, 0.7)
    assert [row.team_id for row in board(phase).rows] == [first.pk, second.pk]
    board(phase)
    assert computed == [{first.pk}]
    assert not StandingMark.objects.exists()


def test_a_page_has_the_places_and_ranks_of_the_whole_board(phase: Phase) -> None:
    teams = [TeamFactory.create(competition=phase.track.competition, is_baseline=n in (2, 5)) for n in range(9)]
    for number, team in enumerate(teams):
        finished_submission(phase, team, 1 - number / 10, scores={"bleurt": number / 10} if number != 4 else None)
    whole = board(phase).rows
    assert [row.rank for row in whole] == [1, 2, None, 3, 4, None, 5, 6, 7]
    assert [row.place for row in whole] == list(range(1, 10))
    for limit in (1, 2, 4, 20):
        pages = [board(phase, view=View(offset=start, limit=limit)) for start in range(0, 9, limit)]
        assert [row for page in pages for row in page.rows] == list(whole)
        assert {page.row_count for page in pages} == {9}
    after_baseline = board(phase, view=View(offset=3, limit=2))
    assert after_baseline.row_before == whole[1], "the last team's row before it"
    assert board(phase, view=View(limit=3)).row_before is None

    by_bleurt = board(phase, view=View("bleurt", is_descending=True, limit=3))
    assert [row.team_id for row in by_bleurt.rows] == [teams[8].pk, teams[7].pk, teams[6].pk]
    assert [row.rank for row in by_bleurt.rows] == [7, 6, 5]
    last = board(phase, view=View("bleurt", is_descending=False, offset=8, limit=3))
    assert [row.team_id for row in last.rows] == [teams[4].pk], "without the value: last, in either order"
    unknown = board(phase, view=View("no such", limit=3))
    assert (unknown.rows, unknown.view.sort) == (whole[:3], "rank")


def test_the_own_row_is_there_on_every_page(phase: Phase) -> None:
    teams = [TeamFactory.create(competition=phase.track.competition, is_baseline=n == 1) for n in range(6)]
    for team in teams:
        for _again in range(2):
            finished_submission(phase, team, 0.5)
    whole = board(phase, viewer_team=teams[4])
    assert whole.own_row is not None
    assert (whole.own_row.rank, whole.own_row.place) == (4, 5)
    for view in (View(limit=2), View(offset=4, limit=1), View(COUNT, is_descending=True, limit=1), View(TIME, limit=2)):
        assert board(phase, viewer_team=teams[4], view=view).own_row == whole.own_row
    outsider = TeamFactory.create(competition=phase.track.competition)
    assert board(phase, viewer_team=outsider, view=View(limit=2)).own_row is None


def test_a_change_that_is_taken_back_leaves_no_mark(phase: Phase) -> None:
    team = TeamFactory.create(competition=phase.track.competition)
    before = shown(phase)
    with transaction.atomic():
        finished_submission(phase, team, 0.5)
        assert StandingMark.objects.exists()
        transaction.set_rollback(True)
    assert not StandingMark.objects.exists()
    assert shown(phase) == before


@pytest.mark.django_db(transaction=True)
def test_readers_and_writers_at_once_end_with_the_right_board() -> None:
    phase = PhaseFactory.create()
    teams = TeamFactory.create_batch(4, competition=phase.track.competition)

    def work(number: int) -> None:
        chance = random.Random(number)
        try:
            for _step in range(15):
                if number % 2:
                    found = board(phase)
                    assert [row.rank for row in found.rows] == list(range(1, len(found.rows) + 1))
                else:
                    finished_submission(phase, chance.choice(teams), chance.random())
        finally:
            connection.close()

    ReferenceVersionFactory.create(phase=phase)
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))  # raises what one of them raised
    assert shown(phase) == expected(phase)
    assert Standing.objects.filter(phase=phase).count() == len({row[1] for row in shown(phase)[0]})


@pytest.fixture
def of_many(monkeypatch: pytest.MonkeyPatch) -> Phase:
    """A phase with three scored teams, where two are many, and the standings of a moment ago."""
    monkeypatch.setattr(standings, "MANY", 2)
    phase = PhaseFactory.create()
    ReferenceVersionFactory.create(phase=phase)
    for number, team in enumerate(TeamFactory.create_batch(3, competition=phase.track.competition)):
        finished_submission(phase, team, 0.5 + number / 10)
    standings.refresh_all()
    return phase


def _every_score_changes(phase: Phase) -> None:
    for run in ScoringRun.objects.filter(submission__phase=phase):
        ScoringRun.objects.filter(pk=run.pk).update(final_score=1 - run.final_score)


@pytest.mark.django_db(transaction=True)
def test_no_reader_computes_what_takes_long_and_the_housekeeper_does(of_many: Phase) -> None:
    before = shown(of_many)
    _every_score_changes(of_many)
    assert shown(of_many) == before
    assert StandingMark.objects.filter(phase=of_many).exists()
    compute_standings()
    assert shown(of_many) == expected(of_many) != before


@pytest.mark.django_db(transaction=True)
def test_a_reader_computes_it_where_the_housekeeper_is_gone_or_there_is_nothing_to_show(of_many: Phase) -> None:
    _every_score_changes(of_many)
    StandingMark.objects.update(made_at=timezone.now() - standings.PATIENCE)
    assert shown(of_many) == expected(of_many)
    _every_score_changes(of_many)
    Standing.objects.all().delete()
    assert shown(of_many) == expected(of_many)


@pytest.mark.django_db(transaction=True)
def test_a_reader_waits_a_moment_for_another_and_then_reads_what_was_before(
    of_many: Phase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standings, "MOMENT", timedelta(milliseconds=50))
    before = shown(of_many)
    run = ScoringRun.objects.filter(submission__phase=of_many).first()
    ScoringRun.objects.filter(pk=run.pk).update(final_score=0.99)
    with somebody_computing(of_many):
        assert shown(of_many) == before
        assert not standings.refresh(of_many, patience=timedelta())
    assert shown(of_many) == expected(of_many) != before


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_first", [True, False])
def test_who_changed_something_sees_it_though_another_is_computing(
    of_many: Phase, monkeypatch: pytest.MonkeyPatch, is_first: bool
) -> None:
    """The board of a phase whose first standings were being computed was shown empty."""
    monkeypatch.setattr(standings, "MOMENT", timedelta(seconds=20))
    before = shown(of_many)
    ScoringRun.objects.filter(pk=ScoringRun.objects.earliest("pk").pk).update(final_score=0.99)
    if is_first:
        Standing.objects.all().delete()
        StandingMark.objects.create(phase=of_many)
    with somebody_computing(of_many) as may_commit:
        Timer(0.2, may_commit.set).start()
        found = shown(of_many)
    assert found == expected(of_many) != before


def _names(phase: Phase, **view: Any) -> list[str]:
    return [row.team_name for row in board(phase, view=View(limit=100, **view)).rows]


def test_a_page_is_read_once_until_something_on_it_changes(phase: Phase, django_assert_num_queries: Any) -> None:
    first, second = TeamFactory.create_batch(2, competition=phase.track.competition)
    finished_submission(phase, first, 0.5)
    finished_submission(phase, second, 0.6)
    for view in (View(limit=100), View(TIME, limit=1)):
        before = board(phase, viewer_team=first, view=view)
        with django_assert_num_queries(1):  # the phase with its marks
            assert board(phase, viewer_team=first, view=view) == before
    assert [row.is_own for row in board(phase, view=View(limit=100)).rows] == [False, False], "another reader"

    Team.objects.filter(pk=second.pk).update(name="다른 이름")
    assert _names(phase) == ["다른 이름", first.name]
    finished_submission(phase, first, 0.7)
    assert _names(phase) == [first.name, "다른 이름"]
    Team.objects.filter(pk=first.pk).update(disqualified_at=timezone.now())
    assert _names(phase) == ["다른 이름"]
    type(phase.track.competition).objects.update(has_blind_names=True)
    Team.objects.filter(pk=second.pk).update(number=77)
    assert _names(phase) == ["참가팀 77"]


def test_what_was_read_of_a_change_that_is_taken_back_is_not_shown(phase: Phase) -> None:
    team, other = TeamFactory.create_batch(2, competition=phase.track.competition)
    finished_submission(phase, team, 0.5)
    before = _names(phase)
    with transaction.atomic():
        finished_submission(phase, other, 0.6)
        assert _names(phase) == [other.name, team.name]
        transaction.set_rollback(True)
    assert _names(phase) == before == [team.name]


def test_the_standings_are_computed_every_few_seconds(settings: Any) -> None:
    entry = settings.CELERY_BEAT_SCHEDULE["compute-standings"]
    assert (entry["task"], entry["schedule"]) == (compute_standings.name, 5.0)
    assert timedelta(seconds=entry["schedule"]) < standings.PATIENCE


@pytest.mark.django_db(transaction=True)
def test_no_reader_sets_many_composites_anew_and_the_housekeeper_does(
    of_many: Phase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(composing, "MANY", 2)
    Track.objects.filter(pk=of_many.track_id).update(composite=COMPOSITE)
    compute_standings()
    before = shown(of_many)
    finished_submission(of_many, Team.objects.get(pk=before[0][2][1]), 0.99, scores={"bleurt": 1.0})
    assert shown(of_many) == before
    compute_standings()
    assert shown(of_many) == expected(of_many) != before


@pytest.mark.django_db(transaction=True)
def test_no_half_new_composite_board_is_ever_seen() -> None:
    """While scores come in, every board read is one whose composites are those of exactly its own rows."""
    phase = PhaseFactory.create(track__composite=COMPOSITE, counting="latest")
    teams = TeamFactory.create_batch(5, competition=phase.track.competition)
    ReferenceVersionFactory.create(phase=phase)
    rule = rule_of(phase)

    def work(number: int) -> int:
        chance, read = random.Random(number), 0
        try:
            for _step in range(12):
                if number % 2:
                    rows = board(phase).rows
                    entries = [
                        ranking.Entry(row.team_id or 0, False, n, row.submitted_at, row.final_score, row.scores, "s")
                        for n, row in enumerate(rows)
                    ]
                    again = ranking.composites_of(entries, rule)
                    assert [row.composite for row in rows] == [again[row.team_id or 0] for row in rows]
                    read += bool(rows)
                else:
                    team = chance.choice(teams)
                    finished_submission(phase, team, chance.random(), scores={"bleurt": chance.random()})
        finally:
            connection.close()
        return read

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(work, range(6))) > 0
    assert shown(phase) == expected(phase)
