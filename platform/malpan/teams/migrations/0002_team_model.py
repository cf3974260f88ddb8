from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('teams', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='team',
            name='model_name',
            field=models.CharField(blank=True, db_default='', max_length=80, verbose_name='모델 이름'),
        ),
        migrations.AddField(
            model_name='team',
            name='model_size',
            field=models.CharField(blank=True, db_default='', max_length=40, verbose_name='모델 크기'),
        ),
        migrations.AddField(
            model_name='team',
            name='model_url',
            field=models.URLField(blank=True, db_default='', max_length=300, verbose_name='모델 주소'),
        ),
        migrations.AddField(
            model_name='team',
            name='paper_url',
            field=models.URLField(blank=True, db_default='', max_length=300, verbose_name='논문 주소'),
        ),
    ]
