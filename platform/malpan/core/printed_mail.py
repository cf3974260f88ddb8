"""Mails of a site without a mail server: printed for whoever started it, as a person reads them and not as a server."""

from __future__ import annotations

from django.core.mail import EmailMessage
from django.core.mail.backends import console

LINE = "-" * 79


class EmailBackend(console.EmailBackend):
    """Django's own, but for what a mail looks like: that prints Korean subjects as base64."""

    def write_message(self, message: EmailMessage) -> None:
        heads = (f"받는 이 / to: {', '.join(message.recipients())}", f"제목 / subject: {message.subject}")
        self.stream.write("\n".join(("", LINE, *heads, "", str(message.body).strip(), "")))
