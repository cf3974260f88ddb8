import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("submissions", "0003_rescore_groups")]

    operations = [
        migrations.AddField(
            model_name="rescorebatch",
            name="is_from_scratch",
            field=models.BooleanField(db_default=False, default=False, verbose_name="모든 값을 새로 계산"),
        ),
        migrations.CreateModel(
            name="FreshResult",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("split", models.CharField(default="all", max_length=7, verbose_name="문항 범위")),
                ("metric", models.CharField(max_length=40, verbose_name="지표")),
                ("metric_signature", models.CharField(max_length=64, verbose_name="지표 서명")),
                ("values", models.JSONField(verbose_name="문항별 값")),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="fresh_results",
                        to="submissions.scoringrun",
                        verbose_name="채점",
                    ),
                ),
            ],
            options={
                "verbose_name": "새로 계산한 지표 결과",
                "verbose_name_plural": "새로 계산한 지표 결과",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("run", "split", "metric", "metric_signature"), name="fresh_result_once_per_run"
                    )
                ],
            },
        ),
    ]
