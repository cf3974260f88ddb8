"""The steps of applying a rescoring batch; the whole is ``rescoring.services.apply_batch``, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models import OuterRef, Subquery

from malpan.accounts.models import User
from malpan.competitions import versions
from malpan.competitions.models import ReferenceVersion, Track
from malpan.competitions.services import post_notice
from malpan.core import audit
from malpan.jobs.models import Job
from malpan.submissions.evaluation import fresh
from malpan.submissions.models import RescoreBatch, ScoringRun, Submission
from malpan.submissions.quota import services as quota
from malpan.submissions.rescoring import batches
from malpan.submissions.rescoring.errors import BatchHurtsOtherPhases, BatchNeverApplies, BatchNotReady, BatchOutdated
from malpan.submissions.scoring_config import ScoringConfig, scoring_config_of
from malpan.teams.models import Team
from malpan.teams.services import lock_teams


@dataclass(frozen=True, slots=True)
class Announcement:
    """The notice of an applied batch; there is none with an empty Korean title."""

    title_ko: str = ""
    body_ko: str = ""
    title_en: str = ""
    body_en: str = ""

    def with_erratum(self, version: ReferenceVersion) -> Announcement:
        """This one with the erratum of ``version`` at its end: in English too, where it says anything in English."""
        if not version.erratum_ko.strip():
            return self
        english = f"{self.body_en}\n\n{version.erratum_en or version.erratum_ko}" if self.body_en else ""
        return replace(self, body_ko=f"{self.body_ko}\n\n{version.erratum_ko}", body_en=english)


NO_ANNOUNCEMENT = Announcement()


def lock_all_teams(batch: RescoreBatch) -> None:
    """Lock every team of the competition, as an upload locks its own."""
    lock_teams(Team.objects.filter(competition=batch.competition_id))


def require_applicable(batch: RescoreBatch) -> None:
    if batch.repeats > 1:
        raise BatchNeverApplies
    progress = batches.progress_of(batch)
    if not progress.is_complete:
        raise BatchNotReady(unfinished=progress.unfinished, failed=progress.failed)


def checked_configs(held: Sequence[RescoreBatch], *, leaves_other_phases: bool) -> list[ScoringConfig]:
    """What each of the locked ``held``, which are applied together, is scored by. Raises unless all may be applied:
    ``BatchNeverApplies``, ``BatchNotReady``, ``BatchOutdated``, ``BatchHurtsOtherPhases``.
    """
    for batch in held:
        require_applicable(batch)
    configs = [scoring_config_of(batch.phase, batch) for batch in held]
    for batch, config in zip(held, configs, strict=True):
        refuse_outdated(batch, config)
    if not leaves_other_phases:
        refuse_other_phases(held[0])
    return configs


def refuse_outdated(batch: RescoreBatch, config: ScoringConfig) -> None:
    same = (config.reference_version.pk, config.recipe, config.profile)
    scored_by = batches.newest_runs(batch).values_list("reference_version", "recipe", "profile")
    if strangers := sum(row != same for row in scored_by):
        raise BatchOutdated(count=strangers)


def refuse_other_phases(batch: RescoreBatch) -> None:
    if count := other_phases_hurt(batch):
        raise BatchHurtsOtherPhases(count=count)


def other_phases_hurt(batch: RescoreBatch) -> int:
    """The number of live scores in phases of the track without a batch that is applied together with ``batch``, which
    changed recipe or models would remove from boards.

    Phases with a published final board keep its snapshot.
    """
    if not batch.recipe and not batch.profile:
        return 0
    rows = Submission.objects.counting().filter(phase__track=batch.phase.track, live_run__isnull=False)
    rescored = [each.phase_id for each in batches.together(batch)]
    return rows.filter(phase__final_published_at=None).exclude(phase__in=rescored).count()


def switch_pointers(batch: RescoreBatch) -> list[int]:
    """Make the newest run of the batch live for every submission, in one statement; returns their primary keys.

    Those of late uploads that are not finished become live when they are (``evaluation.runs.finish_run``).
    """
    newest_runs = batches.newest_runs(batch).values_list("submission", "state")
    chosen = [key for key, state in newest_runs if state == ScoringRun.State.FINISHED]
    newest = batch.runs.filter(submission=OuterRef("pk"), state=ScoringRun.State.FINISHED).order_by("-pk")
    Submission.objects.filter(pk__in=chosen).update(live_run=Subquery(newest.values("pk")[:1]))
    if batch.is_from_scratch:
        fresh.replace(batch.runs.filter(live_for__pk__in=chosen).values_list("pk", flat=True))
    return chosen


def switch_rule(
    batch: RescoreBatch, config: ScoringConfig, actor: User, now: datetime | None
) -> ReferenceVersion | None:
    """Make the rule of the batch that of the track; returns the references that became current, for ``announce``."""
    track = batch.phase.track
    before = {"recipe": track.recipe, "profile": track.profile}
    after = {"recipe": config.recipe, "profile": batch.profile or track.profile}
    if after != before:
        Track.objects.filter(pk=track.pk).update(**after)
        track.recipe, track.profile = after["recipe"], after["profile"]
        audit.record(actor=actor, action="track.update", obj=track, before=before, after=after)
    if config.reference_version.is_current:
        return None
    versions.make_current(version=config.reference_version, actor=actor, now=now, posts_erratum=False)
    return config.reference_version


def requeue_by(batch: RescoreBatch, config: ScoringConfig) -> None:
    """Give runs outside the batch that are still queued the new rule.

    A run whose job is locked at this moment is being claimed or cancelled, and is skipped: waiting for it with the
    teams locked could deadlock.
    """
    waiting = ScoringRun.objects.filter(
        submission__live_run=None, submission__phase=batch.phase_id, batch=None, state=ScoringRun.State.QUEUED
    )
    jobs = Job.objects.filter(pk__in=waiting.values("job"), state=Job.State.QUEUED)
    free = list(jobs.select_for_update(no_key=True, skip_locked=True).values_list("pk", flat=True))
    ScoringRun.objects.filter(job__in=free).update(
        reference_version=config.reference_version, recipe=config.recipe, profile=config.profile
    )


def settle_quota(batch: RescoreBatch, actor: User, *, resets_quota: bool, grants_slots: int) -> None:
    if resets_quota:
        quota.reset_all(phase=batch.phase, reason=batch.reason, actor=actor, batch=batch)
    if grants_slots:
        quota.grant_all(phase=batch.phase, slots=grants_slots, reason=batch.reason, actor=actor, batch=batch)


def announce(
    held: Sequence[RescoreBatch],
    announcement: Announcement,
    actor: User,
    corrected: Sequence[ReferenceVersion] = (),
) -> None:
    """Store the notice with each batch and post it once, with the errata of ``corrected`` at its end: people get one.

    If its Korean title is empty, each erratum is posted alone.
    """
    if not announcement.title_ko.strip():
        for version in corrected:
            versions.post_erratum(version, actor)
        return
    for version in corrected:
        announcement = announcement.with_erratum(version)
    for batch in held:
        batch.notice_title_ko, batch.notice_body_ko = announcement.title_ko, announcement.body_ko
        batch.notice_title_en, batch.notice_body_en = announcement.title_en, announcement.body_en
        batch.save(update_fields=["notice_title_ko", "notice_body_ko", "notice_title_en", "notice_body_en"])
    post_notice(
        competition=held[0].phase.track.competition,
        title_ko=announcement.title_ko,
        body_ko=announcement.body_ko,
        title_en=announcement.title_en,
        body_en=announcement.body_en,
        actor=actor,
    )
