"""The fair order of the queue: what a run is expected to cost, its tag, and the pause before another attempt."""

import django.db.models.lookups
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("submissions", "0006_ledger_of_earlier_submissions"),
    ]

    operations = [
        migrations.AddField(
            model_name="scoringrun",
            name="cost",
            field=models.PositiveBigIntegerField(default=0, verbose_name="예상 토큰 수"),
        ),
        migrations.AddField(
            model_name="scoringrun",
            name="fair_tag",
            field=models.BigIntegerField(default=0, verbose_name="공정 순번"),
        ),
        migrations.AddField(
            model_name="scoringrun",
            name="not_before",
            field=models.DateTimeField(blank=True, null=True, verbose_name="다시 시도할 시각"),
        ),
        migrations.AddIndex(
            model_name="scoringrun",
            index=models.Index(
                django.db.models.lookups.IsNull(models.F("batch"), False),
                models.F("fair_tag"),
                models.F("id"),
                condition=models.Q(("state", "queued")),
                name="run_fair_order",
            ),
        ),
        migrations.AddIndex(
            model_name="scoringrun",
            index=models.Index(
                condition=models.Q(("attempt__gt", 0), ("batch", None)), fields=["fair_tag"], name="run_virtual_time"
            ),
        ),
        migrations.AddIndex(
            model_name="scoringrun",
            index=models.Index(
                condition=models.Q(("batch", None), ("state", "finished")),
                fields=["profile", "-finished_at"],
                name="run_recent_pace",
            ),
        ),
    ]
