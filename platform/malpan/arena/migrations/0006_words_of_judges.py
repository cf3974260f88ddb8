from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('arena', '0005_barred_teams'),
    ]

    operations = [
        migrations.AddField(
            model_name='campaignjudge',
            name='told',
            field=models.TextField(blank=True, db_default='', default='', max_length=10000, verbose_name='운영자에게 알린 말'),
        ),
        migrations.AddField(
            model_name='campaignjudge',
            name='told_at',
            field=models.DateTimeField(blank=True, null=True, verbose_name='운영자에게 알린 시각'),
        ),
    ]
