"""``/healthz/``: whether this web process can do its work, and in its detail whether anybody scores and files go.

Without a scoring process people can still read and upload, without the store of files or room for the database they can
read: these are warnings, and the answer stays 200, as a load balancer that takes the pages away would make it worse.
"""

from __future__ import annotations

import dataclasses
import timeit
from concurrent.futures import Executor
from typing import Any

from asgiref.sync import sync_to_async
from django.http import HttpResponse
from health_check.base import HealthCheck, HealthCheckResult
from health_check.exceptions import ServiceWarning
from health_check.views import HealthCheckView

from malpan.core.database.room import no_room_at
from malpan.core.storage import silent_since
from malpan.jobs.heartbeat import scorers
from malpan.jobs.outage import UNREACHABLE
from malpan.operation.site_page.facts import disk


class _Warning(HealthCheck):
    """A check that only warns."""

    async def trouble(self) -> str:
        """What is wrong, in one line; empty if nothing is."""
        raise NotImplementedError

    async def run(self) -> None:
        """Raises ``ServiceWarning``."""
        if text := await self.trouble():
            raise ServiceWarning(text)

    async def get_result(self, executor: Executor | None = None) -> HealthCheckResult:
        """As of any check, but without a traceback in the log at every probe."""
        start = timeit.default_timer()
        try:
            await self.run()
        except ServiceWarning as warning:
            return HealthCheckResult(self, warning, timeit.default_timer() - start)
        return HealthCheckResult(self, None, timeit.default_timer() - start)


@dataclasses.dataclass
class Scorers(_Warning):
    """Whether a scoring process reported lately that it takes work, and none of several fell silent."""

    async def trouble(self) -> str:
        return await sync_to_async(trouble)()


@dataclasses.dataclass
class DatabaseRoom(_Warning):
    """Whether the database refused nothing lately for want of room."""

    async def trouble(self) -> str:
        at = await sync_to_async(no_room_at)()
        said = "the disk of the database has no room left, last noticed at {}; uploads are refused, nothing is charged"
        return said.format(at.isoformat(timespec="seconds")) if at else ""


@dataclasses.dataclass
class Files(_Warning):
    """Whether the disk of files has room, or the store answered this process when it last asked: it is not asked."""

    async def trouble(self) -> str:
        room = disk()
        if room is not None and room.is_low:
            return f"{int(100 * room.share)} % of the disk of files is free; without room uploads are refused"
        since = silent_since()
        said = "the store of files has not answered since {}; uploads are refused, nothing is charged and nothing lost"
        return said.format(since.isoformat(timespec="seconds")) if since else ""


class SiteHealthView(HealthCheckView):
    """Database and cache must work; a warning alone is no failure."""

    checks = ("health_check.checks.Database", "health_check.checks.Cache", DatabaseRoom, Scorers, Files)

    async def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        """The library's answer, but 200 for warnings."""
        response: HttpResponse = await super().dispatch(request, *args, **kwargs)
        if response.status_code == 500 and all(
            result.error is None or isinstance(result.error, ServiceWarning) for result in self.results
        ):
            response.status_code = 200
        return response


def trouble() -> str:
    """What is wrong with the scoring processes, in one line; empty if nothing is, or the database is away."""
    try:
        found = scorers()
    except UNREACHABLE:
        return ""  # which its own check says
    if not found.working:
        silence = found.last_silence
        last = (
            "none has reported within a day" if silence is None else f"last report {int(silence.total_seconds())} s ago"
        )
        return f"no scoring process takes work ({last}); uploads are accepted and wait"
    if found.silent:
        return f"{len(found.silent)} of {len(found.all)} scoring processes are silent"
    return ""
