"""The quota desk: ledgers, grants, refunds and resets."""

from __future__ import annotations

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
