"""The name of this app in the admin, and its registration of handlers with the queue."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SubmissionsConfig(AppConfig):
    name = "malpan.submissions"
    verbose_name = _("제출과 채점")

    def ready(self) -> None:
        from malpan.submissions.evaluation import handlers  # which needs the models

        handlers.register()
