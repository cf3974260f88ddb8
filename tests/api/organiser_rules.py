"""Who may change something by which operation for organisers: a line for each, written by hand."""

from __future__ import annotations

import json
from typing import Any, Final

from django.utils import timezone

from malpan.competitions.models import CompetitionRole, Question
from malpan.leaderboard.rescore_preview import preview
from malpan.notifications.models import Letter
from malpan.stages.contents import final_content, stage_content
from malpan.stages.models import Award, Stage
from tests.factories import reference_bytes
from tests.judged_submissions import human_bytes
from tests.web.write_rules import (
    ADMIN,
    BARE,
    HUMAN,
    MANAGE,
    NOBODY,
    OPERATE,
    OWN,
    PRACTICE,
    VIEW,
    WEBHOOK,
    Made,
    Rule,
    agreed_result,
    campaign,
    campaign_with_result,
    draft,
    empty_phase,
    judge_of,
    near_team,
    of,
    ordered,
    program,
    ready,
    seen,
    stage,
    stuck,
    upload,
)

NOTHING: Final[dict[str, Any]] = {}
REASON: Final = {"reason": "사유"}


def _phase(w: Any) -> dict[str, Any]:
    return {"pk": w.phase.pk}


def _free(w: Any) -> dict[str, Any]:
    return {"pk": w.phases["free"].pk}


def _own_quota(w: Any) -> dict[str, Any]:
    return {"pk": w.phase.pk, "number": w.teams["own"].number}


def _team(name: str) -> Made:
    return lambda w: {"number": w.teams[name].number}


def _own_member(w: Any) -> dict[str, Any]:
    return {"number": w.teams["own"].number, "pk": w.member.pk}


def _role(w: Any) -> dict[str, Any]:
    return {"pk": CompetitionRole.objects.get(competition=w.competition, user=w.people["viewer"]).pk}


def _award(w: Any) -> dict[str, Any]:
    return {"pk": Award.objects.filter(competition=w.competition).order_by("position")[0].pk}


def _first_stage(w: Any) -> dict[str, Any]:
    return {"pk": Stage.objects.filter(track=w.phase.track).order_by("pk")[0].pk}


def _question(w: Any) -> dict[str, Any]:
    return {"pk": w.question.pk}


def _closed_question(w: Any) -> dict[str, Any]:
    person = w.people["owner"]
    known = {"competition": w.competition, "asked_by": person, "answered_by": person, "answered_at": timezone.now()}
    return {"pk": Question.objects.create(title="처리한 문의", body="본문", **known).pk}


def _notice(w: Any) -> dict[str, Any]:
    return {"pk": w.notice.pk}


def _file(w: Any) -> dict[str, Any]:
    return {"pk": w.data_file.pk}


def _delivery(w: Any) -> dict[str, Any]:
    return {**program(w), "delivery_pk": Letter.objects.get(person=None).pk}


def _left_judge(w: Any) -> dict[str, Any]:
    return {**of(judge_of("judged"), w), "judge_pk": w.arena.left.pk}


def _near(w: Any) -> dict[str, Any]:
    return {"team_numbers": [int(near_team(w)["team"])]}


def _systems(w: Any) -> dict[str, Any]:
    chosen = w.arena.campaigns["draft"].systems.order_by("position").select_related("submission")
    return {
        "submissions": [str(row.submission.public_id) for row in chosen],
        "institutions": {str(w.teams["own"].number): "마루대"},
    }


def _new_campaign(w: Any) -> dict[str, Any]:
    return {"title_ko": "새 평가", "protocol": "pairwise", "rubric": w.arena.rubric.pk, "phase": w.phase.pk}


RULES: Final[dict[str, Rule]] = {
    # set-up
    "createCompetition": Rule(ADMIN, {"slug": "new", "title_ko": "대회"}),
    "importCompetition": Rule(ADMIN, lambda w: {"file": upload(w.archive, "archive.zip"), "slug": "imported"}),
    "updateSettings": Rule(MANAGE, {"title_ko": "다른 제목"}),
    "rehearse": Rule(NOBODY, {"steps": [{"operation": "updateSettings", "values": {"title_ko": "다른 제목"}}]}),
    "publishCompetition": Rule(MANAGE, {"accepts_gaps": True}, BARE),
    "hideCompetition": Rule(MANAGE, NOTHING),
    "removeCompetition": Rule(OWN, NOTHING, BARE),
    "createTrack": Rule(MANAGE, {"slug": "new", "title_ko": "어문 규범", "recipe": "rag-qa@1"}),
    "updateTrack": Rule(MANAGE, {"title_ko": "다른 제목"}),
    "removeTrack": Rule(MANAGE, NOTHING, {"track": "empty"}),
    "setTargets": Rule(MANAGE, {"targets": [{"kind": "milestone", "value": 0.5, "label_ko": "목표"}]}),
    "addPublishedTargets": Rule(MANAGE, NOTHING, {"track": "empty"}),
    "addDataFile": Rule(MANAGE, lambda w: {"kind": "sample", "title_ko": "예시", "file": upload(b"[1]", "s.json")}),
    "updateDataFile": Rule(MANAGE, {"title_ko": "새 제목"}, _file),
    "removeDataFile": Rule(MANAGE, NOTHING, _file),
    # phases
    "createPhase": Rule(
        MANAGE,
        {
            "slug": "new",
            "title_ko": "본선",
            "starts_at": "2020-11-20T09:00:00+09:00",
            "ends_at": "2030-12-20T18:30:00+09:00",
        },
    ),
    "updatePhase": Rule(MANAGE, {"title_ko": "다른 제목"}, _phase),
    "setBoard": Rule(MANAGE, {"board": "hidden"}, _phase),
    "closePhase": Rule(MANAGE, NOTHING, _free),
    "splitPhase": Rule(MANAGE, {"public_ids": ["q1", "q3"], "replaces": True}, _free),
    "publishFinalBoard": Rule(MANAGE, {"confirm": "over"}, lambda w: {"pk": w.phases["over"].pk}),
    "removePhase": Rule(MANAGE, NOTHING, empty_phase),
    # references and rescoring
    "uploadReferences": Rule(MANAGE, lambda w: {"file": upload(reference_bytes(3))}, _free),
    "draftReferences": Rule(MANAGE, lambda w: {"file": upload(reference_bytes(3))}, _phase),
    "editErratum": Rule(MANAGE, {"erratum_ko": "1번을 고쳤습니다."}, draft),
    "publishReferences": Rule(MANAGE, NOTHING, lambda w: {"pk": w.free_draft.pk}),
    "discardReferences": Rule(MANAGE, NOTHING, draft),
    "startRescoring": Rule(OPERATE, lambda w: {"phase": w.phase.pk, "reason": "규칙 변경"}),
    "repeatScoring": Rule(OPERATE, lambda w: {"submission": str(w.submissions["own.after"].public_id), "repeats": 2}),
    "retryRescoring": Rule(OPERATE, NOTHING, stuck),
    "excludeFromRescoring": Rule(
        OPERATE,
        lambda w: {"submission": str(w.batches["stuck"].runs.get().submission.public_id), "reason": "파일 손상"},
        stuck,
    ),
    "applyRescoring": Rule(MANAGE, lambda w: {"seen": preview(w.batches["ready"]).seen}, ready),
    "orderRescoring": Rule(MANAGE, {"guarded_places": 3}, ready),
    "withdrawRescoringOrder": Rule(MANAGE, NOTHING, ordered),
    "cancelRescoring": Rule(OPERATE, NOTHING, ready),
    # submissions, teams and quota
    "downloadSubmission": Rule(MANAGE, NOTHING),  # in the audit log
    "retryRuns": Rule(OPERATE, lambda w: {"runs": [w.runs["failed"].pk]}),
    "cancelRun": Rule(OPERATE, REASON, lambda w: {"pk": w.runs["queued"].pk}),
    "recordAgreement": Rule(
        MANAGE,
        lambda w: {
            "file": upload(human_bytes(HUMAN)),
            "submission": str(w.judged.public_id),
            "metric": "llm_judge",
            "source": "교사 두 명",
        },
    ),
    "removeAgreement": Rule(MANAGE, NOTHING, lambda w: {"pk": w.agreement.pk}),
    "grantSlots": Rule(MANAGE, {"slots": 1, **REASON}, _own_quota),
    "refundSubmission": Rule(
        MANAGE, lambda w: {"submission": str(w.submissions["own.after"].public_id), **REASON}, _own_quota
    ),
    "resetQuota": Rule(MANAGE, REASON, _own_quota),
    "grantSlotsToAll": Rule(MANAGE, {"slots": 1, **REASON}, _phase),
    "resetQuotaOfAll": Rule(MANAGE, {"confirm": "main", **REASON}, _phase),
    "createTeamFor": Rule(MANAGE, lambda w: {"name": "기준 모델", "email": w.people["viewer"].email}),
    "updateTeam": Rule(MANAGE, {"name": "다른 이름"}, _team("own")),
    "disqualifyTeam": Rule(MANAGE, {"note_ko": "사유"}, _team("own")),
    "reinstateTeam": Rule(MANAGE, REASON, _team("out")),
    "removeTeam": Rule(MANAGE, NOTHING, _team("empty")),
    "removeMemberOf": Rule(MANAGE, NOTHING, _own_member),
    "handOverTeamOf": Rule(MANAGE, NOTHING, _own_member),
    # words
    "postNotice": Rule(MANAGE, {"title_ko": "공지", "body_ko": "본문"}),
    "updateNotice": Rule(MANAGE, {"is_pinned": True}, _notice),
    "withdrawNotice": Rule(MANAGE, NOTHING, _notice),
    "answerQuestion": Rule(MANAGE, {"answer_ko": "예."}, _question),
    "closeQuestion": Rule(MANAGE, NOTHING, _question),
    "reopenQuestion": Rule(MANAGE, NOTHING, _closed_question),
    # roles, records, webhooks
    "appointRole": Rule(OWN, lambda w: {"email": w.people["other team"].email, "role": "viewer"}),
    "changeRole": Rule(OWN, {"role": "operator"}, _role),
    "dismissRole": Rule(OWN, NOTHING, _role),
    "exportCompetition": Rule(OWN, NOTHING),  # in the audit log
    "createCompetitionWebhook": Rule(MANAGE, WEBHOOK),
    "updateCompetitionWebhook": Rule(MANAGE, {"is_on": False}, program),
    "removeCompetitionWebhook": Rule(MANAGE, NOTHING, program),
    "testCompetitionWebhook": Rule(MANAGE, NOTHING, program),
    "resendCompetitionDelivery": Rule(MANAGE, NOTHING, _delivery),
    # stages and awards
    "createStage": Rule(MANAGE, {"title_ko": "다른 심사", "weight": 20, "scale_min": 0, "scale_max": 100}),
    "updateStage": Rule(MANAGE, {"title_ko": "다른 심사"}, _first_stage),
    "removeStage": Rule(MANAGE, NOTHING, stage("open")),
    "previewStageTable": Rule(NOBODY, lambda w: {"text": f"{w.teams['other'].number},50"}, stage("open")),
    "enterStageTable": Rule(MANAGE, lambda w: {"text": f"{w.teams['other'].number},50"}, stage("open")),
    "confirmStageTable": Rule(MANAGE, seen, stage("pending")),
    "rejectStageTable": Rule(MANAGE, lambda w: {**seen(w), **REASON}, stage("pending")),
    "publishStage": Rule(MANAGE, lambda w: {"sha256": stage_content(w.stages["confirmed"]).sha256}, stage("confirmed")),
    "publishStanding": Rule(
        MANAGE, lambda w: {"sha256": final_content(w.stages["final"].track).sha256}, {"track": "stages-final"}
    ),
    "createAward": Rule(
        MANAGE, lambda w: {"team_number": w.teams["other"].number, "title_ko": "특별상", "awarded_on": "2026-12-05"}
    ),
    "updateAward": Rule(MANAGE, {"title_ko": "특별상"}, _award),
    "moveAward": Rule(MANAGE, {"position": 2}, _award),
    "removeAward": Rule(MANAGE, NOTHING, _award),
    "publishAwards": Rule(MANAGE, NOTHING),
    "withdrawAwards": Rule(MANAGE, NOTHING),
    # human evaluation
    "createRubric": Rule(MANAGE, {"title_ko": "새 기준표", "guideline_ko": "지침입니다."}),
    "createCampaign": Rule(MANAGE, _new_campaign),
    "updateCampaign": Rule(MANAGE, {"title_ko": "다른 이름"}, campaign("judged")),
    "removeCampaign": Rule(MANAGE, NOTHING, campaign("draft")),
    "planPanel": Rule(VIEW, NOTHING),  # a worker is asked to compute it
    "chooseSystems": Rule(MANAGE, _systems, campaign("draft")),
    "chooseTopSystems": Rule(MANAGE, {"count": 2}, campaign("new")),
    "setPractice": Rule(MANAGE, {"items": json.loads(PRACTICE)}, campaign("draft")),
    "removePractice": Rule(MANAGE, NOTHING, campaign("draft")),
    "inviteJudge": Rule(MANAGE, {"email": "new.judge@example.com", "institution": "가온대"}, campaign("new")),
    "remindJudges": Rule(MANAGE, NOTHING, campaign("shown")),
    "resendJudgeInvitation": Rule(MANAGE, NOTHING, judge_of("invited")),
    "reinviteJudge": Rule(MANAGE, NOTHING, _left_judge),
    "barJudge": Rule(MANAGE, lambda w: {"team_numbers": [w.teams["own"].number], **REASON}, judge_of("draft")),
    "clearJudge": Rule(MANAGE, _near, judge_of("draft")),
    "removeJudge": Rule(MANAGE, REASON, judge_of("draft")),
    "openScores": Rule(MANAGE, REASON, campaign("judged")),
    "excludeJudge": Rule(MANAGE, REASON, judge_of("judged")),
    "excludeJudgement": Rule(MANAGE, REASON, judge_of("judged", judgement_pk="judgement")),
    "liftExclusion": Rule(MANAGE, REASON, judge_of("judged", exclusion_pk="exclusion")),
    "openCampaign": Rule(MANAGE, NOTHING, campaign("draft")),
    "closeCampaign": Rule(MANAGE, {"accepts_open": True}, campaign("shown")),
    "publishCampaign": Rule(MANAGE, agreed_result, campaign("closed")),
    "compareMetrics": Rule(MANAGE, NOTHING, campaign_with_result),
}
