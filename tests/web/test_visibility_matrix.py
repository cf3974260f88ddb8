"""Who can see what: every route of the site and every operation of the API, in every state of a phase, by every kind of
viewer, searched for canaries. ``python -m tests.web.test_visibility_matrix`` prints the table as Markdown. Each state
is a test that any process of the suite may take.

Two things are held: who gets an answer at all (``RULES``: a route that is not there fails the test), and which secrets
may stand in it (``may_see``). Left out is only what cannot differ: a method that a view declines before it looks at
anything (``_requests``), and what a state has in common with another one (``_is_as_in_another_state``, ``lookers``).
Who may change what is in ``test_write_matrix``.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

import pytest

if __name__ == "__main__":  # pytest sets Django up and looks at every state
    status = pytest.main([__file__, "-q", "-p", "no:cacheprovider"])
    from tests.web.test_visibility_matrix import table

    print(table())
    raise SystemExit(status)

from django.core import mail
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.urls import URLPattern

import malpan
from malpan.competitions import drafts
from malpan.competitions.models import Competition
from malpan.core.models import AuditEntry
from malpan.leaderboard import standings
from tests.web.matrix import Changes, addresses, client_of, declines, routes, taken_back
from tests.web.visibility_world import (
    AWARD,
    PUBLIC,
    REFERENCE,
    ROLES,
    STAGE,
    STATES,
    VIEWERS,
    State,
    World,
    canaries_in,
    make,
)

pytestmark = pytest.mark.django_db

EVERYONE, TEAM, JUDGES, ADMIN = "everyone", "team and manage pages", "judges", "superusers"
MANAGE_PAGES, OPERATORS, ORGANISERS, OWNERS = "manage pages", "operators", "organisers", "owners"
INSIDE: Final = {  # who of ``ROLES`` gets in
    EVERYONE: ROLES,
    TEAM: ROLES,
    JUDGES: (),
    MANAGE_PAGES: ROLES,
    OPERATORS: ("operator", "organiser"),
    ORGANISERS: ("organiser",),
    OWNERS: (),
    ADMIN: (),
}
MANAGE: Final = "competitions/<slug:slug>/manage/"
API_MANAGE: Final = f"api/v1/{MANAGE}"

# who may get an answer (200) from the addresses that begin so; the longest beginning counts
RULES: Final[dict[str, str]] = {
    "": EVERYONE,  # the first page alone: see ``rule_of``
    "healthz/": EVERYONE,
    **dict.fromkeys(("robots.txt", "sitemap.xml", "favicon.ico", "terms/"), EVERYONE),
    "language/": EVERYONE,
    "metrics/": EVERYONE,
    "privacy/": EVERYONE,
    "openmetrics/": ADMIN,  # not even they: it takes a token of its own
    "verify_chain.py": EVERYONE,
    "accounts/": EVERYONE,
    "invitations/": EVERYONE,
    "certificates/": EVERYONE,  # whoever is shown one
    "awards/": EVERYONE,  # likewise
    "arena/": EVERYONE,  # the reader's own, if somebody is logged in
    "arena/invitation/": EVERYONE,
    "arena/<int:pk>/": JUDGES,
    "account/": EVERYONE,  # the reader's own, if somebody is logged in
    "unsubscribe/": EVERYONE,  # whoever has the link of a mail
    "tokens/": EVERYONE,  # the reader's own, if somebody is logged in
    "files/": EVERYONE,
    "admin/": ADMIN,
    "api/": EVERYONE,
    "api/v1/competitions/": EVERYONE,
    "api/v1/submissions/": TEAM,
    "api/v1/import/": ADMIN,
    **{
        f"{API_MANAGE}{page}": MANAGE_PAGES
        for page in (
            *("checklist/", "phases/", "references/", "rescoring/", "runs/", "queue/", "submissions/", "teams/"),
            *("notices/", "questions/", "audit/", "stages/", "tracks/<slug:track>/standing/", "arena/"),
            "tracks/<slug:track>/awards/",
            *("duplicates/", "judge/", "awards/"),
        )
    },
    **{
        f"{API_MANAGE}{page}": ORGANISERS
        for page in (
            *("settings/", "references/<int:pk>/diff/", "stages/<int:pk>/teams/", "arena/<int:pk>/systems/choices/"),
            *("arena/<int:pk>/opening/", "arena/<int:pk>/quality/scores/", "arena/<int:pk>/judgements/"),
            *("arena/<int:pk>/judges/<int:judge_pk>/exclude/", "webhooks/"),
        )
    },
    # what only changes something: who may is in tests/api/test_operation_matrix.py
    **{f"{API_MANAGE}{page}": ORGANISERS for page in ("publish/", "hide/", "tracks/", "files/")},
    **{f"{API_MANAGE}{page}": OWNERS for page in ("roles/", "export/", "verification/")},
    "competitions/<slug:slug>/": EVERYONE,
    "competitions/<slug:slug>/data/": EVERYONE,
    "competitions/<slug:slug>/citation.bib": EVERYONE,
    "competitions/<slug:slug>/submit/": EVERYONE,
    "competitions/<slug:slug>/board/": EVERYONE,
    "competitions/<slug:slug>/board.atom": EVERYONE,
    "competitions/<slug:slug>/figures/": EVERYONE,  # what the boards say
    "competitions/<slug:slug>/chain": EVERYONE,
    "competitions/<slug:slug>/stages/": EVERYONE,  # what is published of them
    "competitions/<slug:slug>/campaigns/": EVERYONE,  # the method from the opening, the result once it is published
    "competitions/<slug:slug>/terms/": EVERYONE,
    "competitions/<slug:slug>/notices": EVERYONE,
    "competitions/<slug:slug>/deadlines.ics": EVERYONE,
    "competitions/<slug:slug>/questions/": EVERYONE,
    "competitions/<slug:slug>/team/": EVERYONE,  # of the reader's own team, if any
    "competitions/<slug:slug>/submissions/": EVERYONE,  # of the reader's own team, if any
    "submissions/<uuid:public_id>/": TEAM,
    "manage/new/": ADMIN,
    "manage/import/": ADMIN,
    "manage/site/": ADMIN,  # and staff: tests/operation/test_site_page.py
    **{
        f"{MANAGE}{page}/": MANAGE_PAGES
        for page in (
            *(
                "phases",
                "stages",
                "awards",
                "arena",
                "references",
                "rescoring",
                "runs",
                "judge",
                "submissions",
                "duplicates",
                "figures",
                "teams",
                "quota",
                "notices",
            ),
            *("questions", "audit"),
        )
    },
    f"{MANAGE}rescoring/start/": OPERATORS,
    f"{MANAGE}awards/<int:pk>/award.pdf": MANAGE_PAGES,
    **{
        f"{MANAGE}{page}/": ORGANISERS
        for page in (
            *(
                "setup",
                "phases/new",
                "stages/new",
                "stages/<int:pk>/table",
                "awards/new",
                "awards/proposal",
                "awards/<int:pk>",
                "arena/new",
                "arena/rubrics/<slug:track_slug>/new",
                "arena/<int:pk>/opening",
                "arena/<int:pk>/closing",
                "arena/<int:pk>/quality/scores",
                "arena/<int:pk>/judges/<int:judge_pk>/exclude",
                "arena/<int:pk>/judgements",
                "references/<int:pk>",
                "teams/new",
                "teams/baseline",
                "quota/<int:phase_pk>/all",
            ),
            *("notices/new", "notices/<int:pk>", "webhooks"),
        )
    },
    f"{MANAGE}roles/": OWNERS,
    f"{MANAGE}archive/": OWNERS,
}
EXACT: Final = frozenset({"", "competitions/<slug:slug>/", MANAGE, API_MANAGE})  # no beginnings
SHOWS_REFERENCES: Final = (f"{MANAGE}references/", f"{API_MANAGE}references/")  # to those who may view answers
SHOWS_ANSWERS: Final = tuple(  # to their team, as page and by API
    f"{start}/{page}/"
    for start in ("submissions/<uuid:public_id>", "api/v1/submissions/<uuidstr:public_id>")
    for page in ("compare", "items")
)
QUERIES: Final = {
    "board": ("?metrics=all", "?digits=all", "?view=public", "?view=public&metrics=all", "?sort=bleurt", "?q=a"),
    "submission_status": ("?view=full",),
    "submission_comparison": ("?split=private", "?items=all"),
    "compareSubmissions": ("?split=private",),
    "listComparedItems": ("?changed=true",),
    "manage_submission": ("?part=private", "?values=all"),
}
ASKS_IN_VAIN: Final = "own team"  # the one who asks for what a view declines to all alike, as any of them might
BEFORE_DURING_AFTER: Final = ("upcoming", "live", "published")  # in which is looked at what no board changes
TURNED_AWAY: Final = "live"  # in which is looked at who is turned away for who they are
PARTICIPANTS: Final = ("own team", "other team")
OWN_SCORE_APART: Final = {  # the states that differ from another one in what a team sees of itself alone
    "frozen, own score kept back": "frozen",
    "hidden, own score kept back": "hidden",
}
BOARD_APART: Final = {"frozen": "live", "hidden": "live"}  # in what is shown of a board alone
BOARDS: Final = ("phases/", "figures/", "rescoring/")  # the manage pages that read one
READS_A_BOARD: Final = re.compile(
    r"malpan\.leaderboard|submissions\.visibility|presenters\.(?:board|figures)"
    r"|\b(?:is_frozen|is_hidden|frozen_at|final_published_at|get_board_display|Board)\b"
)
READS_NO_SCORE: Final = (  # looked at before, during and after: that they read none is held there
    *("accounts/", "account/letters/", "account/webhooks/", "api/docs/", "api/v1/openapi.json", "api/v1/webhooks/"),
    *("arena/", "healthz/", "invitations/", "language/", "manage/", "openmetrics/", "privacy/", "tokens/"),
    *("unsubscribe/", "competitions/<slug:slug>/campaigns/", "competitions/<slug:slug>/questions/"),
    "competitions/<slug:slug>/terms/",
    *("api/v1/competitions/<slug:slug>/questions/", "api/v1/competitions/<slug:slug>/team/"),
)
HOLDS_SCORES: Final = re.compile(
    r"\b(submissions_(?:scoringrun|hiddenresult|metricresult|chainentry)|stages_stagetable|leaderboard_\w+)\b"
)
COUNTED_WHEN_READ: Final = {  # what follows from other rows
    *("leaderboard_standing", "leaderboard_standingmark", "leaderboard_standingsversion"),
    "leaderboard_resultcomparison",
    *("arena_computation", "submissions_alikefiles", "jobs_job"),
}
ADMIN_PAGES: Final = ("admin/submissions", "admin/competitions", "admin/leaderboard")
SEEN: dict[tuple[str, str], set[str]] = defaultdict(set)


def rule_of(route: str) -> str | None:
    """Who may get an answer there; ``None``: nobody has thought about it."""
    if route == MANAGE:
        return MANAGE_PAGES
    if route == API_MANAGE:  # to remove it
        return OWNERS
    if route in EXACT:
        return RULES[route]
    beginnings = [start for start in RULES if start not in EXACT and route.startswith(start)]
    return RULES[max(beginnings, key=len)] if beginnings else None


def text_of(response: Any) -> str:
    body = b"".join(response.streaming_content) if response.streaming else response.content
    return f"{body.decode(errors='replace')}\n{response.headers}"


def fetch(client: Client, method: str, address: str, asked: set[str] | None = None) -> Any:
    """The answer; whatever the request changed is taken back. The tables with scores that it reads are added to
    ``asked``.
    """

    def note(execute: Callable[..., Any], sql: Any, *rest: Any) -> Any:
        asked.update(HOLDS_SCORES.findall(str(sql)))
        return execute(sql, *rest)

    noting = nullcontext() if asked is None else connection.execute_wrapper(note)
    with taken_back(), noting:
        response = client.get(address) if method == "GET" else client.post(address, {"confirm": "on"})
        text = text_of(response)
    return response.status_code, text


def may_see(state: State, viewer: str, canary: str, route: str) -> bool:
    """Whether ``viewer`` may read ``canary`` at ``route`` while the phase is in ``state``."""
    if canary == REFERENCE:
        return viewer == "organiser" and route.startswith(SHOWS_REFERENCES)
    if viewer in ROLES:
        return route.startswith((MANAGE, API_MANAGE, "submissions/", "api/v1/submissions/")) or may_see(
            state, "anonymous", canary, route
        )
    kind, _space, name = canary.rpartition(" ")
    is_own = viewer.partition(" ")[0] == name.partition(".")[0]
    if kind == "public score":
        return name in _on_the_board(state) or (is_own and _own_score_is_shown(state, name))
    if kind == "private score":
        return state.is_published and (is_own or name.endswith("after"))
    if kind in ("public detail", "public signature"):
        return is_own and _own_score_is_shown(state, name)
    if kind == "answers":  # what the team itself sent
        return is_own and (route.startswith(SHOWS_ANSWERS) or route.endswith("/file/"))
    return kind == "private detail" and is_own and state.is_published  # and no item value, ever


def _on_the_board(state: State) -> set[str]:
    """Whose public score stands on the public board: each team's best among what counts there."""
    board = "live" if state.is_published else state.settings.get("board", "live")
    when = {"live": "after", "frozen": "before", "hidden": "never"}[board]
    return {name for name in PUBLIC if name.endswith(when)}


def _own_score_is_shown(state: State, name: str) -> bool:
    if state.is_published or state.settings.get("shows_own_score", True):
        return True
    return state.settings.get("board") == "frozen" and name.endswith("before")


def may_enter(rule: str, viewer: str, address: str, world: World) -> bool:
    """Whether ``viewer`` may get an answer at all."""
    if viewer in ROLES:
        return viewer in INSIDE[rule]
    if rule == EVERYONE:
        return True
    if rule == JUDGES:
        return viewer == "judge"
    own = {"own team": "own.", "other team": "other."}.get(viewer, "nobody")
    ids = [str(row.public_id) for name, row in world.submissions.items() if name.startswith(own)]
    return rule == TEAM and any(each in address for each in ids)


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.name)
def test_nobody_sees_what_is_not_theirs_to_see(state: State, caplog: pytest.LogCaptureFixture) -> None:
    assert looked_at_everything(state) == []
    assert list(canaries_in(caplog.text + str([each.body for each in mail.outbox]))) == []
    _assert_that_the_others_do_see_it(state)
    _assert_what_the_table_says(state)


def looked_at_everything(state: State) -> list[str]:
    """Every viewer at every address: what was wrong; ``SEEN`` is what they found."""
    world = make(state)
    wrong: list[str] = []
    cache.clear()
    known = [(route, pattern, addresses(route, world)) for route, pattern in routes()]
    for viewer in lookers(state):
        client, changes, acts = client_of(world, viewer), Changes(), _acts()
        for route, pattern, places in known:
            if _is_as_in_another_state(route, viewer, state):
                continue
            for method, address in _requests(route, pattern, viewer, places):
                asked: set[str] | None = set() if route.startswith(READS_NO_SCORE) else None
                status, text = fetch(client, method, address, asked)
                if asked:
                    wrong.append(f"{viewer}: {method} {address} reads {asked}: to be looked at in every state")
                found = set(canaries_in(text))
                SEEN[state.name, viewer] |= found
                leaks = sorted(canary for canary in found if not may_see(state, viewer, canary, route))
                if leaks or status >= 500 or _is_let_in_wrongly(route, status, viewer, address, world):
                    wrong.append(f"{viewer}: {method} {address} {status} {leaks}")
        written = set(changes.touched()) - COUNTED_WHEN_READ
        if _acts() == acts:
            written.discard("core_auditentry")
        if viewer in ROLES and written:  # asked by GET alone
            wrong.append(f"{viewer}: a GET writes to {written}")
        standings.refresh(world.phase)  # the first viewer found boards yet to be computed; the others find them ready
    return wrong


def lookers(state: State) -> tuple[str, ...]:
    """Who may see something else in ``state`` than in another one."""
    return PARTICIPANTS if state.name in OWN_SCORE_APART else VIEWERS


def _acts() -> int:
    """Entries of the audit log but of who read reference answers: reading alone adds these."""
    return AuditEntry.objects.exclude(action=drafts.OPENED).count()


def _is_as_in_another_state(route: str, viewer: str, state: State) -> bool:
    """Whether what ``viewer`` may see there does not depend on the board: those with a role see campaigns whole, and
    what no board is read for; those without one are turned away from every manage page, and all of them from the admin.
    What reads no table with scores shows nobody one.
    """
    if route.startswith(READS_NO_SCORE) and state.name not in BEFORE_DURING_AFTER:
        return True
    if viewer in ROLES and not route.startswith("admin/"):
        if route.startswith((f"{MANAGE}arena/", f"{API_MANAGE}arena/")):
            return state.name not in BEFORE_DURING_AFTER
        _start, is_managed, page = route.partition("/manage/")
        return bool(is_managed) and state.name in BOARD_APART and not page.startswith(BOARDS)
    return route.startswith(("admin/", MANAGE, API_MANAGE)) and state.name != TURNED_AWAY


def _requests(route: str, pattern: URLPattern, viewer: str, places: list[str]) -> Iterator[tuple[str, str]]:
    is_outside = viewer not in ROLES
    if route.startswith("admin/") and not route.startswith(ADMIN_PAGES):
        return
    if is_outside and rule_of(route) not in (EVERYONE, TEAM):
        places = places[:1]  # refused for the competition's sake, whatever else the address names
    methods = ["GET", "POST"] if is_outside and not route.startswith(("accounts/", "admin/")) else ["GET"]
    for method in methods:
        if viewer != ASKS_IN_VAIN and declines(pattern.callback, method):
            continue
        queries = ("", *QUERIES.get(pattern.name or "", ())) if method == "GET" else ("",)
        yield from ((method, address + query) for address in places for query in queries)


def _is_let_in_wrongly(route: str, status: int, viewer: str, address: str, world: World) -> bool:
    rule = rule_of(route)
    if rule is None:
        return True
    is_let_in = may_enter(rule, viewer, address, world)
    if route.startswith(MANAGE) and status != 405:
        return is_let_in == (status in _refusals(viewer))
    return status == 200 and not is_let_in


def _refusals(viewer: str) -> tuple[int, ...]:
    """How a manage page turns ``viewer`` away: who has no role does not learn that there is one."""
    if viewer == "anonymous":
        return (302, 286)  # to log in; what htmx polls stops
    return (403,) if viewer in ROLES else (404,)


def _assert_that_the_others_do_see_it(state: State) -> None:
    """The canaries are really there: whoever may see a score at some address did find it."""
    looked = set(lookers(state))
    for viewer in looked & {"anonymous", "judge", *PARTICIPANTS}:
        scores = [f"{split} score {name}" for split in ("public", "private") for name in PUBLIC]
        expected = {canary for canary in scores if may_see(state, viewer, canary, "competitions/")}
        assert {canary for canary in SEEN[state.name, viewer] if canary in scores} == expected
    assert "answers own.after" in SEEN[state.name, "own team"]
    for role in looked & set(ROLES):
        assert {f"private score {name}" for name in PUBLIC} <= SEEN[state.name, role]
        if state.name not in BOARD_APART:
            assert {AWARD, *(f"stage score {name}" for name in STAGE)} <= SEEN[state.name, role]
    if state.name not in OWN_SCORE_APART | BOARD_APART:
        assert REFERENCE in SEEN[state.name, "organiser"]


def _assert_what_the_table_says(state: State) -> None:
    for viewer in lookers(state):
        found = _cells(state, viewer)
        if viewer in ROLES:
            assert found["private score, own team"] == "yes", (viewer, found)
        else:
            assert (found["private score, other team"] == "–") != state.is_published, (viewer, found)
            assert found["item values"] == "–", (viewer, found)
        if state.name not in BOARD_APART:
            assert (found["references"] == "yes") == (viewer == "organiser"), (viewer, found)


def test_an_organiser_elsewhere_reaches_nothing_of_this_competition_through_their_own_manage_pages() -> None:
    """Every address of the manage pages, under the slug of the other competition and with the numbers of this one."""
    world = make(next(state for state in STATES if state.name == "over, not published"))
    client = client_of(world, "organiser elsewhere")
    assert fetch(client, "GET", "/competitions/elsewhere/manage/phases/")[0] == 200
    for route, _pattern in routes():
        if not route.startswith(MANAGE):
            continue
        for address in addresses(route, world):
            theirs = address.replace(f"/{world.competition.slug}/", "/elsewhere/", 1)
            for method in ("GET", "POST"):
                status, text = fetch(client, method, theirs)
                assert (theirs, method, sorted(canaries_in(text))) == (theirs, method, [])
                assert (theirs, method, status < 500) == (theirs, method, True)
                if "pk>" in route or "_id>" in route or "number>" in route:
                    assert (theirs, method, status != 200) == (theirs, method, True)


def test_a_number_is_found_however_it_is_rounded_and_the_seconds_of_a_clock_are_none() -> None:
    assert set(canaries_in('"2026-11-22T13:19:34.382Z"')) == set()
    for text in ("34.382", "0.3438", '{"score":34.38195200}', "13:19 34.38"):
        assert "public item other.after" in set(canaries_in(text)), text


def test_what_a_state_has_in_common_with_another_one_is_all_but_what_reads_its_board() -> None:
    """What ``OWN_SCORE_APART`` and ``BOARD_APART`` leave out cannot differ: of the code of the site one module reads
    whether a team sees its own score, and of the manage pages only ``BOARDS`` and the arena's read a board. Who has a
    role may see everything there but references, and these are in no board.
    """
    code = Path(malpan.__file__).parent
    sources = {path: path.read_text() for end in ("py", "html") for path in code.rglob(f"*.{end}")}
    reads_it = [path.name for path, text in sources.items() if re.search(r"\.shows_own_score\b", text)]
    assert reads_it == ["visibility.py"]
    managing = [path for path, text in sources.items() if path.parent.name == "manage" and READS_A_BOARD.search(text)]
    pages = {f"{path.stem}/".replace("_", "/", 1) for path in managing}
    assert {start for start in BOARDS if any(page.startswith(start) for page in pages)} == set(BOARDS)
    assert [page for page in pages if not page.startswith((*BOARDS, "arena/"))] == []
    for state, like in (OWN_SCORE_APART | BOARD_APART).items():
        one, other = (next(each for each in STATES if each.name == name) for name in (state, like))
        differs = {name for name, _value in one.settings.items() ^ other.settings.items()}
        assert (one.when, one.is_published) == (other.when, other.is_published)
        assert differs == ({"shows_own_score"} if state in OWN_SCORE_APART else {"board"})


def test_every_route_has_a_rule() -> None:
    assert [route for route, _pattern in routes() if rule_of(route) is None] == []


def test_an_unpublished_competition_is_there_for_its_manage_alone() -> None:
    world = make(STATES[1])
    Competition.objects.filter(pk=world.competition.pk).update(is_published=False)
    for viewer in ("anonymous", "judge", "other team", "organiser elsewhere", "own team"):
        client = client_of(world, viewer)
        for route, _pattern in routes():
            if "<slug:slug>" not in route and not route.startswith("files/"):
                continue
            for address in addresses(route, world):
                assert (viewer, address, fetch(client, "GET", address)[0]) != (viewer, address, 200)
    for role in ROLES:
        assert fetch(client_of(world, role), "GET", f"/competitions/{world.competition.slug}/")[0] == 200


# --- the table --------------------------------------------------------------------------------------------------------
COLUMNS: Final = {
    "public score, own team": ("public score own.",),
    "public score, other team": ("public score other.",),
    "private score, own team": ("private score own.",),
    "private score, other team": ("private score other.",),
    "item values": ("public item", "private item"),
    "answers of a team": ("answers",),
    "references": (REFERENCE,),
}


def table() -> str:
    """What each viewer was seen to find in each state, as Markdown; ``before`` and ``after`` the freezing."""
    lines = [f"| state | viewer | {' | '.join(COLUMNS)} |", "|" + " --- |" * (len(COLUMNS) + 2)]
    for state, viewer in itertools.product(STATES, VIEWERS):
        lines.append(f"| {state.name} | {viewer} | {' | '.join(_cells(state, viewer).values())} |")
    return "\n".join(lines)


def _cells(state: State, viewer: str) -> dict[str, str]:
    found = SEEN[state.name, viewer]
    if viewer not in lookers(state):
        found = SEEN[OWN_SCORE_APART[state.name], viewer]
    return {column: _cell(found, starts) for column, starts in COLUMNS.items()}


def _cell(seen: set[str], starts: tuple[str, ...]) -> str:
    found = [canary for canary in seen if canary.startswith(starts)]
    when = sorted({canary.rpartition(".")[2] for canary in found if "." in canary}, reverse=True)
    if not found:
        return "–"
    return "yes" if len(when) != 1 else f"{when[0]} only"
