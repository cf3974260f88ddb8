"""The name of this app in the admin."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ArenaConfig(AppConfig):
    name = "malpan.arena"
    verbose_name = _("사람 평가")
