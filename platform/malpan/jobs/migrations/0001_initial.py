import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Job',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=20, verbose_name='종류')),
                ('number', models.PositiveIntegerField(default=0, verbose_name='번호')),
                ('flow', models.CharField(max_length=40, verbose_name='차례를 나누는 단위')),
                ('lane', models.PositiveSmallIntegerField(choices=[(0, '제출'), (1, '재채점'), (2, '통계')], default=0, verbose_name='줄')),
                ('cost', models.PositiveBigIntegerField(default=0, verbose_name='예상 토큰 수')),
                ('fair_tag', models.BigIntegerField(default=0, verbose_name='공정 순번')),
                ('state', models.CharField(choices=[('queued', '대기 중'), ('running', '진행 중'), ('finished', '완료'), ('failed', '실패')], default='queued', max_length=8, verbose_name='상태')),
                ('attempt', models.PositiveIntegerField(default=0, verbose_name='시도')),
                ('failures', models.PositiveSmallIntegerField(default=0, verbose_name='실패한 시도')),
                ('lease_expires_at', models.DateTimeField(blank=True, null=True, verbose_name='점유 만료')),
                ('not_before', models.DateTimeField(blank=True, null=True, verbose_name='다시 시도할 시각')),
                ('waiting_since', models.DateTimeField(blank=True, null=True, verbose_name='외부를 기다리기 시작한 때')),
                ('worker', models.CharField(blank=True, max_length=120, verbose_name='채점 서버')),
                ('stage', models.CharField(blank=True, max_length=40, verbose_name='진행 단계')),
                ('progress', models.FloatField(default=0, verbose_name='진행률')),
                ('traceparent', models.CharField(blank=True, max_length=55)),
                ('queued_at', models.DateTimeField(verbose_name='대기 시작')),
                ('started_at', models.DateTimeField(blank=True, null=True, verbose_name='시작')),
                ('finished_at', models.DateTimeField(blank=True, null=True, verbose_name='끝')),
                ('error_code', models.CharField(blank=True, max_length=60, verbose_name='오류 코드')),
                ('parent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='children', to='jobs.job', verbose_name='상위 작업')),
            ],
            options={
                'verbose_name': '작업',
                'verbose_name_plural': '작업',
                'ordering': ['-pk'],
                'indexes': [models.Index(condition=models.Q(('state', 'queued')), fields=['lane', 'fair_tag', 'id'], name='job_fair_order'), models.Index(condition=models.Q(('attempt__gt', 0)), fields=['lane', 'fair_tag'], name='job_virtual_time'), models.Index(condition=models.Q(('state', 'running')), fields=['lease_expires_at'], name='job_leases'), models.Index(condition=models.Q(('state', 'queued')), fields=['flow'], name='job_flow_waiting')],
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'running', 'finished', 'failed'])), name='job_state_known'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'running'), _negated=True), ('lease_expires_at__isnull', False), _connector='OR'), name='running_job_has_a_lease'), models.CheckConstraint(condition=models.Q(models.Q(('state__in', ['finished', 'failed']), _negated=True), ('finished_at__isnull', False), _connector='OR'), name='job_that_is_over_says_when'), models.UniqueConstraint(condition=models.Q(('parent__isnull', False)), fields=('parent', 'number'), name='child_number_unique_in_parent')],
            },
        ),
        migrations.CreateModel(
            name='Worker',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=140, unique=True, verbose_name='이름')),
                ('seen_at', models.DateTimeField(verbose_name='마지막 보고')),
                ('numbers', models.JSONField(default=dict, verbose_name='보고한 값')),
                ('about', models.JSONField(default=dict, verbose_name='채점 도구와 작업')),
                ('refusal', models.TextField(blank=True, verbose_name='일하지 않는 이유')),
            ],
            options={
                'verbose_name': '채점 서버',
                'verbose_name_plural': '채점 서버',
                'ordering': ['name'],
            },
        ),
    ]
