from django.db import migrations

FOLLOWED = (
    "disqualified_at", "is_baseline", "name", "number", "model_name", "model_size", "model_url", "paper_url"
)
PROGRAM = ("is_program",)


def trigger(columns):
    """The mark of a team's standings where one of ``columns``, which boards show, changes (``triggers``)."""
    old, new = (", ".join(f"{row}.{column}" for column in columns) for row in ("OLD", "NEW"))
    return (
        "DROP TRIGGER malpan_mark_team ON teams_team;"
        f"CREATE TRIGGER malpan_mark_team AFTER UPDATE OF {', '.join(columns)} ON teams_team FOR EACH ROW"
        f" WHEN (({old}) IS DISTINCT FROM ({new})) EXECUTE FUNCTION malpan_mark_team();"
    )


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0007_boards_follow_models'),
        ('teams', '0003_team_program'),
    ]

    operations = [
        migrations.RunSQL(trigger(FOLLOWED + PROGRAM), trigger(FOLLOWED)),
    ]
