from django.db import migrations, models


class Migration(migrations.Migration):
    """On its own: PostgreSQL refuses to change a table whose rows the same transaction has changed."""

    dependencies = [("accounts", "0004_number_teams")]

    operations = [
        migrations.AddConstraint(
            model_name="team",
            constraint=models.UniqueConstraint(
                fields=["competition", "number"], name="team_number_unique_in_competition"
            ),
        ),
    ]
