"""The mail that invites a judge, in Korean and English; its texts are in ``web/templates/emails/``."""

from __future__ import annotations

from smtplib import SMTPException

from django.core.mail import send_mail
from django.template.loader import render_to_string

from malpan.arena.errors import InvitationMailFailed
from malpan.arena.models import CampaignJudge
from malpan.core.text import one_line
from malpan.core.times import kst_text


def send_invitation(judge: CampaignJudge, link: str) -> None:
    """Mail ``link`` to the invited address. Raises ``InvitationMailFailed``."""
    context = {
        "campaign": judge.campaign,
        "competition": judge.campaign.track.competition,
        "person": judge.invited_by,
        "link": link,
        "until": kst_text(judge.expires_at.replace(second=0, microsecond=0)),
    }
    subject = one_line(render_to_string("emails/judge_invitation_subject.txt", context))
    message = render_to_string("emails/judge_invitation_message.txt", context)
    try:
        send_mail(subject, message, None, [judge.email])
    except (OSError, SMTPException) as error:
        raise InvitationMailFailed from error
