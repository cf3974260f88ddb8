"""Scoring runs: the queue, its age, failures with their cause, retry and cancel."""

from __future__ import annotations

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
