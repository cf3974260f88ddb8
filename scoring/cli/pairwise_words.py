"""The texts of ``python -m scoring pairwise``, in Korean and English."""

from __future__ import annotations

from typing import Final

from scoring.errors import Message

PAIRWISE_WORDS: Final[dict[str, Message]] = {
    "pairwise": Message(
        "두 제출 파일의 답을 심사 모델에 두 순서로 보여 어느 쪽이 나은지 묻습니다",
        "ask a judge which of two predictions files is better, item by item, in both orders",
    ),
    "pairwise_file_a": Message("제출 파일 A", "predictions file A"),
    "pairwise_file_b": Message("제출 파일 B", "predictions file B"),
    "pairwise_recipe": Message(
        "두 파일을 읽을 채점 방식. 없으면 물음 파일을 보고 글인지 이미지 설명인지 가립니다",
        "recipe whose files the two are; without it the questions tell texts from captions",
    ),
    "questions": Message(
        "물음 파일: 항목마다 id와 input(정답은 읽지 않음), 이미지 설명이면 정답 설명",
        "questions: items with id and input (answers are not read), or the reference captions",
    ),
    "pairwise_profile": Message(
        "심사 모델([judge])이 있는 모델 프로필 이름 또는 TOML 경로",
        "model profile with a judge ([judge]), by name or by path of its TOML",
    ),
    "pairwise_output": Message(
        "모든 판정을 저장할 JSON 파일. 다시 실행하면 이미 받은 답은 묻지 않습니다",
        "JSON file for every verdict; run again, what was answered is not asked again",
    ),
    "pairwise_no_result": Message(
        "짝 비교를 여기에 저장할 수 없습니다: {path} ({detail}). --output에 다른 이름을 주십시오.",
        "A comparison cannot be stored here: {path} ({detail}). Give --output another name.",
    ),
    "pairwise_another_file": Message("짝 비교의 결과가 아닌 파일이 있습니다", "there is a file of another kind"),
    "pairwise_another_judge": Message(
        "다른 심사 모델이나 다른 기준으로 받은 답이 있습니다", "it holds answers of another judge or another rubric"
    ),
    "pairwise_title": Message("말판 짝 비교", "Malpan pairwise comparison"),
    "pairwise_result": Message("판정", "Verdict"),
    "pairwise_items": Message("문항", "Items"),
    "pairwise_share": Message("비율", "Share"),
    "pairwise_a": Message("A가 나음", "A is better"),
    "pairwise_b": Message("B가 나음", "B is better"),
    "pairwise_tie": Message("비김", "Ties"),
    "pairwise_flips": Message("· 그중 순서에 따라 뒤집힘", "- of these, flips with the order"),
    "pairwise_same": Message("· 그중 같은 글(묻지 않음)", "- of these, equal texts (not asked)"),
    "pairwise_unparsable": Message("· 그중 해석할 수 없는 답", "- of these, unparsable answers"),
    "pairwise_demo": Message(
        "데모 심사 모델의 판정입니다. 시연용이며 아무것도 뜻하지 않습니다.",
        "Verdicts of the demo judge: for show, they mean nothing.",
    ),
    "pairwise_files": Message("A: {a}, B: {b}", "A: {a}, B: {b}"),
    "pairwise_judge": Message(
        "심사 모델: {model} (서버 {server}), 기준: {id} ({written_in}, SHA-256 {sha256:.12})",
        "Judge: {model} (server {server}), rubric: {id} ({written_in}, SHA-256 {sha256:.12})",
    ),
    "pairwise_asked": Message(
        "이번에 보낸 요청 {requests}회, 토큰 {tokens}개(다시 물은 까닭: {repeated}). 지금까지 모두 {spent}회.",
        "Requests now: {requests}, tokens: {tokens} (repeated for: {repeated}). Requests in all: {spent}.",
    ),
    "pairwise_interval": Message(
        "이긴 쪽이 있는 {decided}문항에서 A의 비율 {share:.1f}% (95% 구간 {low:.1f}–{high:.1f}%, Wilson)",
        "Of {decided} items with a winner A has {share:.1f}% (95% interval {low:.1f}-{high:.1f}%, Wilson)",
    ),
    "pairwise_undecided": Message(
        "A의 비율: 정할 수 없음(이긴 쪽이 있는 문항이 없습니다).",
        "Share of A: cannot be determined (no item has a winner).",
    ),
    "pairwise_difference": Message(
        "정확한 부호 검정(양쪽): p = {p:.4g}. 우연이라고 보기 어려운 차이입니다.",
        "Exact sign test (two-sided): p = {p:.4g}. The difference is hardly chance.",
    ),
    "pairwise_chance": Message(
        "정확한 부호 검정(양쪽): p = {p:.4g}. 우연일 수 있는 차이입니다.",
        "Exact sign test (two-sided): p = {p:.4g}. The difference may be chance.",
    ),
    "pairwise_position": Message(
        "자리의 영향: 먼저 놓인 글을 고른 비율 − 나중 글 = {effect:+.3f}. 한 자리로 기운 {of}문항 가운데 먼저 놓인 "
        "쪽이 {first}문항, p = {p:.4g}.",
        "Position: share for the text that stood first minus that for the second = {effect:+.3f}. Of {of} items that "
        "lean to a position {first} lean to the first, p = {p:.4g}.",
    ),
    "pairwise_biased": Message(
        "이 심사 모델은 글이 놓인 자리를 보고 고릅니다. 뒤집힌 답은 비김으로 세었으나, 이 판정을 근거로 쓰지 마십시오.",
        "This judge prefers a position. Flips count as ties, yet do not rely on these verdicts.",
    ),
    "pairwise_unsure": Message(
        "자리에 치우쳤다고 보는 기준(p < 0.01)에는 이르지 않지만, 치우치지 않았다고 볼 근거도 아닙니다.",
        "This is not below p = 0.01, from where on a judge counts as biased; nor does it show that the judge is fair.",
    ),
    "pairwise_unbiased": Message("자리에 치우친 흔적은 없습니다.", "Nothing shows that the judge prefers a position."),
    "pairwise_flipped_items": Message("뒤집힌 문항 {count}개: {items}", "Items that flipped ({count}): {items}"),
    "pairwise_unparsable_items": Message(
        "답을 해석할 수 없던 문항 {count}개(비김으로 셈): {items}",
        "Items with an unparsable answer ({count}; they count as ties): {items}",
    ),
    "pairwise_cut_items": Message(
        "글이 {limit}자보다 길어 앞부분만 보낸 문항 {count}개: {items}",
        "Items with a text of more than {limit} characters, whose beginning alone was sent ({count}): {items}",
    ),
}
