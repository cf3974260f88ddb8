"""What the web server says to a request that it refuses before the site sees it. Imports nothing of the site."""

from __future__ import annotations

import json
import re
from typing import ClassVar, Final, TypeAlias

from waitress.utilities import Error, RequestEntityTooLarge

BUSY_SECONDS: Final = 60  # when to ask again for a place
MANAGED: Final = re.compile(r"/(competitions/[^/]+/)?manage/")  # addresses of organisers

Headers: TypeAlias = list[tuple[str, str]]


class Refusal(Error):
    """A refusal in words for whoever sent the request: a page with a way back, or the API's problem document."""

    headers: ClassVar[Headers] = []
    problem: ClassVar[str]
    kind: ClassVar[str]
    titles: ClassVar[tuple[str, str]]

    def __init__(self, path: str, language: str, korean: str, english: str) -> None:
        self.is_managed = bool(MANAGED.match(path))
        self.korean, self.english = korean, english
        self.is_json = path.startswith("/api/")
        self.is_english = language.startswith("en")
        super().__init__(korean)

    def to_response(self, ident: str | None = None) -> tuple[str, Headers, bytes]:
        kind = "application/problem+json" if self.is_json else "text/html; charset=utf-8"
        body = self._json() if self.is_json else self._page()
        return f"{self.code} {self.reason}", [("Content-Type", kind), *self.headers], body.encode()

    def _json(self) -> str:
        text = self.english if self.is_english else self.korean
        facts = {"code": self.problem, "kind": self.kind}
        said = {
            "type": f"/api/docs/#{self.problem}",
            "title": self.titles[self.is_english],
            "status": self.code,
            "detail": text,
        }
        return json.dumps({**said, **facts, "error": {**facts, "message": text}}, ensure_ascii=False)

    def _title(self) -> str:
        return self.titles[0]

    def _page(self) -> str:
        title = self._title()
        return (
            '<!doctype html><html lang="ko"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f'<title>{title}</title><h1>{title}</h1><p>{self.korean}<p lang="en">{self.english}'
            '<p><a href="">돌아가기 (Back)</a></html>'
        )


class BodyTooLarge(Refusal, RequestEntityTooLarge):
    """The refusal of a body; deploy/nginx.conf has its words too, as it refuses before this server does."""

    problem, kind, titles = "upload_too_large", "submission", ("제출 오류", "Submission error")

    def __init__(self, path: str, language: str, limit: int) -> None:
        is_managed = MANAGED.match(path)
        nothing = "저장된 것은 없습니다." if is_managed else "제출 횟수는 차감되지 않습니다."
        korean = f"보낸 파일이 너무 큽니다. {limit} MiB까지 받습니다. {nothing}"
        english = f"The file is too large: up to {limit} MiB are accepted."
        super().__init__(path, language, korean, f"{english} Nothing was {'stored' if is_managed else 'charged'}.")

    def _title(self) -> str:
        return "요청 오류" if self.is_managed else super()._title()


class ArchivesBusy(Refusal):
    """The refusal of an archive for which no place is free."""

    code, reason = 503, "Service Unavailable"
    headers: ClassVar[Headers] = [("Retry-After", str(BUSY_SECONDS)), ("Cache-Control", "no-store")]
    problem, kind, titles = "system_fault", "system", ("시스템 오류", "System error")

    def __init__(self, path: str, language: str) -> None:
        super().__init__(
            path,
            language,
            "지금은 다른 보관 파일을 받고 있습니다. 잠시 뒤에 다시 보내 주십시오. 저장된 것은 없습니다.",
            "Other archives are being received now. Please send yours again in a while. Nothing was stored.",
        )
