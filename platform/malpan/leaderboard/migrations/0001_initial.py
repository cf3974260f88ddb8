import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

from malpan.leaderboard import triggers


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('competitions', '0001_initial'),
        ('jobs', '0001_initial'),
        ('submissions', '0001_initial'),
        ('teams', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='StandingMark',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('phase', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='competitions.phase')),
                ('team', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='teams.team')),
                ('made_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name='StandingsVersion',
            fields=[
                ('phase', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='standings_version', serialize=False, to='competitions.phase')),
                ('value', models.UUIDField()),
            ],
        ),
        migrations.CreateModel(
            name='BoardSnapshot',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField(verbose_name='판')),
                ('kind', models.CharField(choices=[('final', '최종 순위표'), ('public', '지난 공개 순위표')], default='final', max_length=6, verbose_name='종류')),
                ('recipe', models.CharField(max_length=60, verbose_name='채점 방식')),
                ('signature_hash', models.CharField(blank=True, max_length=64, verbose_name='서명 해시')),
                ('rows', models.JSONField(verbose_name='순위')),
                ('sha256', models.CharField(max_length=64, verbose_name='sha256')),
                ('components', models.JSONField(blank=True, default=list, verbose_name='종합 순위의 지표와 가중치')),
                ('note_ko', models.CharField(blank=True, max_length=300, verbose_name='안내')),
                ('note_en', models.CharField(blank=True, max_length=300, verbose_name='안내(영어)')),
                ('published_at', models.DateTimeField(verbose_name='발표 시각')),
                ('phase', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='snapshots', to='competitions.phase', verbose_name='단계')),
                ('published_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='발표한 사람')),
            ],
            options={
                'verbose_name': '최종 순위표',
                'verbose_name_plural': '최종 순위표',
                'ordering': ['phase', 'kind', '-number'],
                'constraints': [models.UniqueConstraint(fields=('phase', 'kind', 'number'), name='snapshot_number_unique_in_phase')],
            },
        ),
        migrations.CreateModel(
            name='Standing',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('scope', models.CharField(choices=[('live', 'Live'), ('frozen', 'Frozen')], max_length=6)),
                ('signature_hash', models.CharField(max_length=64)),
                ('is_baseline', models.BooleanField()),
                ('key', django.contrib.postgres.fields.ArrayField(base_field=models.FloatField(), size=None)),
                ('submitted_at', models.DateTimeField()),
                ('final_score', models.FloatField()),
                ('scores', models.JSONField()),
                ('composite', models.JSONField(null=True)),
                ('is_demo_models', models.BooleanField()),
                ('scored_at', models.DateTimeField(null=True)),
                ('submission_count', models.PositiveIntegerField()),
                ('result_count', models.PositiveIntegerField()),
                ('current_count', models.PositiveIntegerField()),
                ('current_newest_at', models.DateTimeField(null=True)),
                ('current_newest_id', models.BigIntegerField(null=True)),
                ('phase', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='competitions.phase')),
                ('submission', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='submissions.submission')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='teams.team')),
            ],
            options={
                'indexes': [models.Index(fields=['phase', 'scope', 'signature_hash', 'key', 'submitted_at', 'submission'], name='standing_in_board_order')],
                'constraints': [models.UniqueConstraint(fields=('phase', 'scope', 'team', 'signature_hash'), name='one_standing_per_team_and_signature')],
            },
        ),
        migrations.CreateModel(
            name='BoardSureness',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('scope', models.CharField(choices=[('live', 'Live'), ('frozen', 'Frozen')], default='live', max_length=6)),
                ('version', models.UUIDField(null=True)),
                ('basis', models.CharField(blank=True, max_length=64)),
                ('signature_hash', models.CharField(blank=True, max_length=64)),
                ('seed', models.PositiveBigIntegerField(default=0)),
                ('trials', models.PositiveIntegerField(default=0)),
                ('level', models.FloatField(default=0.0)),
                ('items', models.PositiveIntegerField(default=0)),
                ('pairs', models.PositiveIntegerField(default=0)),
                ('rows', models.JSONField(default=dict)),
                ('reason', models.CharField(blank=True, max_length=30)),
                ('seconds', models.FloatField(default=0.0)),
                ('computed_at', models.DateTimeField(null=True)),
                ('stamp', models.UUIDField(null=True)),
                ('job', models.OneToOneField(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='jobs.job')),
                ('phase', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='competitions.phase')),
                ('snapshot', models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='sureness', to='leaderboard.boardsnapshot')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('snapshot', None)), fields=('phase', 'scope'), name='one_sureness_per_phase_and_scope')],
            },
        ),
        migrations.RunSQL(triggers.create(), triggers.drop()),
    ]
