from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('competitions', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='phase',
            name='item_scores',
            field=models.CharField(choices=[('closed', '보이지 않음'), ('binned', '네 구간으로만'), ('open', '점수 그대로')], default='closed', max_length=6, verbose_name='팀에게 보이는 문항별 점수'),
        ),
    ]
