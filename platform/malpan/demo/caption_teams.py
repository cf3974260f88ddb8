"""The teams of the captioning demo as a table, two of which say the same of every scene."""

from __future__ import annotations

from typing import Final

from malpan.demo.habits import CAPTIONS, CaptionHabit, DemoTeam, Packing, Upload
from malpan.demo.teams import at

# What fools METEOR, which rewards recall nine times as much as precision: the thirty commonest Okt morphs of the
# references (a tie goes to the one that sorts first), strung together so that those which most often follow each other
# stand side by side, for METEOR takes half of the score away where no two matches do. Pieces that have no such
# neighbour left come in the order of their mean place in a reference. tests/submissions/test_demo_captions.py makes it
# again from the references.
STUFFING: Final = (
    "의 아이 아래 를 쓴 사람 들 이 눈 두 손 으로 공 을 입은 앞 에 앉아 위 에서 한 남자 가 물 고 있다 . 로 하고 한다"
)
ORDINARY: Final = "사람들이 길을 걷고 있다."


def _team(key: str, name: str, people: tuple[str, ...], *uploads: Upload, is_baseline: bool = False) -> DemoTeam:
    return DemoTeam(f"captions-{key}", name, people, uploads, is_baseline)


def _upload(
    habit: CaptionHabit, file_name: str, day: int, clock: str, memo: str = "", packing: Packing = Packing.JSON
) -> Upload:
    return Upload(CAPTIONS, habit, file_name, at(day, clock), memo, packing)


CAPTION_TEAMS: Final[tuple[DemoTeam, ...]] = (
    _team(
        "sketch",
        "눈으로 쓰는 연구실",
        ("백서윤", "노지훈", "차은호"),
        _upload(
            CaptionHabit(wrong=0.05, plain=0.05, detailed=0.1), "sketch_v9.json", 5, "20:48", "큰 모델, 다시 순위 매김"
        ),
    ),
    # Two submissions: the second describes no scene worse than the first.
    _team(
        "morning",
        "아침마다 한 장면",
        ("류가온", "심재이"),
        _upload(CaptionHabit(wrong=0.5, plain=0.4), "captions_0.json", 1, "06:20", "첫 제출, 카드를 그대로 이어 붙임"),
        _upload(CaptionHabit(wrong=0.1, plain=0.2), "captions_1.json", 4, "06:41", "말투를 정답에 맞춤"),
    ),
    _team(
        "storytellers",
        "보이는 대로 다 말해 보자",
        ("민채원", "구본결", "도유진"),
        _upload(CaptionHabit(wrong=0.2, plain=0.05, detailed=0.6), "자세한_설명.json", 6, "23:12", "되도록 자세하게"),
    ),
    _team(
        "brief",
        "짧고 굵게",
        ("허소담",),
        _upload(CaptionHabit(wrong=0.05, plain=0.75), "short.json", 3, "12:30", "되도록 짧게"),
    ),
    _team(
        "tabs",
        "탭으로 나눈 사이",
        ("방태윤", "석하린"),
        _upload(
            CaptionHabit(wrong=0.15, plain=0.2, detailed=0.1),
            "captions.tsv",
            2,
            "19:05",
            "스프레드시트에서 저장",
            Packing.TSV,
        ),
    ),
    _team(
        "frames",
        "첫 장면만 보는 모델",
        ("엄지안", "편도율"),
        _upload(
            CaptionHabit(wrong=0.25, plain=0.15, detailed=0.15),
            "frames_result.json",
            4,
            "15:27",
            "영상마다 한 장만 봄",
            Packing.IMAGES,
        ),
    ),
    _team(
        "long-name",
        "하루에 영상 하나씩 보고 어머니께 전화로 말씀드리듯이 또박또박 설명하는 연습을 하는 모임",
        ("탁수빈", "봉예나", "진하람", "옥지민"),
        _upload(CaptionHabit(wrong=0.3, detailed=0.3), "daily.jsonl", 3, "21:55", "한 줄에 한 영상", Packing.JSONL),
    ),
    _team(
        "decomposed",
        "풀어쓴 풍경",
        ("제갈민", "인서하"),
        _upload(CaptionHabit(wrong=0.2, plain=0.3), "풍경_설명.json", 2, "17:40", "macOS에서 저장", Packing.JSON_NFD),
    ),
    # A fifth of the scenes is not in the file: they score 0, whatever the others do.
    _team(
        "skipping",
        "다섯 가운데 넷",
        ("어진솔", "부하늬"),
        _upload(
            CaptionHabit(wrong=0.08, plain=0.1, detailed=0.1, missing=0.2),
            "partial.json",
            4,
            "10:16",
            "어두운 영상 제외",
        ),
    ),
    # Half of its captions are right, all are sentences, and "stuffing" stands above it.
    _team(
        "second-try",
        "번호부터 맞추자",
        ("국다온", "마이준"),
        _upload(CaptionHabit(wrong=0.5, plain=0.5), "merged.json", 2, "22:03", packing=Packing.BROKEN),
        _upload(CaptionHabit(wrong=0.5, plain=0.5), "merged_fixed.json", 2, "22:26", "id를 다시 매김"),
    ),
    _team(
        "stuffing",
        "단어만 서른 개",
        ("운영진 실험",),
        _upload(CaptionHabit(constant=STUFFING), "thirty_words.json", 3, "03:33", "모든 장면에 같은 단어 서른 개"),
    ),
    _team(
        "baseline",
        "기준 모델: 늘 같은 한 문장",
        ("기준 모델 운영",),
        _upload(CaptionHabit(constant=ORDINARY), "baseline.json", 0, "09:00", "장면을 보지 않음"),
        is_baseline=True,
    ),
)
