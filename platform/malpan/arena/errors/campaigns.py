"""Errors about campaigns: their rubrics, settings, systems and design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from malpan.core.errors import Conflict, NotFound, Unprocessable


class CampaignNotFound(NotFound):
    """No such campaign, or the person must not know of it."""

    text = _("평가를 찾을 수 없습니다. 목록에서 다시 열어 주십시오.")


class RubricNotFound(NotFound):
    """No such version of the rubric in this track."""

    text = _("평가 기준표를 찾을 수 없습니다. 목록에서 다시 열어 주십시오.")


class RubricInvalid(Unprocessable):
    """A rubric cannot be used as it is. ``field``: the column; ``reason`` selects the text. Params: ``key``, of the
    criterion or reason; ``place``, its place from 1.
    """

    text = {
        "title": _("기준표의 제목을 120자 안으로 적어 주십시오."),
        "guideline": _("평가 지침을 적어 주십시오. 평가자는 지침을 확인한 뒤에 평가를 시작합니다."),
        "guideline_long": _("평가 지침이 너무 깁니다. 50,000자 안으로 줄여 주십시오."),
        "criteria_form": _(
            "평가 기준 %(place)s번째의 형식이 맞지 않습니다. 이름, 최저점, 최고점, 비중을 적어 주십시오."
        ),
        "criteria_many": _("평가 기준은 12개까지 둘 수 있습니다."),
        "reasons_form": _("선택의 까닭 %(place)s번째의 형식이 맞지 않습니다. 이름을 적어 주십시오."),
        "reasons_many": _("선택의 까닭은 12개까지 둘 수 있습니다."),
        "key": _(
            "‘%(key)s’는 쓸 수 없는 이름입니다. 영문 소문자로 시작하여 소문자, 숫자, 밑줄로 40자 안으로 적어 주십시오."
        ),
        "key_twice": _("이름 ‘%(key)s’를 두 번 썼습니다. 서로 다르게 적어 주십시오."),
        "label": _("‘%(key)s’의 한국어 이름을 120자 안으로 적어 주십시오."),
        "scale": _("‘%(key)s’의 최고점은 최저점보다 커야 하고, 둘 다 0부터 100까지의 정수여야 합니다."),
        "weight": _("‘%(key)s’의 비중은 1부터 100까지의 정수로 적어 주십시오."),
        "anchor": _("‘%(key)s’의 점수 설명은 척도 안의 점수에 500자 안으로 적어 주십시오."),
    }

    def __init__(self, reason: str, field: str, *, key: str = "", place: int = 0) -> None:
        super().__init__(reason=reason, key=key, place=place)
        self.field = field


class RubricUnchanged(Conflict):
    """The newest version says the same. Params: none."""

    text = _("지금의 기준표와 같습니다. 바뀐 것이 없어 새 판을 만들지 않았습니다.")


class RubricUnfit(Unprocessable):
    """The rubric has nothing that the protocol needs. Params: none."""

    text = _("기준별 점수로 평가하려면 기준표에 평가 기준이 하나 이상 있어야 합니다.")


class CampaignSettingsInvalid(Unprocessable):
    """The settings of a campaign contradict each other. ``field``: the column; ``reason`` selects the text."""

    text = {
        "title": _("평가의 제목을 120자 안으로 적어 주십시오."),
        "protocol": _("평가 방식을 골라 주십시오."),
        "rubric": _("같은 트랙의 평가 기준표를 골라 주십시오."),
        "phase": _("같은 트랙의 단계를 골라 주십시오. 그 단계의 제출을 평가합니다."),
        "part": _("문항의 범위를 골라 주십시오."),
        "item_count": _("문항 수는 1부터 5,000까지의 정수로 적어 주십시오."),
        "units_per_item": _("문항마다 묶음 수는 1부터 200까지의 정수로 적어 주십시오."),
        "judges_per_unit": _("묶음마다 평가자 수는 1부터 20까지의 정수로 적어 주십시오."),
        "group_size": _("순위 매기기에서는 한 번에 출력 3~8개를 보입니다."),
        "control_percent": _("확인 문항은 0%%부터 30%%까지 둘 수 있습니다."),
        "repeat_percent": _("되풀이 문항은 0%%부터 30%%까지 둘 수 있습니다."),
        "calibration_count": _("연습 문항은 0개부터 20개까지 둘 수 있습니다."),
        "min_seconds": _("읽는 데 드는 최소 시간은 0초부터 600초까지 적을 수 있습니다."),
        "resamples": _("재표집 횟수는 200부터 20,000까지의 정수로 적어 주십시오."),
        "masked_words": _("가릴 이름은 2자 이상 100자 이하로, 200개까지 적어 주십시오."),
        "notice": _("안내가 너무 깁니다. 50,000자 안으로 줄여 주십시오."),
        "past": _("마감 예정 시각이 이미 지났습니다. 지금 끝내려면 ‘마감’ 화면에서 마감해 주십시오."),
        "times": _("마감 예정 시각은 시작 예정 시각보다 뒤여야 합니다."),
    }

    def __init__(self, reason: str, field: str) -> None:
        super().__init__(reason=reason)
        self.field = field


class PlanInvalid(Unprocessable):
    """What is to be simulated contradicts itself, or takes too long. ``field``: the value at fault; ``reason`` selects
    the text. Params: ``limit``.
    """

    text = {
        "many": _("평가자 수와 판단 수를 곱한 값이 %(limit)s을(를) 넘지 않게 적어 주십시오."),
        "group": _("평가할 제출보다 많은 출력을 함께 보일 수 없습니다."),
    }

    def __init__(self, reason: str, field: str, *, limit: int = 0) -> None:
        super().__init__(reason=reason, limit=limit)
        self.field = field


class CampaignOpened(Conflict):
    """An open campaign is fixed. Params: none."""

    text = _("이미 시작한 평가의 설정은 바꿀 수 없습니다. 제목과 안내, 예정 시각만 고칠 수 있습니다.")


class CampaignNotOpen(Conflict):
    """The campaign takes no judgements now: it has not begun or is closed. Params: none."""

    text = _("지금은 진행 중인 평가가 아닙니다. 시작하기 전이거나 이미 마감했습니다.")


class CampaignTimeOver(Conflict):
    """The planned end has passed; the organisers may put it off. Params: ``end``."""

    text = _(
        "평가 기간이 %(end)s에 끝나 더 판단할 수 없습니다. 이미 한 판단은 그대로 남습니다. 시간이 더 필요하면 "
        "운영자에게 알려 주십시오."
    )


class CampaignNotClosed(Conflict):
    """Results come after the closing. Params: none."""

    text = _("평가를 마감한 뒤에 할 수 있습니다.")


@dataclass(frozen=True, slots=True)
class PracticeProblem:
    """What is wrong in a file of practice items: with which ``item``, from 1 (0: the file), and at which ``place``."""

    code: str
    params: Mapping[str, Any] = field(default_factory=dict)
    item: int = 0
    place: str = ""

    @property
    def text(self) -> str:
        """The problem in the reader's language, without item and place."""
        return str(PRACTICE_TEXTS[self.code]) % self.params


PRACTICE_TEXTS: Final = {
    "utf8": _("UTF-8 글자가 아닙니다. 파일을 UTF-8로 저장해 주십시오."),
    "json": _("JSON으로 읽을 수 없습니다(%(line)s행 %(column)s열). 쉼표, 따옴표, 괄호를 확인해 주십시오."),
    "array": _("연습 문항을 하나 이상 담은 JSON 배열이어야 합니다."),
    "many": _("연습 문항이 %(count)s개입니다. %(most)s개까지 둘 수 있습니다."),
    "object": _("문항은 JSON 객체여야 합니다."),
    "unknown": _("모르는 이름입니다. 지우거나 고쳐 주십시오."),
    "text": _("글(문자열)이어야 합니다."),
    "empty": _("비어 있습니다. 내용을 적어 주십시오."),
    "long": _("너무 깁니다. %(most)s자 안으로 줄여 주십시오."),
    "outputs": _("이 평가는 한 번에 출력 %(count)s개를 보입니다. 출력을 %(count)s개 적어 주십시오."),
    "expected": _("기대하는 판단을 %(name)s 하나로 적어 주십시오."),
    "choice": _("%(known)s 가운데 하나나 여럿이어야 합니다."),
    "criteria": _("기준표의 기준(%(known)s)만 쓸 수 있습니다."),
    "range": _("%(low)s부터 %(high)s까지의 정수나 [최저, 최고]여야 합니다."),
    "ranks": _("출력 %(count)s개의 순위를 출력의 차례로 적어 주십시오. 같은 순위 다음은 1, 2, 2, 4처럼 적습니다."),
}


class PracticeInvalid(Unprocessable):
    """Practice items cannot be used as they are. ``problems``: the first of ``total``. Params: ``count``."""

    text = _("연습 문항에 고칠 곳이 %(count)s곳 있습니다. 연습 문항 화면에서 고친 파일을 다시 올려 주십시오.")

    def __init__(self, problems: Sequence[PracticeProblem], total: int | None = None) -> None:
        self.problems = tuple(problems)
        super().__init__(count=len(self.problems) if total is None else total)


class SeedMissing(Conflict):
    """The campaign was imported before its end without the passphrase of its archive. Params: none."""

    text = _(
        "이 평가의 시드가 이 서버에 없어 이어 갈 수 없습니다. 마감하기 전의 평가를 암호 구문 없이 가져왔기 때문입니다. "
        "대회를 암호 구문과 함께 다시 가져오거나, 평가를 새로 만들어 주십시오."
    )


class CampaignNotBegun(Conflict):
    """There is nothing to see before the opening. Params: none."""

    text = _("아직 시작하지 않은 평가입니다.")


class TooFewSystems(Conflict):
    """Params: ``count``, how many there are; ``least``."""

    text = _("평가할 제출이 %(count)s개입니다. %(least)s개 이상 골라 주십시오.")


class TooManySystems(Conflict):
    """Params: ``count``, ``most``."""

    text = _("평가할 제출이 %(count)s개입니다. %(most)s개까지 고를 수 있습니다.")


class SystemUnfit(Conflict):
    """A submission cannot take part. Params: ``team``, ``submission`` (its public id); ``reason`` selects the text."""

    text = {
        "other_phase": _("‘%(team)s’의 제출 %(submission)s은(는) 이 평가의 단계에 낸 것이 아닙니다."),
        "not_scored": _(
            "‘%(team)s’의 제출 %(submission)s은(는) 채점이 끝나지 않았습니다. 채점이 끝난 제출을 골라 주십시오."
        ),
        "withdrawn": _("‘%(team)s’의 제출 %(submission)s은(는) 철회한 것입니다. 목록에서 빼 주십시오."),
        "refunded": _("‘%(team)s’의 제출 %(submission)s은(는) 무효로 하여 돌려준 것입니다. 목록에서 빼 주십시오."),
        "disqualified": _("‘%(team)s’은(는) 실격한 팀입니다. 목록에서 빼 주십시오."),
        "twice": _("‘%(team)s’의 제출이 둘 이상입니다. 팀마다 하나만 골라 주십시오."),
        "unreadable": _("‘%(team)s’의 제출 %(submission)s의 파일을 읽을 수 없습니다. 다른 제출을 골라 주십시오."),
    }

    def __init__(self, reason: str, *, team: str, submission: str) -> None:
        super().__init__(reason=reason, team=team, submission=submission)


class NoBoard(Conflict):
    """There is no board to take the systems from. Params: ``phase``."""

    text = _("단계 ‘%(phase)s’에 순위표가 없습니다. 채점이 끝난 뒤에 다시 고르거나 제출을 직접 골라 주십시오.")


class SplitMissing(Conflict):
    """The references have no split. Params: ``phase``."""

    text = _(
        "단계 ‘%(phase)s’의 정답은 공개와 비공개로 나뉘어 있지 않습니다. 문항의 범위를 ‘모든 문항’으로 바꾸어 주십시오."
    )


class ReferencesMissing(Conflict):
    """The phase has no references in force. Params: ``phase``."""

    text = _("단계 ‘%(phase)s’에 쓰고 있는 정답이 없습니다. 정답을 먼저 올려 주십시오.")


class TooFewItems(Conflict):
    """Params: ``count``, how many items there are in the part; ``wanted``, calibration items included."""

    text = _(
        "고를 수 있는 문항이 %(count)s개인데 연습 문항까지 %(wanted)s개가 필요합니다. 문항 수를 줄이거나 범위를 넓혀 "
        "주십시오."
    )


class NoJudges(Conflict):
    """Nobody has accepted an invitation. Params: none."""

    text = _("초대를 수락한 평가자가 없습니다. 평가자를 초대하고 수락을 기다려 주십시오.")


class DeclaredTooMuch(Conflict):
    """Teams that judges declared alone leave them too few systems. Params: ``judges``, their primary keys."""

    text = _(
        "스스로 알린 팀이 많아 남는 출력이 너무 적은 평가자가 있습니다(평가자 번호: %(judges)s). 누가 낸 출력인지 "
        "드러날 수 있으니, 평가자의 화면에서 그 팀들을 확인하여 제척하거나 평가자를 내보낸 뒤에 시작하십시오."
    )


class DesignRefused(Conflict):
    """No design fits systems, judges and bars. Params: ``explanation``, in the reader's language."""

    text = _("배정을 만들 수 없습니다. %(explanation)s")


class ControlRefused(Conflict):
    """No bad output can be made by rule. Params: ``item``, the id of the reference item."""

    text = _(
        "문항 ‘%(item)s’의 확인 문항을 만들 수 없습니다. 출력이 너무 짧거나 모두 같습니다. 확인 문항의 비율을 0%%로 "
        "하거나 다른 제출을 골라 주십시오."
    )


class OpenAssignmentsLeft(Conflict):
    """Closing with open assignments must be said. Params: ``count``."""

    text = _(
        "아직 판단하지 않은 배정이 %(count)s개 있습니다. 그대로 마감하면 무효가 됩니다. "
        "마감하려면 확인란을 골라 주십시오."
    )


class CampaignReasonMissing(Unprocessable):
    """Why something is done must be said. Params: ``limit``."""

    text = _("왜 그렇게 하는지 %(limit)s자 안으로 적어 주십시오. 사유는 기록에 남습니다.")
