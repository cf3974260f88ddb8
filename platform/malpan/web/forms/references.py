"""Forms of reference versions. They check the format; the services decide."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, cast

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from malpan.competitions.errors import SynonymsRejected
from malpan.competitions.media import reads_media
from malpan.competitions.models import Phase
from malpan.competitions.synonyms import chosen, reads_synonyms
from malpan.core.messages import text_of
from malpan.core.text import NOTICE_PART_MAX_CHARS
from malpan.web.forms.fields import FILE_REQUIRED, PhaseField, markdown_area, with_limit

FRAMES_LABEL: Final = _("프레임 파일(zip)")


class SynonymsForm(forms.Form):
    """What both forms have of the table of synonyms. The cleaned ``synonyms`` are bytes; ``None``: as they are now."""

    synonyms = forms.FileField(
        label=_("유의어 표(TSV)"),
        required=False,
        help_text=_(
            "METEOR가 같은 뜻으로 볼 낱말입니다: 묶음, 낱말, 품사, 출처를 탭으로 나눈 줄. 비우면 지금 쓰는 표를 그대로 "
            "씁니다. 참가자도 같은 값을 계산할 수 있게 자료로도 공개해 주십시오."
        ),
    )
    built_in_synonyms = forms.BooleanField(label=_("말판의 기본 유의어 표로 되돌림"), required=False)

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        returns, file = values.pop("built_in_synonyms", False), values.pop("synonyms", None)
        try:
            return values | {"synonyms": chosen(None if file is None else file.read(), built_in=returns)}
        except SynonymsRejected as error:
            self.add_error("synonyms", text_of(error))
            return values


class ReferencesForm(SynonymsForm):
    file = forms.FileField(
        label=_("정답 파일"),
        help_text=_(
            "채점에 쓰며, 파일은 다시 내려받을 수 없습니다. 정답을 볼 수 있는 사람에게는 ‘정답 판’에서 다른 판과 "
            "달라진 정답이 보입니다."
        ),
    )
    frames = forms.FileField(
        label=FRAMES_LABEL,
        required=False,
        help_text=_("CLIPScore에 쓸 이미지입니다. 이미지를 보지 않는 채점 방식이면 비워 두십시오."),
    )
    note = forms.CharField(label=_("메모"), max_length=300, required=False)

    def __init__(self, *args: Any, phase: Phase, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _fit(self, [phase])


class DraftForm(SynonymsForm):
    phase = PhaseField(Phase.objects.none(), label=_("단계"), empty_label=None)
    file = forms.FileField(
        label=_("정답 파일"),
        help_text=_(
            "초안으로 저장하며 아직 아무 점수에도 쓰지 않습니다. 파일은 다시 내려받을 수 없습니다. 정답을 볼 수 있는 "
            "사람에게는 지금 판과 달라진 정답이 보입니다."
        ),
        error_messages=FILE_REQUIRED,
        allow_empty_file=True,  # an empty file is rejected with a located message, not reported as missing
    )
    frames = forms.FileField(
        label=FRAMES_LABEL,
        required=False,
        help_text=_("CLIPScore에 쓸 이미지를 바꿀 때만 올립니다. 비우면 지금 이미지를 그대로 씁니다."),
    )
    note = forms.CharField(label=_("메모"), max_length=300, required=False, help_text=_("운영자만 봅니다."))
    erratum_ko = forms.CharField(
        label=_("정오 안내"),
        max_length=NOTICE_PART_MAX_CHARS,
        required=False,
        widget=markdown_area(4),
        help_text=_("반영할 때 공지로 올라갑니다. 무엇을 왜 고쳤는지 적되, 아직 쓰는 정답은 적지 마십시오."),
    )
    erratum_en = forms.CharField(
        label=_("정오 안내(영어)"), max_length=NOTICE_PART_MAX_CHARS, required=False, widget=markdown_area(4)
    )

    def __init__(self, *args: Any, phases: QuerySet[Phase], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        cast("PhaseField", self.fields["phase"]).queryset = phases
        _fit(self, phases)


def _fit(form: forms.Form, phases: Iterable[Phase]) -> None:
    """State the limit of the upload; offer frames and synonyms only where a recipe reads them, after the references."""
    with_limit(form.fields["file"])
    if not any(reads_media(phase.track) for phase in phases):
        del form.fields["frames"]
    names = ["synonyms", "built_in_synonyms"]
    if not any(reads_synonyms(phase.track) for phase in phases):
        for name in names:
            del form.fields[name]
    form.order_fields([name for name in ("phase", "file", "frames", *names) if name in form.fields])


class ErratumForm(forms.Form):
    erratum_ko = forms.CharField(
        label=_("정오 안내"), max_length=NOTICE_PART_MAX_CHARS, required=False, widget=markdown_area(4)
    )
    erratum_en = forms.CharField(
        label=_("정오 안내(영어)"), max_length=NOTICE_PART_MAX_CHARS, required=False, widget=markdown_area(4)
    )
