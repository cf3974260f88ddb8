"""The texts of awards: by name, in Korean and in English."""

from __future__ import annotations

AWARDS = {
    "help_awards": ("시상: 어느 팀이 무슨 상을 받는지", "awards: which team gets which"),
    "help_awards_list": ("공개하지 않은 것까지 모든 상", "all awards, published or not"),
    "help_awards_propose": (
        "발표한 최종 결과의 앞 순위를 봅니다. 아무것도 만들지 않습니다",
        "the first places of the published final result; gives nothing",
    ),
    "help_awards_create": (
        "상을 목록 끝에 더합니다. 공개하기 전에는 운영자만 봅니다",
        "add an award to the end of the list; only organisers see it until it is published",
    ),
    "help_awards_update": (
        "상을 고칩니다. 적은 것만 바뀌고, 공개한 상은 바로 바뀌어 보입니다",
        "change an award: what is named; everybody sees it at once if it is published",
    ),
    "help_awards_move": ("상을 목록의 다른 자리로 옮깁니다", "put an award to another place of the list"),
    "help_awards_remove": (
        "상을 목록에서 뺍니다. 번호를 받은 상은 취소되고 그 번호는 다시 쓰지 않습니다",
        "take an award from the list; one that has a number is revoked, and its number never used again",
    ),
    "help_awards_publish": ("시상을 누구에게나 공개합니다", "show the awards to everybody"),
    "help_awards_withdraw": ("시상의 공개를 거둡니다", "show the awards to organisers alone again"),
    "help_places": ("1위부터 몇 위까지 (3)", "so many places from the first on (3)"),
    "help_award_team": ("받는 팀의 번호", "number of the team"),
    "help_award_title_ko": ("상의 이름(한국어). 예: 대상", "name of the award (Korean)"),
    "help_award_title_en": ("상의 이름(영어)", "name of the award (English)"),
    "help_award_prize_ko": ("부상(한국어). 예: 국립국어원장상, 300만 원", "the prize (Korean)"),
    "help_award_prize_en": ("부상(영어)", "the prize (English)"),
    "help_award_awarded_on": ("시상일. 예: 2026-12-05", "day of the award, as 2026-12-05"),
    "help_award_track": (
        "근거가 된 최종 결과의 트랙. none이면 없음",
        "the track whose final result it rests on; none: of no track",
    ),
    "help_arg_position": ("1부터 센 자리", "place in the list, from 1"),
    "award": ("상", "award"),
    "award_number": ("상장 번호", "number of the award"),
    "awarded_on": ("시상일", "day"),
    "has_award": ("이 트랙의 상이 이미 있음", "has an award on this track"),
    "position": ("차례", "place"),
    "prize": ("부상", "prize"),
    "sharing": ("같은 순위의 팀", "teams of this rank"),
    "state_disqualified": ("실격한 팀(아무에게도 보이지 않음)", "disqualified team (shown to nobody)"),
    "state_published": ("공개", "published"),
    "state_unpublished": ("공개 전", "not published"),
    "no_awards": ("상이 없습니다.", "There are no awards."),
    "no_award": ("목록에 {id}번 상이 없습니다.", "There is no award {id} in the list."),
    "nobody_proposed": ("시상할 팀이 없습니다.", "There is nobody to propose."),
    "confirm_award_removal": ("‘{title}’({team}) 상을 목록에서 지울까요?", "Delete “{title}” ({team}) from the list?"),
    "confirm_award_revocation": (
        "제{number}호 ‘{title}’({team}) 상을 취소할까요? 확인 주소가 더는 통하지 않고, 번호는 다시 쓰지 않습니다.",
        "Revoke award {number}, “{title}” ({team})? Its address confirms it no more; the number is never used again.",
    ),
    "award_removed": ("‘{title}’({team}) 상을 목록에서 지웠습니다.", "“{title}” ({team}) is deleted."),
    "award_revoked": (
        "제{number}호 ‘{title}’({team}) 상을 취소했습니다.",
        "Award {number}, “{title}” ({team}), is revoked.",
    ),
    "confirm_awards": (
        "위의 시상을 누구에게나 공개할까요(새로 {count}개)? 번호가 없는 상은 번호를 받고, 받은 번호는 바뀌지 않습니다.",
        "Show these awards to everybody ({count} of them new)? Those without a number get one that never changes.",
    ),
    "confirm_awards_withdrawal": (
        "대회 {contest}의 시상을 다시 운영자만 보게 할까요? 이미 받은 상장은 확인 주소에서 확인되지 않습니다.",
        "Hide the awards of {contest} again? Nothing confirms those that were handed over.",
    ),
}
