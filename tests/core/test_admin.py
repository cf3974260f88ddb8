"""The admin: people are made and edited in it; every other row is there to be read, and secrets are not."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group
from django.db.models import Model
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone

from malpan.accounts.models import ApiToken, User
from malpan.accounts.services import confirm_email, create_api_token
from malpan.competitions.models import Competition, Phase, ReferenceVersion
from malpan.competitions.services import add_data_file, post_notice
from malpan.competitions.setup import remove_phase
from malpan.competitions.terms import accept_terms
from malpan.core.models import AuditEntry
from malpan.submissions.models import MetricResult
from malpan.teams.invitations import create_invitation
from malpan.teams.models import Invitation
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
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("contexts")]
PEOPLE = (User, Group)
RECORDS = [model for model in admin.site._registry if model not in PEOPLE]
SEED = "5eedfeed5eedfeed"


def test_organiser_signs_in_with_an_email_address(organiser):
    client = Client()
    confirm_email(user=organiser, actor=organiser)

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


# --- everything but people is read-only -------------------------------------------------------------------------------
@pytest.fixture
def site() -> Phase:
    """A phase whose final board is published, with a row of nearly every kind around it."""
    competition = CompetitionFactory.create(terms_ko="약관", terms_version=1)
    phase = PhaseFactory.create(
        track__competition=competition,
        split_seed=SEED,
        public_percent=50,
        finals_limit=2,
        final_published_at=timezone.now(),
    )
    publish(phase)
    team = TeamFactory.create(competition=competition, members=1)
    submission = finished_submission(phase, team, 0.5)
    create_invitation(team=team, actor=leader_of(team))
    create_api_token(user=leader_of(team), label="t")
    post_notice(competition=competition, title_ko="공지", body_ko="내용")
    add_data_file(track=phase.track, kind="data", title_ko="문제", file_name="q.json", data=b"[]")
    accept_terms(user=leader_of(team), competition=competition, version=1)
    MetricResult.objects.create(
        submission=submission,
        reference_version=submission.live_run.reference_version,
        metric="exact_match",
        metric_signature="e",
        values={"q1": 1.0},
    )
    return phase


def _tables() -> dict[str, list[Any]]:
    """Every row of every record, to tell whether one changed."""
    return {model._meta.label: list(model._default_manager.order_by("pk").values()) for model in RECORDS}


@pytest.mark.parametrize("model", RECORDS, ids=lambda model: model._meta.label_lower)
def test_a_record_is_offered_to_be_read_and_for_nothing_else(
    model: type[Model], rf: RequestFactory, organiser: User
) -> None:
    request = rf.get("/")
    request.user = organiser
    model_admin = admin.site._registry[model]

    assert model_admin.has_view_permission(request)
    assert not model_admin.has_add_permission(request)
    assert not model_admin.has_change_permission(request)
    assert not model_admin.has_delete_permission(request)
    assert model_admin.get_actions(request) == {}


def test_no_post_to_an_admin_address_changes_a_record(pages: Client, site: Phase) -> None:
    """With the form's own fields, with other values in them, and with every action there is."""
    before = _tables()
    assert sum(bool(rows) for rows in before.values()) > 10

    for model in RECORDS:
        rows = list(model._default_manager.all()[:2])
        chosen = [row.pk for row in rows]
        actions = ["delete_selected", "show_board", "freeze_board", "hide_board", "retry", "revoke"]
        for action in [*actions, "make_verified"]:
            pages.post(
                address(model, "changelist"), {"action": action, "_selected_action": chosen, "post": "yes", "index": 0}
            )
        pages.post(address(model, "add"), _anything(model))
        for row in rows:
            pages.post(address(model, "change", row.pk), _as_shown(pages, row) | _anything(model))
            pages.post(address(model, "delete", row.pk), {"post": "yes"})
            pages.post(address(model, "history", row.pk), {"post": "yes"})

    assert _tables() == before


def _anything(model: type[Model]) -> dict[str, Any]:
    """A value for every column: nothing of it may arrive."""
    return {field.name: "1" for field in model._meta.concrete_fields if not field.primary_key} | {"post": "yes"}


def _as_shown(pages: Client, row: Model) -> dict[str, Any]:
    answer = pages.get(address(type(row), "change", row.pk))
    return fields_of(answer) if answer.status_code == 200 and answer.context.get("adminform") else {}


@pytest.mark.parametrize("model", [Competition, Phase], ids=["competition", "phase"])
def test_what_was_published_cannot_be_changed_by_the_admins_own_form(
    pages: Client, site: Phase, model: type[Model]
) -> None:
    """After the final board a POST changed ``finals_limit``, ``public_percent`` and ``ends_at``; and without the
    checklist ``is_published`` and ``terms_version``.
    """
    row = site if model is Phase else site.track.competition
    page = address(model, "change", row.pk)
    before = list(model._default_manager.values())
    changed = {"finals_limit": 9, "public_percent": 10, "ends_at_0": "2031-01-01", "ends_at_1": "00:00:00"}
    changed |= {"is_published": "", "terms_version": 7}

    answer = pages.post(page, _as_shown(pages, row) | changed)

    assert answer.status_code == 403
    assert list(model._default_manager.values()) == before


def test_every_page_opens_and_none_shows_a_reference_answer_or_the_seed_of_a_split(pages: Client, site: Phase) -> None:
    """All lists and all details, over rows of nearly every kind, with the planted strings; a removed phase too."""
    other = PhaseFactory.create(track=site.track, split_seed=SEED)
    remove_phase(phase=other, actor=User.objects.filter(is_superuser=True).get())

    opened = 0
    for model in admin.site._registry:
        addresses = [address(model, "changelist")]
        addresses += [address(model, "change", row.pk) for row in model._default_manager.all()[:20]]
        for each in addresses:
            answer = pages.get(each)
            assert answer.status_code == 200, each
            assert CANARY not in answer.content.decode(), each
            assert SEED not in answer.content.decode(), each
            opened += 1
    assert opened > 30
    assert not any(SEED in str(entry.before) + str(entry.after) for entry in AuditEntry.objects.all())


def test_a_reference_version_shows_the_sha256_of_its_file_and_no_way_to_it(pages: Client, site: Phase) -> None:
    version = site.reference_versions.get()

    shown = pages.get(address(ReferenceVersion, "change", version.pk)).content.decode()

    assert version.file_sha256 in shown
    assert not re.search(r'type="file"|download', shown)


@pytest.mark.parametrize("model", [ApiToken, Invitation], ids=["token", "invitation"])
def test_what_lets_somebody_in_is_not_shown_even_as_a_hash(pages: Client, site: Phase, model: type[Model]) -> None:
    row = model._default_manager.get()

    for each in (address(model, "changelist"), address(model, "change", row.pk)):
        assert row.token_sha256 not in pages.get(each).content.decode()
