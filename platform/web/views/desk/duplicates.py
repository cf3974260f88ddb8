"""Equal and nearly equal files across teams."""

from __future__ import annotations

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
