"""The final of a track in stages: leaderboard, human evaluation, presentation; each published, then combined."""
