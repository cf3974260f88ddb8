from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_old_programs_may_write")]

    operations = [
        migrations.AddField(
            model_name="user",
            name="privacy_accepted_at",
            field=models.DateTimeField(
                blank=True, editable=False, null=True, verbose_name="개인정보 처리에 동의한 시각"
            ),
        ),
        migrations.AddField(
            model_name="user",
            name="privacy_version",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                editable=False,
                max_length=40,
                verbose_name="동의한 개인정보 처리방침의 판",
            ),
        ),
    ]
