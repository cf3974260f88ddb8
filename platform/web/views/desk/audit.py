"""The audit log of the competition, searchable."""

from __future__ import annotations

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
