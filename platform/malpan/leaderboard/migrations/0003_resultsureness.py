import django.db.models.deletion
from django.db import migrations, models


def make_boards_due(apps, schema_editor):
    """Have the results of every phase looked at: boards that did not change are only noted again."""
    apps.get_model("leaderboard", "BoardSureness").objects.filter(snapshot=None).update(version=None)


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0002_resultcomparison'),
        ('submissions', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='ResultSureness',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('is_private', models.BooleanField(default=False)),
                ('scores', models.JSONField(default=dict)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='submissions.scoringrun')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('run', 'is_private'), name='one_sureness_of_a_result')],
            },
        ),
        migrations.RunPython(make_boards_due, migrations.RunPython.noop),
    ]
