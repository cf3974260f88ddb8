"""Errors about final boards."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from malpan.core.errors import Conflict, NotFound


class BoardNotFound(NotFound):
    """No final board was published, or no public one kept, with this number. Params: ``number``."""

    text = _("지난 순위표에 %(number)s판이 없습니다. 순위표에서 다시 열어 주십시오.")


class DayNotKept(NotFound):
    """The public board of no such day was kept. Params: ``day``."""

    text = _(
        "%(day)s의 순위표는 남아 있지 않습니다. 단계가 진행된 날의 밤 12시(KST) 순위표만 보관하며, 그때 비공개였거나 "
        "점수가 없었으면 보관하지 않습니다. 순위표에서 다른 날을 골라 주십시오."
    )


class PhaseNotOver(Conflict):
    """The final board waits for the end of the phase. Params: ``ends_at``."""

    text = _("단계가 %(ends_at)s에 끝난 뒤에 최종 순위표를 발표할 수 있습니다.")


class RunsUnfinished(Conflict):
    """The final board waits for runs that are not finished. Params: ``count``."""

    text = _("아직 끝나지 않은 채점이 %(count)s건 있습니다. 모두 끝난 뒤에 다시 시도해 주십시오.")


class NothingToPublish(Conflict):
    """The final board of the phase would have no result."""

    text = _("최종 순위표에 올릴 결과가 없습니다. 정답 판과 채점 상태를 확인해 주십시오.")
