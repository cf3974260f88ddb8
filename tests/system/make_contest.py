"""Makes a contest in a running site's database, through the services an organiser's page uses: for ``Stack.call``."""

import json
from datetime import timedelta
from pathlib import Path


def make_numbered(slug: str, items: int, reason_words: int) -> dict:
    """A contest of so many items: ``{"slug", "ids"}``."""
    ids = [f"item-{number}" for number in range(items)]
    return make(slug, ids, answers(ids, reason_words))


def make_scored_by(recipe: str, slug: str, ids: list[str]) -> dict:
    """A contest of another recipe for the same files."""
    return make(slug, ids, answers(ids, 3), recipe)


def make_from(slug: str, path: str) -> dict:
    """A contest with the references in the file at ``path``."""
    references = Path(path).read_bytes()
    return make(slug, [row["id"] for row in json.loads(references)], references)


def sample_of(slug: str) -> str:
    """The file that a competition shows as a sample: anybody may submit it."""
    from malpan.competitions.models import DataFile
    from malpan.core.storage import read_private

    return read_private(DataFile.objects.get(track__competition__slug=slug, kind="sample").file_sha256).decode()


def make_token(email: str) -> str:
    """An API token of this person."""
    from malpan.accounts.models import User
    from malpan.accounts.services import create_api_token

    return create_api_token(user=User.objects.get(email=email), label="시험")[1]


def make(slug: str, ids: list[str], references: bytes, recipe: str = "rag-qa@1") -> dict:
    from django.utils import timezone

    from malpan.competitions.services import create_competition, create_phase, create_track
    from malpan.submissions.scoring_changes import publish_reference_version

    competition = create_competition(slug=slug, title_ko=f"시험 대회 {slug}", is_published=True)
    track = create_track(competition=competition, slug="main", title_ko="질의응답", recipe=recipe)
    now = timezone.now()
    phase = create_phase(
        track=track, slug="main", title_ko="본선", starts_at=now - timedelta(days=1), ends_at=now + timedelta(days=1),
        total_limit=20,
    )  # fmt: skip
    publish_reference_version(phase=phase, data=references, actor=None)
    return {"slug": slug, "ids": ids}


def answers(ids: list[str], words: int, *, wrong: int = 0) -> bytes:
    """A file in the official format; the first ``wrong`` answers are not the reference's."""
    rows = []
    for number, item_id in enumerate(ids):
        form = "틀린 말" if number < wrong else f"바른 말 {number}"
        reason = " ".join(f"{number}번째 문장의 {place}번째 어절은 규범에 따라 적는다." for place in range(words))
        rows.append(
            {
                "id": item_id,
                "input": {"question_type": "교정형", "question": f"{number}번 문장을 고치시오."},
                "output": {"answer": f'"{form}"이 옳다. {reason}'},
            }
        )
    return json.dumps(rows, ensure_ascii=False).encode()


def add_large_answers(slug: str, megabytes: int) -> dict[str, str]:
    """Of a contest: a data file and a chain of so many megabytes each; the addresses of the site's largest answers."""
    from django.urls import reverse

    from malpan.competitions.models import Competition
    from malpan.competitions.services import add_data_file
    from malpan.submissions.integrity import chain

    competition = Competition.objects.get(slug=slug)
    track = competition.tracks.get()
    data = b"0" * megabytes * 2**20
    file = add_data_file(track=track, kind="data", title_ko="큰 자료", file_name="large.txt", data=data)
    for number in range(megabytes):
        chain.append(competition=competition, kind="board", payload={"number": number, "text": "0" * 2**20})
    return {
        "file": reverse("data_file", args=[file.pk, file.file_name]),
        "chain": f"/competitions/{slug}/chain.json",
        "board": f"/competitions/{slug}/board/",
    }
