"""The name of this app in the admin."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class StagesConfig(AppConfig):
    name = "malpan.stages"
    verbose_name = _("심사")
