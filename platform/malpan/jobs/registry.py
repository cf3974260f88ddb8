"""The handlers of each kind of job, which the apps above register when they are ready.

A worker claims only kinds that are registered in it. A worker of an older version leaves the others in the queue.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from malpan.core.errors import SystemFault

if TYPE_CHECKING:
    from malpan.jobs.lease import LeaseRenewer
    from malpan.jobs.models import Job


class NotMine(Exception):
    """This worker does not know what the job needs: the job waits for one of another version, without a failure."""


class NumbersDiffer(NotMine):
    """This worker's numbers are not the known ones, so it takes no more work: the job is put back for any other."""


class MustWait(Exception):
    """The job cannot go on until something outside has changed, which ``fault`` names: a budget, another server.

    It is queued again after ``pause`` seconds, without a failure; if ``at_most`` is not ``None``, only until it has
    waited for that many seconds since its last progress (``outcome.resumed``), then it counts as a fault.
    """

    def __init__(self, fault: type[SystemFault], *, pause: float, at_most: float | None) -> None:
        self.fault, self.pause, self.at_most = fault, pause, at_most
        super().__init__(fault.code)


class Handler(ABC):
    """The work of one kind of job. ``work`` runs outside any transaction, the other methods in that of the move."""

    crashed: ClassVar[type[SystemFault]]  # what an error that is no ``SystemFault`` counts as

    @abstractmethod
    def work(self, job: Job, lease: LeaseRenewer) -> None:
        """Do the work and end the job with ``outcome.finish``, or leave it to its children. Any other exception is a
        fault.

        Raises ``NotMine``, ``MustWait``, and ``LeaseLost`` from ``lease`` if the job is no longer ours.
        """

    def claimed(self, job: Job) -> None:
        """A worker has claimed it."""
        return

    def put_back(self, job: Job) -> None:
        """It is queued again; ``job.error_code`` is the fault, if there was one."""
        return

    def waits(self, job: Job, *, is_new: bool) -> None:
        """It must wait for what ``job.error_code`` names, and is queued again. ``is_new``: not for the same before."""
        return

    def given_up(self, job: Job) -> None:
        """Its last attempt failed; ``job.error_code`` is the fault."""
        return


_handlers: dict[str, Handler] = {}


def register(kind: str, handler: Handler) -> None:
    """Let this process do jobs of ``kind``."""
    _handlers[kind] = handler


def handler_of(kind: str) -> Handler:
    """The handler of ``kind``. Raises ``KeyError`` if it is not registered."""
    return _handlers[kind]


def kinds() -> list[str]:
    """The kinds that this process can do."""
    return sorted(_handlers)
