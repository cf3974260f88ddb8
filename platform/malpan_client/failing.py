"""What ends a command: its exit status and what it tells."""

from __future__ import annotations

from typing import Any

DONE = 0
WRONG_INPUT = 1  # the file, or what was asked for
WRONG_USAGE = 2
NOT_ALLOWED = 3  # no token, a wrong or expired one, one for something else; or the person may not
NOT_NOW = 4  # the limit is used up, the phase is closed, or something else has to come first
NOT_ANSWERED = 5  # the server, or the way to it
NOT_FOUND = 6
NOT_SCORED = 7  # accepted, but not scored in the time that was given
OTHER_VERSION = 8  # the server speaks another version of the API
INTERRUPTED = 130
CODES = {  # of what the command itself refuses, in its JSON
    WRONG_INPUT: "wrong_input",
    WRONG_USAGE: "wrong_usage",
    NOT_ALLOWED: "not_allowed_here",
    NOT_NOW: "not_now",
    NOT_ANSWERED: "not_answered",
    NOT_FOUND: "not_found_here",
    OTHER_VERSION: "other_version",
    INTERRUPTED: "interrupted",
}


class Failure(Exception):
    """The end of a command with ``status``. ``problem``: what the server said (RFC 9457); ``hint``: what to do next."""

    def __init__(self, status: int, text: str, *, hint: str = "", problem: dict[str, Any] | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.hint = hint
        self.problem = problem or {}
        self.http_status = 0
        self.retry_after: float | None = None
        self.request_id = ""

    @property
    def code(self) -> str:
        """The server's name for the refusal; empty where it did not refuse."""
        return str(self.problem.get("code", ""))

    def as_json(self) -> dict[str, Any]:
        found = {key: value for key, value in self.problem.items() if key != "error"}
        code = {"code": CODES.get(self.status, "failed")}
        return {"error": {"detail": self.text, **code, **found, "exit_status": self.status, "hint": self.hint}}
