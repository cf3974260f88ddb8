"""``manage.py shard_step``: one step of a large run that needs its whole file. Workers start it, nobody else."""

from __future__ import annotations

import logging
import sys
from typing import Any

from django.core.management import BaseCommand, CommandParser

from malpan.local.die_with_parent import die_with_parent
from malpan.submissions.evaluation import shard_steps
from malpan.submissions.evaluation.faults import code_of, log_fault
from malpan.submissions.evaluation.leases import LeaseLost
from malpan.submissions.evaluation.shard_work import FAULT_PREFIX

logger = logging.getLogger(__name__)
STEPS = {"plan": shard_steps.plan_run, "gather": shard_steps.gather_run}


class Command(BaseCommand):
    help = (
        "채점 서버가 큰 채점을 나누거나 취합할 때 스스로 실행합니다. 직접 실행하지 않습니다. "
        "/ Workers run this to cut or gather a large run. Not to be run by hand."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("step", choices=sorted(STEPS))
        parser.add_argument("pk", type=int)
        parser.add_argument("attempt", type=int)
        parser.add_argument("--parent", type=int, required=True)

    def handle(self, *args: Any, step: str, pk: int, attempt: int, parent: int, **options: Any) -> None:
        die_with_parent(parent)
        try:
            STEPS[step](pk, attempt)
        except LeaseLost:
            logger.info("%s of %s: attempt %s is in other hands", step, pk, attempt)
        except Exception as error:  # noqa: BLE001 (named for the worker, which notes it in the row)
            log_fault(f"{step} of {pk}: attempt {attempt}", error)
            self.stdout.write(FAULT_PREFIX + code_of(error))
            sys.exit(1)
