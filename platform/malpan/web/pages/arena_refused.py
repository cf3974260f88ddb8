"""What a judge sent and the site did not take: their own words to read and copy, with what happened, by whose doing,
and what to do next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from malpan.arena.errors import (
    AssignmentVoid,
    CalibrationMissing,
    CampaignNotOpen,
    CampaignTimeOver,
    ConsentMissing,
    JudgeIsOrganiser,
    JudgementElsewhere,
    JudgeRemoved,
)
from malpan.arena.models import Assignment, CampaignJudge
from malpan.arena.queue import texts_of
from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.web.pages.context import MemberRequest
from malpan.web.presenters.arena_sheet import sheet_of, words_of


@dataclass(frozen=True, slots=True)
class Refusal:
    """By whose doing something was refused, what to do next, and the page or the POST that leads there."""

    why: Promise
    advice: Promise
    link: Promise
    to: str  # the name of an address


_COPY: Final = _("꼭 남겨야 할 말이 있으면 아래 글을 복사하여 운영자에게 보내 주십시오.")
_ANEW: Final = Refusal(
    _("보내는 동안 이 문항의 상태가 바뀌었습니다."),
    _("문항을 다시 열어 지금의 상태를 보고, 필요하면 아래 글을 옮겨 다시 보내 주십시오."),
    _("이 문항 다시 열기"),
    "arena_assignment",
)
REFUSALS: Final[Mapping[type[DomainError], Refusal]] = {
    CampaignNotOpen: Refusal(
        _("운영자가 이 판단이 도착하기 전에 평가를 마감했습니다. 평가자의 잘못이 아니고, 사이트의 고장도 아닙니다."),
        _COPY,
        _("평가 화면으로"),
        "arena_campaign",
    ),
    CampaignTimeOver: Refusal(
        _("운영자가 정한 마감 시각이 지난 뒤에 도착했습니다. 사이트의 고장은 아닙니다."),
        _("운영자가 마감을 늦추면 이 문항을 다시 열어 아래 글을 옮겨 보낼 수 있습니다. 그때까지 복사해 두십시오."),
        _("평가 화면으로"),
        "arena_campaign",
    ),
    ConsentMissing: Refusal(
        _("문항을 보는 동안 운영자가 안내나 지침을 바꾸었습니다. 평가자의 잘못이 아닙니다."),
        _("바뀐 안내를 읽고 다시 동의한 뒤 이 문항을 이어서 판단해 주십시오."),
        _("안내와 지침 읽기"),
        "arena_campaign",
    ),
    JudgementElsewhere: Refusal(
        _("같은 계정으로 연 다른 창이나 기기에서 먼저 보낸 판단이 있어, 그것을 덮어쓰지 않았습니다."),
        _("이미 보낸 판단을 보고, 아래 글이 맞으면 옮겨서 고쳐 주십시오."),
        _("이미 보낸 판단 보기"),
        "arena_assignment",
    ),
    AssignmentVoid: Refusal(
        _("그사이 이 문항이 평가에서 빠지거나 다른 평가자에게 옮겨졌습니다. 평가자의 잘못이 아닙니다."),
        _COPY,
        _("다음 문항으로"),
        "arena_queue",
    ),
    CalibrationMissing: Refusal(
        _("연습을 마치기 전에 보냈습니다. 고장이 아닙니다."),
        _("연습을 마치면 이 문항이 다시 나옵니다."),
        _("연습 문항으로"),
        "arena_queue",
    ),
    JudgeRemoved: Refusal(
        _("운영자가 이 판단이 도착하기 전에 평가자 목록을 바꾸었습니다. 사이트의 고장이 아닙니다."),
        _COPY,
        _("내 평가 목록으로"),
        "arena",
    ),
    JudgeIsOrganiser: Refusal(
        _("그사이 이 대회의 운영을 맡게 되었습니다. 사이트의 고장이 아닙니다."),
        _COPY,
        _("내 평가 목록으로"),
        "arena",
    ),
}


def refused_page(
    request: MemberRequest,
    judge: CampaignJudge,
    assignment: Assignment,
    error: DomainError,
    *,
    entered: Mapping[str, Any],
    is_kept: bool,
) -> HttpResponse:
    """The page with the status of ``error``. It shows nothing of the assignment but what the judge ``entered``;
    ``is_kept``: as a draft as well.
    """
    refusal = REFUSALS.get(type(error), _ANEW)
    places = {"arena": [], "arena_assignment": [judge.campaign_id, assignment.shown_key]}
    context = {
        "campaign": judge.campaign,
        "text": text_of(error),
        "refusal": refusal,
        "to": reverse(refusal.to, args=places.get(refusal.to, [judge.campaign_id])),
        "is_post": refusal.to == "arena_queue",
        "words": words_of(sheet_of(assignment, texts_of(assignment), entered), request.POST.get("note", "")),
        "is_kept": is_kept,
    }
    return render(request, "pages/arena_refused.html", context, status=error.http_status)
