"""Setting up stages, two people on every table, publishing in order, errata."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from malpan.competitions.errors import ManageNotFound, NotAllowed
from malpan.competitions.models import CompetitionRole, Phase
from malpan.core.models import AuditEntry
from malpan.leaderboard.models import BoardSnapshot
from malpan.stages.contents import final_content, stage_content
from malpan.stages.entering import confirm_table, enter_table, read_for, reject_table
from malpan.stages.errors import (
    BoardHasDisqualified,
    BoardNotPublished,
    BoardUnfit,
    FinalIsPublished,
    NobodyTakesPart,
    NoStages,
    NoTableForBoard,
    NothingChanged,
    NoWeight,
    ReasonMissing,
    SamePerson,
    StageConfirmed,
    StageHasDisqualified,
    StageInUse,
    StageNotOpen,
    StageOutdated,
    StagePublished,
    StageSettingsInvalid,
    StagesUnfinished,
    TableChanged,
    TableDecided,
    TableInvalid,
    TableMissing,
    TableNotConfirmed,
    TableOutdated,
    TableUnchanged,
)
from malpan.stages.models import Stage, StageDecision, StageSnapshot, StageTable
from malpan.stages.publishing import publish_final, publish_stage
from malpan.stages.selectors import (
    newest_table,
    participants_of,
    replaced_parts,
    resting_on,
    resting_on_board,
    states_of,
    teams_in_publications,
)
from malpan.stages.services import create_stage, remove_stage, update_stage
from malpan.stages.verification import verify_competition
from malpan.submissions.models import ChainEntry
from malpan.teams.services import disqualify_team, reinstate_team
from tests.factories import PhaseFactory, TeamFactory, UserFactory
from tests.stages.conftest import Contest, make_contest

pytestmark = pytest.mark.django_db


def ranks(snapshot: StageSnapshot) -> list[tuple[int, int | None]]:
    return [(row["team_number"], row["rank"]) for row in snapshot.rows]


# --- settings ---------------------------------------------------------------------------------------------------------
def test_the_first_stage_reads_a_board_and_every_later_one_a_table(contest: Contest) -> None:
    first, second = contest.stage(), contest.stage()
    assert (first.position, first.source, first.phase) == (1, "board", contest.phase)
    assert (second.position, second.source, second.phase) == (2, "table", None)
    assert (first.scale_min, first.scale_max) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"phase": None}, "phase"),
        ({"weight": 1001}, "weight"),
        ({"weight": -1}, "weight"),
        ({"cut": 0}, "cut"),
        ({"cut": 32768}, "cut"),
        ({"title_ko": "  "}, "title"),
        ({"title_ko": "가" * 121}, "title"),
        ({"title_en": "a" * 121}, "title"),
    ],
)
def test_settings_that_make_no_sense_are_refused(contest: Contest, values: dict[str, Any], reason: str) -> None:
    with pytest.raises(StageSettingsInvalid) as refused:
        create_stage(
            track=contest.track,
            actor=contest.writer,
            **{"title_ko": "1차", "phase": contest.phase, "weight": 1, **values},
        )
    assert refused.value.variant == reason
    assert not Stage.objects.exists()


def test_settings_at_their_limits_are_taken_and_others_are_none(contest: Contest) -> None:
    for values in ({"cut": 1}, {"cut": 32767}, {"weight": 1000}, {"title_ko": "가" * 120, "title_en": "a" * 120}):
        stage = contest.stage(**values)
        assert {name: getattr(stage, name) for name in values} == values
    with pytest.raises(ValidationError):
        contest.stage(normalisation="other")
    with pytest.raises(TypeError, match="no setting colour"):
        contest.stage(colour="red")


def test_what_does_not_fit_the_kind_of_a_stage_is_refused_and_not_dropped(contest: Contest) -> None:
    for values in ({"scale_max": 100.0}, {"scale_min": -1.0}):
        with pytest.raises(StageSettingsInvalid) as refused:
            contest.stage(**values)
        assert (refused.value.variant, refused.value.field) == ("scale_fixed", next(iter(values)))
    first = contest.stage(scale_min=0.0, scale_max=1.0)
    with pytest.raises(StageSettingsInvalid) as refused:
        contest.stage(phase=contest.phase)
    assert (refused.value.variant, refused.value.field) == ("phase_later", "phase")
    with pytest.raises(StageSettingsInvalid) as refused:
        update_stage(stage=first, actor=contest.writer, weight=7, scale_max=10.0)
    assert refused.value.variant == "scale_fixed"
    first.refresh_from_db()
    assert first.weight == 50
    assert Stage.objects.count() == 1


def test_changing_and_removing_a_stage_is_audited(contest: Contest) -> None:
    contest.stage()
    second, third = contest.stage(), contest.stage()
    update_stage(stage=second, actor=contest.writer, weight=7)
    remove_stage(stage=third, actor=contest.writer)
    updated, removed = AuditEntry.objects.filter(action__in=("stage.update", "stage.remove")).order_by("pk")
    assert (updated.before, updated.after) == ({"weight": 50.0}, {"weight": 7.0})
    assert (removed.action, removed.before["position"]) == ("stage.remove", 3)


@pytest.mark.parametrize("scale", [(1, 1), (2, 1), (0, float("inf")), (float("nan"), 1), (-1e308, 1e308)])
def test_a_scale_without_a_width_is_refused(contest: Contest, scale: tuple[float, float]) -> None:
    contest.stage()
    with pytest.raises(StageSettingsInvalid):
        contest.stage(scale_min=scale[0], scale_max=scale[1])


def test_a_phase_of_another_track_is_refused(contest: Contest) -> None:
    with pytest.raises(StageSettingsInvalid):
        contest.stage(phase=PhaseFactory.create())


def test_a_published_stage_is_neither_changed_nor_removed(contest: Contest) -> None:
    stage = contest.stage()
    contest.publish(stage)
    with pytest.raises(StagePublished):
        update_stage(stage=stage, actor=contest.writer, weight=1)
    with pytest.raises(StageInUse):
        remove_stage(stage=stage, actor=contest.writer)


def test_only_the_last_stage_without_tables_is_removed(contest: Contest) -> None:
    first, second = contest.stage(), contest.stage()
    with pytest.raises(StageInUse):
        remove_stage(stage=first, actor=contest.writer)
    remove_stage(stage=second, actor=contest.writer)
    contest.publish(first)
    third = contest.stage()
    contest.enter(third, {1: 1, 2: 2, 3: 3})
    with pytest.raises(StageInUse):
        remove_stage(stage=third, actor=contest.writer)


def test_the_rule_does_not_change_under_a_confirmed_table_but_its_texts_may(contest: Contest) -> None:
    contest.publish(contest.stage())
    stage = contest.stage()
    contest.confirm(contest.enter(stage, {1: 1, 2: 2, 3: 3}))
    with pytest.raises(StageConfirmed):
        update_stage(stage=stage, actor=contest.writer, scale_max=3.0)
    assert update_stage(stage=stage, actor=contest.writer, title_ko="전문가 평가").title_ko == "전문가 평가"
    contest.enter(stage, {1: 1, 2: 2, 3: 4}, reason="오기")  # which waits for the second person again
    assert update_stage(stage=stage, actor=contest.writer, scale_max=5.0).scale_max == 5.0


def test_nobody_without_the_permission_does_anything(contest: Contest) -> None:
    stage = contest.stage()
    viewer, nobody = UserFactory.create(), UserFactory.create()
    CompetitionRole.objects.create(user=viewer, competition=contest.competition, role="operator")
    calls: list[Any] = [
        lambda who: create_stage(track=contest.track, actor=who, title_ko="x", weight=1),
        lambda who: update_stage(stage=stage, actor=who, weight=1),
        lambda who: remove_stage(stage=stage, actor=who),
        lambda who: enter_table(stage=stage, text="", actor=who, based_on=0),
        lambda who: confirm_table(stage=stage, number=1, sha256="", actor=who),
        lambda who: reject_table(stage=stage, number=1, sha256="", actor=who, reason="x"),
        lambda who: publish_stage(stage=stage, actor=who, sha256=""),
        lambda who: publish_final(track=contest.track, actor=who, sha256=""),
    ]
    for call in calls:
        with pytest.raises(NotAllowed):
            call(viewer)
        with pytest.raises(ManageNotFound):
            call(nobody)


# --- two people -------------------------------------------------------------------------------------------------------
@pytest.fixture
def second(contest: Contest) -> Stage:
    """An open stage with a table of 0 to 100 for the teams 1, 2 and 3."""
    contest.publish(contest.stage())
    return contest.stage()


def test_who_entered_neither_confirms_nor_rejects_whatever_they_may(contest: Contest, second: Stage) -> None:
    contest.writer.is_superuser = True
    contest.writer.save()
    table = contest.enter(second, {1: 1, 2: 2, 3: 3})
    with pytest.raises(SamePerson):
        contest.confirm(table, actor=contest.writer)
    with pytest.raises(SamePerson):
        reject_table(stage=second, number=1, sha256=table.sha256, reason="x", actor=contest.writer)
    with pytest.raises(TableNotConfirmed):
        contest.publish(second)
    contest.confirm(table)
    assert contest.publish(second).number == 1


def test_the_database_refuses_a_decision_of_who_entered(contest: Contest, second: Stage) -> None:
    table = contest.enter(second, {1: 1, 2: 2, 3: 3})
    with pytest.raises(IntegrityError, match="does not decide"), transaction.atomic():
        StageDecision.objects.create(
            table=table, verdict="confirmed", decided_by=contest.writer, created_at=timezone.now()
        )


def test_a_reason_has_at_most_300_characters(contest: Contest, second: Stage) -> None:
    with pytest.raises(ReasonMissing):
        contest.enter(second, {1: 1, 2: 2, 3: 3}, reason="가" * 301)
    assert contest.enter(second, {1: 1, 2: 2, 3: 3}, reason="가" * 300).reason == "가" * 300


def test_no_scores_are_entered_where_nobody_is_left(contest: Contest, second: Stage) -> None:
    for number in (1, 2, 3):
        disqualify_team(team=contest.teams[number], actor=contest.writer, note_ko="규정 위반")
    with pytest.raises(NobodyTakesPart):
        read_for(second, "1,50")


def test_a_table_that_changed_between_entry_and_confirmation_is_not_confirmed(contest: Contest, second: Stage) -> None:
    seen = contest.enter(second, {1: 1, 2: 2, 3: 3})
    contest.enter(second, {1: 99, 2: 2, 3: 3}, reason="오기")
    with pytest.raises(TableChanged):
        contest.confirm(seen)
    with pytest.raises(TableChanged):  # the new number with the old content
        confirm_table(stage=second, number=2, sha256=seen.sha256, actor=contest.reader)
    assert not StageDecision.objects.exists()


def test_a_rule_that_changed_between_entry_and_confirmation_is_not_confirmed(contest: Contest, second: Stage) -> None:
    table = contest.enter(second, {1: 1, 2: 2, 3: 3})
    update_stage(stage=second, actor=contest.writer, scale_max=10.0)
    with pytest.raises(TableChanged):
        contest.confirm(table)
    with pytest.raises(TableNotConfirmed):
        contest.publish(second)


def test_a_new_version_waits_for_the_second_person_again(contest: Contest, second: Stage) -> None:
    contest.confirm(contest.enter(second, {1: 1, 2: 2, 3: 3}))
    contest.enter(second, {1: 1, 2: 2, 3: 4}, reason="오기")
    with pytest.raises(TableNotConfirmed):
        contest.publish(second)


def test_a_rejected_table_is_not_published_and_the_same_one_may_come_again(contest: Contest, second: Stage) -> None:
    table = contest.enter(second, {1: 1, 2: 2, 3: 3})
    with pytest.raises(ReasonMissing):
        reject_table(stage=second, number=1, sha256=table.sha256, reason=" ", actor=contest.reader)
    reject_table(stage=second, number=1, sha256=table.sha256, reason="서명이 없음", actor=contest.reader)
    with pytest.raises(TableNotConfirmed):
        contest.publish(second)
    with pytest.raises(TableDecided):
        contest.confirm(table)
    again = contest.enter(second, {1: 1, 2: 2, 3: 3}, reason="서명을 받음")
    contest.confirm(again)
    assert contest.publish(second).rule["basis"]["table"] == 2


def test_a_correction_needs_a_reason_a_change_and_the_newest_version(contest: Contest, second: Stage) -> None:
    contest.enter(second, {1: 1, 2: 2, 3: 3})
    with pytest.raises(ReasonMissing):
        contest.enter(second, {1: 1, 2: 2, 3: 4})
    with pytest.raises(TableUnchanged):
        contest.enter(second, {1: 1, 2: 2, 3: 3}, reason="오기")
    with pytest.raises(TableChanged):
        enter_table(stage=second, text="1,1\n2,2\n3,5\n", actor=contest.reader, based_on=0, reason="오기")
    assert StageTable.objects.count() == 1


@pytest.mark.parametrize("model", ["stagetable", "stagedecision", "stagesnapshot"])
def test_the_database_refuses_to_change_a_kept_row(contest: Contest, second: Stage, model: str) -> None:
    contest.judged(second, {1: 1, 2: 2, 3: 3})
    kept = {"stagetable": StageTable, "stagedecision": StageDecision, "stagesnapshot": StageSnapshot}[model]
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
        kept._default_manager.update(
            created_at=timezone.now()
        ) if model != "stagesnapshot" else kept._default_manager.update(number=7)
    with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
        kept._default_manager.all()._raw_delete("default")


def test_entering_leaves_no_score_in_the_audit_log(contest: Contest, second: Stage) -> None:
    contest.confirm(contest.enter(second, {1: 71.3826, 2: 2, 3: 3}))
    entries = AuditEntry.objects.filter(action__startswith="stage.")
    assert {"stage.create", "stage.publish", "stage.enter_table", "stage.confirm_table"} == set(
        entries.values_list("action", flat=True)
    )
    assert not any("71.38" in f"{entry.before}{entry.after}" for entry in entries)
    assert {entry.competition_pk for entry in entries} == {contest.competition.pk}


# --- publishing in order ----------------------------------------------------------------------------------------------
def test_the_first_stage_is_the_published_board(contest: Contest) -> None:
    snapshot = contest.publish(contest.stage())
    assert [(row["team_number"], row["rank"], row["score"], row["goes_on"]) for row in snapshot.rows] == [
        (1, 1, 0.9, True),
        (2, 2, 0.8, True),
        (3, 3, 0.7, True),
        (4, 4, 0.6, False),
        (5, 5, 0.5, False),
    ]
    board = BoardSnapshot.objects.get()
    assert snapshot.rule["basis"] == {"phase": "main", "snapshot": 1, "rows_sha256": board.sha256}


def test_a_stage_waits_for_the_one_before(contest: Contest) -> None:
    first, stage = contest.stage(), contest.stage()
    with pytest.raises(StageNotOpen):
        contest.enter(stage, {1: 1})
    with pytest.raises(StageNotOpen):
        stage_content(stage)
    contest.publish(first)
    assert [each.number for each in participants_of(stage)] == [1, 2, 3]
    with pytest.raises(NoTableForBoard):
        contest.enter(first, {1: 1})
    with pytest.raises(TableMissing):
        contest.publish(stage)


def test_the_first_stage_waits_for_its_board(contest: Contest) -> None:
    other = PhaseFactory.create(track=contest.track)
    with pytest.raises(BoardNotPublished) as refused:
        contest.publish(contest.stage(phase=other))
    assert refused.value.params == {"phase": other.title}


@pytest.mark.parametrize(("row", "score"), [(0, 1.5), (2, 1.5), (2, -0.1), (2, 0.85)])
def test_a_board_whose_scores_are_no_order_of_0_to_1_is_no_stage(contest: Contest, row: int, score: float) -> None:
    board = BoardSnapshot.objects.get()
    board.rows[row]["final_score"] = score
    board.save()
    with pytest.raises(BoardUnfit):
        contest.publish(contest.stage())


def test_where_a_composite_ranks_the_first_stage_takes_it(contest: Contest) -> None:
    """The final score then orders nothing; a composite out of order is no stage either."""
    board = BoardSnapshot.objects.get()
    board.components = [{"score": "final_score", "weight": 1.0, "higher_is_better": True}]
    for number, row in enumerate(board.rows):
        row["final_score"], row["composite"] = 0.1 * number, {"value": 1 - number / 4, "parts": []}
    board.save()
    published = contest.publish(contest.stage())
    assert [row["score"] for row in published.rows] == [1.0, 0.75, 0.5, 0.25, 0.0]
    board.rows[1]["composite"]["value"] = 0.2
    board.save()
    with pytest.raises(BoardUnfit):
        contest.publish(Stage.objects.get(), note="정정")


def test_a_baseline_takes_no_part_whatever_its_score(contest: Contest) -> None:
    board = BoardSnapshot.objects.get()
    board.rows[0] |= {"rank": None, "final_score": 1.5}
    board.save()
    assert ranks(contest.publish(contest.stage())) == [(2, 1), (3, 2), (4, 3), (5, 4)]


def test_the_combined_standing_shows_the_parts(contest: Contest, second: Stage) -> None:
    """0.9, 0.8, 0.7 and 60, 90, 80 of 100, each half: 0.75, 0.85, 0.75; equal weights: the earlier stage decides."""
    contest.judged(second, {1: 60, 2: 90, 3: 80})
    final = contest.publish_final()
    assert ranks(final) == [(2, 1), (1, 2), (3, 3), (4, None), (5, None)]
    assert [row["final_score"] for row in final.rows][:3] == pytest.approx([0.85, 0.75, 0.75])
    assert [row["stopped_at"] for row in final.rows] == [None, None, None, 1, 1]
    assert [each["score"] for each in final.rows[0]["parts"]] == [0.8, 90.0]
    assert len(final.rows[4]["parts"]) == 1
    with pytest.raises(FinalIsPublished):
        contest.stage()


def test_the_combined_standing_waits_for_every_stage_and_a_weight(contest: Contest) -> None:
    with pytest.raises(NoStages):
        contest.publish_final()
    first = contest.stage(weight=0)
    contest.publish(first)
    with pytest.raises(NoWeight):
        contest.publish_final()
    contest.stage()
    with pytest.raises(StagesUnfinished):
        contest.publish_final()


def test_what_is_published_is_what_was_seen(contest: Contest) -> None:
    stage = contest.stage()
    seen = stage_content(stage).sha256
    disqualify_team(team=contest.teams[2], actor=contest.writer, note_ko="규정 위반")
    with pytest.raises(TableChanged):
        publish_stage(stage=stage, actor=contest.reader, sha256=seen)


def test_a_combined_standing_is_published_as_it_was_seen_and_once(contest: Contest, second: Stage) -> None:
    contest.judged(second, {1: 60, 2: 90, 3: 80})
    with pytest.raises(TableChanged):
        publish_final(track=contest.track, actor=contest.reader, sha256="0" * 64)
    contest.publish_final()
    with pytest.raises(NothingChanged):
        contest.publish_final(note="다시")


def test_a_note_has_at_most_300_characters(contest: Contest) -> None:
    stage = contest.stage()
    with pytest.raises(ReasonMissing):
        contest.publish(stage, note="가" * 301)
    assert contest.publish(stage, note="가" * 300).note_ko == "가" * 300


def test_every_publication_has_an_entry_in_the_chain(contest: Contest, second: Stage) -> None:
    contest.judged(second, {1: 60, 2: 90, 3: 80})
    final = contest.publish_final()
    entries = ChainEntry.objects.filter(kind="stage").order_by("number")
    assert [(each.payload["stage"], each.payload["snapshot"]) for each in entries] == [(1, 1), (2, 1), (None, 1)]
    assert entries[2].payload["stage_sha256"] == final.sha256
    assert AuditEntry.objects.filter(action="track.publish_stages", competition_pk=contest.competition.pk).count() == 1


# --- errata -----------------------------------------------------------------------------------------------------------
def test_publishing_again_needs_a_change_and_a_reason(contest: Contest, second: Stage) -> None:
    contest.judged(second, {1: 60, 2: 90, 3: 80})
    with pytest.raises(NothingChanged):
        contest.publish(second, note="다시")
    contest.confirm(contest.enter(second, {1: 60, 2: 90, 3: 85}, reason="합산 오류"))
    with pytest.raises(ReasonMissing):
        contest.publish(second)
    again = contest.publish(second, note="합산 오류를 바로잡음")
    assert (again.number, again.rows[1]["score"]) == (2, 85.0)
    assert StageSnapshot.objects.get(stage=second, number=1).rows[1]["score"] == 80.0


def test_who_goes_on_is_fixed_by_the_publication(contest: Contest, second: Stage) -> None:
    """A disqualification takes a team out; the next one does not go on by itself."""
    disqualify_team(team=contest.teams[2], actor=contest.writer, note_ko="규정 위반")
    assert [each.number for each in participants_of(second)] == [1, 3]
    with pytest.raises(TableInvalid):
        read_for(second, "2,50\n1,50\n3,50\n")
    snapshot = contest.judged(second, {1: 60, 3: 80})
    assert (snapshot.rule["left_out"], ranks(snapshot)) == ([2], [(3, 1), (1, 2)])


def test_a_disqualification_is_published_stage_by_stage_and_never_silently(contest: Contest, second: Stage) -> None:
    """Ranks, and the numbers made of ranks, are recomputed in new snapshots; nobody moves up into a judged stage."""
    first = contest.track.stages.get(position=1)
    contest.judged(second, {1: 60, 2: 90, 3: 80})
    contest.publish_final()
    disqualify_team(team=contest.teams[2], actor=contest.writer, note_ko="규정 위반")
    assert [state.disqualified for state in states_of(contest.track)] == [(2,), (2,)]
    with pytest.raises(StageHasDisqualified) as refused:
        contest.publish_final(note="2번 팀 실격")
    assert refused.value.params == {"title": first.title}
    again = contest.publish(first, note="2번 팀 실격")
    assert ranks(again) == [(1, 1), (3, 2), (4, 3), (5, 4)]
    assert [row["team_number"] for row in again.rows if row["goes_on"]] == [1, 3]
    assert (again.rule["cut"], again.rule["left_out"], first.cut) == (2, [2], 3)
    with pytest.raises(StageOutdated):
        contest.publish_final(note="2번 팀 실격")
    judged = contest.publish(second, note="2번 팀 실격")  # by the table that was confirmed
    assert ranks(judged) == [(3, 1), (1, 2)]
    final = contest.publish_final(note="2번 팀 실격")
    assert (final.number, ranks(final)) == (2, [(1, 1), (3, 2), (4, None), (5, None)])
    assert [part["rank"] for part in final.rows[1]["parts"]] == [2, 1]
    assert not any(state.is_behind for state in states_of(contest.track))
    assert verify_competition(contest.competition) == []
    disqualify_team(team=contest.teams[5], actor=contest.writer, note_ko="규정 위반")
    assert contest.publish(first, note="5번 팀 실격").rule["cut"] == 2, "who stopped here takes nobody's place along"


def going_on(snapshot: StageSnapshot) -> list[int]:
    return [row["team_number"] for row in snapshot.rows if row["goes_on"]]


def test_nobody_moves_up_when_one_team_is_reinstated_while_another_is_disqualified(
    contest: Contest, second: Stage
) -> None:
    """Teams 1, 2 and 3 went on; 2 leaves, then 1 leaves and 2 is back: 4 stays where it stopped."""
    first = contest.track.stages.get(position=1)
    contest.judged(second, {1: 60, 2: 90, 3: 80})
    disqualify_team(team=contest.teams[2], actor=contest.writer, note_ko="규정 위반")
    assert going_on(contest.publish(first, note="2번 팀 실격")) == [1, 3]
    disqualify_team(team=contest.teams[1], actor=contest.writer, note_ko="규정 위반")
    reinstate_team(team=contest.teams[2], actor=contest.writer, reason="착오")
    assert [each.number for each in participants_of(second)] == [3], "until it is published anew"
    again = contest.publish(first, note="2번 팀 복귀, 1번 팀 실격")
    assert (going_on(again), again.rule["cut"], again.rule["left_out"]) == ([2, 3], 2, [1])
    reinstate_team(team=contest.teams[1], actor=contest.writer, reason="착오")
    assert going_on(contest.publish(first, note="1번 팀 복귀")) == [1, 2, 3]


def test_nobody_moves_up_beside_a_team_that_was_never_published(contest: Contest) -> None:
    """5 was disqualified before the first publication; back while 2 is out, it lets nobody up."""
    disqualify_team(team=contest.teams[5], actor=contest.writer, note_ko="규정 위반")
    first = contest.stage()
    assert going_on(contest.publish(first)) == [1, 2, 3]
    contest.judged(contest.stage(), {1: 60, 2: 90, 3: 80})
    disqualify_team(team=contest.teams[2], actor=contest.writer, note_ko="규정 위반")
    reinstate_team(team=contest.teams[5], actor=contest.writer, reason="착오")
    again = contest.publish(first, note="5번 팀 복귀, 2번 팀 실격")
    assert going_on(again) == [1, 3]
    assert [row["team_number"] for row in again.rows] == [1, 3, 4, 5]
    assert verify_competition(contest.competition) == []


def test_who_is_in_publications_is_read_without_their_contents(contest: Contest, second: Stage) -> None:
    contest.judged(second, {1: 60, 2: 90, 3: 80})
    disqualify_team(team=contest.teams[2], actor=contest.writer, note_ko="규정 위반")
    contest.publish(contest.track.stages.get(position=1), note="2번 팀 실격")
    by_loops = set()
    for snapshot in StageSnapshot.objects.filter(track=contest.track):
        by_loops |= {row["team_number"] for row in snapshot.rows} | set(snapshot.rule["left_out"])
    with CaptureQueriesContext(connection) as queries:
        found = teams_in_publications(contest.track, [1, 2, 4, 5, 9])
    assert found == by_loops & {1, 2, 4, 5, 9} == {1, 2, 4, 5}
    assert len(queries) == 1
    assert not [name for name in ('"rows",', '"note_ko"') if name in queries[0]["sql"]]


def test_publications_of_another_track_decide_nothing_here(contest: Contest) -> None:
    """Neither who goes on nor what a team is called: there the numbers belong to other teams."""
    other = make_contest()
    other.publish(other.stage())
    other.judged(other.stage(), {1: 60, 2: 90, 3: 80})
    first = contest.stage()
    published = contest.publish(first)
    assert [row["team"] for row in published.rows] == [team.name for team in contest.teams.values()]
    disqualify_team(team=contest.teams[2], actor=contest.writer, note_ko="규정 위반")
    assert going_on(contest.publish(first, note="2번 팀 실격")) == [1, 3, 4]


def test_nothing_is_published_where_nobody_is_left(contest: Contest) -> None:
    first = contest.stage()
    for team in contest.teams.values():
        disqualify_team(team=team, actor=contest.writer, note_ko="규정 위반")
    with pytest.raises(NobodyTakesPart):
        contest.publish(first)


def test_a_confirmed_table_without_a_team_that_is_back_is_outdated(contest: Contest, second: Stage) -> None:
    disqualify_team(team=contest.teams[2], actor=contest.writer, note_ko="규정 위반")
    contest.confirm(contest.enter(second, {1: 60, 3: 80}))
    reinstate_team(team=contest.teams[2], actor=contest.writer, reason="착오")
    with pytest.raises(TableOutdated) as refused:
        contest.publish(second)
    assert refused.value.params == {"missing": 1}


def test_only_who_would_take_part_is_named_as_left_out(contest: Contest, second: Stage) -> None:
    """Team 3 submitted first, then 2 and 1; 5 stopped before."""
    disqualify_team(team=contest.teams[5], actor=contest.writer, note_ko="규정 위반")
    disqualify_team(team=contest.teams[2], actor=contest.writer, note_ko="규정 위반")
    snapshot = contest.judged(second, {1: 60, 3: 80})
    assert snapshot.rule["left_out"] == [2]
    assert {row["team_number"]: row["order"] for row in snapshot.rows} == {3: 1, 1: 2}


def test_without_a_disqualified_team_the_cut_stays_as_it_was_set(contest: Contest) -> None:
    """Also where teams shared the last place and the stage is published again for another reason."""
    contest.publish(contest.stage(cut=None))
    second = contest.stage(cut=2)
    contest.judged(second, {1: 99, 2: 80, 3: 80, 4: 70, 5: 60})
    contest.judged(contest.stage(), {1: 1, 2: 2, 3: 3})
    again = contest.judged(second, {1: 99, 2: 80, 3: 80, 4: 71, 5: 60}, reason="합산 오류")
    assert (again.rule["cut"], sorted(going_on(again))) == (2, [1, 2, 3])


def test_teams_that_share_the_last_place_stay_in_when_a_better_one_is_disqualified(contest: Contest) -> None:
    contest.publish(contest.stage(cut=None))
    second, third = contest.stage(cut=2), contest.stage()
    contest.judged(second, {1: 99, 2: 80, 3: 80, 4: 70, 5: 60})
    contest.judged(third, {1: 1, 2: 2, 3: 3})
    disqualify_team(team=contest.teams[1], actor=contest.writer, note_ko="규정 위반")
    contest.publish(contest.track.stages.get(position=1), note="1번 팀 실격")
    again = contest.publish(second, note="1번 팀 실격")
    assert {row["team_number"]: row["rank"] for row in again.rows if row["goes_on"]} == {2: 1, 3: 1}


def test_the_next_team_moves_up_where_the_next_stage_is_not_published(contest: Contest, second: Stage) -> None:
    disqualify_team(team=contest.teams[2], actor=contest.writer, note_ko="규정 위반")
    again = contest.publish(contest.track.stages.get(position=1), note="2번 팀 실격")
    assert [row["team_number"] for row in again.rows if row["goes_on"]] == [1, 3, 4]
    contest.judged(second, {1: 60, 3: 80, 4: 99})
    assert ranks(contest.publish_final())[:3] == [(4, 1), (1, 2), (3, 3)]


def test_an_erratum_of_an_earlier_stage_asks_for_the_later_ones_again(contest: Contest, second: Stage) -> None:
    third = contest.stage()
    contest.judged(second, {1: 60, 2: 90, 3: 80})
    contest.judged(third, {1: 60, 2: 90, 3: 80})
    contest.judged(second, {1: 99, 2: 90, 3: 80}, reason="합산 오류")
    assert [state.is_outdated for state in states_of(contest.track)] == [False, False, True]
    with pytest.raises(StageOutdated):
        contest.publish_final()
    contest.publish(third, note="합산 오류")
    final = contest.publish_final()
    assert replaced_parts(final, states_of(contest.track)) == []
    contest.judged(second, {1: 98, 2: 90, 3: 80}, reason="다시 합산")
    assert [state.stage for state in replaced_parts(final, states_of(contest.track))] == [second]


def test_what_rests_on_a_result_is_named(contest: Contest, second: Stage) -> None:
    assert resting_on_board(contest.phase) == [contest.track.stages.get(position=1)]
    assert resting_on(contest.track, 2) == []
    contest.judged(second, {1: 60, 2: 90, 3: 80})
    contest.publish_final()
    assert resting_on(contest.track, 2) == [second, None]
    assert len(resting_on_board(contest.phase)) == 3
    assert resting_on_board(PhaseFactory.create(track=contest.track)) == []


def test_a_composite_board_with_a_disqualified_team_is_published_again_first(contest: Contest) -> None:
    """Without the team every composite is another one, so the old ones cannot rank the others."""
    stage = contest.stage()
    BoardSnapshot.objects.update(components=[{"score": "final_score", "weight": 1.0, "higher_is_better": True}])
    disqualify_team(team=contest.teams[5], actor=contest.writer, note_ko="규정 위반")
    with pytest.raises(BoardHasDisqualified):
        stage_content(stage)
    contest.republish_board()
    assert len(stage_content(stage).rows) == 4


def test_a_reinstated_team_must_be_judged_before_the_combined_standing(contest: Contest, second: Stage) -> None:
    disqualify_team(team=contest.teams[2], actor=contest.writer, note_ko="규정 위반")
    contest.judged(second, {1: 60, 3: 80})
    reinstate_team(team=contest.teams[2], actor=contest.writer, reason="착오")
    with pytest.raises(StageOutdated):
        contest.publish_final()


def test_a_board_that_was_published_again_asks_for_the_first_stage_again(contest: Contest, second: Stage) -> None:
    contest.judged(second, {1: 60, 2: 90, 3: 80})
    disqualify_team(team=contest.teams[5], actor=contest.writer, note_ko="규정 위반")
    contest.republish_board()
    with pytest.raises(StageOutdated):
        final_content(contest.track)


def test_ties_at_the_line_of_a_table_go_to_the_earlier_submission_where_the_rule_says_so(contest: Contest) -> None:
    """Team 5 submitted first (five hours ago), then 4, 3, 2, 1."""
    contest.publish(contest.stage(cut=None))
    stage = contest.stage(cut=2, tie_rule="earlier")
    snapshot = contest.judged(stage, {1: 50, 2: 80, 3: 80, 4: 80, 5: 10})
    assert [row["team_number"] for row in snapshot.rows if row["goes_on"]] == [4, 3]
    shared = contest.stage(cut=None)
    assert [each.number for each in participants_of(shared)] == [3, 4]


def test_blind_names_stay_blind_while_a_phase_is_open(contest: Contest) -> None:
    contest.competition.has_blind_names = True
    contest.competition.save()
    PhaseFactory.create(track=contest.track)  # open now
    rows = contest.publish(contest.stage()).rows
    assert [row["team"] for row in rows][:2] == ["참가팀 1", "참가팀 2"]
    Phase.objects.exclude(pk=contest.phase.pk).delete()


def test_a_phase_that_a_stage_reads_is_not_removed(contest: Contest) -> None:
    from malpan.competitions.errors import PartInUse
    from malpan.competitions.setup import remove_phase

    empty = PhaseFactory.create(track=contest.track)
    contest.stage(phase=empty)
    with pytest.raises(PartInUse):
        remove_phase(phase=empty, actor=contest.writer)


def test_a_team_without_a_place_in_the_stage_is_unknown_to_its_table(contest: Contest, second: Stage) -> None:
    TeamFactory.create(competition=contest.competition, name="새 팀")
    with pytest.raises(TableInvalid) as refused:
        contest.enter(second, {1: 1, 2: 2, 3: 3, 4: 4, 6: 6})
    assert [(each.code, each.line) for each in refused.value.problems] == [("team_unknown", 5), ("team_unknown", 6)]
    assert newest_table(second) is None
