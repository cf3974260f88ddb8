"""Phases: times, limits, board state, public split, finals, and publishing the final board."""

from __future__ import annotations

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
