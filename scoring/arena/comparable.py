"""Whether votes have a result at all. Loads nothing that computes."""

from __future__ import annotations

from typing import Final

from scoring.arena.vote_records import Votes
from scoring.errors import Language, Message, ScoringError

SYSTEMS_LEAST: Final = 2

_TOO_FEW: Final = Message(
    "결과를 내려면 평가된 시스템이 둘 이상이어야 하는데 {count}개입니다. 셈에서 뺀 판단과 평가자를 확인하십시오.",
    "A result needs judgements of two systems or more; there are {count}. See which ones and which judges are left "
    "out.",
)


class NoResult(ScoringError):
    """The votes that count do not compare two systems."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(self.message("en"))

    def message(self, language: Language = "ko") -> str:
        return _TOO_FEW.filled(language, count=self.count)


def require_result(votes: Votes) -> None:
    """Raise ``NoResult`` if the real votes of ``votes`` do not show two systems."""
    count = len({label for vote in votes.real() for label in vote.systems})
    if count < SYSTEMS_LEAST:
        raise NoResult(count)
