"""``manage.py capacity``: how many scoring processes a competition needs."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import timedelta
from statistics import fmean
from typing import Any, Final

from django.core.management import BaseCommand, CommandError
from django.db.models import F

from malpan.operation.capacity import Contest, busiest_hour, percentile, uploads_of, waits_of, workers_needed
from malpan.submissions.models import ScoringRun

RECENT: Final = 1000
FEWEST_RUNS: Final = 20
TITLES: Final = (
    "submissions", "teams", "busiest hour", "busy there", "95 % within", "workers", "median", "95 %", "worst",
)  # fmt: skip


class Command(BaseCommand):
    help = (
        "제출이 몰릴 때 대기 시간을 목표 안에 두려면 채점 프로세스가 몇 개 필요한지 모의실험합니다. "
        "/ Simulates how many scoring processes keep the time from upload to score under a target."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        usual = Contest()
        parser.add_argument(
            "--seconds", type=float, nargs="+", help="파일 하나의 채점 시간, 없으면 최근 채점 / of a file"
        )
        parser.add_argument("--teams", type=int, default=usual.teams)
        parser.add_argument("--submissions", type=int, default=usual.submissions)
        parser.add_argument("--days", type=int, default=usual.days)
        parser.add_argument("--late-days", type=int, default=usual.late_days)
        parser.add_argument("--late-share", type=float, default=usual.late_share)
        parser.add_argument("--target", type=float, nargs="+", default=[10, 30], help="분 / minutes")
        parser.add_argument("--times", type=int, nargs="+", default=[1, 100], help="몇 배 / how many times as much")

    def handle(self, *args: Any, **options: Any) -> None:
        measured = options["seconds"] or _recent_seconds()
        if not measured or min(measured) <= 0 or not 0 < options["late_days"] < options["days"]:
            raise CommandError(
                "채점한 제출이 없으면 --seconds가 필요하고, 날과 시간은 0보다 커야 합니다. "
                "/ Without scored submissions --seconds is needed; days and seconds must be above 0."
            )
        for refusal in _refusals(options):
            raise CommandError(refusal)
        contest = Contest(*(options[name] for name in ("teams", "submissions", "days", "late_days", "late_share")))
        for warning in _warnings(contest, measured, given=bool(options["seconds"])):
            self.stderr.write(f"! {warning}")
        parts = {"median": percentile(measured, 50), "mean": fmean(measured), "95 %": percentile(measured, 95)}
        parts["longest"] = max(measured)  # one file of many items may be most of the work
        said = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in parts.items())
        self.stdout.write(
            f"파일 하나 / of a file: {said} ({len(measured)}); "
            f"{contest.late_share:.0%} in the last {contest.late_days} of {contest.days} days\n\n"
        )
        self.stdout.write(_line(TITLES) + _line(["---:"] * len(TITLES)), ending="")
        for factor in options["times"]:
            for row in _rows(contest.times(factor), measured, options["target"]):
                self.stdout.write(_line(row), ending="")


def _refusals(options: dict[str, Any]) -> Iterator[str]:
    """What nobody can count with."""
    counts = {"teams": options["teams"], "submissions": options["submissions"], "times": min(options["times"])}
    for name, value in counts.items():
        if value < 1:
            yield f"--{name}: {value}. 1 이상이어야 합니다. / It must be at least 1."
    if not 0 <= options["late_share"] <= 1:
        yield "--late-share: 0과 1 사이여야 합니다(절반은 0.5). / It must be between 0 and 1 (half is 0.5)."
    if min(options["target"]) <= 0:
        yield "--target: 0보다 커야 합니다(분). / It must be above 0 (minutes)."


def _warnings(contest: Contest, measured: list[float], *, given: bool) -> Iterator[str]:
    """What makes the answer worth little."""
    if contest.submissions < contest.teams:
        yield "제출이 팀보다 적습니다. / There are fewer submissions than teams."
    if percentile(measured, 50) < 1:
        yield (
            "파일 하나가 1초도 걸리지 않습니다. 데모 모델이나 이미 아는 답의 시간이 아닙니까? "
            "/ A file takes less than a second: is that of demo models, or of answers that were known?"
        )
    if not given and len(measured) < FEWEST_RUNS:
        yield (
            f"최근 채점이 {len(measured)}건뿐입니다. --seconds로 실제 크기의 파일에서 잰 시간을 주십시오. "
            f"/ Only {len(measured)} runs were measured: say --seconds, of a file of the real size."
        )


def _rows(contest: Contest, measured: list[float], targets: list[float]) -> list[list[str]]:
    uploads = uploads_of(contest, measured)
    count, busy = busiest_hour(uploads)
    rows = []
    for target in targets:
        begin = [f"{contest.submissions:,}", f"{contest.teams:,}", f"{count:,}", f"{busy:.1f}", f"{target:g} min"]
        try:
            workers = workers_needed(uploads, target * 60)
        except ValueError:
            rows.append([*begin, "–", "–", "–", "–"])
            continue
        waits = waits_of(uploads, workers)
        shown = (percentile(waits, 50), percentile(waits, 95), max(waits))
        rows.append([*begin, f"{workers:,}", *(str(timedelta(seconds=round(wait))) for wait in shown)])
    return rows


def _recent_seconds() -> list[float]:
    """What the site's last runs took, rescoring aside."""
    runs = ScoringRun.objects.filter(state=ScoringRun.State.FINISHED, batch=None, finished_at__gt=F("started_at"))
    runs = runs.annotate(took=F("finished_at") - F("started_at")).order_by("-finished_at")
    return [took.total_seconds() for took in runs.values_list("took", flat=True)[:RECENT]]


def _line(cells: Any) -> str:
    return "| " + " | ".join(cells) + " |\n"
