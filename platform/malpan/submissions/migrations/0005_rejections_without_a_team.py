import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("submissions", "0004_from_scratch"),
        ("teams", "0004_looks"),
    ]

    operations = [
        migrations.AlterField(
            model_name="rejection",
            name="team",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="rejections",
                to="teams.team",
                verbose_name="팀",
            ),
        ),
    ]
