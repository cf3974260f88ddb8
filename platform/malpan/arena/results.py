"""The result of the votes of a campaign, as a worker computed it."""

from __future__ import annotations

from malpan.arena.computations import Kind, Question
from malpan.arena.errors import NoVotes, ResultNotComputable
from malpan.arena.models import Campaign
from malpan.core.language import reader_language
from scoring.arena.comparable import NoResult, require_result
from scoring.arena.votes import Votes, votes_bytes


def question_of(campaign: Campaign, votes: Votes) -> Question:
    """What the result of ``votes`` is. Raises ``NoVotes``, ``ResultNotComputable``."""
    require_computable(votes)
    return Question(
        competition=campaign.track.competition,
        kind=Kind.RESULT,
        given=votes_bytes(votes),
        campaign=campaign,
    )


def require_computable(votes: Votes) -> None:
    """Raise ``NoVotes`` or ``ResultNotComputable`` for ``votes`` that have no result."""
    if not votes.real():
        raise NoVotes
    try:
        require_result(votes)
    except NoResult as error:
        raise ResultNotComputable(explanation=error.message(reader_language())) from error
