import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('competitions', '0003_old_programs_may_write'),
        ('leaderboard', '0004_boarditems'),
    ]

    operations = [
        migrations.CreateModel(
            name='DayRanks',
            fields=[
                ('phase', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='day_ranks', serialize=False, to='competitions.phase')),
                ('day', models.DateField()),
                ('ranks', models.JSONField(default=dict)),
            ],
        ),
    ]
