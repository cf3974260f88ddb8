"""Somebody at a browser who goes only where the page in front of them leads, and counts on the way."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urljoin

from django.core import mail
from django.http import HttpResponse
from django.test import Client

from tests.web import html


class Pointer:
    """``clicks``: links followed, also of a mail, and buttons pressed; ``forms``: those of them that sent something."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.clicks = self.forms = 0
        self.address = "/"
        self.page = html.parse("")

    def open(self, address: str) -> None:
        """Go to an address that was typed: no click."""
        self._see(address, self.client.get(address, follow=True))

    def follow(self, name: str) -> None:
        """Click the link of this name, the first one of the content before any other."""
        self.clicks += 1
        links = [link for link in self.page.all("a") if link.text == name and "href" in link.attributes]
        assert links, (name, self.address)
        link = next((each for each in links if _is_content(each)), links[0])
        self.open(urljoin(self.address, link.attributes["href"]))

    def follow_mail(self) -> None:
        """Click the link of the last mail."""
        self.clicks += 1
        found = re.search(r"http://127.0.0.1:8000(\S+)", mail.outbox[-1].body)
        assert found is not None
        self.open(found[1])

    def press(self, button: str, /, **fields: Any) -> None:
        """Press the button of this name, with the form as it stands but for ``fields``."""
        self.clicks, self.forms = self.clicks + 1, self.forms + 1
        [pressed] = [each for each in self.page.one("main").all("button") if each.text == button]
        form = next(each for each in pressed.ancestors() if each.tag == "form")
        sent: dict[str, Any] = dict(html.fields_of(form))
        assert fields.keys() <= {each.attributes.get("name") for each in form.all()}, (fields, self.address)
        if "name" in pressed.attributes:
            sent[pressed.attributes["name"]] = pressed.attributes.get("value", "")
        target = pressed.attributes.get("formaction") or form.attributes.get("action") or self.address
        address = urljoin(self.address, target).partition("#")[0]
        self._see(address, self.client.post(address, sent | fields, follow=True))

    def _see(self, address: str, response: HttpResponse) -> None:
        chain = getattr(response, "redirect_chain", [])
        self.address = urljoin(address, chain[-1][0]) if chain else address
        self.page = html.parse(response.content.decode())
        refused = [each.attributes["name"] for each in self.page.all(**{"aria-invalid": "true"})]
        assert response.status_code in (200, 286), (response.status_code, self.address, refused)


def _is_content(element: html.Element) -> bool:
    return any(each.tag == "main" for each in element.ancestors())
