"""Own submissions item by item, and two of them compared: for the people of their team alone, as the pages are."""

from __future__ import annotations

import uuid
from typing import Any, Literal

from django.utils.translation import gettext_noop as _

from malpan.api.frame import ApiRequest, Operations
from malpan.api.limits import count_items
from malpan.api.reading import paged
from malpan.api.schemas import own_items as shown
from malpan.api.schemas.kinds import PageNumber, PageSize
from malpan.core.errors import SystemFault
from malpan.leaderboard.comparing.own import both_of, compared
from malpan.submissions.errors import SubmissionNotFound
from malpan.submissions.integrity.answers import Answers, answers_of
from malpan.submissions.integrity.duplicates import answers_side_by_side
from malpan.submissions.selectors import is_open_to_the_team, run_for_team, submission_for
from malpan.submissions.shown_items import ShownItems, shown_items
from scoring.errors import InvalidFile

operations = Operations(_("제출"))
ONE = "/submissions/{uuid:public_id}"
TWO = f"{ONE}/compare/{{uuid:with_id}}"


@operations.get(
    f"{ONE}/items/",
    "listItems",
    _("내 팀이 낸 제출 하나의 답과 점수를 문항마다"),
    shown.ItemPage,
    says=_(
        "by는 늘어놓을 지표이며, 값이 그대로 열린 단계에서는 낮은 것부터, 아니면 파일의 차례입니다. values는 주최 측이 "
        "문항별 점수를 연 단계에만 있고 공개 문항의 값입니다(최종 발표 뒤에는 모든 문항). 네 구간으로 연 단계에서는 "
        "low와 high가 구간의 두 끝이고, 그대로 연 단계에서는 둘이 같습니다. 정답은 보이지 않습니다. 올린 파일을 지금 "
        "읽을 수 없으면 is_unreadable이 true입니다."
    ),
)
def items(
    request: ApiRequest, public_id: uuid.UUID, by: str = "", page: PageNumber = 1, page_size: PageSize = 100
) -> Any:
    count_items(request, request.auth.person)
    found = submission_for(request.auth.user, public_id)
    if not is_open_to_the_team(request.auth.user, found):
        raise SubmissionNotFound
    values = ShownItems()
    answers = Answers(())
    try:
        answers = answers_of(found)
    except (SystemFault, InvalidFile):
        is_unreadable = True
    else:
        is_unreadable = False
        values = shown_items([found], [run_for_team(found)], by=by)
    order = list(dict.fromkeys(item for item in (*values.order, *answers) if item in answers))
    listed = paged(request, order, page, page_size, lambda item: shown.item(item, answers, values))
    return {**listed, **shown.about_values(values, found.phase), "is_unreadable": is_unreadable}


@operations.get(
    f"{TWO}/",
    "compareSubmissions",
    _("내 팀의 두 제출의 점수와 그 차이"),
    shown.Comparison,
    says=_(
        "먼저 낸 것이 one입니다. 차이가 우연인지는 채점 서버가 검정하며, 끝날 때까지 is_computed가 false입니다. "
        "split=private은 최종 발표 뒤의 비공개 문항 점수이며, 볼 수 없으면 공개 점수를 보입니다. refusal은 점수를 "
        "비교하지 않는 까닭(not_scored, withheld, rounded), reason은 검정하지 못한 까닭(no_items, items, recipe, "
        "crashed)입니다."
    ),
)
def comparison(
    request: ApiRequest, public_id: uuid.UUID, with_id: uuid.UUID, split: Literal["public", "private"] = "public"
) -> Any:
    one, other = both_of(request.auth.person, public_id, with_id)
    runs = [run_for_team(each) for each in (one, other)]
    return shown.comparison(one, other, compared(one, other, runs, is_private=split == "private"))


@operations.get(
    f"{TWO}/items/",
    "listComparedItems",
    _("내 팀의 두 제출의 답과 점수를 문항마다 나란히"),
    shown.ItemPairPage,
    says=_(
        "먼저 낸 것이 one입니다. changed가 true이면 답이 다른 문항만 보입니다. values에는 지표마다 두 제출의 값이 "
        "차례로 있으며, 보이는 값은 listItems와 같습니다."
    ),
)
def compared_items(
    request: ApiRequest,
    public_id: uuid.UUID,
    with_id: uuid.UUID,
    changed: bool = False,
    page: PageNumber = 1,
    page_size: PageSize = 100,
) -> Any:
    count_items(request, request.auth.person)
    both = both_of(request.auth.person, public_id, with_id)
    values = ShownItems()
    try:
        rows = answers_side_by_side(*both)
    except (SystemFault, InvalidFile):
        rows, is_unreadable = [], True
    else:
        is_unreadable = False
        values = shown_items(both, [run_for_team(each) for each in both])
    listed = [row for row in rows if not (changed and row.is_same)]
    return {
        **paged(request, listed, page, page_size, lambda row: shown.item_pair(row, values)),
        **shown.about_values(values, both[0].phase),
        "changed_count": sum(not row.is_same for row in rows),
        "is_unreadable": is_unreadable,
    }
