"""Reference versions: uploaded, compared, published. Their files are never given back."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_noop as _

from malpan.api.frame import ApiRequest
from malpan.api.manage.access import MANAGE, ManageOperations, managed, managed_phase
from malpan.api.reading import Form, uploaded_form
from malpan.api.schemas.manage import references as shown
from malpan.competitions import drafts
from malpan.competitions.models import Competition, Phase, ReferenceVersion
from malpan.competitions.permissions import Permission
from malpan.competitions.reference_diff import ItemChange
from malpan.competitions.references import load_references, recipe_of
from malpan.competitions.synonyms import chosen
from malpan.core.errors import AddressNotFound
from malpan.core.language import reader_language
from malpan.core.text import MARKDOWN_MAX_CHARS
from malpan.submissions.scoring_changes import publish_draft, publish_reference_version
from scoring.recipes import warning_text

operations = ManageOperations(_("운영: 정답 판"))
OF_PHASE = f"{MANAGE}/phases/{{int:pk}}/references"
ONE = f"{MANAGE}/references/{{int:pk}}"


def _form(*texts: str) -> dict[str, Any]:
    files = ("file", "frames", "synonyms")
    properties: dict[str, Any] = {name: {"type": "string", "format": "binary"} for name in files}
    properties |= {name: {"type": "string"} for name in texts}
    properties["built_in_synonyms"] = {"type": "string", "enum": ["true", "false"]}
    schema = {"type": "object", "required": ["file"], "properties": properties}
    return {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}}}


@operations.get(f"{MANAGE}/references/", "listReferences", _("모든 정답 판"), list[shown.ReferenceVersion])
def versions(request: ApiRequest, slug: str) -> Any:
    competition = managed(request, slug, Permission.VIEW)
    rows = ReferenceVersion.objects.filter(phase__track__competition=competition).order_by("phase", "-number")
    return [_version(each) for each in rows]


@operations.post(
    f"{OF_PHASE}/",
    "uploadReferences",
    _("정답을 올려 바로 반영"),
    shown.ReferenceVersion,
    status=201,
    extra=_form("note"),
    says=_("제출이 있는 단계에서는 초안으로 올려 재채점으로 반영합니다. 파일은 다시 내려받을 수 없습니다."),
)
def upload(request: ApiRequest, slug: str, pk: int) -> Any:
    phase = managed_phase(request, slug, pk)
    form = uploaded_form(request)
    made = publish_reference_version(
        phase=phase,
        data=form.file("file").read(),
        media=form.optional_file("frames"),
        synonyms=_synonyms(form),
        note=form.text("note"),
        actor=request.auth.person,
    )
    return _with_warnings(made)


@operations.post(
    f"{OF_PHASE}/drafts/",
    "draftReferences",
    _("정답을 초안으로 올리기"),
    shown.ReferenceVersion,
    status=201,
    extra=_form("note", "erratum_ko", "erratum_en"),
    says=_("아직 아무 점수에도 쓰지 않습니다. erratum은 반영할 때 공지로 올라갈 글입니다."),
)
def draft(request: ApiRequest, slug: str, pk: int) -> Any:
    phase: Phase = managed_phase(request, slug, pk)
    form: Form = uploaded_form(request)
    made = drafts.create_draft(
        phase=phase,
        data=form.file("file").read(),
        media=form.optional_file("frames"),
        synonyms=_synonyms(form),
        note=form.text("note"),
        erratum_ko=form.text("erratum_ko", MARKDOWN_MAX_CHARS),
        erratum_en=form.text("erratum_en", MARKDOWN_MAX_CHARS),
        actor=request.auth.person,
    )
    return _with_warnings(made)


@operations.get(
    f"{ONE}/diff/",
    "diffReferences",
    _("지금 판과 달라진 정답"),
    shown.ReferenceDiff,
    says=_("정답이 들어 있습니다. 정답을 볼 권한이 있어야 합니다."),
)
def diff(request: ApiRequest, slug: str, pk: int) -> Any:
    version = _one(managed(request, slug, Permission.VIEW_ANSWERS), pk)
    found = drafts.open_diff(version=version, actor=request.auth.person)
    return {
        "changed": [_change(each) for each in found.changed],
        "added": [_change(each) for each in found.added],
        "removed": [_change(each) for each in found.removed],
        "unchanged_count": found.unchanged_count,
    }


@operations.patch(f"{ONE}/", "editErratum", _("초안의 정오 안내 고치기"), shown.ReferenceVersion)
def erratum(request: ApiRequest, slug: str, pk: int, data: shown.Erratum) -> Any:
    version = _one(managed(request, slug, Permission.MANAGE), pk)
    return _version(
        drafts.edit_erratum(
            version=version, erratum_ko=data.erratum_ko, erratum_en=data.erratum_en, actor=request.auth.person
        )
    )


@operations.post(
    f"{ONE}/publish/",
    "publishReferences",
    _("제출이 없는 단계의 초안을 반영"),
    shown.ReferenceVersion,
)
def publish(request: ApiRequest, slug: str, pk: int) -> Any:
    version = _one(managed(request, slug, Permission.MANAGE), pk)
    publish_draft(version=version, actor=request.auth.person)
    return _version(_one(managed(request, slug, Permission.MANAGE), pk))


@operations.delete(f"{ONE}/", "discardReferences", _("쓰지 않은 초안 지우기"))
def discard(request: ApiRequest, slug: str, pk: int) -> Any:
    drafts.discard_draft(version=_one(managed(request, slug, Permission.MANAGE), pk), actor=request.auth.person)


def _synonyms(form: Form) -> bytes | None:
    file = form.optional_file("synonyms")
    return chosen(None if file is None else file.read(), built_in=form.text("built_in_synonyms") == "true")


def _one(competition: Competition, pk: int) -> ReferenceVersion:
    rows = ReferenceVersion.objects.select_related("phase__track__competition")
    version = rows.filter(phase__track__competition=competition, pk=pk).first()
    if version is None:
        raise AddressNotFound
    return version


def _version(found: ReferenceVersion) -> dict[str, Any]:
    names = ("number", "item_count", "note", "erratum_ko", "erratum_en", *ReferenceVersion.FILES)
    state = "current" if found.is_current else "draft" if found.published_at is None else "past"
    return {name: getattr(found, name) for name in names} | {
        "id": found.pk,
        "phase": found.phase_id,
        "state": state,
        "public_items": None if found.public_ids is None else len(found.public_ids),
        "created_at": found.created_at,
        "published_at": found.published_at,
    }


def _with_warnings(found: ReferenceVersion) -> dict[str, Any]:
    """With what its scores will warn of."""
    track = found.phase.track
    warnings = recipe_of(track).file_warnings(load_references(found, track.recipe), None)
    return _version(found) | {"warnings": [warning_text(each, reader_language()) for each in warnings]}


def _change(change: ItemChange) -> dict[str, Any]:
    return {"id": change.id, "question": change.question, "old": list(change.old), "new": list(change.new)}
