"""The captioning demo: sound and varied scenes, fixed bytes in every form, and a list of words that fools METEOR."""

from __future__ import annotations

import subprocess
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from itertools import pairwise

import pytest

from malpan.demo.captions import Scene, captions_of, scenes
from malpan.demo.habits import CaptionHabit, DemoTeam, Packing, Upload
from malpan.demo.specs import COMPETITIONS
from malpan.demo.teams import CAPTION_TEAMS, SAYINGS
from scoring.errors import InvalidFile
from scoring.metrics import load_metric
from scoring.reading import read_predictions, read_references
from scoring.recipes import Layout, get_recipe
from scoring.text.okt import okt

[SPEC] = [spec for spec in COMPETITIONS if spec.slug == "demo-captions"]
[TRACK] = SPEC.tracks
SCENES = scenes()
UPLOADS = [(team, upload) for team in CAPTION_TEAMS for upload in team.uploads]
SOUND = [(team, upload) for team, upload in UPLOADS if upload.packing is not Packing.BROKEN]
FORMATS = {
    Packing.JSON: "id-object",
    Packing.JSON_NFD: "id-object",
    Packing.JSONL: "jsonl",
    Packing.TSV: "tsv",
    Packing.IMAGES: "json-array",
}
each_scene = pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.id)


def name_of(value: object) -> str | None:
    return {DemoTeam: lambda: value.key, Upload: lambda: value.file_name}.get(type(value), lambda: None)()


def texts_of(scene: Scene) -> list[str]:
    return [*scene.references, scene.good, scene.plain, scene.detailed, scene.wrong]


def last_upload(key: str) -> tuple[DemoTeam, Upload]:
    team = next(team for team in CAPTION_TEAMS if team.key == f"captions-{key}")
    return team, team.uploads[-1]


def prepare(team: DemoTeam, upload: Upload) -> Layout:
    """The upload, read against the references by the rules of the track."""
    rule = get_recipe(TRACK.recipe)
    references = read_references(TRACK.references(), rule)
    return rule.prepare(references, read_predictions(TRACK.upload_bytes(team, upload), rule, references))


@cache
def scores(key: str) -> dict[str, float]:
    """METEOR, CIDEr-D and the measures of diversity of the last file of a team."""
    pairs = prepare(*last_upload(key)).pairs["meteor"]
    flat = [(gold, given) for golds, given in zip(pairs.references, pairs.candidates, strict=True) for gold in golds]
    values = iter(load_metric("meteor").score_pairs([gold for gold, _ in flat], [given for _, given in flat]))
    best = [max(next(values) for _ in golds) for golds in pairs.references]
    found = {"meteor": sum(best) / len(best)}
    for name in ("cider", "diversity"):
        metric = load_metric(name)
        found |= metric.aggregate(metric.statistics(pairs.ids, pairs.references, pairs.candidates))
    return found


def test_there_are_enough_scenes_with_one_two_and_three_references() -> None:
    counts = Counter(len(scene.references) for scene in SCENES)
    assert counts.total() >= 64
    assert set(counts) == {1, 2, 3}
    assert min(counts.values()) >= 20
    assert len({scene.id for scene in SCENES}) == len(SCENES)


@each_scene
def test_every_caption_is_one_clean_sentence_in_nfc_and_said_once(scene: Scene) -> None:
    texts = texts_of(scene)
    assert len(set(texts)) == len(texts)
    for text in texts:
        assert unicodedata.is_normalized("NFC", text)
        assert text == " ".join(text.split())
        assert text.endswith("다.")
        assert text.count(".") == 1


@each_scene
def test_captions_have_the_length_of_their_kind(scene: Scene) -> None:
    words = {kind: len(getattr(scene, kind).split()) for kind in ("good", "plain", "detailed", "wrong")}
    assert all(6 <= len(reference.split()) <= 14 for reference in scene.references)
    assert words["plain"] < words["good"] < words["detailed"]
    assert words["plain"] <= 6
    assert words["detailed"] >= 15


def test_no_caption_stands_under_two_scenes() -> None:
    counts = Counter(text for scene in SCENES for text in texts_of(scene))
    assert counts.most_common(1)[0][1] == 1


def test_references_are_not_cut_from_one_pattern() -> None:
    references = [reference for scene in SCENES for reference in scene.references]
    openings = Counter(reference.split()[0] for reference in references)
    endings = Counter(reference.split()[-1] for reference in references)
    assert openings.most_common(1)[0][1] <= len(references) * 0.05
    assert endings["있다."] / len(references) == pytest.approx(0.5, abs=0.1)
    assert len(endings) >= 40


@each_scene
def test_card_says_what_there_is_but_never_a_caption(scene: Scene) -> None:
    card = scene.card
    assert all((card.place, card.time, card.weather, card.action, *card.subjects))
    public = "\n".join(file.data.decode() for file in TRACK.public_files())
    assert scene.id in public
    assert not [text for text in texts_of(scene) if text.rstrip(".") in public]


def test_sample_is_a_sound_submission() -> None:
    rule = get_recipe(TRACK.recipe)
    [sample] = [file for file in TRACK.public_files() if file.kind == "sample"]
    read = read_predictions(sample.data, rule, read_references(TRACK.references(), rule))
    assert [answer.id for answer in read.items] == [scene.id for scene in SCENES]


def test_there_are_at_least_nine_teams_and_one_baseline() -> None:
    assert len(CAPTION_TEAMS) >= 9
    assert sum(team.is_baseline for team in CAPTION_TEAMS) == 1
    assert len({team.key for team in CAPTION_TEAMS}) == len({team.name for team in CAPTION_TEAMS}) == len(CAPTION_TEAMS)
    assert max(len(team.name) for team in CAPTION_TEAMS) <= 60


@pytest.mark.parametrize(("team", "upload"), SOUND, ids=name_of)
def test_every_form_is_recognised_and_holds_what_the_team_said(team: DemoTeam, upload: Upload) -> None:
    rule = get_recipe(TRACK.recipe)
    references = read_references(TRACK.references(), rule)
    read = read_predictions(TRACK.upload_bytes(team, upload), rule, references)
    assert read.format == FORMATS[upload.packing]
    assert [(answer.id, answer.text) for answer in read.items] == captions_of(team.key, upload.habit, SCENES)
    assert len(read.normalized_ids) == (len(SCENES) if upload.packing is Packing.JSON_NFD else 0)


def test_every_form_is_uploaded_by_somebody() -> None:
    assert {upload.packing for _, upload in UPLOADS} == {*FORMATS, Packing.BROKEN}


def test_files_are_the_same_bytes_in_another_process_with_another_hash_seed() -> None:
    script = (
        "from hashlib import sha256; from malpan.demo.specs import COMPETITIONS\n"
        "[spec] = [spec for spec in COMPETITIONS if spec.slug == 'demo-captions']; [track] = spec.tracks\n"
        "print(*(sha256(track.upload_bytes(t, u)).hexdigest() for t in spec.teams for u in t.uploads))\n"
    )
    other = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60,
        env={"PYTHONHASHSEED": "4242"},
    ).stdout.split()  # fmt: skip
    ours = [sha256(TRACK.upload_bytes(team, upload)).hexdigest() for team, upload in UPLOADS]
    assert other == ours
    assert len(set(ours)) == len(ours)


def test_broken_file_is_rejected_for_the_repeated_and_the_unknown_id() -> None:
    [(team, upload)] = [pair for pair in UPLOADS if pair not in SOUND]
    with pytest.raises(InvalidFile) as caught:
        prepare(team, upload)
    assert [(error.code, error.item_id) for error in caught.value.errors] == [
        ("duplicate_id", SCENES[1].id),
        ("unknown_id", f"scene-{len(SCENES) + 1:03}"),
    ]


def test_a_team_leaves_a_fifth_of_the_scenes_out_and_nobody_else_any() -> None:
    missing = {team.key: prepare(team, upload).coverage["missing"] for team, upload in SOUND}
    assert missing.pop("captions-skipping") == round(len(SCENES) * 0.2)
    assert set(missing.values()) == {0}


def test_shares_of_a_habit_are_met_exactly_and_add_up() -> None:
    habit = CaptionHabit(wrong=0.25, plain=0.25, detailed=0.25)
    by_id = {scene.id: scene for scene in SCENES}
    kinds = Counter(kind_of(by_id[scene_id], caption) for scene_id, caption in captions_of("anybody", habit, SCENES))
    assert kinds == dict.fromkeys(("wrong", "plain", "detailed", "good"), len(SCENES) // 4)


def test_strong_team_mostly_describes_well_and_copies_no_reference() -> None:
    team, upload = last_upload("sketch")
    said = dict(captions_of(team.key, upload.habit, SCENES))
    kinds = Counter(kind_of(scene, said[scene.id]) for scene in SCENES)
    assert kinds["good"] >= len(SCENES) * 0.75
    copied = [scene.id for scene in SCENES if said[scene.id] in scene.references]
    assert len(copied) <= len(SCENES) * 0.2


def test_the_improving_team_describes_no_scene_worse_than_before() -> None:
    team, _ = last_upload("morning")
    first, second = (dict(captions_of(team.key, upload.habit, SCENES)) for upload in team.uploads)
    order = ["wrong", "plain", "good"]
    steps = [order.index(kind_of(s, second[s.id])) - order.index(kind_of(s, first[s.id])) for s in SCENES]
    assert min(steps) == 0
    assert sum(step > 0 for step in steps) > len(SCENES) / 3


def test_stuffing_caption_is_made_of_the_thirty_commonest_morphs_chained_by_neighbourhood() -> None:
    morphs = [okt().morphs(reference) for scene in SCENES for reference in scene.references]
    assert " ".join(chained(morphs, 30)) == SAYINGS["stuffing"]
    assert list(okt().morphs(SAYINGS["stuffing"])) == SAYINGS["stuffing"].split(), (
        "Okt reads the list as the pieces it was made of"
    )


def test_meteor_takes_the_word_list_for_a_caption_and_cider_d_does_not() -> None:
    stuffed, honest = scores("stuffing"), scores("second-try")
    assert stuffed["meteor"] > max(0.3052, honest["meteor"])
    assert stuffed["cider"] < 0.1 < 0.3 < honest["cider"]
    assert stuffed["unique_captions"] == pytest.approx(1 / len(SCENES))
    assert honest["unique_captions"] == 1


def test_teams_stand_in_the_order_that_was_meant() -> None:
    meteor = [scores(key)["meteor"] for key in ("sketch", "morning", "decomposed", "brief", "second-try", "baseline")]
    assert meteor == sorted(meteor, reverse=True)
    assert len(set(meteor)) == len(meteor)
    cider = {team.key: scores(team.key.removeprefix("captions-"))["cider"] for team in CAPTION_TEAMS}
    assert max(cider, key=cider.__getitem__) == "captions-sketch"
    assert sorted(cider, key=cider.__getitem__)[:2] == ["captions-stuffing", "captions-baseline"]


def kind_of(scene: Scene, caption: str) -> str:
    return next(kind for kind in ("wrong", "plain", "detailed", "good") if getattr(scene, kind) == caption)


def chained(texts: Sequence[Sequence[str]], size: int) -> list[str]:
    """The ``size`` commonest tokens, frequent neighbours joined first, pieces by their mean place in a text."""
    counts = Counter(token for text in texts for token in text)
    words = [token for token, _ in by_count(counts)[:size]]
    after: dict[str, str] = {}
    before: dict[str, str] = {}
    for (left, right), _ in by_count(Counter(pair for text in texts for pair in pairwise(text))):
        is_free = left in words and right in words and left not in after and right not in before
        if is_free and [*walk(left, before)][-1] != right:
            after[left], before[right] = right, left
    places: dict[str, list[float]] = {word: [] for word in words}
    for text in texts:
        for number, token in enumerate(text):
            if token in places:
                places[token].append(number / len(text))
    mean = {word: sum(found) / len(found) for word, found in places.items()}
    pieces = [[*walk(word, after)] for word in words if word not in before]
    pieces.sort(key=lambda piece: sum(mean[word] for word in piece) / len(piece))
    return [word for piece in pieces for word in piece]


def by_count(counts: Counter) -> list:
    """Entries by count, the commonest first; of equal ones that which sorts first."""
    return sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))


def walk(word: str, steps: dict[str, str]) -> Iterator[str]:
    while True:
        yield word
        if word not in steps:
            return
        word = steps[word]
