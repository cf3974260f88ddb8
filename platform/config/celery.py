"""The Celery application. A task takes a primary key, calls one function, and is sent on commit."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("malpan")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(["config"], related_name="worker_process")  # connects its signals in worker processes
