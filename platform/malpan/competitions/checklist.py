"""The checklist before a competition opens: facts in, items out. Pure: it uses no database and no clock.

Each item has a state, a text in the reader's language, and the step of the set-up to fix it (``place``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from itertools import pairwise
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from scoring.particles import fitted


class State(StrEnum):
    OK = "ok"
    WARN = "warn"  # may be intended
    MISSING = "missing"  # a gap: publishing needs a confirmation
    NOTE = "note"  # to be checked by a person


@dataclass(frozen=True, slots=True)
class PhaseFacts:
    """The facts of a phase. ``sample``: the result of checking the sample submission with its references: ok, invalid,
    none (nothing to compare), or faulty (the files could not be read). ``counting``: where a composite ranks, which
    submission of a team counts; ``unset`` where nobody has said it, ``unfit`` where the settings contradict each other.
    """

    title: str
    starts_at: datetime
    ends_at: datetime
    has_references: bool
    has_limits: bool
    wants_split: bool = False
    has_split: bool = False
    sample: str = "none"
    counting: str = ""


@dataclass(frozen=True, slots=True)
class Leak:
    """A file for download in which ``count`` of ``total`` answers are those of the references. ``is_copy``: more than
    a sample gets right by chance.
    """

    file: str
    count: int
    total: int
    is_copy: bool


@dataclass(frozen=True, slots=True)
class TrackFacts:
    """The facts of a track."""

    title: str
    has_english_title: bool
    has_english_description: bool  # or none in Korean either
    has_recipe: bool
    profile: str  # that will score
    models: str  # ready, absent or unknown
    is_demo_profile: bool
    needs_models: bool
    has_sample: bool
    has_data: bool
    leaks: tuple[Leak, ...] = ()
    is_searched: bool = False  # for leaks: there are files for download, and references
    phases: tuple[PhaseFacts, ...] = ()
    lacks_judge: bool = False  # that its recipe was chosen with


@dataclass(frozen=True, slots=True)
class Facts:
    """All facts of a competition and its site for the checklist."""

    now: datetime
    has_summary: bool  # in Korean, as the next
    has_description: bool
    has_english: bool
    has_organiser: bool
    has_terms: bool
    has_terms_in_both: bool
    has_prize_places: bool
    helpers: int  # owners and organisers who can log in
    competing: tuple[str, ...]  # people with a role who also compete
    site_url: str
    is_local_site: bool
    sends_email: bool
    tracks: tuple[TrackFacts, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    code: str
    state: State
    words: str | Promise
    place: str
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return fitted(str(self.words) % self.params)

    @property
    def is_gap(self) -> bool:
        return self.state is State.MISSING


def checklist(facts: Facts) -> list[Item]:
    """Every item, in the order of the set-up."""
    return [*_texts(facts), *_tracks(facts), *_phases(facts), *_files(facts), *_people(facts), *_site(facts)]


def _either(code: str, good: bool, ok: Promise, bad: Promise, place: str, bad_state: State, **params: Any) -> Item:
    return Item(code, State.OK if good else bad_state, ok if good else bad, place, params)


_GAP: Final = State.MISSING
_WARN: Final = State.WARN


_KOREAN: Final = {  # by whether there is a summary, and a description
    (False, False): _("한국어로 된 한 줄 소개와 대회 안내가 비어 있습니다."),
    (False, True): _("한국어로 된 한 줄 소개가 비어 있습니다."),
    (True, False): _("한국어로 된 대회 안내가 비어 있습니다."),
    (True, True): _("제목, 한 줄 소개, 대회 안내가 한국어로 있습니다."),
}


def _texts(facts: Facts) -> Iterator[Item]:
    yield _either(
        "korean_texts", facts.has_summary and facts.has_description,
        _KOREAN[True, True], _KOREAN[facts.has_summary, facts.has_description], "texts", _GAP,
    )  # fmt: skip
    yield _either(
        "english_texts", facts.has_english,
        _("제목, 한 줄 소개, 대회 안내가 영어로 있습니다."),
        _("영어 글이 모두 있지는 않습니다. 비어 있는 글은 영어 화면에 한국어로 보입니다."), "texts", _WARN,
    )  # fmt: skip
    yield _either(
        "organiser", facts.has_organiser,
        _("주최가 적혀 있습니다."), _("주최가 비어 있습니다."), "texts", _WARN,
    )  # fmt: skip
    if facts.has_terms and not facts.has_terms_in_both:
        yield Item("terms", _WARN, _("참가 약관이 한 언어로만 있습니다."), "texts")
    else:
        yield _either(
            "terms", facts.has_terms,
            _("참가 약관이 있습니다."), _("참가 약관이 없습니다. 팀은 동의 없이 참가합니다."), "texts", _WARN,
        )  # fmt: skip
    yield _either(
        "prize_places", facts.has_prize_places,
        _("시상 순위가 정해져 있습니다."),
        _("시상 순위가 없습니다. 순위표와 재채점 미리 보기에 시상선이 그려지지 않습니다."), "texts", _WARN,
    )  # fmt: skip


_LACKS_ENGLISH: Final = {  # by whether there is a title, and a description
    (False, False): _("‘%(track)s’: 영어 제목과 영어 과제 안내가 없습니다."),
    (False, True): _("‘%(track)s’: 영어 제목이 없습니다."),
    (True, False): _("‘%(track)s’: 영어 과제 안내가 없습니다."),
}


def _tracks(facts: Facts) -> Iterator[Item]:
    yield _either(
        "tracks", bool(facts.tracks),
        _("트랙이 있습니다."), _("트랙이 없습니다. 하나 이상 만들어 주십시오."), "tracks", _GAP,
    )  # fmt: skip
    for track in facts.tracks:
        of = {"track": track.title}
        if not track.has_recipe:
            yield Item("recipe", _GAP, _("‘%(track)s’: 채점 방식을 찾을 수 없습니다."), "tracks", of)
        if words := _LACKS_ENGLISH.get((track.has_english_title, track.has_english_description)):
            yield Item("track_english", _WARN, words, "tracks", of)
        if track.needs_models:
            yield _models(track)
        if track.lacks_judge:
            text = _(
                "‘%(track)s’: 모델 프로필 ‘%(profile)s’에 심사 모델([judge])이 없어 LLM 심사 점수가 나오지 않습니다."
            )
            yield Item("judge", _WARN, text, "tracks", of | {"profile": track.profile})


def _models(track: TrackFacts) -> Item:
    of = {"track": track.title, "profile": track.profile}
    if track.is_demo_profile:
        text = _("‘%(track)s’: 데모 모델로 채점합니다. 공식 점수가 아니며 모든 점수에 그렇게 적힙니다.")
        return Item("models", _WARN, text, "tracks", of)
    if track.models == "ready":
        return Item(
            "models", State.OK, _("‘%(track)s’: 모델 프로필 ‘%(profile)s’이(가) 준비되어 있습니다."), "tracks", of
        )
    if track.models == "unknown":
        return Item("models", _GAP, _("‘%(track)s’: 모델 프로필 ‘%(profile)s’을(를) 찾을 수 없습니다."), "tracks", of)
    text = _(
        "‘%(track)s’: 모델 프로필 ‘%(profile)s’의 모델이 웹 서버에는 없습니다. 채점 서버에 있는지 확인해 주십시오."
    )
    return Item("models", _WARN, text, "tracks", of)


def _phases(facts: Facts) -> Iterator[Item]:
    for track in facts.tracks:
        of = {"track": track.title}
        yield _either(
            "phases", bool(track.phases),
            _("‘%(track)s’: 단계가 있습니다."), _("‘%(track)s’: 단계가 없습니다."), "phases", _GAP, **of,
        )  # fmt: skip
        if track.phases:
            yield _order(track)
        for phase in track.phases:
            yield from _phase(facts, phase, of | {"phase": phase.title})


def _order(track: TrackFacts) -> Item:
    ordered = sorted(track.phases, key=lambda phase: (phase.starts_at, phase.ends_at))
    overlap = any(before.ends_at > after.starts_at for before, after in pairwise(ordered))
    is_shown_so = list(track.phases) == ordered
    return _either(
        "phase_order", not overlap and is_shown_so,
        _("‘%(track)s’: 단계가 차례로 이어집니다."),
        _("‘%(track)s’: 단계의 기간이 겹치거나 화면의 순서와 날짜의 순서가 다릅니다."),
        "phases", _WARN, track=track.title,
    )  # fmt: skip


_COUNTING: Final[dict[str, tuple[State, Promise]]] = {
    "latest": (State.OK, _("‘%(track)s’ %(phase)s: 종합 순위에 팀마다 가장 최근 제출이 반영됩니다.")),
    "chosen": (
        State.OK,
        _("‘%(track)s’ %(phase)s: 종합 순위에 팀이 고른 제출이, 고르지 않은 팀은 가장 최근 제출이 반영됩니다."),
    ),
    "best": (State.OK, _("‘%(track)s’ %(phase)s: 종합 순위에 팀마다 정해진 점수가 가장 좋은 제출이 반영됩니다.")),
    "unset": (
        _WARN,
        _(
            "‘%(track)s’ %(phase)s: 종합 순위에 어느 제출을 반영할지 정하지 않았습니다. 정하기 전에는 최종 점수가 가장 "
            "좋은 제출이 반영됩니다."
        ),
    ),
    "unfit": (
        _GAP,
        _("‘%(track)s’ %(phase)s: 종합 순위에 반영할 제출의 설정이 맞지 않습니다. 단계 설정에서 다시 정해 주십시오."),
    ),
}


def _phase(facts: Facts, phase: PhaseFacts, of: dict[str, str]) -> Iterator[Item]:
    if phase.ends_at <= facts.now:
        yield Item("phase_over", _WARN, _("‘%(track)s’ %(phase)s: 마감이 이미 지났습니다."), "phases", of)
    yield _either(
        "limits", phase.has_limits,
        _("‘%(track)s’ %(phase)s: 제출 한도가 있습니다."),
        _("‘%(track)s’ %(phase)s: 제출 한도가 없어 몇 번이든 제출할 수 있습니다."), "phases", _WARN, **of,
    )  # fmt: skip
    yield _either(
        "references", phase.has_references,
        _("‘%(track)s’ %(phase)s: 정답이 등록되어 있습니다."),
        _("‘%(track)s’ %(phase)s: 정답이 없습니다. 정답이 없으면 제출을 받을 수 없습니다."), "files", _GAP, **of,
    )  # fmt: skip
    if phase.counting:
        state, words = _COUNTING[phase.counting]
        yield Item("counting", state, words, "phases", of)
    if phase.has_references and phase.wants_split and not phase.has_split:
        text = _("‘%(track)s’ %(phase)s: 공개 비율이 정해져 있으나 현재 정답은 나뉘어 있지 않습니다.")
        yield Item("split", _GAP, text, "files", of)


def _files(facts: Facts) -> Iterator[Item]:
    for track in facts.tracks:
        of = {"track": track.title}
        yield _either(
            "data", track.has_data,
            _("‘%(track)s’: 참가자가 내려받을 데이터가 있습니다."),
            _("‘%(track)s’: 참가자가 내려받을 데이터가 없습니다."), "files", _WARN, **of,
        )  # fmt: skip
        yield _either(
            "sample", track.has_sample,
            _("‘%(track)s’: 제출 예시가 있습니다."), _("‘%(track)s’: 제출 예시가 없습니다."), "files", _WARN, **of,
        )  # fmt: skip
        yield from (item for phase in track.phases if (item := _sample(phase, of | {"phase": phase.title})))
        yield from (_leak(leak, of) for leak in track.leaks)
        if track.is_searched and not track.leaks:
            yield Item("leak", State.OK, _("‘%(track)s’: 공개 자료에 정답과 같은 답이 없습니다."), "files", of)


def _leak(leak: Leak, of: dict[str, str]) -> Item:
    params = of | {"file": leak.file, "count": leak.count, "total": leak.total}
    if leak.is_copy:
        text = _(
            "‘%(track)s’: 공개 자료 ‘%(file)s’에 정답이 들어 있습니다(%(total)d문항 가운데 %(count)d문항). 바로 지워 "
            "주십시오."
        )
        return Item("leak", _GAP, text, "files", params)
    text = _(
        "‘%(track)s’: 공개 자료 ‘%(file)s’의 답이 정답 %(total)d문항 가운데 %(count)d문항과 같습니다. 정답을 드러내지 "
        "않는지 확인해 주십시오."
    )
    return Item("leak", _WARN, text, "files", params)


def _sample(phase: PhaseFacts, of: dict[str, str]) -> Item | None:
    words: dict[str, tuple[State, Promise]] = {
        "ok": (State.OK, _("‘%(track)s’ %(phase)s: 제출 예시가 정답과 문항이 같고 형식에 맞습니다.")),
        "invalid": (
            _GAP,
            _("‘%(track)s’ %(phase)s: 제출 예시를 그대로 올리면 반려됩니다. 문항의 id와 형식을 확인해 주십시오."),
        ),
        "faulty": (_WARN, _("‘%(track)s’ %(phase)s: 저장된 파일을 읽지 못해 제출 예시를 확인하지 못했습니다.")),
    }  # fmt: skip
    if phase.sample not in words:
        return None
    state, text = words[phase.sample]
    return Item("sample_fits", state, text, "files", of)


def _people(facts: Facts) -> Iterator[Item]:
    yield _either(
        "helpers", facts.helpers >= 2,
        _("소유자와 운영자가 두 명 이상입니다."),
        _("소유자와 운영자가 한 명뿐입니다. 자리를 비울 때를 위해 한 명 더 지정해 주십시오."), "roles", _WARN,
    )  # fmt: skip
    if facts.competing:
        text = _("역할을 맡은 사람이 참가 팀에도 있습니다: %(names)s. 비공개 점수를 볼 수 있습니다.")
        yield Item("competing", _WARN, text, "roles", {"names": ", ".join(facts.competing)})


def _site(facts: Facts) -> Iterator[Item]:
    yield _either(
        "site_url", not facts.is_local_site,
        _("사이트 주소(SITE_URL)는 %(url)s입니다."),
        _("사이트 주소(SITE_URL)가 %(url)s입니다. 이메일의 링크가 다른 컴퓨터에서 열리지 않습니다."),
        "site", _WARN, url=facts.site_url,
    )  # fmt: skip
    yield _either(
        "email", facts.sends_email,
        _("이메일을 보낼 서버가 설정되어 있습니다."),
        _("이메일을 보낼 서버(EMAIL_URL)가 설정되지 않아 이메일이 나가지 않습니다."), "site", _WARN,
    )  # fmt: skip
    text = _(
        "백업은 이 화면에서 알 수 없습니다. 데이터베이스와 파일을 날마다 백업하는지 운영 담당자에게 확인해 주십시오."
    )
    yield Item("backups", State.NOTE, text, "site")
