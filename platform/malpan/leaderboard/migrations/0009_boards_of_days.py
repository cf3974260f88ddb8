from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0008_boards_follow_programs'),
    ]

    operations = [
        migrations.AddField(
            model_name='boardsnapshot',
            name='day',
            field=models.DateField(blank=True, null=True, verbose_name='날'),
        ),
        migrations.AlterField(
            model_name='boardsnapshot',
            name='kind',
            field=models.CharField(choices=[('final', '최종 순위표'), ('public', '지난 공개 순위표'), ('day', '하루 끝의 공개 순위표')], default='final', max_length=6, verbose_name='종류'),
        ),
        migrations.AddConstraint(
            model_name='boardsnapshot',
            constraint=models.UniqueConstraint(fields=('phase', 'day'), name='one_board_of_a_day'),
        ),
        migrations.AddConstraint(
            model_name='boardsnapshot',
            constraint=models.CheckConstraint(condition=models.Q(('kind', 'day'), ('day', None), _connector='XOR'), name='boards_of_days_name_them'),
        ),
    ]
