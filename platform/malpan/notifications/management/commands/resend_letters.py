"""``manage.py resend_letters``: tries again what the mail server refused until it was given up."""

from __future__ import annotations

from typing import Any

from django.core.management import BaseCommand

from malpan.notifications.sending import send_failed_again


class Command(BaseCommand):
    help = "보내지 못하고 그만둔 알림 메일을 다시 보냅니다. / Sends notifications again that were given up."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(str(send_failed_again()))
