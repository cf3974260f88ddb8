"""The name of this app in the admin, and its registration of events that people hear of."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class TeamsConfig(AppConfig):
    name = "malpan.teams"
    verbose_name = _("팀")

    def ready(self) -> None:
        from malpan.teams import letters  # which need the models

        letters.register_events()
