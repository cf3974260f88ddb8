"""How far an LLM judge agrees with people: an organiser gives people's scores of a submission's items, and the figures
are on the card of the metric, for everybody who wants to know what the judge is worth.

They are computed here, from the values that the site itself stored; the people's scores are not kept. A card shows only
what competitions recorded that are published.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any, Final

from django.db import transaction

from malpan.accounts.models import User
from malpan.competitions.models import Competition
from malpan.core import audit
from malpan.submissions.errors import (
    AgreementNotFound,
    HumanScoresMissing,
    HumanScoresRejected,
    JudgementsMissing,
)
from malpan.submissions.models import JudgeAgreement, MetricResult, ScoringRun, Submission
from scoring.agreement.human import read_human
from scoring.agreement.record import Judged, NoJudgement, TooFewJudged, agreement, judged_of, judges_in
from scoring.cards import judge_metrics_of
from scoring.errors import InvalidFile

NEWEST: Final = 200  # submissions that an organiser chooses from
ON_A_CARD: Final = 20
SOURCE_CHARS: Final = 300
_FIGURES: Final = ("items", "unanswered", "trials", "seed", "pearson", "spearman", "kappa")


@dataclass(frozen=True, slots=True)
class JudgedSubmission:
    """A submission with the name of a metric by which a judge scored it."""

    submission: Submission
    metric: str

    @property
    def key(self) -> str:
        return f"{self.submission.pk}:{self.metric}"


def judged_submissions(competition: Competition) -> list[JudgedSubmission]:
    """The newest scored submissions of ``competition`` with each metric of a judge, the newest first."""
    rows = Submission.objects.of(competition).filter(live_run__isnull=False, withdrawn_at=None)
    rows = rows.select_related("team", "phase__track", "live_run").order_by("-created_at", "-pk")[:NEWEST]
    return [
        JudgedSubmission(row, metric)
        for row in rows
        if row.live_run is not None
        for metric in judges_in(row.live_run.signature)
    ]


def judged_submission(competition: Competition, public_id: uuid.UUID, metric: str) -> JudgedSubmission:
    """The one of ``judged_submissions`` that is called so. Raises ``JudgementsMissing``."""
    for each in judged_submissions(competition):
        if (each.submission.public_id, each.metric) == (public_id, metric):
            return each
    raise JudgementsMissing


def agreements_of(competition: Competition) -> list[JudgeAgreement]:
    """What was recorded in ``competition``, the newest first."""
    return list(JudgeAgreement.objects.filter(competition=competition))


def agreements_on_card(card: str) -> list[JudgeAgreement]:
    """The newest agreements of the judges that ``card`` explains, of published competitions."""
    metrics = judge_metrics_of(card)
    rows = JudgeAgreement.objects.filter(competition__is_published=True, metric__in=metrics)
    return list(rows[:ON_A_CARD]) if metrics else []


def agreement_of(competition: Competition, pk: int) -> JudgeAgreement:
    """Raises ``AgreementNotFound``."""
    found = JudgeAgreement.objects.filter(competition=competition, pk=pk).first()
    if found is None:
        raise AgreementNotFound
    return found


def record_agreement(*, submission: Submission, metric: str, data: bytes, source: str, actor: User) -> JudgeAgreement:
    """Compute and record the agreement of the judge of ``submission`` with the scores of people in ``data``.

    Raises ``JudgementsMissing``, ``HumanScoresRejected`` and ``HumanScoresMissing``.
    """
    run = submission.live_run
    if run is None:
        raise JudgementsMissing
    record = _computed(run, metric, data, source.strip()[:SOURCE_CHARS])
    with transaction.atomic():
        row = JudgeAgreement.objects.create(
            competition=submission.phase.track.competition,
            metric=metric,
            metric_signature=record["metric_signature"],
            judge=record["judge"],
            is_demo_models=record["is_demo"],
            figures={name: record[name] for name in _FIGURES},
            source=record["source"],
            scores_digest=record["human_sha256"],
        )
        facts = audit.snapshot(row, leave_out=["judge"]) | {"submission": str(submission.public_id)}
        audit.record(actor=actor, action="judge_agreement.record", obj=row, after=facts)
    return row


def remove_agreement(*, row: JudgeAgreement, actor: User) -> None:
    """Take a recorded agreement off the card."""
    with transaction.atomic():
        before = audit.snapshot(row, leave_out=["judge"])
        audit.record(actor=actor, action="judge_agreement.remove", obj=row, before=before)
        row.delete()


def _computed(run: ScoringRun, metric: str, data: bytes, source: str) -> dict[str, Any]:
    try:
        judged = _judged(run, metric)
        human = read_human(data, judged.values)
        return agreement(judged, human, data=data, source=source)
    except NoJudgement as error:
        raise JudgementsMissing from error
    except InvalidFile as error:
        raise HumanScoresRejected(errors=error.errors, total=error.total) from None
    except TooFewJudged as error:
        raise HumanScoresMissing(count=error.params["count"]) from error


def _judged(run: ScoringRun, metric: str) -> Judged:
    """The values of all splits of ``run``. Raises ``NoJudgement``."""
    rows = MetricResult.objects.filter(
        submission=run.submission_id, reference_version=run.reference_version_id, metric=metric
    )
    of_signature: dict[str, dict[str, float]] = {}
    for row in rows:
        of_signature.setdefault(row.metric_signature, {}).update(row.values)
    wanted = judged_of(run.signature, metric, {"": 0.0}).signature
    return judged_of(run.signature, metric, of_signature.get(wanted, {}))
