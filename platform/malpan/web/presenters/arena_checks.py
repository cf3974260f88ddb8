"""How judges did on controls and repeats, in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy, pgettext_lazy

from malpan.arena.checks import CONTROL, REPEAT, Checks, KindOfCheck, Tally
from malpan.arena.models import CampaignJudge
from malpan.web.presenters.arena_manage import QualityLine

NAMES: Final[dict[str, Promise]] = {
    "other_item": gettext_lazy("다른 문항의 답"),
    "shuffled": gettext_lazy("낱말을 뒤섞은 글"),
    "cut": gettext_lazy("중간에서 끊긴 글"),
    "looped": gettext_lazy("같은 말을 되풀이한 글"),
    "": gettext_lazy("망가뜨린 방법을 알 수 없는 글"),
    CONTROL: pgettext_lazy("list", "확인 문항 모두"),
    REPEAT: gettext_lazy("되풀이 문항"),
}


@dataclass(frozen=True, slots=True)
class CheckLine:
    """A kind of check. ``parts``: the failures in each third of the queues, ``–`` where none was met."""

    name: str
    failed: str
    share: float
    judges: str
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JudgeCheckLine:
    """The checks of one kind that a judge met."""

    judge: CampaignJudge
    name: str
    failed: str
    parts: tuple[str, ...]


def check_lines(checks: Checks) -> list[CheckLine]:
    """Every kind that was met; the controls of each rule before the line of all."""
    return [
        CheckLine(
            name=str(NAMES[kind.name]),
            failed=_text(kind.every),
            share=kind.every.failed / kind.every.count,
            judges=f"{kind.judges_failed} / {kind.judges}",
            parts=_parts(kind),
        )
        for kind in checks.kinds
    ]


def judge_check_lines(checks: Checks, lines: Iterable[QualityLine]) -> list[JudgeCheckLine]:
    """What the judges of ``lines`` met, in their order."""
    return [
        JudgeCheckLine(line.judge, str(NAMES[kind.name]), _text(kind.every), _parts(kind))
        for line in lines
        for kind in checks.of_judge.get(line.judge.pk, ())
    ]


def _parts(kind: KindOfCheck) -> tuple[str, ...]:
    return tuple(_text(part) for part in kind.parts)


def _text(tally: Tally) -> str:
    return f"{tally.failed} / {tally.count}" if tally.count else "–"
