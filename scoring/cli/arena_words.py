"""The texts of ``python -m scoring arena``, in Korean and English."""

from __future__ import annotations

from typing import Final

from scoring.errors import Message

ARENA_WORDS: Final[dict[str, Message]] = {
    "arena": Message(
        "사람이 평가한 투표 파일에서 결과를 계산하거나 공개된 결과와 대조합니다",
        "compute the result of a file of people's votes, or hold it against a published one",
    ),
    "arena_votes": Message("내려받은 투표 파일(-는 표준 입력)", "votes file as downloaded (-: standard input)"),
    "arena_check": Message(
        "공개된 결과 파일. 다시 계산한 결과와 바이트 단위로 같은지 봅니다(다르면 종료 상태 1)",
        "published result; whether it is recomputed byte for byte (exit status 1 if not)",
    ),
    "arena_invalid": Message("{path}: {detail}", "{path}: {detail}"),
    "arena_same": Message(
        "{path}: 다시 계산한 결과와 바이트 단위로 같습니다. 서명 {hash}",
        "{path}: recomputed, equal byte for byte. Signature {hash}",
    ),
    "arena_differs": Message(
        "{path}: 다시 계산한 결과와 다릅니다. 처음 다른 곳: {places}",
        "{path}: the recomputed result differs. First differences: {places}",
    ),
    "arena_layout": Message("내용은 같고 줄바꿈이나 순서가 다름", "same content, other layout"),
    "arena_not_json": Message("JSON 문서가 아님", "no JSON document"),
    "arena_title": Message("말평 아레나 결과", "Malpyeong arena result"),
    "arena_rank": Message("순위", "rank"),
    "arena_system": Message("시스템", "system"),
    "arena_score": Message("점수", "score"),
    "arena_interval": Message("{percent:g}% 구간", "{percent:g}% interval"),
    "arena_range": Message("순위 범위", "rank range"),
    "arena_cluster": Message("묶음", "cluster"),
    "arena_points": Message("득점률(%)", "points (%)"),
    "arena_ends": Message("승·무·패", "W-T-L"),
    "arena_count": Message("표", "votes"),
    "arena_numbers": Message(
        "평가자 {judges}명, 문항 {items}개, 반영한 표 {votes}개(통제 {controls}개, 반복 {repeats}개는 순위에 쓰지 "
        "않음), 반영하지 않은 표 {not_counted}개.",
        "{judges} judges, {items} items, {votes} votes counted ({controls} controls and {repeats} repeats rank "
        "nobody), {not_counted} not counted.",
    ),
    "arena_scale_pairs": Message(
        "점수는 로짓이고 평균이 0입니다. 1만큼 앞서면 무승부를 뺀 비교에서 73% 이깁니다.",
        "Scores are logits with mean 0: a system that leads by 1 wins 73 % of the comparisons that are decided.",
    ),
    "arena_scale_ratings": Message(
        "점수는 평가자별로 표준화한 값(평가자의 표준편차 단위)이고 평균이 0입니다.",
        "Scores are standardised by judge (in deviations of a judge), with mean 0.",
    ),
    "arena_clusters": Message(
        "순위 범위와 묶음은 모든 쌍의 차이를 Holm 보정으로 검정한 것입니다. 같은 묶음은 우열을 가릴 수 없습니다.",
        "Rank ranges and clusters come from tests of all pairs with Holm's correction; a cluster is not told apart.",
    ),
    "arena_order": Message(
        "먼저 보인 쪽의 이점: {value:+.3f}로짓 ({low:+.3f}~{high:+.3f}), 무승부 {tie:.1f}%.",
        "Advantage of the output shown first: {value:+.3f} logits ({low:+.3f} to {high:+.3f}); {tie:.1f} % ties.",
    ),
    "arena_agreement": Message(
        "일치도({name}): 크리펜도르프 알파 {alpha}, 그웻 AC2 {ac2}, 같은 판정 {same}, 두 명 이상 본 단위 {units}개.",
        "Agreement ({name}): Krippendorff's alpha {alpha}, Gwet's AC2 {ac2}, same verdict {same}, {units} units judged "
        "twice or more.",
    ),
    "arena_suspicious": Message(
        "살펴볼 평가자: {judges}.",
        "Judges to look at: {judges}.",
    ),
    "arena_influence": Message(
        "평가자 한 명을 빼면 순위가 많아야 {change}계단 움직이고({judge}), 전체 순위와의 타우는 {tau} 이상입니다.",
        "Without any one judge a rank moves by at most {change} ({judge}); tau to the full ranking is at least {tau}.",
    ),
    "arena_unranked": Message("순위에 없는 시스템: {systems}.", "Not ranked: {systems}."),
    "arena_signature": Message(
        "서명 {hash} (투표 파일 {votes})",
        "Signature {hash} (votes file {votes})",
    ),
    "arena_warning_regularised": Message(
        "전승이나 전패한 시스템이 있어 작은 가상 표를 더해 추정했습니다. 그 점수의 크기는 믿을 만하지 않습니다.",
        "Some systems won or lost everything, so a fraction of a vote was added; how far apart they are is not known.",
    ),
    "arena_warning_one_judge": Message(
        "평가자가 한 명뿐이라 구간은 다른 평가자에게 넓혀 볼 수 없습니다.",
        "There is one judge: the intervals say nothing of other judges.",
    ),
    "arena_warning_few_judges": Message(
        "평가자가 다섯 명보다 적어 구간이 거칩니다.", "There are fewer than five judges: intervals are rough."
    ),
    "arena_warning_unseen_systems": Message(
        "반영된 표가 없는 시스템이 있습니다.", "Some systems have no vote that counts."
    ),
    "arena_flag_controls": Message("통제 문항 실패", "failed controls"),
    "arena_flag_random": Message("내용과 무관한 선택", "choices unrelated to the outputs"),
    "arena_flag_position": Message("한쪽 자리로 치우침", "prefers one side"),
}
