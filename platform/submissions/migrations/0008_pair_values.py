"""Values of pairs scored before. UNLOGGED: losing it costs time only, and writing it costs no log."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("submissions", "0007_fair_queue")]

    operations = [
        migrations.CreateModel(
            name="PairValue",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.BinaryField(max_length=32, unique=True)),
                ("value", models.FloatField()),
            ],
            options={
                "verbose_name": "문장 쌍의 값",
                "verbose_name_plural": "문장 쌍의 값",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("value__gt", float("-inf")), ("value__lt", float("inf"))),
                        name="pair_value_is_finite",
                    )
                ],
            },
        ),
        migrations.RunSQL(
            "ALTER TABLE submissions_pairvalue SET UNLOGGED", "ALTER TABLE submissions_pairvalue SET LOGGED"
        ),
    ]
