"""The ledger of submissions that were made before there was one."""

from typing import Any

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

BATCH = 1000


def write_ledger(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor | None) -> None:
    """A charge for every submission without one, and a refund for those refunded, in the order of their moments."""
    submissions = apps.get_model("submissions", "Submission")
    entries = apps.get_model("submissions", "QuotaEntry")
    lines: list[Any] = []
    for row in submissions.objects.filter(quota_entries=None).order_by("created_at", "pk").iterator():
        common = {"team_id": row.team_id, "phase_id": row.phase_id, "submission_id": row.pk}
        lines.append(entries(kind="charge", moment=row.created_at, actor_id=row.submitted_by_id, **common))
        if row.refunded_at is not None:
            lines.append(entries(kind="refund", moment=row.refunded_at, **common))
    lines.sort(key=lambda line: line.moment)  # stable: a charge stays before its refund
    entries.objects.bulk_create(lines, batch_size=BATCH)


class Migration(migrations.Migration):
    dependencies = [("submissions", "0005_receipts_salt")]

    operations = [migrations.RunPython(write_ledger, migrations.RunPython.noop)]
