"""The name of this app."""

from django.apps import AppConfig


class OperationConfig(AppConfig):
    name = "malpan.operation"
