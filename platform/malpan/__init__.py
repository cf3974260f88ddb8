"""Project configuration. The Celery app is loaded with Django so that tasks bind to it."""

from malpan import garbage
from malpan.celery import app as celery_app

__all__ = ["celery_app", "garbage"]
