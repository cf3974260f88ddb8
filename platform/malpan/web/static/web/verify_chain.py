#!/usr/bin/env python3
"""해시 사슬 확인 / Verifies the hash chain of a competition. Python 3.8 or newer, nothing to install.

    python verify_chain.py chain.json [--board board.json …] [--receipt receipt.json] [--stages stages.json]
                           [--arena votes.json result.json …] [--kept earlier.json] [--newest SHA256]

chain.json    대회의 ‘기록 확인’ 페이지에서 내려받습니다. / from the competition's page "Records".
board.json    공개 API의 순위표 / the board as the public API gives it:
              /api/v1/competitions/<대회>/tracks/<트랙>/board/
              한 쪽에 100줄입니다. "next"의 주소로 다음 쪽을 내려받아 모두 적습니다.
              A page has 100 rows: download the next from the address in "next" and name them all.
              예전에 발표한 최종 순위표는 ?snapshot=번호, 다른 단계는 ?phase=이름입니다. 모두 --board에 적습니다.
              An earlier final board is ?snapshot=N, another phase ?phase=NAME: name all of them after --board.
              규칙이나 점수를 바꾸기 전의 공개 순위표는 ?past=번호, 하루가 끝났을 때의 것은 ?day=날짜입니다("rows"가 그
              순위표입니다).
              A public board from before a change of rules or scores is ?past=N, one of the end of a day
              ?day=2026-11-20: its "rows" are those of then.
receipt.json  제출 결과 페이지의 접수증 / the receipt from a submission's page.
stages.json   ‘심사’ 페이지의 JSON입니다. 발표한 모든 판을 점수에서 다시 구하고, --board가 있으면 첫 심사를 견줍니다.
              The JSON of the page "Stages": every publication is recomputed from the scores, and the first stage
              compared with the board of --board.
--arena       사람 평가의 평가 파일과 결과 파일입니다. 내려받은 그대로 적습니다. 사슬에 적힌 해시와 견줍니다.
              The votes and result files of human evaluations, as they were downloaded: compared with the chain.

--kept        예전에 받아 둔 chain.json: 그 기록이 하나도 바뀌거나 빠지지 않았는지 봅니다.
              A chain.json of before: whether none of its entries was changed or taken out since.
--newest      예전에 적어 둔 마지막 해시: 사슬에 아직 있는지 봅니다.
              이 둘이 없으면 통째로 다시 쓴 사슬은 알 수 없습니다.
              The last sha256 of before, as you noted it. Without one of the two a chain that was rewritten as a whole
              looks intact.

끝낼 때의 값 / exit status: 0 이상 없음 / sound, 1 이상 있음 / something is wrong, 2 읽을 수 없음 / unreadable.

Each entry's sha256 is of the JSON text (UTF-8, keys sorted, no spaces) of {"kind", "number", "payload", "previous"}.
A score is bound by score_sha256, the sha256 of the JSON text of {"final_score", "salt", "scores"}: its opening.
A receipt is bound by receipt_sha256, that of {"file_sha256", "received_at", "salt", "team"}.
A stage is bound by stage_sha256, that of {"rows", "rule"}.
A human evaluation (kind "arena") is drawn from a seed: its sha256 is recorded before the opening (event "committed"),
the seed itself at the end ("closed"); a result ("published") is bound by the sha256 of the votes and result files.

종합 순위 / a board that ranks by a composite: 지표마다 줄의 값으로 순위(값이 같으면 평균 순위)를 매기고
(n - 순위) / (n - 1)을 가중 평균해, 적힌 종합 점수와 순위와 차례를 다시 계산합니다.
Each component becomes an average rank among the rows, normalised as (n - rank) / (n - 1) and averaged by weight; the
composites, ranks and order of the rows are computed again. Values are compared to 8 decimals; baselines do not count.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import operator
import sys
from bisect import bisect_left, bisect_right
from datetime import datetime
from itertools import zip_longest
from typing import Any

DECIMALS = 8  # to which scores, values and composites are compared
PUBLISHED = {  # the parts of a board that were recorded whole, and their names
    "final": ("최종 순위표", "final board"),
    "past": ("지난 공개 순위표", "public board of the past"),
}
FINAL, KEPT = None, "public"  # what the entries of boards say of their kind, beside "day"
CLOSE = 1e-12  # of numbers between 0 and 1 that are computed in the same way


def canonical(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode("utf-8")


def sha256(value: Any) -> str:
    return hashlib.sha256(canonical(value)).hexdigest()


class Findings:
    """What was found, in both languages, each line after the file that it is about; the problems are counted."""

    def __init__(self) -> None:
        self.problems = 0
        self.file = ""
        self.part = ("", "")

    def about(self, file: str, part: tuple[str, str] = ("", "")) -> None:
        """What follows is about ``file`` and, in both languages, about ``part`` of it."""
        self.file, self.part = file, part

    def good(self, korean: str, english: str) -> None:
        self._write("[OK]", korean, english)

    def note(self, korean: str, english: str) -> None:
        self._write("[--]", korean, english)

    def bad(self, korean: str, english: str) -> None:
        self.problems += 1
        self._write("[!!]", korean, english)

    def _write(self, mark: str, korean: str, english: str) -> None:
        before = [" · ".join(filter(None, (self.file, part))) for part in self.part]
        korean, english = (f"{where}: {text}" if where else text for where, text in zip(before, (korean, english)))
        sys.stdout.write(f"{mark} {korean}\n     {english}\n")


def check_chain(entries: Any, findings: Findings) -> None:
    """Numbers, links, hashes, and the openings that the file gives."""
    before = findings.problems
    previous = ""
    for position, entry in enumerate(entries, start=1):
        number = entry["number"]
        if number != position:
            findings.bad(
                f"{position}번째 자리에 {number}번 기록이 있습니다. 빠지거나 더해진 기록이 있습니다.",
                f"Place {position} holds entry {number}: an entry is missing or was added.",
            )
        if entry["previous"] != previous:
            findings.bad(
                f"{number}번 기록이 앞 기록과 이어지지 않습니다.",
                f"Entry {number} is not linked to the entry before it.",
            )
        body = {name: entry[name] for name in ("number", "kind", "payload", "previous")}
        if sha256(body) != entry["sha256"]:
            findings.bad(
                f"{number}번 기록의 내용이 해시와 다릅니다. 바뀐 기록입니다.",
                f"Entry {number} does not have its sha256: it was changed.",
            )
        check_opening(entry, findings)
        previous = entry["sha256"]
    if findings.problems == before:
        findings.good(
            "사슬이 온전합니다. 기록 {}개, 마지막 해시 {}".format(len(entries), previous or "-"),
            "The chain is intact: {} entries, last sha256 {}".format(len(entries), previous or "-"),
        )


def check_kept(entries: Any, kept: Any, findings: Findings) -> None:
    """Whether all entries of an earlier copy are still what and where they were. Openings may have come since."""
    for entry, before in zip_longest(entries[: len(kept)], kept):
        if entry is None:
            findings.bad(
                "받아 둔 사본의 {}번 기록이 사슬에 없습니다. 사슬이 짧아졌습니다.".format(before["number"]),
                "Entry {} of the kept copy is not in the chain: the chain became shorter.".format(before["number"]),
            )
            return
        body = {name: before[name] for name in ("number", "kind", "payload", "previous")}
        if sha256(body) != before["sha256"]:
            findings.bad(
                "받아 둔 사본의 {}번 기록이 손상되어 견줄 수 없습니다.".format(before["number"]),
                "Entry {} of the kept copy is damaged and cannot be compared.".format(before["number"]),
            )
            return
        if entry["sha256"] != before["sha256"]:
            findings.bad(
                "{}번 기록이 받아 둔 사본과 다릅니다. 그 뒤에 사슬을 다시 썼습니다.".format(before["number"]),
                "Entry {} is not that of the kept copy: the chain was rewritten since.".format(before["number"]),
            )
            return
    findings.good(
        f"받아 둔 사본의 기록 {len(kept)}개가 모두 그대로 있습니다. 그 뒤에 더해진 기록 {len(entries) - len(kept)}개",
        f"All {len(kept)} entries of the kept copy are there unchanged; {len(entries) - len(kept)} were added since",
    )


def check_newest(entries: Any, noted: str, findings: Findings) -> None:
    """Whether the hash that was once the last one is still in the chain."""
    for entry in entries:
        if entry["sha256"] == noted.strip().lower():
            since = len(entries) - entry["number"]
            findings.good(
                "적어 둔 해시는 {}번 기록의 것입니다. 그 뒤에 더해진 기록 {}개".format(entry["number"], since),
                "The noted sha256 is that of entry {}; {} were added since".format(entry["number"], since),
            )
            return
    findings.bad(
        "적어 둔 해시가 사슬에 없습니다. 옮겨 적은 것이 맞다면 그 뒤에 사슬을 다시 썼거나 잘랐습니다.",
        "The noted sha256 is not in the chain: if it was noted rightly, the chain was rewritten or cut since.",
    )


def check_opening(entry: Any, findings: Findings) -> None:
    opening, is_receipt = entry.get("opening"), entry["kind"] == "receipt"
    bound = entry["payload"].get("receipt_sha256" if is_receipt else "score_sha256")
    if opening is None or sha256(opening) == bound:
        return
    if is_receipt:
        findings.bad(
            "{}번 기록에 공개된 접수 내용이 기록된 것과 다릅니다.".format(entry["number"]),
            "The upload shown with entry {} is not the one that was recorded.".format(entry["number"]),
        )
    else:
        findings.bad(
            "{}번 기록에 공개된 점수가 기록된 점수와 다릅니다.".format(entry["number"]),
            "The score shown with entry {} is not the one that was recorded.".format(entry["number"]),
        )


def newest_scores(entries: Any) -> dict[Any, Any]:
    """The newest score entry of every submission and split."""
    found = {}
    for entry in entries:
        if entry["kind"] == "score":
            found[entry["payload"]["submission"], entry["payload"]["part"]] = entry
    return found


def numbers(row: Any) -> dict[str, Any]:
    """The scores of a board row or an opening as exact decimal texts."""
    scores = {name: repr(float(value)) for name, value in row["scores"].items() if value is not None}
    return {"final_score": repr(float(row["final_score"])), "scores": scores}


class Incomplete(Exception):
    """Pages of the board are missing."""


def whole_board(files: list[str], pages: list[Any]) -> Any:
    """The board of its pages. Raises ``Incomplete`` unless every row is there."""
    pages = sorted(pages, key=number_of)
    board = {**pages[0], "rows": [row for page in pages for row in page["rows"]]}
    for name in PUBLISHED:
        if board.get(name):
            board[name] = {**board[name], "rows": [row for page in pages for row in page[name]["rows"]]}
    for part in (board, *map(board.get, PUBLISHED)):
        if part and len(part["rows"]) != part.get("row_count", len(part["rows"])):
            raise Incomplete(named_together(files), len(part["rows"]), part["row_count"])
    return board


def number_of(page: Any) -> float:
    """The number of a page after its first, by the address of the next; infinite for the last."""
    number = (page.get("next") or "").rpartition("page=")[2].partition("&")[0]
    return int(number) if number.isdecimal() else math.inf


def boards_of(pages: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The boards of pages, each page after its file: one for each phase of each track, each publication of its final
    board and each public one of the past; the same page given twice counts once. Raises ``Incomplete``.
    """
    together: dict[Any, tuple[list[str], list[Any]]] = {}
    for file, given in pages:
        page = with_past_rows(given)
        parts = [page.get(name) or {} for name in PUBLISHED]
        named = [part.get(name) for part in parts for name in ("sha256", "snapshot")]
        files, same = together.setdefault((*place_of(page), page["shows_past"], *named), ([], []))
        if page not in same:
            files.append(file)
            same.append(page)
    return [(named_together(files), whole_board(files, same)) for files, same in together.values()]


def with_past_rows(page: Any) -> Any:
    """A page whose ``past`` has its rows: where a board of the past was asked for, they are those of the page. In a
    file from before that, ``past`` has its own and those of the page are of the current board.
    """
    past = page.get("past")
    shows_past = bool(past) and "rows" not in past
    if shows_past:
        page = {**page, "past": {**past, "rows": page["rows"], "row_count": page["row_count"]}}
    return {**page, "shows_past": shows_past}


def named_together(files: list[str]) -> str:
    return ", ".join(files) if len(files) < 4 else f"{files[0]}, {files[1]}, … {files[-1]}"


def place_of(board: Any) -> Any:
    """Track and phase of a board: a phase's name is unique within its track only. ``None`` for what is not said."""
    return board.get("track"), (board.get("phase") or {}).get("slug")


def check_board(entries: Any, file: str, board: Any, findings: Findings) -> None:
    """Every score on the board must be the newest recorded score of a submission; a final board, or a public one of the
    past, must be the recorded one.
    """
    if not board["shows_past"]:
        findings.about(file, ("공개 순위표", "public board"))
        check_public(entries, board, findings)
    for name in PUBLISHED:
        if board.get(name):
            findings.about(file, edition_of(name, board[name]))
            check_published(entries, board, name, findings)
        elif name == "final" and name in board and recorded_boards(entries, board, FINAL):
            findings.about(file)
            findings.bad(
                "기록에는 발표한 최종 순위표가 있는데 파일에는 없습니다. 그 사이에 발표되었을 수 있으니 chain.json과 "
                "순위표를 함께 다시 내려받아 확인하십시오.",
                "A final board is recorded and not in the file. If it was published in between, download chain.json "
                "and the board again, together.",
            )


def edition_of(name: str, shown: Any) -> tuple[str, str]:
    korean, english = PUBLISHED[name]
    return "{} {}판".format(korean, shown["snapshot"]), "{}, snapshot {}".format(english, shown["snapshot"])


def check_public(entries: Any, board: Any, findings: Findings) -> None:
    """The public board as it is now."""
    if board.get("is_hidden"):
        findings.good("순위표가 비공개입니다. 견줄 점수가 없습니다.", "The board is hidden: no scores to compare.")
        return
    check_rows(entries, board["rows"], findings)
    check_times(entries, board["rows"], findings)
    if board.get("composite"):
        check_composite(board["rows"], board["composite"]["components"], findings)
    elif "score_step" in board.get("phase", {}) and board["phase"]["score_step"] is None:
        check_ranks(board["rows"], findings)  # rounded scores do not show what ranks
    check_past_boards(entries, board, findings)


def check_rows(entries: Any, rows: Any, findings: Findings) -> None:
    before = findings.problems
    newest = newest_scores(entries)
    for row in rows:
        opened = [entry["opening"] for entry in candidates(newest, row) if entry.get("opening") is not None]
        if not any(agrees(row, opening) for opening in opened):
            say_what_differs(row, opened, findings)
    if findings.problems == before:
        findings.good(
            f"순위표의 점수 {len(rows)}개가 기록과 같습니다.",
            f"All {len(rows)} scores of the board equal the recorded ones.",
        )


def say_what_differs(row: Any, opened: Any, findings: Findings) -> None:
    """Each score of the row that is not the recorded one, where the row names its submission."""
    team = row.get("team")
    if row.get("submission") is None or not opened:
        score = row.get("final_score")
        findings.bad(
            f"순위표에 있는 ‘{team}’의 점수({score})와 같은 점수가 기록에 없습니다.",
            f"The score {score} of '{team}' on the board is not recorded.",
        )
        return
    name, shown, recorded = min((differences(row, opening) for opening in opened), key=len)[0]
    findings.bad(
        f"순위표에 있는 ‘{team}’의 {name} 값({shown})이 기록된 값({recorded})과 다릅니다.",
        f"The {name} of '{team}' on the board ({shown}) differs from the recorded one ({recorded}).",
    )


def differences(row: Any, opening: Any) -> list[tuple[str, str, str]]:
    """The name of each score of a board row that an opening has otherwise, and both values; "–" for none."""
    shown, recorded = numbers(row), numbers(opening)
    found = [
        (name, value, recorded["scores"].get(name, "–"))
        for name, value in shown["scores"].items()
        if recorded["scores"].get(name) != value
    ]
    if shown["final_score"] != recorded["final_score"]:
        found.append(("final_score", shown["final_score"], recorded["final_score"]))
    return found


def check_times(entries: Any, rows: Any, findings: Findings) -> None:
    """Every row has the time at which its submission was received. The API writes milliseconds."""
    before, unopened = findings.problems, 0
    received = {entry["payload"]["submission"]: entry for entry in entries if entry["kind"] == "receipt"}
    for row in rows:
        opening = received.get(row.get("submission"), {}).get("opening")
        if opening is None:
            unopened += 1
        elif milliseconds(row["submitted_at"]) != milliseconds(opening["received_at"]):
            findings.bad(
                "순위표에 있는 ‘{}’의 제출 시각 {}: 기록된 접수 시각({})과 다릅니다.".format(
                    row.get("team"), row["submitted_at"], opening["received_at"]
                ),
                "The submission of '{}' on the board is of {}: it was recorded as received at {}.".format(
                    row.get("team"), row["submitted_at"], opening["received_at"]
                ),
            )
    if unopened:
        findings.note(
            f"접수 기록이 공개되지 않은 {unopened}줄의 제출 시각은 견주지 않았습니다.",
            f"The times of {unopened} rows were not compared: their receipts are not open.",
        )
    if findings.problems == before and unopened < len(rows):
        findings.good(
            f"제출 시각 {len(rows) - unopened}개가 접수 기록과 같습니다.",
            f"The times of {len(rows) - unopened} submissions equal those of their receipts.",
        )


def milliseconds(text: str) -> datetime:
    found = moment(text)
    return found.replace(microsecond=found.microsecond // 1000 * 1000)


def check_ranks(rows: Any, findings: Findings) -> None:
    """The higher final score first and, where all scores are equal, the earlier submission; ranks are counted from 1,
    without baselines. Which other scores break a tie the board does not say.
    """
    before, next_rank = findings.problems, 1
    for place, row in enumerate(rows):
        rank = None if row["is_baseline"] else next_rank
        next_rank += not row["is_baseline"]
        if row["rank"] != rank or (place and is_misplaced(rows[place - 1], row)):
            findings.bad(
                "‘{}’의 순위나 자리가 점수와 제출 시각에 맞지 않습니다.".format(row.get("team")),
                "The rank or the place of '{}' does not follow from scores and times.".format(row.get("team")),
            )
    if findings.problems == before and rows:
        findings.good(
            f"순위 {len(rows)}줄의 차례가 최종 점수에 맞습니다.",
            f"The order of all {len(rows)} rows follows from the final scores.",
        )


def is_misplaced(above: Any, row: Any) -> bool:
    """Whether ``row`` belongs before the row above it."""
    first, second = (
        (round(each["final_score"], DECIMALS), {k: v and round(v, DECIMALS) for k, v in each["scores"].items()})
        for each in (above, row)
    )
    if first == second:
        return moment(row["submitted_at"]) < moment(above["submitted_at"])
    return bool(second[0] > first[0])


def check_past_boards(entries: Any, board: Any, findings: Findings) -> None:
    """The list of the kept public boards has every recorded one and no other."""
    if "past_boards" not in board:
        return
    listed = sorted((each["snapshot"], each["sha256"]) for each in board["past_boards"])
    if listed != sorted((each["snapshot"], each["rows_sha256"]) for each in recorded_boards(entries, board, KEPT)):
        findings.bad(
            "지난 공개 순위표의 목록(past_boards)이 기록과 다릅니다. 그 사이에 더해졌을 수 있으니 chain.json과 "
            "순위표를 함께 다시 내려받아 확인하십시오.",
            "The list of the public boards of the past (past_boards) is not the recorded one. If one was added in "
            "between, download chain.json and the board again, together.",
        )


def check_published(entries: Any, board: Any, name: str, findings: Findings) -> None:
    """The rows of a final board, or of a public one of the past, must be those whose sha256 was recorded when it was
    published or kept, and the ones that it lists those that were recorded of its phase.
    """
    korean, english = PUBLISHED[name]
    shown = board[name]
    kind = FINAL if name == "final" else KEPT if shown.get("day") is None else "day"
    recorded = recorded_boards(entries, board, kind)
    payload = next((each for each in recorded if is_of(shown, each)), None)
    if payload is None or sha256(shown["rows"]) != shown["sha256"]:
        findings.bad(
            f"{korean}가 발표할 때의 기록과 다릅니다.",
            f"The {english} is not the one that was recorded when it was published.",
        )
    else:
        findings.good(f"{korean}가 기록과 같습니다.", f"The {english} equals the recorded one.")
    check_publications(recorded, shown, PUBLISHED[name], findings)
    components = (payload or {}).get("components") or shown.get("components")
    if board["shows_past"] and weights_of((board.get("composite") or {}).get("components")) != weights_of(components):
        findings.bad(
            "파일에 적힌 종합 점수의 구성(composite)이 기록과 다릅니다.",
            "What the file says of the composite is not what was recorded.",
        )
    if components:
        check_composite(shown["rows"], components, findings)


def recorded_boards(entries: Any, board: Any, kind: str | None) -> list[Any]:
    """The payloads of the boards of ``kind`` that were recorded of the phase of ``board``; of that name in any track
    where ``board`` names none, as the API gave it once.
    """
    track, phase = place_of(board)
    payloads = [entry["payload"] for entry in entries if entry["kind"] == "board"]
    payloads = [each for each in payloads if each.get("board") == kind]
    return [each for each in payloads if each.get("phase") == phase and track in (None, each.get("track"))]


def is_of(shown: Any, payload: Any) -> bool:
    """Whether a published board is the recorded one, by all that the record has of it."""
    same = all(shown.get(name) in (None, payload.get(name)) for name in ("recipe", "signature_hash"))
    same = same and weights_of(shown.get("components")) == weights_of(payload.get("components"))
    same = same and shown.get("day") == payload.get("day")
    return bool(same and (payload.get("snapshot"), payload.get("rows_sha256")) == (shown["snapshot"], shown["sha256"]))


def weights_of(components: Any) -> Any:
    return [(each["score"], float(each["weight"]), each["higher_is_better"]) for each in components or []]


def check_publications(recorded: Any, shown: Any, words: Any, findings: Findings) -> None:
    """The board lists every recorded publication once and no other, and the last as the newest."""
    korean, english = words
    listed = sorted((each["snapshot"], each["sha256"]) for each in shown["snapshots"])
    known = sorted((each["snapshot"], each["rows_sha256"]) for each in recorded)
    if listed != known or shown["newest_snapshot"] != max(number for number, _sha256 in [*listed, (0, "")]):
        findings.bad(
            f"{korean}에 적힌 발표 목록이나 최신 판이 기록과 다릅니다. 그 사이에 다시 발표되었을 수 있으니 "
            "chain.json과 순위표를 함께 다시 내려받아 확인하십시오.",
            f"The publications that the {english} lists, or its newest, are not the recorded ones. If it was "
            "published again in between, download chain.json and the board again, together.",
        )


def check_composite(rows: Any, components: Any, findings: Findings) -> None:
    """Composite, rank and order of every row must be those that the values of the rows give."""
    before = findings.problems
    try:
        again = composed(rows, components)
    except ZeroDivisionError:
        findings.bad(
            "종합 점수의 가중치 합이 0이라 다시 계산할 수 없습니다.",
            "The weights of the composite add up to 0: it cannot be computed again.",
        )
        return
    for row, (value, parts) in zip(rows, again):
        if not same_composite(row.get("composite"), value, parts):
            findings.bad(
                "‘{}’의 종합 점수나 그 지표별 순위가 순위표의 값으로 다시 계산한 것({!r})과 다릅니다.".format(
                    row.get("team"), value
                ),
                "The composite of '{}', or a part of it, is not what the values give: {!r}.".format(
                    row.get("team"), value
                ),
            )
    check_order(rows, [value for value, _parts in again], findings)
    if findings.problems == before:
        weights = ", ".join("{} {:g}".format(each["score"], float(each["weight"])) for each in components)
        findings.good(
            f"종합 점수 {len(rows)}개와 순위를 지표의 값으로 다시 계산했고 모두 같습니다({weights}).",
            f"All {len(rows)} composites, ranks and the order were computed again and are equal ({weights}).",
        )


def composed(rows: Any, components: Any) -> list[Any]:
    """The composite of each row and its parts: (score, weight, value, rank, rank as a number from 0 to 1)."""
    found: list[Any] = [[] for _row in rows]
    for component in components:
        levels = [level_of(row, component) for row in rows]
        field = sorted(level for row, level in zip(rows, levels) if not row["is_baseline"])
        if field and math.isinf(field[0]):
            continue
        for parts, row, level in zip(found, rows, levels):
            count = len(field) + row["is_baseline"]  # a baseline is ranked as if it were added
            better, equal = bisect_left(field, level), bisect_right(field, level)
            rank = (better + 1 + equal + row["is_baseline"]) / 2
            normalised = 1.0 if count == 1 else (count - rank) / (count - 1)
            value = value_of(row, component["score"])
            parts.append((component["score"], float(component["weight"]), value, rank, normalised))
    return [(mean_of(parts), parts) for parts in found]


def value_of(row: Any, score: str) -> Any:
    return row["final_score"] if score == "final_score" else row["scores"].get(score)


def level_of(row: Any, component: Any) -> float:
    """Lower for a better value; infinite for none."""
    value = value_of(row, component["score"])
    if value is None:
        return math.inf
    return round(-value if component["higher_is_better"] else value, DECIMALS) + 0.0


def mean_of(parts: Any) -> float:
    weights = math.fsum(part[1] for part in parts)
    return math.fsum(part[1] * part[4] for part in parts) / weights if parts else 0.0


def same_composite(shown: Any, value: float, parts: Any) -> bool:
    if shown is None or abs(shown["value"] - value) > CLOSE or len(shown["parts"]) != len(parts):
        return False
    for there, (score, weight, raw, rank, normalised) in zip(shown["parts"], parts):
        if (there["score"], float(there["weight"]), there["value"], there["rank"]) != (score, weight, raw, rank):
            return False
        if abs(there["normalised"] - normalised) > CLOSE:
            return False
    return True


def check_order(rows: Any, values: Any, findings: Findings) -> None:
    """The higher composite first, then the earlier submission; ranks are counted from 1, without baselines."""
    keys = [(-round(value, DECIMALS), moment(row["submitted_at"])) for row, value in zip(rows, values)]
    next_rank = 1
    for place, row in enumerate(rows):
        rank = None if row["is_baseline"] else next_rank
        next_rank += not row["is_baseline"]
        if row["rank"] != rank or (place and keys[place] < keys[place - 1]):
            findings.bad(
                "‘{}’의 순위나 자리가 종합 점수와 맞지 않습니다.".format(row.get("team")),
                "The rank or the place of '{}' does not follow from the composites.".format(row.get("team")),
            )


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text)


def agrees(row: Any, opening: Any) -> bool:
    """Whether a board row shows an opening's numbers. A board may leave metrics out, never add or change one."""
    return not differences(row, opening)


def candidates(newest: Any, row: Any) -> list[Any]:
    """The newest entries that a row may come from: of its submission if the row names it, else all."""
    named = row.get("submission")
    return [entry for (submission, _part), entry in newest.items() if named in (None, submission)]


def check_receipt(entries: Any, receipt: Any, findings: Findings) -> None:
    """Every entry of the receipt must be in the chain unchanged."""
    before = findings.problems
    chain = {entry["number"]: entry for entry in entries}
    for entry in receipt["entries"]:
        here = chain.get(entry["number"])
        if here is None or any(here[name] != entry[name] for name in ("kind", "payload", "previous", "sha256")):
            findings.bad(
                "접수증의 {}번 기록이 사슬에 없거나 다릅니다.".format(entry["number"]),
                "Entry {} of the receipt is missing from the chain or differs.".format(entry["number"]),
            )
        check_opening(entry, findings)
    if not any(entry["kind"] == "receipt" for entry in receipt["entries"]):
        findings.bad("접수증에 접수 기록이 없습니다.", "The receipt holds no entry of the upload itself.")
    if findings.problems == before:
        findings.good(
            "접수증의 기록 {}개가 사슬에 그대로 있습니다.".format(len(receipt["entries"])),
            "All {} entries of the receipt stand in the chain unchanged.".format(len(receipt["entries"])),
        )


EVENTS = ("committed", "opened", "closed", "published")  # of a human evaluation, in their order
ARENA_FILES = {  # by format: what binds it, and its name
    "malpan-votes@1": ("votes_sha256", "평가 파일", "votes file"),
    "malpan-arena-result@1": ("result_sha256", "결과 파일", "result file"),
}


def check_campaigns(entries: Any, findings: Findings) -> None:
    """Every human evaluation: committed before it was opened, and revealed as the seed that was committed."""
    campaigns: dict[Any, Any] = {}
    for entry in entries:
        if entry["kind"] == "arena":
            payload = entry["payload"]
            campaigns.setdefault((payload["track"], payload["campaign"]), []).append(payload)
    for (track, number), steps in campaigns.items():
        before = findings.problems
        check_steps(f"{track} {number}", steps, findings)
        closed = [step for step in steps if step["event"] == "closed"]
        if closed and findings.problems == before:
            findings.good(
                f"사람 평가 {track} {number}번의 시드가 시작하기 전에 기록한 해시와 같습니다.",
                f"Human evaluation {track} {number}: the revealed seed is the one committed before the opening.",
            )


def check_steps(name: str, steps: Any, findings: Findings) -> None:
    """One evaluation: its steps are in order, each there once but publications, and of one seed."""
    events = [step["event"] for step in steps]
    places = [EVENTS.index(event) if event in EVENTS else -1 for event in events]
    is_ordered = places == sorted(places) and [*range(1 + max(places))] == sorted({*places})
    if not is_ordered or any(events.count(event) != 1 for event in events if event != "published"):
        findings.bad(
            f"사람 평가 {name}번의 기록이 차례대로 있지 않습니다({', '.join(events)}).",
            f"The steps of human evaluation {name} are not in their order ({', '.join(events)}).",
        )
        return
    committed = steps[0]["seed_sha256"]
    named = [step["seed_sha256"] for step in steps if step["event"] == "opened"]
    seeds = [step["seed"] for step in steps if step["event"] == "closed"]
    revealed = [hashlib.sha256(seed.encode("utf-8")).hexdigest() for seed in seeds]
    if any(each != committed for each in named + revealed):
        findings.bad(
            f"사람 평가 {name}번의 시드가 시작하기 전에 기록한 해시와 다릅니다.",
            f"Human evaluation {name}: the seed is not the one committed before the opening.",
        )
    numbers_seen = [step["snapshot"] for step in steps if step["event"] == "published"]
    if numbers_seen != list(range(1, len(numbers_seen) + 1)):
        findings.bad(
            f"사람 평가 {name}번의 발표 번호가 이어지지 않습니다.",
            f"The publications of human evaluation {name} are not numbered in order.",
        )


def check_arena_file(entries: Any, path: str, findings: Findings) -> None:
    """A votes or result file must be, byte for byte, one that was recorded when it was published."""
    content = read(path, "--arena")
    if content["format"] not in ARENA_FILES:
        raise WrongFile(path, "--arena")
    column, korean, english = ARENA_FILES[content["format"]]
    with open(path, "rb") as file:
        actual = hashlib.sha256(file.read()).hexdigest()
    steps = [entry["payload"] for entry in entries if entry["kind"] == "arena"]
    found = [step for step in steps if step["event"] == "published" and step[column] == actual]
    if not found:
        findings.bad(
            f"{korean}이 사슬에 적힌 어느 발표의 것과도 다릅니다.",
            f"This {english} is none of those recorded in the chain.",
        )
        return
    step, before = found[-1], findings.problems
    is_same = same_campaign(content["campaign"], step)
    seeds = [each["seed"] for each in steps if each["event"] == "closed" and same_campaign(step, each)]
    written = (content.get("settings") or content.get("signature") or {}).get("seed")
    if not is_same or seeds != [written]:
        findings.bad(
            f"{korean}에 적힌 평가나 시드가 사슬의 것과 다릅니다.",
            f"The campaign or the seed written in this {english} differs from the chain.",
        )
    check_queues(content, steps, step, findings)
    if content["format"].startswith("malpan-arena") and content["signature"]["votes_sha256"] != step["votes_sha256"]:
        findings.bad(
            "결과 파일이 함께 발표한 평가 파일로 계산한 것이 아닙니다.",
            "The result was not computed from the votes file that was published with it.",
        )
    if findings.problems == before:
        say_recorded(step, korean, english, findings)


def check_queues(content: Any, steps: Any, published: Any, findings: Findings) -> None:
    """The queues that a votes file lets anybody draw again must be those recorded at the opening."""
    named = (content.get("design") or {}).get("sha256")
    recorded = [
        each.get("queues_sha256") for each in steps if each["event"] == "opened" and same_campaign(published, each)
    ]
    if named is not None and recorded != [named]:
        findings.bad(
            "평가 파일에 적힌 배정이 시작할 때 사슬에 적은 것과 다릅니다.",
            "The assignments written in this votes file are not those recorded in the chain at the opening.",
        )


def say_recorded(step: Any, korean: str, english: str, findings: Findings) -> None:
    findings.good(
        f"{korean}이 사람 평가 {step['track']} {step['campaign']}번 {step['snapshot']}판의 기록과 같습니다.",
        f"The {english} is the one recorded for human evaluation {step['track']} {step['campaign']} "
        f"(snapshot {step['snapshot']}).",
    )


def same_campaign(one: Any, other: Any) -> bool:
    """Whether both name the same evaluation; a file calls its number ``number``, a payload ``campaign``."""
    numbers_of = [each["campaign"] if "event" in each else each["number"] for each in (one, other)]
    return bool(numbers_of[0] == numbers_of[1] and one["track"] == other["track"])


def check_stages(entries: Any, stages: Any, boards: Any, findings: Findings) -> None:
    """Every publication of a stage or of the combined standing, errata and what they replaced: recorded, resting on
    those that it names, and recomputed from the scores.
    """
    before = findings.problems
    published = published_once(stages, findings)
    check_recorded(entries, stages, published, findings)
    for (place, number), each in published.items():
        try:
            check_again(entries, stages["track"], place, each, published, findings)
        except ZeroDivisionError:
            korean, english = name_of(place)
            findings.bad(
                f"{korean} {number}판은 다시 구할 수 없습니다. 척도의 두 끝이 같거나 가중치의 합이 0입니다.",
                f"{english} (snapshot {number}) cannot be recomputed: both ends of a scale are equal, or the weights "
                "add up to 0.",
            )
    check_first_stage(published, boards, findings)
    if findings.problems == before:
        findings.good(
            f"심사 결과 {len(published)}개가 기록과 같고, 다시 구한 것과도 같습니다.",
            f"All {len(published)} results of stages equal the recorded ones and what their rules give.",
        )
        say_what_was_used(stages, published, findings)


def published_once(stages: Any, findings: Findings) -> dict[Any, Any]:
    """Every publication by place and number: each must be there once, or one could stand in for another."""
    published: dict[Any, Any] = {}
    finals = stages["final"] or {"snapshots": []}
    places = [stage["position"] for stage in stages["stages"]]
    for place in sorted({place for place in places if places.count(place) > 1}):
        findings.bad(
            f"{place}번째 심사가 심사 파일에 두 번 이상 있습니다.",
            f"Stage {place} is in the file of the stages more than once.",
        )
    for place, stage in [(None, finals), *zip(places, stages["stages"])]:
        for each in stage["snapshots"]:
            if (place, each["snapshot"]) in published:
                findings.bad(
                    "{} {}판이 심사 파일에 두 번 이상 있습니다.".format(name_of(place)[0], each["snapshot"]),
                    "{} (snapshot {}) is in the file of the stages more than once.".format(
                        name_of(place)[1], each["snapshot"]
                    ),
                )
            published[place, each["snapshot"]] = each
    return published


def check_again(entries: Any, track: Any, place: Any, each: Any, published: Any, findings: Findings) -> None:
    """A publication must be what its rule gives. Raises ``ZeroDivisionError`` for a scale or weights that give none."""
    number = each["snapshot"]
    if place is None:
        if not is_combined(published, each):
            findings.bad(
                f"종합 결과 {number}판이 심사의 점수로 다시 구한 것과 다릅니다.",
                f"The combined standing (snapshot {number}) differs from what the stages give.",
            )
    elif not takes_part(entries, track, place, each, published) or each["rows"] != placed_again(each):
        findings.bad(
            f"{place}번째 심사 {number}판의 순위나 진출 팀이 규칙대로 다시 구한 것과 다릅니다.",
            f"Stage {place} (snapshot {number}) differs from what its rule gives.",
        )


def check_recorded(entries: Any, stages: Any, published: Any, findings: Findings) -> None:
    """The chain has every publication of the file, and the file every one of the chain."""
    payloads = [entry["payload"] for entry in entries if entry["kind"] == "stage"]
    recorded = [payload for payload in payloads if payload["track"] == stages["track"]]
    for (place, _number), each in published.items():
        check_stage_entry(recorded, stages["track"], place, each, findings)
    for payload in recorded:
        place, number = payload["stage"], payload["snapshot"]
        if (place, number) not in published:
            findings.bad(
                f"기록된 {name_of(place)[0]} {number}판이 심사 파일에 없습니다.",
                f"{name_of(place)[1]} (snapshot {number}) is recorded and not in the file of the stages.",
            )
    for each in [*stages["stages"], *([stages["final"]] if stages["final"] else [])]:
        if each["newest"] != newest_of(each):
            korean, english = name_of(each.get("position"))
            findings.bad(
                f"{korean}의 최신 판이라고 적힌 것이 최신 판이 아닙니다.",
                f"What is called the newest snapshot of {english} is not.",
            )


def newest_of(stage: Any) -> Any:
    """The number of the last publication."""
    return max(each["snapshot"] for each in stage["snapshots"])


def name_of(place: Any) -> tuple[str, str]:
    """A stage, or the combined standing where ``place`` is ``None``, in both languages."""
    return ("종합 결과", "The combined standing") if place is None else (f"{place}번째 심사", f"Stage {place}")


def check_first_stage(published: Any, boards: Any, findings: Findings) -> None:
    """Every publication of the first stage has the teams of its published board with the scores that rank there."""
    finals = {board["final"]["sha256"]: board["final"] for board in boards if board.get("final")}
    for (place, number), each in published.items():
        if place != 1:
            continue
        basis = each["rule"]["basis"]
        final = finals.get(basis["rows_sha256"])
        if final is None:
            say_not_compared(number, basis, findings)
            continue
        left_out, shown = each["rule"]["left_out"], each["rows"]
        ranked = [row for row in final["rows"] if row["rank"] is not None and row["team_number"] not in left_out]
        wanted = {row["team_number"]: (score_of(row), row["rank"], row["submitted_at"]) for row in ranked}
        if wanted != {row["team_number"]: (row["score"], row["order"], row["submitted_at"]) for row in shown}:
            findings.bad(
                "1번째 심사 {}판의 팀이나 점수가 최종 순위표 {}판과 다릅니다.".format(number, final["snapshot"]),
                "Stage 1 (snapshot {}) differs from the final board (snapshot {}).".format(number, final["snapshot"]),
            )
        else:
            findings.good(
                "1번째 심사 {}판의 점수 {}개가 최종 순위표 {}판과 같습니다.".format(
                    number, len(shown), final["snapshot"]
                ),
                "Stage 1 (snapshot {}): all {} scores equal those of the final board (snapshot {}).".format(
                    number, len(shown), final["snapshot"]
                ),
            )


def say_not_compared(number: Any, basis: Any, findings: Findings) -> None:
    """Which board to give for a publication of the first stage to be compared with it."""
    board = basis["snapshot"]
    query = "?phase={}&snapshot={}".format(basis["phase"], board)
    findings.note(
        f"1번째 심사 {number}판의 점수를 최종 순위표와 견주지 않았습니다. 최종 순위표 {board}판(공개 API, {query})을 "
        "--board 뒤에 적으면 견줍니다.",
        f"The scores of stage 1 (snapshot {number}) were not compared with the final board: name its snapshot {board} "
        f"(public API, {query}) after --board.",
    )


def score_of(row: Any) -> float:
    """What a row of a final board is ranked by."""
    composite = row.get("composite")
    return float(row["final_score"] if composite is None else composite["value"])


def say_what_was_used(stages: Any, published: Any, findings: Findings) -> None:
    """Which snapshots the newest combined standing is made of, and whether one of them was replaced since."""
    if not stages["final"]:
        return
    number = newest_of(stages["final"])
    used = {part["position"]: part["snapshot"] for part in published[(None, number)]["rule"]["stages"]}
    listed = ", ".join(f"{place}: {snapshot}" for place, snapshot in used.items())
    findings.note(
        f"종합 결과 {number}판은 다음 판으로 구했습니다(심사: 판): {listed}",
        f"The combined standing (snapshot {number}) is made of these snapshots (stage: snapshot): {listed}",
    )
    for stage in stages["stages"]:
        place, newest = stage["position"], newest_of(stage)
        if used.get(place) != newest:
            findings.note(
                f"{place}번째 심사는 그 뒤 {newest}판으로 다시 발표되었고, 종합 결과는 아직 그 판을 따르지 않습니다.",
                f"Stage {place} was published again since (snapshot {newest}); the combined standing is older.",
            )


def check_stage_entry(recorded: Any, track: Any, place: Any, each: Any, findings: Findings) -> None:
    own = {"track": track, "stage": place, "snapshot": each["snapshot"], "rows": len(each["rows"])}
    own["stage_sha256"] = sha256({"rule": each["rule"], "rows": each["rows"]})
    if own not in recorded or own["stage_sha256"] != each["sha256"]:
        korean, english = name_of(place)
        findings.bad(
            "{} {}판이 발표할 때의 기록과 다릅니다.".format(korean, each["snapshot"]),
            "{} (snapshot {}) is not what was recorded.".format(english, each["snapshot"]),
        )


def takes_part(entries: Any, track: Any, place: Any, stage: Any, published: Any) -> bool:
    """Whether a stage rests on a recorded board or, with the teams sent on, on a snapshot of the stage before."""
    rule, basis = stage["rule"], stage["rule"]["basis"]
    if place == 1:
        names = ("phase", "snapshot", "rows_sha256")
        wanted = {"track": track, **{name: basis[name] for name in names}}
        boards = [entry["payload"] for entry in entries if entry["kind"] == "board"]
        boards = [each for each in boards if each.get("board") == FINAL]
        return any(all(board.get(name) == value for name, value in wanted.items()) for board in boards)
    last = published.get((place - 1, basis["snapshot"]))
    if basis["stage"] != place - 1 or last is None or basis["sha256"] != last["sha256"]:
        return False
    going_on = {row["team_number"] for row in last["rows"] if row["goes_on"]}
    return bool(going_on - set(rule["left_out"]) == {row["team_number"] for row in stage["rows"]})


def placed_again(stage: Any) -> Any:
    """The rows of a stage with ranks, normalised scores and who goes on as its rule gives them."""
    rule, rows = stage["rule"], stage["rows"]

    def key(row: Any) -> Any:
        return (-round(row["score"], DECIMALS), row["order"] if rule["tie_rule"] == "earlier" else 0)

    again, keys = [], sorted(map(key, rows))
    for row in sorted(rows, key=lambda row: (*key(row), row["order"], row["team_number"])):
        rank = 1 + bisect_left(keys, key(row))
        middle = (rank + bisect_right(keys, key(row))) / 2
        low, high = rule["scale"]
        value = (row["score"] - low) / (high - low)
        if rule["normalisation"] == "rank":
            value = 1.0 if len(rows) == 1 else (len(rows) - middle) / (len(rows) - 1)
        is_equal = math.isclose(value, row["normalised"], rel_tol=0, abs_tol=1e-12)
        goes_on = rule["cut"] is None or rank <= rule["cut"]
        shown = row["normalised"] if is_equal else value
        again.append({**row, "rank": rank, "normalised": shown, "goes_on": goes_on})
    return again


def is_combined(published: Any, final: Any) -> bool:
    """Whether a combined standing follows from the snapshots of the stages that it names, one of each stage."""
    named = final["rule"]["stages"]
    stages = [published.get((part["position"], part["snapshot"])) for part in named]
    if None in stages or [part["position"] for part in named] != list(range(1, len(named) + 1)):
        return False
    if [[part["sha256"], part["weight"]] for part in named] != [[s["sha256"], s["rule"]["weight"]] for s in stages]:
        return False
    weights = [each["rule"]["weight"] for each in stages]
    parts: dict[Any, Any] = {}
    for row in (row for each in stages for row in each["rows"]):
        parts.setdefault(row["team_number"], []).append(row)
    heaviest = sorted(range(len(stages)), key=lambda stage: (-weights[stage], stage))
    keys = {}
    for team, rows in parts.items():
        if len(rows) == len(stages):
            values = (mean(rows, weights), *(rows[stage]["normalised"] for stage in heaviest))
            keys[team] = [-round(value, DECIMALS) for value in values]
    best_first = sorted(keys.values())
    ranked = sorted((1 + bisect_left(best_first, key), team) for team, key in keys.items())
    stopped = sorted((-len(rows), rows[-1]["rank"], team) for team, rows in parts.items() if team not in keys)
    order = [(rank, None, team) for rank, team in ranked] + [(None, -count, team) for count, _rank, team in stopped]
    shown = [(row["rank"], row["stopped_at"], row["team_number"]) for row in final["rows"]]
    return order == shown and all(is_line(row, parts[row["team_number"]], weights) for row in final["rows"])


def mean(rows: Any, weights: Any) -> float:
    return math.fsum(map(operator.mul, weights, (row["normalised"] for row in rows))) / math.fsum(weights)


def is_line(line: Any, rows: Any, weights: Any) -> bool:
    """Whether a line of the combined standing shows the parts of its team and, of all stages, their mean."""
    if line["parts"] != [{name: row[name] for name in ("score", "rank", "normalised")} for row in rows]:
        return False
    if len(rows) < len(weights):
        return line["final_score"] is None
    return math.isclose(mean(rows, weights), line["final_score"], rel_tol=0, abs_tol=1e-12)


class WrongFile(Exception):
    """A file is not the one that belongs in its place."""


class Unreadable(Exception):
    """A file is not there or no JSON: its path, and why in both languages."""


def read(path: str, kind: str) -> Any:
    """The JSON of a file of ``kind``, a key of ``KINDS``. Raises ``Unreadable`` and ``WrongFile``."""
    content = content_of(path)
    if not isinstance(content, dict) or not all(name in content for name in KINDS[kind][0]):
        raise WrongFile(path, kind)
    if kind == "--stages" and content["format"] != STAGES:
        raise WrongFile(path, kind)
    return content


def content_of(path: str) -> Any:
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        raise Unreadable(path, "이런 파일이 없습니다.", "There is no such file.") from None
    except OSError as error:
        why = error.strerror
        raise Unreadable(path, f"파일을 열 수 없습니다({why}).", f"The file cannot be opened ({why}).") from None
    except json.JSONDecodeError as error:
        raise Unreadable(
            path,
            f"JSON 파일이 아니거나 중간에 끊겼습니다({error.lineno}번째 줄 {error.colno}번째 글자). 다시 내려받으세요.",
            f"No JSON, or cut off (line {error.lineno}, column {error.colno}): download it again.",
        ) from None
    except ValueError:
        raise Unreadable(
            path, "UTF-8 글이 아닙니다. 다시 내려받으세요.", "The file is not UTF-8 text: download it again."
        ) from None


STAGES = "malpan-stages@2"
KINDS = {  # what a file must have, and where it is from
    "chain.json": (("entries",), "대회의 ‘기록 확인’ 페이지", 'the competition\'s page "Records"'),
    "--kept": (("entries",), "예전에 받아 둔 chain.json", "a chain.json that was kept"),
    "--board": (("rows",), "공개 API의 순위표", "the board as the public API gives it"),
    "--receipt": (("entries",), "제출 결과 페이지의 접수증", "the receipt from a submission's page"),
    "--arena": (
        ("format", "campaign"),
        "사람 평가 페이지의 평가 파일이나 결과 파일",
        "a file of the evaluation's page",
    ),
    "--stages": (("format", "track", "stages", "final"), "‘심사’ 페이지의 JSON", 'the JSON of the page "Stages"'),
}


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="해시 사슬 확인 / verify a competition's hash chain")
    parser.add_argument("chain", help="chain.json")
    parser.add_argument(
        "--board",
        nargs="+",
        action="append",
        default=[],
        help="board.json: 순위표도 견줍니다 / compare boards, too: every page of each",
    )
    parser.add_argument(
        "--kept", help="예전 chain.json: 바뀐 기록이 없는지 봅니다 / an earlier chain.json to compare with"
    )
    parser.add_argument("--newest", help="예전의 마지막 해시 / the last sha256 of before, as you noted it")
    parser.add_argument("--receipt", help="receipt.json: 접수증도 확인합니다 / check a receipt, too")
    parser.add_argument("--stages", help="stages.json: 심사 결과도 확인합니다 / check the stages, too")
    parser.add_argument(
        "--arena",
        nargs="+",
        action="append",
        default=[],
        help="votes.json, result.json: 사람 평가의 파일도 견줍니다 / compare the files of human evaluations, too",
    )
    return parser.parse_args(arguments)


def check_all(options: argparse.Namespace, findings: Findings) -> None:
    entries = read(options.chain, "chain.json")["entries"]
    pages = [page for pages in options.board for page in pages]
    findings.about(named_together(pages))
    boards = boards_of([(page, read(page, "--board")) for page in pages])
    findings.about(options.chain)
    check_chain(entries, findings)
    if options.newest:
        check_newest(entries, options.newest, findings)
    if options.kept:
        kept = read(options.kept, "--kept")["entries"]
        findings.about(options.kept)
        check_kept(entries, kept, findings)
        findings.about(options.chain)
    check_campaigns(entries, findings)
    for file, board in boards:
        check_board(entries, file, board, findings)
    if options.receipt:
        receipt = read(options.receipt, "--receipt")
        findings.about(options.receipt)
        check_receipt(entries, receipt, findings)
    if options.stages:
        stages = read(options.stages, "--stages")
        findings.about(options.stages)
        check_stages(entries, stages, [board for _file, board in boards], findings)
    for path in [path for paths in options.arena for path in paths]:
        findings.about(path)
        check_arena_file(entries, path, findings)
    findings.about("")
    say_what_is_not_recorded([board for _file, board in boards], options, findings)


NOT_RECORDED = {  # what the chain has nothing of, by what shows it
    "public": (
        "공개 순위표의 팀 이름·제출 수·빠진 줄·종합 점수의 가중치",
        "team names, numbers of submissions, rows left out and weights of a public board",
    ),
    "published": ("발표 시각과 정정 사유", "times of publication and reasons of corrections"),
    "board": ("실격한 팀의 목록", "lists of disqualified teams"),
    "stages": ("심사의 제목", "titles of stages"),
    "receipt": ("접수증의 파일 이름", "the name of a receipt's file"),
}


def say_what_is_not_recorded(boards: Any, options: argparse.Namespace, findings: Findings) -> None:
    is_there = {
        "public": any(not board["shows_past"] for board in boards),
        "published": bool(options.stages) or any(board.get(name) for board in boards for name in PUBLISHED),
        "board": bool(boards),
        "stages": bool(options.stages),
        "receipt": bool(options.receipt),
    }
    named = [words for name, words in NOT_RECORDED.items() if is_there[name]]
    if named:
        korean, english = (", ".join(words) for words in zip(*named))
        findings.note(
            f"사슬에 적히지 않아 견주지 않은 것: {korean}", f"Not recorded in the chain and not compared: {english}"
        )


def main(arguments: list[str] | None = None) -> int:
    findings = Findings()
    try:
        check_all(parsed(arguments), findings)
    except Incomplete as error:
        files, has, wanted = error.args
        say_unusable(
            files,
            f"순위표의 {wanted}줄 가운데 {has}줄이 있습니다. 모든 쪽을 --board 뒤에 적으세요.",
            f"{has} of the board's {wanted} rows are there: name every page after --board.",
        )
        return 2
    except WrongFile as error:
        path, kind = error.args
        say_unusable(
            path,
            f"{kind} 자리에 올 파일이 아니거나 예전 형식입니다. 이 자리의 파일({KINDS[kind][1]})을 내려받아 적으세요.",
            f"This is not the file for {kind}, or of an older form: use {KINDS[kind][2]}.",
        )
        return 2
    except Unreadable as error:
        say_unusable(*error.args)
        return 1 if findings.problems else 2  # what was found before counts
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        say_unusable(
            findings.file,
            f"내용의 형식이 다릅니다. 다시 내려받으세요({error!r}).",
            f"The content has another form: download it again ({error!r}).",
        )
        return 1 if findings.problems else 2
    return 1 if findings.problems else 0


def say_unusable(file: str, korean: str, english: str) -> None:
    before = f"{file}: " if file else ""
    sys.stdout.write(f"[??] {before}{korean}\n     {before}{english}\n")


if __name__ == "__main__":
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    sys.exit(main())
