"""What decides in a phase, for those who take part: what its scores are of, what is shown of them and of names."""

from __future__ import annotations

from datetime import datetime

from django.utils.translation import gettext as _

from malpan.competitions.models import Competition, Phase
from malpan.competitions.selectors import public_share
from malpan.submissions.visibility import sees_own_off_the_board
from malpan.web.presenters.scores import step_text

Fact = tuple[str, str]  # a name and a sentence


def rules_of_phase(phase: Phase, now: datetime | None = None) -> list[Fact]:
    """The rules of ``phase`` that apply, in the reader's language."""
    is_published = phase.final_published_at is not None
    facts = [
        (_("공개 문항"), _share_text(phase)),
        (_("점수의 단위"), "" if is_published else release_text(phase)),
        (_("내 점수"), "" if is_published else _own_score_text(phase)),
        (_("팀 이름"), "" if phase.is_over(now) else blind_text(phase.track.competition)),
    ]
    return [(name, text) for name, text in facts if text]


def ranked_by_text(phase: Phase) -> str:
    """Of which items the scores are that the published final board ranks by; empty where all scores are of all."""
    if public_share(phase) is None:
        return ""
    if phase.private_covers_all:
        return _("공개 문항과 비공개 문항을 합한 모든 문항의 점수로 매긴 순위입니다.")
    return _("비공개 문항의 점수로 매긴 순위입니다.")


def release_text(phase: Phase) -> str:
    """What the phase gives away of public scores; empty where it is every digit."""
    step = step_text(phase)
    if step is None:
        return ""
    if phase.is_ladder:
        text = _(
            "공개 점수는 %(step)s점 단위입니다. 팀의 공개 점수보다 %(step)s점 넘게 오른 제출만 새 점수를 받고, 모든 "
            "자리의 점수는 최종 발표 때 공개합니다. 최종 순위에는 새 점수를 받지 못한 제출도 들며, 반올림하지 않은 "
            "점수로 매깁니다."
        )
    else:
        text = _(
            "공개 점수는 %(step)s점 단위로 반올림합니다. 모든 자리의 점수는 최종 발표 때 공개하고, 최종 순위는 "
            "반올림하지 않은 점수로 매깁니다."
        )
    return text % {"step": step}


def blind_text(competition: Competition) -> str:
    """How others see the teams while a phase is open; empty where they see their names."""
    if not competition.has_blind_names:
        return ""
    return _(
        "단계가 열려 있는 동안 다른 사람에게는 팀 이름 대신 ‘참가팀 3’처럼 번호로 보이고, 단계가 끝나면 이름이 "
        "보입니다."
    )


def _share_text(phase: Phase) -> str:
    share = public_share(phase)
    if share is None:
        return ""
    if phase.private_covers_all:
        text = _("공개 점수는 문항의 %(share)d%%로 매기고, 최종 순위는 모든 문항의 점수로 정합니다.")
    else:
        text = _("공개 점수는 문항의 %(share)d%%로 매기고, 최종 순위는 나머지 비공개 문항의 점수로 정합니다.")
    return text % {"share": share}


def _own_score_text(phase: Phase) -> str:
    """What a team sees of its own scores while others see no live board; empty where they do."""
    texts = {
        (Phase.Board.FROZEN, True): _("순위표를 고정한 뒤에도 자기 팀의 공개 점수는 보입니다."),
        (Phase.Board.FROZEN, False): _(
            "순위표를 고정한 뒤에 낸 제출의 점수는 최종 발표까지 그 팀에도 보이지 않습니다."
        ),
        (Phase.Board.HIDDEN, True): _("순위표가 비공개인 동안에도 자기 팀의 공개 점수는 보입니다."),
        (Phase.Board.HIDDEN, False): _("순위표가 비공개인 동안 점수는 그 팀에도 보이지 않습니다."),
    }
    return texts.get((Phase.Board(phase.board), sees_own_off_the_board(phase)), "")
