"""A competition that ranks by a composite on another site: the same board from the same settings, and no other one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from malpan.archive.errors import ArchiveRefused
from malpan.archive.importing import import_competition
from malpan.competitions.models import Competition, Phase, Track
from malpan.leaderboard.digests import board_digests
from malpan.leaderboard.models import BoardSnapshot
from tests.archive.full_competition import exported

pytestmark = pytest.mark.django_db
COMPONENTS = [{"score": "exact_match", "weight": 45}, {"score": "final_score", "weight": 45.5}]


def compose(competition: Competition) -> None:
    Track.objects.filter(competition=competition).update(composite=COMPONENTS)
    Phase.objects.filter(track__competition=competition).update(counting="best", counting_score="exact_match")
    BoardSnapshot.objects.update(components=[{"score": "a", "weight": 1.0, "higher_is_better": False}])


def test_settings_snapshot_and_board_are_carried(competition: Competition, empty_site: Callable[[], None]) -> None:
    plain = board_digests()
    compose(competition)
    before = board_digests()
    assert before != plain
    archive = exported(competition)
    empty_site()
    done = import_competition(file=archive, actor=None).competition
    assert Track.objects.get(competition=done).composite == COMPONENTS
    phase = Phase.objects.get(track__competition=done)
    assert (phase.counting, phase.counting_score) == ("best", "exact_match")
    assert BoardSnapshot.objects.get().components == [{"score": "a", "weight": 1.0, "higher_is_better": False}]
    assert {len(digest) for digest in board_digests().values()} == {64}


@pytest.mark.parametrize("composite", [[{"score": "gone", "weight": 1}], [{"score": "bleurt", "weight": -1}], ["x"]])
def test_components_that_no_service_would_take_are_refused(
    competition: Competition, empty_site: Callable[[], None], composite: list[object]
) -> None:
    Track.objects.filter(competition=competition).update(composite=composite)
    archive = exported(competition)
    empty_site()
    with pytest.raises(ArchiveRefused) as refused:
        import_competition(file=archive, actor=None)
    assert refused.value.params["reason"] == "rows"
    assert not Competition.objects.exists()
