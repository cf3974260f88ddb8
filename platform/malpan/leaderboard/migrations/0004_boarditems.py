import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0003_resultsureness'),
    ]

    operations = [
        migrations.CreateModel(
            name='BoardItems',
            fields=[
                ('sureness', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='items_found', serialize=False, to='leaderboard.boardsureness')),
                ('found', models.JSONField(default=dict)),
            ],
        ),
    ]
