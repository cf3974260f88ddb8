"""The Celery application of beat, which sends the names of what is due: it loads no app of the site, no task and no
page, so it starts in half the time and takes two thirds of the memory.
"""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging
from django.conf import settings
from django.utils.log import configure_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "malpan.settings")

app = Celery("clock", fixups=set())  # Celery's one for Django loads its apps
app.config_from_object("django.conf:settings", namespace="CELERY")


@setup_logging.connect
def log_as_the_site_does(**_: Any) -> None:
    """What loading the apps does otherwise."""
    configure_logging(settings.LOGGING_CONFIG, settings.LOGGING)
