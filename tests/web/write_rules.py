"""Who may change something where, and by what: a line for each address of the site, written by hand.

The permissions of the roles stand here once more, as a witness that asks nothing of the code: see the table at the head
of ``malpan.competitions.permissions``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from allauth.account.models import EmailConfirmationHMAC
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from malpan.arena.judges import consent_version_of
from malpan.arena.models import CampaignResult
from malpan.arena.publishing import computed_result
from malpan.core.storage import store_private
from malpan.leaderboard.rescore_preview import preview
from malpan.notifications.models import Letter
from malpan.notifications.preferences import token_of
from malpan.stages.contents import final_content, stage_content
from malpan.stages.selectors import newest_table
from tests.arena.answers import answered
from tests.factories import PASSWORD, prediction_bytes, reference_bytes
from tests.judged_submissions import human_bytes
from tests.web.write_world import VIEWERS, WriteWorld

Values = Mapping[str, Any]
Made = Values | Callable[[WriteWorld], Values]

NOBODY: Final[frozenset[str]] = frozenset()
ANYBODY: Final = frozenset(VIEWERS)
VISITOR: Final = frozenset({"anonymous"})
PEOPLE: Final = ANYBODY - VISITOR
JUDGE: Final = frozenset({"judge"})
LEADER: Final = frozenset({"own team"})
LEADERS: Final = frozenset({"own team", "other team"})
OWN_TEAM: Final = frozenset({"own team", "own member"})
TEAMS: Final = OWN_TEAM | LEADERS
NEWCOMER: Final = frozenset({"staff"})  # has not accepted the terms yet
TEAMLESS: Final = PEOPLE - TEAMS - NEWCOMER
OWN: Final = frozenset({"superuser", "owner"})
MANAGE: Final = OWN | {"organiser"}
OPERATE: Final = MANAGE | {"operator"}
VIEW: Final = OPERATE | {"viewer"}
ADMIN: Final = frozenset({"superuser"})


@dataclass(frozen=True)
class Rule:
    """``who`` changes something by sending ``body``; ``at``: what the address names, if not the first of the world."""

    who: frozenset[str]
    body: Made = field(default_factory=lambda: {"confirm": "on"})
    at: Made = field(default_factory=dict)


def of(made: Made, world: WriteWorld) -> Values:
    return made(world) if callable(made) else made


def upload(data: bytes, name: str = "file.json") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data, content_type="application/json")


def prefixed(key: str, **fields: Any) -> dict[str, Any]:
    return {f"{key}-{name}": value for name, value in fields.items()}


NOTICE: Final = {"title_ko": "공지", "body_ko": "본문", "published_at": "2026-01-01T09:00"}
TRACK: Final = {
    "title_ko": "어문 규범", "title_en": "Norms", "slug": "new", "recipe": "rag-qa@1", "profile": "demo",
    "score_scale": "100", "score_decimals": "7", "position": "1", "description_ko": "과제",
}  # fmt: skip
PHASE: Final = {
    "title_ko": "본선", "title_en": "Final", "slug": "new", "starts_at": "2020-11-20T09:00",
    "ends_at": "2030-12-20T18:30", "daily_limit": "60", "total_limit": "99", "min_interval": "0",
    "finals_limit": "2", "position": "0", "board": "live",
}  # fmt: skip
TEXTS: Final = {
    "title_ko": "다른 제목", "slug": "canaries", "team_size_max": "5", "prize_places": "1", "terms_ko": "약관",
}  # fmt: skip
STAGE: Final = {"title_ko": "다른 심사", "weight": "20", "normalisation": "rank", "tie_rule": "earlier"}
AWARD: Final = {"title_ko": "특별상", "awarded_on": "2026-12-05"}
TARGET: Final = {
    "form-TOTAL_FORMS": "1", "form-INITIAL_FORMS": "0", "form-0-kind": "milestone", "form-0-value": "0.5",
    "form-0-label_ko": "목표", "form-0-is_comparable": "on",
}  # fmt: skip
GRANT: Final = prefixed("grant", slots="1", scope="phase", reason="장애", confirm="on")
PASSWORDS: Final = {"password1": PASSWORD + "!", "password2": PASSWORD + "!"}
WEBHOOK: Final = {"url": "https://hooks.example.com/y", "events": ["scored"]}
NEW_PERSON: Final = {"email": "new@example.com", "name": "새 사람", **PASSWORDS, "privacy": "on"}


HUMAN: Final = {"e1": 4.5, "e2": 2.0, "e3": 3.0}


def empty_phase(w: Any) -> dict[str, Any]:
    return {"pk": w.phases["empty"].pk}


def ready(w: Any) -> dict[str, Any]:
    return {"pk": w.batches["ready"].pk}


def stuck(w: Any) -> dict[str, Any]:
    return {"pk": w.batches["stuck"].pk}


def ordered(w: Any) -> dict[str, Any]:
    return {"pk": w.batches["ordered"].pk}


def member(w: Any) -> dict[str, Any]:
    return {"pk": w.member.pk}


def program(w: Any) -> dict[str, Any]:
    return {"pk": w.competition.endpoints.get().pk}


def draft(w: Any) -> dict[str, Any]:
    return {"pk": w.draft.pk}


def stage(name: str) -> Made:
    return lambda w: {"pk": w.stages[name].pk}


def seen(w: Any) -> dict[str, Any]:
    table = newest_table(w.stages["pending"])
    assert table is not None
    return {"number": table.number, "sha256": table.sha256}


def campaign(name: str) -> Made:
    return lambda w: {"pk": w.arena.campaigns[name].pk}


def agreed(w: Any) -> dict[str, Any]:
    row = w.arena.campaigns["asked"]
    return {"consent": "on", "guideline": "on", "consent_version": consent_version_of(row), "rubric": row.rubric_id}


def judge_of(name: str, **keys: str) -> Made:
    """The judge of a campaign; ``keys``: other names in the address, each an attribute of the planted arena."""
    return lambda w: {
        "pk": w.arena.campaigns[name].pk,
        "judge_pk": w.arena.judges[name].pk,
        **{key: getattr(w.arena, attribute).pk for key, attribute in keys.items()},
    }


def near_team(w: Any) -> dict[str, Any]:
    """A team whose institution has a name like that of the judge of the draft."""
    draft, team = w.arena.campaigns["draft"], w.teams["own"]
    draft.judges.filter(pk=w.arena.judges["draft"].pk).update(institution="가온대")
    draft.systems.filter(submission__team=team).update(institution="가온대학교 병원")
    return {"team": str(team.number)}


def new_campaign(w: Any) -> dict[str, Any]:
    return {
        "title_ko": "새 평가", "protocol": "pairwise", "part": "all", "item_count": "2", "units_per_item": "1",
        "judges_per_unit": "1", "calibration_count": "0", "control_percent": "0", "repeat_percent": "0",
        "min_seconds": "5", "resamples": "200", "rubric": w.arena.rubric.pk, "phase": w.phase.pk,
    }  # fmt: skip


def agreed_result(w: Any) -> dict[str, Any]:
    """The result that the organiser saw before publishing it."""
    return {"result_sha256": answered(computed_result, campaign=w.arena.campaigns["closed"]).result_sha256}


def published_campaign(w: Any) -> dict[str, Any]:
    return {"confirm": "on", **agreed_result(w)}


def campaign_with_result(w: Any) -> dict[str, Any]:
    """An open campaign with a result, as a row: the closed one is still to be published."""
    computed, campaign = answered(computed_result, campaign=w.arena.campaigns["closed"]), w.arena.campaigns["judged"]
    votes, result = store_private(computed.votes_bytes), store_private(computed.result_bytes)
    CampaignResult.objects.create(
        campaign=campaign,
        number=1,
        rows=computed.rows,
        sha256="0" * 64,
        votes_sha256=votes.sha256,
        votes_size=votes.size,
        result_sha256=result.sha256,
        result_size=result.size,
        signature_hash=computed.signature_hash,
        published_by=w.people["superuser"],
        published_at=timezone.now(),
    )
    return {"pk": campaign.pk}


BARE: Final = {"slug": "bare"}
REASON: Final = {"reason": "사유", "confirm": "on"}
RUBRIC: Final = {
    "title_ko": "새 기준표", "guideline_ko": "지침입니다.", "criterion-TOTAL_FORMS": "0",
    "criterion-INITIAL_FORMS": "0", "reason-TOTAL_FORMS": "0", "reason-INITIAL_FORMS": "0",
}  # fmt: skip

PRACTICE = (
    b'[{"input": "1", "outputs": ["2", "3"], "expected": {"choice": "first"}, "feedback_ko": "4", "feedback_en": ""}]'
)

# --- by the name of the address; without a name by the route ----------------------------------------------------------
PAGES: Final[dict[str, Rule]] = {
    **dict.fromkeys(
        (
            *("health", "openmetrics", "home", "set_language", "privacy", "metrics", "metric", "verify_script"),
            *(
                "manage_site",
                "manage_site_csv",
                "terms_of_use",
                "robots",
                "sitemap",
                "favicon",
                "citation",
            ),
            *(
                "competition",
                "competition_data",
                "starter_notebook",
                "board",
                "chain",
                "chain_json",
                "submissions",
                "team",
                "notices",
            ),
            *("notices_feed", "board_feed", "deadlines", "certificate", "certificate_check", "award", "award_check"),
            *("stages", "stage", "stages_json", "stages_csv", "stage_csv"),
            *("campaigns", "campaign", "campaign_votes", "campaign_result", "campaign_csv", "campaign_metrics"),
            "campaign_scores",
            *("questions", "submission", "submission_status", "receipt", "receipt_json", "data_file"),
            *("figures", "figure_csv", "submission_compare", "submission_comparison", "submission_items"),
            *(
                "account",
                "account_export",
                "letter_preview",
                "api-docs",
                "malpan-command",
                "api-competitions",
                "api-competition",
                "api-board",
                "api-submission",
            ),
            *("api/", "arena", "arena_done"),
        ),
        Rule(NOBODY),
    ),
    "arena_invitation": Rule(JUDGE),
    "arena_campaign": Rule(JUDGE, agreed, campaign("asked")),
    "arena_known_teams": Rule(JUDGE, lambda w: {"teams": w.teams["other"].number}, campaign("asked")),
    "arena_tell": Rule(JUDGE, {"text": "지도한 학생이 있습니다."}, campaign("asked")),
    "arena_queue": Rule(JUDGE, at=campaign("waiting")),
    "arena_assignment": Rule(JUDGE, {"choice": "first", "expected": "0"}, campaign("shown")),
    "arena_draft": Rule(JUDGE, {"choice": "tie"}, campaign("shown")),
    "terms": Rule(NEWCOMER, {"confirm": "on", "version": "1"}),
    "submit": Rule(TEAMS, lambda w: {"file": upload(prediction_bytes())}),
    "submit_check": Rule(TEAMS, lambda w: {"file": upload(b"no JSON"), "track": "norms"}),  # a rejection is recorded
    "api-submissions": Rule(TEAMS, lambda w: {"file": upload(prediction_bytes())}),
    "submissions_finals": Rule(
        OWN_TEAM,
        lambda w: {"track": "norms", "phase": "main", "chosen": [str(w.submissions["own.after"].public_id)]},
    ),
    "submission_withdraw": Rule(OWN_TEAM, at=lambda w: {"public_id": w.submissions["own.after"].public_id}),
    "question_ask": Rule(PEOPLE, {"title": "형식", "body": "id는 문자열입니까?"}),
    "team_create": Rule(TEAMLESS, {"name": "새 팀"}),
    "team_rename": Rule(LEADERS, {"name": "다른 이름"}),
    "team_program": Rule(LEADERS, {"program": "1"}),
    "team_model": Rule(LEADERS, {"model_name": "말글-13B", "model_url": "https://example.com/model"}),
    "team_invite": Rule(LEADERS),
    "team_invite_email": Rule(LEADERS, {"email": "guest@example.com"}),
    "team_invitation_revoke": Rule(LEADER, at=lambda w: {"pk": w.invitation.pk}),
    "team_leave": Rule(frozenset({"own member"})),  # no leader of others, nor the last of a team that sent files
    "team_hand_over": Rule(LEADER, at=member),
    "team_remove": Rule(LEADER, at=member),
    "team_merge_ask": Rule(frozenset({"other team"}), {"target": "third"}),  # the own team has asked already
    "team_merge_withdraw": Rule(LEADER, at=lambda w: {"pk": w.merges["asked"].pk}),
    "team_merge_decline": Rule(LEADER, at=lambda w: {"pk": w.merges["offered"].pk}),
    "team_merge_accept": Rule(LEADER, at=lambda w: {"pk": w.merges["offered"].pk}),
    "invitation": Rule(TEAMLESS),
    "api_tokens": Rule(PEOPLE, {"label": "laptop"}),
    "letters": Rule(PEOPLE, {"language": "en", "pace_scored": "daily"}),
    "unsubscribe": Rule(ANYBODY, at=lambda w: {"token": token_of(w.people["own team"], "scored")}),
    "webhooks": Rule(PEOPLE, WEBHOOK),
    "webhook": Rule(LEADER, WEBHOOK),
    **dict.fromkeys(("webhook_switch", "webhook_test", "webhook_remove", "webhook_resend"), Rule(LEADER)),
    "api_token_revoke": Rule(LEADER),
    # not who leads others, is the only owner or the only administrator
    "account_close": Rule(PEOPLE - {"own team", "owner", "superuser"}, {"password": PASSWORD, "confirm": "on"}),
    "manage_site_texts": Rule(ADMIN | {"staff"}, {"kind": "terms", "text_ko": "새 약관", "text_en": ""}),
    "manage_new": Rule(ADMIN, {"title_ko": "대회", "title_en": "Contest", "slug": "new"}),
    "manage_import": Rule(
        ADMIN, lambda w: {"file": upload(w.archive, "archive.zip"), "slug": "imported", "confirm": "on"}
    ),
}
ACCOUNTS: Final[dict[str, Rule]] = {
    **dict.fromkeys(
        (
            *("account_logout", "account_inactive", "account_reauthenticate", "account_email_verification_sent"),
            *("account_set_password", "account_reset_password", "account_confirm_login_code"),
            *("account_reset_password_from_key_done", "account_reset_password_from_key"),
            *("account_reset_password_done", "account_resend"),
        ),
        Rule(NOBODY, {"password": PASSWORD, "email": "person@example.com", **PASSWORDS}),
    ),
    "account_login": Rule(VISITOR, lambda w: {"login": w.people["own team"].email, "password": PASSWORD}),
    "account_signup": Rule(VISITOR, NEW_PERSON),
    "account_email": Rule(PEOPLE, {"action_add": "1", "email": "second@example.com"}),
    "account_change_password": Rule(PEOPLE, {"oldpassword": PASSWORD, **PASSWORDS}),
    "account_confirm_email": Rule(ANYBODY, at=lambda w: {"key": EmailConfirmationHMAC(w.unconfirmed).key}),
}


def person(w: Any) -> dict[str, Any]:
    return {"object_id": w.people["viewer"].pk}


# of the admin only what changes something: all its other pages are read-only
ADMIN_PAGES: Final[dict[str, Rule]] = {
    "password_change": Rule(
        ADMIN | {"staff"},
        {"old_password": PASSWORD, "new_password1": PASSWORD + "!", "new_password2": PASSWORD + "!"},
    ),
    "accounts_user_add": Rule(ADMIN, NEW_PERSON | {"usable_password": "true"}),
    "accounts_user_changelist": Rule(
        ADMIN, lambda w: {"action": "revoke_tokens", "_selected_action": [w.people["viewer"].pk], "index": "0"}
    ),
    "accounts_user_change": Rule(
        ADMIN, lambda w: {"email": "changed@example.com", "name": "바뀐 이름", "is_active": "on"}, person
    ),
    "auth_user_password_change": Rule(
        ADMIN, PASSWORDS | {"usable_password": "true"}, lambda w: {"id": w.people["viewer"].pk}
    ),
    "auth_group_add": Rule(ADMIN, {"name": "new"}),
    "auth_group_changelist": Rule(
        ADMIN, lambda w: {"action": "delete_selected", "_selected_action": [w.group.pk], "index": "0", "post": "yes"}
    ),
    "auth_group_change": Rule(ADMIN, {"name": "renamed"}, lambda w: {"object_id": w.group.pk}),
    "auth_group_delete": Rule(ADMIN, {"post": "yes"}, lambda w: {"object_id": w.group.pk}),
}
MANAGE_PAGES: Final[dict[str, Rule]] = {
    **dict.fromkeys(
        (
            *(
                "manage_arena",
                "manage_arena_planner",
                "manage_arena_computation",
                "manage_rubrics",
                "manage_rubric",
                "manage_campaign",
            ),
            *("manage_campaign_judges", "manage_campaign_judge", "manage_campaign_quality"),
            *("manage_campaign_scores", "manage_campaign_exclusions"),
            *("manage_overview", "manage_archive", "manage_audit", "manage_audit_csv", "manage_audit_entry"),
            *("manage_figures", "manage_figure_csv"),
            *("manage_duplicates", "manage_side_by_side", "manage_notices", "manage_phases", "manage_questions"),
            *("manage_question", "manage_quota", "manage_quota_team", "manage_quota_all", "manage_reference"),
            *("manage_rescoring", "manage_rescoring_batch", "manage_rescoring_progress", "manage_rescoring_csv"),
            *("manage_roles", "manage_runs", "manage_runs_live", "manage_run", "manage_setup", "manage_setup_files"),
            *("manage_setup_tracks", "manage_submissions", "manage_submissions_csv", "manage_submission"),
            *("manage_teams", "manage_team", "manage_stages", "manage_stage_template"),
            *("manage_awards", "manage_award_pdf"),
        ),
        Rule(NOBODY),
    ),
    "manage_judge": Rule(
        MANAGE,
        lambda w: {"judged": f"{w.judged.pk}:llm_judge", "file": upload(human_bytes(HUMAN)), "source": "교사 두 명"},
    ),
    "manage_judge_remove": Rule(MANAGE, at=lambda w: {"pk": w.agreement.pk}),
    "manage_export": Rule(OWN),
    "manage_webhooks": Rule(MANAGE, WEBHOOK),
    "manage_webhook": Rule(MANAGE, WEBHOOK, at=program),
    **{f"manage_webhook_{name}": Rule(MANAGE, at=program) for name in ("switch", "test", "remove")},
    "manage_webhook_resend": Rule(MANAGE, at=lambda w: {"pk": Letter.objects.get(person=None).pk}),
    "manage_notice_new": Rule(MANAGE, NOTICE),
    "manage_notice": Rule(MANAGE, NOTICE | {"title_ko": "다른 제목"}),
    "manage_notice_pin": Rule(MANAGE, {"pinned": "1"}),
    "manage_notice_withdraw": Rule(MANAGE),
    "manage_phase_new": Rule(MANAGE, PHASE),
    "manage_phase": Rule(MANAGE, PHASE | {"slug": "main"}),
    "manage_phase_board": Rule(MANAGE, {"board": "hidden"}),
    "manage_phase_close": Rule(MANAGE, {"confirm": "on"}, lambda w: {"pk": w.phases["free"].pk}),
    "manage_phase_split": Rule(
        MANAGE, {"way": "list", "public_ids": "q1\nq3", "replaces": "on"}, lambda w: {"pk": w.phases["free"].pk}
    ),
    "manage_phase_publish": Rule(MANAGE, {"word": "over"}, lambda w: {"pk": w.phases["over"].pk}),
    "manage_phase_remove": Rule(MANAGE, at=empty_phase),
    "manage_question_answer": Rule(MANAGE, {"answer_ko": "예."}),
    "manage_question_mark": Rule(MANAGE, {"close": "1"}),
    "manage_quota_grant": Rule(MANAGE, GRANT),
    "manage_quota_refund": Rule(
        MANAGE,
        lambda w: prefixed("refund", submission=w.submissions["own.after"].pk, reason="오류", confirm="on"),
    ),
    "manage_quota_reset": Rule(MANAGE, prefixed("reset", reason="오류", confirm="on")),
    "manage_quota_grant_all": Rule(MANAGE, GRANT),
    "manage_quota_reset_all": Rule(MANAGE, prefixed("reset", reason="오류", word="main")),
    "manage_references": Rule(MANAGE, lambda w: {"phase": w.phase.pk, "file": upload(reference_bytes(3))}),
    "manage_reference_erratum": Rule(MANAGE, {"erratum_ko": "1번을 고쳤습니다."}, draft),
    "manage_reference_publish": Rule(MANAGE, at=lambda w: {"pk": w.free_draft.pk}),
    "manage_reference_discard": Rule(MANAGE, at=draft),
    "manage_rescoring_start": Rule(OPERATE, {"reason": "규칙 변경"}),
    "manage_rescoring_repeat": Rule(
        OPERATE, lambda w: {"submission": str(w.submissions["own.after"].public_id), "repeats": "2"}
    ),
    "manage_rescoring_retry": Rule(OPERATE, at=stuck),
    "manage_rescoring_exclude": Rule(
        OPERATE, lambda w: {"submission": w.batches["stuck"].runs.get().submission_id, "reason": "파일 손상"}, stuck
    ),
    "manage_rescoring_apply": Rule(
        MANAGE, lambda w: {"confirm": "on", "seen": preview(w.batches["ready"]).seen}, ready
    ),
    "manage_rescoring_order": Rule(MANAGE, {"confirm": "on", "guarded_places": "3"}, ready),
    "manage_rescoring_order_withdraw": Rule(MANAGE, at=ordered),
    "manage_rescoring_cancel": Rule(OPERATE, at=ready),
    "manage_role_appoint": Rule(OWN, lambda w: {"email": w.people["other team"].email, "role": "viewer"}),
    "manage_role_change": Rule(OWN, {"role": "operator"}),
    "manage_role_dismiss": Rule(OWN),
    "manage_runs_retry": Rule(OPERATE, lambda w: {"run": w.runs["failed"].pk}),
    "manage_run_cancel": Rule(OPERATE, {"reason": "오류", "confirm": "on"}, lambda w: {"pk": w.runs["queued"].pk}),
    "manage_setup_texts": Rule(MANAGE, TEXTS),
    "manage_setup_publish": Rule(MANAGE, {"accepts_gaps": "on"}, BARE),
    "manage_setup_hide": Rule(MANAGE),
    "manage_setup_remove": Rule(OWN, at=BARE),
    "manage_setup_references": Rule(
        MANAGE, lambda w: {"file": upload(reference_bytes(3))}, lambda w: {"pk": w.phases["free"].pk}
    ),
    "manage_setup_new_file": Rule(
        MANAGE, lambda w: {"kind": "sample", "title_ko": "예시", "file": upload(b"[1]", "sample.json")}
    ),
    "manage_setup_file": Rule(MANAGE, {"kind": "data", "title_ko": "새 제목", "position": "3"}),
    "manage_setup_remove_file": Rule(MANAGE),
    "manage_setup_targets": Rule(MANAGE, TARGET),
    "manage_setup_published_targets": Rule(MANAGE, at={"track_slug": "empty"}),
    "manage_setup_new_track": Rule(MANAGE, TRACK),
    "manage_setup_track": Rule(MANAGE, TRACK | {"slug": "norms", "title_ko": "다른 제목"}),
    "manage_setup_remove_track": Rule(MANAGE, at={"track_slug": "empty"}),
    "manage_stage_new": Rule(MANAGE, STAGE | {"scale_min": "0", "scale_max": "100"}),
    "manage_stage": Rule(MANAGE, lambda w: STAGE | {"phase": w.phase.pk}),
    "manage_stage_table": Rule(
        MANAGE, lambda w: {"text": f"{w.teams['other'].number},50", "based_on": "0", "save": "1"}, stage("open")
    ),
    "manage_stage_confirm": Rule(MANAGE, lambda w: {"confirm": "on", **seen(w)}, stage("pending")),
    "manage_stage_reject": Rule(MANAGE, lambda w: {"reason": "오기", **seen(w)}, stage("pending")),
    "manage_stage_publish": Rule(
        MANAGE, lambda w: {"confirm": "on", "sha256": stage_content(w.stages["confirmed"]).sha256}, stage("confirmed")
    ),
    "manage_stage_remove": Rule(MANAGE, at=stage("open")),
    "manage_stages_final": Rule(
        MANAGE,
        lambda w: {"confirm": "on", "sha256": final_content(w.stages["final"].track).sha256},
        {"track_slug": "stages-final"},
    ),
    "manage_award_new": Rule(MANAGE, lambda w: AWARD | {"team": w.teams["other"].pk}),
    "manage_awards_proposal": Rule(
        MANAGE,
        lambda w: {
            "awarded_on": "2026-12-05",
            **prefixed(f"team-{w.teams['other'].number}", is_chosen="on", title_ko="대상"),
        },
    ),
    "manage_award": Rule(MANAGE, lambda w: AWARD | {"team": w.teams["own"].pk}),
    "manage_award_move": Rule(MANAGE, {"position": "2"}),
    "manage_award_remove": Rule(MANAGE),
    "manage_awards_publish": Rule(MANAGE),
    "manage_awards_withdraw": Rule(MANAGE),
    "manage_rubric_new": Rule(MANAGE, RUBRIC),
    "manage_campaign_new": Rule(MANAGE, new_campaign),
    "manage_campaign_settings": Rule(MANAGE, {"title_ko": "다른 이름"}, campaign("judged")),
    "manage_campaign_remove": Rule(MANAGE, at=campaign("draft")),
    "manage_campaign_systems": Rule(
        MANAGE, lambda w: {f"institution-{w.teams['own'].number}": "가온대"}, campaign("draft")
    ),
    "manage_campaign_systems_add": Rule(
        MANAGE, lambda w: {"add": w.submissions["own.after"].public_id}, campaign("new")
    ),
    "manage_campaign_practice": Rule(MANAGE, lambda w: {"file": upload(PRACTICE)}, campaign("draft")),
    "manage_campaign_practice_remove": Rule(MANAGE, at=campaign("draft")),
    "manage_campaign_systems_top": Rule(MANAGE, {"count": "2"}, campaign("new")),
    "manage_campaign_invite": Rule(MANAGE, {"lines": "new.judge@example.com, 가온대"}, campaign("new")),
    "manage_campaign_remind": Rule(MANAGE, at=campaign("shown")),
    "manage_campaign_judge_resend": Rule(MANAGE, at=judge_of("invited")),
    "manage_campaign_judge_bar": Rule(
        MANAGE, lambda w: {"teams": str(w.teams["own"].number), **REASON}, judge_of("draft")
    ),
    "manage_campaign_judge_clear": Rule(MANAGE, near_team, judge_of("draft")),
    "manage_campaign_judge_remove": Rule(MANAGE, REASON, judge_of("draft")),
    "manage_campaign_judge_reinvite": Rule(MANAGE, at=lambda w: judge_of("judged")(w) | {"judge_pk": w.arena.left.pk}),
    "manage_campaign_opening": Rule(MANAGE, at=campaign("draft")),
    "manage_campaign_closing": Rule(MANAGE, {"confirm": "on", "accepts_open": "on"}, campaign("shown")),
    "manage_campaign_publishing": Rule(MANAGE, published_campaign, campaign("closed")),
    "manage_campaign_metrics": Rule(MANAGE, at=campaign_with_result),
    "manage_campaign_open_scores": Rule(MANAGE, REASON, campaign("judged")),
    "manage_campaign_exclude_judge": Rule(MANAGE, REASON, judge_of("judged")),
    "manage_campaign_exclude_judgement": Rule(MANAGE, REASON, judge_of("judged", judgement_pk="judgement")),
    "manage_campaign_lift": Rule(MANAGE, REASON, judge_of("judged", exclusion_pk="exclusion")),
    "manage_submission_file": Rule(MANAGE),
    "manage_baseline_new": Rule(
        MANAGE, lambda w: {"name": "새 기준", "phase": w.phase.pk, "file": upload(prediction_bytes())}
    ),
    "manage_team_new": Rule(MANAGE, lambda w: {"name": "기준 모델", "email": w.people["viewer"].email}),
    "manage_team_rename": Rule(MANAGE, {"name": "다른 이름"}),
    "manage_team_baseline": Rule(MANAGE, {"baseline": "1"}),
    "manage_team_program": Rule(MANAGE, {"program": "1"}),
    "manage_team_disqualify": Rule(MANAGE, {"note_ko": "사유", "confirm": "on"}),
    "manage_team_reinstate": Rule(MANAGE, at=lambda w: {"number": w.teams["out"].number}),
    "manage_team_remove": Rule(MANAGE, at=lambda w: {"number": w.teams["empty"].number}),
    "manage_team_remove_member": Rule(MANAGE, at=lambda w: {"number": w.teams["own"].number, "pk": w.member.pk}),
    "manage_team_hand_over": Rule(MANAGE, at=lambda w: {"number": w.teams["own"].number, "pk": w.member.pk}),
}


def rule_of(route: str, name: str | None) -> Rule | None:
    """``None``: nobody has thought about it. What the admin has of its own is read-only but for ``ADMIN_PAGES``."""
    key = name or route
    if route.startswith("admin/"):
        return ADMIN_PAGES.get(key, Rule(NOBODY))
    if "/manage/" in route:
        return MANAGE_PAGES.get(key)
    return ACCOUNTS.get(key) if route.startswith("accounts/") else PAGES.get(key)
