from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('arena', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='campaignjudge',
            name='barred_at_opening',
            field=models.JSONField(blank=True, editable=False, null=True, verbose_name='시작할 때의 제척'),
        ),
        migrations.AddField(
            model_name='campaignjudge',
            name='declared_late',
            field=models.PositiveSmallIntegerField(db_default=0, default=0, verbose_name='출력을 본 뒤에 밝힌 팀의 수'),
        ),
    ]
