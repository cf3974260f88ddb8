"""The name of this app, and its warnings of ``manage.py check --deploy``."""

from django.apps import AppConfig


class OperationConfig(AppConfig):
    name = "malpan.operation"

    def ready(self) -> None:
        from malpan.operation import checks  # noqa: F401 (registers itself)
