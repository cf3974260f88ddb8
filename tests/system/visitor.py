"""A participant with a browser's manners and no browser: cookies, CSRF tokens, forms by their field names."""

from __future__ import annotations

import re
import uuid

import requests

from tests.system.deployed import Deployed
from tests.system.stack import Stack
from tests.waiting import wait_for


class Unavailable(AssertionError):
    """The page at ``address`` said that a service of the site is away: whoever is told that comes again."""

    def __init__(self, address: str, page: str, log: str) -> None:
        super().__init__(address, log)
        self.address = address
        self.page = page


class Visitor:
    """A person signed up on the site of ``stack``."""

    def __init__(self, stack: Stack | Deployed) -> None:
        self.stack = stack
        self.session = requests.Session()
        self.session.headers["Connection"] = "close"  # the site closes what is silent for seconds, maybe just now
        password = uuid.uuid4().hex
        self.email = f"{uuid.uuid4().hex[:12]}@example.org"
        self.post(
            "/accounts/signup/",
            name="홍길동",
            email=self.email,
            password1=password,
            password2=password,
            privacy="on",
            at_end="/",
        )

    def get(self, path: str) -> requests.Response:
        response = self.session.get(self.stack.url + path, verify=self.stack.certificate, timeout=120)
        self._require_page(response)
        return response

    def post(
        self, path: str, *, at_end: str, form_at: str = "", files: dict | None = None, **fields: str
    ) -> requests.Response:
        """Send the form shown at ``form_at`` (by default at ``path``) to ``path``.

        Follows redirects, which must end at an address with ``at_end`` in it.
        """
        token = self.token_at(form_at or path)
        response = self.session.post(
            self.stack.url + path,
            data={**fields, "csrfmiddlewaretoken": token},
            files=files,
            headers={"Referer": self.stack.url + path},
            verify=self.stack.certificate,
            timeout=120,
        )
        self._require_page(response)
        assert at_end in response.url, (path, response.url, response.text[-3000:])
        return response

    def _require_page(self, response: requests.Response) -> None:
        if response.status_code == 503:
            raise Unavailable(response.url, response.text, self.stack.log[-3000:])
        assert response.status_code < 400, (response.url, response.status_code, self.stack.log[-3000:])

    def found_team(self, slug: str, name: str) -> None:
        page = f"/competitions/{slug}/team/"
        self.post(f"{page}create/", form_at=page, at_end=page, name=name)

    def submit(self, slug: str, content: bytes) -> str:
        """Upload ``content``; the public id of the submission made of it."""
        response = self.upload(slug, content, at_end="/submissions/")
        found = submission_at(response.url)
        assert found, response.url
        return found

    def upload(self, slug: str, content: bytes, *, name: str = "answers.json", at_end: str = "") -> requests.Response:
        """Upload ``content``, meant even if the team has sent the same before; the page where that ends."""
        files = {"file": (name, content, "application/json")}
        return self.post(f"/competitions/{slug}/submit/", at_end=at_end, files=files, again="on")

    def token_at(self, path: str) -> str:
        return self.hidden_at(path, "csrfmiddlewaretoken")

    def hidden_at(self, path: str, name: str) -> str:
        """The value of the hidden field ``name`` of the page."""
        found = re.search(rf'name="{name}" value="([^"]+)"', self.get(path).text)
        assert found, f"no form at {path}"
        return found[1]


def submission_at(address: str) -> str | None:
    """The public id of the submission whose page this is."""
    found = re.search(r"/submissions/([0-9a-f-]{36})/", address)
    return found[1] if found else None


def run_of(stack: Stack | Deployed, public_id: str) -> dict[str, object]:
    """The one run of a submission, with what its job tells, as the database has it now."""
    names = ("id", "state", "final_score", "error_code", "live_run_id", "job_id", "worker", "progress", "attempt")
    rows = stack.query(
        "SELECT r.id, r.state, r.final_score, r.error_code, s.live_run_id, j.id, j.worker, j.progress,"
        " LEAST(j.attempt, j.failures + 1) FROM submissions_scoringrun r JOIN jobs_job j ON r.job_id = j.id"
        " JOIN submissions_submission s ON r.submission_id = s.id WHERE s.public_id = %s",
        public_id,
    )
    assert len(rows) == 1, rows
    return dict(zip(names, rows[0], strict=True))


def wait_until_finished(stack: Stack | Deployed, public_id: str, *, seconds: float = 300) -> dict[str, object]:
    """The run once it is over; fails the test where it was given up."""
    run = wait_for(
        lambda: (run := run_of(stack, public_id))["state"] in ("finished", "failed") and run,
        f"the run of {public_id} ends",
        seconds=seconds,
        every=0.2,
    )
    assert run["state"] == "finished", (run, stack.log[-4000:])
    return run
