import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('competitions', '0006_cover'),
        ('jobs', '0001_initial'),
        ('submissions', '0005_rejections_without_a_team'),
    ]

    operations = [
        migrations.CreateModel(
            name='AlikeFiles',
            fields=[
                ('phase', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='competitions.phase')),
                ('basis', models.CharField(blank=True, max_length=64)),
                ('pairs', models.JSONField(default=list)),
                ('teams', models.PositiveIntegerField(default=0)),
                ('unread', models.PositiveIntegerField(default=0)),
                ('has_failed', models.BooleanField(default=False)),
                ('seconds', models.FloatField(default=0.0)),
                ('computed_at', models.DateTimeField(null=True)),
                ('job', models.OneToOneField(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='jobs.job')),
            ],
        ),
    ]
