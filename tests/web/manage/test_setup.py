"""Setting a competition up in the browser: found, fill, upload, check, publish. Nothing is public before that."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission as SitePermission
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from malpan.competitions.models import Competition, DataFile, Phase, ReferenceVersion, Track
from malpan.core.models import AuditEntry
from tests.factories import (
    CANARY,
    CompetitionFactory,
    PhaseFactory,
    TrackFactory,
    UserFactory,
    prediction_bytes,
    publish,
    reference_bytes,
)
from tests.web import html
from tests.web.conftest import Contest
from tests.web.manage_people import client_of, client_with_role

TEXTS = {
    "title_ko": "규범 대회", "title_en": "Norms", "slug": "norms", "organiser_ko": "국립국어원", "organiser_en": "NIKL",
    "cover": "rose",
    "summary_ko": "소개", "summary_en": "Summary", "description_ko": "안내", "description_en": "About",
    "team_size_max": "5", "prize_places": "3, 1", "terms_ko": "약관", "terms_en": "Terms",
}  # fmt: skip
TRACK = {
    "title_ko": "어문 규범", "title_en": "Norms", "slug": "norms", "recipe": "rag-qa@1", "profile": "demo",
    "score_scale": "100", "score_decimals": "7", "position": "0", "description_ko": "과제", "description_en": "Task",
}  # fmt: skip
PHASE = {
    "title_ko": "본선", "title_en": "Main", "slug": "main",
    "starts_at": "2030-11-20T09:00", "ends_at": "2030-12-20T18:30", "daily_limit": "5", "total_limit": "40",
    "min_interval": "90분", "public_percent": "", "finals_limit": "2", "shows_own_score": "on", "position": "0",
}  # fmt: skip


def upload(data: bytes, name: str = "file.json") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data, content_type="application/json")


def access(competition: Competition, page: str = "") -> str:
    return f"/competitions/{competition.slug}/manage/{page}"


@pytest.fixture
def founder(db: None) -> Client:
    person = UserFactory.create()
    person.user_permissions.add(SitePermission.objects.get(codename="add_competition"))
    return client_of(person)


def page_of(response: Any) -> html.Element:
    page = html.parse(response.content.decode())
    assert html.problems(page) == []
    return page


# --- the whole way ----------------------------------------------------------------------------------------------------
def test_a_competition_is_set_up_step_by_step_and_public_only_at_the_end(founder: Client) -> None:
    response = founder.post("/manage/new/", {"title_ko": "규범 대회", "title_en": "Norms", "slug": "norms"})
    competition = Competition.objects.get()
    steps = access(competition, "setup/")
    assert response["Location"] == f"{steps}texts/"
    assert founder.post(f"{steps}texts/", {**TEXTS, "next": "1"})["Location"] == f"{steps}tracks/"
    assert founder.post(f"{steps}new-track/", TRACK).status_code == 302
    assert founder.post(access(competition, "phases/new/norms/"), PHASE).status_code == 302
    phase = Phase.objects.get()
    founder.post(f"{steps}phases/{phase.pk}/references/", {"file": upload(reference_bytes()), "note": "첫 판"})
    sample = {"kind": "sample", "title_ko": "예시", "file": upload(prediction_bytes(), "sample.json")}
    assert founder.post(f"{steps}tracks/norms/new-file/", sample).status_code == 302

    assert Client().get("/competitions/norms/").status_code == 404
    assert "norms" not in Client().get("/").content.decode()
    page = page_of(founder.get(steps))
    assert [badge for badge in page.all("span", "badge") if "error" in badge.classes] == []
    assert "제출 예시가 정답과 문항이 같고 형식에 맞습니다" in page.text
    assert founder.post(f"{steps}publish/").status_code == 302
    head = html.parse(Client().get("/competitions/norms/").content.decode()).one("div", "competition-head")
    assert "cover-rose" in head.classes
    [card] = html.parse(Client().get("/").content.decode()).all("article", "competition-card")
    assert "cover-rose" in card.classes


def test_times_are_kst_to_the_minute_and_limits_are_kept(founder: Client) -> None:
    track = TrackFactory.create()
    client = client_with_role(track.competition, "organiser")
    empty = page_of(client.get(access(track.competition, f"phases/new/{track.slug}/")))
    assert empty.one("input", name="min_interval").attributes["value"] == "0", "what must be filled in starts as none"
    client.post(access(track.competition, f"phases/new/{track.slug}/"), PHASE)
    phase = Phase.objects.get()
    assert phase.starts_at == datetime(2030, 11, 20, 0, 0, tzinfo=UTC)
    assert phase.ends_at == datetime(2030, 12, 20, 9, 30, tzinfo=UTC)
    assert (phase.daily_limit, phase.total_limit, phase.min_interval) == (5, 40, timedelta(minutes=90))
    assert (phase.finals_limit, phase.shows_own_score, phase.public_percent) == (2, True, None)
    page = page_of(client.get(access(track.competition, f"phases/{phase.pk}/")))
    assert page.one("input", name="starts_at").attributes["value"] == "2030-11-20T09:00"
    assert page.one("input", name="min_interval").attributes["value"] == "90분"


# --- who --------------------------------------------------------------------------------------------------------------
def test_parts_of_another_competition_are_not_found(contest: Contest) -> None:
    own = CompetitionFactory.create()
    client = client_with_role(own, "owner")
    file = DataFile.objects.first()
    for page in (
        f"setup/tracks/{contest.track.slug}/",
        f"phases/new/{contest.track.slug}/",
        f"setup/tracks/{contest.track.slug}/new-file/",
        f"phases/{contest.phase.pk}/",
        f"setup/phases/{contest.phase.pk}/references/",
        f"setup/files/{file.pk if file else 0}/",
    ):
        assert client.get(access(own, page)).status_code == 404, page
    for page in (f"phases/{contest.phase.pk}/remove/", f"setup/files/{file.pk if file else 0}/remove/"):
        assert client.post(access(own, page), {"confirm": "on"}).status_code == 404, page
    versions = ReferenceVersion.objects.count()
    client.post(access(own, f"setup/phases/{contest.phase.pk}/references/"), {"file": upload(reference_bytes(2))})
    assert ReferenceVersion.objects.count() == versions


def test_only_people_with_the_sites_permission_reach_the_page_of_a_new_competition(founder: Client) -> None:
    for page in ("/manage/new/", "/"):  # an archive is the other way to a new competition
        assert any(link.attributes["href"] == "/manage/import/" for link in page_of(founder.get(page)).all("a"))
    assert "/manage/import/" not in client_of(UserFactory.create()).get("/").content.decode()
    assert client_of(UserFactory.create(is_superuser=True)).get("/manage/new/").status_code == 200
    assert client_of(UserFactory.create(is_staff=True)).get("/manage/new/").status_code == 404
    assert client_with_role(CompetitionFactory.create(), "owner").get("/manage/new/").status_code == 404
    assert Client().get("/manage/new/").status_code == 302


def test_a_founder_is_offered_only_competitions_of_theirs_as_a_start(founder: Client) -> None:
    other = CompetitionFactory.create(title_ko="남의 대회", is_published=False)
    page = page_of(founder.get("/manage/new/"))
    assert "남의 대회" not in page.text
    fields = {"title_ko": "새 대회", "slug": "new", "copy_of": other.pk}
    assert founder.post("/manage/new/", fields).status_code == 422
    everything = client_of(UserFactory.create(is_superuser=True))
    TrackFactory.create(competition=other)
    assert everything.post("/manage/new/", fields).status_code == 302
    assert Track.objects.filter(competition__slug="new").count() == 1


# --- what is refused --------------------------------------------------------------------------------------------------
def test_a_reference_file_is_refused_with_the_places_of_its_errors(phase: Phase) -> None:
    client = client_with_role(phase.track.competition, "organiser")
    broken = reference_bytes(3).replace(b'"q2"', b'"q1"')
    response = client.post(
        access(phase.track.competition, f"setup/phases/{phase.pk}/references/"), {"file": upload(broken)}
    )
    assert response.status_code == 422
    page = page_of(response)
    assert "q1" in page.one("div", "error-table").text
    assert CANARY not in response.content.decode()
    assert phase.reference_versions.count() == 1


def test_references_that_are_in_use_are_not_replaced_here(contest: Contest) -> None:
    client = client_with_role(contest.competition, "owner")
    response = client.post(
        contest.url(f"manage/setup/phases/{contest.phase.pk}/references/"), {"file": upload(reference_bytes(4))}
    )
    assert response.status_code == 409
    assert contest.phase.reference_versions.count() == 1


def test_an_upload_above_the_cap_is_refused_in_words(phase: Phase, settings: Any) -> None:
    settings.UPLOAD_MAX_BYTES = 100
    client = client_with_role(phase.track.competition, "owner")
    for page in (f"setup/phases/{phase.pk}/references/", f"setup/tracks/{phase.track.slug}/new-file/"):
        response = client.post(access(phase.track.competition, page), {"file": upload(reference_bytes(30))})
        assert response.status_code == 413
        assert any("상한" in notice.text for notice in page_of(response).all("div", "notice"))


def test_the_form_of_a_file_states_its_limit_before_it_is_sent(phase: Phase, settings: Any) -> None:
    settings.UPLOAD_MAX_BYTES = 7 * 2**20
    client = client_with_role(phase.track.competition, "owner")
    for page in (f"setup/phases/{phase.pk}/references/", f"setup/tracks/{phase.track.slug}/new-file/"):
        assert "7.0 MB까지" in page_of(client.get(access(phase.track.competition, page))).text


def test_reference_answers_are_not_offered_for_download(phase: Phase) -> None:
    client = client_with_role(phase.track.competition, "owner")
    file = {"kind": "data", "title_ko": "자료", "file": upload(reference_bytes(3))}
    address = access(phase.track.competition, f"setup/tracks/{phase.track.slug}/new-file/")
    assert client.post(address, file).status_code == 409
    file["file"] = upload(reference_bytes(3) + b"\n")
    client.post(address, file)
    page = page_of(client.get(access(phase.track.competition, "setup/")))
    assert "‘file.json’에 정답이 들어 있습니다" in page.text
    assert client.post(access(phase.track.competition, "setup/publish/")).status_code in {302, 409}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"ends_at": "2030-11-20T09:00"}, "ends_at"),
        ({"starts_at": "내일"}, "starts_at"),
        ({"public_percent": "100"}, "public_percent"),
        ({"min_interval": "-1"}, "min_interval"),
        ({"min_interval": "72 사과"}, "min_interval"),
        ({"min_interval": "366일"}, "min_interval"),
        ({"slug": "taken"}, "slug"),
        ({"daily_limit": "99999999"}, "daily_limit"),
    ],
)
def test_a_wrong_phase_is_explained_beside_its_field(db: None, change: dict[str, str], field: str) -> None:
    track = PhaseFactory.create(slug="taken").track
    client = client_with_role(track.competition, "owner")
    response = client.post(access(track.competition, f"phases/new/{track.slug}/"), PHASE | change)
    assert response.status_code == 422
    assert page_of(response).one("ul", "errorlist").attributes["id"] == f"id_{field}_error"


@pytest.mark.parametrize(
    ("change", "field"),
    [({"slug": "taken"}, "slug"), ({"recipe": "no@1"}, "recipe"), ({"score_decimals": "10"}, "score_decimals")],
)
def test_a_wrong_track_is_explained_beside_its_field(db: None, change: dict[str, str], field: str) -> None:
    competition = TrackFactory.create(slug="taken").competition
    client = client_with_role(competition, "owner")
    response = client.post(access(competition, "setup/new-track/"), TRACK | change)
    assert response.status_code == 422
    assert page_of(response).one("ul", "errorlist").attributes["id"] == f"id_{field}_error"


@pytest.mark.parametrize("places", ["0", "셋", "1;2", "-1", "1001", "9" * 5000, ", ".join(map(str, range(1, 12)))])
def test_wrong_prize_places_are_explained_beside_their_field(db: None, places: str) -> None:
    competition = CompetitionFactory.create(is_published=False)
    client = client_with_role(competition, "owner")
    response = client.post(access(competition, "setup/texts/"), TEXTS | {"prize_places": places})
    assert response.status_code == 422
    assert page_of(response).one("ul", "errorlist").attributes["id"] == "id_prize_places_error"


# --- texts and publishing ---------------------------------------------------------------------------------------------
def test_texts_are_saved_sorted_and_audited(db: None) -> None:
    competition = CompetitionFactory.create(is_published=False)
    client = client_with_role(competition, "organiser")
    assert client.post(access(competition, "setup/texts/"), TEXTS).status_code == 302
    competition.refresh_from_db()
    assert (competition.slug, competition.prize_places, competition.terms_version) == ("norms", [1, 3], 1)
    assert AuditEntry.objects.get(action="competition.update").after["prize_places"] == [1, 3]
    page = page_of(client.get(access(competition, "setup/texts/")))
    assert page.one("input", name="prize_places").attributes["value"] == "1, 3"


@pytest.mark.parametrize(("typed", "status", "kept"), [("", 302, None), ("6", 302, 6), ("0", 422, None)])
def test_personal_data_are_kept_for_ever_unless_somebody_says_how_long(
    db: None, typed: str, status: int, kept: int | None
) -> None:
    competition = CompetitionFactory.create()
    client = client_with_role(competition, "organiser")
    data = TEXTS | {"personal_data_months": typed}
    assert client.post(access(competition, "setup/texts/"), data).status_code == status
    competition.refresh_from_db()
    assert competition.personal_data_months == kept


def test_the_address_of_a_published_competition_stays(db: None) -> None:
    competition = CompetitionFactory.create(slug="stays")
    client = client_with_role(competition, "owner")
    client.post(access(competition, "setup/texts/"), TEXTS)
    competition.refresh_from_db()
    assert (competition.slug, competition.title_ko) == ("stays", "규범 대회")


def test_gaps_are_published_only_with_the_box_ticked(db: None) -> None:
    competition = CompetitionFactory.create(is_published=False)
    client = client_with_role(competition, "owner")
    refused = client.post(access(competition, "setup/publish/"))
    assert refused.status_code == 409
    assert any("갖추지 못한 항목" in notice.text for notice in page_of(refused).all("div", "notice"))
    client.post(access(competition, "setup/publish/"), {"accepts_gaps": "on"})
    assert Competition.objects.get().is_published
    client.post(access(competition, "setup/hide/"))
    assert Competition.objects.get().is_published
    client.post(access(competition, "setup/hide/"), {"confirm": "on"})
    assert not Competition.objects.get().is_published


# --- taking out -------------------------------------------------------------------------------------------------------
def test_what_is_needed_before_publishing_is_not_called_optional(db: None) -> None:
    competition = CompetitionFactory.create()
    page = page_of(client_with_role(competition, "organiser").get(access(competition, "setup/texts/")))
    form = page.one("select", name="cover").ancestors()[1]
    labels = {label.attributes["for"]: label.text for label in form.all("label")}
    for name in ("summary_ko", "description_ko"):
        assert labels[f"id_{name}"].endswith("(공개하려면 필요)")
    assert labels["id_organiser_ko"].endswith("(선택)")
    assert form.one("select", name="cover").all("option")[0].text == "기본 회색"


def test_removal_asks_first_and_refuses_what_is_in_use(phase: Phase) -> None:
    competition, track = phase.track.competition, phase.track
    client = client_with_role(competition, "owner")
    empty = PhaseFactory.create(track=track)
    for page, words in (
        (f"phases/{empty.pk}/remove/", "확인란에 표시해 주십시오"),
        (f"setup/tracks/{track.slug}/remove/", "확인란에 표시해 주십시오"),
    ):
        assert words in page_of(client.post(access(competition, page))).one("ul", "errorlist").text
    for page in (f"phases/{phase.pk}/remove/", f"setup/tracks/{track.slug}/remove/"):
        refused = page_of(client.post(access(competition, page), {"confirm": "on"}))
        assert "이미 쓰이고 있어" in refused.one("div", "notice", role="alert").text
    assert client.post(access(competition, f"phases/{empty.pk}/remove/"), {"confirm": "on"}).status_code == 302
    assert list(track.phases.all()) == [phase]


def test_a_file_is_taken_down_after_a_box_is_ticked(contest: Contest) -> None:
    client = client_with_role(contest.competition, "organiser")
    file = contest.track.data_files.all()[0]
    page = contest.url(f"manage/setup/files/{file.pk}/")
    assert file.file_name in page_of(client.get(page)).one("main").text
    assert client.post(f"{page}remove/").status_code == 422
    assert client.post(f"{page}remove/", {"confirm": "on"}).status_code == 302
    assert file not in contest.track.data_files.all()


# --- the pages --------------------------------------------------------------------------------------------------------
def test_every_page_of_the_set_up_is_sound_and_holds_no_answer(contest: Contest) -> None:
    publish(PhaseFactory.create(track=contest.track))
    client = client_with_role(contest.competition, "owner")
    file = contest.track.data_files.all()[0]
    for page in (
        *("", "texts/", "tracks/", "new-track/", "../phases/", "files/", f"tracks/{contest.track.slug}/"),
        *(f"../phases/new/{contest.track.slug}/", f"tracks/{contest.track.slug}/new-file/"),
        *(f"../phases/{contest.phase.pk}/", f"phases/{contest.phase.pk}/references/", f"files/{file.pk}/"),
    ):
        response = client.get(contest.url(f"manage/setup/{page}").replace("setup/../", ""))
        assert response.status_code == 200, page
        page_of(response)
        assert CANARY not in response.content.decode(), page


# --- what only the admin could do before ------------------------------------------------------------------------------
def test_a_file_is_offered_under_another_title_and_keeps_its_content(contest: Contest) -> None:
    client = client_with_role(contest.competition, "organiser")
    file = contest.track.data_files.all()[0]
    before = (file.file_name, file.file_sha256)

    sent = {"kind": "data", "title_ko": "새 제목", "title_en": "New", "position": "3"}
    assert client.post(contest.url(f"manage/setup/files/{file.pk}/"), sent).status_code == 302

    file.refresh_from_db()
    assert (file.title_ko, file.position, file.file_name, file.file_sha256) == ("새 제목", 3, *before)
    assert AuditEntry.objects.get(action="data_file.update").after["title_ko"] == "새 제목"


def test_a_hidden_competition_without_tracks_is_taken_out_by_its_owner(db: None) -> None:
    competition = CompetitionFactory.create(is_published=False)
    address = access(competition, "setup/remove/")
    owner, organiser = (client_with_role(competition, role) for role in ("owner", "organiser"))
    assert organiser.post(address, {"confirm": "on"}).status_code == 403
    assert owner.post(address).status_code == 422
    track = TrackFactory.create(competition=competition)
    assert owner.post(address, {"confirm": "on"}).status_code == 409
    track.delete()
    Competition.objects.update(is_published=True)
    assert owner.post(address, {"confirm": "on"}).status_code == 409
    Competition.objects.update(is_published=False)

    assert owner.post(address, {"confirm": "on"})["Location"] == "/"

    assert not Competition.objects.exists()
    assert AuditEntry.objects.get(action="competition.remove").before["slug"] == competition.slug


def test_only_an_administrator_names_a_profile_by_its_path(db: None) -> None:
    track = TrackFactory.create()
    sent = TRACK | {"slug": track.slug, "profile": "/srv/models/own.toml"}
    page = access(track.competition, f"setup/tracks/{track.slug}/")
    assert client_with_role(track.competition, "owner").post(page, sent).status_code == 422

    assert client_of(UserFactory.create(is_superuser=True)).post(page, sent).status_code == 302

    track.refresh_from_db()
    assert track.profile == "/srv/models/own.toml"


def test_an_administrator_finds_every_competition_and_appoints_the_first_owner(db: None) -> None:
    competition = CompetitionFactory.create(is_published=False, title_ko="주인 없는 대회")
    person, client = UserFactory.create(), client_of(UserFactory.create(is_superuser=True))

    assert "주인 없는 대회" in client.get("/").content.decode()
    client.post(access(competition, "roles/appoint/"), {"email": person.email, "role": "owner"})

    assert competition.roles.get().user == person
