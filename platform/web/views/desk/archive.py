"""Export and import of the whole competition as one archive."""

from __future__ import annotations

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
