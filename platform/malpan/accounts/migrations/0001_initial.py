import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='User',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('is_staff', models.BooleanField(default=False, help_text='Designates whether the user can log into this admin site.', verbose_name='staff status')),
                ('is_active', models.BooleanField(default=True, help_text='Designates whether this user should be treated as active. Unselect this instead of deleting accounts.', verbose_name='active')),
                ('date_joined', models.DateTimeField(default=django.utils.timezone.now, verbose_name='date joined')),
                ('email', models.EmailField(max_length=254, verbose_name='이메일')),
                ('name', models.CharField(max_length=40, verbose_name='이름')),
                ('erased_at', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='개인정보를 지운 시각')),
                ('former_addresses', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=64), blank=True, default=list, editable=False, size=None)),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'verbose_name': '사용자',
                'verbose_name_plural': '사용자',
            },
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('label', models.CharField(max_length=60, verbose_name='이름')),
                ('prefix', models.CharField(max_length=8, verbose_name='앞자리')),
                ('token_sha256', models.CharField(max_length=64, unique=True, verbose_name='토큰 sha256')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='만든 시각')),
                ('last_used_at', models.DateTimeField(blank=True, null=True, verbose_name='마지막 제출에 쓴 시각')),
                ('revoked_at', models.DateTimeField(blank=True, null=True, verbose_name='폐기 시각')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL, verbose_name='사용자')),
            ],
            options={
                'verbose_name': 'API 토큰',
                'verbose_name_plural': 'API 토큰',
            },
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.UniqueConstraint(django.db.models.functions.text.Lower('email'), condition=models.Q(('erased_at', None)), name='user_email_unique_whatever_case', violation_error_message='이미 가입된 이메일입니다.'),
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('erased_at', None), models.Q(('email', ''), _negated=True)), models.Q(('email', ''), ('erased_at__isnull', False), ('is_active', False), ('name', '')), _connector='OR'), name='user_has_an_address_or_is_erased'),
        ),
    ]
