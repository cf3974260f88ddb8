"""The texts about a judge's answers in a file and about its agreement with people, in Korean and English."""

from __future__ import annotations

from typing import Final

from scoring.errors import Message

JUDGE_WORDS: Final[dict[str, Message]] = {
    "answers": Message(
        "심사 모델의 답을 모을 파일(기본값은 --output 이름에 .answers를 붙인 것). 중단된 뒤 다시 실행하거나 다른 제출 "
        "파일을 채점할 때 이미 받은 답은 묻지 않으며, 예산도 이어서 셉니다",
        "file for the judge's answers (default: the name of --output with .answers); run again after a crash, or with "
        "another predictions file, what was answered is not asked again, and the budget counts on",
    ),
    "answers_kept": Message(
        "받은 답은 {path}에 있습니다. 같은 명령을 다시 실행하면 나머지만 묻습니다.",
        "The answers so far are in {path}. Run the same command again, and only the rest is asked.",
    ),
    "answers_not_kept": Message(
        "심사 모델의 답을 모으지 않습니다. 중단되면 모두 다시 묻게 되니, --output이나 --answers로 파일을 지정하십시오.",
        "The judge's answers are not kept: all are asked again after a crash. Name a file with --output or --answers.",
    ),
    "answers_no_judge": Message(
        "--answers는 심사 모델이 있는 채점에만 씁니다. 심사 지표가 있는 채점 방식(--judge)과 [judge]가 있는 --models를 "
        "함께 지정하십시오.",
        "--answers is for a scoring with a judge. Name a recipe with a judge's metric (--judge) and --models with a "
        "profile that has a [judge].",
    ),
    "answers_unusable": Message(
        "심사 모델의 답을 여기에 모을 수 없습니다: {path} ({detail}). --answers에 다른 이름을 주십시오.",
        "The judge's answers cannot be kept here: {path} ({detail}). Give --answers another name.",
    ),
    "answers_another_file": Message("다른 종류의 파일이 있습니다", "there is a file of another kind"),
    "answers_in_use": Message(
        "심사 모델의 답을 여기에 모을 수 없습니다: {path} ({detail}). 그 실행이 끝난 뒤 다시 실행하거나 다른 이름을 "
        "주십시오.",
        "The judge's answers cannot be kept here: {path} ({detail}). Wait until it is done, or give another name.",
    ),
    "answers_another_process": Message("다른 실행이 쓰고 있습니다", "another process is writing it"),
    "agreement_title": Message(
        "심사 모델과 사람의 일치도: {metric}, 문항 {items}개", "Agreement of judge and people: {metric}, {items} items"
    ),
    "agreement_judge": Message("심사 모델: {judge}, 기준: {prompt}", "Judge: {judge}; rubric: {prompt}"),
    "agreement_rule": Message(
        "사람의 점수는 카파에서만 반올림합니다(0.5는 올림). 구간은 문항을 다시 뽑은 10,000번의 95% 백분위수입니다. "
        "한쪽의 점수가 모두 같으면 상관은 정할 수 없고, 카파는 정의에 따라 0입니다.",
        "People's scores are rounded for kappa alone, halves up. Intervals: 95 % percentiles of 10,000 draws of the "
        "items. Where all scores of one side are equal correlations cannot be determined; kappa is 0 by definition.",
    ),
    "agreement_undefined": Message("정할 수 없음", "cannot be determined"),
    "agreement_constant_judge": Message(
        "정할 수 없는 값이 있는 까닭: 심사 모델의 점수가 모두 같습니다.",
        "Why a figure cannot be determined: all scores of the judge are equal.",
    ),
    "agreement_constant_people": Message(
        "정할 수 없는 값이 있는 까닭: 사람의 점수가 모두 같습니다.",
        "Why a figure cannot be determined: all scores of people are equal.",
    ),
    "agreement_constant_both": Message(
        "정할 수 없는 값이 있는 까닭: 심사 모델의 점수도, 사람의 점수도 모두 같습니다.",
        "Why a figure cannot be determined: all scores of the judge are equal, and all of people are.",
    ),
    "agreement_unanswered": Message(
        "심사 모델의 답이 없어 뺀 문항: {count}개", "Left out, as the judge has no answer for them: {count} items"
    ),
    "agreement_source": Message("사람 점수의 출처: {source}", "Source of people's scores: {source}"),
    "agreement_value": Message("값", "Value"),
    "agreement_interval": Message("95% 구간", "95 % interval"),
    "agreement_pearson": Message("Pearson 상관", "Pearson correlation"),
    "agreement_spearman": Message("Spearman 순위 상관", "Spearman rank correlation"),
    "agreement_kappa": Message("이차 가중 카파", "Quadratic weighted kappa"),
}
