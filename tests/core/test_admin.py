"""The admin: every change audited, records untouchable, reference files write-only."""

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from malpan.accounts.services import create_api_token
from malpan.competitions.models import Competition
from malpan.core.models import AuditEntry
from malpan.submissions.models import MetricResult
from malpan.teams.invitations import create_invitation
from tests.admin_pages import address, fields_of, organiser, pages
from tests.factories import (
    CANARY,
    PASSWORD,
    CompetitionFactory,
    PhaseFactory,
    TeamFactory,
    UserFactory,
    finished_submission,
    leader_of,
    publish,
)

__all__ = ["organiser", "pages"]
pytestmark = pytest.mark.django_db
RECORDS = ["core.auditentry", "submissions.submission", "submissions.scoringrun", "submissions.rejection"]


def test_organiser_signs_in_with_an_email_address(organiser):
    client = Client()

    answer = client.post(reverse("account_login"), {"login": organiser.email, "password": PASSWORD, "next": "/admin/"})

    assert (answer.status_code, answer["Location"]) == (302, "/admin/")
    assert client.get("/admin/").status_code == 200


def test_admin_has_no_way_in_of_its_own_that_counts_no_attempts(organiser):
    client = Client()

    answer = client.post(reverse("admin:login"), {"username": organiser.email, "password": PASSWORD, "next": "/admin/"})

    assert (answer.status_code, answer["Location"]) == (302, "/accounts/login/?next=%2Fadmin%2F")
    assert not client.session.keys()


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
    fields = {"slug": "new", "title_ko": "새 대회", "team_size_max": 5, "is_published": "on", "terms_version": 0}
    pages.post(address(Competition, "add"), fields)
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


@pytest.mark.parametrize("label", [*RECORDS, "teams.invitation", "accounts.apitoken"])
def test_record_can_be_read_but_not_made_changed_or_deleted(label, pages, rf, organiser):
    model_admin = next(each for model, each in admin.site._registry.items() if model._meta.label_lower == label)
    request = rf.get("/")
    request.user = organiser

    assert model_admin.has_view_permission(request)
    assert not model_admin.has_add_permission(request)
    assert not model_admin.has_change_permission(request)
    assert not model_admin.has_delete_permission(request)


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
        if not hasattr(model_admin, "tell") and not model.__module__.startswith("malpan."):
            continue
        addresses = [address(model, "changelist")]
        addresses += [address(model, "change", obj.pk) for obj in model._default_manager.all()[:2]]
        for each in addresses:
            answer = pages.get(each)
            assert answer.status_code == 200, each
            assert CANARY not in answer.content.decode(), each
            opened += 1
    assert opened > 20
