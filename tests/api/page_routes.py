"""What of the API does the same as each page for participants and visitors: its operations, or why there is none."""

from __future__ import annotations

from typing import Final

Operations = tuple[str, ...]

_FIGURES: Final = "Plots for people; each has its numbers as a CSV."
_PAPER: Final = "A page of paper to keep, with an address that confirms it."
_SHOWN: Final = "Whoever is shown a paper confirms it here: nothing that a program of a team does."
_PROGRAMS: Final = "This address answers programs itself, without a token."
_BESIDE: Final = "For readers; programs have the JSON or CSV at the address beside it, without a token."
_JUDGES: Final = "Judges judge on pages alone: what they see and when is part of what is measured."
_ACCOUNT: Final = "Of the account: what a token could change, whoever finds the token could change too."
_TEXT: Final = "A text of the site for people."

COVERED: Final[dict[str, Operations | str]] = {
    # competitions
    "home": ("listCompetitions",),
    "competition": ("getCompetition", "listAwards"),
    "citation": _PROGRAMS,
    "competition_data": ("getTrack", "getDataFile"),
    "starter_notebook": "A notebook for people; what it does is in the operations that it calls.",
    "data_file": ("getDataFile",),
    "board": ("getBoard",),
    "board_feed": _PROGRAMS,
    "figures": _FIGURES,
    "figure_csv": _FIGURES,
    "stages": _BESIDE,
    "stage": _BESIDE,
    **dict.fromkeys(("stages_json", "stages_csv", "stage_csv"), _PROGRAMS),
    "campaigns": _BESIDE,
    "campaign": _BESIDE,
    **dict.fromkeys(
        ("campaign_votes", "campaign_result", "campaign_csv", "campaign_metrics", "campaign_scores"), _PROGRAMS
    ),
    "chain": _BESIDE,
    "chain_json": _PROGRAMS,
    "verify_script": _PROGRAMS,
    "terms": ("getTerms", "acceptTerms"),
    "notices": ("listNotices",),
    "notices_feed": _PROGRAMS,
    "deadlines": _PROGRAMS,
    "questions": ("listQuestions",),
    "question_ask": ("askQuestion",),
    # submissions
    "submit": ("submit", "getLimits"),
    "submit_check": ("checkFile",),
    "submissions": ("listSubmissions", "getLimits"),
    "submissions_finals": ("chooseFinals",),
    "submission": ("getSubmission", "getSubmissionFile"),
    "submission_status": ("getSubmission",),
    "submission_items": ("listItems",),
    "submission_compare": ("compareSubmissions",),
    "submission_comparison": ("compareSubmissions", "listComparedItems"),
    "submission_withdraw": ("withdrawSubmission",),
    "receipt": _BESIDE,
    "receipt_json": "The receipt of a team for verify_chain.py: a file to keep, which whoever is logged in takes.",
    # teams
    "team": ("getTeam",),
    "team_create": ("createTeam",),
    "team_rename": ("renameTeam",),
    "team_program": ("renameTeam",),
    "team_model": ("describeModel",),
    "team_invite": ("createInvitation",),
    "team_invite_email": ("mailInvitation",),
    "team_invitation_revoke": ("revokeInvitation",),
    "invitation": ("acceptInvitation",),
    "team_leave": ("leaveTeam",),
    "team_hand_over": ("handOverTeam",),
    "team_remove": ("removeMember",),
    "team_merge_ask": ("askMerge",),
    "team_merge_withdraw": ("withdrawMerge",),
    "team_merge_decline": ("declineMerge",),
    "team_merge_accept": ("acceptMerge",),
    **dict.fromkeys(("certificate", "award"), _PAPER),
    **dict.fromkeys(("certificate_check", "award_check"), _SHOWN),
    # the account
    **dict.fromkeys(("account", "account_export", "account_close", "letters", "letter_preview"), _ACCOUNT),
    "unsubscribe": "The link of a mail, for whoever has it.",
    "api_tokens": _ACCOUNT,
    "api_token_revoke": _ACCOUNT,
    "webhooks": ("listWebhooks", "createWebhook", "listDeliveries"),
    "webhook": ("getWebhook", "updateWebhook", "listDeliveries"),
    "webhook_switch": ("updateWebhook",),
    "webhook_test": ("testWebhook",),
    "webhook_remove": ("removeWebhook",),
    "webhook_resend": ("resendDelivery",),
    # judges
    **dict.fromkeys(
        (
            *("arena", "arena_invitation", "arena_campaign", "arena_known_teams", "arena_queue", "arena_assignment"),
            *("arena_draft", "arena_done", "arena_tell"),
        ),
        _JUDGES,
    ),
    # the site
    "set_language": "Programs choose the language by Accept-Language.",
    "health": _PROGRAMS,
    "openmetrics": "For programs of whoever keeps the site running, by a token of its own.",
    **dict.fromkeys(("robots", "sitemap", "favicon"), _PROGRAMS),
    **dict.fromkeys(("privacy", "terms_of_use", "metrics", "metric"), _TEXT),
}
