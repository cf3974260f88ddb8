"""Which competitions, phases and files a page shows."""

from datetime import timedelta

import pytest
from django.utils import timezone

from malpan.competitions.errors import CompetitionNotFound, DataFileNotFound, ReferencesNotPublished, TrackNotFound
from malpan.competitions.selectors import (
    current_reference,
    data_file,
    get_competition,
    get_track,
    notices_of,
    phase_to_show,
    published_competitions,
    tracks_of,
)
from malpan.competitions.services import add_data_file, post_notice
from tests.factories import CompetitionFactory, PhaseFactory, TrackFactory

pytestmark = pytest.mark.django_db
NOW = timezone.now()


def _phase(start: int, end: int, **fields):
    """A phase from ``start`` to ``end`` days from now."""
    return PhaseFactory.create(starts_at=NOW + timedelta(days=start), ends_at=NOW + timedelta(days=end), **fields)


def test_competitions_stand_by_where_now_is_in_them(django_assert_num_queries):
    past, running, upcoming = (_phase(*span).track.competition for span in ((-9, -5), (-1, 1), (3, 4)))
    between_phases = _phase(-9, -5).track.competition
    _phase(5, 9, track=TrackFactory.create(competition=between_phases))
    without_phases = CompetitionFactory.create()
    _phase(-1, 1, track__competition__is_published=False)

    with django_assert_num_queries(1):
        found = published_competitions(NOW)

    assert set(found.running) == {running, between_phases}
    assert found.upcoming == (upcoming, without_phases)
    assert found.past == (past,)


def test_boundaries_belong_to_the_start_and_not_to_the_end():
    phase = _phase(0, 1)

    assert published_competitions(phase.starts_at).running
    assert published_competitions(phase.ends_at).past


def test_unpublished_competition_is_for_organisers_only():
    hidden = CompetitionFactory.create(is_published=False)

    with pytest.raises(CompetitionNotFound):
        get_competition(hidden.slug)
    assert get_competition(hidden.slug, include_unpublished=True) == hidden


def test_first_track_is_shown_when_none_is_named():
    competition = CompetitionFactory.create()
    second = TrackFactory.create(competition=competition, position=2)
    first = TrackFactory.create(competition=competition, position=1)

    assert get_track(competition) == first
    assert get_track(competition, second.slug) == second
    with pytest.raises(TrackNotFound):
        get_track(competition, "none")


@pytest.mark.parametrize(
    ("spans", "shown"),
    [
        ([(-9, -5), (-1, 1), (3, 4)], 1),  # the open one
        ([(-9, -5), (3, 4)], 0),  # between phases: the one that ended
        ([(-9, -8), (-9, -5)], 1),  # all over: the one that ended last
        ([(5, 6), (3, 4)], 1),  # none has begun: the next
        ([(-3, 5), (-1, 2)], 1),  # two open: the one that began last
    ],
)
def test_phase_to_show(spans, shown):
    track = TrackFactory.create()
    phases = [_phase(*span, track=track) for span in spans]

    assert phase_to_show(track, NOW) == phases[shown]


def test_track_without_phases_has_none_to_show():
    assert phase_to_show(TrackFactory.create(), NOW) is None


def test_tracks_come_with_phases_in_two_queries(django_assert_num_queries):
    competition = CompetitionFactory.create()
    for _number in range(3):
        track = TrackFactory.create(competition=competition)
        _phase(-1, 1, track=track)

    with django_assert_num_queries(2):
        found = tracks_of(competition)
        assert all(phase_to_show(each, NOW) for each in found)


def test_file_of_a_hidden_competition_cannot_be_downloaded():
    track = TrackFactory.create()
    file = add_data_file(track=track, kind="data", title_ko="자료", file_name="q.json", data=b"[]")

    assert data_file(file.pk, "q.json") == file
    for wrong in ((file.pk, "other.json"), (file.pk + 1, "q.json"), (file.pk, "q\0.json")):
        with pytest.raises(DataFileNotFound):
            data_file(*wrong)
    track.competition.is_published = False
    track.competition.save()
    with pytest.raises(DataFileNotFound):
        data_file(file.pk, "q.json")


def test_notice_appears_at_its_moment():
    competition = CompetitionFactory.create()
    post_notice(competition=competition, title_ko="내일", body_ko="…", published_at=NOW + timedelta(days=1))
    today = post_notice(competition=competition, title_ko="오늘", body_ko="…", published_at=NOW)

    assert list(notices_of(competition, NOW)) == [today]


def test_phase_without_references_says_so():
    with pytest.raises(ReferencesNotPublished):
        current_reference(PhaseFactory.create())
