"""The desk's first page: what waits for an organiser, and the checklist before opening."""

from __future__ import annotations

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
