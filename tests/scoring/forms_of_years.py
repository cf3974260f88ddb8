"""A file of every task and year in its exact form, with content of our own, and the value of the official rule.

Each rule here is written anew from what the scorer of the contest does, with other means than the package: plain loops,
scikit-learn, nltk and rouge-metric. ``source`` says which public file shows the form.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mecab
from nltk.translate.bleu_score import sentence_bleu
from rouge_metric import PyRouge
from sklearn.metrics import accuracy_score, f1_score, mean_squared_error

from scoring.metrics.rouge import clean

Row = dict[str, Any]


@dataclass(frozen=True)
class Year:
    """``rows`` as published, ``answers`` as a participant sends them; ``official`` takes the rows of both."""

    task: str
    year: int
    recipe: str
    score: str
    source: str
    rows: list[Row]
    answers: list[Row]
    official: Callable[[list[Row], list[Row]], float]
    is_lines: bool = False

    @property
    def name(self) -> str:
        return f"{self.task} {self.year}"

    def file(self, rows: list[Row]) -> bytes:
        texts = [json.dumps(row, ensure_ascii=False) for row in rows]
        return ("\n".join(texts) if self.is_lines else f"[{', '.join(texts)}]").encode()


def outputs(rows: Sequence[Row]) -> list[Any]:
    return [row["output"] for row in rows]


def accuracy(rows: list[Row], answers: list[Row]) -> float:
    return float(accuracy_score(outputs(rows), outputs(answers)))


def f1(average: str) -> Callable[[list[Row], list[Row]], float]:
    return lambda rows, answers: float(f1_score(outputs(rows), outputs(answers), average=average))


def mean_error(rows: list[Row], answers: list[Row]) -> float:
    return float(mean_squared_error([*map(float, outputs(rows))], [*map(float, outputs(answers))]))


def label_objects(rows: list[Row], answers: list[Row]) -> float:
    """By position, as the scorer: the objects of a file list their labels in one order."""
    marks = [
        [[int(truth in ("True", "true")) for truth in each.values()] for each in outputs(f)] for f in (rows, answers)
    ]
    return float(f1_score(*marks, average="micro"))


def texts_of(output: Any) -> list[str]:
    return output if isinstance(output, list) else [output]


def pooled_rouge(key: str) -> Callable[[list[Row], list[Row]], float]:
    """The counts of all references of an item together, then F; the mean over the items."""

    def value(rows: list[Row], answers: list[Row]) -> float:
        morphs = mecab.MeCab().morphs
        rouge = PyRouge(rouge_n=(1,), rouge_l=True, mode="individual", multi_ref_mode="average")
        split = [[morphs(clean(line)) for line in answer.split("\n")] for answer in outputs(answers)]
        several = [
            [[morphs(clean(line)) for line in text.split("\n")] for text in texts_of(output)]
            for output in outputs(rows)
        ]
        found = [each[key]["f"] for each in rouge.evaluate_tokenized(split, several)]
        return math.fsum(found) / len(found)

    return value


def mean_bleu(rows: list[Row], answers: list[Row]) -> float:
    morphs = mecab.MeCab().morphs
    found = []
    for row, answer in zip(rows, answers, strict=True):
        texts = texts_of(row["output"])
        values = [sentence_bleu([morphs(text)], morphs(answer["output"]), weights=(1, 0, 0, 0)) for text in texts]
        found.append(sum(values) / len(values))
    return sum(found) / len(found)


def of_targets(rows: list[Row], answers: list[Row]) -> float:
    both = [
        sorted((target["id"], target["label"]) for output in outputs(file) for target in output)
        for file in (rows, answers)
    ]
    return sum(a == b for a, b in zip(*both, strict=True)) / len(both[0])


def of_opinions(rows: list[Row], answers: list[Row]) -> float:
    tp = fp = fn = 0
    for row, answer in zip(rows, answers, strict=True):
        true, given = row["annotation"], answer["annotation"]
        for category, _words, polarity in true:
            first = next((each for each in given if each[0] == category), None)
            tp, fn = (tp + 1, fn) if first is not None and first[1] == polarity else (tp, fn + 1)
        for category, polarity in given:
            best = next((each for each in true if each[0] == category), None)
            fp += best is None or best[2] != polarity
    precision, recall = tp / (tp + fp), tp / (tp + fn)
    return 2 * precision * recall / (precision + recall)


def rows_of(prefix: str, *parts: tuple[Any, Any, Any]) -> tuple[list[Row], list[Row]]:
    """(input, reference, answer) as two files."""
    ids = [f"{prefix}-{number:06}" for number in range(1, len(parts) + 1)]
    both = [
        [{"id": name, "input": part[0], "output": part[side]} for name, part in zip(ids, parts, strict=True)]
        for side in (1, 2)
    ]
    return both[0], both[1]


_LOGIC = rows_of(
    "nikluge-2025-문장_간_논리_관계_판별-dev",
    ({"front": "비가 왔다.", "back": "길이 젖었다."}, "순접", "순접"),
    ({"front": "비가 왔다.", "back": "길은 말랐다."}, "역접", "순접"),
)
_CHAT = rows_of(
    "nikluge-2025-일상대화연결-dev",
    ({"conversation": [{"utterance": "점심 먹었어?"}]}, "발화3", "발화3"),
    ({"conversation": [{"utterance": "영화 볼래?"}]}, "발화1", "발화2"),
)
_GRAMMAR = rows_of(
    "nikluge-2025-grammar-dev",
    ({"question_type": "다지선다", "question": "맞춤법에 맞는 것은?"}, "2", "2"),
    ({"question_type": "다지선다", "question": "높임말은?"}, "4", "1"),
)
_CONTEXT = rows_of(
    "nikluge-2024-대화맥락추론-dev",
    ({"conversation": [], "category": "원인", "inference_1": "가", "inference_2": "나"}, "inference_2", "inference_2"),
    ({"conversation": [], "category": "결과", "inference_1": "가", "inference_2": "나"}, "inference_1", "inference_3"),
)
_LINK = rows_of(
    "nikluge-2024-문장연결추론-dev",
    ({"sentence_1": "비가 왔다.", "sentence_3": "우산을 폈다."}, "sentence_2_candidate_2", "sentence_2_candidate_2"),
    ({"sentence_1": "배가 고팠다.", "sentence_3": "배가 불렀다."}, "sentence_2_candidate_1", "sentence_2_candidate_2"),
)
_ENTAILMENT = rows_of(
    "nikluge-2024-함의분석결과설명문생성-dev",
    (
        {"premise": "두 사람은 어제 만났다.", "proposition": "둘은 만났다.", "label": "entailment"},
        "전제에서 두 사람이 어제 만났다고 했으므로 가설은 함의에 해당한다.",
        "두 사람이 만났다고 했으니 함의이다.",
    ),
    (
        {"premise": "가게는 문을 닫았다.", "proposition": "가게는 열려 있다.", "label": "contradiction"},
        "문을 닫은 가게는 열려 있을 수 없다.\n따라서 모순에 해당한다.",
        "가게가 닫혔으므로 모순이다.\n가설은 맞지 않는다.",
    ),
)
_MINUTES = rows_of(
    "nikluge-2024-국회 회의록 안건별 요약-dev",
    (
        {"speaker": [], "conversation": [], "issue": {"topic": "예산"}},
        "예산안을 다시 논의하기로 했다.",
        "예산을 다시 논의한다.",
    ),
)
_STORY = rows_of(
    "nikluge-sc-2023-dev",
    ({"sentence1": "아침에 늦잠을 잤다.", "sentence3": "버스를 놓쳤다."}, "서둘러 집을 나섰다.", "급히 집에서 나왔다."),
    ({"sentence1": "씨앗을 심었다.", "sentence3": "꽃이 피었다."}, "날마다 물을 주었다.", "물을 날마다 주었다."),
)
_EMOTIONS = rows_of(
    "nikluge-ea-2023-dev",
    (
        {"form": "드디어 봄이다!", "target": {"form": None, "begin": None, "end": None}},
        {"joy": "True", "anticipation": "True", "trust": "False", "anger": "False"},
        {"joy": "True", "anticipation": "False", "trust": "False", "anger": "False"},
    ),
    (
        {"form": "또 늦었네.", "target": {"form": "늦", "begin": 2, "end": 3}},
        {"joy": "False", "anticipation": "False", "trust": "False", "anger": "True"},
        {"joy": "False", "anticipation": "True", "trust": "False", "anger": "True"},
    ),
)
_ATTITUDE = rows_of("nikluge-2023-iau-dev", ("정말 잘했다", "POSITIVE", "POSITIVE"), ("별로다", "NEGATIVE", "POSITIVE"))
_HATE = rows_of("nikluge-au-2022-dev", ("어서 오세요", 0, 0), ("저리 가", 1, 0), ("꺼져", 1, 1))
_INFERENCE = rows_of(
    "nikluge-2022-nli-dev",
    ({"context": "비가 온다.", "prompt": "하늘이 흐리다."}, "6.375", "6.5732"),
    ({"context": "비가 온다.", "prompt": "하늘이 맑다."}, "1", "2.25"),
)
_TABLE = rows_of(
    "nikluge-2022-table-dev",
    (
        {
            "metadata": {"title": "인구", "highlighted_cells": [[1, 1]]},
            "table": [[{"value": "서울", "is_header": True}]],
        },
        ["서울의 인구는 940만 명이다.", "서울에는 940만 명이 산다."],
        "서울 인구는 940만 명이다.",
    ),
    (
        {
            "metadata": {"title": "면적", "highlighted_cells": [[2, 1]]},
            "table": [[{"value": "부산", "is_header": True}]],
        },
        ["부산의 면적은 770㎢이다."],
        "부산 면적은 서울보다 넓다.",
    ),
)
_PICTURE = rows_of(
    "nikluge-2022-image-dev",
    (
        "K0A0001",
        ["고양이가 길에 앉아 있다.", "길고양이 한 마리가 앉았다.", "고양이가 쉬고 있다."],
        "고양이가 앉아 있다.",
    ),
    ("K0A0018", ["아이가 웃는다.", "웃는 아이"], "아이가 운다."),
)
_SIGN = rows_of(
    "nikluge-gips-2023-dev",
    (
        {"id": "P00001", "image_width": 600, "image_height": 400, "ocr_info": [{"words": "2인승", "bbox": {"x": 1}}]},
        ["2인승이라고 적힌 안내판이 있다.", "안내판에 2인승이라고 적혀 있다,"],
        "안내판에 2인승이라고 쓰여 있다.",
    ),
)
_ABUSE = rows_of(
    "nikluge-2025-au-dev",
    (
        {"document_id": "d1", "utterance": [{"id": "d1-001", "form": "안녕"}, {"id": "d1-002", "form": "저리 가"}]},
        [{"id": "d1-001", "label": "적절"}, {"id": "d1-002", "label": "부적절"}],
        [{"id": "d1-002", "label": "부적절"}, {"id": "d1-001", "label": "적절"}],
    ),
    (
        {"document_id": "d2", "utterance": [{"id": "d2-001", "form": "그래"}]},
        [{"id": "d2-001", "label": "적절"}],
        [{"id": "d2-001", "label": "부적절"}],
    ),
)
_ASPECTS = (
    [
        {"id": "nikluge-sa-2022-dev-00001", "sentence_form": "소리가 나서 불편하다.",
         "annotation": [["본품#품질", ["소리", 0, 2], "negative"]]},
        {"id": "nikluge-sa-2022-dev-00002", "sentence_form": "값도 좋고 모양도 예쁘지만 약하다.",
         "annotation": [["제품 전체#가격", ["값", 0, 1], "positive"], ["본품#디자인", ["모양", 6, 8], "positive"],
                        ["제품 전체#가격", [None, 0, 0], "negative"]]},
        {"id": "nikluge-sa-2022-dev-00003", "sentence_form": "그냥 그렇다.",
         "annotation": [["제품 전체#일반", [None, 0, 0], "neutral"]]},
    ],
    [
        {"id": "nikluge-sa-2022-dev-00001", "sentence_form": "소리가 나서 불편하다.",
         "annotation": [["본품#품질", "negative"], ["본품#일반", "negative"]]},
        {"id": "nikluge-sa-2022-dev-00002", "sentence_form": "값도 좋고 모양도 예쁘지만 약하다.",
         "annotation": [["제품 전체#가격", "positive"], ["본품#디자인", "negative"], ["제품 전체#가격", "negative"]]},
        {"id": "nikluge-sa-2022-dev-00003", "annotation": []},
    ],
)  # fmt: skip

_BY_ACCURACY = ("classification-accuracy@1", "accuracy")
_BY_ROUGE = ("generation-rouge1@1", "rouge_1")
_README = "README of the baseline"
YEARS = (
    Year("문장 간 논리 관계 판별", 2025, *_BY_ACCURACY, _README, *_LOGIC, accuracy),
    Year("일상 대화 연결", 2025, *_BY_ACCURACY, _README, *_CHAT, accuracy),
    Year("국어문법 질의응답", 2025, *_BY_ACCURACY, _README, *_GRAMMAR, accuracy),
    Year("대화 맥락 기반 부적절 발언 탐지", 2025, "target-accuracy@1", "accuracy", _README, *_ABUSE, of_targets),
    Year("대화 맥락 추론", 2024, *_BY_ACCURACY, "Korean_CCI_2024", *_CONTEXT, accuracy),
    Year("문장 연결 추론", 2024, *_BY_ACCURACY, "Korean_CSI_2024", *_LINK, accuracy),
    Year("함의분석 결과 설명문 생성", 2024, *_BY_ROUGE, "Korean_TE_2024", *_ENTAILMENT, pooled_rouge("rouge-1"), True),
    Year(
        "함의분석 결과 설명문 생성 (ROUGE-L)", 2024, "generation-rougel@1", "rouge_l", "calc_ROUGE_L of the scorer",
        *_ENTAILMENT, pooled_rouge("rouge-l"),
    ),
    Year("국회 회의록 안건별 요약", 2024, *_BY_ROUGE, "Korean_NAMS_2024", *_MINUTES, pooled_rouge("rouge-1")),
    Year("이야기 완성", 2023, "generation-bleu@1", "bleu_1", "Korean_SC_2023", *_STORY, mean_bleu, True),
    Year("감정 분석", 2023, "multi-label@1", "f1_micro", "Korean_EA_2023", *_EMOTIONS, label_objects, True),
    Year("태도 탐지", 2023, "classification@1", "f1_macro", "Korean_IAU_2023", *_ATTITUDE, f1("macro"), True),
    Year(
        "태도 탐지 (가중)", 2023, "classification-weighted@1", "f1_weighted",
        "calc_classification_weighted_F1 of the scorer", *_ATTITUDE, f1("weighted"),
    ),
    Year("혐오 표현 탐지", 2022, "classification@1", "f1_micro", "korean_AU_baseline", *_HATE, f1("micro"), True),
    Year("자연어 추론", 2022, "regression@1", "mse", "korean_NLI_baseline", *_INFERENCE, mean_error, True),
    Year(
        "표 기반 문장 생성", 2022, "generation-from-data@1", "rouge_1", "korean_T2T_2023", *_TABLE,
        pooled_rouge("rouge-1"), True,
    ),
    Year(
        "그림(사진) 기반 문장 생성", 2022, "generation-from-data@1", "bleu_1", "korean_IC_baseline",
        *_PICTURE, mean_bleu, True,
    ),
    Year(
        "문자가 포함된 그림(사진) 기반 문장 생성", 2023, "generation-from-data@1", "rouge_1", "korean_IC_2023", *_SIGN,
        pooled_rouge("rouge-1"),
    ),
    Year(
        "속성 기반 감성 분석", 2022, "aspect-sentiment@1", "sa_f1", "korean_ABSA_baseline", *_ASPECTS, of_opinions, True
    ),
)  # fmt: skip
