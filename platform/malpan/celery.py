"""The Celery application. A task takes a primary key, calls one function, and is sent on commit."""

import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging

from malpan import broker

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "malpan.settings")

broker.install()
app = Celery("malpan")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(["malpan"], related_name="worker_process")  # connects its signals in worker processes


@setup_logging.connect
def leave_logging_to_django(**_: Any) -> None:
    """With this receiver Celery sets no handlers or levels: ``settings.LOGGING`` applies everywhere."""
