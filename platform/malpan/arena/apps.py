"""The name of this app in the admin, and its registration of handlers with the queue and of letters."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ArenaConfig(AppConfig):
    name = "malpan.arena"
    verbose_name = _("사람 평가")

    def ready(self) -> None:
        from malpan.arena import handlers, letters  # which need the models

        handlers.register()
        letters.register_events()
