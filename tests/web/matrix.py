"""What the two matrices share, of who may read and of who may write: every route with its addresses, a client of each
viewer, and what a request changed.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache as remembered
from typing import Any, Final

from django.db import connection
from django.http import Http404
from django.test import Client, RequestFactory
from django.urls import URLPattern, get_resolver

from tests.web.visibility_world import World

NAMES: Final = re.compile(r"<(?:\w+:)?(\w+)>")
FAMILIES: Final = frozenset(
    {
        "arena",
        "phases",
        "stages",
        "references",
        "runs",
        "awards",
        "notices",
        "questions",
        "roles",
        "audit",
        "files",
        "team",
        "teams",
        "tokens",
        "webhooks",
        "deliveries",
    }
)


def routes(resolver: Any = None, prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    """Every address of the site as a pattern, with where it leads."""
    for pattern in (resolver or get_resolver()).url_patterns:
        full = prefix + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield full, pattern
        else:
            yield from routes(pattern, full)


def addresses(route: str, world: World, chosen: Mapping[str, Any] | None = None) -> list[str]:
    """The route with everything filled in that this world offers, or as ``chosen``; regular expressions of log-in pages
    as one key.
    """
    chosen = chosen or {}
    if "^" in route:
        key = str(chosen.get("key", "k-1"))
        plain = re.sub(r"\^|\$|\(\?P<[^>]+>(?:\[[^\]]*\]\+|\.\+)\)", lambda m: key if m[0][0] == "(" else "", route)
        return ["/" + plain]
    names = NAMES.findall(route)
    options = [[chosen[name]] if name in chosen else _values(name, route, world) for name in names]
    return [_filled(route, names, values) for values in itertools.product(*options)]


def _values(name: str, route: str, world: World) -> list[Any]:
    family = route.split("<int:pk>")[0].strip("/").split("/")
    by_name: dict[str, list[Any]] = {
        "slug": [world.competition.slug],
        "track": ["norms"],
        "track_slug": ["norms"],
        "public_id": [row.public_id for row in world.submissions.values()],
        "with_id": [world.submissions["own.before"].public_id],
        "one_id": [world.submissions["own.after"].public_id],
        "other_id": [world.submissions["other.after"].public_id],
        "phase_pk": [world.phase.pk],
        "team_pk": [team.pk for team in world.teams.values()],
        "position": [1, 2],
        "snapshot": [1],
        "number": [team.number for team in world.teams.values()],
        "token": [world.arena.token if route.startswith("arena/") else world.invitation_token],
        "event": ["scored"],
        "key": [world.arena.assignment.shown_key],
        "judge_pk": [world.arena.judgement.assignment.judge_id],
        "judgement_pk": [world.arena.judgement.pk],
        "exclusion_pk": [world.arena.exclusion.pk],
        "name": [world.data_file.file_name] if route.startswith("files") else ["meteor"],
    }
    if name == "name" and "/figures/" in route:
        return ["leading", "distribution", "metrics", "movement", "wins", "difficulty", "correlation"]
    if name == "pk" and "/arena/computations/" in route:
        return [world.arena.computation.pk]
    if name == "pk" and "/manage/arena/" in route:
        return [world.arena.rubric.pk] if "/rubric/" in route else [row.pk for row in world.arena.desk()]
    if name == "number" and "/campaigns/" in route:
        return [row.number for row in world.arena.desk()]  # open, not yet open, closed: the others are as one of them
    if name == "pk":
        return world.candidates("files" if route.startswith("files") else _family(family))
    return by_name.get(name, ["1"])


def _family(parts: list[str]) -> str:
    return next((part for part in reversed(parts) if part in FAMILIES), "")


def _filled(route: str, names: list[str], values: tuple[Any, ...]) -> str:
    for name, value in zip(names, values, strict=True):
        route = re.sub(rf"<(?:\w+:)?{name}>", str(value), route, count=1)
    return "/" + route


def client_of(world: World, viewer: str) -> Client:
    """A browser that is logged in, and carries the viewer's API token as well."""
    user = world.people[viewer]
    token = world.tokens.get(viewer)
    client = Client(headers={"Authorization": f"Bearer {token}"} if token else {}, raise_request_exception=False)
    if user is not None:
        client.force_login(user)
    return client


def raised_in(response: Any) -> str:
    """What the view raised to which ``response`` is the answer: of a failure in CI nothing else may be left."""
    return repr(response.exc_info[1]) if response.exc_info else ""


@remembered
def declines(view: Callable[..., Any], method: str) -> bool:
    """Whether the view, a function, answers 405 before it looks at who asks and what for: then it does so to all alike.

    The request here has no user, no session and none of the values in the address.
    """
    if hasattr(view, "view_class"):
        return False
    request: Any = RequestFactory().generic(method, "/")
    request._dont_enforce_csrf_checks = True
    try:
        return view(request).status_code == 405
    except (AttributeError, TypeError, Http404):
        return False


@contextmanager
def taken_back() -> Iterator[Collection[str]]:
    """What is written inside is taken back. A request that only reads, as most do, costs no savepoint for that.

    Something is in what is given after the first statement that is no SELECT, with which a savepoint begins. What a
    SELECT wrote through a function would stay: the matrix of who may write compares the tables at its end.
    """
    begun: list[str] = []

    def begin(execute: Callable[..., Any], sql: Any, *rest: Any) -> Any:
        if not begun and not str(sql).lstrip().startswith("SELECT"):
            begun.append("")  # the statement of the savepoint itself comes through here as well
            begun.append(connection.savepoint())
        return execute(sql, *rest)

    waiting = connection.run_on_commit[:]
    try:
        with connection.execute_wrapper(begin):
            yield begun
    finally:
        connection.needs_rollback = False
        if begun:
            connection.savepoint_rollback(begun[-1])
            connection.savepoint_commit(begun[-1])
        connection.run_on_commit = waiting


class Changes:
    """What a request changed. The server counts what is written to each table; what was written is compared.

    A row of a session is no change: whoever looks at a page may have one.
    """

    def __init__(self) -> None:
        self.tables = [name for name in connection.introspection.table_names() if name != "django_session"]
        self.before = self.contents(self.tables)
        self.written = self._counts()

    def contents(self, tables: Iterable[str]) -> dict[str, str]:
        """A digest of the rows of each table."""
        rows = "SELECT md5(string_agg(md5(row::text), '' ORDER BY md5(row::text))) FROM {} AS row"
        with connection.cursor() as cursor:
            return {name: cursor.execute(rows.format(connection.ops.quote_name(name))).fetchone()[0] for name in tables}

    def _counts(self) -> dict[str, int]:
        """How many rows were written to each table in this transaction, also those taken back."""
        counted = ("inserted", "updated", "deleted")
        total = " + ".join(f"pg_stat_get_xact_tuples_{each}(oid)" for each in counted)
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT relname, {total} FROM pg_class WHERE relname = ANY(%s)", [self.tables])
            return dict(cursor.fetchall())

    def now(self) -> frozenset[str]:
        """The tables that the request changed, of those it wrote to."""
        found = self.contents(self.touched())
        return frozenset(name for name, content in found.items() if content != self.before[name])

    def touched(self) -> list[str]:
        """The tables written to since this was last asked."""
        before, self.written = self.written, self._counts()
        return [name for name, count in self.written.items() if count != before[name]]
