import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('jobs', '0001_initial'),
        ('leaderboard', '0001_initial'),
        ('submissions', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='ResultComparison',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('is_private', models.BooleanField(default=False)),
                ('lines', models.JSONField(default=dict)),
                ('items', models.PositiveIntegerField(default=0)),
                ('seed', models.PositiveBigIntegerField(default=0)),
                ('trials', models.PositiveIntegerField(default=0)),
                ('reason', models.CharField(blank=True, max_length=30)),
                ('computed_at', models.DateTimeField(null=True)),
                ('job', models.OneToOneField(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='jobs.job')),
                ('one', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='submissions.scoringrun')),
                ('other', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='submissions.scoringrun')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('one', 'other', 'is_private'), name='one_comparison_of_two_results')],
            },
        ),
    ]
