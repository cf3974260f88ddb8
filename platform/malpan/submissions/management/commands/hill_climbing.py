"""``manage.py hill_climbing``: what a step and the Ladder take from a team that climbs the public score."""

from __future__ import annotations

from argparse import ArgumentParser
from decimal import Decimal
from typing import Any, Final

from django.core.management import BaseCommand, CommandError

from malpan.submissions.hill_climbing import Climber, Rule, gain

STEPS: Final = [Decimal(text) for text in ("0.005", "0.01", "0.02")]


class Command(BaseCommand):
    help = (
        "공개 점수만 보고 답을 바꾸어 가는 팀이 얻는 점수를, 공개 점수의 단위와 사다리 방식에 따라 모의실험합니다. "
        "/ Simulates what a team gains that only climbs the public score, by the phase's step and Ladder."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        usual = Climber()
        parser.add_argument("--submissions", type=int, default=usual.submissions)
        parser.add_argument("--items", type=int, default=usual.items, help="공개 문항 수 / public items")
        parser.add_argument("--accuracy", type=float, default=usual.accuracy, help="0-1")
        parser.add_argument("--changed", type=int, default=usual.changed, help="제출마다 바꾸는 문항 / items changed")
        parser.add_argument("--step", type=Decimal, nargs="+", default=STEPS, help="0-1")
        parser.add_argument("--teams", type=int, default=20, help="반복 / repetitions")

    def handle(self, *args: Any, **options: Any) -> None:
        climber = Climber(*(options[name] for name in ("submissions", "items", "accuracy", "changed")))
        if min(climber.submissions, options["teams"]) < 1 or not 1 <= climber.changed <= 2 * climber.items:
            raise CommandError("수는 1 이상, 바꾸는 문항은 전체 문항 이하여야 합니다. / Counts must be 1 or more.")
        if not 0 < climber.accuracy < 1 or not all(0 < step <= Decimal("0.1") for step in options["step"]):
            raise CommandError("정확도는 0과 1 사이, 단위는 0.1 이하입니다. / Accuracy 0 to 1, steps up to 0.1.")
        rules = {"none": Rule()}
        for step in options["step"]:
            rules |= {f"step {step}": Rule(step), f"Ladder, step {step}": Rule(step, is_ladder=True)}
        self.stdout.write("| rule | shown | public | private | remembered |\n| --- | ---: | ---: | ---: | ---: |")
        for name, rule in rules.items():
            found = gain(climber, rule, options["teams"])
            columns = (found.shown, found.public, found.private, found.public - found.private)
            self.stdout.write(f"| {name} | " + " | ".join(f"{100 * value:+.2f}" for value in columns) + " |")
