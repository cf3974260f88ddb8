"""What the operations of a plan would be refused for, all of it at once and without a change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from django.core.exceptions import ValidationError as DjangoValidationError
from django.db import transaction
from django.utils.translation import gettext_noop as _
from pydantic import ValidationError

from malpan.api.application import fields_of, invalid_fields
from malpan.api.frame import ApiRequest
from malpan.api.http import problem_of
from malpan.api.manage import phases, settings
from malpan.api.manage.access import MANAGE, ManageOperations, managed
from malpan.api.once import allowed
from malpan.api.schemas.kinds import Body
from malpan.api.schemas.manage import phases as phase_shown
from malpan.api.schemas.manage import settings as shown
from malpan.competitions.errors import ManageNotFound, PhaseNotFound, TrackNotFound
from malpan.competitions.models import Competition, Phase, Track
from malpan.competitions.permissions import Permission
from malpan.competitions.selectors import phases_of
from malpan.competitions.setup import create_owned_competition, require_may_create
from malpan.core.errors import DomainError
from malpan.core.locks import Level, lock_rows, own_rows

operations = ManageOperations(_("운영: 대회 설정"))

BODIES: Final[Mapping[str, type[Body]]] = {
    "createCompetition": shown.NewCompetition,
    "updateSettings": shown.Texts,
    "createTrack": shown.NewTrack,
    "updateTrack": shown.TrackSettings,
    "setTargets": shown.Targets,
    "createPhase": phase_shown.NewPhase,
    "updatePhase": phase_shown.PhaseSettings,
}


@operations.post(
    f"{MANAGE}/rehearsal/",
    "rehearse",
    _("대회 설정 미리 해 보기"),
    shown.Rehearsal,
    says=_(
        "적은 순서대로 해 보고 거절될 것을 모두 알립니다. 아무것도 바뀌지 않습니다. 아직 없는 대회라면 사이트의 대회를 "
        "만들 권한이 있어야 하고 첫 단계가 createCompetition이어야 합니다. 대회나 트랙을 만들 수 없으면 그에 딸린 "
        "것은 값만 봅니다."
    ),
    is_once=False,
)
def rehearse(request: ApiRequest, slug: str, data: shown.RehearsedPlan) -> Any:
    _require_allowed(request, slug, data.steps)
    with transaction.atomic():
        _lock(slug)
        with own_rows():
            refusals = list(_refusals(request, slug, data.steps))
        transaction.set_rollback(True)
    return {"refusals": [{"step": number, "problem": problem_of(error)} for number, error in refusals]}


def _require_allowed(request: ApiRequest, slug: str, steps: Sequence[shown.RehearsedStep]) -> None:
    """Raises ``ManageNotFound``, ``NotAllowed`` and, whether there is the competition or not, ``MayNotCreate``."""
    try:
        managed(request, slug, Permission.MANAGE)
    except ManageNotFound:
        if steps[0].operation != "createCompetition":
            raise
        require_may_create(request.auth.person)
        if Competition.objects.filter(slug=slug).exists():
            raise
        allowed(request)


def _lock(slug: str) -> None:
    """Lock all that the steps may change, in the order that others do: each step begins anew at the top of it."""
    list(lock_rows(Phase.objects.filter(track__competition__slug=slug), Level.PHASE))
    list(lock_rows(Track.objects.filter(competition__slug=slug), Level.TRACK))
    list(lock_rows(Competition.objects.filter(slug=slug), Level.COMPETITION))


def _refusals(
    request: ApiRequest, slug: str, steps: Sequence[shown.RehearsedStep]
) -> Iterator[tuple[int, DomainError]]:
    """What each step is refused for, after those before it."""
    is_missing, missing = False, set()
    for number, step in enumerate(steps):
        is_tried = not is_missing and step.track not in missing
        refusal = _refusal_of(request, slug, step, is_tried=is_tried)
        if refusal is None:
            continue
        yield number, refusal
        if step.operation == "createCompetition":
            is_missing = not _stand_in(request, slug)
        elif step.operation == "createTrack":
            missing.add(step.track)


def _stand_in(request: ApiRequest, slug: str) -> bool:
    """Make a competition in the place of one whose own values are wrong, so that the rest can be tried; false where
    there is another one.
    """
    if Competition.objects.filter(slug=slug).exists():
        return False
    create_owned_competition(owner=request.auth.person, slug=slug, title_ko="–")
    return True


def _refusal_of(request: ApiRequest, slug: str, step: shown.RehearsedStep, *, is_tried: bool) -> DomainError | None:
    """What ``step`` is refused for; of one that cannot be tried only what is wrong with its values."""
    try:
        body = BODIES[step.operation].model_validate(step.values)
        if is_tried:
            with transaction.atomic():
                _DO[step.operation](request, slug, step, body)
    except ValidationError as error:
        return invalid_fields([{**each, "loc": ("body", *each["loc"])} for each in error.errors()])
    except DjangoValidationError as error:
        return fields_of(error)
    except DomainError as error:
        return error
    return None


def _track(step: shown.RehearsedStep) -> str:
    if step.track is None:
        raise TrackNotFound
    return step.track


def _change_phase(request: ApiRequest, slug: str, step: shown.RehearsedStep, body: Any) -> Any:
    competition = managed(request, slug, Permission.MANAGE)
    of_the_track = {each.slug: each.pk for each in phases_of(competition) if each.track.slug == _track(step)}
    if step.phase not in of_the_track:
        raise PhaseNotFound(known=", ".join(of_the_track) or "–")
    return phases.change(request, slug, of_the_track[step.phase], body)


_DO: Final[Mapping[str, Callable[[ApiRequest, str, shown.RehearsedStep, Any], Any]]] = {
    "createCompetition": lambda request, _slug, _step, body: settings.create(request, body),
    "updateSettings": lambda request, slug, _step, body: settings.update(request, slug, body),
    "createTrack": lambda request, slug, _step, body: settings.new_track(request, slug, body),
    "updateTrack": lambda request, slug, step, body: settings.change_track(request, slug, _track(step), body),
    "setTargets": lambda request, slug, step, body: settings.targets(request, slug, _track(step), body),
    "createPhase": lambda request, slug, step, body: phases.new_phase(request, slug, _track(step), body),
    "updatePhase": _change_phase,
}
