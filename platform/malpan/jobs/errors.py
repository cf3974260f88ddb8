"""Errors of the queue."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from malpan.core.errors import SystemFault


class WorkerLost(SystemFault):
    """The worker stopped responding: its lease expired."""

    text = _("채점 서버와 연결이 끊겼습니다. 운영자가 조치하고 있습니다.")
