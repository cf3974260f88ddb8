"""spice_ko: F1 of the objects, attributes and relations that two captions name. Experimental, and not SPICE.

SPICE (Anderson et al. 2016) compares scene graphs made by a dependency parser, with WordNet synonyms; neither exists
for Korean here. This keeps its last step only, the F1 of two *sets of tuples*, and gets the tuples from Okt's tags by a
few rules that need no parser, because Korean particles mark who does what:

* object ``(noun,)``;
* attribute ``(modifier, noun)``: an adjective or verb in its adnominal form (빨간 우산), a number or determiner, a noun
  directly before the noun or with 의;
* relation ``(noun, role, verb)``: each noun with a particle, to the next verb or adjective. Role is the class of the
  particle: 이/가/은/는 are one, 을/를 another; a noun without particle has the role ``""``. Verbs and adjectives count
  by their dictionary form.

A verb in adnominal form takes the nearest noun of each role but the subject, which waits for the main verb
(아이가 우산을 든 개를 본다). The verb of a following clause inherits the subject if it has none of its own. 산책을 하다
is 산책하다, and so is 산책하고 있다, where Okt sees a particle. An auxiliary (-고 있다, -지 않다) belongs to the verb
before it; -게 forms and adverbs are skipped.

What it sees: who does what to whom in any word order; which colour belongs to which thing; what is missing, what is
invented. What it cannot see: **negation** (먹지 않는다 equals 먹는다), synonyms (소년 and 아이 are two things),
coreference, tense, which role a topic particle marks (은/는 is taken for the subject), 'A is B' (the copula), the
subject of a relative clause (키가 큰 아이), a verb without any noun, and whatever Okt tags wrongly (it reads 한옥 as 한
+ 옥, on both sides alike). It does not measure fluency: a list of words may score high.

Several references: the engine takes an item's best value. 0 if no tuple is shared, so also for texts without nouns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Final

from scoring.errors import Message
from scoring.metrics.base import LexicalMetric
from scoring.text.okt import Tagged

SceneTuple = tuple[str, ...]  # (noun,), (modifier, noun) or (noun, role, verb)

SUBJECT: Final = "이"
OBJECT: Final = "을"
GENITIVE: Final = "의"
ROLES: Final[dict[str, str]] = {
    **dict.fromkeys(("이", "가", "께서", "은", "는"), SUBJECT),
    **dict.fromkeys(("을", "를"), OBJECT),
    **dict.fromkeys(("에게", "한테", "께"), "에게"),
    **dict.fromkeys(("로", "으로"), "로"),
    **dict.fromkeys(("와", "과", "랑", "이랑", "하고"), "와"),
    **{particle: particle for particle in ("에", "에서", "의", "까지", "부터", "보다", "처럼")},
}
TOPICS: Final = ("는", "은", "도", "만")  # after another particle (에서는) they do not change its role
COPULA: Final = ("이다", "이고", "이며", "인", "입니다", "이었", "였", "예요", "이에요")

NOUNS: Final = frozenset({"Noun", "Alpha"})
MODIFIERS: Final = frozenset({"Determiner", "Modifier", "Number"})
PREDICATES: Final = frozenset({"Verb", "Adjective"})
SENTENCE_ENDS: Final = frozenset(".!?。！？…")

AUXILIARIES: Final = frozenset(
    {"있다", "않다", "못하다", "보다", "버리다", "주다", "놓다", "두다", "내다", "지다", "하다", "되다", "싶다", "말다"}
)
LIGHT_VERBS: Final = frozenset({"하다", "되다"})
SCENES: Final = frozenset(
    {"모습", "장면", "사진", "것", "중", "상황"}
)  # '... 하는 모습이다': the clause is whole before it

_FIRST_SYLLABLE: Final = ord("가")
_FINALS: Final = 28  # final consonants of a syllable, none included
_ADNOMINAL_FINALS: Final = frozenset({4, 8})  # ㄴ, ㄹ


def tuple_f1(reference: AbstractSet[SceneTuple], candidate: AbstractSet[SceneTuple]) -> float:
    """F1 of two sets, 0-1; 0.0 where they share nothing, also if both are empty."""
    shared = len(reference & candidate)
    return 2 * shared / (len(reference) + len(candidate)) if shared else 0.0


def tuples_of(tagged: Iterable[Tagged]) -> frozenset[SceneTuple]:
    """The tuples of a text given as (surface, part of speech, lemma) of its morphs, in order. Takes linear time."""
    reader = _Reader()
    for surface, tag, lemma in tagged:
        reader.read(surface, tag, lemma)
    reader.end_sentence()
    return frozenset(reader.tuples)


def role_of(particle: str) -> str | None:
    """The role that a particle gives its noun; a particle not in ``ROLES`` is its own. ``None`` for the copula."""
    if particle.startswith(COPULA):
        return None
    if particle not in ROLES and len(particle) > 1 and particle.endswith(TOPICS):
        particle = particle[:-1]
    return ROLES.get(particle, particle)


def is_adnominal(surface: str) -> bool:
    """Whether a verb or adjective in this form can precede its noun: 쓴, 쓰는, 쓸, but not 쓰면 or 쓰지만."""
    if surface.endswith(("면", "만", "거든")):
        return False
    syllable = ord(surface[-1]) - _FIRST_SYLLABLE
    return 0 <= syllable <= ord("힣") - _FIRST_SYLLABLE and syllable % _FINALS in _ADNOMINAL_FINALS


@dataclass(slots=True)
class _Reader:
    """Reads morphs from left to right and collects tuples; its fields hold what still waits for its noun or verb."""

    tuples: set[SceneTuple] = field(default_factory=set)
    nouns: list[str] = field(default_factory=list)  # a run of nouns that has no particle yet
    modifiers: list[str] = field(default_factory=list)  # waiting for their noun
    arguments: dict[str, list[str]] = field(default_factory=dict)  # role -> nouns waiting for their verb, nearest last
    subject: str | None = None  # of the clause before
    verb: str | None = None  # open: an auxiliary may follow, and what follows decides what it is
    form: str = ""  # of the open verb or its last auxiliary
    particle: str = ""  # of the noun directly before, for 산책을 하다 and 산책하고 있다

    def read(self, surface: str, tag: str, lemma: str) -> None:
        before, self.particle = self.particle, ""
        if tag in NOUNS:
            self.close_verb(before_noun=surface)
            self.nouns.append(surface)
        elif self.is_article(surface, tag, before):
            self.close_verb(before_noun=surface)
            self.end_nouns("")
        elif tag in MODIFIERS:
            self.close_verb(before_noun=surface)
            self.end_nouns("")
            self.modifiers.append(surface)
        elif tag == "Josa":
            if self.nouns:
                self.particle = surface
            self.end_nouns(role_of(surface))
        elif tag in PREDICATES and not (tag == "Adjective" and surface.endswith("게")):
            self.read_predicate(surface, lemma, before)
        elif surface[:1] in SENTENCE_ENDS:
            self.end_sentence()

    def is_article(self, surface: str, tag: str, before: str) -> bool:
        """Whether this is the 한 of 한 남자, which only means 'a'. Okt often tags it as 하다."""
        if surface != "한" or tag not in MODIFIERS | {"Verb"}:
            return False
        is_light_verb = bool(self.nouns) or role_of(before) == OBJECT
        return tag in MODIFIERS or not is_light_verb

    def read_predicate(self, surface: str, lemma: str, before: str) -> None:
        if self.verb is not None and lemma in AUXILIARIES:
            self.form = surface
            return
        self.close_verb()
        if lemma in LIGHT_VERBS and self.nouns:
            lemma = self.nouns[-1] + lemma
            self.end_nouns(None)
        elif lemma in LIGHT_VERBS and role_of(before) == OBJECT:
            lemma = self.take(OBJECT) + lemma
        elif lemma == "있다" and before == "하고":  # which Okt tags as a particle
            lemma = self.take(ROLES["하고"]) + "하다"
        self.end_nouns("")
        self.verb, self.form = lemma, surface

    def end_nouns(self, role: str | None) -> None:
        """The run of nouns is complete: its last one is the thing, the others and the modifiers describe it."""
        if not self.nouns:
            return
        head = self.nouns[-1]
        self.tuples.update((noun,) for noun in self.nouns)
        self.tuples.update((modifier, head) for modifier in (*self.modifiers, *self.nouns[:-1]) if modifier != head)
        self.nouns, self.modifiers = [], [head] if role == GENITIVE else []
        if role is not None and role != GENITIVE:
            self.arguments.setdefault(role, []).append(head)

    def close_verb(self, before_noun: str | None = None) -> None:
        """The open verb, if any, is complete; ``before_noun`` is the noun that follows directly."""
        if self.verb is None:
            return
        verb, self.verb = self.verb, None
        if before_noun is not None and before_noun not in SCENES and is_adnominal(self.form):
            for role in [role for role in self.arguments if role != SUBJECT]:
                self.tuples.add((self.take(role), role, verb))
            self.modifiers.append(verb)
            return
        subjects = self.arguments.pop(SUBJECT, None)
        self.subject = subjects[-1] if subjects else self.subject
        for subject in subjects or ([] if self.subject is None else [self.subject]):
            self.tuples.add((subject, SUBJECT, verb))
        self.tuples.update((noun, role, verb) for role, nouns in self.arguments.items() for noun in nouns)
        self.arguments = {}

    def take(self, role: str) -> str:
        """Remove and return the nearest noun waiting for its verb in ``role``."""
        nouns = self.arguments[role]
        noun = nouns.pop()
        if not nouns:
            del self.arguments[role]
        return noun

    def end_sentence(self) -> None:
        self.end_nouns("")
        self.close_verb()
        self.modifiers, self.arguments, self.subject = [], {}, None


class SpiceKo(LexicalMetric):
    """Tuple F1 of each pair on Okt's tags (0-1). Experimental: use it with other metrics, never alone."""

    name = "spice_ko"
    label = Message("spice_ko(실험)", "spice_ko (experimental)")
    rule = "spice-ko@1"
    group = "meaning"
    reads = "okt-tagged"

    def parameters(self) -> dict[str, Any]:
        return {"is_experimental": True}

    def value(self, reference: Sequence[Tagged], candidate: Sequence[Tagged]) -> float:
        return tuple_f1(tuples_of(reference), tuples_of(candidate))
