"""Tables whose rows the database itself refuses to change or delete. Used by migrations."""

from __future__ import annotations

from django.db.migrations import RunSQL

_FUNCTION = """
CREATE OR REPLACE FUNCTION malpan_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are never changed or deleted', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
"""


def append_only_but_emptied(table: str, column: str) -> RunSQL:
    """As ``append_only``, but the text in ``column`` may be emptied: what somebody wrote goes when they are erased."""
    return RunSQL(
        f"""
CREATE OR REPLACE FUNCTION {table}_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.{column} = '' AND to_jsonb(NEW) - '{column}' = to_jsonb(OLD) - '{column}' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'rows of % are never changed or deleted', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION {table}_refuse_change();
""",
        f"DROP TRIGGER {table}_append_only ON {table}; DROP FUNCTION {table}_refuse_change();",
    )


def append_only(table: str) -> RunSQL:
    """The operation that makes ``table`` append-only: every UPDATE or DELETE of a row fails."""
    return RunSQL(
        f"{_FUNCTION}CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table} "
        "FOR EACH ROW EXECUTE FUNCTION malpan_refuse_change();",
        f"DROP TRIGGER {table}_append_only ON {table};",
    )
