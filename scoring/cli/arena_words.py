"""The texts of ``python -m scoring arena`` and ``arena-meta``, in Korean and English."""

from __future__ import annotations

from typing import Final

from scoring.errors import Message

ARENA_WORDS: Final[dict[str, Message]] = {
    "arena": Message(
        "사람이 평가한 평가 파일에서 결과를 계산하거나 공개된 결과와 대조합니다",
        "compute the result of a file of people's judgements, or hold it against a published one",
    ),
    "arena_votes": Message("내려받은 평가 파일(-는 표준 입력)", "votes file as downloaded (-: standard input)"),
    "arena_check": Message(
        "공개된 결과 파일. 다시 계산한 결과와 바이트 단위로 같은지 봅니다(다르면 종료 상태 1)",
        "published result; whether it is recomputed byte for byte (exit status 1 if not)",
    ),
    "panel": Message(
        "한 줄에 하나씩 적은 쌍 비교 판단에서 시스템의 강도와 순위를 계산합니다",
        "strengths and ranks of systems from judgements of pairs, one a line",
    ),
    "panel_votes": Message(
        'JSONL 파일(-는 표준 입력). 줄마다 {{"judge", "item", "left", "right", "choice": "left"|"right"|"tie"}}',
        'JSONL file (-: standard input). A line: {{"judge", "item", "left", "right", "choice": "left"|"right"|"tie"}}',
    ),
    "panel_line": Message("{line}번째 줄", "line {line}"),
    "arena_invalid": Message("{path}: {detail}", "{path}: {detail}"),
    "arena_same": Message(
        "{path}: 다시 계산한 결과와 바이트 단위로 같습니다. 서명 {hash}",
        "{path}: recomputed, equal byte for byte. Signature {hash}",
    ),
    "arena_other_votes": Message(
        "{path}: 이 평가 파일은 결과가 가리키는 평가 파일이 아닙니다. 결과를 낸 파일의 sha256은 {expected}, 이 파일은 "
        "{found}입니다. 표는 이 파일의 판단으로 셈한 것입니다.",
        "{path}: this votes file is not the one that the result names. The sha256 of that one is {expected}, of this "
        "one {found}. The table is computed from the judgements in this file.",
    ),
    "arena_marked": Message("판단 하나에 표시한 오류(평균)", "Errors marked in a judgement (mean)"),
    "arena_minor": Message("가벼움", "minor"),
    "arena_major": Message("무거움", "major"),
    "arena_critical": Message("치명적", "critical"),
    "arena_penalty": Message("벌점", "penalty"),
    "arena_penalties": Message(
        "벌점은 판단 하나의 평균으로, 가벼운 오류를 1, 무거운 오류를 5, 치명적인 오류를 25로 셉니다.",
        "The penalty is the mean of a judgement: 1 for a minor error, 5 for a major one, 25 for a critical one.",
    ),
    "arena_differs": Message(
        "{path}: 다시 계산한 결과와 다릅니다. 처음 다른 곳: {places}",
        "{path}: the recomputed result differs. First differences: {places}",
    ),
    "arena_other_instrument": Message(
        "{path}: 다른 판({made_by})이 계산한 결과입니다. 여기의 {instrument} 판은 다른 값을 낼 수 있으므로, 그 판으로 "
        "다시 계산하십시오.",
        "{path}: computed by another version, {made_by}. This one, {instrument}, may give other figures: compute it "
        "again with that version.",
    ),
    "arena_redrawn": Message(
        "배정: 파일에 적힌 시드로 다시 그린 것과 같습니다({sha256}). 판단 {drawn}개가 그 배정의 것이고, {moved}개는 "
        "시작한 뒤에 다시 나눈 것입니다.",
        "Assignments: drawn again from the seed in the file, they are the same ({sha256}). {drawn} judgements are of "
        "them, {moved} were assigned after the opening.",
    ),
    "arena_redrawn_other": Message(
        "배정: 파일에 적힌 시드로 다시 그린 것이 기록된 배정({sha256})과 다릅니다.",
        "Assignments: drawn again from the seed in the file, they are not those that were recorded ({sha256}).",
    ),
    "arena_not_redrawn": Message(
        "배정: 이 파일에는 다시 그릴 자료가 없습니다. 제척된 평가자가 있으면 누가 무엇을 볼 수 없는지 공개하지 "
        "않습니다.",
        "Assignments: the file lacks what drawing them again needs. Where judges are barred from outputs, who is from "
        "which is not published.",
    ),
    "arena_layout": Message("내용은 같고 줄바꿈이나 순서가 다름", "same content, other layout"),
    "arena_not_json": Message("JSON 문서가 아님", "no JSON document"),
    "arena_title": Message("말평 아레나 결과", "Malpyeong arena result"),
    "arena_rank": Message("순위", "rank"),
    "arena_system": Message("시스템", "system"),
    "arena_score": Message("점수", "score"),
    "arena_interval": Message("{percent:g}% 구간", "{percent:g}% interval"),
    "arena_range": Message("순위 범위", "rank range"),
    "arena_cluster": Message("무리", "cluster"),
    "arena_points": Message("승점 비율(%)", "share of points (%)"),
    "arena_mean": Message("평균 점수(0~100)", "mean score (0-100)"),
    "arena_ends": Message("승–무–패", "won-tied-lost"),
    "arena_count": Message("판단", "judgements"),
    "arena_numbers": Message(
        "평가자 {judges}명, 문항 {items}개, 셈에 든 판단 {votes}개(확인 문항 {controls}개, 되풀이 문항 {repeats}개는 "
        "순위에 쓰지 않음), 셈에 들지 않은 판단 {not_counted}개.",
        "{judges} judges, {items} items, {votes} judgements that count ({controls} controls and {repeats} repeats rank "
        "nobody), {not_counted} that do not.",
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
        "순위 범위와 무리는 모든 쌍의 차이를 Holm 보정으로 검정한 것입니다. 위 무리는 모두 아래 무리보다 유의하게 "
        "낫습니다.",
        "Rank ranges and clusters come from tests of all pairs with Holm's correction: all of a cluster are "
        "significantly better than all below it.",
    ),
    "arena_order": Message(
        "먼저 보인 쪽의 이점: {value:+.3f}로짓 ({interval}), 무승부 {tie:.1f}%.",
        "Advantage of the output shown first: {value:+.3f} logits ({interval}); {tie:.1f} % ties.",
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
    "arena_steady": Message("평가자 한 명을 빼도 순위는 바뀌지 않습니다.", "No rank changes without any one judge."),
    "arena_unranked": Message("순위에 없는 시스템: {systems}.", "Not ranked: {systems}."),
    "arena_scores": Message(
        "지표 점수 파일: 어느 지표가 사람과 맞았는지도 덧붙입니다",
        "scores file of the metrics: which of them agreed with these people is added",
    ),
    "arena_signature": Message(
        "서명 {hash} (평가 파일 {votes})",
        "Signature {hash} (votes file {votes})",
    ),
    "arena_warning_error_unknown": Message(
        "판단이 너무 적거나 모두 한결같아 점수의 오차를 알 수 없습니다. 그런 점수에는 구간이 없습니다.",
        "There are too few judgements, or all are alike: the error of scores is not known, and they have no interval.",
    ),
    "arena_warning_regularised": Message(
        "전승이나 전패한 시스템이 있어 가상의 판단을 조금 더해 추정했습니다. 그 점수의 크기는 믿을 만하지 않습니다.",
        "Some systems won or lost everything, so a fraction of a judgement was added; how far apart they are is not "
        "known.",
    ),
    "arena_warning_separated_draws": Message(
        "다시 뽑은 판단의 상당수에서 전승이나 전패한 시스템이 있습니다. 그런 시스템의 구간은 어림값입니다.",
        "In many draws of the judgements some systems won or lost everything: the intervals of these are rough.",
    ),
    "arena_warning_one_judge": Message(
        "평가자가 한 명뿐이라 구간은 다른 평가자에게 넓혀 볼 수 없습니다.",
        "There is one judge: the intervals say nothing of other judges.",
    ),
    "arena_warning_few_judges": Message(
        "평가자가 다섯 명보다 적어 구간이 거칩니다.", "There are fewer than five judges: intervals are rough."
    ),
    "arena_warning_unseen_systems": Message(
        "셈에 든 판단이 없는 시스템이 있습니다.", "Some systems have no judgement that counts."
    ),
    "arena_flag_controls": Message("확인 문항을 지나치게 많이 틀림", "fails too many controls"),
    "arena_flag_random": Message("출력과 상관없이 고름", "choices do not depend on the outputs"),
    "arena_flag_position": Message("한쪽 자리만 고름", "prefers one side"),
    "arena-meta": Message(
        "어느 자동 지표가 사람들의 평가와 맞았는지 계산합니다",
        "compute which automatic metric agreed with people's judgements",
    ),
    "meta_results": Message(
        "시스템마다 LABEL=OUT.json(score가 쓴 파일). 파일 이름이 평가 파일의 가림 이름, 팀 이름, 팀 번호 가운데 "
        "하나이면 OUT.json만 적어도 됩니다",
        "LABEL=OUT.json for each system, as score wrote it; LABEL= may be left out where the file is named after the "
        "label, the name or the team number of a system",
    ),
    "meta_items": Message(
        '평가 파일의 문항 이름마다 정답 파일의 id를 적은 JSON 객체({{"I0001": "…"}}). 없으면 이름과 id가 같다고 봅니다',
        'JSON object of the ids of the references by the items\' labels ({{"I0001": "…"}}); without it labels are ids',
    ),
    "meta_scores": Message(
        "사이트가 내주는 지표 점수 파일(시스템마다의 OUT.json 대신)",
        "scores file of the metrics, as the site offers it (instead of an OUT.json for each system)",
    ),
    "meta_one_source": Message(
        "지표의 점수를 --scores로 한 번 주거나, 시스템마다 LABEL=OUT.json으로 주십시오(--items는 뒤의 것에만 씁니다).",
        "Give the metrics' scores by --scores, or as LABEL=OUT.json for each system (--items belongs to the latter).",
    ),
    "meta_other_campaign": Message(
        "{path}: 다른 평가의 지표 점수입니다({theirs}). 투표 파일은 {own}의 것입니다. 같은 평가의 두 파일을 주십시오.",
        "{path}: the metrics' scores are of another campaign ({theirs}), the votes of {own}. Give two files of one.",
    ),
    "meta_scores_invalid": Message("{path}: {detail}", "{path}: {detail}"),
    "meta_unknown_system": Message(
        "{given}: 평가 파일의 어느 시스템인지 알 수 없습니다. LABEL=FILE로 적으십시오. 시스템: {known}",
        "{given}: no system of the votes file. Write LABEL=FILE. Systems: {known}",
    ),
    "meta_system_twice": Message(
        "시스템 {label}의 파일이 둘입니다: {a}, {b}. 하나만 적으십시오.",
        "System {label} has two files: {a}, {b}. Give one.",
    ),
    "meta_items_invalid": Message(
        "{path}: 평가 파일의 문항 이름을 키로, 정답의 id(문자열)를 값으로 하는 JSON 객체가 아닙니다.",
        "{path}: not a JSON object of ids (texts) by the labels of the items in the votes file.",
    ),
    "meta_title": Message("사람의 평가와 맞은 지표", "Metrics that agreed with people"),
    "meta_metric": Message("지표", "metric"),
    "meta_tau": Message("타우 b", "tau-b"),
    "meta_over_systems": Message("{percent:g}%(다른 시스템)", "{percent:g}% (other systems)"),
    "meta_over_votes": Message("{percent:g}%(다른 평가)", "{percent:g}% (other judgements)"),
    "meta_accuracy": Message("쌍(%)", "pairs (%)"),
    "meta_decided": Message("갈린 쌍(%)", "decided (%)"),
    "meta_acc_eq": Message("문항 acc_eq(%)", "items acc_eq (%)"),
    "meta_interval": Message("{percent:g}% 구간", "{percent:g}% interval"),
    "meta_threshold": Message("무승부 문턱", "tie threshold"),
    "meta_numbers": Message(
        "시스템 {systems}개({system_pairs}쌍, 그중 사람의 평가가 유의하게 가른 쌍 {decided_pairs}개), 문항 {items}개의 "
        "출력 {item_pairs}쌍, 셈에 든 판단 {votes}개.",
        "{systems} systems ({system_pairs} pairs, {decided_pairs} of them told apart significantly by people), "
        "{item_pairs} pairs of outputs of {items} items, {votes} judgements that count.",
    ),
    "meta_star": Message(
        "* 값이 가장 높은 지표와, 모든 지표 쌍을 견준 순열 검정(Holm 보정)에서 그보다 유의하게 낮지 않은 지표.",
        "* The metric with the highest figure, and those not significantly below it (permutation tests of all pairs of "
        "metrics, Holm's correction).",
    ),
    "meta_intervals": Message(
        "다른 시스템: 이런 시스템을 새로 뽑았을 때의 {percent:g}% 구간. 다른 평가: 바로 이 시스템들을 다른 문항과 "
        "평가자로 평가했을 때의 구간.",
        "Other systems: the {percent:g} % interval if systems like these were drawn anew. Other judgements: for these "
        "very systems with other items and judges.",
    ),
    "meta_chance": Message(
        "acc_eq는 사람이 견준 출력 {pairs}쌍에서 지표의 판정(나음, 무승부)이 사람과 같은 비율이며, 지표마다 문턱을 "
        "고른 값입니다(Deutsch 외 2023). 사람의 판정 가운데 무승부는 {tie_share:.1f}%이고, 내용을 보지 않는 지표도 "
        "{chance:.1f}%는 맞힙니다.",
        "acc_eq is the share of {pairs} pairs of outputs on which the metric's verdict (better, tie) is people's, with "
        "the best threshold of each metric (Deutsch et al. 2023). People's verdicts have {tie_share:.1f} % ties; a "
        "metric that knows nothing reaches {chance:.1f} %.",
    ),
    "meta_merged": Message(
        "여기의 판정은 한 쌍을 본 평가자 모두의 것을 합친 것이라, 둘이 서로 맞서도 무승부입니다. 그래서 판단을 하나씩 "
        "세는 순위표의 승–무–패와 무승부의 수가 다릅니다.",
        "Here a verdict merges all judges of a pair, so that it is also a tie where two contradict each other: the "
        "ties of the standing, which counts single judgements, are other ones.",
    ),
    "meta_no_items": Message(
        "문항 단위의 값은 없습니다. 평가 파일의 문항 이름이 점수 파일의 id와 다르면 --items로 짝을 알려 주십시오.",
        "There are no figures of items. Where the labels of the votes file are not the ids of the scored files, name "
        "the pairs with --items.",
    ),
    "meta_warning_narrow_systems": Message(
        "시스템이 열 개보다 적어 ‘다른 시스템’의 구간이 좁게 나올 수 있습니다. 참값이 구간 밖에 있는 일이 "
        "{percent:g}% 구간이라는 말보다 잦을 수 있으며, 지표가 시스템을 거의 모두 바르게 늘어놓을 때 가장 잦습니다.",
        "There are fewer than ten systems: intervals over other systems may come out too narrow. The truth may be "
        "outside more often than {percent:g} % intervals say, most of all where a metric orders nearly all systems "
        "right.",
    ),
    "meta_warning_few_systems": Message(
        "시스템이 여섯 개보다 적어 다른 시스템에 넓혀 볼 구간을 내지 않습니다.",
        "There are fewer than six systems: no interval says anything of other systems.",
    ),
    "meta_warning_few_items": Message(
        "문항이 서른 개보다 적어 문항 단위의 값이 거칠고 조금 높게 나옵니다.",
        "There are fewer than thirty items: figures of items are rough and a little too high.",
    ),
    "meta_skipped_missing": Message(
        "{name}: 값이 없는 시스템이 있어 뺐습니다.", "{name}: left out, some systems have no value."
    ),
    "meta_skipped_constant": Message(
        "{name}: 모든 시스템의 값이 같아 뺐습니다.", "{name}: left out, all systems have the same value."
    ),
    "meta_signature": Message("서명 {hash}", "Signature {hash}"),
}
