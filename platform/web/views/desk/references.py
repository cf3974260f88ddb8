"""Reference versions: upload, compare with the current one, publish with an erratum."""

from __future__ import annotations

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
