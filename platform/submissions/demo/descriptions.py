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
