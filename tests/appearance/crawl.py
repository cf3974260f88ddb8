"""Which pages there are: who looks follows every link, and of each view sees the first few addresses."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urldefrag, urljoin, urlsplit

import requests

from tests.web.html import parse

ENDS: Final = ("/accounts/logout/",)  # the session would be over
NOT_LINKED: Final = ("/no/such/page/", "/accounts/signup/", "/accounts/password/reset/", "/manage/new/")


@dataclass(frozen=True)
class Seen:
    """A page, as ``who`` gets it."""

    who: str
    name: str  # of its view
    address: str
    status: int


@dataclass(frozen=True)
class Seeker:
    """Who looks, with what their browser sends, and at how many addresses of each view."""

    who: str
    cookies: dict[str, str]
    of_each: int


def pages(
    site: str, seeker: Seeker, starts: list[str], names_of: Callable[[list[str]], list[str | None]]
) -> Iterator[Seen]:
    """Every page that the ``seeker`` reaches from ``starts``, breadth first."""
    session = requests.Session()
    session.cookies.update(seeker.cookies)
    waiting, known = deque([*starts, *NOT_LINKED]), {*starts, *NOT_LINKED}
    count: Counter[str] = Counter()
    while waiting:
        address = waiting.popleft()
        name = names_of([urlsplit(address).path])[0] or "none"
        if count[name] >= seeker.of_each or address.startswith(ENDS):
            continue
        answer = session.get(site + address, timeout=120, allow_redirects=False)
        if answer.is_redirect:
            links = [answer.headers["Location"]]
        elif answer.headers.get("Content-Type", "").startswith("text/html"):
            count[name] += 1
            yield Seen(seeker.who, name, address, answer.status_code)
            links = links_of(answer.text)
        else:
            count[name] += 1  # a file or data: enough of it
            continue
        for link in links:
            place = urldefrag(urljoin(site + address, link)).url
            path = place.removeprefix(site)
            if place.startswith(site) and path not in known:
                known.add(path)
                waiting.append(path)


def links_of(text: str) -> list[str]:
    """The addresses that a page leads to, but for downloads."""
    links = [link.attributes for link in parse(text).all("a")]
    return [each["href"] for each in links if each.get("href") and "download" not in each]
