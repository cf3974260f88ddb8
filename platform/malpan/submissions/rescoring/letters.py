"""Word to the teams of a rescoring that was applied: the old and the new score of each of their submissions; and to who
ordered that it be applied by itself, what came of the order.

A letter to a team has what the pages of the submissions show it at that moment, and nothing more.
"""

from __future__ import annotations

from typing import Final

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from malpan.accounts.models import User
from malpan.competitions import programs
from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.notifications import outbox
from malpan.notifications.events import Event, Facts, Happening, Word, register, register_happening
from malpan.submissions.letters import names_of, score_text
from malpan.submissions.models import RescoreBatch, RescoreOrder, Submission
from malpan.submissions.rescoring.past import rescorings_of, shown_before_and_after
from malpan.teams.models import Membership

RESCORED: Final = "rescored"
ORDER_OVER: Final = "rescoring_order_over"
LINES_MAX: Final = 20  # the newest submissions; the page has them all


def tell_rescored(batch: RescoreBatch) -> None:
    """Post one letter to each person with a submission in ``batch``, and word to the organisers' programs. Call it in
    the transaction that applies it.
    """
    teams = Submission.objects.filter(runs__batch=batch).values("team")
    people = User.objects.filter(memberships__team__in=teams)
    key, facts = f"{RESCORED}:{batch.pk}", {"batch": batch.pk}
    outbox.post(event=RESCORED, key=key, people=people, facts=facts)
    programs.tell(competition=batch.phase.track.competition_id, event=RESCORED, key=key, facts=facts)


def tell_of_order(order: RescoreOrder) -> None:
    """Post word to who gave ``order`` that it is over. Call it in the transaction that ends it."""
    key, facts = f"{ORDER_OVER}:{order.pk}", {"order": order.pk}
    outbox.post(event=ORDER_OVER, key=key, people=[order.ordered_by_id], facts=facts)


def register_events() -> None:
    register_happening(Happening(RESCORED, _("재채점을 적용했을 때"), _rescored_for_organisers))
    register(Event(RESCORED, _("재채점으로 점수가 바뀌었을 때"), _rescored, _sample))
    register(
        Event(ORDER_OVER, _("적용을 예약한 재채점을 적용했거나 적용하지 않았을 때"), _order_over, _order_over_sample)
    )


def text_of_refusal(order: RescoreOrder) -> str:
    """Why ``order`` was not carried out, in the active language; empty if nothing refused it."""
    error = DomainError.by_code.get(order.refusal.get("code", ""))
    return "" if error is None else text_of(error(**order.refusal["params"]))


def _applied(facts: Facts) -> RescoreBatch | None:
    applied = RescoreBatch.objects.filter(pk=facts["batch"], state=RescoreBatch.State.APPLIED)
    return applied.select_related("phase__track__competition").first()


def _rescored_for_organisers(facts: Facts) -> Word | None:
    batch = _applied(facts)
    if batch is None:
        return None
    about = {
        **names_of(batch.phase),
        "rescoring": batch.pk,
        "reason": batch.reason,
        "submissions": Submission.objects.filter(runs__batch=batch).distinct().count(),
    }
    return Word(about, reverse("manage_rescoring_batch", args=[about["competition"], batch.pk]))


def _rescored(person: User, facts: Facts) -> Word | None:
    batch = _applied(facts)
    if batch is None:
        return None
    competition = batch.phase.track.competition
    member = Membership.objects.filter(user=person, competition=competition).select_related("team").first()
    if member is None or not (lines := _lines(batch, member)):
        return None
    names = {
        "competition": competition.title,
        "track": batch.phase.track.title,
        "team": member.team.name,
        "reason": batch.reason,
        "lines": lines,
    }
    return Word(names, reverse("submissions", args=[competition.slug]))


def _lines(batch: RescoreBatch, member: Membership) -> list[dict[str, str]]:
    """File, old and new score of each submission of the team whose score changed; empty scores where not shown."""
    own = Submission.objects.filter(team=member.team_id, phase=batch.phase_id, withdrawn_at=None, runs__batch=batch)
    rows = own.distinct().select_related("phase__track").prefetch_related("runs").order_by("-pk")
    lines = []
    for submission in rows:
        found = next((each for each in rescorings_of(submission) if each.batch.pk == batch.pk), None)
        if found is not None:
            before, after = shown_before_and_after(found, submission, sees_all=False)
            old, new = (score_text(shown.final_score, batch.phase.track, shown.step) for shown in (before, after))
            is_shown = bool(old and new)
            if is_shown and old == new:
                continue
            lines.append(
                {"file_name": submission.file_name, "before": old if is_shown else "", "after": new if is_shown else ""}
            )
        if len(lines) == LINES_MAX:
            break
    return lines


def _order_over(person: User, facts: Facts) -> Word | None:
    found = RescoreOrder.objects.filter(pk=facts["order"], ordered_by=person).exclude(state=RescoreOrder.State.WAITING)
    order = found.select_related("batch__competition").first()
    if order is None:
        return None
    batch = order.batch
    about = {
        "competition": batch.competition.title,
        "number": batch.pk,
        "reason": batch.reason,
        "outcome": order.state,
        "refusal": text_of_refusal(order),
    }
    return Word(about, reverse("manage_rescoring_batch", args=[batch.competition.slug, batch.pk]))


def _order_over_sample() -> Word:
    about = {"competition": "한글 대회", "number": 12, "reason": "정답을 고침", "outcome": "applied", "refusal": ""}
    return Word(about, reverse("home"))


def _sample() -> Word:
    names = {
        "competition": "한글 대회",
        "track": "어문 규범",
        "team": "가나다",
        "reason": "정답을 고침",
        "lines": [{"file_name": "answers.json", "before": "71.2345678", "after": "72.0000000"}],
    }
    return Word(names, reverse("home"))
