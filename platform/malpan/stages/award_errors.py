"""Errors about awards."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from malpan.core.errors import Conflict, NotFound, Unprocessable


class AwardNotFound(NotFound):
    """No such award in this competition, or none that the person may have. Params: none."""

    text = _("상장을 찾을 수 없습니다. 아직 공개되지 않았거나 취소되었을 수 있습니다.")


class AwardNotValid(NotFound):
    """The address of an award is not one of this site, or the award does not stand any more. Params: none."""

    text = _(
        "확인할 수 없는 상장입니다. 주소가 잘못되었거나, 시상이 취소되었거나, 공개를 거두었습니다. 대회를 연 곳에 "
        "문의해 주십시오."
    )


class AwardInvalid(Unprocessable):
    """The values of an award do not fit. ``field``: the column at fault; ``reason`` selects the text."""

    text = {
        "title": _("상 이름을 60자 안으로 적어 주십시오. 예: 대상, 최우수상, 우수상"),
        "text": _("영어 이름과 부상은 120자 안으로 적어 주십시오."),
        "awarded_on": _("시상일을 2000년부터 2999년까지의 날짜로 적어 주십시오."),
        "team": _(
            "이 대회에서 제출한 참가 팀을 골라 주십시오. 기준 모델의 팀과 다른 팀에 합쳐진 팀은 받을 수 없습니다."
        ),
        "track": _("최종 결과를 발표한 이 대회의 트랙을 골라 주십시오."),
        "places": _("1위부터 몇 위까지 줄지 1에서 20까지의 수로 적어 주십시오."),
        "position": _("차례는 목록 안의 수로 적어 주십시오."),
    }

    def __init__(self, reason: str, field: str = "") -> None:
        super().__init__(reason=reason)
        self.field = field or reason


class NoFinalResult(Conflict):
    """Awards follow a published final result. Params: none."""

    text = _("아직 시상할 수 없습니다. 어느 한 트랙의 최종 결과(최종 순위표나 종합 결과)를 먼저 발표해 주십시오.")


class AwardToDisqualified(Conflict):
    """A disqualified team gets no award. Params: ``teams``, their names."""

    text = _("실격한 팀에는 상을 줄 수 없습니다: %(teams)s. 실격을 거두거나 이 팀의 상을 빼 주십시오.")


class AwardHasNumber(Conflict):
    """The number of an award stands on paper and is of one team. Params: ``number``."""

    text = _(
        "제%(number)s호 상장은 이미 번호를 받아 팀을 바꿀 수 없습니다. 이 상을 취소하고 다른 팀의 상을 새로 더해 "
        "주십시오."
    )


class TooManyAwards(Conflict):
    """Params: ``limit``."""

    text = _("한 대회의 상은 %(limit)s개까지 만들 수 있습니다.")


class NothingToAward(Conflict):
    """No award is there that could be published or withdrawn. Params: none."""

    text = _("공개하거나 거둘 상이 없습니다. 그사이 다른 운영자가 처리했는지 확인해 주십시오.")
