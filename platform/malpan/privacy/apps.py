"""The name of this app in the admin."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PrivacyConfig(AppConfig):
    name = "malpan.privacy"
    verbose_name = _("개인정보")
