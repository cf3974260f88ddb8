import django.contrib.postgres.fields
from django.db import migrations, models

import malpan.accounts.models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="apitoken",
            name="expires_at",
            field=models.DateTimeField(blank=True, null=True, verbose_name="만료 시각"),
        ),
        migrations.AddField(
            model_name="apitoken",
            name="scopes",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(
                    choices=[("read", "읽기"), ("submit", "제출과 팀"), ("organise", "대회 운영")], max_length=8
                ),
                default=malpan.accounts.models.scopes_of_a_participant,
                size=None,
                verbose_name="쓸 곳",
            ),
        ),
        migrations.AlterField(
            model_name="apitoken",
            name="last_used_at",
            field=models.DateTimeField(blank=True, null=True, verbose_name="마지막으로 쓴 시각"),
        ),
    ]
