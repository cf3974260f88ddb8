"""Awards: who may give them, to whom, their order and numbers, and what the database itself refuses."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from malpan.competitions.errors import ManageNotFound, NotAllowed
from malpan.competitions.models import CompetitionRole
from malpan.core.models import AuditEntry
from malpan.leaderboard.models import BoardSnapshot
from malpan.stages import awards
from malpan.stages.award_errors import (
    AwardHasNumber,
    AwardInvalid,
    AwardNotFound,
    AwardToDisqualified,
    NoFinalResult,
    NothingToAward,
    TooManyAwards,
)
from malpan.stages.awarded import (
    award_of,
    awardable_tracks,
    awards_of,
    awards_of_team,
    given_awards,
    names_of,
    proposal_of,
    track_of,
)
from malpan.stages.awards import (
    AWARDS_MAX,
    create_award,
    create_awards,
    move_award,
    publish_awards,
    remove_award,
    update_award,
    withdraw_awards,
)
from malpan.stages.models import Award
from malpan.teams.models import Team
from malpan.teams.services import disqualify_team
from tests.factories import PhaseFactory, TeamFactory, UserFactory, leader_of
from tests.stages.conftest import Contest

DAY = date(2026, 12, 5)


def give(contest: Contest, number: int = 1, **values: Any) -> Award:
    given: dict[str, Any] = {"team": contest.teams[number], "title_ko": "대상", "awarded_on": DAY}
    return create_award(competition=contest.competition, actor=contest.writer, **(given | values))


def order(contest: Contest) -> list[tuple[int | None, str]]:
    return list(awards_of(contest.competition).values_list("position", "title_ko"))


def share_second_place(contest: Contest) -> None:
    """The board as if the teams 2 and 3 were both second; a snapshot is never changed, so it is another publication."""
    board = BoardSnapshot.objects.get(phase=contest.phase, kind=BoardSnapshot.Kind.FINAL)
    board.pk, board._state.adding, board.number = None, True, 2
    for row in board.rows:
        row["rank"] = {1: 1, 2: 2, 3: 2, 4: 4, 5: 5}[row["team_number"]]
    board.save()


def test_an_award_is_added_at_the_end_with_what_it_rests_on(contest: Contest) -> None:
    first = give(contest, track=contest.track, prize_ko="국립국어원장상,  300만 원")
    second = give(contest, 2, title_ko="최우수상", title_en="First Prize")
    assert order(contest) == [(1, "대상"), (2, "최우수상")]
    assert (first.board_snapshot, first.stage_snapshot) == (BoardSnapshot.objects.get(phase=contest.phase), None)
    assert (track_of(first), track_of(second)) == (contest.track, None)
    assert (first.prize, first.number, first.published_at) == ("국립국어원장상, 300만 원", "", None)
    entry = AuditEntry.objects.filter(action="award.create").latest("pk")
    assert (entry.actor, entry.competition_pk) == (contest.writer, contest.competition.pk)
    assert (entry.after["title_ko"], entry.after["team_id"]) == ("최우수상", contest.teams[2].pk)


def test_with_stages_an_award_waits_for_their_combined_standing_and_rests_on_it(contest: Contest) -> None:
    contest.publish(contest.stage())
    contest.judged(contest.stage(), {1: 10, 2: 20, 3: 100})
    with pytest.raises(NoFinalResult):
        give(contest)
    final = contest.publish_final()
    assert give(contest, 3, track=contest.track).stage_snapshot == final
    assert [(each.rank, each.team) for each in proposal_of(contest.track, 1)] == [(1, contest.teams[3])]


def test_before_a_final_result_nothing_is_given(contest: Contest) -> None:
    contest.competition.tracks.get().phases.update(final_published_at=None)
    for act in (lambda: give(contest), lambda: proposal_of(contest.track, 3)):
        with pytest.raises(NoFinalResult):
            act()
    with pytest.raises(NoFinalResult):
        awardable_tracks(contest.competition)


@pytest.mark.parametrize("role", ["viewer", "operator", ""])
def test_only_who_manages_may_change_awards(contest: Contest, role: str) -> None:
    award, person = give(contest), UserFactory.create()
    if role:
        CompetitionRole.objects.create(user=person, competition=contest.competition, role=role)
    competition = contest.competition
    for act in (
        lambda: create_award(
            competition=competition, actor=person, team=contest.teams[1], title_ko="상", awarded_on=DAY
        ),
        lambda: update_award(award=award, actor=person, title_ko="다른 상"),
        lambda: move_award(award=award, actor=person, position=1),
        lambda: remove_award(award=award, actor=person),
        lambda: publish_awards(competition=competition, actor=person),
        lambda: withdraw_awards(competition=competition, actor=person),
    ):
        with pytest.raises(NotAllowed if role else ManageNotFound):
            act()
    assert list(awards_of(competition)) == [award]


@pytest.mark.parametrize("who", ["baseline", "merged", "silent", "elsewhere", "nobody"])
def test_who_did_not_take_part_gets_none(contest: Contest, who: str) -> None:
    team: Team | None = contest.teams[5]
    if who == "baseline":
        Team.objects.filter(pk=contest.teams[5].pk).update(is_baseline=True)
    elif who == "merged":
        Team.objects.filter(pk=contest.teams[5].pk).update(merged_into=contest.teams[4])
    elif who == "silent":
        team = TeamFactory.create(competition=contest.competition)
    else:
        team = TeamFactory.create() if who == "elsewhere" else None
    with pytest.raises(AwardInvalid) as refused:
        give(contest, team=team)
    assert refused.value.field == "team"


def test_a_disqualified_team_gets_none_and_keeps_none(contest: Contest) -> None:
    award = give(contest, 2)
    give(contest, 1)
    publish_awards(competition=contest.competition, actor=contest.writer)
    assert given_awards([contest.competition]).count() == 2
    disqualify_team(team=contest.teams[2], actor=contest.writer, note_ko="사유")
    assert [each.team for each in given_awards([contest.competition])] == [contest.teams[1]]
    assert not awards_of_team(contest.teams[2])
    for act in (
        lambda: give(contest, 2),
        lambda: update_award(award=give(contest, 3), actor=contest.writer, team=contest.teams[2]),
        lambda: publish_awards(competition=contest.competition, actor=contest.writer),
    ):
        with pytest.raises(AwardToDisqualified) as refused:
            act()
        assert refused.value.params["teams"] == contest.teams[2].name
    assert [each.team for each in proposal_of(contest.track, 3)] == [contest.teams[1], contest.teams[3]]
    remove_award(award=award, actor=contest.writer)
    assert [each.team for each in publish_awards(competition=contest.competition, actor=contest.writer)] == [
        contest.teams[3]
    ]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title_ko", " "),
        ("title_ko", "상" * 61),
        ("title_en", "a" * 121),
        ("prize_ko", "상" * 121),
        ("awarded_on", None),
        ("awarded_on", date(1999, 1, 1)),
        ("track", "elsewhere"),
    ],
)
def test_what_does_not_fit_is_refused_at_its_field(contest: Contest, field: str, value: Any) -> None:
    given = TeamFactory.create().competition.tracks.create(slug="x", title_ko="x", recipe="rag-qa@1")
    with pytest.raises(AwardInvalid) as refused:
        give(contest, **{field: given if value == "elsewhere" else value})
    assert refused.value.field == field
    assert not awards_of(contest.competition)


def test_what_just_fits_is_taken(contest: Contest) -> None:
    award = give(contest, title_ko="상" * 60, title_en="a" * 120, prize_ko="상" * 120, awarded_on=date(2000, 1, 1))
    assert update_award(award=award, actor=contest.writer, awarded_on=date(2999, 12, 31)).awarded_on.year == 2999
    with pytest.raises(AwardInvalid):
        update_award(award=award, actor=contest.writer, awarded_on=date(3000, 1, 1))
    with pytest.raises(TypeError, match="serial"):
        update_award(award=award, actor=contest.writer, serial=2)


def test_an_award_rests_on_no_result_of_another_competition(contest: Contest) -> None:
    board = _elsewhere(contest)["board_snapshot"]
    with pytest.raises(AwardInvalid) as refused:
        give(contest, track=board.phase.track)
    assert refused.value.field == "track"


def test_as_many_as_there_may_be_are_given_and_no_more(contest: Contest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(awards, "AWARDS_MAX", 2)
    assert len(order(contest)) == 0
    give(contest)
    give(contest, 2)
    with pytest.raises(TooManyAwards):
        give(contest, 3)
    assert len(order(contest)) == 2


def test_of_several_all_are_added_or_none(contest: Contest) -> None:
    rows = [{"team": contest.teams[1], "title_ko": title, "awarded_on": DAY} for title in ("대상", "")]
    with pytest.raises(AwardInvalid):
        create_awards(competition=contest.competition, actor=contest.writer, rows=rows)
    assert not awards_of(contest.competition)
    with pytest.raises(TooManyAwards):
        create_awards(competition=contest.competition, actor=contest.writer, rows=rows[:1] * (AWARDS_MAX + 1))


def test_the_order_is_that_of_the_list_and_has_no_gaps(contest: Contest) -> None:
    made = [give(contest, number, title_ko=title) for number, title in ((1, "가"), (2, "나"), (3, "다"))]
    assert move_award(award=made[2], actor=contest.writer, position=1).position == 1
    assert order(contest) == [(1, "다"), (2, "가"), (3, "나")]
    entry = AuditEntry.objects.latest("pk")
    assert (entry.action, entry.before, entry.after) == ("award.move", {"position": 3}, {"position": 1})
    remove_award(award=made[0], actor=contest.writer)
    assert order(contest) == [(1, "다"), (2, "나")]
    assert not Award.objects.filter(pk=made[0].pk).exists()
    for position in (0, 3):
        with pytest.raises(AwardInvalid):
            move_award(award=made[1], actor=contest.writer, position=position)
    give(contest, title_ko="라")
    assert order(contest)[-1] == (3, "라")
    assert move_award(award=made[2], actor=contest.writer, position=3).position == 3
    assert order(contest) == [(1, "나"), (2, "라"), (3, "다")]


def test_awards_of_another_competition_stay_as_they_are(contest: Contest) -> None:
    team = _elsewhere(contest)["team"]
    far: dict[str, Any] = {"competition": team.competition, "team": team, "title_ko": "대상", "awarded_on": DAY}
    numbered = {"year": 2026, "published_at": contest.phase.ends_at}
    others = [Award.objects.create(**far, **numbered, position=at, serial=7 + at) for at in (1, 2)]
    one = give(contest)
    give(contest, 2)
    publish_awards(competition=contest.competition, actor=contest.writer)
    assert [each.number for each in given_awards([contest.competition])] == ["2026-1", "2026-2"]
    remove_award(award=one, actor=contest.writer)
    withdraw_awards(competition=contest.competition, actor=contest.writer)
    assert [(each.position, each.published_at) for each in awards_of(team.competition)] == [
        (each.position, each.published_at) for each in others
    ]


def test_what_is_removed_is_logged_as_it_was(contest: Contest) -> None:
    remove_award(award=give(contest), actor=contest.writer)
    entry = AuditEntry.objects.latest("pk")
    assert (entry.action, entry.before["title_ko"], entry.after) == ("award.remove", "대상", {})

    award = give(contest)
    publish_awards(competition=contest.competition, actor=contest.writer)
    remove_award(award=award, actor=contest.writer)
    entry = AuditEntry.objects.latest("pk")
    assert (entry.action, entry.before["position"], entry.after["position"]) == ("award.revoke", 1, None)


def test_a_number_is_given_once_and_never_to_another(contest: Contest) -> None:
    one, two = give(contest, 1), give(contest, 2, title_ko="우수상")
    publish_awards(competition=contest.competition, actor=contest.writer)
    assert [each.number for each in given_awards([contest.competition])] == ["2026-1", "2026-2"]
    withdraw_awards(competition=contest.competition, actor=contest.writer)
    assert not given_awards([contest.competition])
    remove_award(award=two, actor=contest.writer)
    two.refresh_from_db()
    assert (two.number, two.position, two.revoked_at is None) == ("2026-2", None, False)
    with pytest.raises(AwardNotFound):
        award_of(contest.competition, two.pk)
    give(contest, 3, title_ko="우수상")
    give(contest, 4, title_ko="장려상", awarded_on=date(2027, 1, 2))
    publish_awards(competition=contest.competition, actor=contest.writer)
    assert [each.number for each in given_awards([contest.competition])] == ["2026-1", "2026-3", "2027-1"]
    with pytest.raises(AwardHasNumber):
        update_award(award=one, actor=contest.writer, team=contest.teams[5])
    assert update_award(award=one, actor=contest.writer, awarded_on=date(2027, 3, 1)).number == "2026-1"


def test_a_change_of_a_published_award_is_logged_with_old_and_new(contest: Contest) -> None:
    award = give(contest)
    publish_awards(competition=contest.competition, actor=contest.writer)
    update_award(award=award, actor=contest.reader, title_ko="최우수상")
    entry = AuditEntry.objects.latest("pk")
    assert (entry.actor, entry.action) == (contest.reader, "award.update")
    assert (entry.before, entry.after) == ({"title_ko": "대상"}, {"title_ko": "최우수상"})
    update_award(award=award, actor=contest.reader, title_ko="최우수상")
    assert AuditEntry.objects.latest("pk") == entry, "nothing was changed"
    assert given_awards([contest.competition]).get().title == "최우수상"


def test_publishing_and_withdrawing_are_logged_and_need_something_to_do(contest: Contest) -> None:
    act: dict[str, Any] = {"competition": contest.competition, "actor": contest.writer}
    for refuse in (publish_awards, withdraw_awards):
        with pytest.raises(NothingToAward):
            refuse(**act)
    give(contest)
    publish_awards(**act)
    assert AuditEntry.objects.latest("pk").after == {"awards": ["2026-1"]}
    with pytest.raises(NothingToAward):
        publish_awards(**act)
    give(contest, 2)
    assert given_awards([contest.competition]).count() == 1, "what is added later waits for its own publication"
    withdraw_awards(**act)
    entry = AuditEntry.objects.latest("pk")
    assert (entry.action, entry.before) == ("competition.withdraw_awards", {"awards": ["2026-1"]})


def test_a_result_that_was_decided_by_stays_when_the_board_is_published_again(contest: Contest) -> None:
    award = give(contest, track=contest.track)
    contest.republish_board()
    first, second = BoardSnapshot.objects.filter(phase=contest.phase, kind=BoardSnapshot.Kind.FINAL).order_by("number")
    for track, board in ((contest.track, first), (None, None), (contest.track, second)):
        assert update_award(award=award, actor=contest.writer, track=track).board_snapshot == board


def test_a_proposal_names_shared_places_and_who_has_an_award(contest: Contest) -> None:
    share_second_place(contest)
    give(contest, 3, title_ko="특별상", track=contest.track)
    found = [(each.rank, each.team.number, each.sharing, each.has_award, each.title_ko) for each in proposal_of(
        contest.track, 4
    )]  # fmt: skip
    assert found == [
        (1, 1, 1, False, "대상"),
        (2, 2, 2, False, "최우수상"),
        (2, 3, 2, True, "최우수상"),
        (4, 4, 1, False, "장려상"),
    ]
    assert len(proposal_of(contest.track, 2)) == 3
    for places in (0, 21):
        with pytest.raises(AwardInvalid):
            proposal_of(contest.track, places)


def test_an_award_on_another_track_is_named_and_leaves_the_proposal_alone(contest: Contest) -> None:
    give(contest, 1, title_ko="특별상")
    first, second = proposal_of(contest.track, 2)
    assert (first.has_award, first.has_other) == (False, True)
    assert (second.has_award, second.has_other) == (False, False)


def test_members_are_named_without_whose_data_were_erased(contest: Contest) -> None:
    team = contest.teams[1]
    assert names_of(team) == [leader_of(team).name]
    person = leader_of(team)
    person.name, person.email, person.is_active, person.erased_at = "", "", False, contest.phase.ends_at
    person.save()
    assert names_of(team) == []


@pytest.mark.parametrize(
    "broken",
    [
        {"position": 2},
        {"position": None},
        {"published_at": "now"},
        {"revoked_at": "now"},
        {"year": 2026},
        {"team": "elsewhere"},
        {"board_snapshot": "elsewhere"},
    ],
    ids=lambda broken: next(iter(broken)),
)
def test_the_database_itself_refuses_what_no_service_writes(contest: Contest, broken: dict[str, Any]) -> None:
    first, _second = give(contest, 1), give(contest, 2)
    name, value = next(iter(broken.items()))
    values = {name: _elsewhere(contest)[name] if value == "elsewhere" else value}
    if value == "now":
        values = {name: contest.phase.ends_at}
    with pytest.raises(DatabaseError), transaction.atomic():
        _write_at_once(first, values)


def _write_at_once(award: Award, values: dict[str, Any]) -> None:
    """With what is checked at the end of a transaction."""
    Award.objects.filter(pk=award.pk).update(**values)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def _elsewhere(contest: Contest) -> dict[str, Any]:
    """A team and a board of another competition."""
    phase = PhaseFactory.create()
    board = BoardSnapshot.objects.get(phase=contest.phase, kind=BoardSnapshot.Kind.FINAL)
    board.pk, board._state.adding, board.phase = None, True, phase
    board.save()
    return {"team": TeamFactory.create(competition=phase.track.competition), "board_snapshot": board}
