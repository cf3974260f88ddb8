"""Every text that ``python -m scoring`` prints, in Korean and English."""

from __future__ import annotations

from typing import Any, Final

from scoring.cli.arena_words import ARENA_WORDS
from scoring.cli.judge_words import JUDGE_WORDS
from scoring.cli.pairwise_words import PAIRWISE_WORDS
from scoring.errors import Language, Message, ModelUnavailable, ScoringError, ScoringFault

WORDS: Final[dict[str, Message]] = {
    **ARENA_WORDS,
    **JUDGE_WORDS,
    **PAIRWISE_WORDS,
    "program": Message("한국어 생성 결과를 채점합니다.", "Scores Korean text generation."),
    "score": Message("제출 파일을 채점합니다", "score a predictions file"),
    "check": Message("제출 파일의 형식을 검사합니다", "check a predictions file"),
    "report": Message("저장한 채점 결과를 보여 줍니다", "show a stored score"),
    "compare": Message(
        "두 채점 결과의 차이를 검정합니다. 셋 이상이면 점수와 순위의 구간, 통계적 동률을 냅니다",
        "test the difference of two results; of more, intervals of scores and ranks, and statistical ties",
    ),
    "rank": Message("여러 채점 결과의 종합 점수를 냅니다", "make composites of several results"),
    "judge-agreement": Message(
        "심사 모델의 점수가 사람의 점수와 얼마나 일치하는지 냅니다",
        "how far a judge's scores agree with those of people",
    ),
    "recipes": Message("채점 방식 목록", "list the recipes"),
    "models": Message("채점 모델을 보고, 내려받고, 확인합니다", "list, fetch and verify models"),
    "recipe": Message("채점 방식", "recipe"),
    "judge": Message(
        "프로필의 심사 모델([judge])이 참고로 더할 점수: {known}(쉼표로 여럿). 순위에는 쓰지 않습니다",
        "scores that the judge ([judge]) of the profile adds for reference: {known} (several with commas); rank nobody",
    ),
    "judge_offered": Message("LLM 심사 점수를 더하려면: --judge {known}", "with an LLM judge: --judge {known}"),
    "judge_unknown": Message(
        "--judge에 쓸 수 있는 이름은 {known}입니다. 쉼표로 나누어 적으십시오(예: --judge fluency,faithfulness).",
        "The names for --judge are {known}. Separate them by commas, such as --judge fluency,faithfulness.",
    ),
    "judge_no_texts": Message(
        "{recipe}의 답은 글이 아니므로 --judge로 심사할 수 없습니다. --judge를 빼거나 글로 답하는 채점 방식을 "
        "쓰십시오.",
        "Answers of {recipe} are no texts, so --judge has nothing to read. Leave it out, or choose a recipe of texts.",
    ),
    "judge_needs_profile": Message(
        "심사 모델을 쓰려면 --models로 [judge] 항목이 있는 모델 프로필을 지정하십시오: {profiles}, 또는 TOML 경로.",
        "A judge needs --models with a profile that has a section [judge]: {profiles}, or the path of a TOML.",
    ),
    "judge_missing": Message(
        "모델 프로필 '{profile}'에 심사 모델([judge])이 없습니다. 프로필에 [judge]를 더하거나, 시험하려면 "
        "'python -m scoring.judging.demo'를 띄우고 그 주소를 MALPAN_DEMO_JUDGE_URL에 넣어 demo 프로필을 쓰십시오.",
        "The model profile '{profile}' has no judge ([judge]). Add the section or, to try it, start "
        "'python -m scoring.judging.demo', put its address into MALPAN_DEMO_JUDGE_URL and use the profile demo.",
    ),
    "judge_questions": Message(
        "{label}: 심사 모델에 묻는 글 {count}개(같은 글은 한 번, 빈 글은 묻지 않음)",
        "{label}: {count} texts to ask the judge about (equal ones once, blank ones never)",
    ),
    "judge_cuts": Message(
        "{label}: 글이나 원자료가 {limit}자보다 길어 앞부분만 보내는 문항 {count}개",
        "{label}: {count} items with a text or source of more than {limit} characters, whose beginning alone is sent",
    ),
    "judge_budget": Message(
        "심사 모델의 예산({profile}): 요청 {requests}회, 토큰 {tokens}개. 검사에서는 묻지 않았습니다.",
        "Budget of the judge ({profile}): {requests} requests, {tokens} tokens. The check asked nothing.",
    ),
    "judge_none": Message(
        "{profile} 프로필에는 심사 모델([judge])이 없습니다. 채점할 때는 있는 프로필을 지정하십시오.",
        "The profile {profile} has no judge ([judge]). Name one that has for the scoring.",
    ),
    "references": Message("정답 파일", "references file"),
    "predictions": Message("제출 파일", "predictions file"),
    "references_given": Message("정답 파일(-는 표준 입력)", "references file (-: standard input)"),
    "predictions_given": Message("제출 파일(-는 표준 입력)", "predictions file (-: standard input)"),
    "standard_input": Message("표준 입력", "standard input"),
    "reads_as": Message(
        "다른 채점 방식으로는 읽힙니다: {recipes}. --recipe가 이 파일의 과제와 맞는지 확인하십시오.",
        "Other recipes read this file: {recipes}. See whether --recipe is that of its task.",
    ),
    "profile": Message("모델 프로필 이름 또는 TOML 경로", "model profile, by name or by path of its TOML"),
    "profile_chosen": Message(
        "모델 프로필 이름 또는 TOML 경로. 신경망 지표가 있는 채점 방식에는 반드시 지정합니다",
        "model profile, by name or by path of its TOML; needed for a recipe with neural metrics",
    ),
    "profile_read": Message(
        "이 프로필의 모델이 읽는 길이보다 긴 글을 알려 줍니다(모델이 이 컴퓨터에 있을 때만)",
        "say which texts are longer than the models of this profile read (where they are on this machine)",
    ),
    "length_unchecked": Message(
        "글이 모델에 너무 길지는 않은지 확인하지 못했습니다: {profile} 프로필의 모델이 이 컴퓨터에 없습니다. "
        "채점 결과에는 표시됩니다.",
        "Not checked: whether a text is too long for the models, as those of {profile} are not on this machine. The "
        "result of a scoring says it.",
    ),
    "output": Message("결과를 저장할 JSON 파일", "JSON file for the result"),
    "device": Message("계산 장치", "device to compute on"),
    "lang": Message("출력 언어", "language of the output"),
    "format": Message("출력 형식", "form of the output"),
    "baseline": Message("비교할 다른 결과 파일", "another result to compare with"),
    "no_targets": Message(
        "발표된 기준선과 목표(AI 허브의 설명문 과제)를 적지 않습니다",
        "leave out the published baseline and milestones (AI Hub's captioning task)",
    ),
    "result": Message("채점 결과 파일", "result file"),
    "result_a": Message("채점 결과 파일 A", "result file A"),
    "result_b": Message("채점 결과 파일 B(차이는 B−A)", "result file B (differences are B − A)"),
    "again_a": Message(
        "A와 같은 파일을 다시 채점한 결과(여러 번 줄 수 있음). 반복 폭 안의 차이는 다르다고 하지 않습니다",
        "a result of A's file scored again (may be repeated); a difference within the spread is not called one",
    ),
    "again_b": Message("B와 같은 파일을 다시 채점한 결과", "a result of B's file scored again"),
    "more_results": Message("함께 순위를 볼 결과 파일(더 있으면)", "further results to rank with them"),
    "again_for_two": Message(
        "--again-a와 --again-b는 두 결과를 비교할 때만 쓸 수 있습니다. 결과 파일을 둘만 주고 --weights는 빼십시오.",
        "--again-a and --again-b are for the comparison of two results: name two files, without --weights.",
    ),
    "results": Message("채점 결과 파일(하나 이상)", "result files, one or more"),
    "weights": Message(
        "점수 이름과 비중(예: rmse=45,spearman=45). 없으면 채점 방식의 비중을 씁니다",
        "scores with weights, such as rmse=45,spearman=45; without it those of the recipe",
    ),
    "human": Message("사람 점수 파일", "file of people's scores"),
    "human_given": Message(
        '사람 점수 파일: {{"id": ..., "score": 1~5}}의 JSON 배열이나 JSONL(-는 표준 입력)',
        'people\'s scores: a JSON array or JSON lines of {{"id": ..., "score": 1 to 5}} (-: standard input)',
    ),
    "judged_metric": Message("심사 지표의 이름(기본값 llm_judge)", "the judge's metric (default: llm_judge)"),
    "human_source": Message(
        "사람 점수의 출처: 누가, 어떤 기준으로 매겼는지",
        "where people's scores are from: who gave them, by which rubric",
    ),
    "weights_needed": Message(
        "{recipe}에는 정해진 종합 점수가 없습니다. --weights로 점수와 비중을 지정하십시오(예: 이름=50,이름=50). "
        "파일에 있는 점수: {known}",
        "{recipe} has no composite of its own. Name scores and weights with --weights, such as name=50,name=50. Scores "
        "in the files: {known}",
    ),
    "bad_weights": Message(
        "--weights의 «{part}»을(를) 읽을 수 없습니다. 이름=숫자 꼴로, 이름마다 한 번씩, 0보다 큰 숫자로 적어 "
        "주십시오(예: rmse=45,spearman=45).",
        "«{part}» of --weights cannot be read. Write name=number, each name once, each number above 0, such as "
        "rmse=45,spearman=45.",
    ),
    "unknown_scores": Message(
        "어느 파일에도 없는 점수입니다: {names}. 파일에 있는 점수: {known}",
        "No file has these scores: {names}. Scores in the files: {known}",
    ),
    "no_direction": Message(
        "높을수록 좋은지 낮을수록 좋은지 정해지지 않은 점수입니다: {names}. 쓸 수 있는 점수: {known}",
        "Whether these scores are better high or low is not known: {names}. Use one of: {known}",
    ),
    "other_recipe": Message(
        "채점 방식이 달라 함께 순위를 매길 수 없습니다: {a}은(는) {recipe_a}, {b}은(는) {recipe_b}입니다.",
        "Files of different recipes do not rank together: {a} is {recipe_a}, {b} is {recipe_b}.",
    ),
    "other_references": Message(
        "정답 파일의 내용이 달라 함께 순위를 매길 수 없습니다: {a}, {b}. 같은 정답으로 채점한 결과를 주십시오.",
        "Files scored against different references do not rank together: {a}, {b}. Score them against the same ones.",
    ),
    "other_metrics": Message(
        "지표를 잰 방법이 달라 함께 순위를 매길 수 없습니다: {a}, {b} ({metrics}). 같은 모델과 판으로 다시 채점해 "
        "주십시오.",
        "Files whose metrics were measured differently do not rank together: {a}, {b} ({metrics}). Score them again "
        "with the same models and version.",
    ),
    "missing_metrics": Message(
        "{a}에 있는 지표가 {b}에 없어 함께 순위를 매길 수 없습니다: {metrics}. 모두 그 지표로 채점하거나, --weights로 "
        "그 지표를 빼 주십시오.",
        "Files do not rank together where one lacks a metric of the other: {a} has {metrics}, {b} has not. Score all "
        "of them with it, or leave it out with --weights.",
    ),
    "rank_title": Message("말판 종합 순위", "Malpan composite ranking"),
    "rank_formula": Message(
        "지표마다 순위 r을 매겨(같은 값은 자리의 평균) (n − r) ÷ (n − 1)로 바꾸고 비중대로 평균합니다. 파일이 하나면 "
        "1입니다. 종합 점수는 함께 놓인 파일에 따라 달라집니다.",
        "Each score becomes a rank r (equal values share the mean of their places), the rank (n - r) / (n - 1), 1 for "
        "a single file, and the composite is their mean by weight. It depends on the files it is made with.",
    ),
    "rank_weights": Message("비중: {weights}", "Weights: {weights}"),
    "rank_left_out": Message("어느 파일에도 값이 없어 뺀 지표: {names}", "Left out, as no file has a value: {names}"),
    "rank_ties": Message(
        "종합 점수가 같은 파일은 순위가 같고 = 표시가 붙습니다. 사이트의 순위표에서는 먼저 제출한 팀이 앞섭니다.",
        "Files with equal composites share a rank, marked =. On a board of the site the earlier submission is higher.",
    ),
    "rank_file": Message("파일", "File"),
    "rank_place": Message("순위", "Rank"),
    "rank_composite": Message("종합 점수", "Composite"),
    "rank_rank": Message("순위", "Rank"),
    "rank_normalised": Message("0~1로 바꾼 순위", "Rank as 0-1"),
    "synonyms": Message(
        "METEOR 유의어 TSV 파일(묶음, 단어, 품사, 출처). 없으면 내장 유의어를 씁니다",
        "TSV file of METEOR's synonyms (group, word, pos, source); without it the built-in ones are used",
    ),
    "media": Message(
        "CLIPScore에 쓸 문항별 그림이나 프레임의 폴더 또는 ZIP 파일",
        "folder or ZIP file with the pictures or frames of the items, for CLIPScore",
    ),
    "action": Message("목록 · 내려받기 · 확인", "what to do with the models"),
    "cannot_read": Message(
        "파일을 읽을 수 없습니다: {path} ({detail}). 경로와 권한을 확인하십시오.",
        "Cannot read {path} ({detail}). Check the path and its permissions.",
    ),
    "cannot_write": Message(
        "파일을 저장할 수 없습니다: {path} ({detail}). 폴더가 있는지, 쓸 수 있는지 확인하십시오.",
        "Cannot write {path} ({detail}). Check that the folder exists and can be written to.",
    ),
    "invalid_result": Message(
        "채점 결과 파일이 아닙니다: {path} ({detail}). 'python -m scoring score --output'으로 만든 파일을 주십시오.",
        "{path} is not a score result ({detail}). Name a file made with 'python -m scoring score --output'.",
    ),
    "no_utf8": Message("UTF-8로 쓴 글이 아닙니다", "it is no text in UTF-8"),
    "stdin_once": Message(
        "표준 입력(-)은 한 파일에만 쓸 수 있습니다.", "Standard input (-) can stand for one file only."
    ),
    "version": Message("판 번호를 보여 주고 끝냅니다", "show the version and exit"),
    "no_such_file": Message("파일이 없습니다", "no such file"),
    "no_such_path": Message("파일이나 폴더가 없습니다", "no such file or folder"),
    "is_folder": Message("파일이 아니라 폴더입니다", "it is a folder"),
    "no_permission": Message("권한이 없습니다", "permission denied"),
    "no_folder": Message("쓸 수 있는 폴더가 아닙니다", "no folder to write to"),
    "error": Message("오류: {text}", "Error: {text}"),
    "fault": Message(
        "시스템 오류로 채점하지 못했습니다: {detail}", "The scoring failed, not through the file: {detail}"
    ),
    "no_model": Message("채점 모델을 쓸 수 없습니다: {detail}", "A model cannot be used: {detail}"),
    "not_sound": Message("{name} {path}: 오류 {total}건", "{name} {path}: errors: {total}"),
    "more": Message("… 오류 {count}건이 더 있습니다.", "… and more errors: {count}"),
    "sound": Message("이상이 없습니다: {path} (항목 {count}개)", "No errors: {path} ({count} items)"),
    "unreadable": Message(
        "읽을 수 있는 답이 하나도 없습니다: {path} (항목 {count}개). 아래에 적은 대로 고쳐 다시 검사하십시오.",
        "Not one answer can be read: {path} ({count} items). Mend them as said below and check again.",
    ),
    "same_file": Message(
        "제출 파일과 정답 파일이 똑같은 파일입니다. 정답 파일을 제출 파일로 주지 않았는지 확인하십시오.",
        "Predictions and references are the very same file: see whether the references were given as predictions.",
    ),
    "recognised": Message("파일 형식: {name}", "Format: {name}"),
    "columns": Message("줄\tid\t필드\t사유", "line\tid\tfield\treason"),
    "metrics": Message("지표", "metrics"),
    "ready": Message("사용 가능", "ready"),
    "missing": Message(
        "없음. 내려받기: python -m scoring models fetch {profile}",
        "missing; to fetch it: python -m scoring models fetch {profile}",
    ),
    "not_here": Message("이 컴퓨터에 없음", "not on this machine"),
    "made_at_first_use": Message("처음 쓸 때 만듦", "made at first use"),
    "profile_needed": Message(
        "모델 프로필을 지정하십시오: python -m scoring models {action} PROFILE",
        "Name a model profile: python -m scoring models {action} PROFILE",
    ),
    "models_needed": Message(
        "{recipe}에는 신경망 지표가 있으므로 --models로 모델 프로필을 지정하십시오: {profiles}, 또는 TOML 경로. "
        "official은 공식 채점과 같은 모델이고, demo는 시험용이라 점수를 공식 점수와 비교할 수 없습니다.",
        "{recipe} has neural metrics, so name a model profile with --models: {profiles}, or the path of a TOML. "
        "official has the models of the official scorer; scores of demo, for trials, cannot be compared with them.",
    ),
    "passed": Message("통과", "passed"),
    "failed": Message("실패", "FAILED"),
    "packages": Message(
        "패키지와 견준 값 — {pairs} (같은 모델, 같은 글, fp32)",
        "Our values beside the packages' - {pairs} (same models, same texts, fp32)",
    ),
    "built_in_pairs": Message("내장 글 쌍", "built-in pairs"),
    "comparison_columns": Message(
        "지표(패키지)|쌍|패키지 평균|말판 평균|최대 차이|그 쌍의 값(패키지 / 말판)|패키지 초|말판 초|판정",
        "metric (package)|pairs|package mean|our mean|largest difference|values there (package / ours)|package s|our s"
        "|result",
    ),
    "stored_columns": Message(
        "파일 평균|파일과의 최대 차이",
        "file mean|largest difference to the file",
    ),
    "scored_file": Message(
        "verify: 패키지로 다시 계산해 견줄 채점 결과 파일(--references, --predictions와 함께)",
        "verify: a result to compute again with the packages (with --references and --predictions)",
    ),
    "scored_references": Message("verify: 그 결과를 낸 정답 파일", "verify: the references of that result"),
    "scored_predictions": Message("verify: 그 결과를 낸 제출 파일", "verify: the predictions of that result"),
    "file_needs_both": Message(
        "--file, --references, --predictions는 함께 지정하십시오: 채점 결과와 그것을 낸 두 파일이 있어야 견줄 수 "
        "있습니다.",
        "Name --file, --references and --predictions together: a result is compared by the two files it was made of.",
    ),
    "precisions": Message(
        "정밀도에 따른 점수 차이(이 컴퓨터, 글 {count}쌍, fp32와 견줌). 정밀도는 프로필의 precision으로 고르며, "
        "정밀도가 다른 점수끼리는 순위를 매기지 않습니다.",
        "Scores by precision (this machine, {count} pairs, against fp32). Choose with precision in the profile; scores "
        "of different precisions never rank against each other.",
    ),
    "precision": Message(
        "최대 {largest:.1e}, 평균 {mean:.1e} 차이 · 속도 {speed:.1f}배",
        "differs by {largest:.1e} at most, {mean:.1e} on average; {speed:.1f} times as fast",
    ),
    "saved": Message("결과를 저장했습니다: {path}", "Saved: {path}"),
}


def say(key: str, language: Language, **params: Any) -> str:
    """The text of ``key`` with ``params`` filled in."""
    return WORDS[key].filled(language, **params)


def error_text(error: ScoringError, language: Language) -> str:
    """The message of ``error`` in ``language``; an error without one gets the text of its kind."""
    message = getattr(error, "message", None)
    if callable(message):
        return str(message(language))
    if isinstance(error, ScoringFault):
        return say("fault", language, detail=error)
    return say("no_model", language, detail=error) if isinstance(error, ModelUnavailable) else str(error)
