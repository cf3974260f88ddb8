"""What of the API does the same as each address of the manage pages: its operations, or why there is none."""

from __future__ import annotations

from typing import Final

Operations = tuple[str, ...]

_ARENA: Final = (
    "Human evaluation is prepared, judged and published on pages: what they show (blinded answers, the preview of an "
    "exclusion) has no form yet that would keep a judge blind in a script. Its published results are files already."
)
_FRAGMENT: Final = "A part of a page that it asks for again while it is open."
_AGREEMENT: Final = "Figures for the cards of metrics; `python -m scoring judge-agreement` computes them from files."
_DUPLICATES: Final = "A search for a person to judge with two files side by side."
_FIGURES: Final = "Plots for people; each has its numbers as a CSV."
_TABLE: Final = "The page's table as CSV; the API has the rows by pages."

COVERED: Final[dict[str, Operations | str]] = {
    "manage_overview": ("getChecklist", "getQueue"),
    # set-up
    "manage_setup": ("getChecklist", "getSettings"),
    "manage_setup_texts": ("getSettings", "updateSettings"),
    "manage_setup_publish": ("publishCompetition",),
    "manage_setup_hide": ("hideCompetition",),
    "manage_setup_remove": ("removeCompetition",),
    "manage_setup_tracks": ("getSettings",),
    "manage_setup_new_track": ("createTrack",),
    "manage_setup_track": ("getSettings", "updateTrack"),
    "manage_setup_remove_track": ("removeTrack",),
    "manage_setup_targets": ("getSettings", "setTargets"),
    "manage_setup_published_targets": ("addPublishedTargets",),
    "manage_setup_files": ("getSettings", "listReferences", "getTrack"),
    "manage_setup_references": ("uploadReferences",),
    "manage_setup_new_file": ("addDataFile",),
    "manage_setup_file": ("updateDataFile",),
    "manage_setup_remove_file": ("removeDataFile",),
    # phases
    "manage_phases": ("listPhases",),
    "manage_phase_new": ("createPhase",),
    "manage_phase": ("getPhase", "updatePhase", "previewFinalBoard"),
    "manage_phase_board": ("setBoard",),
    "manage_phase_close": ("closePhase",),
    "manage_phase_split": ("splitPhase",),
    "manage_phase_publish": ("publishFinalBoard",),
    "manage_phase_remove": ("removePhase",),
    # references and rescoring
    "manage_references": ("listReferences", "draftReferences"),
    "manage_reference": ("diffReferences",),
    "manage_reference_erratum": ("editErratum",),
    "manage_reference_publish": ("publishReferences",),
    "manage_reference_discard": ("discardReferences",),
    "manage_rescoring": ("listRescorings",),
    "manage_rescoring_start": ("startRescoring",),
    "manage_rescoring_repeat": ("repeatScoring",),
    "manage_rescoring_batch": ("getRescoring", "previewRescoring"),
    "manage_rescoring_progress": ("getRescoring",),
    "manage_rescoring_csv": ("previewRescoring",),
    "manage_rescoring_retry": ("retryRescoring",),
    "manage_rescoring_exclude": ("excludeFromRescoring",),
    "manage_rescoring_apply": ("applyRescoring",),
    "manage_rescoring_cancel": ("cancelRescoring",),
    # scoring
    "manage_runs": ("listRuns", "getQueue"),
    "manage_runs_live": _FRAGMENT,
    "manage_runs_retry": ("retryRuns",),
    "manage_run": ("listRuns",),
    "manage_run_cancel": ("cancelRun",),
    "manage_submissions": ("listAllSubmissions",),
    "manage_submissions_csv": _TABLE,
    "manage_submission": ("listAllSubmissions", "getSubmission"),
    "manage_submission_file": ("downloadSubmission",),
    "manage_figures": _FIGURES,
    "manage_figure_csv": _FIGURES,
    "manage_duplicates": _DUPLICATES,
    "manage_side_by_side": _DUPLICATES,
    "manage_judge": _AGREEMENT,
    "manage_judge_remove": _AGREEMENT,
    # teams and quota
    "manage_teams": ("listTeams",),
    "manage_team_new": ("createTeamFor",),
    "manage_team": ("getManagedTeam",),
    "manage_team_rename": ("updateTeam",),
    "manage_team_baseline": ("updateTeam",),
    "manage_team_disqualify": ("disqualifyTeam",),
    "manage_team_reinstate": ("reinstateTeam",),
    "manage_team_remove": ("removeTeam",),
    "manage_team_remove_member": ("removeMemberOf",),
    "manage_team_hand_over": ("handOverTeamOf",),
    "manage_quota": ("getTeamQuota",),
    "manage_quota_team": ("getTeamQuota", "getTeamLedger"),
    "manage_quota_grant": ("grantSlots",),
    "manage_quota_refund": ("refundSubmission",),
    "manage_quota_reset": ("resetQuota",),
    "manage_quota_all": ("grantSlotsToAll", "resetQuotaOfAll"),
    "manage_quota_grant_all": ("grantSlotsToAll",),
    "manage_quota_reset_all": ("resetQuotaOfAll",),
    # words
    "manage_notices": ("listAllNotices",),
    "manage_notice_new": ("postNotice",),
    "manage_notice": ("updateNotice",),
    "manage_notice_pin": ("updateNotice",),
    "manage_notice_withdraw": ("withdrawNotice",),
    "manage_questions": ("listAllQuestions",),
    "manage_question": ("listAllQuestions",),
    "manage_question_answer": ("answerQuestion",),
    "manage_question_mark": ("closeQuestion", "reopenQuestion"),
    # people and records
    "manage_roles": ("listRoles",),
    "manage_role_appoint": ("appointRole",),
    "manage_role_change": ("changeRole",),
    "manage_role_dismiss": ("dismissRole",),
    "manage_audit": ("listAuditEntries",),
    "manage_audit_csv": _TABLE,
    "manage_audit_entry": ("listAuditEntries",),
    "manage_archive": ("verifyCompetition",),
    "manage_export": ("exportCompetition",),
    # stages of judging
    "manage_stages": ("listStages",),
    "manage_stage_new": ("createStage",),
    "manage_stages_final": ("previewStanding", "publishStanding"),
    "manage_stage": ("getStage", "updateStage", "getStageTable", "previewStage"),
    "manage_stage_confirm": ("confirmStageTable",),
    "manage_stage_reject": ("rejectStageTable",),
    "manage_stage_publish": ("publishStage",),
    "manage_stage_remove": ("removeStage",),
    "manage_stage_table": ("previewStageTable", "enterStageTable"),
    "manage_stage_template": ("listStageTeams",),
    # outside of a competition
    "manage_new": ("createCompetition",),
    "manage_import": "An archive may be 2 GB and makes people: `manage.py import_competition` takes it on the machine.",
    "manage_site": "Of the site, for whoever keeps it running: /openmetrics/ has the same figures for programs.",
    "manage_site_csv": "Of the site, as above.",
}
BEGINNINGS: Final[dict[str, str]] = {
    "manage_arena": _ARENA,
    "manage_campaign": _ARENA,
    "manage_rubric": _ARENA,
}


def of(name: str) -> Operations | str | None:
    """The operations that do what the address ``name`` does, or why there is none; ``None``: nobody has said."""
    if name in COVERED:
        return COVERED[name]
    return next((reason for beginning, reason in BEGINNINGS.items() if name.startswith(beginning)), None)
