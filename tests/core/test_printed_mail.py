"""A mail on a site without a mail server: what the terminal shows."""

from __future__ import annotations

import io

from django.core.mail import EmailMessage, get_connection


def test_a_mail_is_printed_as_a_person_reads_it() -> None:
    terminal = io.StringIO()
    connection = get_connection("malpan.core.printed_mail.EmailBackend", stream=terminal)
    body = "아래 주소를 열어 주십시오.\nhttp://127.0.0.1:8000/accounts/confirm-email/key/\n"
    message = EmailMessage("[말판] 이메일 확인", body, to=["a@example.org"], connection=connection)
    assert message.send() == 1
    printed = terminal.getvalue()
    assert "받는 이 / to: a@example.org\n제목 / subject: [말판] 이메일 확인\n" in printed
    assert body in printed
    assert "base64" not in printed
    assert "=?utf-8" not in printed
