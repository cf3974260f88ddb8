from django.db import migrations, models


class Migration(migrations.Migration):
    """The standings of every phase are computed anew, as after any change of their results."""

    dependencies = [
        ('leaderboard', '0005_dayranks'),
    ]

    operations = [
        migrations.AddField(
            model_name='standing',
            name='coverage',
            field=models.FloatField(null=True),
        ),
        migrations.RunSQL(
            "INSERT INTO leaderboard_standingmark (phase_id, team_id) SELECT id, NULL FROM competitions_phase",
            migrations.RunSQL.noop,
        ),
    ]
