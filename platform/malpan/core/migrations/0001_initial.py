import django.core.serializers.json
import django.db.models.deletion
from django.conf import settings
from malpan.core.append_only import append_only
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Chore',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(choices=[('backup', '백업'), ('chain_check', '해시 사슬 검사'), ('chores', '정리 프로그램의 응답'), ('beat', '예약 프로그램의 응답')], max_length=20, unique=True, verbose_name='이름')),
                ('done_at', models.DateTimeField(verbose_name='마지막으로 한 때')),
                ('facts', models.JSONField(default=dict, verbose_name='결과')),
            ],
            options={
                'verbose_name': '정기 작업',
                'verbose_name_plural': '정기 작업',
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('action', models.CharField(db_index=True, max_length=64, verbose_name='행위')),
                ('object_type', models.CharField(max_length=64, verbose_name='대상 종류')),
                ('object_id', models.CharField(max_length=64, verbose_name='대상 번호')),
                ('competition_pk', models.PositiveBigIntegerField(blank=True, db_index=True, null=True, verbose_name='대회 번호')),
                ('before', models.JSONField(blank=True, default=dict, encoder=django.core.serializers.json.DjangoJSONEncoder, verbose_name='이전')),
                ('after', models.JSONField(blank=True, default=dict, encoder=django.core.serializers.json.DjangoJSONEncoder, verbose_name='이후')),
                ('created_at', models.DateTimeField(auto_now_add=True, db_index=True, verbose_name='시각')),
                ('actor', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='행위자')),
                ('person', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='해당하는 사람')),
            ],
            options={
                'verbose_name': '감사 기록',
                'verbose_name_plural': '감사 기록',
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['object_type', 'object_id'], name='audit_by_object')],
            },
        ),
        append_only("core_auditentry"),
    ]
