"""문의: questions of participants and their answers."""

from __future__ import annotations

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
