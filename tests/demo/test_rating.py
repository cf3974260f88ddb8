"""The demo's human evaluation that goes on: two judges have begun, and a newcomer judges at once, with a password only
where the site is somebody's own machine.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from malpan.arena.closing import close_campaign
from malpan.arena.judging import judge_assignment
from malpan.arena.models import Assignment, Campaign, CampaignJudge, Judgement, Rubric
from malpan.arena.queue import progress_of
from malpan.core.models import AuditEntry
from malpan.demo import judges
from malpan.demo.loading import LoadCount, load_competition
from malpan.demo.rating import PLAN, begin_rating, password_file
from malpan.demo.specs import COMPETITIONS
from malpan.notifications.models import Letter
from malpan.submissions.models import ChainEntry
from tests.submissions.conftest import collect_rings, work_uncommitted
from tests.submissions.rescoring.contest_of_many import with_fake_models, work_off

pytestmark = pytest.mark.django_db
[DEMO] = [each for each in COMPETITIONS if each.slug == "demo"]
EMAIL = PLAN["newcomer"]["email"]


@dataclass(frozen=True)
class Scored:
    """``too_early``: what a call before the scoring gave."""

    too_early: Campaign | None


@pytest.fixture(scope="module", autouse=True)
def scored(kept: None) -> Scored:
    """The demo contest that is running, loaded and scored."""
    with pytest.MonkeyPatch.context() as patched:
        collect_rings(patched)
        work_uncommitted(patched)
        with_fake_models(patched)
        load_competition(DEMO, timezone.now(), LoadCount())
        too_early = begin_rating()
        work_off()
    return Scored(too_early)


@pytest.fixture(autouse=True)
def own_folder(settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path


@pytest.fixture
def local(settings: Any) -> None:
    settings.LOCAL = True


@pytest.fixture
def deployed(settings: Any) -> None:
    settings.LOCAL = False


def newcomer() -> CampaignJudge:
    return CampaignJudge.objects.select_related("user", "campaign__rubric").get(email=EMAIL)


def row_counts() -> dict[str, int]:
    models = (Campaign, CampaignJudge, Rubric, Assignment, Judgement, ChainEntry, AuditEntry)
    return {model.__name__: model.objects.count() for model in models}


def test_nothing_begins_before_all_is_scored(scored: Scored) -> None:
    assert scored.too_early is None


def test_it_is_open_rates_by_a_rubric_and_others_have_done_their_share(local: None) -> None:
    campaign = begin_rating()
    assert campaign is not None
    assert (campaign.state, campaign.protocol) == (Campaign.State.OPEN, Campaign.Protocol.RUBRIC)
    assert campaign.systems.count() == 5
    for row in PLAN["judges"]:
        judge = campaign.judges.get(email=judges.email_of_judge(row["number"]))
        progress = progress_of(judge)
        assert progress.done - 1 < row["share"] * progress.total <= progress.done < progress.total
    newest = Judgement.objects.order_by("-created_at")[0]
    assert campaign.opened_at < newest.created_at < timezone.now()
    scores = {score for row in Judgement.objects.all() for score in row.value["scores"].values()}
    assert len(scores) >= 4, "some outputs are good, some are not"


@pytest.mark.usefixtures("contexts")
def test_a_newcomer_logs_in_agrees_and_judges(local: None) -> None:
    campaign = begin_rating()
    assert campaign is not None
    client = Client(headers={"Accept-Language": "ko"})
    assert client.login(email=EMAIL, password=password_file().read_text().strip())
    assert campaign.title in client.get("/arena/").content.decode()
    judge = newcomer()
    page = client.get(f"/arena/{campaign.pk}/")
    agreed = {"consent": "on", "guideline": "on", **page.context["consent"].initial}
    client.post(f"/arena/{campaign.pk}/", agreed)
    total = progress_of(judge).total
    assert 15 <= total <= 30, "ten minutes, not more"
    for _number in range(3):  # the first is practice
        shown = client.post(f"/arena/{campaign.pk}/judge/").headers["Location"]
        client.post(shown, {"expected": "0", "score-accuracy": "4", "score-fluency": "3"})
    assert progress_of(judge).done == 2
    assert progress_of(judge).calibration_left == 0


def test_the_password_is_kept_for_its_owner_alone_and_only_once_made(local: None) -> None:
    begin_rating()
    kept = password_file().read_text()
    assert len(kept.strip()) >= 16
    assert stat.S_IMODE(password_file().stat().st_mode) == 0o600
    begin_rating()
    assert password_file().read_text() == kept
    others = CampaignJudge.objects.exclude(email=EMAIL).select_related("user")
    assert not any(each.user.has_usable_password() for each in others)


def test_elsewhere_nobody_can_log_in_and_nothing_says_so(deployed: None) -> None:
    campaign = begin_rating()
    assert campaign is not None
    assert not newcomer().user.has_usable_password()
    assert not password_file().exists()
    assert EMAIL not in campaign.notice_ko + campaign.notice_en


@pytest.mark.parametrize("language", ["ko", "en"])
def test_the_page_of_the_evaluation_says_how_to_log_in(local: None, language: str) -> None:
    begin_rating()
    page = Client(headers={"Accept-Language": language}).get("/competitions/demo/campaigns/").content.decode()
    assert EMAIL in page
    assert "var/demo-judge-password" in page
    assert '<a href="/accounts/login/?next=/arena/"' in page


def test_no_mail_is_posted(local: None) -> None:
    before = Letter.objects.count()
    begin_rating()
    assert Letter.objects.count() == before


def test_a_beginning_that_was_cut_off_is_completed_and_then_nothing_changes(
    local: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Any] = []

    def judge_four(**arguments: Any) -> Judgement:
        calls.append(arguments)
        if len(calls) > 4:
            raise KeyboardInterrupt
        return judge_assignment(**arguments)

    with monkeypatch.context() as patched:
        patched.setattr(judges, "judge_assignment", judge_four)
        with pytest.raises(KeyboardInterrupt):
            begin_rating()
    assert (Judgement.objects.count(), password_file().exists()) == (4, False)
    begin_rating()
    before = row_counts()
    assert before["Judgement"] > 10
    begin_rating(timezone.now() + timedelta(days=40))
    assert row_counts() == before


def test_a_campaign_that_an_organiser_closed_stays_closed(local: None) -> None:
    campaign = begin_rating()
    assert campaign is not None
    close_campaign(campaign=campaign, actor=campaign.created_by, accepts_open=True)
    before = row_counts()
    begin_rating()
    assert row_counts() == before
    assert EMAIL not in said()


def test_a_campaign_of_somebody_else_is_left_alone(local: None) -> None:
    campaign = begin_rating()
    assert campaign is not None
    admin = newcomer().user
    Campaign.objects.update(created_by=admin)
    before = row_counts()
    assert begin_rating() is None
    assert row_counts() == before


def said() -> str:
    output = StringIO()
    call_command("evaluate_demo", stdout=output)
    return output.getvalue()


def test_the_command_tells_the_log_in(local: None) -> None:
    text = said()
    assert f"{EMAIL}, 비밀번호 / password: {password_file().read_text().strip()}" in text
    assert "/arena/" in text


def test_the_command_says_nothing_of_it_where_there_is_none(deployed: None) -> None:
    assert EMAIL not in said()
