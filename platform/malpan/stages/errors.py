"""Errors about the stages of a final."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from malpan.core.errors import Conflict, NotFound, SystemFault, Unprocessable

PROBLEM_TEXTS: Final[dict[str, str | Promise]] = {
    "columns": _("팀과 점수가 있는 줄이 아닙니다. 한 줄에 팀과 점수를 적어 주십시오."),
    "separator": _(
        "팀과 점수가 나뉘어 있지 않습니다. 사이에 탭이나 쉼표를 넣어 ‘%(example)s’처럼 적어 주십시오. 스프레드시트의 "
        "칸을 복사하면 탭이 들어갑니다."
    ),
    "headings": _("머리글에 ‘점수’와 ‘팀’(또는 ‘팀 번호’)이 하나씩 있어야 합니다."),
    "empty": _("점수가 한 줄도 없습니다."),
    "quotes": _("따옴표가 닫히지 않았거나 읽을 수 없는 문자가 있습니다."),
    "team_empty": _("팀이 비어 있습니다. 팀 번호나 팀 이름을 적어 주십시오."),
    "team_unknown": _("이 심사에 참여하지 않는 팀입니다. 팀 번호나 팀 이름을 확인해 주십시오."),
    "team_ambiguous": _("팀 번호와 팀 이름 어느 쪽으로도 읽힙니다. 머리글을 두고 ‘팀 번호’ 열에 적어 주십시오."),
    "team_mismatch": _("팀 번호와 팀 이름이 서로 다른 팀입니다."),
    "team_twice": _("같은 팀이 %(first)s번째 줄에 이미 있습니다."),
    "team_missing": _("점수가 없는 팀입니다. 참여한 모든 팀의 점수를 적어 주십시오."),
    "score_empty": _("점수가 비어 있습니다."),
    "score_not_number": _("점수가 수가 아닙니다. 87.5처럼 적어 주십시오."),
    "score_out_of_scale": _("점수가 %(low)s부터 %(high)s까지의 범위를 벗어납니다."),
}


class StageNotFound(NotFound):
    """No such stage in this competition."""

    text = _("심사를 찾을 수 없습니다. 목록에서 다시 열어 주십시오.")


class StageSettingsInvalid(Unprocessable):
    """The settings of a stage contradict each other. ``field``: the column at fault; ``reason`` selects the text."""

    text = {
        "phase": _("첫 심사는 같은 트랙의 단계를 골라야 합니다. 그 단계의 최종 순위표가 점수가 됩니다."),
        "phase_later": _(
            "둘째 심사부터는 순위표를 읽지 않습니다. 단계(phase)를 빼고 보내 주십시오. 점수는 사람 평가의 결과나 "
            "입력한 점수표에서 옵니다."
        ),
        "campaign_first": _(
            "첫 심사의 점수는 최종 순위표에서 옵니다. 사람 평가(campaign)를 빼고 보내 주십시오. 사람 평가는 둘째 "
            "심사부터 고를 수 있습니다."
        ),
        "scale_fixed": _(
            "점수를 입력하지 않는 심사의 점수 범위는 0~1로 정해져 있습니다. 최저점과 최고점을 빼고 보내 주십시오."
        ),
        "campaign": _("같은 트랙의 사람 평가를 골라 주십시오."),
        "campaign_table": _("이미 점수표를 입력한 심사입니다. 사람 평가의 결과를 읽는 심사는 따로 만들어 주십시오."),
        "scale": _("최고점은 최저점보다 커야 합니다. 두 값을 수로 적어 주십시오."),
        "weight": _("비중은 0부터 1000까지의 정수로 적어 주십시오."),
        "cut": _("진출 팀 수는 1 이상의 정수로 적거나 비워 주십시오."),
        "title": _("제목을 120자 안으로 적어 주십시오."),
    }

    def __init__(self, reason: str, field: str) -> None:
        super().__init__(reason=reason)
        self.field = field


class StagePublished(Conflict):
    """A published stage is not changed any more. Params: none."""

    text = _("이미 발표한 심사는 바꿀 수 없습니다. 고칠 것이 있으면 정정하여 다시 발표해 주십시오.")


class StageConfirmed(Conflict):
    """The rule cannot change under a confirmed table. Params: none."""

    text = _(
        "확인을 마친 점수표가 있어 규칙을 바꿀 수 없습니다. 점수표를 새 판으로 입력하면 확인이 풀리고, 그 뒤에 바꿀 수 "
        "있습니다."
    )


class StageInUse(Conflict):
    """Only the last stage without tables and results can be removed. Params: none."""

    text = _("점수표가 입력되었거나 발표한 심사, 뒤에 다른 심사가 있는 심사는 지울 수 없습니다.")


class FinalIsPublished(Conflict):
    """After the combined standing no stage is added. Params: none."""

    text = _("종합 결과를 발표한 뒤에는 심사를 더할 수 없습니다.")


class StageNotOpen(Conflict):
    """A stage begins when the one before it is published. Params: ``title``, that one's."""

    text = _("앞 심사 ‘%(title)s’의 결과를 먼저 발표해 주십시오. 그때 진출 팀이 정해집니다.")


class BoardNotPublished(Conflict):
    """The first stage reads the published final board of its phase. Params: ``phase``."""

    text = _("단계 ‘%(phase)s’의 최종 순위표를 먼저 발표해 주십시오. 그 순위표가 이 심사의 점수입니다.")


class BoardUnfit(Conflict):
    """The final board cannot be a stage: a score is not 0-1, or scores and ranks differ in order. Params: ``team``."""

    text = _("최종 순위표를 심사 점수로 쓸 수 없습니다. ‘%(team)s’의 최종 점수가 0~1이 아니거나 순위와 어긋납니다.")


class NobodyTakesPart(Conflict):
    """No team is left to take part in the stage. Params: none."""

    text = _("이 심사에 참여할 팀이 없습니다. 앞 심사의 진출 팀과 실격한 팀을 확인해 주십시오.")


class NoTableForBoard(Conflict):
    """The stage takes its scores from a board or a human evaluation; nothing is entered. Params: none."""

    text = _("이 심사의 점수는 최종 순위표나 사람 평가에서 옵니다. 점수표를 입력하지 않습니다.")


class CampaignNotPublished(Conflict):
    """The stage reads the published result of a human evaluation. Params: ``title``, that one's."""

    text = _("사람 평가 ‘%(title)s’의 결과를 먼저 발표해 주십시오. 그 결과가 이 심사의 점수입니다.")


class CampaignLacksTeams(Conflict):
    """Teams take part that the human evaluation did not rank. Params: ``title``, ``teams``, their names."""

    text = _(
        "사람 평가 ‘%(title)s’의 결과에 이 심사에 참여하는 팀이 없습니다: %(teams)s. 그 팀의 제출도 평가하거나, 앞 "
        "심사의 진출 팀을 확인해 주십시오."
    )


class TableUnreadable(Unprocessable):
    """The file is no text of a known encoding, or too large. Params: ``limit``, in characters."""

    text = _(
        "점수표를 읽을 수 없습니다. UTF-8, CP949 또는 UTF-16으로 저장한 CSV 파일을 올리거나 표를 붙여 넣어 주십시오. "
        "%(limit)s자까지 읽습니다."
    )


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong in ``line`` (from 1; ``None``: in no line), said by ``code``; ``value`` is what is there."""

    code: str
    line: int | None = None
    value: str = ""
    params: tuple[tuple[str, Any], ...] = ()

    @property
    def text(self) -> str:
        return str(PROBLEM_TEXTS[self.code]) % dict(self.params)


class TableInvalid(Unprocessable):
    """The table has located errors (``problems``). Params: ``count``."""

    text = _("점수표에서 고칠 곳 %(count)s개를 찾았습니다. 표에 적힌 줄을 고쳐 다시 보내 주십시오.")

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(count=len(problems))
        self.problems = tuple(problems)


class ReasonMissing(Unprocessable):
    """Why something is done must be said. Params: ``limit``."""

    text = _("사유를 %(limit)s자 안으로 적어 주십시오.")


class TableUnchanged(Conflict):
    """The newest version has the same scores. Params: none."""

    text = _("지금의 점수표와 같습니다. 바뀐 점수가 없어 저장하지 않았습니다.")


class TableChanged(Conflict):
    """The table or the rule is no longer the one that the person saw. Params: none."""

    text = _("보는 동안 점수표나 심사 규칙이 바뀌었습니다. 바뀐 내용을 다시 확인해 주십시오.")


class SamePerson(Conflict):
    """Who entered a table neither confirms nor rejects it. Params: none."""

    text = _("점수표를 입력한 사람은 확인하거나 돌려보낼 수 없습니다. 다른 운영자가 확인해야 합니다.")


class TableDecided(Conflict):
    """Somebody decided about this version already. Params: none."""

    text = _("이미 확인하거나 돌려보낸 점수표입니다.")


class TableMissing(Conflict):
    """The stage has no table. Params: none."""

    text = _("아직 입력한 점수표가 없습니다.")


class TableNotConfirmed(Conflict):
    """The newest table waits for the second person, or was rejected. Params: none."""

    text = _("점수표를 다른 운영자가 확인한 뒤에 발표할 수 있습니다.")


class TableOutdated(Conflict):
    """The confirmed table no longer has exactly the teams that take part. Params: ``missing``, how many."""

    text = _(
        "진출 팀이 바뀌어 점수표에 없는 팀이 %(missing)s개 있습니다. 그 팀의 점수를 넣은 새 판을 입력하고 확인해 "
        "주십시오."
    )


class StagesUnfinished(Conflict):
    """The combined standing waits for a stage. Params: ``title``, that stage's."""

    text = _("심사 ‘%(title)s’의 결과를 먼저 발표해 주십시오.")


class NoStages(StagesUnfinished):
    """There is no stage that a combined standing could be made of. Params: none."""

    text = _("이 트랙에는 심사가 없어 종합 순위를 만들 수 없습니다. 심사를 먼저 만들어 주십시오.")


class StageOutdated(Conflict):
    """A stage was published before an erratum of the one that it rests on. Params: ``title``, its own."""

    text = _("심사 ‘%(title)s’의 결과는 바로잡기 전의 앞 결과에 따른 것입니다. 이 심사를 다시 발표해 주십시오.")


class StageHasDisqualified(Conflict):
    """A published stage has a team that was disqualified since. Params: ``title``, the stage's."""

    text = _(
        "심사 ‘%(title)s’의 결과에 그 뒤 실격한 팀이 있습니다. 이 심사를 다시 발표하면 그 팀이 빠지고 나머지 팀의 "
        "순위를 새로 매깁니다."
    )


class BoardHasDisqualified(Conflict):
    """The final board ranks by a composite and has a team that was disqualified since. Params: ``phase``."""

    text = _(
        "단계 ‘%(phase)s’의 최종 순위표에 그 뒤 실격한 팀이 있습니다. 종합 점수는 다른 팀의 순위에 따라 달라지므로 "
        "최종 순위표를 먼저 다시 발표해 주십시오."
    )


class NoWeight(Conflict):
    """The weights of all stages are 0. Params: none."""

    text = _("모든 심사의 비중이 0입니다. 한 심사는 비중이 있어야 종합 점수를 구할 수 있습니다.")


class NothingChanged(Conflict):
    """Publishing again would publish the same. Params: none."""

    text = _("이미 발표한 결과와 같습니다. 바뀐 것이 없어 다시 발표하지 않았습니다.")


class NothingToCertify(NotFound):
    """No published result has a team of the person. Params: none."""

    text = _(
        "아직 참가 확인서를 만들 수 없습니다. 확인서는 최종 결과가 발표된 뒤, 그 결과에 팀이 있는 사람에게 만들어 "
        "드립니다."
    )


class CertificateNotValid(NotFound):
    """The address of a certificate is not one of this site, or what it said is not true any more. Params: none."""

    text = _(
        "확인할 수 없는 참가 확인서입니다. 주소가 잘못되었거나, 결과가 바뀌었거나, 팀이나 계정이 없어졌습니다. 대회를 "
        "연 곳에 문의해 주십시오."
    )


class CertificateFontMissing(SystemFault):
    """The machine has no Korean font to draw a certificate with. Params: none."""

    text = _(
        "확인서와 상장을 만들 글꼴이 서버에 없습니다. 운영자에게 알려 주십시오. 결과와 순위에는 영향이 없고 제출 "
        "횟수도 차감되지 않습니다."
    )
