"""Shards of large runs."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("submissions", "0008_pair_values"),
    ]

    operations = [
        migrations.CreateModel(
            name="RunShard",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[("score", "채점"), ("gather", "취합")],
                        default="score",
                        max_length=6,
                        verbose_name="종류",
                    ),
                ),
                ("number", models.PositiveIntegerField(verbose_name="번호")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "대기 중"),
                            ("running", "채점 중"),
                            ("finished", "완료"),
                            ("failed", "실패"),
                        ],
                        default="queued",
                        max_length=8,
                        verbose_name="상태",
                    ),
                ),
                ("attempt", models.PositiveSmallIntegerField(default=0, verbose_name="시도")),
                ("lease_expires_at", models.DateTimeField(blank=True, null=True, verbose_name="점유 만료")),
                ("worker", models.CharField(blank=True, max_length=120, verbose_name="채점 서버")),
                ("progress", models.FloatField(default=0, verbose_name="진행률")),
                ("cost", models.PositiveBigIntegerField(default=0, verbose_name="예상 토큰 수")),
                ("fair_tag", models.BigIntegerField(default=0, verbose_name="공정 순번")),
                ("not_before", models.DateTimeField(blank=True, null=True, verbose_name="다시 시도할 시각")),
                ("queued_at", models.DateTimeField(verbose_name="대기 시작")),
                ("sent_at", models.DateTimeField(blank=True, null=True, verbose_name="메시지 보낸 시각")),
                ("finished_at", models.DateTimeField(blank=True, null=True, verbose_name="채점 끝")),
                ("error_code", models.CharField(blank=True, max_length=60, verbose_name="오류 코드")),
                ("input_sha256", models.CharField(blank=True, max_length=64, verbose_name="입력 파일 해시")),
                ("signatures", models.JSONField(blank=True, default=dict, verbose_name="지표 서명")),
                ("values", models.JSONField(blank=True, null=True, verbose_name="값")),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="shards",
                        to="submissions.scoringrun",
                        verbose_name="채점",
                    ),
                ),
            ],
            options={
                "verbose_name": "채점 조각",
                "verbose_name_plural": "채점 조각",
                "ordering": ["run", "number"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "queued")), fields=["fair_tag", "id"], name="shard_fair_order"
                    ),
                    models.Index(
                        condition=models.Q(("state", "running")), fields=["lease_expires_at"], name="shard_leases"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("run", "number"), name="shard_number_unique_in_run"),
                    models.UniqueConstraint(
                        condition=models.Q(("kind", "gather")), fields=("run",), name="run_is_gathered_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["queued", "running", "finished", "failed"])),
                        name="shard_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "running"), _negated=True),
                            ("lease_expires_at__isnull", False),
                            _connector="OR",
                        ),
                        name="running_shard_has_a_lease",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "finished"), _negated=True),
                            ("finished_at__isnull", False),
                            _connector="OR",
                        ),
                        name="finished_shard_says_when",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("kind", "gather"), models.Q(("input_sha256", ""), _negated=True), _connector="OR"
                        ),
                        name="scored_shard_has_an_input",
                    ),
                ],
            },
        ),
    ]
