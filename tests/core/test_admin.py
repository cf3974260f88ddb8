"""The admin: every change audited, records untouchable, reference files write-only."""

import json
import re

import pytest
from django.contrib import admin
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Membership, Team, User
from accounts.services import create_api_token, create_invitation
from competitions.models import Competition, DataFile, Phase, ReferenceVersion, Track
from core.models import AuditEntry
from submissions.models import MetricResult, ScoringRun
from tests.factories import (
    CANARY,
    PASSWORD,
    CompetitionFactory,
    PhaseFactory,
    ScoringRunFactory,
    SubmissionFactory,
    TeamFactory,
    TrackFactory,
    UserFactory,
    file_bytes,
    finished_submission,
    leader_of,
    publish,
    reference_bytes,
    rows,
)

pytestmark = pytest.mark.django_db
RECORDS = ["core.auditentry", "submissions.submission", "submissions.scoringrun", "submissions.rejection"]


@pytest.fixture
def organiser():
    return UserFactory.create(is_staff=True, is_superuser=True)


@pytest.fixture
def pages(organiser):
    client = Client()
    client.force_login(organiser)
    return client


def address(model, page, *args):
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


def fields_of(response):
    """What the form of a page would send back unchanged."""
    form = response.context["adminform"].form
    sent = {}
    for bound in form:
        value = bound.value()
        if hasattr(bound.field.widget, "decompress") and not isinstance(value, list):
            parts = bound.field.widget.decompress(value)
            sent |= {f"{bound.html_name}_{number}": part for number, part in enumerate(parts)}
        elif value is not None and value is not False:
            sent[bound.html_name] = value
    for formset in response.context["inline_admin_formsets"]:
        for bound in formset.formset.management_form:
            sent[bound.html_name] = bound.value()
        for each in formset.formset.forms:
            sent |= {bound.html_name: bound.value() for bound in each if bound.value() is not None}
    return sent


def messages_of(response):
    return [str(message) for message in response.context["messages"]]


def test_organiser_signs_in_with_an_email_address(organiser):
    client = Client()

    answer = client.post(reverse("admin:login"), {"username": organiser.email, "password": PASSWORD, "next": "/admin/"})

    assert answer.status_code == 302
    assert client.get("/admin/").status_code == 200


def test_participant_has_no_business_in_the_admin():
    client = Client()
    client.force_login(UserFactory.create())

    assert client.get("/admin/").status_code == 302


def test_change_is_audited_with_before_and_after(pages, organiser):
    competition = CompetitionFactory.create(title_ko="옛 이름")
    page = address(Competition, "change", competition.pk)

    answer = pages.post(page, fields_of(pages.get(page)) | {"title_ko": "새 이름"})

    assert answer.status_code == 302
    entry = AuditEntry.objects.get(action="competition.update")
    assert (entry.actor, entry.before, entry.after) == (
        organiser,
        {"title_ko": "옛 이름"},
        {"title_ko": "새 이름"},
    )


def test_creation_and_deletion_are_audited(pages):
    pages.post(
        address(Competition, "add"), {"slug": "new", "title_ko": "새 대회", "team_size_max": 5, "is_published": "on"}
    )
    competition = Competition.objects.get(slug="new")
    pages.post(address(Competition, "delete", competition.pk), {"post": "yes"})

    assert AuditEntry.objects.get(action="competition.create").after["slug"] == "new"
    assert AuditEntry.objects.get(action="competition.delete").before["slug"] == "new"


def test_deletion_of_many_is_audited_one_by_one(pages):
    chosen = [each.pk for each in CompetitionFactory.create_batch(3)]

    pages.post(
        address(Competition, "changelist"), {"action": "delete_selected", "_selected_action": chosen, "post": "yes"}
    )

    assert AuditEntry.objects.filter(action="competition.delete").count() == 3


def test_phase_limits_are_changed_and_audited(pages):
    phase = PhaseFactory.create(daily_limit=5)
    page = address(Phase, "change", phase.pk)

    answer = pages.post(page, fields_of(pages.get(page)) | {"daily_limit": 3})

    assert answer.status_code == 302, answer.context["adminform"].form.errors
    assert AuditEntry.objects.get(action="phase.update").after["daily_limit"] == 3


def test_board_is_frozen_by_an_action(pages, organiser):
    phase = PhaseFactory.create()

    pages.post(address(Phase, "changelist"), {"action": "freeze_board", "_selected_action": [phase.pk]})

    phase.refresh_from_db()
    assert phase.board == Phase.Board.FROZEN
    assert AuditEntry.objects.get(action="phase.set_board").actor == organiser


def test_track_offers_the_recipes_there_are(pages):
    track = TrackFactory.create()
    page = address(Track, "change", track.pk)

    assert pages.post(page, fields_of(pages.get(page)) | {"recipe": "rag-qa-strict@1"}).status_code == 302
    assert pages.post(page, fields_of(pages.get(page)) | {"recipe": "no-such@1"}).status_code == 200

    track.refresh_from_db()
    assert track.recipe == "rag-qa-strict@1"


def _upload(pages, phase, data, **fields):
    form = {"phase": phase.pk, "file": SimpleUploadedFile("r.json", data), "note": "", **fields}
    return pages.post(address(ReferenceVersion, "add"), form, follow=True)


def test_reference_file_is_published_through_the_form(pages, organiser):
    phase = PhaseFactory.create()

    _upload(pages, phase, reference_bytes(), note="최종")

    version = ReferenceVersion.objects.get()
    assert (version.phase, version.is_current, version.note, version.created_by) == (phase, True, "최종", organiser)


def test_broken_reference_file_is_told_where_and_not_what(pages, caplog):
    broken = [*rows(2, CANARY), {"id": "q3", "input": {"question_type": "선택형"}, "output": {"answer": [CANARY]}}]

    answer = _upload(pages, PhaseFactory.create(), file_bytes(broken))

    told = messages_of(answer)
    assert any("q3" in message for message in told)
    assert CANARY not in answer.content.decode() + "".join(told) + caplog.text
    assert not ReferenceVersion.objects.exists()


def test_references_in_use_are_replaced_only_with_the_box_ticked(pages):
    phase = PhaseFactory.create()
    publish(phase)
    SubmissionFactory.create(phase=phase)

    answer = _upload(pages, phase, reference_bytes(4))
    assert "확인란" in "".join(messages_of(answer))
    assert ReferenceVersion.objects.count() == 1

    _upload(pages, phase, reference_bytes(4), replace_in_use="on")
    assert ReferenceVersion.objects.count() == 2


def test_published_references_can_be_neither_changed_nor_deleted_nor_read(pages):
    version = publish(PhaseFactory.create())
    page = address(ReferenceVersion, "change", version.pk)

    shown = pages.get(page).content.decode()

    assert version.file_sha256 in shown
    assert CANARY not in shown
    assert not re.search(r'type="file"|download', shown)
    assert pages.post(page, {"note": "x"}).status_code == 403
    assert pages.post(address(ReferenceVersion, "delete", version.pk), {"post": "yes"}).status_code == 403


def test_data_file_is_added_and_renamed(pages):
    track = TrackFactory.create()
    form = {"track": track.pk, "kind": "data", "title_ko": "문제", "position": 0}

    pages.post(address(DataFile, "add"), form | {"file": SimpleUploadedFile("q.json", b"[]")})
    file = DataFile.objects.get()
    pages.post(address(DataFile, "change", file.pk), form | {"title_ko": "새 제목"})

    file.refresh_from_db()
    assert (file.file_name, file.file_size, file.title_ko) == ("q.json", 2, "새 제목")


def test_team_is_made_with_its_leader_and_a_refusal_is_shown(pages):
    competition, leader = CompetitionFactory.create(), UserFactory.create()
    form = {"competition": competition.pk, "name": "기준 모델", "leader": leader.pk, "is_baseline": "on"}

    pages.post(address(Team, "add"), form)
    again = pages.post(address(Team, "add"), form | {"name": "다른 팀"}, follow=True)

    team = Team.objects.get()
    assert (team.is_baseline, leader_of(team)) == (True, leader)
    assert "이미 팀에 속해" in "".join(messages_of(again))


def test_member_is_taken_out_of_a_team_and_that_is_audited(pages):
    team = TeamFactory.create(members=1)
    page = address(Team, "change", team.pk)
    sent = fields_of(pages.get(page))
    member = team.memberships.get(role=Membership.Role.MEMBER)
    number = next(key for key, value in sent.items() if key.endswith("-id") and str(value) == str(member.pk))

    answer = pages.post(page, sent | {number.replace("-id", "-DELETE"): "on"})

    assert answer.status_code == 302
    assert team.memberships.count() == 1
    assert AuditEntry.objects.get(action="membership.delete").before["user_id"] == member.user_id


def test_person_is_made_and_their_rights_and_password_changes_are_audited(pages):
    secret = "아주긴새암호입니다"
    pages.post(
        address(User, "add"),
        {"email": "new@example.com", "name": "새 사람", "usable_password": "true",
         "password1": secret, "password2": secret},
    )  # fmt: skip
    person = User.objects.get(email="new@example.com")
    page = address(User, "change", person.pk)
    pages.post(page, fields_of(pages.get(page)) | {"is_staff": "on"})
    pages.post(
        reverse("admin:auth_user_password_change", args=[person.pk]),
        {"usable_password": "true", "password1": secret * 2, "password2": secret * 2},
    )

    assert AuditEntry.objects.get(action="user.update").after == {"is_staff": True}
    assert AuditEntry.objects.filter(action="user.set_password", object_id=str(person.pk)).exists()
    person.refresh_from_db()
    kept = json.dumps(list(AuditEntry.objects.values("before", "after")), ensure_ascii=False)
    assert secret not in kept
    assert person.password not in kept


@pytest.mark.parametrize("label", [*RECORDS, "accounts.invitation", "accounts.apitoken"])
def test_record_can_be_read_but_not_made_changed_or_deleted(label, pages, rf, organiser):
    model_admin = next(each for model, each in admin.site._registry.items() if model._meta.label_lower == label)
    request = rf.get("/")
    request.user = organiser

    assert model_admin.has_view_permission(request)
    assert not model_admin.has_add_permission(request)
    assert not model_admin.has_change_permission(request)
    assert not model_admin.has_delete_permission(request)


def test_api_token_is_revoked_by_an_action(pages):
    row, _secret = create_api_token(user=UserFactory.create(), label="노트북")

    pages.post(reverse("admin:accounts_apitoken_changelist"), {"action": "revoke", "_selected_action": [row.pk]})

    row.refresh_from_db()
    assert row.revoked_at is not None


def test_given_up_run_is_tried_again_by_an_action_and_others_are_not(pages):
    phase = PhaseFactory.create()
    publish(phase)
    failed = ScoringRunFactory.create(
        submission=SubmissionFactory.create(phase=phase, refunded_at=timezone.now()), state=ScoringRun.State.FAILED
    )
    waiting = ScoringRunFactory.create(submission=SubmissionFactory.create(phase=phase))

    answer = pages.post(
        address(ScoringRun, "changelist"),
        {"action": "retry", "_selected_action": [failed.pk, waiting.pk]},
        follow=True,
    )

    assert failed.submission.runs.count() == 2
    assert waiting.submission.runs.count() == 1
    told = messages_of(answer)
    assert any(message.startswith(f"{waiting.pk} — 요청 오류") for message in told)


def test_every_page_opens_and_none_shows_a_reference_answer(pages):
    """All lists, all details and all forms, over rows of every kind, with the planted string in the references."""
    phase = PhaseFactory.create()
    publish(phase)
    team = TeamFactory.create(competition=phase.track.competition, members=1)
    submission = finished_submission(phase, team, 0.5)
    create_invitation(team=team, actor=leader_of(team))
    create_api_token(user=leader_of(team), label="t")
    MetricResult.objects.create(
        submission=submission,
        reference_version=submission.live_run.reference_version,
        metric="exact_match",
        metric_signature="e",
        values={"q1": 1.0},
    )

    opened = 0
    for model, model_admin in admin.site._registry.items():
        if not hasattr(model_admin, "tell") and not model.__module__.startswith(
            ("core", "accounts", "competitions", "submissions")
        ):
            continue
        addresses = [address(model, "changelist")]
        addresses += [address(model, "change", obj.pk) for obj in model._default_manager.all()[:2]]
        for each in addresses:
            answer = pages.get(each)
            assert answer.status_code == 200, each
            assert CANARY not in answer.content.decode(), each
            opened += 1
    assert opened > 20
