"""What the command says of own submissions item by item, and of two of them: by name, in Korean and in English."""

from __future__ import annotations

REVIEWS = {
    "answer": ("답", "answer"),
    "being_compared": (
        "차이가 우연인지 서버가 검정하고 있습니다(--wait는 기다립니다).",
        "The server is testing whether the differences are chance (--wait waits for it).",
    ),
    "changed_answers": ("답이 다른 문항 {count}개", "{count} items with another answer"),
    "difference": ("차이", "difference"),
    "earlier": ("먼저 낸 것", "earlier"),
    "is_different": ("차이가 있음", "different"),
    "later": ("나중 것", "later"),
    "may_be_chance": ("우연일 수 있음", "may be chance"),
    "no_items": ("보일 문항이 없습니다.", "There are no items to show."),
    "not_compared_not_scored": (
        "채점이 끝난 제출끼리만 점수를 비교합니다.",
        "Scores are compared when both are scored.",
    ),
    "not_compared_rounded": (
        "공개 점수를 반올림하는 단계라 최종 발표 뒤에 비교합니다.",
        "Public scores are rounded in this phase: they are compared after the final board.",
    ),
    "not_compared_withheld": (
        "이 단계는 점수를 아직 알리지 않습니다.",
        "This phase does not show scores yet.",
    ),
    "not_tested_crashed": (
        "검정하다가 서버에 오류가 났습니다. 잠시 뒤에 다시 해 보십시오.",
        "Testing failed on the server. Try again in a while.",
    ),
    "not_tested_items": (
        "서로 다른 문항으로 채점해 검정하지 못했습니다.",
        "Not tested: they were scored on different items.",
    ),
    "not_tested_no_items": (
        "문항별 점수가 남아 있지 않아 검정하지 못했습니다.",
        "Not tested: scores of items are not there any more.",
    ),
    "not_tested_recipe": (
        "서로 다른 채점 방식으로 채점해 검정하지 못했습니다.",
        "Not tested: they were scored by different recipes.",
    ),
    "private_scores": ("비공개 문항의 점수", "Scores of the private items"),
    "unreadable_file": (
        "올린 파일을 지금 읽을 수 없어 답을 보이지 못합니다.",
        "The file cannot be read at present, so no answers are shown.",
    ),
    "verdict": ("판정", "verdict"),
    # help
    "help_items": (
        "내 제출의 답을 문항마다, 주최 측이 열었으면 점수도 보입니다",
        "the answers of a submission of yours by item, with their scores where the organiser opened them",
    ),
    "help_by": ("이 지표의 낮은 값부터", "from the lowest value of this metric on"),
    "help_compare": (
        "내 두 제출의 점수를 견줍니다: 차이, p, 우연일 수 있는지",
        "compare two submissions of yours: differences, p, whether they may be chance",
    ),
    "help_arg_other": ("견줄 제출의 id", "id of the other submission"),
    "help_answers": ("답도 문항마다 나란히", "the answers side by side as well"),
    "help_private": ("비공개 문항의 점수(최종 발표 뒤)", "scores of the private items (after the final board)"),
}
