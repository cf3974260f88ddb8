import datetime
from decimal import Decimal

import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Competition',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(unique=True, verbose_name='주소 이름')),
                ('title_ko', models.CharField(max_length=120, verbose_name='제목')),
                ('title_en', models.CharField(blank=True, max_length=120, verbose_name='제목(영어)')),
                ('summary_ko', models.CharField(blank=True, max_length=300, verbose_name='한 줄 소개')),
                ('summary_en', models.CharField(blank=True, max_length=300, verbose_name='한 줄 소개(영어)')),
                ('description_ko', models.TextField(max_length=50000, blank=True, verbose_name='대회 안내')),
                ('description_en', models.TextField(max_length=50000, blank=True, verbose_name='대회 안내(영어)')),
                ('organiser_ko', models.CharField(blank=True, max_length=120, verbose_name='주최')),
                ('organiser_en', models.CharField(blank=True, max_length=120, verbose_name='주최(영어)')),
                ('team_size_max', models.PositiveSmallIntegerField(default=5, validators=[django.core.validators.MinValueValidator(1)], verbose_name='팀 최대 인원')),
                ('is_published', models.BooleanField(default=False, verbose_name='공개')),
                ('terms_ko', models.TextField(max_length=50000, blank=True, verbose_name='참가 약관')),
                ('terms_en', models.TextField(max_length=50000, blank=True, verbose_name='참가 약관(영어)')),
                ('terms_version', models.PositiveSmallIntegerField(default=0, verbose_name='약관 판')),
                ('has_blind_names', models.BooleanField(default=False, help_text='단계가 열려 있는 동안 순위표에 팀 번호만 보입니다.', verbose_name='팀 이름 가리기')),
                ('personal_data_months', models.PositiveSmallIntegerField(blank=True, help_text='대회가 끝나고 이만큼 지나면 초대, 반려된 파일, 공개로 답하지 않은 문의, 제출의 메모와 파일 이름을 지우고, 그동안 로그인하지 않았고 다른 대회에 참여하지 않는 참가자의 이메일과 이름을 지웁니다. 점수와 순위표는 남습니다. 비우면 지우지 않습니다.', null=True, validators=[django.core.validators.MinValueValidator(1)], verbose_name='개인정보 보관 개월')),
                ('prize_places', models.JSONField(blank=True, default=list, verbose_name='시상 순위')),
                ('is_demo', models.BooleanField(default=False, verbose_name='데모')),
                ('storage_limit', models.PositiveBigIntegerField(blank=True, null=True, verbose_name='저장 한도(바이트)')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='만든 시각')),
            ],
            options={
                'verbose_name': '대회',
                'verbose_name_plural': '대회',
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='Notice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('title_ko', models.CharField(max_length=200, verbose_name='제목')),
                ('title_en', models.CharField(blank=True, max_length=200, verbose_name='제목(영어)')),
                ('body_ko', models.TextField(max_length=50000, verbose_name='내용')),
                ('body_en', models.TextField(max_length=50000, blank=True, verbose_name='내용(영어)')),
                ('is_pinned', models.BooleanField(default=False, verbose_name='상단 고정')),
                ('published_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='게시')),
                ('competition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notices', to='competitions.competition', verbose_name='대회')),
            ],
            options={
                'verbose_name': '공지',
                'verbose_name_plural': '공지',
                'ordering': ['-is_pinned', '-published_at'],
            },
        ),
        migrations.CreateModel(
            name='Question',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('title', models.CharField(max_length=200, verbose_name='제목')),
                ('body', models.TextField(verbose_name='내용')),
                ('answer_ko', models.TextField(blank=True, verbose_name='답변')),
                ('answer_en', models.TextField(blank=True, verbose_name='답변(영어)')),
                ('is_public', models.BooleanField(default=False, verbose_name='공개 답변')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='질문 시각')),
                ('answered_at', models.DateTimeField(blank=True, null=True, verbose_name='답변 시각')),
                ('answered_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='답한 사람')),
                ('asked_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='questions', to=settings.AUTH_USER_MODEL, verbose_name='질문한 사람')),
                ('competition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='questions', to='competitions.competition', verbose_name='대회')),
            ],
            options={
                'verbose_name': '문의',
                'verbose_name_plural': '문의',
                'ordering': ['-created_at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='Track',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(verbose_name='주소 이름')),
                ('title_ko', models.CharField(max_length=120, verbose_name='제목')),
                ('title_en', models.CharField(blank=True, max_length=120, verbose_name='제목(영어)')),
                ('description_ko', models.TextField(max_length=50000, blank=True, verbose_name='과제 안내')),
                ('description_en', models.TextField(max_length=50000, blank=True, verbose_name='과제 안내(영어)')),
                ('recipe', models.CharField(max_length=60, verbose_name='채점 방식')),
                ('profile', models.CharField(blank=True, help_text='비우면 서버의 기본 프로필', max_length=200, verbose_name='모델 프로필')),
                ('score_scale', models.PositiveSmallIntegerField(choices=[(1, '0–1'), (100, '0–100')], default=100, verbose_name='점수 배율')),
                ('score_decimals', models.PositiveSmallIntegerField(default=7, verbose_name='소수 자릿수')),
                ('composite', models.JSONField(blank=True, default=list, verbose_name='종합 순위의 지표와 가중치')),
                ('position', models.PositiveSmallIntegerField(default=0, verbose_name='순서')),
                ('competition', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tracks', to='competitions.competition', verbose_name='대회')),
            ],
            options={
                'verbose_name': '트랙',
                'verbose_name_plural': '트랙',
                'ordering': ['position', 'id'],
            },
        ),
        migrations.CreateModel(
            name='Phase',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(verbose_name='주소 이름')),
                ('title_ko', models.CharField(max_length=120, verbose_name='제목')),
                ('title_en', models.CharField(blank=True, max_length=120, verbose_name='제목(영어)')),
                ('starts_at', models.DateTimeField(verbose_name='시작')),
                ('ends_at', models.DateTimeField(verbose_name='마감')),
                ('daily_limit', models.PositiveSmallIntegerField(blank=True, null=True, verbose_name='하루 제출 한도')),
                ('total_limit', models.PositiveSmallIntegerField(blank=True, null=True, verbose_name='전체 제출 한도')),
                ('min_interval', models.DurationField(default=datetime.timedelta(0), verbose_name='제출 간 최소 간격')),
                ('board', models.CharField(choices=[('live', '실시간 공개'), ('frozen', '고정'), ('hidden', '비공개')], default='live', max_length=8, verbose_name='순위표 공개')),
                ('frozen_at', models.DateTimeField(blank=True, null=True, verbose_name='순위표 고정 시각')),
                ('shows_own_score', models.BooleanField(default=True, verbose_name='고정·비공개 중 내 점수 공개')),
                ('public_percent', models.PositiveSmallIntegerField(blank=True, help_text='비우면 모든 문항이 공개 점수에 들어갑니다.', null=True, verbose_name='공개 문항 비율(%)')),
                ('split_seed', models.CharField(blank=True, max_length=64, verbose_name='나누기 시드')),
                ('private_covers_all', models.BooleanField(default=False, verbose_name='최종 점수에 모든 문항')),
                ('finals_limit', models.PositiveSmallIntegerField(blank=True, null=True, verbose_name='최종 선택 한도')),
                ('score_step', models.DecimalField(blank=True, decimal_places=6, max_digits=7, null=True, verbose_name='공개 점수의 단위')),
                ('is_ladder', models.BooleanField(default=False, verbose_name='오른 점수만 공개(사다리 방식)')),
                ('counting', models.CharField(choices=[('best', '가장 좋은 제출'), ('latest', '가장 최근 제출'), ('chosen', '팀이 고른 제출')], default='best', max_length=6, verbose_name='반영할 제출')),
                ('counting_score', models.CharField(blank=True, max_length=60, verbose_name='가장 좋은 제출을 가리는 점수')),
                ('ties', models.CharField(choices=[('band', '통계적 동률을 표시'), ('shared', '통계적 동률이면 같은 순위'), ('none', '표시하지 않음')], default='band', max_length=6, verbose_name='통계적 동률')),
                ('final_published_at', models.DateTimeField(blank=True, null=True, verbose_name='최종 발표 시각')),
                ('position', models.PositiveSmallIntegerField(default=0, verbose_name='순서')),
                ('track', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='phases', to='competitions.track', verbose_name='트랙')),
            ],
            options={
                'verbose_name': '단계',
                'verbose_name_plural': '단계',
                'ordering': ['position', 'starts_at', 'id'],
            },
        ),
        migrations.CreateModel(
            name='DataFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('data', '데이터'), ('sample', '제출 예시'), ('document', '문서')], default='data', max_length=8, verbose_name='종류')),
                ('title_ko', models.CharField(max_length=120, verbose_name='제목')),
                ('title_en', models.CharField(blank=True, max_length=120, verbose_name='제목(영어)')),
                ('file_name', models.CharField(max_length=120, verbose_name='파일 이름')),
                ('file_sha256', models.CharField(max_length=64, verbose_name='파일 sha256')),
                ('file_size', models.PositiveIntegerField(verbose_name='크기(바이트)')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='등록 시각')),
                ('position', models.PositiveSmallIntegerField(default=0, verbose_name='순서')),
                ('track', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='data_files', to='competitions.track', verbose_name='트랙')),
            ],
            options={
                'verbose_name': '공개 자료',
                'verbose_name_plural': '공개 자료',
                'ordering': ['position', 'id'],
            },
        ),
        migrations.CreateModel(
            name='CompetitionRole',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('owner', '소유자'), ('organiser', '운영자'), ('operator', '채점 담당'), ('viewer', '열람자')], max_length=9, verbose_name='역할')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='지정 시각')),
                ('competition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='roles', to='competitions.competition', verbose_name='대회')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='competition_roles', to=settings.AUTH_USER_MODEL, verbose_name='사용자')),
            ],
            options={
                'verbose_name': '대회 역할',
                'verbose_name_plural': '대회 역할',
                'constraints': [models.UniqueConstraint(fields=('user', 'competition'), name='one_role_per_competition')],
            },
        ),
        migrations.CreateModel(
            name='ReferenceVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField(verbose_name='판')),
                ('file_sha256', models.CharField(max_length=64, verbose_name='파일 sha256')),
                ('file_size', models.PositiveBigIntegerField(default=0, verbose_name='크기(바이트)')),
                ('media_sha256', models.CharField(blank=True, max_length=64, verbose_name='프레임 sha256')),
                ('media_size', models.PositiveBigIntegerField(default=0, verbose_name='프레임 크기(바이트)')),
                ('item_count', models.PositiveIntegerField(verbose_name='문항 수')),
                ('is_current', models.BooleanField(default=False, verbose_name='현재 판')),
                ('public_ids', models.JSONField(blank=True, null=True, verbose_name='공개 문항')),
                ('erratum_ko', models.TextField(blank=True, verbose_name='정오 안내')),
                ('erratum_en', models.TextField(blank=True, verbose_name='정오 안내(영어)')),
                ('published_at', models.DateTimeField(blank=True, null=True, verbose_name='반영 시각')),
                ('note', models.CharField(blank=True, max_length=300, verbose_name='메모')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='등록 시각')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='등록한 사람')),
                ('phase', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reference_versions', to='competitions.phase', verbose_name='단계')),
            ],
            options={
                'verbose_name': '정답 판',
                'verbose_name_plural': '정답 판',
                'ordering': ['phase', '-number'],
                'constraints': [models.UniqueConstraint(fields=('phase', 'number'), name='reference_number_unique_in_phase'), models.UniqueConstraint(condition=models.Q(('is_current', True)), fields=('phase',), name='one_current_reference_per_phase')],
            },
        ),
        migrations.CreateModel(
            name='TermsAcceptance',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveSmallIntegerField(verbose_name='약관 판')),
                ('accepted_at', models.DateTimeField(auto_now_add=True, verbose_name='동의 시각')),
                ('competition', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='competitions.competition', verbose_name='대회')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='terms_accepted', to=settings.AUTH_USER_MODEL, verbose_name='사용자')),
            ],
            options={
                'verbose_name': '약관 동의',
                'verbose_name_plural': '약관 동의',
                'constraints': [models.UniqueConstraint(fields=('user', 'competition', 'version'), name='terms_accepted_once_per_version')],
            },
        ),
        migrations.CreateModel(
            name='TrackTarget',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('baseline', '기준선'), ('milestone', '이정표')], max_length=9, verbose_name='종류')),
                ('score', models.CharField(default='final_score', max_length=40, verbose_name='점수')),
                ('value', models.FloatField(verbose_name='값(0~1, 최종 점수가 아니면 10까지)')),
                ('label_ko', models.CharField(max_length=60, verbose_name='이름')),
                ('label_en', models.CharField(blank=True, max_length=60, verbose_name='이름(영어)')),
                ('is_comparable', models.BooleanField(default=True, verbose_name='비교 가능')),
                ('note_ko', models.CharField(blank=True, max_length=200, verbose_name='참고할 점')),
                ('note_en', models.CharField(blank=True, max_length=200, verbose_name='참고할 점(영어)')),
                ('track', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='targets', to='competitions.track', verbose_name='트랙')),
            ],
            options={
                'verbose_name': '기준선과 이정표',
                'verbose_name_plural': '기준선과 이정표',
                'ordering': ['value', 'id'],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('value__gte', 0), ('value__lte', 1)), models.Q(models.Q(('score', 'final_score'), _negated=True), ('value__gte', 0), ('value__lte', 10)), _connector='OR'), name='target_is_from_0_to_1'), models.CheckConstraint(condition=models.Q(('label_ko', ''), _negated=True), name='target_has_a_label'), models.CheckConstraint(condition=models.Q(('kind', 'milestone'), models.Q(('kind', 'baseline'), ('score', 'final_score'), ('value__gt', 0)), _connector='OR'), name='target_baseline_is_above_0'), models.UniqueConstraint(condition=models.Q(('kind', 'baseline')), fields=('track',), name='one_baseline_per_track')],
            },
        ),
        migrations.AddConstraint(
            model_name='track',
            constraint=models.UniqueConstraint(fields=('competition', 'slug'), name='track_slug_unique_in_competition'),
        ),
        migrations.AddConstraint(
            model_name='track',
            constraint=models.CheckConstraint(condition=models.Q(('score_scale__in', [1, 100])), name='track_scale_is_1_or_100'),
        ),
        migrations.AddConstraint(
            model_name='track',
            constraint=models.CheckConstraint(condition=models.Q(('score_decimals__lte', 9)), name='track_decimals_at_most_9'),
        ),
        migrations.AddConstraint(
            model_name='phase',
            constraint=models.UniqueConstraint(fields=('track', 'slug'), name='phase_slug_unique_in_track'),
        ),
        migrations.AddConstraint(
            model_name='phase',
            constraint=models.CheckConstraint(condition=models.Q(('ends_at__gt', models.F('starts_at'))), name='phase_ends_after_it_starts'),
        ),
        migrations.AddConstraint(
            model_name='phase',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('board', 'frozen'), _negated=True), ('frozen_at__isnull', False), _connector='OR'), name='frozen_board_has_its_moment'),
        ),
        migrations.AddConstraint(
            model_name='phase',
            constraint=models.CheckConstraint(condition=models.Q(('public_percent', None), models.Q(('public_percent__gte', 1), ('public_percent__lte', 99)), _connector='OR'), name='public_share_is_a_part'),
        ),
        migrations.AddConstraint(
            model_name='phase',
            constraint=models.CheckConstraint(condition=models.Q(('score_step', None), models.Q(('score_step__gt', 0), ('score_step__lte', Decimal('0.1'))), _connector='OR'), name='score_step_is_small'),
        ),
        migrations.AddConstraint(
            model_name='phase',
            constraint=models.CheckConstraint(condition=models.Q(('is_ladder', False), ('score_step__isnull', False), _connector='OR'), name='ladder_has_a_step'),
        ),
    ]
