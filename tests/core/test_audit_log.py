"""The audit log holds everything an organiser does, belongs to its competition, and cannot be rewritten by anybody."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.db import IntegrityError, connection, models, transaction
from django.test import RequestFactory

from malpan.core import audit
from malpan.core.models import AuditEntry
from malpan.submissions.models import ChainEntry, QuotaEntry
from tests.factories import (
    CompetitionFactory,
    PhaseFactory,
    ScoringRunFactory,
    SubmissionFactory,
    TeamFactory,
    UserFactory,
)
from tests.paths import ROOT

PLATFORM = ROOT / "platform/malpan"
APPS = ("core", "accounts", "competitions", "teams", "submissions", "leaderboard", "arena", "stages")
PERSONAL = {"accounts.user", "accounts.apitoken", "accounts.answeredrequest"}  # of a person, whatever they take part in
APPEND_ONLY = (AuditEntry, QuotaEntry, ChainEntry)


# --- append-only ------------------------------------------------------------------------------------------------------
@pytest.fixture
def kept_rows(db: None) -> dict[type[models.Model], models.Model]:
    """One row of each table that only grows."""
    submission = SubmissionFactory.create()
    competition = submission.phase.track.competition
    quota = QuotaEntry.objects.create(
        team=submission.team, phase=submission.phase, kind="charge", submission=submission, moment=submission.created_at
    )
    chain = ChainEntry.objects.create(
        competition=competition, number=1, kind="receipt", payload={}, sha256="a" * 64, created_at=submission.created_at
    )
    return {
        AuditEntry: audit.record(actor=None, action="a.b", obj=competition),
        QuotaEntry: quota,
        ChainEntry: chain,
    }


@pytest.mark.parametrize("model", APPEND_ONLY)
def test_the_database_refuses_to_change_a_kept_row(kept_rows: dict[Any, Any], model: type[models.Model]) -> None:
    table, row = model._meta.db_table, kept_rows[model]
    columns = [field.column for field in model._meta.concrete_fields]
    for column in columns:
        with pytest.raises(IntegrityError, match="never changed"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"UPDATE {table} SET {column} = {column} WHERE id = %s", [row.pk])
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
        model._default_manager.filter(pk=row.pk).update(id=row.pk)


@pytest.mark.parametrize("model", APPEND_ONLY)
def test_the_database_refuses_to_delete_a_kept_row(kept_rows: dict[Any, Any], model: type[models.Model]) -> None:
    table, row = model._meta.db_table, kept_rows[model]
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {table} WHERE id = %s", [row.pk])
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
        row.delete()
    assert model._default_manager.filter(pk=row.pk).exists()


@pytest.mark.parametrize("model", APPEND_ONLY)
def test_the_admin_offers_neither_to_make_nor_to_change_nor_to_delete_one(
    db: None, model: type[models.Model], rf: RequestFactory
) -> None:
    registered = admin.site._registry.get(model)
    if registered is None:
        return  # not in the admin at all
    request = rf.get("/")
    request.user = UserFactory.create(is_staff=True, is_superuser=True)
    assert not registered.has_add_permission(request)
    assert not registered.has_change_permission(request)
    assert not registered.has_delete_permission(request)
    assert "delete_selected" not in registered.get_actions(request)


def test_the_audit_log_stands_in_the_admin_to_be_read(db: None) -> None:
    assert AuditEntry in admin.site._registry


# --- to which competition an entry belongs ----------------------------------------------------------------------------
def test_an_entry_about_any_row_of_a_competition_belongs_to_it() -> None:
    """By their columns: rows of every model lead up to a competition, but for those of a person."""
    unreached = {model._meta.label_lower for app in APPS for model in apps.get_app_config(app).get_models()}
    unreached = {label for label in unreached if not _is_reached(apps.get_model(label))}
    of_judges = {"submissions.judgement", "submissions.judgereservation", "submissions.judgeusage"}
    of_the_site = {
        *("core.auditentry", "core.chore", "core.sitetext", "submissions.canaryrows", "submissions.pairvalue"),
        *of_judges,
    }
    assert unreached == PERSONAL | of_the_site


def _is_reached(model: type[models.Model]) -> bool:
    if model._meta.label_lower == "competitions.competition":
        return True
    fields = {field.name: field for field in model._meta.concrete_fields}
    if "competition" in fields and not fields["competition"].null:
        return True
    names = [name for name in audit._UPWARDS if name in fields and not fields[name].null]
    return any(_is_reached(fields[name].related_model) for name in names)


@pytest.mark.django_db
def test_rows_of_every_depth_find_their_competition() -> None:
    phase = PhaseFactory.create()
    submission = SubmissionFactory.create(phase=phase)
    run = ScoringRunFactory.create(submission=submission)
    rows = [phase.track.competition, phase.track, phase, submission.team, submission, run, run.reference_version]
    assert {audit.competition_pk_of(row) for row in rows} == {phase.track.competition.pk}


@pytest.mark.django_db
def test_an_entry_about_a_person_belongs_to_no_competition() -> None:
    TeamFactory.create(competition=CompetitionFactory.create())
    assert audit.record(actor=None, action="user.update", obj=UserFactory.create()).competition_pk is None


# --- nothing an organiser does goes unnoted ---------------------------------------------------------------------------
RECORD = "record"  # malpan.core.audit.record
NOTED_BY_CALLER = {
    "close_request": "asking, accepting, declining and withdrawing a merge each write what became of the teams",
    "charge": "a submission that comes in, or counts again, has an entry of its own",
    "save_draft": "what a judge has not sent yet; the judgement has an entry",
    "preview_exclusion": "reads alone; the exclusion has an entry",
    "current_result": "reads alone; opening the scores has an entry",
    "end_with": "an order of a rescoring; what ends it, the application or the cancellation, has an entry",
}


def _functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    """Every function of the services, with its file."""
    for app in (*APPS, "archive", "notifications"):
        for path in sorted((PLATFORM / app).rglob("*.py")):
            name = path.relative_to(PLATFORM).as_posix()
            if not re.search(r"/(migrations|demo|management)/|/admin\.py$", name):
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                    if isinstance(node, ast.FunctionDef):
                        yield name, node


def _key(path: str, name: str) -> str:
    """A private function is known in its own file only."""
    return f"{path}:{name}" if name.startswith("_") else name


def _used(path: str, function: ast.FunctionDef) -> set[str]:
    """The keys of everything that ``function`` calls or hands on."""
    nodes = list(ast.walk(function))
    names = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    names |= {node.id for node in nodes if isinstance(node, ast.Name)}
    return {_key(path, name) for name in names}


def test_every_service_that_is_told_who_acts_leaves_an_entry() -> None:
    """By the sources: each public function with a parameter ``actor`` reaches ``audit.record``, itself or by others."""
    uses: dict[str, set[str]] = defaultdict(set)
    services = set()
    for path, node in _functions():
        uses[_key(path, node.name)] |= _used(path, node)
        if "actor" in [argument.arg for argument in node.args.kwonlyargs] and not node.name.startswith("_"):
            services.add(node.name)
    noting = {RECORD}
    while found := {name for name, used in uses.items() if name not in noting and used & noting}:
        noting |= found
    assert len(services) > 40
    assert services - noting == set(NOTED_BY_CALLER)


def test_actions_are_named_as_an_object_and_a_verb() -> None:
    named = re.compile(r"[a-z]+(_[a-z]+)*\.[a-z]+(_[a-z]+)*")
    actions = {
        keyword.value.value
        for _path, node in _functions()
        for call in ast.walk(node)
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == RECORD
        for keyword in call.keywords
        if keyword.arg == "action" and isinstance(keyword.value, ast.Constant)
    }
    assert len(actions) > 20
    assert {action for action in actions if not named.fullmatch(action)} == set()
    assert max(map(len, actions)) <= AuditEntry._meta.get_field("action").max_length
