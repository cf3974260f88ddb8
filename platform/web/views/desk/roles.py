"""Who works behind the scenes of the competition."""

from __future__ import annotations

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
