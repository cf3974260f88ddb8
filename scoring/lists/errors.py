"""What is wrong with the arguments of ``scoring.score``; each error is a ``ValueError`` or a ``TypeError`` too."""

from __future__ import annotations

from scoring.errors import Message, ScoringError, WordedError


class WrongArgument(WordedError, ScoringError, ValueError):
    """Base of the errors that the caller mends by giving something else."""


class BareText(WrongArgument, TypeError):
    """A text was given where a list of texts belongs: its characters would have been scored."""

    code = "bare_text"
    words = Message(
        "{name}에는 글의 목록이 필요한데 글 하나가 왔습니다. 글이 하나뿐이면 [글]처럼 목록에 넣거나 "
        "scoring.metric(…).sentence_score를 쓰십시오.",
        "{name} is one text; it must be a list of texts. Put a single text into a list, or use "
        "scoring.metric(…).sentence_score.",
    )


class BareMetric(BareText):
    """One name was given where the list of metrics belongs. ``given``: it."""

    code = "bare_metric"
    words = Message(
        "metrics에는 지표 이름의 목록이 필요합니다. metrics=['{given}']처럼 목록에 넣어 주십시오.",
        "metrics is one text; it must be a list of names. Put it into a list: metrics=['{given}'].",
    )


class NoMetricsNamed(WrongArgument):
    """The list of metrics is empty."""

    code = "no_metrics_named"
    words = Message(
        "metrics가 비어 있습니다. metrics=['chrf']처럼 하나 이상 적어 주십시오. scoring.metric_names()가 이름을 "
        "모두 알려 줍니다.",
        "metrics is empty. Name one at least, as in metrics=['chrf']; scoring.metric_names() has the names.",
    )


class NoTextList(WrongArgument, TypeError):
    """Neither a list nor anything like one: a mapping, a set, a generator, ``None``."""

    code = "no_text_list"
    words = Message(
        "{name}에는 글의 목록이 필요한데 {kind}이(가) 왔습니다. 순서가 있는 list나 tuple로 바꾸어 주십시오.",
        "{name} is a {kind}; it must be a list of texts. Turn it into a list or tuple, whose order is known.",
    )


class NoText(WrongArgument, TypeError):
    """An element is no text: ``None``, a number, NaN of a table with gaps."""

    code = "no_text"
    words = Message(
        "{name}[{place}]은(는) 글이 아니라 {kind}입니다. 빠진 답은 빈 문자열 ''로 주십시오.",
        "{name}[{place}] is a {kind}, not a text. Give an empty string '' for an answer that is missing.",
    )


class ReferenceIsNone(NoText):
    """A reference is no text: leaving an empty one would be no way out."""

    code = "reference_is_none"
    words = Message(
        "{name}[{place}]은(는) 글이 아니라 {kind}입니다. 정답이 없는 문항은 채점할 수 없으므로 두 목록에서 함께 빼 "
        "주십시오.",
        "{name}[{place}] is a {kind}, not a text. An item without a reference cannot be scored: leave it out of both "
        "lists.",
    )


class Swapped(WrongArgument):
    """The predictions are lists of texts and the references texts: the two are in each other's place."""

    code = "swapped"
    words = Message(
        "predictions[{place}]이(가) 글의 목록입니다. 답은 하나씩이고 정답만 여럿일 수 있으므로 두 인자가 바뀐 것으로 "
        "보입니다. score(predictions, references) 순서로 주십시오.",
        "predictions[{place}] is a list of texts. A prediction is one text, only references may be several: the two "
        "arguments seem swapped. Call score(predictions, references).",
    )


class UnequalLengths(WrongArgument):
    """Not as many references as predictions."""

    code = "unequal_lengths"
    words = Message(
        "predictions는 {predictions}개인데 references는 {references}개입니다. 같은 자리에 같은 문항이 오도록 두 목록의 "
        "길이를 맞추어 주십시오.",
        "There are {predictions} predictions and {references} references. Give one of each for every item, in the same "
        "order.",
    )


class Transposed(WrongArgument):
    """The references are laid out as sacrebleu takes them: a list for each set of references."""

    code = "transposed"
    words = Message(
        "references가 정답 묶음 {sets}개로 되어 있습니다(sacrebleu 방식). 여기서는 문항마다 그 정답의 목록을 받습니다: "
        "list(zip(*references))로 바꾸어 주십시오.",
        "references are {sets} sets of references, as sacrebleu takes them. Here each item has the list of its own: "
        "give list(zip(*references)).",
    )


class NothingToScore(WrongArgument):
    """Both lists are empty."""

    code = "nothing_to_score"
    words = Message("채점할 글이 하나도 없습니다.", "There is nothing to score: both lists are empty.")


class NoReference(WrongArgument):
    """An item without a reference, or with a blank one, which nothing can match."""

    code = "no_reference"
    words = Message(
        "references[{place}]에 정답이 없거나 비어 있습니다. 정답이 없는 문항은 두 목록에서 빼십시오.",
        "references[{place}] has no reference, or a blank one. Take items without a reference out of both lists.",
    )


class WrongIds(WrongArgument):
    """``ids`` are not as many as the items, or not distinct."""

    code = "wrong_ids"
    words = Message(
        "ids는 문항마다 하나씩, 서로 다른 글이어야 합니다(문항 {items}개).",
        "ids must be distinct texts, one for each of the {items} items.",
    )


class UnknownMetric(WrongArgument):
    """No metric has this name."""

    code = "unknown_metric"
    words = Message(
        "'{name}'이라는 지표가 없습니다. 쓸 수 있는 지표: {known}",
        "There is no metric '{name}'. Choose among: {known}",
    )


class NotForLists(WrongArgument):
    """The metric scores files of a recipe, not texts alone."""

    code = "not_for_lists"
    words = Message(
        "'{name}'은(는) 글의 목록으로 채점할 수 없습니다({why_ko}). 파일을 채점하십시오: malpan-score score --recipe …",
        "'{name}' cannot score lists of texts ({why_en}). Score files: malpan-score score --recipe …",
    )


class NoModelsNamed(WrongArgument):
    """A neural metric without ``models``: there is no default, least of all the demo models."""

    code = "no_models_named"
    words = Message(
        "{metrics}: 모델이 필요합니다. models='official'처럼 모델 프로필을 지정하고({profiles}, 또는 TOML 경로), 그 "
        "모델을 먼저 받으십시오: malpan-score models fetch official. demo는 시험용이며 그 값에는 의미가 없습니다.",
        "{metrics}: needs models. Name a profile, such as models='official' ({profiles}, or the path of a TOML); fetch "
        "its models first: malpan-score models fetch official. Values of 'demo' mean nothing.",
    )


class NeedsMedia(WrongArgument):
    """A metric that looks at frames, without them."""

    code = "needs_media"
    words = Message(
        "'{name}'에는 그림이 필요합니다. media에 프레임의 폴더나 zip을, ids에 그 이름을 지정하십시오.",
        "'{name}' looks at pictures: name their folder or zip with media=, and the items' names there with ids=.",
    )


class UnknownTokenizer(WrongArgument):
    """No tokenizer has this name."""

    code = "unknown_tokenizer"
    words = Message(
        "'{name}'이라는 형태소 분석기가 없습니다. {known} 가운데 하나나 함수를 주십시오.",
        "There is no tokenizer '{name}'. Choose among {known}, or give a function from a text to its tokens.",
    )


class TokenizerUnfit(WrongArgument):
    """The metric reads more of a text than tokens, so another tokenizer cannot take the place of its own."""

    code = "tokenizer_unfit"
    words = Message(
        "'{metric}'은(는) 품사와 원형이 있는 {reads}만 읽으므로 tokenize를 바꿀 수 없습니다. 이 지표를 따로 "
        "채점하십시오.",
        "'{metric}' reads parts of speech and lemmas of {reads}: tokenize= cannot be changed for it. Score it in a "
        "call of its own.",
    )


class NoSentenceScore(WrongArgument):
    """The value of one item alone means nothing."""

    code = "no_sentence_score"
    words = Message(
        "'{name}'은(는) 문항 전체로만 계산되며 한 문항의 값은 뜻이 없습니다. corpus_score를 쓰십시오.",
        "'{name}' is computed over a corpus: its value for one item alone means nothing. Use corpus_score.",
    )


class SeveralScores(WrongArgument, AttributeError):
    """``.score`` of a result with several scores."""

    code = "several_scores"
    words = Message(
        "점수가 여럿입니다: {names}. .scores[이름]으로 고르십시오.",
        "There are several scores: {names}. Choose one with .scores[name].",
    )


class NoPandas(WordedError, ScoringError, ImportError):
    """pandas is not installed."""

    code = "no_pandas"
    words = Message(
        "표로 보려면 pandas가 필요합니다: pip install pandas",
        "A frame needs pandas: pip install pandas",
    )
