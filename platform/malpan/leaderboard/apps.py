"""The name of this app in the admin, and its registration of what keeps boards of the past, its event and its jobs."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class LeaderboardConfig(AppConfig):
    name = "malpan.leaderboard"
    verbose_name = _("순위표")

    def ready(self) -> None:
        from malpan.leaderboard import keeping, letters  # which need the models
        from malpan.leaderboard.comparing import computing as comparing
        from malpan.leaderboard.sureness import computing
        from malpan.submissions import past_boards

        past_boards.register(keeping.keep_public_board)
        letters.register_events()
        computing.register()
        comparing.register()
