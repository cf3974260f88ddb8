"""The hash chain: every entry is bound to all before it, and every score that counts is bound in its moment."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from malpan.competitions.models import Competition, Phase
from malpan.submissions.evaluation.runs import finish_run
from malpan.submissions.intake import submit
from malpan.submissions.integrity import chain, receipts
from malpan.submissions.models import ChainEntry, HiddenResult, ScoringRun, Submission
from scoring.signature import json_sha256
from tests.factories import (
    CompetitionFactory,
    PhaseFactory,
    ScoringRunFactory,
    TeamFactory,
    finished_submission,
    leader_of,
    prediction_bytes,
    publish,
    report,
)
from tests.submissions.conftest import claim_run
from tests.threads import at_once

pytestmark = pytest.mark.django_db


def entries_of(competition: Competition) -> list[ChainEntry]:
    return list(ChainEntry.objects.filter(competition=competition).order_by("number"))


def hidden_result(run: ScoringRun, final_score: float = 0.25) -> HiddenResult:
    return HiddenResult.objects.create(
        run=run, final_score=final_score, scores={"final_score": final_score}, signature_hash="h"
    )


def loose(entry: ChainEntry, **changes: Any) -> Any:
    """A copy that can be forged."""
    fields = ("number", "kind", "payload", "previous_sha256", "sha256")
    return SimpleNamespace(**{name: getattr(entry, name) for name in fields} | changes)


def test_entries_are_numbered_from_one_and_linked() -> None:
    competition = CompetitionFactory.create()
    for number in range(3):
        chain.append(competition=competition, kind="board", payload={"n": number})
    first, second, third = entries_of(competition)
    assert [first.number, second.number, third.number] == [1, 2, 3]
    assert first.previous_sha256 == ""
    assert (second.previous_sha256, third.previous_sha256) == (first.sha256, second.sha256)
    assert chain.verify([first, second, third]) == []


def test_hash_is_of_canonical_json_as_the_docstring_says() -> None:
    entry = chain.append(competition=CompetitionFactory.create(), kind="board", payload={"나": "가", "a": 1})
    text = '{"kind":"board","number":1,"payload":{"a":1,"나":"가"},"previous":""}'
    assert entry.sha256 == sha256(text.encode()).hexdigest()


def test_every_competition_has_its_own_chain() -> None:
    one, other = CompetitionFactory.create(), CompetitionFactory.create()
    chain.append(competition=one, kind="board", payload={})
    assert chain.append(competition=other, kind="board", payload={}).number == 1


def test_payload_keeps_no_floats_and_reads_back_from_the_database_as_hashed() -> None:
    moment = datetime(2026, 11, 20, 14, 50, tzinfo=UTC)
    payload = {"score": 0.1 + 0.2, "tiny": 1e-300, "at": moment, "list": (1, None, True)}
    entry = chain.append(competition=CompetitionFactory.create(), kind="board", payload=payload)
    entry.refresh_from_db()
    assert entry.payload == {
        "score": "0.30000000000000004",
        "tiny": "1e-300",
        "at": "2026-11-20T23:50:00+09:00",
        "list": [1, None, True],
    }
    assert chain.verify([entry]) == []


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ({"payload": {"n": 9}}, {(2, "hash")}),
        ({"kind": "score"}, {(2, "hash")}),
        ({"sha256": "0" * 64}, {(2, "hash"), (3, "previous")}),
        ({"previous_sha256": "0" * 64}, {(2, "hash"), (2, "previous")}),
        ({"number": 7}, {(7, "hash"), (7, "number")}),
    ],
)
def test_any_change_inside_the_chain_is_found(changes: dict[str, Any], codes: set[tuple[int, str]]) -> None:
    competition = CompetitionFactory.create()
    for number in range(4):
        chain.append(competition=competition, kind="board", payload={"n": number})
    entries: list[Any] = entries_of(competition)
    entries[1] = loose(entries[1], **changes)
    assert {(problem.number, problem.code) for problem in chain.verify(entries)} == codes


def test_an_entry_taken_out_is_found() -> None:
    competition = CompetitionFactory.create()
    for number in range(4):
        chain.append(competition=competition, kind="board", payload={"n": number})
    first, _gone, *rest = entries_of(competition)
    assert chain.Problem(3, "previous") in chain.verify([first, *rest])


def test_the_database_refuses_to_change_or_delete_an_entry() -> None:
    entry = chain.append(competition=CompetitionFactory.create(), kind="board", payload={})
    for statement in ("UPDATE submissions_chainentry SET number = 9", "DELETE FROM submissions_chainentry"):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
    assert chain.verify(entries_of(entry.competition)) == []


@pytest.mark.django_db(transaction=True)
def test_appends_at_once_make_one_chain_without_gaps() -> None:
    competition = CompetitionFactory.create()
    made = at_once(
        [lambda n=n: chain.append(competition=competition, kind="board", payload={"n": n}) for n in range(50)]
    )
    assert sorted(entry.number for entry in made) == list(range(1, 51))
    assert chain.verify(entries_of(competition)) == []


def test_accepted_submission_gets_a_receipt_that_binds_its_file_and_its_team_by_number() -> None:
    phase = PhaseFactory.create()
    publish(phase)
    team = TeamFactory.create(competition=phase.track.competition, name="비밀스러운 팀")
    data = prediction_bytes()
    submission = submit(phase=phase, team=team, user=leader_of(team), file_name="a.json", upload=data)
    (entry,) = entries_of(team.competition)
    assert (entry.kind, entry.submission_id) == ("receipt", submission.pk)
    opening = receipts.receipt_opening(entry)
    assert opening == {
        "received_at": submission.created_at.astimezone(timezone.get_default_timezone()).isoformat(),
        "file_sha256": sha256(data).hexdigest(),
        "team": team.number,
        "salt": entry.salt,
    }
    assert entry.payload == {
        "submission": str(submission.public_id),
        "track": phase.track.slug,
        "phase": phase.slug,
        "receipt_sha256": json_sha256(opening),
    }
    assert len(entry.salt) == 2 * chain.SALT_BYTES
    assert team.name not in json.dumps(opening, ensure_ascii=False)


def test_score_is_bound_when_it_first_counts_and_not_given_away() -> None:
    phase = PhaseFactory.create()
    run = ScoringRunFactory.create(submission__phase=phase)
    claimed = claim_run(run)
    assert claimed is not None
    finish_run(run_id=run.pk, attempt=claimed.attempt, report=report(0.123456789))
    (entry,) = entries_of(phase.track.competition)
    assert entry.payload["submission"] == str(run.submission.public_id)
    assert (entry.payload["run"], entry.payload["part"]) == (1, "public")
    assert "0.123456789" not in json.dumps(entry.payload)
    opening = receipts.openings([ScoringRun.objects.get(pk=run.pk)])[entry.number]
    assert opening["final_score"] == "0.123456789"
    assert json_sha256(opening) == entry.payload["score_sha256"]


def test_hidden_result_is_bound_in_an_entry_of_its_own() -> None:
    phase = PhaseFactory.create()
    submission = finished_submission(phase, TeamFactory.create(competition=phase.track.competition), 0.5)
    hidden_result(submission.live_run)
    public, private = chain.append_scores([submission])
    assert (public.payload["part"], private.payload["part"]) == ("public", "private")
    assert public.payload["score_sha256"] != private.payload["score_sha256"]


def test_equal_scores_do_not_look_equal_in_the_chain() -> None:
    phase = PhaseFactory.create()
    team = TeamFactory.create(competition=phase.track.competition)
    twins = [finished_submission(phase, team, 0.5) for _ in range(2)]
    one, other = chain.append_scores(twins)
    assert one.payload["score_sha256"] != other.payload["score_sha256"]


def test_what_the_chain_says_already_is_not_said_again() -> None:
    phase = PhaseFactory.create()
    submission = finished_submission(phase, TeamFactory.create(competition=phase.track.competition), 0.5)
    assert len(chain.append_scores([submission])) == 1
    assert chain.append_scores([submission]) == []


def test_a_new_live_run_makes_a_new_entry_with_its_number() -> None:
    phase = PhaseFactory.create()
    submission = finished_submission(phase, TeamFactory.create(competition=phase.track.competition), 0.5)
    chain.append_scores([submission])
    again = ScoringRunFactory.create(
        submission=submission, state="finished", finished_at=timezone.now(), final_score=0.75, scores={}
    )
    Submission.objects.filter(pk=submission.pk).update(live_run=again)
    (entry,) = chain.append_scores([submission])
    assert entry.payload["run"] == 2


def test_a_live_run_has_its_number_among_all_runs_whatever_waits_after_it() -> None:
    phase = PhaseFactory.create()
    team = TeamFactory.create(competition=phase.track.competition)
    submission, other = (finished_submission(phase, team, score) for score in (0.5, 0.6))
    ScoringRunFactory.create(submission=submission)
    (entry,) = chain.append_scores([submission])
    assert (entry.submission_id, entry.payload["run"]) == (submission.pk, 1)
    assert [each.submission_id for each in chain.append_scores([submission, other])] == [other.pk]


def test_scores_enter_each_chain_in_the_order_of_their_runs() -> None:
    """Competitions made in one transaction, as by an import, have one moment."""
    moment = timezone.now()
    phases = [PhaseFactory.create() for _ in range(2)]
    Competition.objects.update(created_at=moment)
    teams = [TeamFactory.create(competition=phase.track.competition) for phase in phases]
    first, second, third, fourth = (finished_submission(phases[n], teams[n], 0.5) for n in (0, 1, 0, 1))
    added = chain.append_scores([fourth, first, third, second])
    assert [(each.submission_id, each.number) for each in added] == [
        (first.pk, 1),
        (third.pk, 2),
        (second.pk, 1),
        (fourth.pk, 2),
    ]


def test_the_newest_score_of_a_submission_is_found_among_entries_of_other_kinds() -> None:
    competition = CompetitionFactory.create()
    submission = finished_submission(
        PhaseFactory.create(track__competition=competition), TeamFactory.create(competition=competition), 0.5
    )
    chain.append(competition=competition, kind="receipt", payload={"submission": "x"}, submission=submission)
    for number in (1, 2):
        payload = {"part": "public", "run": number}
        chain.append(competition=competition, kind="score", payload=payload, submission=submission)
    found = chain.newest_scores(ChainEntry.objects.all())
    assert {key: entry.payload["run"] for key, entry in found.items()} == {(submission.pk, "public"): 2}


def test_a_score_that_does_not_exist_is_not_committed_to() -> None:
    scored = SimpleNamespace(final_score=0.5, scores={"bleu": 0.25, "judge": None})
    assert chain.values_of(scored) == {"final_score": "0.5", "scores": {"bleu": "0.25"}}


def test_scores_of_many_submissions_take_one_lock_and_few_queries(django_assert_max_num_queries: Any) -> None:
    phase = PhaseFactory.create()
    team = TeamFactory.create(competition=phase.track.competition)
    submissions = [finished_submission(phase, team, number / 50) for number in range(50)]
    with django_assert_max_num_queries(10):
        assert len(chain.append_scores(submissions)) == 50
    assert chain.verify(entries_of(team.competition)) == []


@pytest.mark.parametrize("split", ["public", "private"])
def test_receipt_opens_a_score_only_while_its_team_may_see_it(split: str) -> None:
    phase = PhaseFactory.create(board="hidden", shows_own_score=False)
    submission = finished_submission(phase, TeamFactory.create(competition=phase.track.competition), 0.5)
    hidden_result(submission.live_run, 0.25)
    chain.append_scores([submission])

    def opened() -> dict[str, Any]:
        found = Submission.objects.get(pk=submission.pk)
        return {each.entry.payload["part"]: each.opening for each in receipts.receipt_of(found).scores}

    assert opened() == {"public": None, "private": None}
    Phase.objects.filter(pk=phase.pk).update(shows_own_score=True)
    assert (opened()["public"]["final_score"], opened()["private"]) == ("0.5", None)
    Phase.objects.filter(pk=phase.pk).update(final_published_at=timezone.now())
    assert opened()[split]["final_score"] == {"public": "0.5", "private": "0.25"}[split]


def test_of_the_entries_that_commit_to_a_result_the_newest_is_opened_and_else_the_newest_of_all() -> None:
    phase = PhaseFactory.create()
    submission = finished_submission(phase, TeamFactory.create(competition=phase.track.competition), 0.5)
    chain.append_scores([submission])
    for final_score in (0.75, 0.75):
        again = ScoringRunFactory.create(
            submission=submission, state="finished", finished_at=timezone.now(), final_score=final_score, scores={}
        )
        Submission.objects.filter(pk=submission.pk).update(live_run=again)
        chain.append_scores([submission])
    first, *_equal, last = ScoringRun.objects.order_by("pk")
    entries = entries_of(phase.track.competition)
    assert [entry.payload["run"] for entry in entries] == [1, 2, 3]

    def opened(result: ScoringRun) -> tuple[int, str, bool]:
        """The number of the entry, the score it opens, and whether it commits to that."""
        [(number, opening)] = receipts.openings([result]).items()
        committed = entries[number - 1].payload["score_sha256"]
        return number, opening["final_score"], json_sha256(opening) == committed

    assert opened(first) == (1, "0.5", True)
    assert opened(last) == (3, "0.75", True)
    last.final_score = 0.9  # forged: everybody sees that it differs
    assert opened(last) == (3, "0.9", False)
