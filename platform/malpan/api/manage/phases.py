"""Phases: times and limits, board, split, final board."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from malpan.api.errors import FieldError, FieldsInvalid
from malpan.api.frame import ApiRequest
from malpan.api.manage.access import MANAGE, ManageOperations, managed, managed_phase, managed_track
from malpan.api.schemas.kinds import seconds
from malpan.api.schemas.manage import phases as shown
from malpan.competitions.models import Phase
from malpan.competitions.permissions import Permission
from malpan.competitions.phases import close_phase, set_board
from malpan.competitions.selectors import phases_of
from malpan.competitions.services import create_phase
from malpan.competitions.setup import remove_phase
from malpan.leaderboard.finals import final_board
from malpan.leaderboard.snapshots import publish_final_board, unfinished_count
from malpan.submissions.scoring_changes import split_again, update_phase
from scoring.particles import fitted

operations = ManageOperations(_("운영: 단계"))
ONE = f"{MANAGE}/phases/{{int:pk}}"


@operations.get(f"{MANAGE}/phases/", "listPhases", _("모든 단계"), list[shown.ManagedPhase])
def phase_list(request: ApiRequest, slug: str) -> Any:
    competition = managed(request, slug, Permission.VIEW)
    return [managed_phase_json(each) for each in phases_of(competition).prefetch_related("reference_versions")]


@operations.post(
    f"{MANAGE}/tracks/{{slug:track}}/phases/", "createPhase", _("단계 만들기"), shown.ManagedPhase, status=201
)
def new_phase(request: ApiRequest, slug: str, track: str, data: shown.NewPhase) -> Any:
    found = managed_track(request, slug, track)
    made = create_phase(actor=request.auth.person, track=found, **_fields(data))
    return managed_phase_json(made)


@operations.get(f"{ONE}/", "getPhase", _("단계 하나의 설정"), shown.ManagedPhase)
def phase(request: ApiRequest, slug: str, pk: int) -> Any:
    return managed_phase_json(managed_phase(request, slug, pk, Permission.VIEW))


@operations.patch(
    f"{ONE}/", "updatePhase", _("단계의 설정 고치기"), shown.ManagedPhase, says=_("보낸 항목만 바뀝니다.")
)
def change(request: ApiRequest, slug: str, pk: int, data: shown.PhaseSettings) -> Any:
    found = managed_phase(request, slug, pk)
    return managed_phase_json(update_phase(phase=found, actor=request.auth.person, **_fields(data)))


def _fields(data: shown.PhaseSettings) -> dict[str, Any]:
    """The columns of the model."""
    fields = data.given()
    if "min_interval_seconds" in fields:
        fields["min_interval"] = timedelta(seconds=fields.pop("min_interval_seconds"))
    return fields


@operations.post(f"{ONE}/board/", "setBoard", _("순위표를 공개, 고정 또는 비공개로"), shown.ManagedPhase)
def board(request: ApiRequest, slug: str, pk: int, data: shown.BoardState) -> Any:
    found = managed_phase(request, slug, pk)
    return managed_phase_json(set_board(phase=found, board=data.board, actor=request.auth.person))


@operations.post(f"{ONE}/close/", "closePhase", _("지금 마감"), shown.ManagedPhase)
def close(request: ApiRequest, slug: str, pk: int) -> Any:
    return managed_phase_json(close_phase(phase=managed_phase(request, slug, pk), actor=request.auth.person))


@operations.post(
    f"{ONE}/split/",
    "splitPhase",
    _("문항 다시 나누기"),
    shown.ManagedPhase,
    says=_(
        "정답이 새 판이 됩니다. 제출이 있으면 replaces가 있어야 하며, 그 점수는 재채점할 때까지 순위표에서 빠집니다."
    ),
)
def split(request: ApiRequest, slug: str, pk: int, data: shown.Split) -> Any:
    found = managed_phase(request, slug, pk)
    split_again(phase=found, actor=request.auth.person, public_ids=data.public_ids, replace_in_use=data.replaces)
    return managed_phase_json(managed_phase(request, slug, pk))


@operations.get(f"{ONE}/final-board/", "previewFinalBoard", _("지금 발표하면 나올 최종 순위표"), shown.FinalPreview)
def final_preview(request: ApiRequest, slug: str, pk: int) -> Any:
    found = managed_phase(request, slug, pk, Permission.VIEW_HIDDEN)
    final = final_board(found)
    rows = [
        {
            "rank": row.rank,
            "team": row.run.submission.team.name,
            "submission": row.run.submission.public_id,
            "final_score": row.final_score,
            "scores": row.scores,
            "submission_count": row.submission_count,
            "public_rank": row.public_rank,
            "public_score": row.public_score,
        }
        for row in final.rows
    ]
    return {"rows": rows, "excluded_count": final.excluded_count, "unfinished": unfinished_count(found)}


@operations.post(
    f"{ONE}/final-board/",
    "publishFinalBoard",
    _("최종 순위표 발표"),
    shown.PublishedBoard,
    status=201,
    says=_("confirm에 단계의 주소 이름을 적습니다. 문항을 나눈 단계는 발표하면 비공개 문항의 점수를 누구나 봅니다."),
)
def publish(request: ApiRequest, slug: str, pk: int, data: shown.FinalPublication) -> Any:
    found = managed_phase(request, slug, pk)
    require_confirmed(found, data.confirm)
    made = publish_final_board(phase=found, actor=request.auth.person, note_ko=data.note_ko, note_en=data.note_en)
    return {
        "snapshot": made.number,
        "sha256": made.sha256,
        "rows": len(made.rows),
        "published_at": made.published_at,
    }


@operations.delete(f"{ONE}/", "removePhase", _("아무것도 없는 단계 지우기"))
def remove(request: ApiRequest, slug: str, pk: int) -> Any:
    remove_phase(phase=managed_phase(request, slug, pk), actor=request.auth.person)


def require_confirmed(phase: Phase, word: str) -> None:
    """Raises ``FieldsInvalid`` unless ``word`` is the slug of ``phase``."""
    if word != phase.slug:
        raise FieldsInvalid(
            [
                FieldError(
                    "body.confirm", fitted(gettext("‘%(word)s’을(를) 그대로 적어야 합니다.") % {"word": phase.slug})
                )
            ]
        )


def managed_phase_json(phase: Phase) -> dict[str, Any]:
    current = next((each for each in phase.reference_versions.all() if each.is_current), None)
    names = set(shown.ManagedPhase.model_fields) - {
        *("id", "track", "min_interval_seconds", "score_step", "references", "items", "public_items"),
    }
    return {name: getattr(phase, name) for name in names} | {
        "id": phase.pk,
        "track": phase.track.slug,
        "min_interval_seconds": seconds(phase.min_interval),
        "score_step": phase.score_step and float(phase.score_step),
        "references": current and current.number,
        "items": current and current.item_count,
        "public_items": len(current.public_ids) if current and current.public_ids is not None else None,
    }
