"""What an erasure is about to do, in words: for the operator who does it for somebody."""

from __future__ import annotations

from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, override

from malpan.accounts.models import User
from malpan.core.messages import text_of
from malpan.core.times import kst_text
from malpan.privacy.erasing import obstacles, teams_affected
from malpan.privacy.holdings import Fate, addresses_of, counted

BECOMES: Final[dict[str, Promise]] = {
    "stays": gettext_lazy("팀의 기록은 그대로 남고, 구성원 가운데 이 사람은 ‘탈퇴한 사람’으로 보입니다."),
    "left": gettext_lazy("팀에서 나갑니다. 팀과 팀의 제출은 그대로입니다."),
    "alone": gettext_lazy(
        "혼자인 팀입니다. 제출과 순위는 그대로 남지만 아무도 더 제출하거나 최종 제출을 고를 수 없고, 상을 받을 사람을 "
        "확인할 수 없습니다."
    ),
    "removed": gettext_lazy("혼자이고 제출한 파일이 없는 팀이므로 팀을 없앱니다."),
}


def preview(user: User) -> str:
    """Who it is, what goes, what stays and what becomes of their teams, in Korean and then in English."""
    texts = []
    for language in ("ko", "en"):
        with override(language):
            texts.append("\n".join(_lines(user)))
    return "\n\n".join(texts)


def _lines(user: User) -> list[str]:
    who = {"number": user.pk, "name": user.name, "addresses": ", ".join(sorted(addresses_of(user)))}
    lines = [
        _("%(number)d번 %(name)s (%(addresses)s)의 개인정보를 지웁니다.") % who,
        _("가입 %(at)s") % {"at": kst_text(user.date_joined)},
        _("마지막 로그인 %(at)s") % {"at": kst_text(user.last_login) if user.last_login else "–"},
        _("지워지는 것"),
        *(f"- {subject.what}: {count}" for subject, count in counted(user, Fate.REMOVED)),
        "- " + _("모든 기기의 로그인"),
        "- " + _("이 사람이 쓴 문의, 메모, 파일 이름에 든 이름과 이메일(***로 바뀝니다)"),
        _("‘탈퇴한 사람’의 것으로 남는 것"),
        *(f"- {subject.what}: {count}" for subject, count in counted(user, Fate.UNNAMED)),
        "- " + _("팀 이름, 제출한 파일의 내용, 점수, 순위표, 해시 사슬"),
    ]
    for team, becomes in teams_affected(user):
        lines.append(f"{team.name} ({team.competition.title}): {BECOMES[becomes]}")
    for obstacle in obstacles(user):
        lines.append(_("--force로 넘기는 것: %(what)s") % {"what": text_of(obstacle)})
    return lines
