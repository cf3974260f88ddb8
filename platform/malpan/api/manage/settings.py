"""The set-up of a competition: its texts, tracks, targets and files for download; publishing it."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from malpan.api.errors import FieldError, FieldsInvalid
from malpan.api.frame import ApiRequest
from malpan.api.manage.access import MANAGE, ManageOperations, managed, managed_track
from malpan.api.manage.phases import managed_phase_json
from malpan.api.once import allowed
from malpan.api.reading import uploaded_form
from malpan.api.schemas.competitions import DataFile as ShownFile
from malpan.api.schemas.competitions import data_file
from malpan.api.schemas.manage import settings as shown
from malpan.competitions import setup
from malpan.competitions.checklist import checklist
from malpan.competitions.checklist_facts import facts_of
from malpan.competitions.errors import DataFileNotFound
from malpan.competitions.models import Competition, DataFile, Track
from malpan.competitions.permissions import Permission
from malpan.competitions.profiles import require_offered
from malpan.competitions.selectors import get_competition, tracks_of
from malpan.competitions.services import add_data_file, create_track, update_competition, update_data_file
from malpan.competitions.targets import add_published_targets, set_targets, targets_of
from malpan.submissions.scoring_changes import update_track
from malpan.teams.selectors import competing_with_a_role
from scoring.recipes.targets import Target

operations = ManageOperations(_("운영: 대회 설정"))
TRACK = f"{MANAGE}/tracks/{{slug:track}}"
FILE_FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file", "title_ko"],
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "kind": {"enum": ["data", "sample", "document"], "default": "data"},
                        "title_ko": {"type": "string", "maxLength": 120},
                        "title_en": {"type": "string", "maxLength": 120},
                    },
                }
            }
        },
    }
}


# --- the competition --------------------------------------------------------------------------------------------------
@operations.post(
    "/competitions/",
    "createCompetition",
    _("대회 만들기"),
    shown.Settings,
    status=201,
    url_name="api-competitions",
    says=_("공개하기 전에는 역할을 맡은 사람만 봅니다. 사이트의 대회를 만들 권한이 있어야 합니다."),
)
def create(request: ApiRequest, data: shown.NewCompetition) -> Any:
    setup.require_may_create(request.auth.person)  # first: who may not learns nothing of ``copy_of``
    allowed(request)
    source = get_competition(data.copy_of, include_unpublished=True) if data.copy_of else None
    made = setup.create_owned_competition(
        owner=request.auth.person, slug=data.slug, title_ko=data.title_ko, title_en=data.title_en, copy_of=source
    )
    return _settings(made)


@operations.get(f"{MANAGE}/settings/", "getSettings", _("대회의 모든 설정"), shown.Settings)
def settings(request: ApiRequest, slug: str) -> Any:
    return _settings(managed(request, slug, Permission.MANAGE))


@operations.patch(
    f"{MANAGE}/settings/",
    "updateSettings",
    _("대회의 글과 약관 고치기"),
    shown.Settings,
    says=_("보낸 항목만 바뀝니다. 주소 이름은 공개하기 전에만 바꿀 수 있습니다."),
)
def update(request: ApiRequest, slug: str, data: shown.Texts) -> Any:
    competition = managed(request, slug, Permission.MANAGE)
    fields = data.given()
    if competition.is_published and fields.get("slug", competition.slug) != competition.slug:
        raise FieldsInvalid([FieldError("body.slug", gettext("대회를 공개한 뒤에는 주소 이름을 바꿀 수 없습니다."))])
    if "prize_places" in fields:
        fields["prize_places"] = sorted(set(fields["prize_places"]))
    return _settings(update_competition(competition=competition, actor=request.auth.person, **fields))


@operations.get(f"{MANAGE}/checklist/", "getChecklist", _("공개하기 전에 갖출 것"), shown.Checklist)
def checks(request: ApiRequest, slug: str) -> Any:
    competition = managed(request, slug, Permission.VIEW)
    items = checklist(facts_of(competition, competing_with_a_role(competition).values()))
    listed = [{"code": each.code, "state": each.state, "text": each.text, "place": each.place} for each in items]
    return {"gaps": sum(each.is_gap for each in items), "items": listed}


@operations.post(f"{MANAGE}/publish/", "publishCompetition", _("대회 공개"), shown.Settings)
def publish(request: ApiRequest, slug: str, data: shown.Publishing) -> Any:
    competition = managed(request, slug, Permission.MANAGE)
    return _settings(
        setup.publish_competition(competition=competition, actor=request.auth.person, accepts_gaps=data.accepts_gaps)
    )


@operations.post(f"{MANAGE}/hide/", "hideCompetition", _("대회 감추기"), shown.Settings)
def hide(request: ApiRequest, slug: str) -> Any:
    competition = managed(request, slug, Permission.MANAGE)
    return _settings(setup.hide_competition(competition=competition, actor=request.auth.person))


@operations.delete(f"{MANAGE}/", "removeCompetition", _("트랙과 팀이 없는 감춘 대회 지우기"))
def remove(request: ApiRequest, slug: str) -> Any:
    setup.remove_competition(competition=managed(request, slug, Permission.OWN), actor=request.auth.person)


# --- its tracks -------------------------------------------------------------------------------------------------------
@operations.post(f"{MANAGE}/tracks/", "createTrack", _("트랙 만들기"), shown.ManagedTrack, status=201)
def new_track(request: ApiRequest, slug: str, data: shown.NewTrack) -> Any:
    competition = managed(request, slug, Permission.MANAGE)
    fields = _track_fields(request, data)
    return _track(create_track(actor=request.auth.person, competition=competition, **fields))


@operations.patch(
    f"{TRACK}/",
    "updateTrack",
    _("트랙 고치기"),
    shown.ManagedTrack,
    says=_("점수가 나온 뒤에는 채점 방식과 모델, 종합 순위를 재채점으로 바꿉니다."),
)
def change_track(request: ApiRequest, slug: str, track: str, data: shown.TrackSettings) -> Any:
    found = managed_track(request, slug, track)
    return _track(update_track(track=found, actor=request.auth.person, **_track_fields(request, data, found)))


@operations.delete(f"{TRACK}/", "removeTrack", _("단계가 없는 트랙 지우기"))
def remove_track(request: ApiRequest, slug: str, track: str) -> Any:
    setup.remove_track(track=managed_track(request, slug, track), actor=request.auth.person)


def _track_fields(request: ApiRequest, data: shown.TrackSettings, track: Track | None = None) -> dict[str, Any]:
    fields = data.given()
    if "composite" in fields:
        fields["composite"] = [{"score": each.score, "weight": each.weight} for each in fields["composite"]]
    require_offered(fields.get("profile") or "", request.auth.person, own=track.profile if track else "")
    return fields


@operations.put(f"{TRACK}/targets/", "setTargets", _("기준선과 이정표 정하기"), shown.ManagedTrack)
def targets(request: ApiRequest, slug: str, track: str, data: shown.Targets) -> Any:
    found = managed_track(request, slug, track)
    wanted = [Target(**each.model_dump()) for each in data.targets]
    set_targets(track=found, targets=wanted, actor=request.auth.person)
    return _track(found)


@operations.post(
    f"{TRACK}/targets/published/", "addPublishedTargets", _("알려진 기준선과 이정표 넣기"), shown.ManagedTrack
)
def published_targets(request: ApiRequest, slug: str, track: str, data: shown.PublishedTargets) -> Any:
    found = managed_track(request, slug, track)
    add_published_targets(track=found, actor=request.auth.person, score=data.score)
    return _track(found)


# --- files for download -----------------------------------------------------------------------------------------------
@operations.post(f"{TRACK}/files/", "addDataFile", _("공개 자료 올리기"), ShownFile, status=201, extra=FILE_FORM)
def add_file(request: ApiRequest, slug: str, track: str) -> Any:
    found = managed_track(request, slug, track)
    form = uploaded_form(request)
    upload = form.file("file")
    made = add_data_file(
        track=found,
        kind=form.text("kind") or DataFile.Kind.DATA,
        title_ko=form.text("title_ko"),
        title_en=form.text("title_en"),
        file_name=upload.name or "",
        data=upload,
        actor=request.auth.person,
    )
    return data_file(made)


@operations.patch(f"{MANAGE}/files/{{int:pk}}/", "updateDataFile", _("공개 자료의 이름과 순서 고치기"), ShownFile)
def change_file(request: ApiRequest, slug: str, pk: int, data: shown.FileFacts) -> Any:
    file = _file(managed(request, slug, Permission.MANAGE), pk)
    return data_file(update_data_file(file=file, actor=request.auth.person, **data.given()))


@operations.delete(f"{MANAGE}/files/{{int:pk}}/", "removeDataFile", _("공개 자료 내리기"))
def remove_file(request: ApiRequest, slug: str, pk: int) -> Any:
    setup.remove_data_file(file=_file(managed(request, slug, Permission.MANAGE), pk), actor=request.auth.person)


def _file(competition: Competition, pk: int) -> DataFile:
    file = DataFile.objects.filter(track__competition=competition, pk=pk).select_related("track__competition").first()
    if file is None:
        raise DataFileNotFound
    return file


# --- as they are shown ------------------------------------------------------------------------------------------------
def _settings(competition: Competition) -> dict[str, Any]:
    names = set(shown.Settings.model_fields) - {"tracks"}
    return {name: getattr(competition, name) for name in names} | {
        "tracks": [_track(each) for each in tracks_of(competition)]
    }


def _track(track: Track) -> dict[str, Any]:
    names = set(shown.ManagedTrack.model_fields) - {"targets", "phases"}
    kept = tuple(shown.Target.model_fields)
    return {name: getattr(track, name) for name in names} | {
        "targets": [{name: getattr(each, name) for name in kept} for each in targets_of(track)],
        "phases": [managed_phase_json(each) for each in track.phases.prefetch_related("reference_versions")],
    }
