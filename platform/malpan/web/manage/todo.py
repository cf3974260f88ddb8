"""What organisers do next once a competition comes to its end: final boards, human evaluations, awards."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from malpan.arena.progress import counts_of
from malpan.arena.selectors import campaigns_of
from malpan.competitions.permissions import Permission
from malpan.stages.awarded import awards_of
from malpan.stages.placings import final_result
from malpan.submissions.overview_selectors import phases_to_publish
from malpan.web.manage.access import ManageAccess
from malpan.web.presenters.arena_manage import next_step


@dataclass(frozen=True, slots=True)
class Todo:
    """A step in words. ``href``: the page for it, empty for who may not take it. ``is_quiet``: it may be left out."""

    text: str
    href: str
    about: str = ""
    is_quiet: bool = False


def todo_of(access: ManageAccess) -> list[Todo]:
    """The steps in the order in which they are taken."""
    return [*_boards(access), *_campaigns(access), *_awards(access)]


def _href(access: ManageAccess, name: str, *args: int) -> str:
    return access.url(name, *args) if access.may(Permission.MANAGE) else ""


def _boards(access: ManageAccess) -> list[Todo]:
    found = []
    for phase in phases_to_publish(access.competition):
        href = _href(access, "manage_phase", phase.pk)
        about = f"{phase.track.title} {phase.title}"
        found.append(Todo(_("최종 순위표를 발표할 수 있습니다."), f"{href}?show=final#final" if href else "", about))
    return found


def _campaigns(access: ManageAccess) -> list[Todo]:
    campaigns = campaigns_of(access.competition)
    counts = counts_of(campaigns)
    steps = [(each, next_step(each, counts[each.pk])) for each in campaigns]
    return [Todo(step.text, _href(access, step.url_name, each.pk), each.title) for each, step in steps if step.is_due]


def _awards(access: ManageAccess) -> list[Todo]:
    """Once for all tracks, and only until there is an award."""
    has_result = any(final_result(track) for track in access.competition.tracks.all())
    if not has_result or awards_of(access.competition).exists():
        return []
    text = _("최종 결과를 발표했으니 시상할 수 있습니다.")
    return [Todo(text, _href(access, "manage_awards"), is_quiet=True)]
