"""Errors of the queue."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from malpan.core.errors import SystemFault


class WorkerLost(SystemFault):
    """The worker stopped responding: its lease expired."""

    text = _("채점 서버와 연결이 끊겼습니다. 운영자가 조치하고 있습니다.")


class VersionMissing(SystemFault):
    """The worker's version does not know what the job needs: it waits for a worker of another. Written to the job, not
    raised.
    """

    text = _("이 채점 방식을 아는 버전의 채점 서버를 찾지 못해 기다립니다. 운영자가 준비하면 이어서 채점합니다.")
