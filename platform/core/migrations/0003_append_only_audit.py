from django.db import migrations

from core.append_only import append_only


class Migration(migrations.Migration):
    dependencies = [("core", "0002_fair_competition")]

    operations = [append_only("core_auditentry")]
