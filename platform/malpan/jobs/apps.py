"""The name of this app in the admin."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class JobsConfig(AppConfig):
    name = "malpan.jobs"
    verbose_name = _("작업")
