from django.db import migrations

from core.append_only import append_only


class Migration(migrations.Migration):
    dependencies = [("submissions", "0003_fair_competition"), ("core", "0003_append_only_audit")]

    operations = [append_only("submissions_quotaentry"), append_only("submissions_chainentry")]
