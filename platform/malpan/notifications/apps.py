"""The name of this app in the admin, and its registration of the events of its own."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class NotificationsConfig(AppConfig):
    name = "malpan.notifications"
    verbose_name = _("알림 메일")

    def ready(self) -> None:
        from malpan.notifications import letters  # which need the models

        letters.register_events()
