"""Rescoring: start, look at what would change, apply what was seen, or cancel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from malpan.api.errors import FieldError, FieldsInvalid
from malpan.api.frame import ApiRequest
from malpan.api.manage.access import MANAGE, ManageOperations, managed, managed_phase
from malpan.api.reading import next_address, paged
from malpan.api.schemas.kinds import Done, Page, PageNumber, PageSize
from malpan.api.schemas.manage import rescoring as shown
from malpan.competitions.models import Phase, ReferenceVersion, Track
from malpan.competitions.permissions import Permission
from malpan.competitions.profiles import require_offered
from malpan.competitions.references import recipe_named, recipe_of
from malpan.competitions.shown_scores import scale_of
from malpan.core.language import reader_language
from malpan.leaderboard.rescore_preview import preview, require_all_seen
from malpan.submissions.manage_selectors import submission_of
from malpan.submissions.models import RescoreBatch, RescoreOrder
from malpan.submissions.rescoring import batches, orders, services
from malpan.submissions.rescoring.apply import Announcement
from malpan.submissions.rescoring.deltas import Change, RankMove, Scored
from malpan.submissions.rescoring.letters import text_of_refusal
from scoring.recipes import Column, Recipe

operations = ManageOperations(_("운영: 재채점"))
ALL = f"{MANAGE}/rescoring"
ONE = f"{ALL}/{{int:pk}}"
REPEAT_REASON = "반복 채점"


@operations.get(f"{ALL}/", "listRescorings", _("재채점 목록"), Page[shown.Batch])
def batch_list(request: ApiRequest, slug: str, page: PageNumber = 1, page_size: PageSize = 30) -> Any:
    rows = RescoreBatch.objects.filter(competition=managed(request, slug, Permission.VIEW)).order_by("-pk")
    return paged(request, rows, page, page_size, _batch)


@operations.post(
    f"{ALL}/",
    "startRescoring",
    _("재채점 시작"),
    shown.Batch,
    status=201,
    says=_(
        "정답 판, 채점 방식, 모델 프로필 가운데 바꿀 것과 대상을 적습니다. 비운 것은 그대로입니다. 순위표는 적용할 "
        "때까지 바뀌지 않습니다. also의 단계는 지금의 정답으로 함께 채점해 한꺼번에 적용합니다."
    ),
)
def start(request: ApiRequest, slug: str, data: shown.Start) -> Any:
    phase = managed_phase(request, slug, data.phase, Permission.OPERATE)
    require_offered(data.profile, request.auth.person, own=phase.track.profile)
    batch = services.start_batch(
        phase=phase,
        selection=_selection(phase, data),
        reason=data.reason,
        actor=request.auth.person,
        also=_also(phase, data.also),
        reference_version=_version(phase, data.reference_version),
        recipe=_recipe(phase, data.recipe),
        profile=data.profile,
        is_from_scratch=data.from_scratch,
    )
    return _batch(batch)


def _selection(phase: Phase, data: shown.Start) -> batches.Selection:
    if data.since and data.until and data.since >= data.until:
        _refuse("until", gettext("시작 시각이 끝 시각보다 앞서야 합니다."))
    teams = phase.track.competition.teams.filter(merged_into=None, number__in=data.teams)
    found = dict(teams.values_list("number", "pk"))
    if unknown := [number for number in data.teams if number not in found]:
        _refuse("teams", gettext("이런 번호의 팀은 없습니다: %(number)s") % {"number": unknown[0]})
    return batches.Selection(
        teams=tuple(found[number] for number in dict.fromkeys(data.teams)),
        since=data.since,
        until=data.until,
        states=(data.state,) if data.state else (),
        signature_hash=data.signature_hash.strip(),
    )


def _also(phase: Phase, keys: Sequence[int]) -> list[Phase]:
    found = Phase.objects.filter(track=phase.track_id).in_bulk(keys)
    if any(key not in found for key in keys):
        _refuse("also", gettext("같은 트랙의 단계가 아닙니다."))
    return list(found.values())


def _version(phase: Phase, pk: int | None) -> ReferenceVersion | None:
    if pk is None:
        return None
    version = phase.reference_versions.filter(pk=pk).first()
    if version is None:
        _refuse("reference_version", gettext("이 단계의 정답 판이 아닙니다."))
    return version


def _recipe(phase: Phase, recipe: str) -> str:
    """One that reads the files of the phase."""
    if recipe and recipe_named(recipe).file_shape != recipe_of(phase.track).file_shape:
        _refuse("recipe", gettext("이 단계의 제출과 형식이 다른 채점 방식입니다."))
    return recipe


def _refuse(field: str, message: str) -> None:
    raise FieldsInvalid([FieldError(f"body.{field}", message)])


@operations.post(
    f"{ALL}/repeat/",
    "repeatScoring",
    _("제출 하나를 여러 번 채점해 수치의 흔들림 보기"),
    shown.Batch,
    status=201,
)
def repeat(request: ApiRequest, slug: str, data: shown.Repeat) -> Any:
    submission = submission_of(managed(request, slug, Permission.OPERATE), data.submission)
    batch = services.start_batch(
        phase=submission.phase,
        selection=batches.Selection(submissions=(submission.pk,)),
        reason=REPEAT_REASON,
        actor=request.auth.person,
        repeats=data.repeats,
    )
    return _batch(batch)


@operations.get(f"{ONE}/", "getRescoring", _("재채점 하나와 그 진행"), shown.Batch)
def batch(request: ApiRequest, slug: str, pk: int) -> Any:
    return _batch(services.get_batch(managed(request, slug, Permission.VIEW).pk, pk))


@operations.get(
    f"{ONE}/preview/",
    "previewRescoring",
    _("적용하면 바뀔 점수와 순위"),
    shown.Preview,
    says=_("seen은 이 미리보기의 이름입니다. 적용할 때 보내면, 그사이 결과가 달라졌을 때 적용하지 않습니다."),
)
def changes(request: ApiRequest, slug: str, pk: int, page: PageNumber = 1, page_size: PageSize = 100) -> Any:
    batch = services.get_batch(managed(request, slug, Permission.VIEW_HIDDEN).pk, pk)
    found, track = preview(batch), batch.phase.track
    start = (page - 1) * page_size
    before, after = batches.item_counts(batch) or (None, None)
    return {
        "seen": found.seen,
        "changes": _changes(found.changes, found.recipe, track),
        "hidden_changes": _changes(found.hidden_changes, found.recipe, track),
        "items_before": before,
        "items_after": after,
        "moves": [_move(each) for each in found.moves],
        "left_out": found.left_out,
        "count": len(found.rows),
        "next": next_address(request, page + 1) if start + page_size < len(found.rows) else None,
        "rows": [_row(each) for each in found.rows[start : start + page_size]],
    }


@operations.post(f"{ONE}/retry/", "retryRescoring", _("실패한 채점 다시"), Done)
def retry(request: ApiRequest, slug: str, pk: int) -> Any:
    found = services.get_batch(managed(request, slug, Permission.OPERATE).pk, pk)
    return {"count": services.retry_failed(batch=found, actor=request.auth.person)}


@operations.post(f"{ONE}/exclude/", "excludeFromRescoring", _("실패한 제출 제외"), shown.Batch)
def exclude(request: ApiRequest, slug: str, pk: int, data: shown.Exclusion) -> Any:
    competition = managed(request, slug, Permission.OPERATE)
    found = services.get_batch(competition.pk, pk)
    submission = submission_of(competition, data.submission)
    services.exclude_submission(batch=found, submission=submission, reason=data.reason, actor=request.auth.person)
    return _batch(services.get_batch(competition.pk, pk))


@operations.post(
    f"{ONE}/apply/",
    "applyRescoring",
    _("재채점 적용: 모든 점수와 순위가 한꺼번에 바뀜"),
    shown.Batch,
    says=_(
        "seen은 미리보기에서 받은 값입니다. 함께 시작한 재채점은 together의 차례대로 쉼표로 이어 적으며, 한꺼번에 "
        "적용됩니다. 제목을 적으면 공지를 함께 올립니다. 새 정답 판의 정오 안내는 제목이 없어도 올립니다."
    ),
)
def apply(request: ApiRequest, slug: str, pk: int, data: shown.Application) -> Any:
    competition = managed(request, slug, Permission.MANAGE)
    services.apply_batch(
        batch=services.get_batch(competition.pk, pk),
        actor=request.auth.person,
        check=lambda held: require_all_seen(held, data.seen),
        **_choices(data),
    )
    return _batch(services.get_batch(competition.pk, pk))


@operations.post(
    f"{ONE}/order/",
    "orderRescoring",
    _("재채점이 끝나면 저절로 적용하도록 예약"),
    shown.Batch,
    status=201,
    says=_(
        "1위부터 guarded_places위까지의 순서가 바뀌거나, 실패한 채점이 있거나, 예약한 사람이 더는 적용할 수 없으면 "
        "적용하지 않고 예약을 끝내며 알립니다. 0이면 순위가 어떻게 바뀌어도 적용합니다."
    ),
)
def order(request: ApiRequest, slug: str, pk: int, data: shown.Ordered) -> Any:
    competition = managed(request, slug, Permission.MANAGE)
    orders.order_application(
        batch=services.get_batch(competition.pk, pk),
        actor=request.auth.person,
        guarded_places=data.guarded_places,
        **_choices(data),
    )
    return _batch(services.get_batch(competition.pk, pk))


@operations.delete(f"{ONE}/order/", "withdrawRescoringOrder", _("적용 예약 거두기"), shown.Batch)
def withdraw(request: ApiRequest, slug: str, pk: int) -> Any:
    competition = managed(request, slug, Permission.MANAGE)
    orders.withdraw_order(batch=services.get_batch(competition.pk, pk), actor=request.auth.person)
    return _batch(services.get_batch(competition.pk, pk))


def _choices(data: shown.Choices) -> dict[str, Any]:
    if data.title_ko and not data.body_ko:
        _refuse("body_ko", gettext("공지 내용을 적어 주십시오."))
    return {
        "resets_quota": data.resets_quota,
        "grants_slots": data.grants_slots,
        "announcement": Announcement(data.title_ko, data.body_ko, data.title_en, data.body_en),
        "leaves_other_phases": data.leaves_other_phases,
    }


@operations.post(f"{ONE}/cancel/", "cancelRescoring", _("재채점 취소"), shown.Batch)
def cancel(request: ApiRequest, slug: str, pk: int) -> Any:
    competition = managed(request, slug, Permission.OPERATE)
    services.cancel_batch(batch=services.get_batch(competition.pk, pk), actor=request.auth.person)
    return _batch(services.get_batch(competition.pk, pk))


def _batch(found: RescoreBatch) -> dict[str, Any]:
    progress = batches.progress_of(found)
    counts = ("finished", "running", "queued", "failed", "excluded", "late")
    return {name: getattr(progress, name) for name in counts} | {
        "id": found.pk,
        "phase": found.phase_id,
        "state": "ready" if found.is_open and progress.is_complete else found.state,
        "reason": found.reason,
        "reference_version": found.reference_version_id,
        "recipe": found.recipe,
        "profile": found.profile,
        "repeats": found.repeats,
        "from_scratch": found.is_from_scratch,
        "selection": found.selection,
        "created_at": found.created_at,
        "closed_at": found.closed_at,
        "together": [each.pk for each in batches.together(found)] if found.group else [],
        "order": _order(orders.last_order(found)),
    }


def _order(found: RescoreOrder | None) -> dict[str, Any] | None:
    if found is None:
        return None
    names = set(shown.Order.model_fields) - {"ordered_by", "refusal", "refusal_code"}
    return {name: getattr(found, name) for name in names} | {
        "ordered_by": found.ordered_by.name,
        "refusal": text_of_refusal(found),
        "refusal_code": found.refusal.get("code", ""),
    }


def _changes(found: Sequence[Change], recipe: Recipe, track: Track) -> list[dict[str, Any]]:
    columns = {column.key: column for column in recipe.columns}
    return [_change(each, columns[each.score], track) for each in found]


def _change(change: Change, column: Column, track: Track) -> dict[str, Any]:
    names = ("score", "count", "changed", "mean", "minimum", "maximum")
    return {name: getattr(change, name) for name in names} | {
        "label": column.label(reader_language()),
        "scale": scale_of(column, track),
        "decimals": track.score_decimals if column.decimals is None else column.decimals,
    }


def _move(move: RankMove) -> dict[str, Any]:
    return {
        "team": move.team_name,
        "before": move.before,
        "after": move.after,
        "score_before": move.score_before,
        "score_after": move.score_after,
        "crossed": list(move.crossed),
    }


def _row(row: Scored) -> dict[str, Any]:
    return {
        "submission": row.public_id,
        "team": row.team_name,
        "before": row.before,
        "after": row.after,
        "hidden_before": row.hidden_before,
        "hidden_after": row.hidden_after,
    }
