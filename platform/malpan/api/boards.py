"""Boards."""

from __future__ import annotations

from datetime import date
from typing import Any

from django.utils.translation import gettext_noop as _

from malpan.api.frame import ANYBODY, ApiRequest, Operations
from malpan.api.reading import next_address, visible_phase
from malpan.api.schemas import boards as shown
from malpan.competitions.models import Phase
from malpan.leaderboard.boards import LONGEST_SEARCH, PAGE_ROWS, Board, View
from malpan.leaderboard.published import day_asked, day_board, past_board, published_board, snapshot_number
from malpan.leaderboard.selectors import board
from malpan.teams.models import Team
from malpan.teams.selectors import team_of

operations = Operations(_("순위표"))


@operations.get(
    "/competitions/{slug:slug}/tracks/{slug:track}/board/",
    "getBoard",
    _("순위표"),
    shown.ShownBoard,
    scope=ANYBODY,
    url_name="api-board",
    says=_(
        "공개 순위표이며, 최종 순위표가 발표되었으면 final에 함께 있습니다. 한 쪽은 100줄이고 next가 다음 쪽의 "
        "주소입니다. snapshot은 이전에 발표한 최종 순위표의 번호, past는 순위가 바뀌기 전 공개 순위표의 번호, "
        "day는 그날이 끝났을 때의 공개 순위표를 찾는 날(2026-11-20처럼, days에 있는 날), "
        "phase는 다른 단계의 주소 이름, q는 이름에 이 글자가 든 팀만 찾는 말입니다. "
        "토큰이 있으면 내 팀의 줄을 표시하고, 없으면 ETag로 바뀌지 않은 순위표를 다시 받지 않을 수 있습니다."
    ),
)
def board_detail(
    request: ApiRequest,
    slug: str,
    track: str,
    phase: str | None = None,
    page: str = "",
    snapshot: str = "",
    past: str = "",
    day: str = "",
    q: str = "",
) -> Any:
    """The public board of the track's phase and, once published, its final board; a token marks the caller's row."""
    found = visible_phase(request.auth.user, slug, track, phase)
    number, kept = snapshot_number(snapshot or None), snapshot_number(past or None)
    own_team = team_of(request.auth.user, found.track.competition)
    view = View.of_page(page, search=q.strip()[:LONGEST_SEARCH])
    public = board(found, viewer_team=own_team, view=view)
    final = published_board(found, viewer_team=own_team, view=view, number=number)
    earlier = _earlier(found, kept, day_asked(day), own_team, view)
    last = max(each.row_count for each in (earlier or public, final) if each)
    following = next_address(request, view.offset // PAGE_ROWS + 2) if view.offset + PAGE_ROWS < last else None
    return {**shown.board(public, final, earlier), "next": following}


def _earlier(phase: Phase, number: int | None, day: date | None, own_team: Team | None, view: View) -> Board | None:
    """The public board of the past that was asked for."""
    if day is not None:
        return day_board(phase, day, viewer_team=own_team, view=view)
    return None if number is None else past_board(phase, number, viewer_team=own_team, view=view)
