"""What every place of a site says while nobody scores.

``python -m tests.system.dead_scorer`` stops the scoring worker of a new site for three minutes (``--seconds``), with
the limit of silence that operators have, and prints the table of ``RESULTS.md``. Exit status 1 if a place did not say
it, or says it at another time.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.system.make_contest import answers
from tests.system.new_site import running_site
from tests.system.stack import SILENCE_SECONDS, Stack
from tests.system.visitor import Visitor, wait_until_finished
from tests.waiting import wait_for
from tests.web import html

SECONDS: Final = 180.0
LIMIT: Final = 60  # seconds of silence: the default of the setting
LEASE: Final = 30  # so is this one
WAITS: Final = "채점 서버를 기다리는 중입니다"
DEAD: Final = "채점하는 서버가 없습니다"
PROMISE: Final = "예상 완료"
NOTHING: Final = "–"
SIGNS: Final = {  # by place, as the table has them: what it must say
    "participant: the submission": WAITS,
    "participant: the history": WAITS,
    "organiser: every manage page": DEAD,
    "operator: alarms": DEAD,
    "operator: scoring processes": "보고 없음",
    "`/healthz/`": "no scoring process takes work",
}


@dataclass
class Place:
    """What one place said. ``after``: so many seconds after the worker was stopped it first said so."""

    name: str
    before: str
    after: float | None = None
    during: list[str] = field(default_factory=list)  # when it first said so, and at the end
    afterwards: str = ""

    @property
    def holds(self) -> bool:
        """Whether it said so while nobody scored, to the end, at no other time, and without a promise."""
        sign = SIGNS[self.name]
        is_told = self.after is not None and all(sign in text and PROMISE not in text for text in self.during)
        return is_told and sign not in self.before and sign not in self.afterwards


def watch(stack: Stack, slug: str, seconds: float = 0.0) -> list[Place]:
    """Stop the scoring worker until every place says so, and ``seconds`` at least; a file is uploaded meanwhile."""
    contest = stack.call("tests.system.make_contest", "make_numbered", slug, 5, 3)
    visitor, operator = Visitor(stack), Visitor(stack)
    visitor.found_team(slug, "기다리는 팀")
    stack.query("UPDATE accounts_user SET is_staff = true, is_superuser = true WHERE email = %s", operator.email)
    stack.wait_for_models()
    wait_for(lambda: "켜져 있음" in _process(operator), "the worker reports")
    places = [Place(name, text) for name, text in _said(slug, visitor, operator, None).items()]
    with _stopped(stack):
        began = time.monotonic()
        public_id = visitor.submit(slug, answers(contest["ids"], 3))

        def said() -> Mapping[str, str]:
            return _said(slug, visitor, operator, public_id)

        wait_for(lambda: _note(places, said(), began), "every place is told", seconds=SILENCE_SECONDS + LIMIT + 120)
        time.sleep(max(0.0, began + seconds - time.monotonic()))
        _add(places, said())
    wait_until_finished(stack, public_id)
    wait_for(lambda: _is_over(places, said()), "every place is told that it is over")
    return places


def _note(places: list[Place], said: Mapping[str, str], began: float) -> bool:
    """Write down what ``places`` say for the first time; whether all have."""
    for place in places:
        if place.after is None and SIGNS[place.name] in said[place.name]:
            place.after, place.during = time.monotonic() - began, [said[place.name]]
    return all(place.after is not None for place in places)


def _add(places: list[Place], said: Mapping[str, str]) -> None:
    for place in places:
        place.during.append(said[place.name])


def _is_over(places: list[Place], said: Mapping[str, str]) -> bool:
    for place in places:
        place.afterwards = said[place.name]
    return not any(SIGNS[place.name] in place.afterwards for place in places)


@contextmanager
def _stopped(stack: Stack) -> Iterator[None]:
    stopped = [stack.program("scoring@%h"), stack.pool_child()]
    for process in stopped:
        process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for process in stopped:
            process.send_signal(signal.SIGCONT)


# --- what they say ----------------------------------------------------------------------------------------------------
def _said(slug: str, visitor: Visitor, operator: Visitor, public_id: str | None) -> dict[str, str]:
    """The text of every place now; without a submission there is nothing to tell participants."""
    own = [f"/submissions/{public_id}/", f"/competitions/{slug}/submissions/"] if public_id else []
    told = [_page(visitor, address).one("div", "state").text for address in own] or [NOTHING, NOTHING]
    manage = _page(operator, f"/competitions/{slug}/manage/phases/").all(id="scorers-alarm")
    alarms = _page(operator, "/manage/site/").all("ul", "todo")
    shown = [each.text for alarm in alarms for each in alarm.all("li") if DEAD in each.text]
    noticed = [" ".join(each.text for each in manage), " ".join(shown), _process(operator), _probe(operator)]
    return dict(zip(SIGNS, [*told, *(text or NOTHING for text in noticed)], strict=True))


def _process(operator: Visitor) -> str:
    """The state of the first scoring process on the operator's page."""
    tables = _page(operator, "/manage/site/").all("table", "manage-wide")
    return tables[0].one("tbody").all("td")[0].text if tables else ""


def _probe(operator: Visitor) -> str:
    """The answer to a load balancer, and its line of the scorers."""
    response = operator.get("/healthz/?format=text")
    lines = [line for line in response.text.splitlines() if line.startswith("Scorers()")]
    return f"{response.status_code} {' '.join(lines)}"


def _page(visitor: Visitor, address: str) -> html.Element:
    return html.parse(visitor.get(address).text)


# --- the table --------------------------------------------------------------------------------------------------------
def table(places: list[Place]) -> str:
    """In Markdown, a row for each place."""
    rows = [
        f"| {each.name} | {each.before} | {each.after:.0f} s | {each.during[-1]} | {each.afterwards} |"
        for each in places
        if each.after is not None
    ]
    head = ["| place | before | told after | at the end | afterwards |", "| --- | --- | ---: | --- | --- |"]
    return "\n".join([*head, *rows])


def main() -> int:
    options = _options()
    limits = {"SCORER_SILENCE_SECONDS": str(LIMIT), "JOB_LEASE_SECONDS": str(LEASE)}
    with (
        tempfile.TemporaryDirectory(prefix="malpan-", ignore_cleanup_errors=True) as folder,
        running_site(Path(folder) / "site", **limits) as stack,
    ):
        places = watch(stack, "dead", options.seconds)
    print(table(places))
    return 0 if all(place.holds for place in places) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.system.dead_scorer", description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long the worker stands still (180)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
