"""Who judges is told nowhere: what organisers write for the public may not name a judge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from allauth.account.models import EmailAddress

from malpan.arena.errors import JudgeNamed
from malpan.arena.models import Campaign, CampaignJudge, Exclusion
from scoring.arena.blinding import masked

NAME_LEAST: Final = 2  # characters: a shorter name is in every text


def require_nameless(campaign: Campaign, texts: dict[str, str]) -> None:
    """Raise ``JudgeNamed`` if one of ``texts``, by the name of its field, has the name, an address or the institution
    of anybody who was invited to judge in ``campaign``.
    """
    known = list(_known(campaign))
    for field, text in texts.items():
        if (reason := _named(text, known)) is not None:
            raise JudgeNamed(reason, field)


def require_nameless_exclusions(campaign: Campaign) -> None:
    """Raise ``JudgeNamed`` if the reason of an exclusion in force names a judge: somebody may have been invited, or got
    another name, since it was written.
    """
    known = list(_known(campaign))
    reasons = Exclusion.objects.filter(campaign=campaign, lifted_at=None).values_list("reason", flat=True)
    if any(_named(text, known) for text in reasons):
        raise JudgeNamed("exclusion", "result_sha256")


def _known(campaign: Campaign) -> Iterator[tuple[str, str]]:
    """What tells a judge, with its kind, a key of ``JudgeNamed.text``."""
    judges = CampaignJudge.objects.filter(campaign=campaign).select_related("user")
    for judge in judges:
        yield from (("email", judge.email), ("institution", judge.institution))
        if judge.user is not None:
            yield from (("name", judge.user.name), ("email", judge.user.email))
    users = judges.exclude(user=None).values("user")
    for address in EmailAddress.objects.filter(user__in=users, verified=True).values_list("email", flat=True):
        yield ("email", address)


def _named(text: str, known: list[tuple[str, str]]) -> str | None:
    """The kind of the first of ``known`` that is in ``text``."""
    found = (kind for kind, name in known if len(name.strip()) >= NAME_LEAST and masked(text, [name]) != text)
    return next(found, None)
