import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0004_privacy_consent")]

    operations = [
        migrations.CreateModel(
            name="AnsweredRequest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=64, verbose_name="키")),
                ("request_sha256", models.CharField(default="", max_length=64, verbose_name="요청 sha256")),
                ("status", models.PositiveSmallIntegerField(default=0, verbose_name="상태")),
                ("answer", models.TextField(default="", verbose_name="답")),
                ("created_at", models.DateTimeField(db_index=True, verbose_name="시각")),
                (
                    "api_token",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="answered",
                        to="accounts.apitoken",
                        verbose_name="API 토큰",
                    ),
                ),
            ],
            options={
                "verbose_name": "한 번만 하는 요청",
                "verbose_name_plural": "한 번만 하는 요청",
                "constraints": [
                    models.UniqueConstraint(fields=("api_token", "key"), name="one_answer_for_a_key")
                ],
            },
        ),
    ]
