"""A Malpan site as a program asks it: tries again where that is safe, waits when told to, says what went wrong."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from email.utils import parsedate_to_datetime
from http.client import HTTPResponse
from typing import Any, NoReturn, TypeVar
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

from malpan_client import API, API_MAJOR, VERSION
from malpan_client.failing import (
    NOT_ALLOWED,
    NOT_ANSWERED,
    NOT_FOUND,
    NOT_NOW,
    OTHER_VERSION,
    WRONG_INPUT,
    Failure,
)
from malpan_client.transport import Body, CutOff, NotReached, origin_of, received, require_safe, send
from malpan_client.words import has, language, say

T = TypeVar("T")
AWAY_SECONDS = 15.0  # for how long a site that does not answer is asked again, where nothing is being uploaded
LONGEST_PAUSE = 15.0
HOPS = 5
REDIRECTS = (301, 302, 303, 307, 308)
MAY_PASS = (500, 502, 503, 504)  # faults that may be gone at the next try
NOT_SOON = ("quota_exceeded", "too_many_rejections")  # nobody waits for these
BY_STATUS = {401: NOT_ALLOWED, 403: NOT_ALLOWED, 404: NOT_FOUND, 410: NOT_FOUND, 409: NOT_NOW, 429: NOT_NOW}
SAFE_AGAIN = ("GET", "PUT")  # sent twice they do what they do once, and are answered alike


class Facts(dict[str, Any]):
    """A JSON object of the server; a field that is not there is the server's fault."""

    def __missing__(self, name: str) -> NoReturn:
        raise Failure(NOT_ANSWERED, say("field_missing", name=name))


class Patience:
    """How much longer a request is tried: until ``seconds`` of waiting are over, those for faults (``away``) first.

    Waiting is also the time in which a try that failed neither sent nor received anything.
    """

    def __init__(self, seconds: float, away: float, note: Callable[[str], None]) -> None:
        self._left = seconds
        self._away = away
        self._note = note
        self._pause = 1.0
        self._moved_at = time.monotonic()

    @property
    def left(self) -> float:
        return self._left

    def move(self) -> None:
        """Something is being sent or received: nobody waits."""
        self._moved_at = time.monotonic()

    def renew(self) -> None:
        """Something was received: the next fault is a first one."""
        self.move()
        self._pause = 1.0

    def spend(self) -> None:
        """Count the seconds since something moved; less than one is the way there and back."""
        self._left -= int(time.monotonic() - self._moved_at)
        self.move()

    def sit_out(self, reason: str) -> bool:
        """Wait a while after a fault, longer each time; false where it has been long enough."""
        pause = min(self._pause, LONGEST_PAUSE)
        self._pause *= 2
        if pause > self._away:
            return False
        self._away -= pause
        return self.wait(pause, reason)

    def wait(self, seconds: float, reason: str) -> bool:
        if seconds > self._left:
            return False
        self._left -= seconds
        self._note(say("waiting", reason=reason, seconds=max(1, round(seconds))))
        time.sleep(seconds)
        return True


class Site:
    """``token`` is sent to ``address`` alone. ``note`` gets lines about what is going on."""

    def __init__(
        self,
        address: str,
        token: str = "",
        *,
        is_insecure: bool = False,
        max_wait: float = 300.0,
        note: Callable[[str], None] = lambda line: None,
    ) -> None:
        require_safe(address, is_insecure=is_insecure)
        self.address = address.rstrip("/")
        self.max_wait = max_wait
        self.note = note
        self._token = token
        self._is_insecure = is_insecure

    # --- what commands ask --------------------------------------------------------------------------------------------
    def get(self, path: str, *, in_language: str = "", **query: Any) -> Any:
        headers = {"Accept-Language": in_language} if in_language else {}
        return self.ask("GET", path, query=query, headers=headers)

    def pages(self, path: str, *fields: str, **query: Any) -> Facts:
        """A list whose pages are joined: the first page, with the rows of all under ``fields`` (``rows``,
        ``final.rows``).
        """
        first = page = self.get(path, **query)
        while page["next"]:
            page = self.get(path, **query, page=parse_qs(urlsplit(page["next"]).query).get("page", [""])[0])
            for field in fields:
                _rows_of(first, field).extend(_rows_of(page, field))
        return Facts(first, next=None)

    def change(self, method: str, path: str, body: Mapping[str, Any] | None = None, **query: Any) -> Any:
        """Ask for a change that JSON describes."""
        return self.ask(method, path, query=query, **({} if body is None else json_body(body)))

    def ask(self, method: str, path: str, **options: Any) -> Any:
        """The JSON of the answer; options as for ``request``."""
        return self.request(method, path, _json_of, **options)

    def request(
        self,
        method: str,
        path: str,
        take: Callable[[HTTPResponse, Patience], T],
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        varying: Callable[[], Mapping[str, str]] = dict,
        body: Body | None = None,
        is_again: bool | None = None,
        is_patient: bool = False,
        is_elsewhere: bool = False,
    ) -> T:
        """What ``take`` makes of the answer.

        ``varying``: headers that another try may have otherwise. ``is_again``: sent twice it does what it does once,
        as those of ``SAFE_AGAIN``. ``is_patient``: faults are sat out as long as a busy server. ``is_elsewhere``: the
        answer may be at another address.
        """
        may_repeat = method in SAFE_AGAIN if is_again is None else is_again
        patience = Patience(self.max_wait, self.max_wait if is_patient else min(AWAY_SECONDS, self.max_wait), self.note)
        asked = {key: value for key, value in (query or {}).items() if value not in (None, "")}
        address = self._address_of(path) + (f"?{urlencode(asked)}" if asked else "")
        while True:
            patience.move()
            try:
                with closing(
                    self._sent(method, address, {**(headers or {}), **varying()}, body, is_elsewhere, patience)
                ) as found:
                    if found.status < 300:
                        return take(found, patience)
                    refusal = self._refusal(found)
            except NotReached as error:
                patience.spend()
                if not patience.sit_out(str(error)):
                    raise Failure(
                        NOT_ANSWERED, say("not_reached", site=self.address, reason=error), hint=say("try_later")
                    ) from error
            except CutOff as error:
                patience.spend()
                if not (may_repeat and patience.sit_out(str(error))):
                    text = say("cut_off", reason=error)
                    raise Failure(NOT_ANSWERED, text, hint=say("try_later" if may_repeat else "look_first")) from error
            else:
                patience.spend()
                if not self._is_worth_waiting(refusal, patience, may_repeat):
                    raise refusal

    def _is_worth_waiting(self, refusal: Failure, patience: Patience, may_repeat: bool) -> bool:
        """Wait where the refusal passes; false where it does not, or not in the time that is left."""
        if refusal.code in NOT_SOON:
            return False
        if refusal.http_status != 429 and not (may_repeat and refusal.http_status in MAY_PASS):
            return False
        if refusal.retry_after is not None:
            return patience.wait(refusal.retry_after, refusal.text)
        return patience.sit_out(refusal.text)

    # --- one try ------------------------------------------------------------------------------------------------------
    def _address_of(self, path: str) -> str:
        return urljoin(self.address + "/", path) if path.startswith("/") else self.address + API + path

    def _sent(
        self,
        method: str,
        address: str,
        headers: Mapping[str, str],
        body: Body | None,
        is_elsewhere: bool,
        patience: Patience,
    ) -> HTTPResponse:
        """The answer, after redirections. The token goes to the site alone."""
        common = {
            "User-Agent": f"malpan/{VERSION} (Python {platform.python_version()}; {platform.system()})",
            "Accept": "application/json, */*;q=0.5",
            "Accept-Language": language(),
            "Connection": "close",
        }
        for _hop in range(HOPS):
            is_own = origin_of(address) == origin_of(self.address)
            secret = {"Authorization": f"Bearer {self._token}"} if self._token and is_own else {}
            answer = send(method, address, {**common, **headers, **secret}, body, patience.left, patience.move)
            location = answer.getheader("Location")
            if answer.status not in REDIRECTS or not location:
                if is_own:
                    self._require_version(answer)
                return answer
            answer.close()
            address = self._next_hop(method, address, urljoin(address, location), is_elsewhere)
        raise Failure(NOT_ANSWERED, say("too_many_hops", address=address))

    def _next_hop(self, method: str, address: str, following: str, is_elsewhere: bool) -> str:
        require_safe(following, is_insecure=self._is_insecure)
        if method != "GET" or not (is_elsewhere or origin_of(following) == origin_of(address)):
            there = urlsplit(following)
            hint = say("log_in_there", site=f"{there.scheme}://{there.netloc}")
            raise Failure(NOT_ANSWERED, say("moved", address=following), hint=hint)
        return following

    def _require_version(self, answer: HTTPResponse) -> None:
        version = answer.getheader("API-Version", "")
        if version and version.partition(".")[0] != str(API_MAJOR):
            answer.close()
            raise Failure(
                OTHER_VERSION,
                say("other_version", version=version, own=API_MAJOR),
                hint=say("get_newer", address=f"{self.address}/api/malpan.py"),
            )

    def _refusal(self, answer: HTTPResponse) -> Failure:
        """What the server refuses, as an exception that is not raised yet."""
        try:
            problem = _json_of(answer)
        except Failure:
            problem = None
        status = BY_STATUS.get(answer.status, WRONG_INPUT if 400 <= answer.status < 500 else NOT_ANSWERED)
        if not isinstance(problem, dict) or "code" not in problem:
            status = status if answer.status in (429, 413) else NOT_ANSWERED
            found = Failure(status, say("no_malpan", status=answer.status, address=self.address))
        else:
            text = str(problem.get("detail") or problem["code"])
            found = Failure(status, text, problem=problem, hint=self._hint(str(problem["code"]), answer.status))
        found.http_status = answer.status
        found.request_id = answer.getheader("X-Request-ID", "")
        found.retry_after = _seconds(answer.getheader("Retry-After"))
        return found

    def _hint(self, code: str, status: int) -> str:
        for key in (f"next_{code}", f"next_{status}"):
            if has(key):
                return say(key, site=self.address)
        return ""


def json_body(body: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a request that sends ``body``."""
    data = Body(json.dumps(body, ensure_ascii=False).encode())
    return {"body": data, "headers": {"Content-Type": "application/json"}}


def _json_of(answer: HTTPResponse, _patience: Patience | None = None) -> Any:
    """Raises ``CutOff``, and ``Failure`` for what no Malpan server answers."""
    data = received(answer)
    if answer.status == 204:
        return None
    try:
        return json.loads(data, object_hook=Facts)
    except (ValueError, RecursionError) as error:
        kind = answer.getheader("Content-Type", "?")
        raise Failure(NOT_ANSWERED, say("no_json", kind=kind), hint=say("right_site")) from error


def _seconds(retry_after: str | None) -> float | None:
    """The seconds that a ``Retry-After`` asks for, as a number or as a date, one at least; ``None``: for none."""
    text = (retry_after or "").strip()
    try:
        seconds = int(text) if text.isdigit() else parsedate_to_datetime(text).timestamp() - time.time()
    except (TypeError, ValueError, IndexError):
        return None
    return max(1.0, seconds)


def _rows_of(page: Any, field: str) -> Any:
    """Rows of a page; none where what would hold them is not there."""
    for name in field.split("."):
        page = page[name] if page else []
    return page


def each_of(found: Any) -> Iterator[Any]:
    """The elements of a list of the server."""
    if not isinstance(found, list):
        raise Failure(NOT_ANSWERED, say("no_list"))
    yield from found
