from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("competitions", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="referenceversion",
            name="media_sha256",
            field=models.CharField(blank=True, max_length=64, verbose_name="프레임 sha256"),
        ),
    ]
