"""What the database itself refuses: that one person both enters and decides, and that an award joins two competitions.
Used by migrations.
"""

from __future__ import annotations

from django.db.migrations import RunSQL

_CREATE = """
CREATE FUNCTION malpan_require_second_person() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM stages_stagetable WHERE id = NEW.table_id AND entered_by_id = NEW.decided_by_id) THEN
        RAISE EXCEPTION 'who entered a table does not decide about it'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER stages_stagedecision_second_person BEFORE INSERT ON stages_stagedecision
    FOR EACH ROW EXECUTE FUNCTION malpan_require_second_person();
"""
_DROP = """
DROP TRIGGER stages_stagedecision_second_person ON stages_stagedecision;
DROP FUNCTION malpan_require_second_person();
"""


def second_person() -> RunSQL:
    """The operation that makes the database refuse a decision of the person who entered the table."""
    return RunSQL(_CREATE, _DROP)


_CREATE_ONE_COMPETITION = """
CREATE FUNCTION malpan_require_one_competition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM teams_team WHERE id = NEW.team_id AND competition_id = NEW.competition_id)
        OR NEW.stage_snapshot_id IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM stages_stagesnapshot s JOIN competitions_track t ON t.id = s.track_id
            WHERE s.id = NEW.stage_snapshot_id AND t.competition_id = NEW.competition_id)
        OR NEW.board_snapshot_id IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM leaderboard_boardsnapshot b JOIN competitions_phase p ON p.id = b.phase_id
            JOIN competitions_track t ON t.id = p.track_id
            WHERE b.id = NEW.board_snapshot_id AND t.competition_id = NEW.competition_id)
    THEN
        RAISE EXCEPTION 'an award is to a team of its competition, by a result of it'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER stages_award_one_competition BEFORE INSERT OR UPDATE ON stages_award
    FOR EACH ROW EXECUTE FUNCTION malpan_require_one_competition();
"""
_DROP_ONE_COMPETITION = """
DROP TRIGGER stages_award_one_competition ON stages_award;
DROP FUNCTION malpan_require_one_competition();
"""


def one_competition() -> RunSQL:
    """The operation that makes the database refuse an award to a team, or by a result, of another competition."""
    return RunSQL(_CREATE_ONE_COMPETITION, _DROP_ONE_COMPETITION)
