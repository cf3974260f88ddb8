"""Setting a competition up: its texts, tracks, phases, terms and prize places."""

from __future__ import annotations

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
