"""The salt that opens the commitment of a score in the hash chain."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("submissions", "0004_append_only_ledgers"),
    ]

    operations = [
        migrations.AddField(
            model_name="chainentry",
            name="salt",
            field=models.CharField(blank=True, default="", editable=False, max_length=32),
        ),
    ]
