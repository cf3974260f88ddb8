"""The teams of the demo and what they upload, as a table: from nearly perfect down to a baseline that reads nothing."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from malpan.demo.habits import CULTURE_QA, RAG_QA, DemoTeam, Habit, Packing, Prose, Upload


def at(day: int, clock: str) -> timedelta:
    """``day`` whole days and a time of day (``23:50``) after the start of the phase, which is a midnight in Korea."""
    hours, minutes = map(int, clock.split(":"))
    return timedelta(days=day, hours=hours, minutes=minutes)


_HANMAL: Final = DemoTeam(
    "hanmal",
    "한말글 연구소",
    ("윤서진", "박도현", "최이나"),
    (
        Upload(RAG_QA, Habit(wrong=0.02, thin=0.02), "hanmal_rag_v7.json", at(5, "21:14"), "사전 검색 결과 재정렬 v7"),
        Upload(CULTURE_QA, Habit(thin=0.1), "hanmal_culture_v3.json", at(5, "22:40"), "검색 + 다수결 v3"),
    ),
)

# Two submissions: the second gets right a part of what the first got wrong.
_CLIMBERS: Final = DemoTeam(
    "climbers",
    "세종대로 새벽반",
    ("김하늘", "오준서"),
    (
        Upload(RAG_QA, Habit(wrong=0.35, thin=0.5), "submission_0.json", at(1, "05:32"), "첫 제출, 검색 없이"),
        Upload(RAG_QA, Habit(wrong=0.08, thin=0.1), "submission_1.json", at(4, "06:05"), "어문 규범 검색 추가"),
        Upload(CULTURE_QA, Habit(wrong=0.4, thin=0.5), "culture_0.json", at(2, "05:50"), "첫 제출"),
        Upload(CULTURE_QA, Habit(wrong=0.1, thin=0.2), "culture_1.json", at(5, "06:11"), "백과사전 검색 추가"),
    ),
)

_CONCISE: Final = DemoTeam(
    "concise",
    "한 문장이면 충분해",
    ("이수민",),
    (
        Upload(RAG_QA, Habit(wrong=0.06, prose=Prose.SHORT), "answers.json", at(3, "13:20"), "짧게 답하는 프롬프트"),
        Upload(CULTURE_QA, Habit(wrong=0.1, prose=Prose.SHORT), "answers_culture.json", at(3, "13:41")),
    ),
)

_TALKERS: Final = DemoTeam(
    "talkers",
    "이야기보따리",
    ("정유나", "한지호", "서민재", "강다은"),
    (
        Upload(
            RAG_QA,
            Habit(wrong=0.09, prose=Prose.RAMBLING),
            "보따리_최종_진짜최종.json",
            at(6, "23:50"),
            "길게 설명하기",
        ),
        Upload(CULTURE_QA, Habit(wrong=0.1, prose=Prose.RAMBLING), "보따리_문화.json", at(6, "23:55"), "길게 설명하기"),
    ),
)

_DECOMPOSED: Final = DemoTeam(
    "decomposed",
    "자음과 모음 사이",
    ("임소율", "문태오"),
    (
        Upload(
            RAG_QA,
            Habit(wrong=0.15, thin=0.2, quote="'"),
            "맥북에서_만든_답안.json",
            at(2, "17:02"),
            "macOS에서 저장",
            Packing.JSON_NFD,
        ),
        Upload(
            CULTURE_QA,
            Habit(wrong=0.2, thin=0.2),
            "문화_답안.json",
            at(2, "17:25"),
            "macOS에서 저장",
            Packing.JSON_NFD,
        ),
    ),
)

# Reasons only for two items in three: under the official rule the rest does not count against the team.
_SILENT: Final = DemoTeam(
    "silent",
    "답만 아는 사람들",
    ("배현우", "송가람"),
    (
        Upload(
            RAG_QA, Habit(wrong=0.18, silent=1 / 3, thin=0.2), "result.json", at(4, "11:08"), "자신 없는 이유는 생략"
        ),
        Upload(CULTURE_QA, Habit(wrong=0.2, silent=1 / 3), "result_culture.json", at(4, "11:30")),
    ),
)

# Its name is as long as a name may be: sixty characters.
_LONG_NAME: Final = DemoTeam(
    "long-name",
    "우리말과 우리글을 바르고 곱게 쓰고 싶어서 퇴근하고 저녁마다 도서관에 모여 사전을 함께 읽는 다섯 사람 모임",
    ("권나래", "조은별", "황보라", "남궁솔", "유찬영"),
    (
        Upload(
            RAG_QA, Habit(wrong=0.24, thin=0.3), "predictions.jsonl", at(3, "20:15"), "한 줄에 한 문항", Packing.JSONL
        ),
        Upload(
            CULTURE_QA, Habit(wrong=0.3, thin=0.3), "culture.jsonl", at(3, "20:31"), "한 줄에 한 문항", Packing.JSONL
        ),
    ),
)

_SECOND_TRY: Final = DemoTeam(
    "second-try",
    "검사부터 합시다",
    ("양시우", "고은채"),
    (
        Upload(RAG_QA, Habit(wrong=0.32, thin=0.4), "merged_shards.json", at(2, "22:47"), packing=Packing.BROKEN),
        Upload(RAG_QA, Habit(wrong=0.32, thin=0.4), "merged_shards_fixed.json", at(2, "23:05"), "겹친 id를 지움"),
        Upload(CULTURE_QA, Habit(wrong=0.4, thin=0.4), "culture_fixed.json", at(3, "22:10")),
    ),
)

_CONFUSED: Final = DemoTeam(
    "confused",
    "헷갈려도 괜찮아",
    ("신예준",),
    (
        Upload(RAG_QA, Habit(wrong=0.5, prose=Prose.SHORT), "final.json", at(1, "02:18"), "작은 모델, 조정 없음"),
        Upload(CULTURE_QA, Habit(wrong=0.55, prose=Prose.SHORT), "final_culture.json", at(1, "02:33")),
    ),
)

_BASELINE: Final = DemoTeam(
    "baseline",
    "기준 모델: 첫 번째 보기 고르기",
    ("기준 모델 운영",),
    (
        Upload(
            RAG_QA, Habit(prose=Prose.GENERIC, guesses=True), "baseline.json", at(0, "09:00"), "무조건 첫 번째 보기"
        ),
        Upload(
            CULTURE_QA, Habit(prose=Prose.GENERIC, guesses=True), "baseline_culture.json", at(0, "09:05"), "무조건 1번"
        ),
    ),
    is_baseline=True,
)

TEAMS: Final[tuple[DemoTeam, ...]] = (
    _HANMAL,
    _CLIMBERS,
    _CONCISE,
    _TALKERS,
    _DECOMPOSED,
    _SILENT,
    _LONG_NAME,
    _SECOND_TRY,
    _CONFUSED,
    _BASELINE,
)
PAST_TEAMS: Final[tuple[DemoTeam, ...]] = (_HANMAL, _TALKERS, _LONG_NAME, _CONFUSED, _BASELINE)
