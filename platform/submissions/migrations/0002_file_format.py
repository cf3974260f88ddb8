from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("submissions", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="submission",
            name="file_format",
            field=models.CharField(blank=True, max_length=20, verbose_name="인식한 형식"),
        ),
    ]
