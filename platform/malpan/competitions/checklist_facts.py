"""Gathers the facts that ``checklist`` judges, from rows, stored files and settings.

A sample is checked with the references, and files for download are searched for reference answers; each pair of files
is checked once per process.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Final, Literal
from urllib.parse import urlsplit

from django.conf import settings
from django.utils import timezone

from malpan.competitions.checklist import Facts, Leak, PhaseFacts, TrackFacts
from malpan.competitions.composites import components_of, require_sound_counting
from malpan.competitions.errors import CountingInvalid, UnknownTrackRecipe
from malpan.competitions.models import Competition, CompetitionRole, DataFile, Phase, ReferenceVersion, Track
from malpan.competitions.references import recipe_named
from malpan.core.errors import SystemFault
from malpan.core.storage import read_private
from scoring.errors import InvalidFile, ModelUnavailable, ScoringError
from scoring.models.files import find_folder
from scoring.models.profile import load_profile
from scoring.reading import read_offered, read_predictions, read_references
from scoring.recipes import parts_of

Fit = Literal["ok", "invalid", "none", "faulty"]

LEAK_SHARE: Final = 0.5  # of the texts equal those of the references: no sample guesses so many
LEAK_SHARE_OF_LABELS: Final = 0.9  # one label for all items may be correct for half of them
LEAK_MIN_ITEMS: Final = 2
LEAK_MIN_CHARS: Final = 2  # a shorter answer, such as the number of a choice, is correct by chance
SEARCHED_MAX_BYTES: Final = 20 * 1024 * 1024
LOCAL_HOSTS: Final = frozenset({"127.0.0.1", "localhost", "::1"})
SENDING_BACKENDS: Final = frozenset({"smtp"})


def facts_of(competition: Competition, competing: Iterable[str] = ()) -> Facts:
    """The facts of this moment. Four queries, and files that this process has not looked at yet.

    ``competing``: names of teams in which somebody with a role competes (``teams.selectors.competing_with_a_role``).
    """
    texts = competition
    return Facts(
        now=timezone.now(),
        has_summary=bool(texts.summary_ko),
        has_description=bool(texts.description_ko),
        has_english=all((texts.title_en, texts.summary_en, texts.description_en)),
        has_organiser=bool(texts.organiser_ko),
        has_terms=bool(texts.terms_ko or texts.terms_en),
        has_terms_in_both=bool(texts.terms_ko and texts.terms_en),
        has_prize_places=bool(texts.prize_places),
        helpers=_helpers(competition),
        competing=tuple(sorted(set(competing))),
        site_url=settings.SITE_URL,
        is_local_site=urlsplit(settings.SITE_URL).hostname in LOCAL_HOSTS,
        sends_email=settings.MAIL_TRANSPORT.split(".")[-2] in SENDING_BACKENDS,
        tracks=tuple(
            _track(row) for row in competition.tracks.prefetch_related("phases__reference_versions", "data_files").all()
        ),
    )


def _helpers(competition: Competition) -> int:
    roles = [CompetitionRole.Role.OWNER, CompetitionRole.Role.ORGANISER]
    return CompetitionRole.objects.filter(competition=competition, role__in=roles, user__is_active=True).count()


def _track(track: Track) -> TrackFacts:
    profile = track.profile or settings.SCORING_PROFILE
    files = list(track.data_files.all())
    samples = [file for file in files if file.kind == DataFile.Kind.SAMPLE]
    has_recipe = _has_recipe(track.recipe)
    models, is_demo = models_of(profile)
    versions = [version for phase in track.phases.all() if (version := _current(phase))] if has_recipe else []
    return TrackFacts(
        title=track.title,
        has_english_title=bool(track.title_en),
        has_english_description=bool(track.description_en or not track.description_ko),
        has_recipe=has_recipe,
        profile=profile,
        models=models,
        is_demo_profile=is_demo,
        needs_models=not has_recipe or bool(recipe_named(track.recipe).model_scores),
        has_sample=bool(samples),
        has_data=any(file.kind == DataFile.Kind.DATA for file in files),
        leaks=tuple(leak for file in files if (leak := _leak(file, versions, track.recipe))),
        is_searched=bool(files and versions),
        phases=tuple(_phase(phase, track, samples[:1] if has_recipe else []) for phase in track.phases.all()),
        lacks_judge=bool(parts_of(track.recipe)[1]) and not has_judge(profile),
    )


def _phase(phase: Phase, track: Track, samples: list[DataFile]) -> PhaseFacts:
    version = _current(phase)
    fits = "none"
    if version and samples:
        fits = sample_fit(samples[0].file_sha256, version.file_sha256, track.recipe)
    return PhaseFacts(
        title=phase.title,
        starts_at=phase.starts_at,
        ends_at=phase.ends_at,
        has_references=version is not None,
        has_limits=bool(phase.daily_limit or phase.total_limit or phase.min_interval),
        wants_split=phase.public_percent is not None,
        has_split=version is not None and version.public_ids is not None,
        sample=fits,
        counting=_counting(phase, track) if _has_recipe(track.recipe) else "",
    )


def _counting(phase: Phase, track: Track) -> str:
    """``PhaseFacts.counting`` of a phase of ``track``."""
    if not components_of(track):
        return ""
    try:
        require_sound_counting(phase)
    except CountingInvalid:
        return "unfit"
    is_unset = phase.counting == Phase.Counting.BEST and not phase.counting_score
    return "unset" if is_unset else phase.counting


def _current(phase: Phase) -> ReferenceVersion | None:
    return next((version for version in phase.reference_versions.all() if version.is_current), None)


def _has_recipe(recipe_id: str) -> bool:
    try:
        recipe_named(recipe_id)
    except UnknownTrackRecipe:
        return False
    return True


def models_of(profile_name: str) -> tuple[Literal["ready", "absent", "unknown"], bool]:
    """Whether the models of a profile are on this machine, and whether it is the demo. Loads none of them."""
    try:
        profile = load_profile(profile_name)
    except ScoringError:
        return "unknown", False
    if profile.is_demo:  # made at their first use
        return "ready", True
    try:
        for spec in profile.specs():
            find_folder(profile, spec)
    except ModelUnavailable:
        return "absent", False
    return "ready", False


def has_judge(profile_name: str) -> bool:
    """Whether a profile names an LLM judge; also for a profile that is not there, which is another gap."""
    try:
        return load_profile(profile_name).judge is not None
    except ScoringError:
        return True


def sample_fit(sample_sha256: str, references_sha256: str, recipe_id: str) -> Fit:
    """Whether the sample submission would be accepted as an upload."""
    try:
        return "ok" if _is_taken_in(sample_sha256, references_sha256, recipe_id) else "invalid"
    except SystemFault:  # not cached: the store may work again next time
        return "faulty"


@lru_cache(maxsize=64)
def _is_taken_in(sample_sha256: str, references_sha256: str, recipe_id: str) -> bool:
    recipe = recipe_named(recipe_id)
    try:
        references = read_references(read_private(references_sha256), recipe, is_published=True)
        read_predictions(read_private(sample_sha256), recipe, references)
    except InvalidFile:
        return False
    return True


def _leak(file: DataFile, versions: Iterable[ReferenceVersion], recipe_id: str) -> Leak | None:
    """What the file gives away of the references of all phases: of the phase with most."""
    found = [leak for version in versions if (leak := _leak_of(file, version, recipe_id))]
    return max(found, key=lambda leak: (leak.is_copy, leak.count), default=None)


def _leak_of(file: DataFile, version: ReferenceVersion, recipe_id: str) -> Leak | None:
    if file.file_sha256 == version.file_sha256:
        return Leak(file.file_name, version.item_count, version.item_count, is_copy=True)
    if file.file_size > SEARCHED_MAX_BYTES:
        return None
    try:
        same, told = same_answers(file.file_sha256, version.file_sha256, recipe_id)
    except SystemFault:
        return None
    is_guessed = recipe_named(recipe_id).answer_form not in {"answers", "captions"}
    share = LEAK_SHARE_OF_LABELS if is_guessed else LEAK_SHARE
    is_copy = same >= max(LEAK_MIN_ITEMS, share * version.item_count)
    if is_copy or (told and not is_guessed):
        return Leak(file.file_name, max(same, told) if is_copy else told, version.item_count, is_copy)
    return None


@lru_cache(maxsize=256)
def same_answers(file_sha256: str, references_sha256: str, recipe_id: str) -> tuple[int, int]:
    """For how many items a file in the format of the recipe has a text of the references, and for how many it has one
    that a metric reads as equal (without quotation marks, one of several, the answer without its reason).

    Raises the faults of ``core.storage.open_private``.
    """
    recipe = recipe_named(recipe_id)
    try:
        references = read_references(read_private(references_sha256), recipe, is_published=True)
        offered = read_offered(read_private(file_sha256), recipe, references)
    except InvalidFile:
        return 0, 0  # not a file of answers: questions, a document, an archive
    known, given = references.by_id(), offered.by_id()
    both = known.keys() & given.keys()
    if not both:
        return 0, 0
    same = sum(given[item].text in known[item].texts for item in both)
    layout = recipe.prepare(
        replace(references, items=tuple(known[item] for item in known if item in both)),
        replace(offered, items=tuple(given[item] for item in known if item in both)),
    )
    return same, len(layout.same_items(LEAK_MIN_CHARS))
