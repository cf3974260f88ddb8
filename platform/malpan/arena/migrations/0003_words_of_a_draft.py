from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('arena', '0002_bars_of_the_opening'),
    ]

    operations = [
        migrations.AlterField(
            model_name='computation',
            name='kind',
            field=models.CharField(choices=[('result', '결과'), ('effect', '제외의 영향'), ('plan', '계획'), ('meta', '지표와의 대조'), ('words', '팀을 드러낼 수 있는 말')], max_length=6, verbose_name='종류'),
        ),
    ]
