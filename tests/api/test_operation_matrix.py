"""Who may ask for what: every operation of the API by every kind of token and by every role.

``ROLES_OF`` stands here once more, as a witness that asks nothing of the code: an operation for organisers that is not
there fails the test.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

import pytest
from django.test import Client
from django.utils import timezone

from malpan.accounts.models import ApiToken, Scope
from malpan.accounts.services import create_api_token, revoke_api_token
from malpan.competitions.models import CompetitionRole
from malpan.competitions.roles import appoint
from malpan.core.storage import store_private
from tests.api.operations import operations
from tests.factories import (
    PhaseFactory,
    TeamFactory,
    UserFactory,
    finished_submission,
    leader_of,
    prediction_bytes,
    publish,
)
from tests.web.matrix import taken_back

pytestmark = pytest.mark.django_db

VIEW, OPERATE, MANAGE, OWN = "view", "operate", "manage", "own"
MAY: Final = {
    "viewer": {VIEW},
    "operator": {VIEW, OPERATE},
    "organiser": {VIEW, OPERATE, MANAGE},
    "owner": {VIEW, OPERATE, MANAGE, OWN},
}
ROLES_OF: Final = {
    **dict.fromkeys(
        (
            *("getChecklist", "listPhases", "getPhase", "previewFinalBoard", "listReferences", "listRescorings"),
            *("getRescoring", "previewRescoring", "listAllSubmissions", "getQueue", "listRuns", "getTeamQuota"),
            *("getTeamLedger", "listTeams", "getManagedTeam", "listAllNotices", "listAllQuestions", "listAuditEntries"),
            *("listStages", "getStage", "getStageTable", "previewStage", "previewStanding"),
            *("listAllAwards", "proposeAwards"),
            *("listCampaigns", "getCampaign", "listRubrics", "getRubric", "planPanel", "listSystems", "getPractice"),
            *("listJudges", "getJudge", "listJudgements", "getQuality", "listExclusions", "previewCampaignResult"),
            *("downloadVotes", "getMetricsComparison"),
            *("listSharedFiles", "listAlikeSubmissions", "compareAnswers", "listAgreements", "listJudgedSubmissions"),
        ),
        VIEW,
    ),
    **dict.fromkeys(
        (
            *("startRescoring", "repeatScoring", "retryRescoring", "excludeFromRescoring", "cancelRescoring"),
            *("retryRuns", "cancelRun"),
        ),
        OPERATE,
    ),
    **dict.fromkeys(
        (
            *(
                "getSettings",
                "updateSettings",
                "rehearse",
                "publishCompetition",
                "hideCompetition",
                "createTrack",
                "updateTrack",
            ),
            *("removeTrack", "setTargets", "addPublishedTargets", "addDataFile", "updateDataFile", "removeDataFile"),
            *("createPhase", "updatePhase", "setBoard", "closePhase", "splitPhase", "publishFinalBoard"),
            *("removePhase", "uploadReferences", "draftReferences", "diffReferences", "editErratum"),
            *("publishReferences", "discardReferences", "applyRescoring", "downloadSubmission", "grantSlots"),
            *("orderRescoring", "withdrawRescoringOrder"),
            *("refundSubmission", "resetQuota", "grantSlotsToAll", "resetQuotaOfAll", "createTeamFor", "updateTeam"),
            *("disqualifyTeam", "reinstateTeam", "removeTeam", "removeMemberOf", "handOverTeamOf", "postNotice"),
            *("updateNotice", "withdrawNotice", "answerQuestion", "closeQuestion", "reopenQuestion"),
            *("createStage", "updateStage", "removeStage", "listStageTeams", "previewStageTable", "enterStageTable"),
            *("confirmStageTable", "rejectStageTable", "publishStage", "publishStanding"),
            *("createAward", "updateAward", "moveAward", "removeAward", "publishAwards", "withdrawAwards"),
            *("createRubric", "createCampaign", "updateCampaign", "removeCampaign", "chooseSystems"),
            *("chooseTopSystems", "listSystemChoices", "setPractice", "removePractice", "inviteJudge"),
            "remindJudges",
            *("resendJudgeInvitation", "reinviteJudge", "barJudge", "removeJudge", "previewDesign", "openCampaign"),
            "clearJudge",
            *("closeCampaign", "openScores", "getCurrentScores", "previewJudgeExclusion", "excludeJudge"),
            *("previewJudgementExclusion", "excludeJudgement", "liftExclusion", "publishCampaign", "compareMetrics"),
            *("recordAgreement", "removeAgreement"),
            *("listCompetitionWebhooks", "createCompetitionWebhook", "getCompetitionWebhook"),
            *("updateCompetitionWebhook", "removeCompetitionWebhook", "testCompetitionWebhook"),
            *("listCompetitionDeliveries", "resendCompetitionDelivery"),
        ),
        MANAGE,
    ),
    **dict.fromkeys(
        (
            *("removeCompetition", "listRoles", "appointRole", "changeRole", "dismissRole", "exportCompetition"),
            "verifyCompetition",
        ),
        OWN,
    ),
}
OF_THE_SITE: Final = {"createCompetition", "importCompetition"}  # for who may make competitions, whatever their roles
NEW: Final = {*OF_THE_SITE, "rehearse"}  # what makes a new competition says so to who may not: it tells of none
SCOPES: Final = {
    "none": None,
    "read": [Scope.READ],
    "submit": [Scope.READ, Scope.SUBMIT],
    "organise": [Scope.READ, Scope.ORGANISE],
    "all": list(Scope),
}


@pytest.fixture
def phase():
    phase = PhaseFactory.create(daily_limit=20)
    publish(phase)
    return phase


@pytest.fixture
def named(phase):
    team = TeamFactory.create(competition=phase.track.competition)
    submission = finished_submission(phase, team, 0.5, file_sha256=store_private(prediction_bytes()).sha256)
    return {
        "slug": phase.track.competition.slug,
        "track": phase.track.slug,
        "public_id": submission.public_id,
        "pk": phase.pk,
        "number": team.number,
        **dict.fromkeys(("one_id", "other_id", "with_id"), submission.public_id),
        **dict.fromkeys(("judge_pk", "judgement_pk", "exclusion_pk", "delivery_pk"), 1),
    }


def client_with(user, scopes=tuple(Scope), **options):
    """As the token was just used, no request notes its use, which would be taken back each time."""
    row, token = create_api_token(user=user, label="t", scopes=scopes, **options)
    ApiToken.objects.filter(pk=row.pk).update(last_used_at=timezone.now() + timedelta(hours=1))
    return Client(headers={"Authorization": f"Bearer {token}"}, raise_request_exception=False)


def asked(operation, client, named):
    with taken_back():
        answer = operation.ask(client, named)
        if answer.streaming:
            b"".join(answer.streaming_content)
    assert str(answer.status_code) in operation.statuses, (operation.name, answer.status_code)
    assert answer.status_code < 500, operation.name
    return answer


def code_of(answer):
    return answer.json().get("code") if "problem" in answer.get("Content-Type", "") else None


def test_a_token_does_what_it_is_for_and_nothing_else(phase, named):
    owner = UserFactory.create()
    appoint(competition=phase.track.competition, user=owner, role=CompetitionRole.Role.OWNER, actor=None)
    anonymous = Client(raise_request_exception=False)
    clients = {name: client_with(owner, scopes) if scopes else anonymous for name, scopes in SCOPES.items()}
    for operation in operations():
        for name, scopes in SCOPES.items():
            code = code_of(asked(operation, clients[name], named))
            if not operation.scope:
                assert code not in {"api_token_invalid", "api_scope_missing"}, (operation.name, name)
            elif scopes is None:
                assert code == "api_token_invalid", operation.name
            else:
                assert (code == "api_scope_missing") == (operation.scope not in scopes), (operation.name, name)


def test_a_role_does_what_it_may_and_nothing_else(phase, named):
    competition = phase.track.competition
    for role, may in MAY.items():
        person = UserFactory.create()
        appoint(competition=competition, user=person, role=role, actor=None)
        client = client_with(person)
        for operation in operations():
            if operation.scope == "organise" and operation.name not in OF_THE_SITE:
                code = code_of(asked(operation, client, named))
                assert (code == "not_allowed") == (ROLES_OF[operation.name] not in may), (role, operation.name, code)
                assert code != "manage_not_found"


def test_who_has_no_role_does_not_learn_that_there_is_one(phase, named):
    stranger, member = UserFactory.create(), leader_of(phase.track.competition.teams.get(number=named["number"]))
    for person in (stranger, member):
        client = client_with(person)
        for operation in operations():
            if operation.scope == "organise":
                expected = "may_not_create" if operation.name in NEW else "manage_not_found"
                assert code_of(asked(operation, client, named)) == expected, operation.name
                nowhere = code_of(asked(operation, client, {**named, "slug": "no-such-one"}))
                assert nowhere == expected, operation.name


def test_an_organiser_elsewhere_reaches_nothing_here(phase, named):
    """With the numbers of this competition under the slug of their own."""
    other = PhaseFactory.create()
    person = UserFactory.create()
    appoint(competition=other.track.competition, user=person, role=CompetitionRole.Role.OWNER, actor=None)
    client = client_with(person)
    theirs = {**named, "slug": other.track.competition.slug}
    for operation in operations():
        if operation.scope == "organise" and "{pk}" in operation.path:
            answer = asked(operation, client, theirs)
            assert answer.status_code in (404, 403), (operation.name, answer.content.decode())


def test_every_operation_for_organisers_is_in_the_table():
    found = {each.name for each in operations() if each.scope == "organise"}
    assert found - OF_THE_SITE == ROLES_OF.keys()


def test_a_token_ends(phase, named):
    person = UserFactory.create()
    over = client_with(person, expires_at=timezone.now() - timedelta(seconds=1))
    answer = over.get("/api/v1/whoami/")
    assert (answer.status_code, code_of(answer)) == (401, "api_token_expired")
    assert answer["WWW-Authenticate"] == "Bearer"

    revoked = client_with(person)
    assert revoked.get("/api/v1/whoami/").status_code == 200
    revoke_api_token(api_token=ApiToken.objects.order_by("-pk")[0], actor=person)
    assert code_of(revoked.get("/api/v1/whoami/")) == "api_token_invalid"


def test_the_last_use_is_noted_by_whatever_a_token_does(phase):
    client = client_with(UserFactory.create())
    ApiToken.objects.update(last_used_at=None)
    client.get("/api/v1/competitions/")
    noted = ApiToken.objects.get().last_used_at
    assert noted is not None
    client.get("/api/v1/competitions/")
    assert ApiToken.objects.get().last_used_at == noted  # to the minute
