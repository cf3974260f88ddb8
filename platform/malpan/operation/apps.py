"""The name of this app, its events, and its warnings of ``manage.py check --deploy``."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class OperationConfig(AppConfig):
    name = "malpan.operation"
    verbose_name = _("운영")

    def ready(self) -> None:
        from malpan.operation import checks, letters  # noqa: F401 (registers itself)

        letters.register_events()
