"""The menu of the manage pages: one page above four groups, with how much waits on a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from malpan.competitions.permissions import Permission


@dataclass(frozen=True, slots=True)
class Entry:
    url_name: str
    label: str | Promise
    permission: Permission = Permission.VIEW


@dataclass(frozen=True, slots=True)
class Section:
    """A group of entries; without a label it is the first page alone."""

    label: str | Promise
    entries: tuple[Entry, ...]


MENU: Final = (
    Section("", (Entry("manage_overview", _("한눈에")),)),
    Section(
        _("준비"),
        (
            Entry("manage_setup", _("대회 설정"), Permission.MANAGE),
            Entry("manage_phases", pgettext_lazy("list", "단계")),
            Entry("manage_references", pgettext_lazy("list", "정답 판")),
            Entry("manage_roles", pgettext_lazy("list", "역할"), Permission.OWN),
        ),
    ),
    Section(
        _("운영"),
        (
            Entry("manage_teams", pgettext_lazy("list", "팀")),
            Entry("manage_quota", _("제출 횟수")),
            Entry("manage_notices", _("공지")),
            Entry("manage_questions", _("문의와 답변")),
            Entry("manage_webhooks", _("웹훅"), Permission.MANAGE),
        ),
    ),
    Section(
        pgettext_lazy("menu", "채점"),
        (
            Entry("manage_runs", _("채점 현황")),
            Entry("manage_submissions", pgettext_lazy("list", "제출")),
            Entry("manage_figures", _("문항과 지표")),
            Entry("manage_duplicates", _("중복")),
            Entry("manage_rescoring", _("재채점")),
            Entry("manage_arena", _("사람 평가")),
            Entry("manage_stages", pgettext_lazy("menu", "심사")),
            Entry("manage_awards", _("시상")),
        ),
    ),
    Section(
        _("기록"),
        (
            Entry("manage_audit", _("감사 로그")),
            Entry("manage_archive", _("보관"), Permission.OWN),
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Link:
    """An entry as a reader sees it. ``count``: what waits there."""

    name: str
    label: str | Promise
    href: str
    count: int
