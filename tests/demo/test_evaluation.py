"""The demo's human evaluation: made by the services, complete, verifiable, and nothing twice."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass
from io import StringIO
from typing import Any

import pytest
from django.core import mail
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from malpan.accounts.models import User
from malpan.arena.judging import judge_assignment
from malpan.arena.models import Assignment, Campaign, CampaignJudge, CampaignResult, Exclusion, Judgement, Rubric
from malpan.arena.quality import live_quality
from malpan.arena.queue import texts_of
from malpan.competitions.models import Competition, CompetitionRole
from malpan.core.models import AuditEntry
from malpan.core.storage import read_private
from malpan.demo import judges
from malpan.demo.evaluation import PLAN, evaluate_demo
from malpan.demo.loading import LoadCount, load_competition
from malpan.demo.readers import likeness
from malpan.demo.specs import COMPETITIONS
from malpan.demo.teams import PAST_TEAMS
from malpan.leaderboard.models import BoardSnapshot
from malpan.stages.awards import withdraw_awards
from malpan.stages.models import Award
from malpan.stages.verification import verify_competition
from malpan.submissions.models import ChainEntry
from scoring.arena.result import compute
from scoring.arena.votes import read_votes
from tests.database import count_rows
from tests.factories import UserFactory
from tests.submissions.conftest import collect_rings, work_uncommitted
from tests.submissions.rescoring.contest_of_many import with_fake_models, work_off

pytestmark = pytest.mark.django_db
ADDRESS = "/competitions/demo-past/campaigns/culture-qa/1/"
RANDOM = next(place for place, row in enumerate(PLAN["judges"], start=1) if row["behaviour"] == "random")


@dataclass(frozen=True)
class Evaluated:
    """``too_early``: what a call before the scoring gave. ``judged_before``: judgements when the first was cut off."""

    too_early: Campaign | None
    judged_before: int
    seconds: float


@pytest.fixture(scope="module", autouse=True)
def evaluated(kept: None) -> Evaluated:
    """The past contest, scored and evaluated, the first evaluation cut off among the judgements."""
    with pytest.MonkeyPatch.context() as patched:
        collect_rings(patched)
        work_uncommitted(patched)
        with_fake_models(patched)
        load_competition(COMPETITIONS[0], timezone.now(), LoadCount())
        too_early = evaluate_demo()
        assert not BoardSnapshot.objects.exists()
        work_off()
        _cut_off(patched)
        before = Judgement.objects.count()
    started = time.monotonic()
    evaluate_demo()
    count_rows()
    return Evaluated(too_early, before, time.monotonic() - started)


def _cut_off(patched: pytest.MonkeyPatch) -> None:
    """Evaluate, and stop at the tenth judgement."""
    calls: list[Any] = []

    def judge_nine(**arguments: Any) -> Judgement:
        calls.append(arguments)
        if len(calls) > 9:
            raise KeyboardInterrupt
        return judge_assignment(**arguments)

    with patched.context() as inner:
        inner.setattr(judges, "judge_assignment", judge_nine)
        with pytest.raises(KeyboardInterrupt):
            evaluate_demo()


def row_counts() -> dict[str, int]:
    models = (Campaign, CampaignJudge, Rubric, Assignment, Judgement, Exclusion, CampaignResult, BoardSnapshot, User)
    return {
        model.__name__: model.objects.count() for model in (*models, ChainEntry, AuditEntry, CompetitionRole, Award)
    }


def test_nothing_is_evaluated_before_it_is_scored_and_a_cut_off_evaluation_is_completed(evaluated: Evaluated) -> None:
    assert (evaluated.too_early, evaluated.judged_before) == (None, 9)
    campaign = Campaign.objects.get()
    assert campaign.state == Campaign.State.PUBLISHED
    assert set(campaign.assignments.values_list("state", flat=True)) == {Assignment.State.DONE}
    assert campaign.assignments.count() == Judgement.objects.count()
    moments = [campaign.phase.ends_at, campaign.opened_at, campaign.closed_at, timezone.now()]
    assert moments == sorted(moments)


def test_the_final_board_is_published_and_its_teams_are_the_systems() -> None:
    snapshot = BoardSnapshot.objects.get()
    assert snapshot.kind == BoardSnapshot.Kind.FINAL
    chosen = [str(row.submission.public_id) for row in Campaign.objects.get().systems.order_by("position")]
    assert len(chosen) == len(PAST_TEAMS) == 5
    assert set(chosen) == {row["submission"] for row in snapshot.rows}


def test_its_first_teams_have_published_awards_with_numbers() -> None:
    snapshot, awards = BoardSnapshot.objects.get(), Award.objects.order_by("position")
    assert [each.title_ko for each in awards] == ["대상", "최우수상", "우수상"]
    first = [row["team_number"] for row in snapshot.rows if row["rank"] and row["rank"] <= 3]
    assert [each.team.number for each in awards] == first
    assert {each.board_snapshot for each in awards} == {snapshot}
    assert [each.serial for each in awards] == [1, 2, 3]
    assert all(each.published_at <= timezone.now() and each.prize_ko and each.prize_en for each in awards)
    page = Client(headers={"Accept-Language": "ko"}).get("/competitions/demo-past/").content.decode()
    assert "말판상, 상금 300만 원" in page


def test_what_an_organiser_made_of_the_awards_stays() -> None:
    organiser = Award.objects.earliest("position").competition.roles.get().user
    withdraw_awards(competition=Competition.objects.get(), actor=organiser)
    evaluate_demo()
    assert not Award.objects.filter(published_at__isnull=False)


def test_the_chain_proves_everything() -> None:
    competition = Competition.objects.get()
    assert verify_competition(competition) == []
    entries = ChainEntry.objects.filter(competition=competition, kind=ChainEntry.Kind.ARENA).order_by("number")
    events = [entry.payload["event"] for entry in entries]
    assert events == ["committed", "opened", "closed", "published", "published"]
    Campaign.objects.update(seed="0" * 64)
    assert [finding.code for finding in verify_competition(competition)] == ["seed_differs"]


def test_each_result_is_what_its_votes_give_and_the_votes_are_what_the_judges_said() -> None:
    said = Counter(
        (row.value["choice"], row.seconds)
        for row in Judgement.objects.exclude(assignment__kind=Assignment.Kind.CALIBRATION)
    )
    for result in CampaignResult.objects.all():
        votes = read_votes(read_private(result.votes_sha256))
        assert compute(votes).bytes() == read_private(result.result_sha256)
        assert Counter((vote.value["choice"], vote.seconds) for vote in votes.votes) == said


def test_points_of_the_systems_are_those_of_a_plain_count() -> None:
    """Without the scores of the model: how often each won, tied, lost in the votes that count."""
    result = CampaignResult.objects.get(number=2)
    file = json.loads(read_private(result.votes_sha256))
    out = {row["judge"] for row in file["exclusions"]}
    counts: Counter[tuple[str, str]] = Counter()
    for vote in file["votes"]:
        if vote["kind"] == "real" and vote["judge"] not in out:
            first, second = vote["systems"]
            won = {"first": first, "second": second}.get(vote["value"]["choice"])
            for label in (first, second):
                counts[label, "ties" if won is None else "wins" if won == label else "losses"] += 1
    document = json.loads(read_private(result.result_sha256))
    for row in document["systems"]:
        assert {name: row[name] for name in ("wins", "ties", "losses")} == {
            name: counts[row["label"], name] for name in ("wins", "ties", "losses")
        }


def test_the_one_who_clicks_is_left_out_of_the_second_result_for_what_they_did() -> None:
    exclusion = Exclusion.objects.select_related("judge").get()
    assert exclusion.judge is not None
    assert exclusion.judge.email == f"demo-judge-{RANDOM}@example.com"
    first, second = CampaignResult.objects.order_by("number")
    before, after = (read_votes(read_private(each.votes_sha256)) for each in (first, second))
    own = [vote for vote in before.votes if vote.judge == exclusion.judge.label]
    assert len(before.real()) - len(after.real()) == sum(vote.kind == "real" for vote in own) > 0
    controls = [vote for vote in own if vote.kind == "control"]
    failed = [vote for vote in controls if vote.value["choice"] != ("second", "first")[vote.bad or 0]]
    assert f"확인 문항 {len(controls)}개 가운데 {len(failed)}개를" in exclusion.reason
    assert second.note_ko


def test_simulated_judges_are_as_different_as_they_should_be() -> None:
    quality = {each.judge.email: each for each in live_quality(Campaign.objects.get()).judges}
    assert len(quality) == len(PLAN["judges"]) == 8
    seconds = {place: quality[f"demo-judge-{place}@example.com"].median_seconds or 0 for place in range(1, 9)}
    assert min(seconds, key=lambda place: seconds[place]) == RANDOM
    assert quality[f"demo-judge-{RANDOM}@example.com"].too_fast > 0


def test_two_equal_outputs_are_tied_by_whoever_reads() -> None:
    rows = Judgement.objects.select_related("assignment__item", "assignment__judge")
    readers = rows.exclude(assignment__judge__email=f"demo-judge-{RANDOM}@example.com")
    equal = [row for row in readers if len(set(texts_of(row.assignment))) == 1]
    assert equal
    assert {row.value["choice"] for row in equal} == {"tie"}


def test_a_second_evaluation_changes_nothing_and_the_command_says_so() -> None:
    before, output = row_counts(), StringIO()
    call_command("evaluate_demo", stdout=output)
    assert row_counts() == before
    assert "발표되어 있습니다" in output.getvalue()


def test_a_campaign_of_somebody_else_is_left_alone() -> None:
    Campaign.objects.update(created_by=UserFactory.create())
    before = row_counts()
    assert evaluate_demo() is None
    assert row_counts() == before


def test_no_mail_is_sent_and_no_judge_can_log_in(mailoutbox: list[Any]) -> None:
    assert not mail.outbox
    assert not any(judge.user.has_usable_password() for judge in CampaignJudge.objects.select_related("user"))


def test_everybody_sees_the_result(client: Client) -> None:
    page = client.get(ADDRESS)
    assert page.status_code == 200
    text = page.content.decode()
    for team in PAST_TEAMS:
        assert team.name in text
    assert not [row["name"] for row in PLAN["judges"] if row["name"] in text], "judges have no names"


def test_likeness_is_that_to_the_nearest_alternative() -> None:
    assert likeness("김치", "된장#김치") == 1.0
    assert likeness("3", "4") == 0.0
    assert 0 < likeness("김장은 늦가을에 한다", "김장은 겨울을 앞두고 한다") < 1
