"""Triggers that note which standings a change makes old. Used by the first migration; since 0007 that of teams follows
what they say of their models, too.

Whatever changes a live score, in whichever way (a service, a bulk update, a hand in the database), the mark is written
in the same transaction: nobody can forget it.
"""

from __future__ import annotations

from typing import Final

_FUNCTIONS: Final = """
CREATE FUNCTION malpan_mark_submission() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO leaderboard_standingmark (phase_id, team_id) VALUES (NEW.phase_id, NEW.team_id);
    END IF;
    IF TG_OP = 'DELETE' OR (TG_OP = 'UPDATE' AND (OLD.phase_id, OLD.team_id) <> (NEW.phase_id, NEW.team_id)) THEN
        INSERT INTO leaderboard_standingmark (phase_id, team_id) VALUES (OLD.phase_id, OLD.team_id);
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION malpan_mark_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO leaderboard_standingmark (phase_id, team_id)
        SELECT phase_id, team_id FROM submissions_submission WHERE live_run_id = NEW.id;
    RETURN NULL;
END $$;
CREATE FUNCTION malpan_mark_team() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO leaderboard_standingmark (phase_id, team_id)
        SELECT DISTINCT phase_id, NEW.id FROM submissions_submission WHERE team_id = NEW.id;
    RETURN NULL;
END $$;
CREATE FUNCTION malpan_mark_phase() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO leaderboard_standingmark (phase_id, team_id) VALUES (NEW.id, NULL);
    RETURN NULL;
END $$;
CREATE FUNCTION malpan_mark_references() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO leaderboard_standingmark (phase_id, team_id) VALUES (NEW.phase_id, NULL);
    RETURN NULL;
END $$;
CREATE FUNCTION malpan_mark_track() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO leaderboard_standingmark (phase_id, team_id)
        SELECT id, NULL FROM competitions_phase WHERE track_id = NEW.id;
    RETURN NULL;
END $$;
"""

# function: (table, event, condition)
_TRIGGERS: Final = {
    "malpan_mark_submission": (
        "submissions_submission",
        "INSERT OR DELETE OR UPDATE OF phase_id, team_id, created_at, refunded_at, withdrawn_at, live_run_id,"
        " is_final_choice",
        "",
    ),
    "malpan_mark_run": (
        "submissions_scoringrun",
        "UPDATE OF state, final_score, scores, signature_hash, recipe, reference_version_id, is_demo_models,"
        " finished_at",
        "NEW.state = 'finished' OR OLD.state = 'finished'",
    ),
    "malpan_mark_team": (
        "teams_team",
        "UPDATE OF disqualified_at, is_baseline, name, number",
        "(OLD.disqualified_at, OLD.is_baseline, OLD.name, OLD.number) IS DISTINCT FROM"
        " (NEW.disqualified_at, NEW.is_baseline, NEW.name, NEW.number)",
    ),
    "malpan_mark_phase": (
        "competitions_phase",
        "UPDATE OF frozen_at, score_step, is_ladder, counting, counting_score",
        "(OLD.frozen_at, OLD.score_step, OLD.is_ladder, OLD.counting, OLD.counting_score) IS DISTINCT FROM"
        " (NEW.frozen_at, NEW.score_step, NEW.is_ladder, NEW.counting, NEW.counting_score)",
    ),
    "malpan_mark_references": (
        "competitions_referenceversion",
        "UPDATE OF is_current",
        "OLD.is_current IS DISTINCT FROM NEW.is_current",
    ),
    "malpan_mark_track": (
        "competitions_track",
        "UPDATE OF recipe, composite",
        "(OLD.recipe, OLD.composite) IS DISTINCT FROM (NEW.recipe, NEW.composite)",
    ),
}


def create() -> str:
    """The statements that make all triggers."""
    return _FUNCTIONS + "\n".join(
        f"CREATE TRIGGER {name} AFTER {event} ON {table} FOR EACH ROW {f'WHEN ({condition}) ' if condition else ''}"
        f"EXECUTE FUNCTION {name}();"
        for name, (table, event, condition) in _TRIGGERS.items()
    )


def drop() -> str:
    """The statements that remove them."""
    return "\n".join(
        f"DROP TRIGGER {name} ON {table}; DROP FUNCTION {name}();" for name, (table, *_rest) in _TRIGGERS.items()
    )
