"""Reference versions from before there were drafts were all published: in the moment they were registered."""

from django.db import migrations
from django.db.models import F


def fill(apps, schema_editor):
    versions = apps.get_model("competitions", "ReferenceVersion").objects.filter(published_at=None)
    versions.update(published_at=F("created_at"))


class Migration(migrations.Migration):
    dependencies = [("competitions", "0003_fair_competition")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop, elidable=True)]
