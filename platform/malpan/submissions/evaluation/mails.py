"""Mails to those who keep the site running (``ADMINS``) about a run; their texts are in ``web/templates/emails/``."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.mail import mail_admins
from django.db import transaction
from django.template.loader import render_to_string

from malpan.core.text import one_line
from malpan.submissions.models import ScoringRun


def tell_admins(name: str, run: ScoringRun, **facts: object) -> None:
    """Mail ``emails/NAME_subject.txt`` and ``_message.txt`` once the transaction is committed. A failure is ignored.

    ``facts`` are for the templates, which get ``run`` (with its competition loaded) and the ``url`` of the runs too.
    """
    transaction.on_commit(lambda: _send(name, {"run": run, **facts}), robust=True)


def _send(name: str, context: dict[str, Any]) -> None:
    slug = context["run"].submission.phase.track.competition.slug
    context["url"] = f"{settings.SITE_URL.rstrip('/')}/competitions/{slug}/manage/runs/"
    subject = one_line(render_to_string(f"emails/{name}_subject.txt", context))
    mail_admins(subject, render_to_string(f"emails/{name}_message.txt", context), fail_silently=True)
