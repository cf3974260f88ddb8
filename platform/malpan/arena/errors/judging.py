"""Errors about judging."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from malpan.core.errors import Conflict, NotFound, Unprocessable


class AssignmentNotFound(NotFound):
    """No such assignment of this judge."""

    text = _("배정된 문항을 찾을 수 없습니다. 평가 화면을 다시 열어 주십시오.")


class CalibrationMissing(Conflict):
    """Practice comes first. Params: ``left``, how many units."""

    text = _("연습 문항 %(left)s개를 먼저 마쳐 주십시오.")


class ValueInvalid(Unprocessable):
    """A judgement is not of the protocol's form. ``field``: what is missing or wrong; ``reason`` selects the text.
    Params: ``name``, of the criterion or output.
    """

    text = {
        "form": _("판단을 읽을 수 없습니다. 평가 화면을 다시 열고 판단해 주십시오."),
        "choice": _("어느 쪽이 나은지 골라 주십시오."),
        "reasons": _("고른 까닭이 기준표에 없습니다. 평가 화면을 다시 열어 주십시오."),
        "score_missing": _("‘%(name)s’의 점수를 골라 주십시오."),
        "score_range": _("‘%(name)s’의 점수가 척도를 벗어납니다."),
        "rank_missing": _("모든 출력의 순위를 정해 주십시오."),
        "rank_range": _("순위는 1부터 출력의 수까지입니다."),
        "rank_gap": _("순위가 건너뜁니다. 1위부터 차례로 정해 주십시오. 같은 순위는 괜찮습니다."),
        "span": _("표시한 오류의 자리가 출력을 벗어나거나 비어 있습니다."),
        "severity": _("오류의 정도를 골라 주십시오."),
        "category": _("오류의 종류를 골라 주십시오."),
        "spans_many": _("한 출력에 오류를 200개까지 표시할 수 있습니다."),
        "score": _("점수를 0부터 100까지의 정수로 적어 주십시오."),
        "note": _("메모를 2,000자 안으로 적어 주십시오."),
    }

    def __init__(self, reason: str, field: str = "value", *, name: str = "") -> None:
        super().__init__(reason=reason, name=name)
        self.field = field


class JudgementElsewhere(Conflict):
    """The assignment was judged meanwhile, such as in another tab. Params: none."""

    text = _("다른 창이나 기기에서 이미 판단한 문항입니다. 지금의 판단을 보고 필요하면 고쳐 주십시오.")


class NotJudgedYet(Conflict):
    """There is nothing to correct. Params: none."""

    text = _("아직 판단하지 않은 문항이라 고칠 것이 없습니다.")


class AssignmentSealed(Conflict):
    """The judge was shown it before they were barred from another system. Params: none."""

    text = _(
        "아는 팀을 알리기 전에 본 문항은 다시 열거나 고칠 수 없습니다. 어느 문항이 그 팀의 것인지 드러나지 않게 하기 "
        "위해서입니다. 보낸 판단은 그대로 남아 있습니다."
    )


class AssignmentVoid(Conflict):
    """The assignment does not count any more. Params: none."""

    text = _("이 문항은 더 평가하지 않습니다. 다음 문항으로 넘어가 주십시오. 이미 낸 판단은 남아 있습니다.")
