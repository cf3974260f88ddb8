"""What the database itself refuses: that one person both enters and decides. Used by migrations."""

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
