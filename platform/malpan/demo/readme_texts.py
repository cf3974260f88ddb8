"""The format notes of the demo's tracks, as participants download them."""

from __future__ import annotations

from typing import Final

from malpan.demo.habits import CAPTIONS, CULTURE_QA, RAG_QA

_RAG_QA: Final = """\
# 한국어 어문 규범 질의응답: 제출 형식

`rag_qa_questions.json`의 모든 문항에 하나씩 답하여 JSON 배열(`.json`)이나 한 줄에 한 문항(`.jsonl`)으로 올립니다.

```json
[
  {
    "id": "RQ-001",
    "output": {"answer": "\\"고른 문장.\\"이 옳다. 그렇게 판단한 이유를 쓴다."}
  }
]
```

- `id`: 문항 파일의 `id` 그대로. 빠지거나 겹치면 반려됩니다.
- `output.answer`: 먼저 옳은 문장을 따옴표로 묶고 `가 옳다`나 `이 옳다`를 붙인 뒤, 이어서 이유를 씁니다.
  문항이 "이유 없이 … 문장만 쓰세요."라고 하면 따옴표도 `옳다`도 없이 문장만 씁니다.
- `input`은 그대로 두어도 되고 지워도 됩니다.
- 인코딩은 UTF-8입니다. 풀어쓴 한글(NFD)은 받으면서 NFC로 바꾸고, 바뀐 문항 수를 알려 줍니다.

올리기 전에 자기 컴퓨터에서 검사할 수 있습니다.

```
python -m scoring check --recipe rag-qa@1 --predictions 내파일.json
```

---

# Questions on Korean language norms: submission format

Answer every question of `rag_qa_questions.json` once, as a JSON array (`.json`) or one item a line (`.jsonl`), like the
example above.

- `id`: as in the questions file. A missing or repeated id is rejected.
- `output.answer`: first the right sentence in quotation marks with `가 옳다` or `이 옳다`, then the reason. Where the
  question asks for the sentence alone (이유 없이 … 문장만 쓰세요), write just the sentence, without `옳다`.
- `input` may stay or go.
- UTF-8. Decomposed Hangul (NFD) is turned into NFC on arrival, and you are told how many items changed.
"""

_CULTURE_QA: Final = """\
# 한국 문화 질의응답: 제출 형식

`culture_qa_questions.json`의 모든 문항에 하나씩 답하여 JSON 배열(`.json`)이나 한 줄에 한 문항(`.jsonl`)으로 올립니다.

```json
[
  {"id": "CQ-001", "output": {"answer": "3"}},
  {"id": "CQ-012", "output": {"answer": "답이 되는 말"}},
  {"id": "CQ-023", "output": {"answer": "설명하는 문장을 한두 개 쓴다."}}
]
```

- 선다형: 보기의 번호만 씁니다. 앞뒤에 공백이나 마침표가 있으면 오답입니다.
- 단답형: 답이 되는 말만 씁니다.
- 서술형: 한두 문장으로 설명합니다.
- `id`는 문항 파일 그대로이며, 빠지거나 겹치면 반려됩니다. `input`은 그대로 두어도 되고 지워도 됩니다.
- 인코딩은 UTF-8입니다. 풀어쓴 한글(NFD)은 받으면서 NFC로 바꾸고, 바뀐 문항 수를 알려 줍니다.

올리기 전에 자기 컴퓨터에서 검사할 수 있습니다.

```
python -m scoring check --recipe culture-qa@1 --predictions 내파일.json
```

---

# Questions on Korean culture: submission format

Answer every question of `culture_qa_questions.json` once, as a JSON array (`.json`) or one item a line (`.jsonl`), like
the example above.

- 선다형 (multiple choice): the number alone; white space or a full stop makes it wrong.
- 단답형 (short answer): the term alone.
- 서술형 (description): one or two sentences.
- `id` as in the questions file; a missing or repeated one is rejected. `input` may stay or go.
- UTF-8. Decomposed Hangul (NFD) is turned into NFC on arrival, and you are told how many items changed.
"""

_CAPTIONS: Final = """\
# 장면 설명: 제출 형식

`scene_captions_cards.json`에는 장면마다 카드가 한 장 있습니다. 그림이나 영상은 없습니다. 카드에 적힌 사실만 보고 그 \
장면을 설명하는 한국어 문장을 하나씩 쓰십시오.

- `place` 장소, `time` 때, `weather` 날씨, `subjects` 나오는 것, `action` 일어나는 일
- 문장은 `…하고 있다.`나 `…한다.`로 끝나는 평서문을 권합니다. 길이는 자유이고, 정답은 여섯 어절에서 열네 어절입니다.

## 받는 형식

어느 형식인지 따로 고르지 않아도 됩니다. 올리면 알아보고, 알아본 형식을 보여 줍니다.

```json
{"scene-001": "하늘에 구름이 떠가고 있다.", "scene-002": "…"}
```

```json
[{"image_id": "scene-001.jpg", "caption": "하늘에 구름이 떠가고 있다."}]
```

- 배열에서는 `image_id` 대신 `video_id`나 `id`를 써도 됩니다. `captions`, `result`, `results`로 감싼 배열도 받습니다.
- JSONL: 한 줄에 `{"video_id": "scene-001.mp4", "caption": "…"}` 하나
- TSV: 한 줄에 id, 탭, 설명 차례
- id 끝의 `.mp4`, `.json`, `.jpg`는 떼고 봅니다.
- 빠뜨린 장면은 0점입니다. 장면 파일에 없는 id나 두 번 나온 id가 있으면 반려됩니다.
- 인코딩은 UTF-8입니다. 풀어쓴 한글(NFD)은 받으면서 NFC로 바꾸고, 바뀐 장면 수를 알려 줍니다.

올리기 전에 자기 컴퓨터에서 검사할 수 있습니다.

```
python -m scoring check --recipe captioning@1 --predictions 내파일.json
```

---

# Captions of scenes: submission format

`scene_captions_cards.json` holds one card for each scene; there are no pictures or films. Write one Korean sentence \
for each scene from the facts on its card: `place`, `time`, `weather`, `subjects` (what is there), `action` (what \
happens). Plain statements in `…하고 있다.` or `…한다.` fit best. Length is free; references have six to fourteen \
words.

## Formats taken

You need not say which one it is: the file is recognised, and you are shown as what.

- an object `{id: caption}`, or an array like the second example above, with `image_id`, `video_id` or `id`, also \
when wrapped in `captions`, `result` or `results`
- JSON lines: one `{"video_id": "scene-001.mp4", "caption": "…"}` a line
- TSV: id, tab, caption on each line
- `.mp4`, `.json` and `.jpg` at the end of an id are dropped.
- A scene left out scores 0. An unknown or repeated id is rejected.
- UTF-8. Decomposed Hangul (NFD) is turned into NFC on arrival, and you are told how many scenes changed.
"""

READMES: Final = {RAG_QA: _RAG_QA, CULTURE_QA: _CULTURE_QA, CAPTIONS: _CAPTIONS}
