"""The demo's competitions as a table: three that are open for two months, and a small one that is over."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final, Literal

from malpan.demo.captions import scenes
from malpan.demo.content import contest_items, culture_items, first_culture_items
from malpan.demo.documents import page_text
from malpan.demo.essays import essays, published_essays
from malpan.demo.habits import CAPTIONS, CULTURE_QA, ESSAYS, RAG_QA, DemoTeam
from malpan.demo.teams import CAPTION_TEAMS, ESSAY_TEAMS, PAST_TEAMS, TEAMS
from malpan.demo.tracks import CaptionTrack, EssayTrack, QuestionTrack, TrackSpec


@dataclass(frozen=True, slots=True)
class PhaseSpec:
    """The one phase of every track. Days count from today, in Korea: from 00:00 of one to 23:59 of the other.

    ``counting``: a value of ``Phase.Counting``, for tracks that rank by a composite.
    """

    first_day: int
    last_day: int
    title_ko: str
    title_en: str
    daily_limit: int | None = None
    total_limit: int | None = None
    min_interval: timedelta = timedelta(0)
    counting: Literal["best", "latest"] = "best"


@dataclass(frozen=True, slots=True)
class CompetitionSpec:
    slug: str
    title_ko: str
    title_en: str
    summary_ko: str
    summary_en: str
    description_ko: str
    description_en: str
    phase: PhaseSpec
    tracks: tuple[TrackSpec, ...]
    teams: tuple[DemoTeam, ...]
    cover: str  # a value of Competition.Cover


_RAG_QA: Final = QuestionTrack(
    slug=RAG_QA,
    recipe="rag-qa@1",
    title_ko="한국어 어문 규범 질의응답",
    title_en="Korean language norms",
    description_ko="맞춤법과 띄어쓰기, 표준어에 맞는 문장을 고르거나 고치고(선택형, 교정형) 그 이유를 설명합니다.",
    description_en="Choose or correct a sentence by the norms of Korean spelling and usage, and explain why.",
    items=contest_items,
)
_CULTURE_QA: Final = QuestionTrack(
    slug=CULTURE_QA,
    recipe="culture-qa@1",
    title_ko="한국 문화 질의응답",
    title_en="Korean culture",
    description_ko="한국의 기록과 예술, 의식주와 세시 풍속을 묻습니다. 선다형, 단답형, 서술형이 있습니다.",
    description_en="Questions on Korean records, arts, daily life and seasonal customs: choices, terms, descriptions.",
    items=culture_items,
)
_PAST_CULTURE_QA: Final = QuestionTrack(
    slug=CULTURE_QA,
    recipe="culture-qa@1",
    title_ko="한국 문화 질의응답(예선)",
    title_en="Korean culture (warm-up)",
    description_ko="선다형, 단답형, 서술형을 다섯 문항씩 풉니다.",
    description_en="Five choices, five terms, five descriptions.",
    items=partial(first_culture_items, 5),
)
_CAPTIONS: Final = CaptionTrack(
    slug=CAPTIONS,
    recipe="captioning@1",
    title_ko="장면 설명",
    title_en="Captions of scenes",
    description_ko="일상의 장면 예순네 개를 한국어 한 문장씩으로 설명합니다. METEOR로 순위를 매깁니다.",
    description_en="Describe sixty-four everyday scenes in one Korean sentence each. METEOR ranks.",
    score_scale=1,
    score_decimals=4,
    has_published_targets=True,
    scenes=scenes,
)
_ESSAYS: Final = EssayTrack(
    slug=ESSAYS,
    recipe="essay-scoring@1",
    title_ko="글쓰기 채점",
    title_en="Essay scoring",
    description_ko="주장하는 글의 내용, 조직, 표현에 1점에서 5점까지 점수를 매기고 그 까닭을 씁니다.",
    description_en="Score the content, organization and expression of argumentative essays from 1 to 5, with reasons.",
    score_scale=1,
    score_decimals=4,
    essays=essays,
    published=published_essays,
)

COMPETITIONS: Final[tuple[CompetitionSpec, ...]] = (
    CompetitionSpec(
        slug="demo-past",
        title_ko="말판 데모 예선: 한국 문화 맛보기",
        title_en="Malpan demo warm-up: a taste of Korean culture",
        summary_ko="한국 문화 문항 열다섯 개로 치른 짧은 예선입니다. 끝난 대회의 순위표를 볼 수 있습니다.",
        summary_en="A short warm-up on fifteen questions of Korean culture. It is over; its board stays.",
        description_ko=page_text("past.ko"),
        description_en=page_text("past.en"),
        phase=PhaseSpec(-60, -31, "예선", "Warm-up", daily_limit=5),
        tracks=(_PAST_CULTURE_QA,),
        teams=PAST_TEAMS,
        cover="purple",
    ),
    CompetitionSpec(
        slug="demo",
        title_ko="말판 데모: 한국어 어문 규범과 한국 문화",
        title_en="Malpan demo: Korean language norms and Korean culture",
        summary_ko="어문 규범은 이유까지, 한국 문화는 세 유형으로 묻습니다. 누구나 제출해 볼 수 있습니다.",
        summary_en="Questions on language norms, with reasons, and on culture. A demo open to everybody.",
        description_ko=page_text("demo.ko"),
        description_en=page_text("demo.en"),
        phase=PhaseSpec(-7, 60, "본선", "Main round", daily_limit=5),
        tracks=(_RAG_QA, _CULTURE_QA),
        teams=TEAMS,
        cover="blue",
    ),
    CompetitionSpec(
        slug="demo-captions",
        title_ko="말판 데모: 한국어 영상 설명",
        title_en="Malpan demo: Korean captions of scenes",
        summary_ko="시장과 바다, 운동장과 골목의 장면을 한국어 한 문장으로 설명합니다. METEOR로 순위를 매깁니다.",
        summary_en="Describe scenes of markets, seas, pitches and alleys in one Korean sentence. METEOR ranks.",
        description_ko=page_text("captions.ko"),
        description_en=page_text("captions.en"),
        phase=PhaseSpec(-7, 60, "본선", "Main round", daily_limit=5),
        tracks=(_CAPTIONS,),
        teams=CAPTION_TEAMS,
        cover="gold",
    ),
    CompetitionSpec(
        slug="demo-essays",
        title_ko="말판 데모: 글쓰기 채점 능력 평가",
        title_en="Malpan demo: scoring essays",
        summary_ko="주장하는 글에 점수와 까닭을 매깁니다. 지표마다의 순위를 합쳐 종합 순위를 정합니다.",
        summary_en="Score argumentative essays and say why. The board adds up the ranks of several metrics.",
        description_ko=page_text("essays.ko"),
        description_en=page_text("essays.en"),
        phase=PhaseSpec(
            *(-14, 46, "본선", "Main round"), total_limit=4, min_interval=timedelta(hours=72), counting="latest"
        ),
        tracks=(_ESSAYS,),
        teams=ESSAY_TEAMS,
        cover="green",
    ),
)
