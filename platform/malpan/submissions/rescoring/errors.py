"""Errors of rescoring batches."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from malpan.core.errors import Conflict, NotFound, SystemFault, Unprocessable


class BatchNotFound(NotFound):
    """No such rescoring batch in this competition."""

    text = _("재채점을 찾을 수 없습니다. 재채점 목록에서 다시 열어 주십시오.")


class BatchOpenAlready(Conflict):
    """The phase has a batch that is neither applied nor cancelled. Params: ``number``."""

    text = _(
        "이 단계의 재채점 #%(number)s을(를) 아직 적용하거나 취소하지 않았습니다. 그것부터 적용하거나 취소해 주십시오."
    )


class BatchSelectsNothing(Unprocessable):
    """No submission of the phase matches."""

    text = _("조건에 맞는 제출이 없습니다. 대상 조건을 넓혀 다시 시도해 주십시오.")


class BatchNotReady(Conflict):
    """Runs of the batch are not finished or have failed. Params: ``unfinished``, ``failed``."""

    text = _(
        "아직 적용할 수 없습니다. 끝나지 않은 채점 %(unfinished)s건, 실패한 채점 %(failed)s건이 있습니다. 실패한 "
        "채점은 다시 시도하거나 사유를 적고 제외해 주십시오."
    )


class BatchClosed(Conflict):
    """The batch was applied or cancelled already."""

    text = _("이미 적용했거나 취소한 재채점입니다.")


class BatchNeverApplies(Conflict):
    """A batch of repeats shows numeric noise; it has nothing to apply."""

    text = _("반복 채점은 수치의 흔들림을 보기 위한 것이라 적용하지 않습니다.")


class BatchOutdated(Conflict):
    """References, recipe or models were changed elsewhere since the batch was scored. Params: ``count``."""

    text = _(
        "재채점하는 동안 정답이나 채점 방식, 모델이 다른 경로로 바뀌어 %(count)s건의 점수가 지금 규칙과 맞지 않습니다. "
        "이 재채점을 취소하고 다시 시작해 주십시오."
    )


class BatchHurtsOtherPhases(Conflict):
    """Scores of other phases of the track by the old recipe or models would leave their boards. Params: ``count``."""

    text = _(
        "채점 방식과 모델은 트랙 전체에 적용됩니다. 같은 트랙의 다른 단계에 이전 규칙으로 채점된 제출이 %(count)s건 "
        "있어 순위표에서 빠집니다. 그래도 적용하려면 해당 확인란을 선택해 주십시오."
    )


class BatchPreviewOutdated(Conflict):
    """What applying would change is not what the person saw."""

    text = _(
        "미리 본 것과 지금 적용될 결과가 다릅니다. 아직 아무것도 적용하지 않았습니다. 새 미리보기를 확인한 뒤 "
        "다시 적용해 주십시오."
    )


class BatchPreviewGrew(BatchPreviewOutdated):
    """Submissions came or went since. Params: ``before``, ``now``: the submissions scored then and now."""

    text = _(
        "미리 본 뒤 재채점한 제출이 %(before)s건에서 %(now)s건으로 바뀌어 결과가 달라졌습니다. 아직 아무것도 적용하지 "
        "않았습니다. 새 미리보기를 확인한 뒤 다시 적용해 주십시오."
    )


class BatchPlacesChange(Conflict):
    """What is to be applied by itself changes the order of places that somebody wants to look at. Params: ``places``,
    how many they are; ``changed``, how many of them would have another team.
    """

    text = _(
        "1위부터 %(places)s위까지의 순서가 바뀌어 저절로 적용하지 않았습니다(바뀌는 팀 %(changed)s팀). 미리보기를 "
        "확인한 뒤 직접 적용해 주십시오."
    )


class BatchOrderedAlready(Conflict):
    """Somebody ordered already that the batch be applied when it is ready. Params: none."""

    text = _("이미 적용을 예약했습니다. 다르게 적용하려면 먼저 그 예약을 거두어 주십시오.")


class BatchNotOrdered(Conflict):
    """Nobody ordered it, or the order was withdrawn or carried out. Params: none."""

    text = _("기다리는 적용 예약이 없습니다. 이미 거두었거나 끝난 예약입니다.")


class BatchRunNotFailed(Conflict):
    """Only a submission whose newest run in the batch failed can be retried or left out."""

    text = _("이 재채점에서 실패한 제출만 다시 채점하거나 제외할 수 있습니다.")


class BatchReasonMissing(Unprocessable):
    """A reason is required for a rescoring. Params: ``field``."""

    text = _("사유를 적어 주십시오. 감사 기록에 남습니다.")


class BatchPhasesApart(Unprocessable):
    """Batches start together where their phases are of one track, by whose rule they are scored. Params: none."""

    text = _("같은 트랙의 단계만 함께 재채점할 수 있습니다. 다른 트랙은 따로 시작해 주십시오.")


class BatchReferencesUnfit(Unprocessable):
    """The draft cannot score the submissions: another format, or added items. Params: ``count``."""

    text = _(
        "이 초안으로는 기존 제출을 채점할 수 없습니다(맞지 않는 문항 %(count)s건). 정답 파일의 문항과 채점 방식을 "
        "확인해 주십시오."
    )


class RescoringCancelled(SystemFault):
    """Not raised but written to a queued run as its ``error_code``: its batch was cancelled, nothing is refunded."""

    text = _("재채점이 취소되어 이 채점은 하지 않았습니다. 제출의 점수는 그대로입니다.")
