"""Addresses of the API."""

from django.urls import path

from api import views

urlpatterns = [
    path("v1/competitions/", views.competition_list, name="api-competitions"),
    path("v1/competitions/<slug:slug>/", views.competition_detail, name="api-competition"),
    path("v1/competitions/<slug:slug>/tracks/<slug:track>/board/", views.board_detail, name="api-board"),
    path("v1/competitions/<slug:slug>/tracks/<slug:track>/submissions/", views.submissions, name="api-submissions"),
    path("v1/submissions/<uuid:public_id>/", views.submission_detail, name="api-submission"),
    path("", views.unknown_address),
    path("<path:path>", views.unknown_address),
]
