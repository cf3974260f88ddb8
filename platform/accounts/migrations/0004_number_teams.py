from django.db import migrations


def number_teams(apps, schema_editor):
    """Count the teams of each competition in the order in which they were made."""
    Team = apps.get_model("accounts", "Team")
    numbers = {}
    for team in Team.objects.order_by("competition_id", "created_at", "pk").iterator():
        numbers[team.competition_id] = numbers.get(team.competition_id, 0) + 1
        Team.objects.filter(pk=team.pk).update(number=numbers[team.competition_id])


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_fair_competition")]

    operations = [
        migrations.RunPython(number_teams, migrations.RunPython.noop, elidable=True),
    ]
