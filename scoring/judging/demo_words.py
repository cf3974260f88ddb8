"""The texts of ``python -m scoring.judging.demo --help``, in Korean and English."""

from __future__ import annotations

from typing import Final

from scoring.errors import Message

WORDS: Final[dict[str, Message]] = {
    "program": Message(
        "데모 심사 모델: OpenAI 규약으로 말하는 작은 HTTP 서버입니다. 판정은 글의 특징만으로 정해져 같은 물음에는 늘 "
        "같은 답을 하며, 시연과 시험에만 씁니다. 처음에 적는 주소를 프로필의 base_url이나 MALPAN_DEMO_JUDGE_URL에 "
        "넣으십시오. GET /stats는 물음마다 받은 횟수와 답한 횟수를 알려 줍니다.",
        "The demo judge: a small HTTP server that speaks the OpenAI protocol. Its judgements follow from features of "
        "the texts alone, so that equal questions have equal answers; it is for shows and tests. Put the address that "
        "it prints into base_url of a profile or into MALPAN_DEMO_JUDGE_URL. GET /stats tells how often each question "
        "was asked and answered.",
    ),
    "lang": Message("도움말의 언어", "language of the help"),
    "host": Message("들을 주소(기본값 127.0.0.1)", "address to listen on (default: 127.0.0.1)"),
    "port": Message("들을 포트. 0이면 비어 있는 아무 포트(기본값)", "port to listen on; 0: any free one (default)"),
    "descriptor": Message("이어받을 열린 소켓의 번호", "number of a listening socket to take over"),
    "faults": Message(
        "일부러 낼 고장을 쉼표로 나누어 적습니다: {faults}. all이면 모두",
        "faults to make, separated by commas: {faults}; or all",
    ),
    "rate": Message("고장 나는 요청의 비율, 0~1(기본값 1)", "share of requests that fail, 0-1 (default: 1)"),
    "most": Message("한 물음에 낼 고장의 최대 횟수(기본값 2)", "most faults of one question (default: 2)"),
    "seed": Message("어느 요청이 고장 날지 정하는 수", "number that decides which requests fail"),
    "delay": Message("모든 답에 앞서 쉬는 시간(초)", "pause before every answer, in seconds"),
    "hang": Message("고장 hang과 slow가 이어지는 시간(초)", "how long the faults hang and slow last, in seconds"),
    "retry_after": Message("고장 busy의 Retry-After(초)", "Retry-After of the fault busy, in seconds"),
    "biased": Message("짝 비교에서 늘 먼저 놓인 글을 고릅니다", "in pairs, prefer whatever stands first"),
    "gullible": Message("점수를 달라는 글의 지시를 따릅니다", "obey texts that demand a score"),
}
