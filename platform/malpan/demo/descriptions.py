"""What the pages of the demo competitions say, in Korean and English."""

from __future__ import annotations

from typing import Final

DEMO_KO: Final = """\
## 이 대회는

말판을 처음 켠 사람이 바로 써 볼 수 있게 넣어 둔 **데모 대회**입니다. 문항과 정답, 팀과 답안을 모두 말판이 직접 \
만들었습니다. 사람도 팀도 실제가 아니지만, 파일 검사와 제출 한도, 채점 대기열과 순위표는 진짜 대회와 똑같이 \
움직입니다. 가입하고 팀을 만들어 직접 제출해 보세요.

## 트랙

| 트랙 | 묻는 것 | 답하는 법 |
|---|---|---|
| 한국어 어문 규범 질의응답 | 맞춤법, 띄어쓰기, 표준어 | 옳은 문장을 고르거나 고치고 이유를 설명합니다. |
| 한국 문화 질의응답 | 기록, 예술, 의식주, 세시 풍속 | 선다형, 단답형, 서술형으로 답합니다. |

## 채점

**어문 규범**: 답과 이유를 `가 옳다`(`이 옳다`)에서 나눕니다. 답은 정답과 글자까지 같아야 맞고(EM), 이유는 정답의 \
이유와 얼마나 가까운지 BLEURT, BERTScore, ROUGE-1로 잽니다.

- 서술 평균 = (BLEURT + BERTScore + ROUGE-1) ÷ 3
- 최종 점수 = (EM + 서술 평균) ÷ 2

이유는 정답과 제출에 모두 있는 문항에서만 잽니다. 그래서 이유를 몇 문항에 썼는지(응답 범위)를 함께 보여 줍니다.

**한국 문화**: 선다형은 정확도, 단답형은 EM, 서술형은 세 지표의 평균으로 재고, 세 유형을 똑같은 무게로 평균 냅니다.

모든 점수는 100점 만점으로 보이며, 동점이면 EM(한국 문화는 정확도, EM 차례)이 높은 팀, 그래도 같으면 먼저 제출한 \
팀이 앞섭니다.

## 규칙

- 트랙마다 하루에 5번까지 제출할 수 있습니다. 하루는 한국 시각 0시에 바뀝니다.
- 형식이 잘못된 파일은 어디가 잘못됐는지 알려 주고 횟수를 깎지 않습니다.
- 한 팀은 다섯 명까지입니다.
- 기준 모델은 순위표에 보이지만 순위는 매기지 않습니다.
"""

DEMO_EN: Final = """\
## What this is

A **demo competition**, so that whoever starts Malpan can try it at once. Questions, answers, teams and submissions \
were all made for it. Neither people nor teams are real, but validation, quotas, the scoring queue and the board work \
exactly as in a real contest. Sign up, make a team and submit.

## Tracks

| Track | Asks about | You answer with |
|---|---|---|
| Korean language norms | spelling, spacing, standard words | the right sentence, and the reason |
| Korean culture | records, arts, daily life, seasonal customs | a choice, a term or a description |

## Scoring

**Language norms**: an answer is split from its reason at `가 옳다` (`이 옳다`). The answer must equal the reference \
(EM); the reason is compared with the reference's by BLEURT, BERTScore and ROUGE-1.

- Descriptive mean = (BLEURT + BERTScore + ROUGE-1) / 3
- Final score = (EM + descriptive mean) / 2

Reasons are measured only where both reference and submission give one, so the share of reasons answered (coverage) is \
always shown beside the score.

**Culture**: accuracy of choices, EM of short answers, the mean of the three metrics for descriptions; the three types \
weigh the same.

Scores are shown out of 100. Ties go to the higher EM (culture: accuracy, then EM), then to the earlier submission.

## Rules

- Five submissions a day in each track. A day begins at 00:00 Korean time.
- A file that breaks the format is returned with the place of every error, and costs nothing.
- A team has at most five people.
- Baselines are listed on the board but not ranked.
"""

PAST_KO: Final = """\
## 끝난 대회

본 대회에 앞서 한국 문화 문항 열다섯 개로 치른 **데모 예선**입니다. 제출은 마감되었고 순위표는 계속 볼 수 있습니다.

선다형 정확도, 단답형 EM, 서술형 평균을 똑같은 무게로 평균 내어 순위를 매겼습니다.
"""

PAST_EN: Final = """\
## A competition that is over

The **demo's warm-up** before the main round: fifteen questions on Korean culture. Submission has closed; the board \
stays.

Teams were ranked by the mean of choice accuracy, short-answer EM and the descriptive mean, weighing the same.
"""

CAPTIONS_KO: Final = """\
## 이 대회는

장면을 한국어 문장으로 설명하는 **데모 대회**입니다. 장면 예순네 개와 정답, 팀과 답안을 모두 말판이 직접 \
만들었습니다. 그림과 영상은 없습니다. 그 대신 장면마다 **장면 설명 카드**(장소, 때, 날씨, 나오는 것, 일어나는 일)를 \
내려받아, 카드를 보고 문장을 써서 제출합니다.

## 채점

순위는 **METEOR**로 매깁니다. 설명과 정답을 Okt로 형태소로 나누어 같은 형태소를 짝짓고, 정답을 얼마나 \
담았는지(재현율)를 정밀도보다 아홉 배 무겁게 보며, 짝이 여기저기 흩어져 있으면 최대 절반을 깎습니다. 장면마다 정답은 \
하나에서 셋이고, 가장 가까운 정답과 견준 값을 씁니다. 점수는 0에서 1 사이입니다.

- 동점이면 CIDEr-D, 그다음 BERTScore가 높은 팀, 그래도 같으면 먼저 제출한 팀이 앞섭니다.
- BLEU, ROUGE, chrF와 다양성 지표는 참고로 함께 보여 줍니다.
- 빠뜨린 장면은 0점으로 계산합니다. 순위표의 '다섯 가운데 넷' 팀이 그렇습니다.

## METEOR 하나만 보면 안 되는 까닭

순위표의 **'단어만 서른 개'** 팀은 모든 장면에 똑같은 단어 서른 개를 늘어놓았습니다. 운영진이 실험으로 넣은 제출이며, \
정답에 가장 자주 나오는 형태소 서른 개를 자주 이웃하는 것끼리 이어 붙인 것입니다. 문장도 아닌데 METEOR는 0.33쯤으로, \
설명의 절반이 옳은 '번호부터 맞추자' 팀보다 높습니다. 그러나 **CIDEr-D**는 0에 가깝습니다. 어느 장면에나 나오는 말은 \
무게가 없고, 길이가 정답과 다르면 깎이기 때문입니다. **고유 설명 비율**도 64분의 1입니다. 순위표를 읽을 때는 세 값을 \
함께 보십시오.

## 제출

`{id: 설명}` 객체, `image_id`나 `video_id`가 있는 배열, JSONL, TSV를 받습니다. 형식은 올리면 알아봅니다. 자세한 것은 \
'제출 형식 안내'에 있습니다.

## 규칙

- 하루에 5번까지 제출할 수 있습니다. 하루는 한국 시각 0시에 바뀝니다.
- 없는 id나 겹친 id가 있는 파일은 어디가 잘못됐는지 알려 주고 횟수를 깎지 않습니다.
- 한 팀은 다섯 명까지입니다.
- 기준 모델은 순위표에 보이지만 순위는 매기지 않습니다.
"""

CAPTIONS_EN: Final = """\
## What this is

A **demo competition** of describing scenes in Korean. Sixty-four scenes, references, teams and submissions were all \
made for Malpan. There are no pictures or films: each scene has a **card** to download (place, time, weather, what is \
there, what happens), and a sentence is written from the card.

## Scoring

**METEOR** ranks. Caption and reference are split into morphs by Okt and equal morphs matched; recall weighs nine \
times as much as precision, and up to half is taken off where the matches lie scattered. A scene has one to three \
references, of which the closest counts. Scores lie between 0 and 1.

- Ties go to the higher CIDEr-D, then BERTScore, then to the earlier submission.
- BLEU, ROUGE, chrF and measures of diversity are shown beside it.
- A scene left out counts as 0, as with the team '다섯 가운데 넷' ("four of five").

## Why METEOR alone is not enough

The team **'단어만 서른 개'** ("just thirty words") says the same thirty words of every scene: an experiment by the \
organisers, made of the thirty commonest morphs of the references, strung together so that frequent neighbours stand \
side by side. It is not even a sentence, and METEOR gives it about 0.33, more than '번호부터 맞추자', half of whose \
captions are right. Its **CIDEr-D** is close to 0: what stands under every scene weighs nothing there, and a wrong \
length costs. Its **share of unique captions** is 1 in 64. Read the three together.

## Submitting

An object `{id: caption}`, an array with `image_id` or `video_id`, JSON lines and TSV are taken; the format is \
recognised. See the notes on the format.

## Rules

- Five submissions a day. A day begins at 00:00 Korean time.
- A file with unknown or repeated ids is returned with the place of every error, and costs nothing.
- A team has at most five people.
- Baselines are listed on the board but not ranked.
"""
