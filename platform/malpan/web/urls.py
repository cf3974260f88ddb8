"""Addresses of the pages."""

from django.urls import include, path
from django.views.decorators.csrf import csrf_exempt
from django.views.i18n import set_language

from malpan.web.manage import archive, setup
from malpan.web.manage import urls as manage
from malpan.web.pages import (
    account,
    arena,
    arena_queue,
    board,
    campaigns,
    chain,
    competition,
    feeds,
    files,
    home,
    letters,
    metrics,
    notices,
    questions,
    stages,
    submissions,
    submit,
    team,
    team_actions,
    terms,
    tokens,
    withdrawal,
)

urlpatterns = [
    path("", home.home_page, name="home"),
    # nothing is lost if another site chooses the language, and a page without a token is the same for all visitors
    path("language/", csrf_exempt(set_language), name="set_language"),
    path("privacy/", account.privacy_page, name="privacy"),
    path("metrics/", metrics.index_page, name="metrics"),
    path("metrics/<slug:name>/", metrics.card_page, name="metric"),
    path("competitions/<slug:slug>/", competition.overview_page, name="competition"),
    path("competitions/<slug:slug>/data/", competition.data_page, name="competition_data"),
    path("competitions/<slug:slug>/submit/", submit.submit_page, name="submit"),
    path("competitions/<slug:slug>/submit/check/", submit.check_page, name="submit_check"),
    path("competitions/<slug:slug>/board/", board.board_page, name="board"),
    path("competitions/<slug:slug>/stages/", stages.stages_page, name="stages"),
    path("competitions/<slug:slug>/stages/<slug:track_slug>.json", stages.stages_json, name="stages_json"),
    path("competitions/<slug:slug>/stages/<slug:track_slug>/final.csv", stages.final_csv, name="stages_csv"),
    path("competitions/<slug:slug>/stages/<slug:track_slug>/<int:position>/", stages.stage_page, name="stage"),
    path("competitions/<slug:slug>/stages/<slug:track_slug>/<int:position>.csv", stages.stage_csv, name="stage_csv"),
    path("competitions/<slug:slug>/campaigns/", campaigns.campaigns_page, name="campaigns"),
    path(
        "competitions/<slug:slug>/campaigns/<slug:track_slug>/<int:number>/", campaigns.campaign_page, name="campaign"
    ),
    *(
        path(f"competitions/<slug:slug>/campaigns/<slug:track_slug>/<int:number>/{address}", view, name=name)
        for address, view, name in (
            ("votes-<int:snapshot>.json", campaigns.votes_download, "campaign_votes"),
            ("result-<int:snapshot>.json", campaigns.result_download, "campaign_result"),
            ("result-<int:snapshot>.csv", campaigns.result_csv, "campaign_csv"),
            ("metrics-<int:snapshot>.json", campaigns.metrics_download, "campaign_metrics"),
            ("scores-<int:snapshot>.json", campaigns.scores_download, "campaign_scores"),
        )
    ),
    path("competitions/<slug:slug>/chain/", chain.chain_page, name="chain"),
    path("competitions/<slug:slug>/chain.json", chain.chain_json, name="chain_json"),
    path("competitions/<slug:slug>/submissions/", submissions.history_page, name="submissions"),
    path("competitions/<slug:slug>/submissions/finals/", submissions.finals_action, name="submissions_finals"),
    path("competitions/<slug:slug>/team/", team.team_page, name="team"),
    path("competitions/<slug:slug>/team/", include(team_actions.urlpatterns)),
    path("competitions/<slug:slug>/terms/", terms.terms_page, name="terms"),
    path("competitions/<slug:slug>/notices/", notices.notices_page, name="notices"),
    path("competitions/<slug:slug>/notices.atom", feeds.notices_feed, name="notices_feed"),
    path("competitions/<slug:slug>/deadlines.ics", feeds.deadlines_calendar, name="deadlines"),
    path("competitions/<slug:slug>/questions/", questions.questions_page, name="questions"),
    path("competitions/<slug:slug>/questions/ask/", questions.ask_action, name="question_ask"),
    path("competitions/<slug:slug>/manage/", include(manage.urlpatterns)),
    path("manage/new/", setup.new_page, name="manage_new"),
    path("submissions/<uuid:public_id>/", submissions.detail_page, name="submission"),
    path("submissions/<uuid:public_id>/status/", submissions.status_fragment, name="submission_status"),
    path("submissions/<uuid:public_id>/withdraw/", withdrawal.withdrawal_page, name="submission_withdraw"),
    path("submissions/<uuid:public_id>/receipt/", chain.receipt_page, name="receipt"),
    path("submissions/<uuid:public_id>/receipt.json", chain.receipt_json, name="receipt_json"),
    path("manage/import/", archive.import_page, name="manage_import"),
    path("verify_chain.py", chain.script, name="verify_script"),
    path("account/", account.account_page, name="account"),
    path("account/export/", account.export, name="account_export"),
    path("account/close/", account.close_page, name="account_close"),
    path("account/letters/", letters.preferences_page, name="letters"),
    path("account/letters/<str:event>/", letters.preview_page, name="letter_preview"),
    path("unsubscribe/<str:token>/", letters.unsubscribe_page, name="unsubscribe"),
    path("tokens/", tokens.tokens_page, name="api_tokens"),
    path("tokens/<int:pk>/revoke/", tokens.revoke_action, name="api_token_revoke"),
    path("invitations/<str:token>/", team.invitation_page, name="invitation"),
    path("arena/", arena.list_page, name="arena"),
    path("arena/invitation/<str:token>/", arena.invitation_page, name="arena_invitation"),
    path("arena/<int:pk>/", arena.campaign_page, name="arena_campaign"),
    path("arena/<int:pk>/teams/", arena.known_teams_action, name="arena_known_teams"),
    path("arena/<int:pk>/judge/", arena_queue.queue_page, name="arena_queue"),
    path("arena/<int:pk>/judge/<uuid:key>/", arena_queue.assignment_page, name="arena_assignment"),
    path("arena/<int:pk>/judge/<uuid:key>/draft/", arena_queue.draft_action, name="arena_draft"),
    path("arena/<int:pk>/done/", arena.done_page, name="arena_done"),
    path("files/<int:pk>/<str:name>", files.download, name="data_file"),
]
