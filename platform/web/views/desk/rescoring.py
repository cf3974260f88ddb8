"""Rescoring batches: start, preview, apply, cancel."""

from __future__ import annotations

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
