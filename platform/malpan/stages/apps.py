"""The name of this app in the admin, and its registration of events that people hear of."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class StagesConfig(AppConfig):
    name = "malpan.stages"
    verbose_name = _("심사")

    def ready(self) -> None:
        from malpan.stages import letters  # which need the models

        letters.register_events()
