"""What is done for the jobs of each kind: handlers, which the apps above register when they are ready.

A worker takes only the kinds that are registered in it. One of an older version leaves the others where they are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from malpan.core.errors import SystemFault

if TYPE_CHECKING:
    from malpan.jobs.lease import LeaseKeeper
    from malpan.jobs.models import Job


class NotMine(Exception):
    """This worker does not know what the job asks for; one of another version may. Put back, and not counted."""


class Handler(ABC):
    """The work of one kind of job. ``work`` alone runs outside any transaction; the others in that of the move."""

    crashed: ClassVar[type[SystemFault]]  # what an error that is no ``SystemFault`` counts as

    @abstractmethod
    def work(self, job: Job, lease: LeaseKeeper) -> None:
        """Do it, and end it by ``outcome.finish``, or leave it to its children. Whatever is raised is a fault.

        Raises ``NotMine``; and ``LeaseLost`` from ``lease``, when somebody else has the job.
        """

    def claimed(self, job: Job) -> None:
        """A worker has taken it."""
        return

    def put_back(self, job: Job) -> None:
        """It waits again; ``job.error_code`` says why, if it was a fault."""
        return

    def given_up(self, job: Job) -> None:
        """Its last attempt failed; ``job.error_code`` says how."""
        return


_handlers: dict[str, Handler] = {}


def register(kind: str, handler: Handler) -> None:
    """Let this process do jobs of ``kind``."""
    _handlers[kind] = handler


def handler_of(kind: str) -> Handler:
    """Who does jobs of ``kind``; ``KeyError`` where it is not registered."""
    return _handlers[kind]


def kinds() -> list[str]:
    """All that this process can do."""
    return sorted(_handlers)
