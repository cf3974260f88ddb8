"""A process of its own that kills its children with SIGKILL while they send one judgement, each one step later.

Steps are before each statement to the database, before the commit and after it. After each death the assignment is
looked at anew. ``python -m tests.arena.kill_drill ASSIGNMENT VALUE`` prints what was seen as JSON, the last one of a
child that came to its end.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import django

django.setup()

from django.db import connection  # noqa: E402  # after the set-up

from malpan.arena.judging import judge_assignment  # noqa: E402
from malpan.arena.models import Assignment, Judgement, JudgementDraft  # noqa: E402
from malpan.core.models import AuditEntry  # noqa: E402
from tests.killing import Step, dies  # noqa: E402


def main(pk: int, value: dict[str, Any]) -> list[dict[str, Any]]:
    seen: list[dict[str, Any]] = []
    while True:
        connection.close()
        is_killed = dies(partial(_send, pk, value), len(seen) + 1)
        seen.append(_state(pk))
        if not is_killed:
            return seen


def _send(pk: int, value: dict[str, Any], step: Step) -> None:
    assignment = Assignment.objects.select_related("judge__user").get(pk=pk)

    def execute(call: Callable[..., Any], *arguments: Any) -> Any:
        step()
        return call(*arguments)

    def commit() -> None:
        step()
        to_the_database()
        step()

    to_the_database, connection._commit = connection._commit, commit
    with connection.execute_wrapper(execute):
        judge_assignment(assignment=assignment, actor=assignment.judge.user, value=value, seconds=5)


def _state(pk: int) -> dict[str, Any]:
    judgements = Judgement.objects.filter(assignment=pk)
    audited = AuditEntry.objects.filter(
        action="judgement.create", object_id__in=map(str, judgements.values_list("pk", flat=True))
    )
    return {
        "state": Assignment.objects.get(pk=pk).state,
        "judgements": list(judgements.values_list("value", flat=True)),
        "entries": audited.count(),
        "draft": JudgementDraft.objects.filter(assignment=pk).values_list("value", flat=True).first(),
    }


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]), json.loads(sys.argv[2]))))
