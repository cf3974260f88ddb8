"""What the public chain opens: of a published final board what was published, whatever was scored since; and each
competition its own entries.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.utils import timezone

from malpan.competitions.models import Competition, Phase
from malpan.leaderboard.openings import PublicChain, read_chain
from malpan.leaderboard.snapshots import publish_final_board
from malpan.submissions.integrity import chain, receipts
from malpan.submissions.models import ChainEntry, ScoringRun, Submission
from tests.factories import PhaseFactory, ScoringRunFactory, TeamFactory, UserFactory, finished_submission

pytestmark = pytest.mark.django_db


@pytest.fixture
def phase() -> Phase:
    return PhaseFactory.create()


def recorded(phase: Phase, score: float) -> Submission:
    """That of a new team, with its receipt and score in the chain."""
    submission = finished_submission(phase, TeamFactory.create(competition=phase.track.competition), score)
    receipts.issue_receipt(submission=submission)
    chain.append_scores([submission])
    return submission


def published(phase: Phase) -> None:
    Phase.objects.filter(pk=phase.pk).update(ends_at=timezone.now())
    phase.refresh_from_db()
    publish_final_board(phase=phase, actor=UserFactory.create(is_superuser=True))


def rescored(submission: Submission, score: float) -> None:
    """By a rescoring of which no board was published; and an attempt of it that failed."""
    run = {"submission": submission, "signature_hash": "s"}
    finished = {"state": ScoringRun.State.FINISHED, "finished_at": timezone.now()}
    submission.live_run = ScoringRunFactory.create(**run, **finished, final_score=score, scores={"final_score": score})
    submission.save(update_fields=["live_run"])
    chain.append_scores([submission])
    ScoringRunFactory.create(**run, state=ScoringRun.State.FAILED)


def entries_of(competition: Competition) -> list[ChainEntry]:
    return list(ChainEntry.objects.filter(competition=competition).select_related("submission").order_by("number"))


def opened_scores(competition: Competition, entries: list[ChainEntry]) -> list[tuple[Any, str]]:
    """The opened scores of ``entries``, with their submissions, as the page has them."""
    opened = read_chain(competition, lambda public: public.openings(entries))
    found = [(each.submission, opened.get(each.number, {}).get("final_score")) for each in entries]
    return [(submission, score) for submission, score in found if score is not None]


def in_the_file(competition: Competition) -> dict[int, Any]:
    """What ``chain.json`` opens, by number."""
    lines = read_chain(competition, lambda public: [json.loads(line) for line in public.lines()])
    return {line["number"]: line["opening"] for line in lines if "opening" in line}


def test_after_a_rescoring_that_is_not_published_the_published_score_is_opened(phase: Phase) -> None:
    competition = phase.track.competition
    first, second = recorded(phase, 0.5), recorded(phase, 0.25)
    published(phase)
    rescored(first, 0.875)

    entries = entries_of(competition)

    assert opened_scores(competition, entries) == [(first, "0.5"), (second, "0.25")]
    assert in_the_file(competition) == read_chain(competition, lambda public: public.openings(entries))


def test_a_page_of_the_chain_opens_what_stands_on_it(phase: Phase) -> None:
    competition = phase.track.competition
    first, second = recorded(phase, 0.5), recorded(phase, 0.25)
    published(phase)
    for submission, score in ((first, "0.5"), (second, "0.25")):
        own = [each for each in entries_of(competition) if each.submission == submission]
        assert opened_scores(competition, own) == [(submission, score)]


def test_an_entry_whose_submission_is_gone_opens_nothing(phase: Phase) -> None:
    competition = phase.track.competition
    recorded(phase, 0.5)
    gone = chain.append(competition=competition, kind=chain.Kind.SCORE, payload={"part": "public"})
    assert gone.number not in read_chain(competition, lambda public: public.openings(entries_of(competition)))


def test_each_competition_has_its_own_entries_the_newest_first(phase: Phase) -> None:
    recorded(phase, 0.5)
    other = PhaseFactory.create()
    for score in (0.5, 0.25):
        recorded(other, score)
    competition = phase.track.competition

    def read(public: PublicChain) -> tuple[int | None, list[tuple[int, int]]]:
        found = [(each.competition_id, each.number) for each in public.entries(range(1, 5))]
        return public.last and public.last.number, found

    assert read_chain(competition, read) == (2, [(competition.pk, 2), (competition.pk, 1)])
    assert read_chain(competition, lambda public: [each.number for each in public.entries([1])]) == [1]


def test_a_hidden_board_opens_neither_a_receipt_nor_a_score(phase: Phase) -> None:
    competition = phase.track.competition
    recorded(phase, 0.5)
    assert len(in_the_file(competition)) == 2

    Phase.objects.filter(pk=phase.pk).update(board=Phase.Board.HIDDEN)

    assert read_chain(competition, lambda public: public.openings(entries_of(competition))) == {}
    assert in_the_file(competition) == {}


def test_a_chain_without_an_entry_has_a_name_and_no_lines(phase: Phase) -> None:
    competition = phase.track.competition
    name, lines = read_chain(competition, lambda public: (public.state, list(public.lines())))
    assert (len(name), lines) == (64, [])
    recorded(phase, 0.5)
    assert read_chain(competition, lambda public: public.state) != name
