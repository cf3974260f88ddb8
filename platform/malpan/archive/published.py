"""Published boards and results in an archive: whether the pages of this site could show them.

Their rows are JSON, which the database takes whatever it holds. Pages read them as what this site wrote, the first page
of all among them: one row that is none would be an error for everybody.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Any, Final, NotRequired

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict  # typing's own is not known to pydantic before Python 3.12

from malpan.archive.errors import ArchiveRefused
from malpan.archive.format import BY_LABEL
from malpan.archive.rows import YEARS
from malpan.competitions.models import Competition
from malpan.leaderboard.models import BoardSnapshot
from malpan.stages.models import Stage, StageSnapshot, StageTable


def _moment(text: str) -> str:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None or not YEARS[0] <= moment.year <= YEARS[1]:
        raise ValueError
    return text


Score = Annotated[float, Field(allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, lt=2**31)]
Rank = Annotated[int, Field(ge=1, lt=2**31)]
Moment = Annotated[str, AfterValidator(_moment)]
Normalisation = Annotated[str, AfterValidator(lambda text: Stage.Normalisation(text).value)]
TieRule = Annotated[str, AfterValidator(lambda text: Stage.TieRule(text).value)]
Source = Annotated[str, AfterValidator(lambda text: Stage.Source(text).value)]


class Part(TypedDict):
    """What one component gives a row of a board."""

    score: str
    weight: Score
    value: Score | None
    rank: Score
    normalised: Score


class CompositeBody(TypedDict):
    value: Score
    parts: list[Part]


class BoardLine(TypedDict):
    """A row of a board, as ``finals.row_to_publish`` writes it."""

    rank: Rank | None
    team: str
    team_number: Count
    is_baseline: bool
    final_score: Score
    scores: dict[str, Score]
    submission_count: Count
    submitted_at: Moment
    is_demo_models: bool
    public_rank: Rank | None
    public_score: Score | None
    submission: NotRequired[str]
    composite: NotRequired[CompositeBody]
    reason_coverage: NotRequired[Score]


class Component(TypedDict):
    score: str
    weight: Score
    higher_is_better: bool


class StageLine(TypedDict):
    """A row of a stage (``stages.contents``)."""

    rank: Rank
    team: str
    team_number: Count
    score: Score
    normalised: Score
    goes_on: bool
    order: Count
    submitted_at: Moment


class StageRule(TypedDict):
    source: Source
    normalisation: Normalisation
    scale: Annotated[list[Score], Field(min_length=2, max_length=2)]
    weight: Count
    cut: Rank | None
    tie_rule: TieRule
    basis: dict[str, str | int]
    left_out: list[Count]


class FinalPart(TypedDict):
    score: Score
    rank: Rank
    normalised: Score


class FinalLine(TypedDict):
    """A row of the combined standing of all stages."""

    rank: Rank | None
    team: str
    team_number: Count
    final_score: Score | None
    stopped_at: Rank | None
    parts: list[FinalPart]


class UsedStage(TypedDict):
    position: Rank
    weight: Count
    snapshot: Count
    sha256: str


class FinalRule(TypedDict):
    stages: list[UsedStage]


class TableLine(TypedDict):
    """A row of an entered table of scores."""

    team_number: Count
    score: Score


_BOARD: Final = TypeAdapter(list[BoardLine])
_COMPONENTS: Final = TypeAdapter(list[Component])
_STAGE: Final = TypeAdapter(list[StageLine])
_STAGE_RULE: Final = TypeAdapter(StageRule)
_FINAL: Final = TypeAdapter(list[FinalLine])
_FINAL_RULE: Final = TypeAdapter(FinalRule)
_TABLE: Final = TypeAdapter(list[TableLine])


def require_sound(competition: Competition) -> None:
    """Refuse published boards, stages and results of an imported ``competition`` whose rows are not like this site's
    own. Raises ``ArchiveRefused``.
    """
    boards = BoardSnapshot.objects.filter(phase__track__competition=competition)
    for components, rows in boards.values_list("components", "rows").iterator(chunk_size=1):
        with _named(BoardSnapshot):
            _COMPONENTS.validate_python(components, strict=True)
            _BOARD.validate_python(rows, strict=True)
    snapshots = StageSnapshot.objects.filter(track__competition=competition)
    for stage, rule, rows in snapshots.values_list("stage", "rule", "rows").iterator(chunk_size=1):
        with _named(StageSnapshot):
            (_FINAL_RULE if stage is None else _STAGE_RULE).validate_python(rule, strict=True)
            (_FINAL if stage is None else _STAGE).validate_python(rows, strict=True)
    for rows in StageTable.objects.filter(stage__track__competition=competition).values_list("rows", flat=True):
        with _named(StageTable):
            _TABLE.validate_python(rows, strict=True)


@contextmanager
def _named(model: Any) -> Iterator[None]:
    try:
        yield
    except ValidationError:
        raise ArchiveRefused(reason="rows", table=BY_LABEL[model._meta.label_lower].member) from None
