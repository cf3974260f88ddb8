"""Stages of a track's final: settings, entered tables that a second person confirms, publication."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_noop as _

from malpan.api.frame import ApiRequest
from malpan.api.manage.access import MANAGE, ManageOperations, managed, managed_track
from malpan.api.schemas.manage import stages as shown
from malpan.arena.models import Campaign
from malpan.competitions.models import Track
from malpan.competitions.permissions import Permission
from malpan.competitions.selectors import tracks_of
from malpan.stages import entering, publishing, selectors, services
from malpan.stages.contents import Content, final_content, stage_content
from malpan.stages.errors import StageSettingsInvalid
from malpan.stages.models import Stage, StageSnapshot, StageTable

operations = ManageOperations(_("운영: 심사"))
ONE = f"{MANAGE}/stages/{{int:pk}}"
STANDING = f"{MANAGE}/tracks/{{slug:track}}/standing"
SEEN = _(
    "sha256은 미리보기에서 받은 값이며, 그사이 결과가 달라졌으면 발표하지 않습니다. 정정에는 note_ko가 있어야 합니다."
)


@operations.get(f"{MANAGE}/stages/", "listStages", _("모든 트랙의 심사"), list[shown.ManagedStage])
def stage_list(request: ApiRequest, slug: str) -> Any:
    competition = managed(request, slug, Permission.VIEW)
    return [_stage(state) for track in tracks_of(competition) for state in selectors.states_of(track)]


@operations.post(
    f"{MANAGE}/tracks/{{slug:track}}/stages/",
    "createStage",
    _("심사를 맨 뒤에 더하기"),
    shown.OneStage,
    status=201,
    says=_(
        "첫 심사는 phase의 최종 순위표를, 그 뒤의 심사는 campaign의 결과나 입력한 점수표를 읽습니다. 그 심사에 맞지 "
        "않는 값(첫 심사의 campaign, 그 뒤 심사의 phase, 점수표가 아닌 심사의 scale)은 거절합니다."
    ),
)
def new_stage(request: ApiRequest, slug: str, track: str, data: shown.NewStage) -> Any:
    found = managed_track(request, slug, track)
    return _one(services.create_stage(track=found, actor=request.auth.person, **_values(data, found)))


@operations.get(f"{ONE}/", "getStage", _("심사 하나의 설정과 상태"), shown.OneStage)
def stage(request: ApiRequest, slug: str, pk: int) -> Any:
    return _one(_managed(request, slug, pk, Permission.VIEW))


@operations.patch(f"{ONE}/", "updateStage", _("심사의 설정 고치기"), shown.OneStage, says=_("보낸 항목만 바뀝니다."))
def change(request: ApiRequest, slug: str, pk: int, data: shown.StageSettings) -> Any:
    found = _managed(request, slug, pk)
    return _one(services.update_stage(stage=found, actor=request.auth.person, **_values(data, found.track)))


@operations.delete(f"{ONE}/", "removeStage", _("점수표와 결과가 없는 마지막 심사 지우기"))
def remove(request: ApiRequest, slug: str, pk: int) -> Any:
    services.remove_stage(stage=_managed(request, slug, pk), actor=request.auth.person)


# --- tables of scores -------------------------------------------------------------------------------------------------
@operations.get(
    f"{ONE}/teams/",
    "listStageTeams",
    _("점수를 입력할 팀과 지금까지의 점수"),
    list[shown.EnteredScore],
    may_conflict=True,
)
def teams(request: ApiRequest, slug: str, pk: int) -> Any:
    found = _managed(request, slug, pk)
    scores = selectors.scores_of(selectors.newest_table(found))
    return [_score(each.number, each.name, scores.get(each.number)) for each in entering.teams_to_score(found)]


@operations.get(f"{ONE}/table/", "getStageTable", _("가장 새 점수표"), shown.EnteredTable, may_conflict=True)
def table(request: ApiRequest, slug: str, pk: int) -> Any:
    found = _managed(request, slug, pk, Permission.VIEW_HIDDEN)
    return _table(selectors.require_table(found), request)


@operations.post(
    f"{ONE}/table/preview/",
    "previewStageTable",
    _("점수표에서 바뀔 점수: 저장하지 않음"),
    list[shown.ScoreChange],
    is_once=False,
)
def preview_table(request: ApiRequest, slug: str, pk: int, data: shown.TableText) -> Any:
    changes = entering.preview_table(_managed(request, slug, pk), data.text)
    return [
        {
            "team_number": each.number,
            "team": each.name,
            "before": each.before,
            "after": each.after,
            "is_changed": each.is_changed,
        }
        for each in changes
    ]


@operations.post(
    f"{ONE}/table/",
    "enterStageTable",
    _("점수표 입력"),
    shown.EnteredTable,
    status=201,
    says=_("다른 운영자가 확인해야 발표할 수 있습니다. 고친 점수표에는 reason이 있어야 합니다."),
)
def enter(request: ApiRequest, slug: str, pk: int, data: shown.NewTable) -> Any:
    made = entering.enter_table(
        stage=_managed(request, slug, pk),
        text=data.text,
        actor=request.auth.person,
        based_on=data.based_on,
        reason=data.reason,
    )
    return _table(made, request)


@operations.post(f"{ONE}/confirm/", "confirmStageTable", _("다른 사람이 입력한 점수표 확인"), shown.EnteredTable)
def confirm(request: ApiRequest, slug: str, pk: int, data: shown.SeenTable) -> Any:
    decision = entering.confirm_table(
        stage=_managed(request, slug, pk), number=data.number, sha256=data.sha256, actor=request.auth.person
    )
    return _table(decision.table, request)


@operations.post(f"{ONE}/reject/", "rejectStageTable", _("다른 사람이 입력한 점수표 돌려보내기"), shown.EnteredTable)
def reject(request: ApiRequest, slug: str, pk: int, data: shown.Rejection) -> Any:
    decision = entering.reject_table(
        stage=_managed(request, slug, pk),
        number=data.number,
        sha256=data.sha256,
        reason=data.reason,
        actor=request.auth.person,
    )
    return _table(decision.table, request)


# --- publication ------------------------------------------------------------------------------------------------------
@operations.get(
    f"{ONE}/result/", "previewStage", _("지금 발표하면 나올 심사 결과"), shown.PreviewedResult, may_conflict=True
)
def preview(request: ApiRequest, slug: str, pk: int) -> Any:
    found = _managed(request, slug, pk, Permission.VIEW_HIDDEN)
    return _previewed(stage_content(found), selectors.newest_snapshot(found))


@operations.post(f"{ONE}/result/", "publishStage", _("심사 결과 발표"), shown.PublishedResult, status=201, says=SEEN)
def publish(request: ApiRequest, slug: str, pk: int, data: shown.ResultPublication) -> Any:
    found = _managed(request, slug, pk)
    return _publication(
        publishing.publish_stage(
            stage=found, actor=request.auth.person, sha256=data.sha256, note_ko=data.note_ko, note_en=data.note_en
        )
    )


@operations.get(
    f"{STANDING}/", "previewStanding", _("지금 발표하면 나올 종합 결과"), shown.PreviewedResult, may_conflict=True
)
def standing(request: ApiRequest, slug: str, track: str) -> Any:
    found = managed_track(request, slug, track, Permission.VIEW_HIDDEN)
    return _previewed(final_content(found), selectors.newest_final(found))


@operations.post(f"{STANDING}/", "publishStanding", _("종합 결과 발표"), shown.PublishedResult, status=201, says=SEEN)
def publish_standing(request: ApiRequest, slug: str, track: str, data: shown.ResultPublication) -> Any:
    found = managed_track(request, slug, track)
    return _publication(
        publishing.publish_final(
            track=found, actor=request.auth.person, sha256=data.sha256, note_ko=data.note_ko, note_en=data.note_en
        )
    )


def _managed(request: ApiRequest, slug: str, pk: int, permission: Permission = Permission.MANAGE) -> Stage:
    """Raises as ``managed``, and ``StageNotFound``."""
    return selectors.stage_of(managed(request, slug, permission), pk)


def _values(data: shown.StageSettings, track: Track) -> dict[str, Any]:
    """The settings as the services take them. Raises ``StageSettingsInvalid`` for what is of another track."""
    values = data.given()
    for name, rows in (("phase", track.phases.all()), ("campaign", Campaign.objects.filter(track=track))):
        if values.get(name) is not None:
            values[name] = rows.filter(pk=values[name]).first()
            if values[name] is None:
                raise StageSettingsInvalid(name, name)
    return values


def _stage(state: selectors.StageState) -> dict[str, Any]:
    found = state.stage
    names = set(shown.ManagedStage.model_fields) - {
        *("id", "track", "phase", "campaign", "is_open", "table_state", "published", "is_behind"),
    }
    return {name: getattr(found, name) for name in names} | {
        "id": found.pk,
        "track": found.track.slug,
        "phase": found.phase_id,
        "campaign": found.campaign_id,
        "is_open": state.is_open,
        "table_state": state.table_state,
        "published": state.snapshot and state.snapshot.number,
        "is_behind": state.is_behind,
    }


def _one(found: Stage) -> dict[str, Any]:
    state = next(each for each in selectors.states_of(found.track) if each.stage.pk == found.pk)
    return _stage(state) | {
        "tables": [_version(each) for each in selectors.tables_of(found)],
        "publications": [_publication(each) for each in selectors.snapshots_of(found)],
    }


def _version(found: StageTable) -> dict[str, Any]:
    decision = selectors.decision_of(found)
    return {name: getattr(found, name) for name in ("number", "sha256", "reason", "created_at")} | {
        "entered_by": str(found.entered_by),
        "verdict": decision and decision.verdict,
        "verdict_reason": decision.reason if decision else "",
        "decided_by": decision and str(decision.decided_by),
        "decided_at": decision and decision.created_at,
    }


def _table(found: StageTable, request: ApiRequest) -> dict[str, Any]:
    scores = selectors.scores_of(found)
    names = selectors.team_names(found.stage.track.competition, scores)
    return _version(found) | {
        "is_own": found.entered_by_id == request.auth.person.pk,
        "scores": [_score(number, names.get(number, ""), score) for number, score in scores.items()],
    }


def _score(number: int, team: str, score: float | None) -> dict[str, Any]:
    return {"team_number": number, "team": team, "score": score}


def _previewed(content: Content, last: StageSnapshot | None) -> dict[str, Any]:
    return {
        "sha256": content.sha256,
        "published": last and last.number,
        "is_published_so": last is not None and last.sha256 == content.sha256,
        "rule": content.rule,
        "rows": content.rows,
    }


def _publication(found: StageSnapshot) -> dict[str, Any]:
    names = ("number", "sha256", "note_ko", "note_en", "published_at")
    return {name: getattr(found, name) for name in names} | {
        "rows": len(found.rows),
        "published_by": str(found.published_by),
    }
