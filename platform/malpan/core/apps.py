"""The name of this app in the admin; every error of the site is known by its code."""

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules
from django.utils.translation import gettext_lazy as _


class CoreConfig(AppConfig):
    name = "malpan.core"
    verbose_name = _("기록")

    def ready(self) -> None:
        """A process that raises no fault of another app shows it all the same: runs are stored with the code alone."""
        autodiscover_modules("errors")
