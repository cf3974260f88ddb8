"""How campaigns are shown to organisers: the state of one, what comes next, figures in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import get_language, gettext_lazy, pgettext
from django.utils.translation import gettext as _

from malpan.arena.models import Assignment, Campaign, CampaignJudge, Judgement
from malpan.arena.progress import Counts
from malpan.arena.quality import LiveJudgeQuality
from malpan.teams.models import Team
from malpan.web.presenters.formatting import range_text

FLAGS: dict[str, Promise] = {
    "controls": gettext_lazy("확인 문항을 지나치게 많이 틀림"),
    "random": gettext_lazy("출력과 상관없이 고름"),
    "position": gettext_lazy("한쪽 자리만 고름"),
}
WARNINGS: dict[str, Promise] = {
    "error_unknown": gettext_lazy(
        "판단이 너무 적거나 모두 한결같아 점수의 오차를 알 수 없습니다. 그런 점수에는 신뢰 구간이 없습니다."
    ),
    "regularised": gettext_lazy("모든 비교에서 이기거나 진 제출이 있어 가상의 판단을 조금 더해 셈했습니다."),
    "separated_draws": gettext_lazy(
        "다시 뽑은 판단의 상당수에서 모든 비교에서 이기거나 지는 제출이 있어, 그런 제출의 신뢰 구간은 어림값입니다."
    ),
    "one_judge": gettext_lazy("평가자가 한 명뿐이라 신뢰 구간은 문항의 차이만 나타냅니다."),
    "few_judges": gettext_lazy("평가자가 다섯 명보다 적어 신뢰 구간을 조심해서 읽어야 합니다."),
    "unseen_systems": gettext_lazy("판단이 하나도 없는 제출이 있습니다."),
}


@dataclass(frozen=True, slots=True)
class PartLink:
    """A page of a campaign."""

    url_name: str
    label: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class NextStep:
    """What the organiser does next, and the page for it. ``is_due``: the evaluation waits for nothing else."""

    text: str
    url_name: str
    is_due: bool = False


@dataclass(frozen=True, slots=True)
class JudgeLine:
    """A judge with what the list says of them. ``state``: waiting, expired, accepted, ready or removed. ``barred``: of
    ``done``, those with a system that they may not see any more. ``teams``: those of the competition they are in.
    ``is_excluded``: none of what they said counts.
    """

    judge: CampaignJudge
    state: str
    done: int
    total: int
    barred: int
    teams: Sequence[Team]
    is_excluded: bool

    @property
    def left(self) -> int:
        return self.total - self.done


@dataclass(frozen=True, slots=True)
class QualityLine:
    """The figures of a judge in words; ``–`` where there is nothing to count."""

    judge: CampaignJudge
    done: int
    total: int
    seconds: str
    too_fast: int
    controls: str
    consistency: str
    agreement: str
    first_share: str
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InfluenceLine:
    """What the standing would be without a judge. ``tau``: Kendall's, to the standing with all."""

    judge: CampaignJudge
    rank_change: int
    first_changes: bool
    tau: str


@dataclass(frozen=True, slots=True)
class JudgementLine:
    """A judgement in the list of its judge. ``value`` is empty while the scores are not opened."""

    place: int
    judgement: Judgement
    kind: str
    is_excluded: bool
    value: str


@dataclass(frozen=True, slots=True)
class StandingLine:
    """A system of a result. ``ranks``: the ranks that fit the judgements."""

    rank: int
    label: str
    name: str
    team_number: int | None
    score: str
    interval: str
    ranks: str
    cluster: int
    points: str
    votes: int


@dataclass(frozen=True, slots=True)
class AgreementLine:
    """How far judges agree on one thing, in words."""

    name: str
    units: int
    same: str
    alpha: str
    ac2: str


def parts_of(campaign: Campaign, current: str) -> list[PartLink]:
    """The pages of ``campaign`` that its state has, in the order of the work."""
    state = campaign.state
    names: list[tuple[str, str]] = [
        ("manage_campaign", _("개요")),
        ("manage_campaign_settings", _("설정")),
        ("manage_campaign_systems", pgettext("list", "평가할 제출")),
        ("manage_campaign_practice", _("연습 문항")),
        ("manage_campaign_judges", _("평가자")),
    ]
    if state == Campaign.State.DRAFT:
        names.append(("manage_campaign_opening", pgettext("campaign", "시작")))
    else:
        names += [("manage_campaign_quality", _("품질")), ("manage_campaign_exclusions", pgettext("list", "제외"))]
    if state == Campaign.State.OPEN:
        names.append(("manage_campaign_closing", pgettext("campaign", "마감")))
    if state in (Campaign.State.CLOSED, Campaign.State.PUBLISHED):
        names.append(("manage_campaign_publishing", _("결과와 발표")))
    return [PartLink(name, label, name == current) for name, label in names]


def next_step(campaign: Campaign, counts: Counts, *, is_outdated: bool = False) -> NextStep:
    """What comes next in ``campaign``. ``is_outdated``: what counts is no longer what the published result counted."""
    state = campaign.state
    if is_outdated:
        text = _("발표한 뒤 셈에서 뺀 것이 바뀌었습니다. 공개된 결과는 그 전의 것이니 확인하고 다시 발표합니다.")
        return NextStep(text, "manage_campaign_publishing", is_due=True)
    if state == Campaign.State.PUBLISHED:
        return NextStep(_("발표했습니다. 고칠 것이 있으면 다시 발표합니다."), "manage_campaign_publishing")
    if state == Campaign.State.CLOSED:
        return NextStep(_("결과를 확인하고 발표합니다."), "manage_campaign_publishing", is_due=True)
    if state == Campaign.State.OPEN:
        if counts.left and not campaign.is_judged_now:
            text = _(
                "마감 예정 시각이 지나 판단이 멈췄습니다. 마감하거나, 시간이 더 필요하면 설정에서 마감 예정을 늦춥니다."
            )
            return NextStep(text, "manage_campaign_closing", is_due=True)
        if counts.left:
            return NextStep(_("평가자의 진행과 품질을 살펴봅니다."), "manage_campaign_quality")
        return NextStep(_("모든 판단을 마쳤습니다. 마감합니다."), "manage_campaign_closing", is_due=True)
    if counts.systems < 2:
        return NextStep(_("평가할 제출을 고릅니다."), "manage_campaign_systems")
    if not counts.accepted and not counts.waiting:
        return NextStep(_("평가자를 초대합니다."), "manage_campaign_judges")
    if not counts.accepted:
        return NextStep(_("평가자의 수락을 기다립니다."), "manage_campaign_judges")
    return NextStep(_("배정을 미리 보고 시작합니다."), "manage_campaign_opening")


def judge_name(judge: CampaignJudge) -> str:
    """The name of ``judge`` for organisers: of the account, else the address, else of a person that was erased."""
    if judge.user is not None:
        return str(judge.user)
    return judge.email or _("지운 계정의 평가자")


def quality_lines(rows: Sequence[LiveJudgeQuality]) -> list[QualityLine]:
    """The figures of judges, the suspicious ones first."""
    lines = [_quality_line(row) for row in rows]
    return sorted(lines, key=lambda line: not line.flags)


def _quality_line(row: LiveJudgeQuality) -> QualityLine:
    figures = row.figures
    return QualityLine(
        judge=row.judge,
        done=row.done,
        total=row.total,
        seconds="–" if row.median_seconds is None else f"{row.median_seconds:.0f}",
        too_fast=row.too_fast,
        controls=f"{figures.control_failures} / {figures.controls}" if figures and figures.controls else "–",
        consistency=share_text(figures.consistency if figures else None),
        agreement=share_text(figures.agreement if figures else None),
        first_share=share_text(figures.first_share if figures else None),
        flags=tuple(str(FLAGS.get(flag, flag)) for flag in figures.flags) if figures else (),
    )


def influence_lines(rows: Sequence[LiveJudgeQuality]) -> list[InfluenceLine]:
    """Of every judge whose judgements count, the most influential first."""
    lines = [
        InfluenceLine(row.judge, found["rank_change"], found["first_changes"], share_text(found["tau"]))
        for row in rows
        if (found := row.influence)
    ]
    return sorted(lines, key=lambda line: (not line.first_changes, -line.rank_change))


def share_text(value: float | None) -> str:
    """A share or coefficient with two decimals and a true minus sign."""
    return "–" if value is None else f"{value:.2f}".replace("-", "−")


def figure_text(value: float | None, decimals: int = 3) -> str:
    """A score with its decimals and a true minus sign."""
    return "–" if value is None else f"{value:.{decimals}f}".replace("-", "−")


def interval_text(figure: Mapping[str, Any]) -> str:
    """The interval of ``figure``; a dash where its error is unknown."""
    return "–" if figure["low"] is None else f"{figure_text(figure['low'])} ~ {figure_text(figure['high'])}"


def points_text(row: Mapping[str, Any]) -> str:
    """The share of points of a system that was compared, or the mean score of one that was rated, 0-100."""
    points = f"{100 * row['points']:.1f}"
    return f"{points}%" if "wins" in row else points


def value_text(assignment: Assignment, value: dict[str, Any]) -> str:
    """A judgement in words, with the labels of the systems."""
    shown = list(assignment.systems)
    if "choice" in value:
        words = {"tie": _("비슷함"), "both_bad": _("둘 다 나쁨")}
        place = {"first": 0, "second": 1}.get(value["choice"])
        return words.get(value["choice"], "") if place is None else f"{shown[place]} > {shown[1 - place]}"
    if "scores" in value:
        return f"{shown[0]}: " + ", ".join(f"{name} {score}" for name, score in value["scores"].items())
    if "ranks" in value:
        pairs = sorted(zip(value["ranks"], shown, strict=True))
        return ", ".join(f"{rank}. {label}" for rank, label in pairs)
    count = len(value.get("spans", ()))
    return _("%(system)s: %(score)s점, 오류 %(count)d개") % {
        "system": shown[0],
        "score": value.get("score", "–"),
        "count": count,
    }


def standing_lines(document: dict[str, Any]) -> list[StandingLine]:
    """The systems of a result (``scoring.arena.result``) in the order of their ranks."""
    return [
        StandingLine(
            rank=row["rank"],
            label=row["label"],
            name=row["name"],
            team_number=row["team_number"],
            score=figure_text(row["score"]),
            interval=interval_text(row),
            ranks=range_text(row["best_rank"], row["worst_rank"]),
            cluster=row["cluster"],
            points=points_text(row),
            votes=row["votes"],
        )
        for row in document["systems"]
    ]


def agreement_lines(rows: Sequence[dict[str, Any]] | None, campaign: Campaign) -> list[AgreementLine]:
    """The agreement on every question that judges answer."""
    labels = {each["key"]: each["label_ko"] for each in campaign.rubric.criteria}
    labels |= {each["key"]: each["label_en"] for each in campaign.rubric.criteria if _reads_english(each)}
    names = {
        "choice": _("어느 쪽이 나은가"),
        "all_choices": _("네 가지 선택 그대로"),
        "score": _("점수"),
    }
    return [
        AgreementLine(
            name=labels.get(row["name"]) or names.get(row["name"], row["name"]),
            units=row["units"],
            same=share_text(row["same"]),
            alpha=_with_interval(row["alpha"]),
            ac2=_with_interval(row["ac2"]),
        )
        for row in rows or ()
    ]


def warning_texts(names: Sequence[str]) -> list[str]:
    """The warnings of a result in words."""
    return [str(WARNINGS.get(name, name)) for name in names]


def _reads_english(labels: dict[str, Any]) -> bool:
    return bool(labels["label_en"]) and get_language() == "en"


def _with_interval(figure: dict[str, Any] | None) -> str:
    if figure is None or figure["value"] is None:
        return "–"
    return f"{share_text(figure['value'])} ({share_text(figure['low'])} ~ {share_text(figure['high'])})"
