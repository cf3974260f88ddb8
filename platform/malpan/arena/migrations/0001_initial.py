import django.core.validators
import django.db.models.deletion
import django.db.models.functions.text
import uuid
from django.conf import settings
from django.db import migrations, models

from malpan.core.append_only import append_only, append_only_but_emptied


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('competitions', '0001_initial'),
        ('jobs', '0001_initial'),
        ('submissions', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Campaign',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField(verbose_name='번호')),
                ('title_ko', models.CharField(max_length=120, verbose_name='제목')),
                ('title_en', models.CharField(blank=True, max_length=120, verbose_name='제목(영어)')),
                ('notice_ko', models.TextField(blank=True, max_length=50000, verbose_name='안내')),
                ('notice_en', models.TextField(blank=True, max_length=50000, verbose_name='안내(영어)')),
                ('protocol', models.CharField(choices=[('pairwise', '쌍 비교'), ('rubric', '기준별 점수'), ('ranking', '순위 매기기'), ('errors', '오류 표시')], max_length=8, verbose_name='평가 방식')),
                ('part', models.CharField(choices=[('public', '공개 문항'), ('private', '비공개 문항'), ('all', '모든 문항')], default='all', max_length=7, verbose_name='문항의 범위')),
                ('item_count', models.PositiveSmallIntegerField(default=100, verbose_name='문항 수')),
                ('units_per_item', models.PositiveSmallIntegerField(default=1, verbose_name='문항마다 묶음 수')),
                ('judges_per_unit', models.PositiveSmallIntegerField(default=2, verbose_name='묶음마다 평가자 수')),
                ('group_size', models.PositiveSmallIntegerField(default=2, verbose_name='함께 보이는 출력 수')),
                ('control_percent', models.PositiveSmallIntegerField(default=5, verbose_name='확인 문항(%)')),
                ('repeat_percent', models.PositiveSmallIntegerField(default=5, verbose_name='되풀이 문항(%)')),
                ('calibration_count', models.PositiveSmallIntegerField(default=3, verbose_name='연습 문항 수')),
                ('practice', models.JSONField(blank=True, default=list, verbose_name='직접 쓴 연습 문항')),
                ('shows_input', models.BooleanField(default=True, verbose_name='입력을 보임')),
                ('shows_reference', models.BooleanField(default=False, verbose_name='정답을 보임')),
                ('min_seconds', models.PositiveSmallIntegerField(default=5, verbose_name='읽는 데 드는 최소 시간(초)')),
                ('masked_words', models.JSONField(blank=True, default=list, verbose_name='가릴 이름')),
                ('resamples', models.PositiveSmallIntegerField(default=2000, validators=[django.core.validators.MinValueValidator(200), django.core.validators.MaxValueValidator(20000)], verbose_name='재표집 횟수')),
                ('seed', models.CharField(editable=False, max_length=64)),
                ('seed_sha256', models.CharField(editable=False, max_length=64, verbose_name='시드의 sha256')),
                ('design_sha256', models.CharField(blank=True, editable=False, max_length=64, verbose_name='배정의 sha256')),
                ('starts_at', models.DateTimeField(blank=True, null=True, verbose_name='시작 예정')),
                ('ends_at', models.DateTimeField(blank=True, null=True, verbose_name='마감 예정')),
                ('opened_at', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='연 시각')),
                ('closed_at', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='마감한 시각')),
                ('published_at', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='발표한 시각')),
                ('created_at', models.DateTimeField(verbose_name='만든 시각')),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='만든 사람')),
                ('phase', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='campaigns', to='competitions.phase', verbose_name='단계')),
                ('track', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='campaigns', to='competitions.track', verbose_name='트랙')),
            ],
            options={
                'verbose_name': '평가',
                'verbose_name_plural': '평가',
                'ordering': ['track', '-number'],
            },
        ),
        migrations.CreateModel(
            name='CampaignItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('label', models.CharField(max_length=6, verbose_name='가림 이름')),
                ('reference_id', models.CharField(max_length=200, verbose_name='문항 번호')),
                ('stratum', models.CharField(blank=True, max_length=120, verbose_name='유형')),
                ('input_text', models.TextField(blank=True, verbose_name='입력')),
                ('reference_text', models.TextField(blank=True, verbose_name='정답')),
                ('outputs', models.JSONField(verbose_name='출력')),
                ('kind', models.CharField(choices=[('real', '평가 문항'), ('calibration', '연습 문항')], default='real', max_length=11, verbose_name='종류')),
                ('expected', models.JSONField(blank=True, null=True, verbose_name='기대하는 답')),
                ('explanation_ko', models.TextField(blank=True, verbose_name='설명')),
                ('explanation_en', models.TextField(blank=True, verbose_name='설명(영어)')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='arena.campaign', verbose_name='평가')),
            ],
            options={
                'verbose_name': '평가 문항',
                'verbose_name_plural': '평가 문항',
                'ordering': ['campaign', 'label'],
            },
        ),
        migrations.CreateModel(
            name='CampaignJudge',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('email', models.EmailField(blank=True, max_length=254, verbose_name='이메일')),
                ('institution', models.CharField(blank=True, max_length=120, verbose_name='소속 기관')),
                ('label', models.CharField(blank=True, max_length=5, verbose_name='가림 이름')),
                ('design_label', models.CharField(blank=True, max_length=5, verbose_name='배정 이름')),
                ('token_sha256', models.CharField(max_length=64, unique=True, verbose_name='토큰 sha256')),
                ('invited_at', models.DateTimeField(verbose_name='초대한 시각')),
                ('expires_at', models.DateTimeField(verbose_name='만료 시각')),
                ('accepted_at', models.DateTimeField(blank=True, null=True, verbose_name='수락한 시각')),
                ('consent_version', models.CharField(blank=True, max_length=20, verbose_name='동의한 안내의 판')),
                ('consented_at', models.DateTimeField(blank=True, null=True, verbose_name='동의한 시각')),
                ('declared_teams', models.JSONField(blank=True, default=list, verbose_name='안다고 밝힌 팀')),
                ('calibrated_at', models.DateTimeField(blank=True, null=True, verbose_name='연습을 마친 시각')),
                ('removed_at', models.DateTimeField(blank=True, null=True, verbose_name='제외한 시각')),
                ('returns', models.PositiveSmallIntegerField(default=0, verbose_name='다시 초대한 횟수')),
                ('removal_reason', models.CharField(blank=True, max_length=300, verbose_name='제외한 사유')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='judges', to='arena.campaign', verbose_name='평가')),
                ('invited_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='초대한 사람')),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='campaign_judges', to=settings.AUTH_USER_MODEL, verbose_name='사용자')),
            ],
            options={
                'verbose_name': '평가자',
                'verbose_name_plural': '평가자',
                'ordering': ['campaign', 'invited_at', 'id'],
            },
        ),
        migrations.CreateModel(
            name='Assignment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shown_key', models.UUIDField(default=uuid.uuid4, editable=False, unique=True, verbose_name='공개 번호')),
                ('systems', models.JSONField(verbose_name='출력의 차례')),
                ('kind', models.CharField(choices=[('real', '평가'), ('control', '확인'), ('repeat', '되풀이'), ('calibration', '연습')], default='real', max_length=11, verbose_name='종류')),
                ('bad_index', models.PositiveSmallIntegerField(blank=True, null=True, verbose_name='나쁜 출력의 자리')),
                ('bad_rule', models.CharField(blank=True, max_length=10, verbose_name='나쁘게 만든 규칙')),
                ('bad_text', models.TextField(blank=True, verbose_name='나쁜 출력')),
                ('position', models.PositiveIntegerField(verbose_name='차례')),
                ('state', models.CharField(choices=[('open', '대기'), ('done', '마침'), ('void', '무효')], default='open', max_length=4, verbose_name='상태')),
                ('void_reason', models.CharField(blank=True, choices=[('', '없음'), ('judge_removed', '평가자를 제외함'), ('moved', '다른 평가자에게 옮김'), ('barred', '평가자가 제척됨'), ('disqualified', '팀이 실격함'), ('closed', '마감까지 판단하지 않음')], max_length=13, verbose_name='무효의 까닭')),
                ('first_shown_at', models.DateTimeField(blank=True, null=True, verbose_name='처음 보인 시각')),
                ('created_at', models.DateTimeField(verbose_name='만든 시각')),
                ('repeats', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='repeated_by', to='arena.assignment', verbose_name='되풀이한 것')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to='arena.campaign', verbose_name='평가')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='arena.campaignitem', verbose_name='문항')),
                ('judge', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='arena.campaignjudge', verbose_name='평가자')),
            ],
            options={
                'verbose_name': '배정',
                'verbose_name_plural': '배정',
                'ordering': ['judge', 'position'],
            },
        ),
        migrations.CreateModel(
            name='CampaignResult',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField(verbose_name='판')),
                ('rows', models.JSONField(verbose_name='순위')),
                ('sha256', models.CharField(max_length=64, verbose_name='sha256')),
                ('note_ko', models.CharField(blank=True, max_length=300, verbose_name='안내')),
                ('note_en', models.CharField(blank=True, max_length=300, verbose_name='안내(영어)')),
                ('published_at', models.DateTimeField(verbose_name='발표 시각')),
                ('votes_sha256', models.CharField(max_length=64, verbose_name='평가 파일 sha256')),
                ('votes_size', models.PositiveIntegerField(verbose_name='평가 파일의 크기(바이트)')),
                ('result_sha256', models.CharField(max_length=64, verbose_name='결과 sha256')),
                ('result_size', models.PositiveIntegerField(verbose_name='결과의 크기(바이트)')),
                ('signature_hash', models.CharField(max_length=64, verbose_name='서명 해시')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='results', to='arena.campaign', verbose_name='평가')),
                ('published_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='발표한 사람')),
            ],
            options={
                'verbose_name': '평가 결과',
                'verbose_name_plural': '평가 결과',
                'ordering': ['campaign', '-number'],
            },
        ),
        migrations.CreateModel(
            name='CampaignSystem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('label', models.CharField(blank=True, max_length=4, verbose_name='가림 이름')),
                ('position', models.PositiveSmallIntegerField(verbose_name='차례')),
                ('institution', models.CharField(blank=True, max_length=120, verbose_name='소속 기관')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='systems', to='arena.campaign', verbose_name='평가')),
                ('submission', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='campaign_systems', to='submissions.submission', verbose_name='제출')),
            ],
            options={
                'verbose_name': '평가할 제출',
                'verbose_name_plural': '평가할 제출',
                'ordering': ['campaign', 'position'],
            },
        ),
        migrations.CreateModel(
            name='JudgeBar',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.CharField(choices=[('member', '팀의 구성원'), ('institution', '같은 기관'), ('declared', '스스로 밝힘')], max_length=11, verbose_name='까닭')),
                ('judge', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='bars', to='arena.campaignjudge', verbose_name='평가자')),
                ('system', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='bars', to='arena.campaignsystem', verbose_name='제출')),
            ],
            options={
                'verbose_name': '제척',
                'verbose_name_plural': '제척',
            },
        ),
        migrations.CreateModel(
            name='Judgement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField(verbose_name='판')),
                ('value', models.JSONField(verbose_name='판단')),
                ('note', models.TextField(blank=True, max_length=2000, verbose_name='메모')),
                ('seconds', models.PositiveIntegerField(verbose_name='걸린 시간(초)')),
                ('created_at', models.DateTimeField(verbose_name='시각')),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='judgements', to='arena.assignment', verbose_name='배정')),
                ('judged_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='판단한 사람')),
            ],
            options={
                'verbose_name': '판단',
                'verbose_name_plural': '판단',
                'ordering': ['assignment', '-number'],
            },
        ),
        migrations.CreateModel(
            name='Exclusion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.CharField(max_length=300, verbose_name='사유')),
                ('created_at', models.DateTimeField(verbose_name='시각')),
                ('lifted_at', models.DateTimeField(blank=True, null=True, verbose_name='되돌린 시각')),
                ('lift_reason', models.CharField(blank=True, max_length=300, verbose_name='되돌린 사유')),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='제외한 사람')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='exclusions', to='arena.campaign', verbose_name='평가')),
                ('judge', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='exclusions', to='arena.campaignjudge', verbose_name='평가자')),
                ('lifted_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='되돌린 사람')),
                ('judgement', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='exclusions', to='arena.judgement', verbose_name='판단')),
            ],
            options={
                'verbose_name': '평가에서 뺀 것',
                'verbose_name_plural': '평가에서 뺀 것',
                'ordering': ['campaign', 'created_at', 'id'],
            },
        ),
        migrations.CreateModel(
            name='JudgementDraft',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('value', models.JSONField(verbose_name='판단')),
                ('note', models.TextField(blank=True, max_length=2000, verbose_name='메모')),
                ('updated_at', models.DateTimeField(verbose_name='고친 시각')),
                ('assignment', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='draft', to='arena.assignment', verbose_name='배정')),
            ],
            options={
                'verbose_name': '쓰던 판단',
                'verbose_name_plural': '쓰던 판단',
            },
        ),
        migrations.CreateModel(
            name='Rubric',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField(verbose_name='판')),
                ('title_ko', models.CharField(max_length=120, verbose_name='제목')),
                ('title_en', models.CharField(blank=True, max_length=120, verbose_name='제목(영어)')),
                ('guideline_ko', models.TextField(max_length=50000, verbose_name='평가 지침')),
                ('guideline_en', models.TextField(blank=True, max_length=50000, verbose_name='평가 지침(영어)')),
                ('criteria', models.JSONField(blank=True, default=list, verbose_name='평가 기준')),
                ('reasons', models.JSONField(blank=True, default=list, verbose_name='선택의 까닭')),
                ('created_at', models.DateTimeField(verbose_name='만든 시각')),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='만든 사람')),
                ('track', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='rubrics', to='competitions.track', verbose_name='트랙')),
            ],
            options={
                'verbose_name': '평가 기준표',
                'verbose_name_plural': '평가 기준표',
                'ordering': ['track', '-number'],
            },
        ),
        migrations.AddField(
            model_name='campaignjudge',
            name='rubric',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='arena.rubric', verbose_name='확인한 기준표'),
        ),
        migrations.AddField(
            model_name='campaign',
            name='rubric',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='campaigns', to='arena.rubric', verbose_name='평가 기준표'),
        ),
        migrations.AddConstraint(
            model_name='campaignitem',
            constraint=models.UniqueConstraint(fields=('campaign', 'label'), name='item_label_unique_in_campaign'),
        ),
        migrations.AddIndex(
            model_name='assignment',
            index=models.Index(fields=['judge', 'state', 'position'], name='assignment_queue'),
        ),
        migrations.AddIndex(
            model_name='assignment',
            index=models.Index(fields=['campaign', 'state', 'kind'], name='assignment_progress'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.UniqueConstraint(fields=('judge', 'position'), name='assignment_position_unique_for_judge'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('bad_index__isnull', False), ('kind', 'control')), models.Q(('bad_index', None), ('kind__in', ['real', 'repeat'])), ('kind', 'calibration'), _connector='OR'), name='assignment_control_has_a_bad_output'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.CheckConstraint(condition=models.Q(('kind', 'repeat'), ('repeats', None), _connector='XOR'), name='assignment_repeat_names_the_first'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.CheckConstraint(condition=models.Q(('state', 'void'), ('void_reason', ''), _connector='XOR'), name='assignment_void_has_a_reason'),
        ),
        migrations.AddConstraint(
            model_name='campaignresult',
            constraint=models.UniqueConstraint(fields=('campaign', 'number'), name='campaign_result_number_unique'),
        ),
        migrations.AddConstraint(
            model_name='campaignsystem',
            constraint=models.UniqueConstraint(condition=models.Q(('label', ''), _negated=True), fields=('campaign', 'label'), name='system_label_unique_in_campaign'),
        ),
        migrations.AddConstraint(
            model_name='campaignsystem',
            constraint=models.UniqueConstraint(fields=('campaign', 'submission'), name='system_submission_unique_in_campaign'),
        ),
        migrations.AddConstraint(
            model_name='judgebar',
            constraint=models.UniqueConstraint(fields=('judge', 'system'), name='bar_unique_for_judge_and_system'),
        ),
        migrations.AddConstraint(
            model_name='judgement',
            constraint=models.UniqueConstraint(fields=('assignment', 'number'), name='judgement_number_unique'),
        ),
        migrations.AddConstraint(
            model_name='exclusion',
            constraint=models.CheckConstraint(condition=models.Q(('judge', None), ('judgement', None), _connector='XOR'), name='exclusion_of_a_judge_or_a_judgement'),
        ),
        migrations.AddConstraint(
            model_name='exclusion',
            constraint=models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='exclusion_has_a_reason'),
        ),
        migrations.AddConstraint(
            model_name='exclusion',
            constraint=models.UniqueConstraint(condition=models.Q(('lifted_at', None)), fields=('judge',), name='one_exclusion_in_force_per_judge'),
        ),
        migrations.AddConstraint(
            model_name='exclusion',
            constraint=models.UniqueConstraint(condition=models.Q(('lifted_at', None)), fields=('judgement',), name='one_exclusion_in_force_per_judgement'),
        ),
        migrations.AddConstraint(
            model_name='rubric',
            constraint=models.UniqueConstraint(fields=('track', 'number'), name='rubric_number_unique_in_track'),
        ),
        migrations.AddConstraint(
            model_name='campaignjudge',
            constraint=models.UniqueConstraint(condition=models.Q(('user__isnull', False)), fields=('campaign', 'user'), name='judge_user_unique_in_campaign'),
        ),
        migrations.AddConstraint(
            model_name='campaignjudge',
            constraint=models.UniqueConstraint(models.F('campaign'), django.db.models.functions.text.Lower('email'), condition=models.Q(('email', ''), _negated=True), name='judge_email_unique_in_campaign'),
        ),
        migrations.AddConstraint(
            model_name='campaignjudge',
            constraint=models.UniqueConstraint(condition=models.Q(('label', ''), _negated=True), fields=('campaign', 'label'), name='judge_label_unique_in_campaign'),
        ),
        migrations.AddConstraint(
            model_name='campaignjudge',
            constraint=models.UniqueConstraint(condition=models.Q(('design_label', ''), _negated=True), fields=('campaign', 'design_label'), name='judge_design_label_unique_in_campaign'),
        ),
        migrations.AddConstraint(
            model_name='campaign',
            constraint=models.UniqueConstraint(fields=('track', 'number'), name='campaign_number_unique_in_track'),
        ),
        migrations.AddConstraint(
            model_name='campaign',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('group_size', 2), ('protocol', 'pairwise')), models.Q(('group_size', 1), ('protocol__in', ['rubric', 'errors'])), models.Q(('group_size__range', (3, 8)), ('protocol', 'ranking')), _connector='OR'), name='campaign_group_fits_protocol'),
        ),
        migrations.AddConstraint(
            model_name='campaign',
            constraint=models.CheckConstraint(condition=models.Q(('item_count__gte', 1), ('judges_per_unit__gte', 1), ('units_per_item__gte', 1)), name='campaign_has_units'),
        ),
        migrations.AddConstraint(
            model_name='campaign',
            constraint=models.CheckConstraint(condition=models.Q(('control_percent__lte', 30), ('repeat_percent__lte', 30)), name='campaign_checks_are_few'),
        ),
        migrations.AddConstraint(
            model_name='campaign',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('closed_at', None), ('opened_at__isnull', False), _connector='OR'), models.Q(('published_at', None), ('closed_at__isnull', False), _connector='OR')), name='campaign_opens_closes_publishes'),
        ),
        migrations.CreateModel(
            name='Computation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('result', '결과'), ('effect', '제외의 영향'), ('plan', '계획'), ('meta', '지표와의 대조')], max_length=6, verbose_name='종류')),
                ('subject', models.CharField(blank=True, max_length=40, verbose_name='대상')),
                ('given_sha256', models.CharField(max_length=64, verbose_name='입력의 sha256')),
                ('instrument', models.CharField(max_length=40, verbose_name='계산하는 판')),
                ('given', models.BinaryField(verbose_name='입력')),
                ('answer', models.BinaryField(blank=True, default=b'', verbose_name='답')),
                ('asked_at', models.DateTimeField(verbose_name='맡긴 시각')),
                ('answered_at', models.DateTimeField(blank=True, null=True, verbose_name='답한 시각')),
                ('campaign', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='computations', to='arena.campaign', verbose_name='평가')),
                ('competition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='computations', to='competitions.competition', verbose_name='대회')),
                ('job', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='jobs.job', verbose_name='작업')),
            ],
            options={
                'verbose_name': '계산',
                'verbose_name_plural': '계산',
                'ordering': ['-asked_at', '-pk'],
                'constraints': [models.UniqueConstraint(fields=('competition', 'kind', 'given_sha256', 'instrument'), name='computation_unique_for_its_input'), models.CheckConstraint(condition=models.Q(models.Q(('answer', b''), ('answered_at', None)), models.Q(('answered_at__isnull', False), ('given', b'')), _connector='OR'), name='computation_has_its_input_or_its_answer')],
            },
        ),
        append_only("arena_rubric"),
        append_only_but_emptied("arena_judgement", "note"),
        append_only("arena_campaignresult"),
    ]
