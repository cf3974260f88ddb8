import django.db.models.deletion
import uuid
from django.conf import settings
from malpan.core.append_only import append_only
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('competitions', '0001_initial'),
        ('jobs', '0001_initial'),
        ('teams', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='CanaryRows',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('identity', models.CharField(max_length=64, unique=True, verbose_name='지표와 모델')),
                ('metric', models.CharField(max_length=40, verbose_name='지표')),
                ('rows', models.JSONField(verbose_name='값')),
                ('worker', models.CharField(max_length=120, verbose_name='채점 서버')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='시각')),
            ],
            options={
                'verbose_name': '점검값',
                'verbose_name_plural': '점검값',
            },
        ),
        migrations.CreateModel(
            name='JudgeUsage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('profile', models.CharField(max_length=200, unique=True, verbose_name='모델 프로필')),
                ('requests', models.PositiveBigIntegerField(default=0, verbose_name='요청 수')),
                ('tokens', models.PositiveBigIntegerField(default=0, verbose_name='토큰 수')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='시각')),
            ],
            options={
                'verbose_name': '심사 모델 사용량',
                'verbose_name_plural': '심사 모델 사용량',
            },
        ),
        migrations.CreateModel(
            name='JudgeReservation',
            fields=[
                ('key', models.UUIDField(primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(auto_now_add=True, db_index=True, verbose_name='시각')),
            ],
            options={
                'verbose_name': '심사 모델 예약',
                'verbose_name_plural': '심사 모델 예약',
            },
        ),
        migrations.CreateModel(
            name='JudgeAgreement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('metric', models.CharField(max_length=40, verbose_name='지표')),
                ('metric_signature', models.CharField(db_index=True, max_length=64, verbose_name='지표 서명')),
                ('judge', models.JSONField(verbose_name='심사 모델')),
                ('is_demo_models', models.BooleanField(default=False, verbose_name='데모 모델')),
                ('figures', models.JSONField(verbose_name='일치도')),
                ('source', models.CharField(max_length=300, verbose_name='사람 점수의 출처')),
                ('scores_digest', models.CharField(max_length=64, verbose_name='사람 점수 파일의 sha256')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='시각')),
                ('competition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='competitions.competition', verbose_name='대회')),
            ],
            options={
                'verbose_name': '심사 모델과 사람의 일치도',
                'verbose_name_plural': '심사 모델과 사람의 일치도',
                'ordering': ['-created_at', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='Judgement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.BinaryField(max_length=32)),
                ('scope', models.BigIntegerField(default=0)),
                ('value', models.FloatField(null=True)),
                ('asker', models.BigIntegerField(null=True)),
                ('asked_until', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='시각')),
            ],
            options={
                'verbose_name': '심사 모델의 판정',
                'verbose_name_plural': '심사 모델의 판정',
                'indexes': [models.Index(condition=models.Q(('value', None)), fields=['asked_until'], name='judgement_open_turns')],
                'constraints': [models.UniqueConstraint(fields=('key', 'scope'), name='judgement_once_in_a_scope'), models.CheckConstraint(condition=models.Q(('value__gt', float("-inf")), ('value__lt', float("inf"))), name='judgement_is_finite'), models.CheckConstraint(condition=models.Q(models.Q(('asked_until', None), ('asker', None), ('value__isnull', False)), models.Q(('asked_until__isnull', False), ('asker__isnull', False), ('value', None)), _connector='OR'), name='judgement_has_a_value_or_an_asker')],
            },
        ),
        migrations.CreateModel(
            name='PairValue',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.BinaryField(max_length=32, unique=True)),
                ('value', models.FloatField()),
            ],
            options={
                'verbose_name': '문장 쌍의 값',
                'verbose_name_plural': '문장 쌍의 값',
                'constraints': [models.CheckConstraint(condition=models.Q(('value__gt', float("-inf")), ('value__lt', float("inf"))), name='pair_value_is_finite')],
            },
        ),
        migrations.CreateModel(
            name='Rejection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('file_name', models.CharField(max_length=255, verbose_name='파일 이름')),
                ('file_size', models.PositiveBigIntegerField(verbose_name='크기(바이트)')),
                ('errors', models.JSONField(verbose_name='오류')),
                ('error_count', models.PositiveIntegerField(verbose_name='오류 수')),
                ('created_at', models.DateTimeField(verbose_name='시각')),
                ('phase', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='rejections', to='competitions.phase', verbose_name='단계')),
                ('submitted_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='제출한 사람')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='rejections', to='teams.team', verbose_name='팀')),
            ],
            options={
                'verbose_name': '반려된 파일',
                'verbose_name_plural': '반려된 파일',
                'ordering': ['-created_at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='RescoreBatch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.CharField(max_length=300, verbose_name='사유')),
                ('selection', models.JSONField(default=dict, verbose_name='대상')),
                ('recipe', models.CharField(blank=True, max_length=60, verbose_name='새 채점 방식')),
                ('profile', models.CharField(blank=True, max_length=200, verbose_name='새 모델 프로필')),
                ('repeats', models.PositiveSmallIntegerField(default=1, verbose_name='반복')),
                ('state', models.CharField(choices=[('running', '채점 중'), ('ready', '적용 대기'), ('applied', '적용됨'), ('cancelled', '취소됨')], default='running', max_length=9, verbose_name='상태')),
                ('resets_quota', models.BooleanField(default=False, verbose_name='제출 횟수 초기화')),
                ('grants_slots', models.PositiveSmallIntegerField(default=0, verbose_name='추가 횟수')),
                ('notice_title_ko', models.CharField(blank=True, max_length=200, verbose_name='공지 제목')),
                ('notice_title_en', models.CharField(blank=True, max_length=200, verbose_name='공지 제목(영어)')),
                ('notice_body_ko', models.TextField(blank=True, verbose_name='공지 내용')),
                ('notice_body_en', models.TextField(blank=True, verbose_name='공지 내용(영어)')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='시작 시각')),
                ('closed_at', models.DateTimeField(blank=True, null=True, verbose_name='끝난 시각')),
                ('closed_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='끝낸 사람')),
                ('competition', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='rescore_batches', to='competitions.competition', verbose_name='대회')),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='시작한 사람')),
                ('phase', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='rescore_batches', to='competitions.phase', verbose_name='단계')),
                ('reference_version', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='competitions.referenceversion', verbose_name='새 정답 판')),
            ],
            options={
                'verbose_name': '재채점',
                'verbose_name_plural': '재채점',
                'ordering': ['-created_at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='ScoringRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('recipe', models.CharField(max_length=60, verbose_name='채점 방식')),
                ('profile', models.CharField(max_length=200, verbose_name='모델 프로필')),
                ('state', models.CharField(choices=[('queued', '대기 중'), ('running', '채점 중'), ('finished', '완료'), ('failed', '실패')], default='queued', max_length=8, verbose_name='상태')),
                ('queued_at', models.DateTimeField(verbose_name='대기 시작')),
                ('started_at', models.DateTimeField(blank=True, null=True, verbose_name='채점 시작')),
                ('finished_at', models.DateTimeField(blank=True, null=True, verbose_name='채점 끝')),
                ('final_score', models.FloatField(blank=True, null=True, verbose_name='최종 점수')),
                ('scores', models.JSONField(blank=True, default=dict, verbose_name='점수')),
                ('coverage', models.JSONField(blank=True, default=dict, verbose_name='응답 범위')),
                ('warnings', models.JSONField(blank=True, default=list, verbose_name='알림')),
                ('signature', models.JSONField(blank=True, default=dict, verbose_name='서명')),
                ('signature_hash', models.CharField(blank=True, max_length=64, verbose_name='서명 해시')),
                ('is_demo_models', models.BooleanField(default=False, verbose_name='데모 모델')),
                ('error_code', models.CharField(blank=True, max_length=60, verbose_name='오류 코드')),
                ('batch', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='submissions.rescorebatch', verbose_name='재채점')),
                ('job', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='jobs.job', verbose_name='작업')),
                ('reference_version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='competitions.referenceversion', verbose_name='정답 판')),
            ],
            options={
                'verbose_name': '채점',
                'verbose_name_plural': '채점',
                'ordering': ['-queued_at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='HiddenResult',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('final_score', models.FloatField(verbose_name='최종 점수')),
                ('scores', models.JSONField(default=dict, verbose_name='점수')),
                ('coverage', models.JSONField(default=dict, verbose_name='응답 범위')),
                ('warnings', models.JSONField(default=list, verbose_name='알림')),
                ('signature', models.JSONField(default=dict, verbose_name='서명')),
                ('signature_hash', models.CharField(max_length=64, verbose_name='서명 해시')),
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='hidden_result', to='submissions.scoringrun', verbose_name='채점')),
            ],
            options={
                'verbose_name': '비공개 점수',
                'verbose_name_plural': '비공개 점수',
            },
        ),
        migrations.CreateModel(
            name='Submission',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True, verbose_name='공개 번호')),
                ('file_name', models.CharField(max_length=255, verbose_name='파일 이름')),
                ('file_sha256', models.CharField(db_index=True, max_length=64, verbose_name='파일 sha256')),
                ('file_size', models.PositiveIntegerField(verbose_name='크기(바이트)')),
                ('file_format', models.CharField(blank=True, max_length=20, verbose_name='인식한 형식')),
                ('item_count', models.PositiveIntegerField(verbose_name='문항 수')),
                ('normalized_count', models.PositiveIntegerField(default=0, verbose_name='NFC로 바뀐 문항 수')),
                ('file_warnings', models.JSONField(blank=True, default=list, verbose_name='파일에 관한 알림')),
                ('memo', models.CharField(blank=True, max_length=200, verbose_name='메모')),
                ('upload_key', models.CharField(blank=True, editable=False, max_length=64)),
                ('created_at', models.DateTimeField(db_index=True, verbose_name='제출 시각')),
                ('refunded_at', models.DateTimeField(blank=True, null=True, verbose_name='환불 시각')),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True, verbose_name='철회 시각')),
                ('is_final_choice', models.BooleanField(default=False, verbose_name='최종 선택')),
                ('live_run', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='live_for', to='submissions.scoringrun', verbose_name='반영된 채점')),
                ('phase', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='submissions', to='competitions.phase', verbose_name='단계')),
                ('submitted_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='submissions', to=settings.AUTH_USER_MODEL, verbose_name='제출한 사람')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='submissions', to='teams.team', verbose_name='팀')),
            ],
            options={
                'verbose_name': '제출',
                'verbose_name_plural': '제출',
                'ordering': ['-created_at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='FinalChoice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('chosen_at', models.DateTimeField(verbose_name='고른 시각')),
                ('ended_at', models.DateTimeField(blank=True, null=True, verbose_name='선택을 푼 시각')),
                ('submission', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='final_choices', to='submissions.submission', verbose_name='제출')),
            ],
            options={
                'verbose_name': '최종 선택의 기간',
                'verbose_name_plural': '최종 선택의 기간',
                'ordering': ['chosen_at', 'id'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('submission',), name='one_open_choice_per_submission')],
            },
        ),
        migrations.AddField(
            model_name='scoringrun',
            name='submission',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='submissions.submission', verbose_name='제출'),
        ),
        migrations.CreateModel(
            name='QuotaEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('charge', '차감'), ('refund', '환불'), ('grant', '추가'), ('reset', '초기화')], max_length=6, verbose_name='종류')),
                ('slots', models.PositiveSmallIntegerField(default=1, verbose_name='횟수')),
                ('day', models.DateField(blank=True, null=True, verbose_name='날짜(KST)')),
                ('reason', models.CharField(blank=True, max_length=300, verbose_name='사유')),
                ('moment', models.DateTimeField(verbose_name='시각')),
                ('actor', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='행위자')),
                ('phase', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='quota_entries', to='competitions.phase', verbose_name='단계')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='quota_entries', to='teams.team', verbose_name='팀')),
                ('batch', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='submissions.rescorebatch', verbose_name='재채점')),
                ('submission', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='quota_entries', to='submissions.submission', verbose_name='제출')),
            ],
            options={
                'verbose_name': '제출 횟수 기록',
                'verbose_name_plural': '제출 횟수 기록',
                'ordering': ['moment', 'id'],
            },
        ),
        migrations.CreateModel(
            name='MetricResult',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('split', models.CharField(default='all', max_length=7, verbose_name='문항 범위')),
                ('metric', models.CharField(max_length=40, verbose_name='지표')),
                ('metric_signature', models.CharField(max_length=64, verbose_name='지표 서명')),
                ('values', models.JSONField(verbose_name='문항별 값')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='시각')),
                ('reference_version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='competitions.referenceversion', verbose_name='정답 판')),
                ('submission', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='metric_results', to='submissions.submission', verbose_name='제출')),
            ],
            options={
                'verbose_name': '지표 결과',
                'verbose_name_plural': '지표 결과',
            },
        ),
        migrations.CreateModel(
            name='ChainEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField(verbose_name='번호')),
                ('kind', models.CharField(choices=[('receipt', '접수'), ('score', '점수'), ('board', '최종 순위표'), ('stage', '심사 결과'), ('arena', '사람 평가')], max_length=7, verbose_name='종류')),
                ('payload', models.JSONField(verbose_name='내용')),
                ('previous_sha256', models.CharField(blank=True, max_length=64, verbose_name='앞 고리')),
                ('sha256', models.CharField(max_length=64, verbose_name='해시')),
                ('salt', models.CharField(blank=True, default='', editable=False, max_length=32)),
                ('facts', models.JSONField(blank=True, default=dict, editable=False)),
                ('created_at', models.DateTimeField(verbose_name='시각')),
                ('competition', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='chain', to='competitions.competition', verbose_name='대회')),
                ('submission', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='chain_entries', to='submissions.submission', verbose_name='제출')),
            ],
            options={
                'verbose_name': '해시 사슬',
                'verbose_name_plural': '해시 사슬',
                'ordering': ['competition', 'number'],
            },
        ),
        migrations.AddConstraint(
            model_name='rescorebatch',
            constraint=models.UniqueConstraint(condition=models.Q(('repeats', 1), ('state', 'running')), fields=('phase',), name='one_open_batch_per_phase'),
        ),
        migrations.AddConstraint(
            model_name='rescorebatch',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['running', 'applied', 'cancelled'])), name='batch_state_is_kept'),
        ),
        migrations.AddIndex(
            model_name='submission',
            index=models.Index(fields=['team', 'phase', 'created_at'], name='submission_quota_window'),
        ),
        migrations.AddConstraint(
            model_name='submission',
            constraint=models.UniqueConstraint(condition=models.Q(('upload_key', ''), _negated=True), fields=('team', 'upload_key', 'file_sha256'), name='one_submission_per_upload_key'),
        ),
        migrations.AddIndex(
            model_name='scoringrun',
            index=models.Index(condition=models.Q(('state__in', ['queued', 'running'])), fields=['state'], name='run_unfinished'),
        ),
        migrations.AddIndex(
            model_name='scoringrun',
            index=models.Index(fields=['finished_at'], name='run_ended'),
        ),
        migrations.AddIndex(
            model_name='scoringrun',
            index=models.Index(condition=models.Q(('batch', None), ('state', 'finished')), fields=['profile', '-finished_at'], name='run_recent_pace'),
        ),
        migrations.AddConstraint(
            model_name='scoringrun',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'running', 'finished', 'failed'])), name='run_state_known'),
        ),
        migrations.AddConstraint(
            model_name='scoringrun',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'finished'), _negated=True), models.Q(('final_score__isnull', False), ('finished_at__isnull', False)), _connector='OR'), name='finished_run_has_a_score'),
        ),
        migrations.AddIndex(
            model_name='quotaentry',
            index=models.Index(fields=['team', 'phase', 'moment'], name='quota_ledger_of_team'),
        ),
        migrations.AddConstraint(
            model_name='quotaentry',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('kind__in', ['charge', 'refund']), _negated=True), ('submission__isnull', False), _connector='OR'), name='charge_names_its_submission'),
        ),
        migrations.AddConstraint(
            model_name='quotaentry',
            constraint=models.CheckConstraint(condition=models.Q(('slots__gte', 1)), name='quota_entry_counts_something'),
        ),
        migrations.AddConstraint(
            model_name='metricresult',
            constraint=models.UniqueConstraint(fields=('submission', 'reference_version', 'split', 'metric', 'metric_signature'), name='metric_result_once_per_signature'),
        ),
        migrations.AddConstraint(
            model_name='chainentry',
            constraint=models.UniqueConstraint(fields=('competition', 'number'), name='chain_number_unique_in_competition'),
        ),
        migrations.AddConstraint(
            model_name='chainentry',
            constraint=models.UniqueConstraint(fields=('competition', 'previous_sha256'), name='chain_never_forks'),
        ),
        append_only("submissions_quotaentry"),
        append_only("submissions_chainentry"),
        migrations.RunSQL(  # a memory of pairs that were scored: losing it costs time only, and writing it costs no log
            "ALTER TABLE submissions_pairvalue SET UNLOGGED", "ALTER TABLE submissions_pairvalue SET LOGGED"
        ),
    ]
