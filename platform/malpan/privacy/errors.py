"""Errors about closing an account: what has to be settled first."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from malpan.core.errors import Conflict


class LeadsOthers(Conflict):
    """The person leads a team with other members in a competition that is not over. Params: ``team``, ``slug``."""

    text = _(
        "‘%(team)s’ 팀의 팀장이고 다른 팀원이 있습니다. 탈퇴하면 팀을 이끌 사람이 없으므로, 팀 페이지에서 팀장을 "
        "먼저 넘겨 주십시오."
    )


class OwnsAlone(Conflict):
    """The person is the only owner of a competition. Params: ``competition``, ``slug``."""

    text = _(
        "대회 ‘%(competition)s’의 하나뿐인 소유자입니다. 탈퇴하면 대회를 맡을 사람이 없으므로, 운영실의 역할에서 다른 "
        "소유자를 먼저 정해 주십시오."
    )


class OnlyAdministrator(Conflict):
    """The person is the only administrator of the site. Params: none."""

    text = _(
        "이 사이트의 하나뿐인 관리자입니다. 탈퇴하면 사이트를 관리할 사람이 없으므로, 다른 관리자를 먼저 정해 주십시오."
    )
