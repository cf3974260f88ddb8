"""The name of this app in the admin, and its registration of events that people hear of."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class CompetitionsConfig(AppConfig):
    name = "malpan.competitions"
    verbose_name = _("대회")

    def ready(self) -> None:
        from malpan.competitions import letters, programs  # which need the models

        letters.register_events()
        programs.register_events()
