"""Addresses of the pages."""

from django.urls import include, path
from django.views.i18n import set_language

from web.views import board, competition, desk, files, home, metrics, submissions, submit, team

urlpatterns = [
    path("", home.home_page, name="home"),
    path("language/", set_language, name="set_language"),
    path("metrics/", metrics.index_page, name="metrics"),
    path("metrics/<slug:name>/", metrics.card_page, name="metric"),
    path("competitions/<slug:slug>/", competition.overview_page, name="competition"),
    path("competitions/<slug:slug>/data/", competition.data_page, name="competition_data"),
    path("competitions/<slug:slug>/submit/", submit.submit_page, name="submit"),
    path("competitions/<slug:slug>/board/", board.board_page, name="board"),
    path("competitions/<slug:slug>/submissions/", submissions.history_page, name="submissions"),
    path("competitions/<slug:slug>/team/", team.team_page, name="team"),
    path("competitions/<slug:slug>/team/create/", team.create_action, name="team_create"),
    path("competitions/<slug:slug>/team/invite/", team.invite_action, name="team_invite"),
    path("competitions/<slug:slug>/desk/", include(desk.urlpatterns)),
    path("submissions/<uuid:public_id>/", submissions.detail_page, name="submission"),
    path("submissions/<uuid:public_id>/status/", submissions.status_fragment, name="submission_status"),
    path("invitations/<str:token>/", team.invitation_page, name="invitation"),
    path("files/<int:pk>/<str:name>", files.download, name="data_file"),
]
