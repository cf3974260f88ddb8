import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import malpan.teams.looks


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('competitions', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('leader', '팀장'), ('member', '팀원')], default='member', max_length=8, verbose_name='역할')),
                ('joined_at', models.DateTimeField(auto_now_add=True, verbose_name='합류 시각')),
                ('competition', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='competitions.competition', verbose_name='대회')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='memberships', to=settings.AUTH_USER_MODEL, verbose_name='사용자')),
            ],
            options={
                'verbose_name': '팀 구성원',
                'verbose_name_plural': '팀 구성원',
            },
        ),
        migrations.CreateModel(
            name='Team',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=60, verbose_name='팀 이름')),
                ('name_look', malpan.teams.looks.LookField(editable=False, max_length=240)),
                ('number', models.PositiveIntegerField(default=0, editable=False, verbose_name='팀 번호')),
                ('is_baseline', models.BooleanField(default=False, verbose_name='기준 모델')),
                ('disqualified_at', models.DateTimeField(blank=True, null=True, verbose_name='실격 시각')),
                ('disqualification_note_ko', models.CharField(blank=True, max_length=300, verbose_name='실격 사유')),
                ('disqualification_note_en', models.CharField(blank=True, max_length=300, verbose_name='실격 사유(영어)')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='만든 시각')),
                ('competition', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='teams', to='competitions.competition', verbose_name='대회')),
                ('members', models.ManyToManyField(related_name='teams', through='teams.Membership', to=settings.AUTH_USER_MODEL, verbose_name='구성원')),
                ('merged_into', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='merged_from', to='teams.team', verbose_name='합친 팀')),
            ],
            options={
                'verbose_name': '팀',
                'verbose_name_plural': '팀',
            },
        ),
        migrations.CreateModel(
            name='MergeRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('open', '대기'), ('accepted', '수락'), ('declined', '거절'), ('withdrawn', '취소')], default='open', max_length=9, verbose_name='상태')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='요청 시각')),
                ('answered_at', models.DateTimeField(blank=True, null=True, verbose_name='답한 시각')),
                ('answered_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='답한 사람')),
                ('asked_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='요청한 사람')),
                ('source', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='merges_asked', to='teams.team', verbose_name='합칠 팀')),
                ('target', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='merges_offered', to='teams.team', verbose_name='남을 팀')),
            ],
            options={
                'verbose_name': '팀 합치기',
                'verbose_name_plural': '팀 합치기',
            },
        ),
        migrations.AddField(
            model_name='membership',
            name='team',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='teams.team', verbose_name='팀'),
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token_sha256', models.CharField(max_length=64, unique=True, verbose_name='토큰 sha256')),
                ('email', models.EmailField(blank=True, max_length=254, verbose_name='받는 사람')),
                ('revoked_at', models.DateTimeField(blank=True, null=True, verbose_name='취소 시각')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='만든 시각')),
                ('expires_at', models.DateTimeField(verbose_name='만료 시각')),
                ('used_at', models.DateTimeField(blank=True, null=True, verbose_name='사용 시각')),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='만든 사람')),
                ('used_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='사용한 사람')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='teams.team', verbose_name='팀')),
            ],
            options={
                'verbose_name': '초대',
                'verbose_name_plural': '초대',
            },
        ),
        migrations.AddIndex(
            model_name='team',
            index=models.Index(condition=models.Q(('disqualified_at__isnull', False)), fields=['competition'], name='team_disqualified'),
        ),
        migrations.AddConstraint(
            model_name='team',
            constraint=models.UniqueConstraint(fields=('competition', 'name_look'), name='team_name_unique_in_competition'),
        ),
        migrations.AddConstraint(
            model_name='team',
            constraint=models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='team_name_not_empty'),
        ),
        migrations.AddConstraint(
            model_name='team',
            constraint=models.UniqueConstraint(fields=('competition', 'number'), name='team_number_unique_in_competition'),
        ),
        migrations.AddConstraint(
            model_name='mergerequest',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'open')), fields=('source',), name='one_open_merge_request_per_team'),
        ),
        migrations.AddConstraint(
            model_name='mergerequest',
            constraint=models.CheckConstraint(condition=models.Q(('source', models.F('target')), _negated=True), name='merge_of_two_teams'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.UniqueConstraint(fields=('competition', 'user'), name='one_team_per_person_per_competition'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.UniqueConstraint(condition=models.Q(('role', 'leader')), fields=('team',), name='one_leader_per_team'),
        ),
    ]
