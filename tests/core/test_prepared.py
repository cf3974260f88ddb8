"""A prepared query gives what the ordinary one gives, for every value, and writes its SQL once."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

import pytest
from django.db import models
from django.db.models import Exists, F, Model, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.sql.compiler import SQLCompiler

from malpan.competitions.models import Competition, Notice, Phase, Track
from malpan.core.database.prepared import Prepared, PreparedCount
from malpan.leaderboard.selectors import _known
from malpan.submissions.models import HiddenResult, Submission
from tests.factories import (
    CompetitionFactory,
    PhaseFactory,
    ScoringRunFactory,
    SubmissionFactory,
    TeamFactory,
    TrackFactory,
)

pytestmark = pytest.mark.django_db


def of_track(track: int) -> QuerySet[Phase]:
    phases = Phase.objects.filter(track=track).select_related("track__competition").order_by("-position", "pk")
    notices = Notice.objects.filter(competition=OuterRef("track__competition"))
    return phases.annotate(
        has_notices=Exists(notices),
        slug_of_track=F("track__slug"),
        last_notice=Subquery(notices.order_by("-pk").values("published_at")[:1]),
        three=Value(3),
    )


def of_slug(slug: str) -> QuerySet[Track]:
    return Track.objects.filter(competition__slug=slug).select_related("competition")


def values(row: Model, owner: Model | None = None) -> dict[str, Any]:
    """All that is known of ``row``, with the rows that its foreign keys lead to; ``owner`` is whose key led to it."""
    kept = {name: value for name, value in vars(row).items() if name != "_state"}
    known = row._state.fields_cache.items()
    return kept | {name: each if each in (None, owner) else values(each, row) for name, each in known}


@pytest.fixture
def phases() -> list[Phase]:
    tracks = TrackFactory.create_batch(2)
    return [PhaseFactory.create(track=track, position=position) for track in tracks for position in (1, 2, 0)]


def test_rows_are_those_of_the_ordinary_query_with_all_that_came_with_them(phases: list[Phase]) -> None:
    prepared = Prepared(of_track, int)
    Notice.objects.create(competition=phases[0].track.competition, title_ko="알림", body_ko="본문")

    for track in {phase.track for phase in phases}:
        ordinary = list(of_track(track.pk))
        assert [values(each) for each in prepared(track.pk)] == [values(each) for each in ordinary]
        assert [each.position for each in prepared(track.pk)] == [2, 1, 0]
    first = prepared(phases[0].track_id)[0]
    assert (first.has_notices, first.slug_of_track, first.three) == (True, phases[0].track.slug, 3)


def test_rows_are_counted_as_by_the_ordinary_query(phases: list[Phase]) -> None:
    def named(track: int, slug: str) -> QuerySet[Phase]:
        return of_track(track).filter(position__gt=0).exclude(slug=slug)

    prepared = PreparedCount(named, int, str)
    first = phases[0]
    for track, slug in ((first.track_id, first.slug), (first.track_id, "none"), (phases[-1].track_id, first.slug)):
        assert prepared(track, slug) == named(track, slug).count()
    assert [prepared(first.track_id, "none"), prepared(first.track_id, first.slug), prepared(-1, "")] == [2, 1, 0]


def test_what_is_known_of_a_phase_for_its_board_is_the_same_prepared(phases: list[Phase]) -> None:
    def known(pk: int) -> QuerySet[Phase]:
        return _known(Phase.objects.filter(pk=pk))

    prepared = Prepared(known, int)
    for phase in phases:
        assert [values(each) for each in prepared(phase.pk)] == [values(each) for each in known(phase.pk)]


def test_a_row_can_be_changed_and_saved_as_any_other(phases: list[Phase]) -> None:
    row = Prepared(of_track, int)(phases[0].track_id)[0]
    assert not row._state.adding
    row.title_ko = "다른 이름"
    row.save(update_fields=["title_ko"])
    row.refresh_from_db()
    assert row.title_ko == "다른 이름"


@pytest.mark.parametrize("slug", ["첫-대회", "it's", "%s", "a%", '"', "", "\\"])
def test_a_text_is_asked_for_as_it_is(slug: str) -> None:
    CompetitionFactory.create(slug="other")
    TrackFactory.create(competition=CompetitionFactory.create(slug=slug))
    assert [track.competition.slug for track in Prepared(of_slug, str)(slug)] == [slug]


def of_both(phase: int, public_id: UUID, name: str) -> QuerySet[Submission]:
    rows = Submission.objects.filter(Q(file_name=name) | Q(public_id=public_id), phase=phase)
    return rows.select_related("phase", "team__merged_into", "live_run__reference_version", "live_run__job")


@pytest.mark.parametrize("is_merged", [False, True])
@pytest.mark.parametrize("is_scored", [False, True])
def test_a_foreign_key_may_be_null_and_there_may_be_several_values(is_merged: bool, is_scored: bool) -> None:
    row, other = SubmissionFactory.create(), SubmissionFactory.create(file_name="other.json")
    if is_merged:
        row.team.merged_into = TeamFactory.create(competition=row.team.competition)
        row.team.save()
    if is_scored:
        row.live_run = ScoringRunFactory.create(submission=row)
        row.save()
    prepared = Prepared(of_both, int, UUID, str)

    for asked in ((row.phase_id, row.public_id, ""), (other.phase_id, row.public_id, "other.json")):
        ordinary = list(of_both(*asked))
        assert len(ordinary) == 1
        assert [values(each) for each in prepared(*asked)] == [values(each) for each in ordinary]
    found = prepared(row.phase_id, row.public_id, "")[0]
    assert (found.team.merged_into is not None, found.live_run is not None) == (is_merged, is_scored)
    assert prepared(row.phase_id, other.public_id, "") == []


def test_who_is_known_by_one_row_alone_is_known_from_both_sides(django_assert_num_queries: Any) -> None:
    run = ScoringRunFactory.create()
    HiddenResult.objects.create(run=run, final_score=0.5, scores={}, signature_hash="5" * 64)
    found = Prepared(lambda pk: HiddenResult.objects.filter(run=pk).select_related("run"), int).only(run.pk)
    assert found is not None
    with django_assert_num_queries(0):
        assert found.run.hidden_result is found


def test_one_row_at_most_is_given_alone(phases: list[Phase]) -> None:
    prepared = Prepared(lambda pk: Phase.objects.filter(pk=pk), int)
    assert prepared.only(phases[0].pk) == phases[0]
    assert prepared.only(-1) is None
    with pytest.raises(AssertionError):
        Prepared(of_track, int).only(phases[0].track_id)


def test_nothing_is_found_where_there_is_nothing() -> None:
    assert Prepared(of_track, int)(-1) == []
    assert Prepared(of_slug, str)("none") == []


def test_a_json_field_is_read_as_the_ordinary_query_reads_it() -> None:
    json_fields = [(model, field.name) for model in (Phase, Track, Competition) for field in _json(model)]
    assert json_fields, "the test needs a field that the database gives as text"
    PhaseFactory.create()
    phase = Phase.objects.get()
    prepared = Prepared(lambda pk: Phase.objects.filter(pk=pk).select_related("track__competition"), int)
    assert [values(each) for each in prepared(phase.pk)] == [
        values(Phase.objects.select_related("track__competition").get(pk=phase.pk))
    ]


def test_the_sql_is_written_once(
    phases: list[Phase], monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    written: Final = list[str]()
    as_sql = SQLCompiler.as_sql

    def counted(self: SQLCompiler, *arguments: Any, **named: Any) -> Any:
        written.append(self.query.model._meta.label)
        return as_sql(self, *arguments, **named)

    monkeypatch.setattr(SQLCompiler, "as_sql", counted)
    prepared = Prepared(of_track, int)
    prepared(phases[0].track_id)
    assert written
    written.clear()
    with django_assert_num_queries(2):
        prepared(phases[0].track_id)
        prepared(phases[-1].track_id)
    assert written == []


def _json(model: type[Model]) -> list[models.Field[Any, Any]]:
    return [field for field in model._meta.concrete_fields if isinstance(field, models.JSONField)]
