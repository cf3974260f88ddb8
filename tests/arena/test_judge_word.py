"""What a judge tells the organisers: read on their pages alone; the mail says neither who nor what."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client

from malpan.arena.closing import close_campaign
from malpan.arena.errors import CampaignNotOpen, JudgeNotFound, JudgeRemoved, WordMissing
from malpan.arena.judge_word import tell_organisers
from malpan.arena.judges import remove_judge
from malpan.arena.models.judging import TOLD_MAX, WORD_MAX
from malpan.core.models import AuditEntry
from malpan.notifications.sending import deliver_due
from malpan.privacy.erasing import erase
from malpan.privacy.exporting import export
from tests.arena.panels import Panel, open_panel
from tests.factories import person_in
from tests.web.html import parse, problems

pytestmark = pytest.mark.django_db
WORD = "카나리아 선생의 제자가 한 팀에 있습니다.\n끝까지 맡아도 됩니까?"


@pytest.fixture
def panel() -> Panel:
    panel = open_panel(judges=3)
    mail.outbox.clear()
    return panel


def tell(panel: Panel, text: str = WORD, place: int = 0) -> None:
    judge = panel.judges[place]
    tell_organisers(judge=judge, actor=judge.user, text=text, now=panel.later(60))
    judge.refresh_from_db()


def test_organisers_get_a_mail_that_says_neither_who_nor_what(panel: Panel) -> None:
    competition = panel.campaign.track.competition
    others = [person_in(competition, role) for role in ("operator", "viewer")]
    owner = person_in(competition, "owner")
    tell(panel)
    deliver_due()
    assert sorted(message.to[0] for message in mail.outbox) == sorted([owner.email, panel.organiser.email])
    judge = panel.judges[0]
    for message in mail.outbox:
        written = f"{message.subject} {message.body} {message.extra_headers} {message.alternatives}"
        assert panel.campaign.title_ko in message.subject
        assert f"/manage/arena/{panel.campaign.pk}/judges/" in message.body
        for secret in (
            "카나리아",
            judge.email,
            judge.user.name,
            f"judges/{judge.pk}",
            *(each.email for each in others),
        ):
            assert secret not in written


def test_who_no_longer_runs_the_competition_when_it_is_sent_is_not_told(panel: Panel) -> None:
    tell(panel)
    panel.organiser.competition_roles.all().delete()
    deliver_due()
    assert mail.outbox == []


def test_words_are_kept_one_after_the_other_and_the_same_twice_is_one(panel: Panel) -> None:
    tell(panel)
    tell(panel)
    tell(panel, "하나 더 있습니다.")
    told = panel.judges[0].told
    assert told.count("카나리아") == 1
    assert told.endswith("]\n하나 더 있습니다.")
    assert panel.judges[0].told_at == panel.now
    entries = AuditEntry.objects.filter(action="campaign_judge.tell")
    assert [each.after for each in entries.order_by("pk")] == [{"characters": len(WORD)}, {"characters": 10}]
    assert panel.judges[1].told == ""


@pytest.mark.parametrize("text", ["", "  \n", "가" * (WORD_MAX + 1)])
def test_nothing_and_too_much_is_refused(panel: Panel, text: str) -> None:
    with pytest.raises(WordMissing):
        tell(panel, text)
    panel.judges[0].refresh_from_db()
    assert panel.judges[0].told_at is None


def test_there_is_room_for_so_much(panel: Panel) -> None:
    for number in range(TOLD_MAX // (WORD_MAX + 30)):
        tell(panel, f"{number}" + "가" * (WORD_MAX - 1))
    with pytest.raises(WordMissing):
        tell(panel, "나" * WORD_MAX)


def test_only_who_judges_and_only_until_the_closing(panel: Panel) -> None:
    first, second, _third = panel.judges
    with pytest.raises(JudgeNotFound):
        tell_organisers(judge=first, actor=second.user, text=WORD)
    remove_judge(judge=second, actor=panel.organiser, reason="사유", accepts_loss=True)
    with pytest.raises(JudgeRemoved):
        tell(panel, place=1)
    close_campaign(campaign=panel.campaign, actor=panel.organiser, accepts_open=True, now=panel.now + timedelta(days=1))
    with pytest.raises(CampaignNotOpen):
        tell(panel)


def test_a_judge_who_is_erased_takes_their_words_along(panel: Panel) -> None:
    tell(panel)
    judge = panel.judges[0]
    erase(user=judge.user, actor=judge.user, now=panel.later())
    judge.refresh_from_db()
    assert judge.told == ""


def test_a_judge_writes_on_their_page_and_the_organiser_reads_it(panel: Panel) -> None:
    judge, address = panel.judges[0], f"/arena/{panel.campaign.pk}/"
    client, desk = Client(), Client()
    client.force_login(judge.user)
    desk.force_login(panel.organiser)
    refused = client.post(f"{address}tell/", {"text": ""})
    assert refused.status_code == 422
    assert parse(refused.content.decode()).one("textarea", id="tell-text").attributes["aria-invalid"] == "true"
    sent = client.post(f"{address}tell/", {"text": WORD}, follow=True)
    assert sent.redirect_chain == [(f"{address}#tell", 302)]
    page = parse(sent.content.decode())
    assert problems(page) == []
    assert "카나리아 선생의 제자" in page.one("details", id="tell").text

    base = f"/competitions/{panel.campaign.track.competition.slug}/manage/arena/{panel.campaign.pk}/judges/"
    listed = parse(desk.get(base).content.decode())
    assert problems(listed) == []
    assert f"{base}{judge.pk}/#told" in [link.attributes["href"] for link in listed.all("a")]
    shown = parse(desk.get(f"{base}{judge.pk}/").content.decode())
    assert problems(shown) == []
    assert "카나리아 선생의 제자" in shown.one("div", id="told").text

    other = Client()
    other.force_login(panel.judges[1].user)
    assert "카나리아" not in other.get(address).content.decode()
    assert "카나리아" in str(export(judge.user))
