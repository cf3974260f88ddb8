"""The name of this app in the admin."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class NotificationsConfig(AppConfig):
    name = "malpan.notifications"
    verbose_name = _("알림 메일")
