"""The operations that answer lists without pages, each with what keeps them short."""

from __future__ import annotations

from typing import Final

_BY_HAND: Final = "An organiser makes each of them by hand: some dozens at most."
_OF_ONE: Final = "Parts of one thing, as many as it has: columns, members, events, places in a queue."
_DOCUMENT: Final = "One document that is published or compared as a whole: a part of it would have another hash."
_TABLE: Final = "A table that is filled in and sent back whole, a line for each team."

WHOLE: Final[dict[str, str]] = {
    **dict.fromkeys(
        (
            *("listPhases", "listReferences", "listRoles", "listStages", "listAwards", "listAllAwards"),
            *("proposeAwards", "listRubrics", "listCampaigns", "listSystems", "listAgreements", "getPractice"),
        ),
        _BY_HAND,
    ),
    **dict.fromkeys(
        (
            *("getCompetition", "getTrack", "getSettings", "getChecklist", "getRescoring", "getSubmission", "whoami"),
            *("getTeam", "getManagedTeam", "getLimits", "getTeamQuota", "getWebhook", "getCompetitionWebhook"),
            *("getCampaign", "getJudge", "getRubric", "getQuality", "getStage", "previewCampaignResult"),
            *("previewDesign", "previewJudgeExclusion", "previewJudgementExclusion", "compareSubmissions"),
        ),
        _OF_ONE,
    ),
    **dict.fromkeys(
        ("previewFinalBoard", "previewStage", "previewStanding", "diffReferences", "verifyCompetition"), _DOCUMENT
    ),
    **dict.fromkeys(("getStageTable", "listStageTeams"), _TABLE),
    "getBoard": "Pages of a hundred rows, by `page`.",
}
