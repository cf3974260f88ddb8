import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from malpan.core.append_only import append_only
from malpan.stages import triggers


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('arena', '0001_initial'),
        ('competitions', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Stage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveSmallIntegerField(validators=[django.core.validators.MinValueValidator(1)], verbose_name='차례')),
                ('title_ko', models.CharField(max_length=120, verbose_name='제목')),
                ('title_en', models.CharField(blank=True, max_length=120, verbose_name='제목(영어)')),
                ('notice_ko', models.TextField(blank=True, max_length=50000, verbose_name='안내')),
                ('notice_en', models.TextField(blank=True, max_length=50000, verbose_name='안내(영어)')),
                ('source', models.CharField(choices=[('board', '최종 순위표'), ('table', '입력한 점수표'), ('campaign', '사람 평가의 결과')], max_length=8, verbose_name='점수의 출처')),
                ('normalisation', models.CharField(choices=[('value', '점수의 비율: (점수 - 최저) / (최고 - 최저)'), ('rank', '순위의 비율: (n - 순위) / (n - 1)')], default='value', max_length=5, verbose_name='환산')),
                ('scale_min', models.FloatField(default=0, verbose_name='최저점')),
                ('scale_max', models.FloatField(default=1, verbose_name='최고점')),
                ('weight', models.PositiveSmallIntegerField(validators=[django.core.validators.MaxValueValidator(1000)], verbose_name='비중')),
                ('cut', models.PositiveSmallIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(1)], verbose_name='진출 팀 수')),
                ('tie_rule', models.CharField(choices=[('shared', '점수가 같으면 순위가 같고, 마지막 자리의 동점 팀은 모두 진출합니다.'), ('earlier', '점수가 같으면 먼저 제출한 팀이 앞섭니다(순위표에서는 순위표의 순서).')], default='shared', max_length=7, verbose_name='동점')),
                ('is_announced', models.BooleanField(default=False, verbose_name='참가자에게 알림')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='만든 시각')),
                ('campaign', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='stages', to='arena.campaign', verbose_name='사람 평가')),
                ('phase', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='competitions.phase', verbose_name='단계')),
                ('track', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='stages', to='competitions.track', verbose_name='트랙')),
            ],
            options={
                'verbose_name': '심사',
                'verbose_name_plural': '심사',
                'ordering': ['track', 'position'],
            },
        ),
        migrations.CreateModel(
            name='StageSnapshot',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField(verbose_name='판')),
                ('rule', models.JSONField(verbose_name='규칙')),
                ('rows', models.JSONField(verbose_name='순위')),
                ('sha256', models.CharField(max_length=64, verbose_name='sha256')),
                ('note_ko', models.CharField(blank=True, max_length=300, verbose_name='안내')),
                ('note_en', models.CharField(blank=True, max_length=300, verbose_name='안내(영어)')),
                ('published_at', models.DateTimeField(verbose_name='발표 시각')),
                ('published_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='발표한 사람')),
                ('stage', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='snapshots', to='stages.stage', verbose_name='심사')),
                ('track', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='stage_snapshots', to='competitions.track', verbose_name='트랙')),
            ],
            options={
                'verbose_name': '심사 결과',
                'verbose_name_plural': '심사 결과',
                'ordering': ['track', 'stage', '-number'],
            },
        ),
        migrations.CreateModel(
            name='StageTable',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField(verbose_name='판')),
                ('rows', models.JSONField(verbose_name='점수')),
                ('sha256', models.CharField(max_length=64, verbose_name='sha256')),
                ('reason', models.CharField(blank=True, max_length=300, verbose_name='사유')),
                ('created_at', models.DateTimeField(verbose_name='입력 시각')),
                ('entered_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='입력한 사람')),
                ('stage', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tables', to='stages.stage', verbose_name='심사')),
            ],
            options={
                'verbose_name': '심사 점수표',
                'verbose_name_plural': '심사 점수표',
                'ordering': ['stage', '-number'],
            },
        ),
        migrations.CreateModel(
            name='StageDecision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('verdict', models.CharField(choices=[('confirmed', '확인함'), ('rejected', '돌려보냄')], max_length=9, verbose_name='결정')),
                ('reason', models.CharField(blank=True, max_length=300, verbose_name='사유')),
                ('created_at', models.DateTimeField(verbose_name='시각')),
                ('decided_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='확인한 사람')),
                ('table', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='decision', to='stages.stagetable', verbose_name='심사 점수표')),
            ],
            options={
                'verbose_name': '점수표 확인',
                'verbose_name_plural': '점수표 확인',
            },
        ),
        migrations.AddConstraint(
            model_name='stage',
            constraint=models.UniqueConstraint(fields=('track', 'position'), name='stage_position_unique_in_track'),
        ),
        migrations.AddConstraint(
            model_name='stage',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('campaign__isnull', True), ('phase__isnull', False), ('position', 1), ('source', 'board')), models.Q(('campaign__isnull', True), ('phase__isnull', True), ('position__gt', 1), ('source', 'table')), models.Q(('phase__isnull', True), ('position__gt', 1), ('source', 'campaign')), _connector='OR'), name='stage_first_reads_a_board'),
        ),
        migrations.AddConstraint(
            model_name='stage',
            constraint=models.CheckConstraint(condition=models.Q(('scale_min__lt', models.F('scale_max'))), name='stage_scale_has_a_width'),
        ),
        migrations.AddConstraint(
            model_name='stage',
            constraint=models.CheckConstraint(condition=models.Q(('cut__isnull', True), ('cut__gte', 1), _connector='OR'), name='stage_cut_leaves_a_team'),
        ),
        migrations.AddConstraint(
            model_name='stagesnapshot',
            constraint=models.UniqueConstraint(fields=('track', 'stage', 'number'), name='stage_snapshot_number_unique', nulls_distinct=False),
        ),
        migrations.AddConstraint(
            model_name='stagetable',
            constraint=models.UniqueConstraint(fields=('stage', 'number'), name='stage_table_number_unique'),
        ),
        migrations.AddConstraint(
            model_name='stagedecision',
            constraint=models.CheckConstraint(condition=models.Q(('verdict', 'confirmed'), models.Q(('reason', ''), _negated=True), _connector='OR'), name='stage_rejection_has_a_reason'),
        ),
        append_only("stages_stagetable"),
        append_only("stages_stagedecision"),
        append_only("stages_stagesnapshot"),
        triggers.second_person(),
    ]
