"""Addresses of the API."""

from django.urls import include, path, re_path

from malpan.api import documentation, routes
from malpan.api.application import addresses

urlpatterns = [
    path("docs/", documentation.page, name="api-docs"),
    path("malpan.py", documentation.command, name="malpan-command"),
    path("v1/openapi.json", routes.openapi, name="api-openapi"),
    path("v1/", include(list(addresses(routes.api)))),
    re_path("", routes.unknown_address),  # with a line break as well, which no path: takes
]
