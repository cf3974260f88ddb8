"""What rescorings changed of a submission, in words: old and new values, the reason, the notice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.utils.translation import gettext as _

from malpan.competitions.models import Notice, Track
from malpan.competitions.shown_scores import fewest_decimals, scale_of
from malpan.submissions.models import RescoreBatch, ScoringRun, Submission
from malpan.submissions.rescoring.past import Rescored, rescorings_of, shown_before_and_after
from malpan.submissions.visibility import ShownScores
from malpan.web.presenters import formatting, scores
from scoring.recipes import Column, UnknownRecipe, get_recipe

POSTED: Final = timedelta(minutes=5)  # a notice of a rescoring is posted in the transaction that applies it
DECIMALS: Final = 4


@dataclass(frozen=True, slots=True)
class ValueLine:
    label: str
    before: str
    after: str
    change: str
    is_main: bool


@dataclass(frozen=True, slots=True)
class RescoredLine:
    """``lines`` are the scores that changed. ``is_withheld``: the reader may not see them. ``causes``: what the new
    score was computed with that the old one was not.
    """

    applied_at: datetime | None
    reason: str
    causes: Sequence[str]
    lines: Sequence[ValueLine]
    is_withheld: bool
    notice: Notice | None


def rescored_lines(submission: Submission, *, sees_all: bool) -> list[RescoredLine]:
    """A line for every applied rescoring of ``submission``, the newest first."""
    found = rescorings_of(submission)
    notices = _notices(submission, [each.batch for each in found])
    return [_line(each, submission, notices.get(each.batch.pk), sees_all) for each in found]


def _line(rescored: Rescored, submission: Submission, notice: Notice | None, sees_all: bool) -> RescoredLine:
    before, after = shown_before_and_after(rescored, submission, sees_all=sees_all)
    is_withheld = before.final_score is None or after.final_score is None
    columns = _columns(rescored.after)
    lines = (_value(column, before, after, submission.phase.track) for column in columns)
    return RescoredLine(
        applied_at=rescored.batch.closed_at,
        reason=rescored.batch.reason,
        causes=_causes(rescored),
        lines=[] if is_withheld else [line for line in lines if line is not None],
        is_withheld=is_withheld,
        notice=notice,
    )


def _columns(run: ScoringRun) -> Sequence[Column]:
    try:
        return get_recipe(run.recipe).columns
    except UnknownRecipe:
        return ()


def _value(column: Column, before: ShownScores, after: ShownScores, track: Track) -> ValueLine | None:
    old, new, step = before.scores.get(column.key), after.scores.get(column.key), after.step
    if old is None or new is None:
        return None
    texts = [scores.score_text(column, value, track, step) for value in (old, new)]
    if texts[0] == texts[1]:
        return None
    scale = scale_of(column, track)
    decimals = fewest_decimals(min(DECIMALS, track.score_decimals), scale, step)
    return ValueLine(
        label=column.label(scores.language()),
        before=texts[0],
        after=texts[1],
        change=formatting.signed_text(new - old, scale, decimals),
        is_main=column.is_main,
    )


def _causes(rescored: Rescored) -> list[str]:
    before, after = rescored.before, rescored.after
    found = []
    if before.reference_version_id != after.reference_version_id:
        numbers = {"before": before.reference_version.number, "after": after.reference_version.number}
        found.append(_("정답 %(before)d판 → %(after)d판") % numbers)
    if before.recipe != after.recipe:
        found.append(_("채점 방식 %(before)s → %(after)s") % {"before": before.recipe, "after": after.recipe})
    if before.profile != after.profile:
        found.append(_("모델 프로필 %(before)s → %(after)s") % {"before": before.profile, "after": after.profile})
    return found


def _notices(submission: Submission, batches: Sequence[RescoreBatch]) -> dict[int, Notice]:
    """The notices of ``batches`` that have one, by primary key; a notice that was taken back is none."""
    titled = [batch for batch in batches if batch.notice_title_ko and batch.closed_at is not None]
    if not titled:
        return {}
    competition = submission.phase.track.competition
    rows = list(Notice.objects.filter(competition=competition, title_ko__in=[each.notice_title_ko for each in titled]))
    found = {}
    for batch in titled:
        for row in rows:
            posted = abs(row.published_at - batch.closed_at) if batch.closed_at else POSTED
            if row.title_ko == batch.notice_title_ko and posted < POSTED:
                found[batch.pk] = row
    return found
