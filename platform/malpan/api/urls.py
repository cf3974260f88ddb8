"""Addresses of the API."""

from django.urls import path

from malpan.api import routes

urlpatterns = [
    path("v1/competitions/", routes.competition_list, name="api-competitions"),
    path("v1/competitions/<slug:slug>/", routes.competition_detail, name="api-competition"),
    path("v1/competitions/<slug:slug>/tracks/<slug:track>/board/", routes.board_detail, name="api-board"),
    path("v1/competitions/<slug:slug>/tracks/<slug:track>/submissions/", routes.submissions, name="api-submissions"),
    path("v1/competitions/<slug:slug>/tracks/<slug:track>/check/", routes.check, name="api-check"),
    path("v1/submissions/<uuid:public_id>/", routes.submission_detail, name="api-submission"),
    path("", routes.unknown_address),
    path("<path:path>", routes.unknown_address),
]
