"""Word to a team about its submissions: a score is there; the scoring failed on our side and the charge was given back.

A letter has what the page of the submission shows its team at that moment (``visibility.shown_run``), and nothing more.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from malpan.accounts.models import User
from malpan.competitions import programs
from malpan.competitions.models import Phase, Track
from malpan.competitions.shown_scores import final_text
from malpan.notifications import outbox
from malpan.notifications.events import Event, Facts, Happening, Word, register, register_happening
from malpan.submissions.models import ScoringRun, Submission
from malpan.submissions.visibility import shown_run
from malpan.teams.models import Membership

SCORED: Final = "scored"
RUN_REFUNDED: Final = "run_refunded"


def tell_scored(run: ScoringRun) -> None:
    """Post word to the team and to the organisers' programs that ``run`` is its submission's live score. Call it in the
    transaction of the result.
    """
    _tell(SCORED, run)
    competition = run.submission.phase.track.competition_id
    programs.tell(competition=competition, event=SCORED, key=f"{SCORED}:{run.pk}", facts={"run": run.pk})


def tell_refunded(run: ScoringRun) -> None:
    """Post word to the team that ``run`` failed and costs nothing. Call it in the transaction of the refund."""
    _tell(RUN_REFUNDED, run)


def register_events() -> None:
    register_happening(Happening(SCORED, _("제출이 채점되었을 때"), _scored_for_organisers))
    register(Event(SCORED, _("제출한 파일의 채점이 끝났을 때"), _scored, _scored_sample))
    register(
        Event(RUN_REFUNDED, _("채점이 운영 측의 문제로 실패해 제출 횟수를 돌려받았을 때"), _refunded, _refunded_sample)
    )


def score_text(score: float | None, track: Track, step: Decimal | None = None) -> str:
    """``score``, rounded to ``step`` if that is one, as the pages write it; empty if it is not shown."""
    return "" if score is None else final_text(score, track, step)


def _tell(event: str, run: ScoringRun) -> None:
    people = User.objects.filter(memberships__team=run.submission.team_id)
    outbox.post(event=event, key=f"{event}:{run.pk}", people=people, facts={"run": run.pk})


def _run(facts: Facts) -> ScoringRun | None:
    """The run, if the submission is still there."""
    rows = ScoringRun.objects.select_related(
        "submission__phase__track__competition", "submission__team", "job", "reference_version"
    )
    return rows.filter(pk=facts["run"], submission__withdrawn_at=None).first()


def _run_for(person: User, facts: Facts) -> ScoringRun | None:
    """The run, if the person still is of its team and the submission is still there."""
    run = _run(facts)
    if run is None or not Membership.objects.filter(team=run.submission.team_id, user=person).exists():
        return None
    return run


def _scored(person: User, facts: Facts) -> Word | None:
    run = _run_for(person, facts)
    if run is None or run.submission.live_run_id != run.pk:  # scored anew meanwhile: there is word of that
        return None
    shown, track = shown_run(run, run.submission), run.submission.phase.track
    score = score_text(shown.final_score, track, shown.step)
    about = {"score": score, "is_demo": shown.is_demo_models, "is_public_part": shown.covers == "public"}
    return _word(run.submission, **about)


def _scored_for_organisers(facts: Facts) -> Word | None:
    run = _run(facts)
    if run is None or run.submission.live_run_id != run.pk:
        return None
    submission, team = run.submission, run.submission.team
    about = {
        **names_of(submission.phase),
        "submission": submission.public_id,
        "team": team.name,
        "team_number": team.number,
        "final_score": shown_run(run, submission, sees_all=True).final_score,
        "is_demo": run.is_demo_models,
    }
    return Word(about, reverse("manage_submission", args=[about["competition"], submission.public_id]))


def names_of(phase: Phase) -> dict[str, Any]:
    """The names in addresses, by which programs know a phase."""
    return {"competition": phase.track.competition.slug, "track": phase.track.slug, "phase": phase.slug}


def _refunded(person: User, facts: Facts) -> Word | None:
    run = _run_for(person, facts)
    if run is None or run.submission.refunded_at is None:
        return None
    return _word(run.submission)


def _word(submission: Submission, **more: object) -> Word:
    phase = submission.phase
    names = {
        "competition": phase.track.competition.title,
        "track": phase.track.title,
        "team": submission.team.name,
        "file_name": submission.file_name,
    }
    return Word({**names, **more}, reverse("submission", args=[submission.public_id]))


def _scored_sample() -> Word:
    return _sample(score="71.2345678", is_demo=False, is_public_part=True)


def _refunded_sample() -> Word:
    return _sample()


def _sample(**more: object) -> Word:
    names = {"competition": "한글 대회", "track": "어문 규범", "team": "가나다", "file_name": "answers.json"}
    return Word({**names, **more}, reverse("home"))
