"""Errors about results: computing and publishing them, exclusions, scores before the closing."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from malpan.core.errors import Conflict, Forbidden, NotFound, SystemFault, Unprocessable


class ResultNotFound(NotFound):
    """Nothing was published, or not with this number."""

    text = _("발표한 결과가 없습니다.")


class ComputationNotFound(NotFound):
    """No such computation in this competition: let go of, or never there."""

    text = _("계산한 기록을 찾을 수 없습니다. 화면을 다시 열면 새로 계산합니다.")


class StillComputing(Conflict):
    """A worker computes it. Params: ``computation``, its primary key."""

    text = _("계산 중입니다. 채점 서버가 지금의 판단으로 새로 계산하고 있습니다. 끝나면 다시 확인해 주십시오.")


class ComputationFailed(SystemFault):
    """The workers failed at it again and again; a minute later it is tried anew."""

    text = _("계산하지 못했습니다. 잠시 뒤에 이 화면을 다시 열면 새로 계산합니다.")


class NoVotes(Conflict):
    """There is no judgement that counts. Params: none."""

    text = _("셈에 드는 판단이 하나도 없어 결과를 계산할 수 없습니다.")


class ResultNotComputable(Conflict):
    """The instrument refuses the votes. Params: ``explanation``, in the reader's language."""

    text = _("결과를 계산할 수 없습니다. %(explanation)s")


class ResultChanged(Conflict):
    """The result is no longer the one that the person saw. Params: none."""

    text = _("보는 동안 결과가 바뀌었습니다. 바뀐 결과를 확인하고 다시 발표해 주십시오.")


class ResultUnchanged(Conflict):
    """Publishing again would publish the same. Params: none."""

    text = _("이미 발표한 평가 결과와 같습니다. 바뀐 판단이 없어 다시 발표하지 않았습니다.")


class MetricsNotFound(NotFound):
    """Metrics were not held against this result, or the scores are not public."""

    text = _("이 결과와 지표를 견준 기록이 없거나 아직 공개하지 않았습니다.")


class NothingToCompare(Conflict):
    """Fewer than two of the systems have scores. Params: none."""

    text = _("같은 방식으로 채점한 시스템이 둘보다 적어 지표를 견줄 수 없습니다. 채점이 끝난 뒤에 다시 하십시오.")


class ExclusionNotFound(NotFound):
    """No such exclusion in this campaign."""

    text = _("평가에서 뺀 기록을 찾을 수 없습니다. 목록에서 다시 열어 주십시오.")


class JudgeNamed(Unprocessable):
    """A text for the public names a judge. ``field``: of the request; ``reason`` selects the text."""

    text = {
        "name": _("평가자의 이름이 들어 있습니다. 공개되는 글이니 이름을 빼고 적어 주십시오."),
        "email": _("평가자의 이메일 주소가 들어 있습니다. 공개되는 글이니 주소를 빼고 적어 주십시오."),
        "institution": _("평가자의 소속 기관이 들어 있습니다. 공개되는 글이니 기관의 이름을 빼고 적어 주십시오."),
        "exclusion": _(
            "평가에서 뺀 사유에 평가자의 이름이나 이메일 주소, 소속 기관이 들어 있어 발표하지 않았습니다. 그 기록을 "
            "되돌리고, 누구인지 알 수 없는 사유로 다시 빼 주십시오."
        ),
    }

    def __init__(self, reason: str, field: str) -> None:
        super().__init__(reason=reason)
        self.field = field


class ExclusionInForce(Conflict):
    """It is excluded already. Params: none."""

    text = _("이미 평가에서 뺐습니다.")


class ExclusionLifted(Conflict):
    """It was lifted already. Params: none."""

    text = _("이미 되돌린 기록입니다.")


class ScoresNotOpened(Forbidden):
    """Who leads is seen only after opening the scores, which is logged. Params: none."""

    text = _("진행 중인 평가의 점수는 열어 보지 않은 상태입니다. 사유를 적고 열면 기록이 남습니다.")
