"""The name of this app in the admin, its registration of handlers with the queue, and of events that people hear of."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SubmissionsConfig(AppConfig):
    name = "malpan.submissions"
    verbose_name = _("제출과 채점")

    def ready(self) -> None:
        from malpan.submissions import letters  # which need the models
        from malpan.submissions.evaluation import handlers
        from malpan.submissions.integrity import alike
        from malpan.submissions.rescoring import letters as rescoring_letters

        handlers.register()
        alike.register()
        letters.register_events()
        rescoring_letters.register_events()
