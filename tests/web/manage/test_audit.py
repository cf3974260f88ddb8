"""The manage pages' audit log: one competition's entries, found by who, what, which, when and what they say."""

from __future__ import annotations

import ast
import csv
import io
import re
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from malpan.accounts.models import User
from malpan.competitions import roles
from malpan.competitions.models import Competition
from malpan.core import audit
from malpan.core.models import AuditEntry
from malpan.core.times import KST
from malpan.privacy.erasing import erase
from malpan.submissions.models import QuotaEntry
from malpan.web.presenters.audit import ACTIONS, FACTS
from tests.factories import CompetitionFactory, TeamFactory, UserFactory, person_in
from tests.paths import ROOT
from tests.web import html
from tests.web.conftest import client_of

PLATFORM = ROOT / "platform" / "malpan"
NO_ENTRIES = {"reset_password", "store_true", "login_failed", "confirm_email"}  # of argparse, and of allauth
SIDES = {"before", "after", "changes", "facts"}  # what is written out for an entry is called so


@pytest.fixture
def competition(db: None) -> Competition:
    return CompetitionFactory.create()


@pytest.fixture
def actor() -> User:
    return UserFactory.create(name="김운영", email="kim@example.com")


@pytest.fixture
def viewer(competition: Competition) -> Client:
    return client_of(person_in(competition, "viewer"))


def note(competition: Competition, action: str, actor: User | None = None, **sides: Any) -> AuditEntry:
    return audit.record(actor=actor, action=action, obj=competition, **sides)


def address(competition: Competition, rest: str = "") -> str:
    return f"/competitions/{competition.slug}/manage/audit/{rest}"


def look(client: Client, competition: Competition, query: str = "") -> html.Element:
    response = client.get(address(competition, query))
    assert response.status_code == 200
    return html.parse(response.content.decode())


def found(client: Client, competition: Competition, **query: str) -> list[str]:
    response = client.get(address(competition), query)
    tables = html.parse(response.content.decode()).all("tbody")
    return [row.all("a")[0].attributes["title"] for table in tables for row in table.all("tr")]


@pytest.fixture
def entries(competition: Competition, actor: User) -> list[AuditEntry]:
    team = TeamFactory.create(competition=competition)
    return [
        note(competition, "competition.update", actor, before={"title_ko": "옛 이름"}, after={"title_ko": '새 "이름"'}),
        note(competition, "phase.create", actor, after={"daily_limit": 5}),
        audit.record(actor=None, action="team.merge", obj=team, after={"name": "합친 팀"}),
    ]


@pytest.mark.parametrize(
    ("query", "actions"),
    [
        ({}, ["team.merge", "phase.create", "competition.update"]),
        ({"actor": "KIM@"}, ["phase.create", "competition.update"]),
        ({"actor": "김운"}, ["phase.create", "competition.update"]),
        ({"actor": "system"}, ["team.merge"]),
        ({"actor": "시스템"}, ["team.merge"]),
        ({"action": "phase.create"}, ["phase.create"]),
        ({"object_type": "teams.team"}, ["team.merge"]),
        ({"text": "옛 이"}, ["competition.update"]),
        ({"text": '새 "이'}, ["competition.update"]),
        ({"text": "DAILY_limit"}, ["phase.create"]),
        ({"text": "%"}, []),
        ({"actor": "김", "text": "옛"}, ["competition.update"]),
        ({"object_id": "0"}, []),
    ],
)
@pytest.mark.usefixtures("entries")
def test_entries_are_found_by_every_condition(
    competition: Competition, viewer: Client, query: dict[str, str], actions: list[str]
) -> None:
    assert found(viewer, competition, **query) == actions


def test_an_entry_names_the_person_it_is_about(competition: Competition, viewer: Client, actor: User) -> None:
    person = UserFactory.create(name="박도움", email="park@example.com")
    held = roles.appoint(competition=competition, user=person, role="viewer", actor=actor)
    entry = AuditEntry.objects.get(action="role.appoint", object_id=str(held.pk))

    assert "박도움" in look(viewer, competition).text
    assert found(viewer, competition, text="park@") == found(viewer, competition, text="박도") == ["role.appoint"]
    assert "park@example.com" in look(viewer, competition, f"{entry.pk}/").text
    assert "박도움,park@example.com" in viewer.get(address(competition, "export.csv")).content.decode()

    erase(user=person, actor=None)
    assert "탈퇴한 사람" in look(viewer, competition, f"{entry.pk}/").text


def test_entries_are_found_by_time_in_kst(competition: Competition, viewer: Client) -> None:
    note(competition, "a.now")
    now = timezone.now().astimezone(KST)
    early, late = ((now + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M") for hours in (-1, 1))
    assert found(viewer, competition, since=early, until=late) == ["a.now"]
    assert found(viewer, competition, since=late) == []
    assert found(viewer, competition, until=early) == []


def test_a_time_that_is_none_is_said_beside_its_field(competition: Competition, viewer: Client) -> None:
    page = look(viewer, competition, "?since=yesterday")
    assert "2026-11-20 23:50처럼" in page.one("ul", "errorlist").text


@pytest.mark.usefixtures("entries")
def test_only_the_entries_of_the_competition_are_there(viewer: Client, competition: Competition, actor: User) -> None:
    elsewhere = note(CompetitionFactory.create(), "secret.action", actor)
    unbound = audit.record(actor=actor, action="user.update", obj=actor)
    assert not {"secret.action", "user.update"} & set(found(viewer, competition))
    assert "secret.action" not in look(viewer, competition).text
    for entry in (elsewhere, unbound):
        assert viewer.get(address(competition, f"{entry.pk}/")).status_code == 404


def test_before_and_after_stand_side_by_side(competition: Competition, viewer: Client, actor: User) -> None:
    entry = note(
        competition,
        "phase.update",
        actor,
        before={"title": "예선", "same": 1},
        after={"title": "본선", "same": 1, "ids": ["q1"]},
    )
    page = look(viewer, competition, f"{entry.pk}/")
    rows = {row.one(css_class="id").text: [cell.text for cell in row.all("td")] for row in page.one("tbody").all("tr")}
    assert rows == {"title": ["예선", "본선"], "ids": ["–", '[ "q1" ]'], "same": ["1", "1"]}
    assert [row.all(css_class="badge") != [] for row in page.one("tbody").all("tr")] == [True, True, False]
    assert "kim@example.com" in page.text


def test_actions_and_columns_are_in_words_and_unknown_ones_as_they_are(
    competition: Competition, viewer: Client, actor: User
) -> None:
    note(competition, "rescoring.apply", actor, after={"title_ko": "새 이름", "dropped_runs": 3, "phase_id": 1})
    note(competition, "gone.since", after={"nobody_knows": 1})
    [unknown, known] = look(viewer, competition).one("tbody").all("tr")
    assert "재채점을 적용함" in known.text
    assert "단계, 제목, 그만둔 채점" in known.text
    assert [unknown.one("a").text, unknown.all("td")[-1].text] == ["gone.since", "nobody_knows"]
    assert "재채점을 적용함" in look(viewer, competition).one("select", name="action").text


def test_every_action_in_the_code_has_words_and_no_other(sources: list[ast.Module]) -> None:
    written = {action for tree in sources for action in actions_in(tree)}
    assert written == set(ACTIONS)
    assert len(written) > 60


def test_every_fact_in_the_code_has_words(sources: list[ast.Module]) -> None:
    columns = {field.attname for model in apps.get_models() for field in model._meta.concrete_fields}
    named = {name for tree in sources for name in facts_in(tree)}
    assert named - columns - set(FACTS) == set()
    assert len(named) > 40


@pytest.fixture(scope="module")
def sources() -> list[ast.Module]:
    """The code that may write entries."""
    paths = [path for path in PLATFORM.rglob("*.py") if not {"migrations", "presenters", "static"} & set(path.parts)]
    return [ast.parse(path.read_text(encoding="utf-8")) for path in paths]


def actions_in(tree: ast.Module) -> set[str]:
    """Every text ``<object>.<verb>`` of an object that entries are about, and both forms of the one with a variable."""
    parts = {action.split(".")[0] for action in ACTIONS}
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    found = {text for text in texts if re.fullmatch(rf"({'|'.join(parts)})\.(?!json)[a-z_]+", text)}
    given = {word.value for call in calls_in(tree) for word in call.keywords if word.arg == "action"}
    assert {each.value for each in given if isinstance(each, ast.Constant)} - NO_ENTRIES <= found
    if any(isinstance(each, ast.JoinedStr) for each in given):
        found |= {f"quota.{QuotaEntry.Kind(kind)}_all" for kind in ("grant", "reset")}
    return found


def facts_in(tree: ast.Module) -> set[str]:
    """The keys of every dictionary that is written out for ``record``, where it is called or before."""
    if not any(isinstance(call.func, ast.Attribute) and call.func.attr == "record" for call in calls_in(tree)):
        return set()
    sides: list[ast.AST] = [word.value for call in calls_in(tree) for word in call.keywords if word.arg in SIDES]
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and {getattr(target, "id", "") for target in node.targets} & SIDES:
            sides.append(node.value)
        if isinstance(node, ast.FunctionDef) and node.name.endswith(("facts", "facts_of")):
            sides.append(node)
    keys = [key for side in sides for node in ast.walk(side) if isinstance(node, ast.Dict) for key in node.keys]
    return {key.value for key in keys if isinstance(key, ast.Constant)}


def calls_in(tree: ast.Module) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def test_what_stands_in_an_entry_cannot_run(competition: Competition, viewer: Client) -> None:
    entry = note(competition, "x.y", after={"<script>a</script>": "<script>b</script>"})
    assert b"<script>a" not in viewer.get(address(competition, f"{entry.pk}/")).content
    assert b"<script>b" not in viewer.get(address(competition, f"{entry.pk}/")).content


def test_a_hundred_stand_on_a_page(competition: Competition, viewer: Client) -> None:
    for number in range(101):
        note(competition, f"a.b{number}")
    assert len(found(viewer, competition)) == 100
    assert found(viewer, competition, page="2") == ["a.b0"]


def test_the_export_holds_what_the_search_finds_and_no_formula(
    competition: Competition, viewer: Client, actor: User
) -> None:
    User.objects.filter(pk=actor.pk).update(name="=1+1")
    note(competition, "a.one", actor, after={"x": "값"})
    note(competition, "a.two")
    text = viewer.get(address(competition, "export.csv?action=a.one")).content.decode("utf-8-sig")
    [row] = csv.DictReader(io.StringIO(text))
    assert (row["action"], row["actor"], row["after"]) == ("a.one", "'=1+1", '{"x": "값"}')


def test_every_page_is_sound_full_and_empty(competition: Competition, viewer: Client) -> None:
    assert "아직 기록이 없습니다." in look(viewer, competition).text
    assert "조건에 맞는 기록이 없습니다." in look(viewer, competition, "?actor=nobody").text
    entry = note(competition, "a.b", after={"x": 1})
    bare = note(competition, "a.bare")
    for page in ("", "?actor=nobody", f"{entry.pk}/", f"{bare.pk}/"):
        assert html.problems(look(viewer, competition, page)) == [], page


def test_looking_takes_few_queries(competition: Competition, viewer: Client, actor: User) -> None:
    for number in range(40):
        note(competition, f"a.b{number}", actor)
    with CaptureQueriesContext(connection) as queries:
        look(viewer, competition)
    assert len(queries) < 13


def test_people_without_a_role_do_not_find_the_log(competition: Competition) -> None:
    entry = note(competition, "a.b")
    stranger = client_of(UserFactory.create(is_staff=True))
    for page in ("", "export.csv", f"{entry.pk}/"):
        assert stranger.get(address(competition, page)).status_code == 404
        assert Client().get(address(competition, page)).status_code == 302
