"""The looks of names as they are computed now; with those of before a new team could take a name that one has."""

from typing import Any

from django.db import migrations

from malpan.teams.looks import look


def look_again(apps: Any, _schema_editor: Any) -> None:
    """A name that looks like another one's of its competition only now keeps what it has, with its team's number in
    the key.
    """
    Team = apps.get_model("teams", "Team")
    taken = set(Team.objects.values_list("competition_id", "name_look"))
    for team in Team.objects.order_by("pk").only("competition_id", "name", "name_look").iterator():
        wanted = look(team.name)
        if wanted == team.name_look:
            continue
        if (team.competition_id, wanted) in taken:
            wanted = f"{wanted[:200]} {team.pk}"  # a look has no spaces
        taken.add((team.competition_id, wanted))
        Team.objects.filter(pk=team.pk).update(name_look=wanted)


class Migration(migrations.Migration):
    dependencies = [
        ("teams", "0003_team_program"),
    ]

    operations = [
        migrations.RunPython(look_again, migrations.RunPython.noop),
    ]
