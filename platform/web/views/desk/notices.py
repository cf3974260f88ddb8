"""Notices: dated, pinned, in two languages."""

from __future__ import annotations

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
