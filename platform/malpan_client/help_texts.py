"""The help of the command: by name, in Korean and in English."""

from __future__ import annotations

HELP = {
    "help_program": (
        "말판: 한국어 글쓰기 평가 대회에 파일을 제출하고, 대회를 운영합니다.\n"
        "처음에는 malpan login https://사이트 로 토큰을 저장합니다. CI에서는 MALPAN_SITE와 MALPAN_TOKEN을 씁니다.\n"
        "PLACE는 대회[/트랙[/단계]]의 주소 이름입니다. 트랙이 하나면 대회만 적어도 됩니다.",
        "Malpan: submit to contests of Korean text generation, and run them.\n"
        "Begin with malpan login https://SITE, which keeps a token. In CI set MALPAN_SITE and MALPAN_TOKEN.\n"
        "PLACE is CONTEST[/TRACK[/PHASE]], the names in the addresses. With one track the contest is enough.",
    ),
    "help_end": (
        "종료 코드: 0 성공 · 1 파일이나 요청이 틀림 · 2 사용법 · 3 토큰이 없거나 틀리거나 만료됨, 권한 없음 · 4 "
        "지금은 안 됨(횟수, 기간, 순서)\n"
        "  5 서버나 네트워크 · 6 없음 · 7 접수되었으나 아직 채점되지 않음(--wait-limit) · 8 다른 판의 API · 130 "
        "중단\n"
        "MALPAN_LANG=ko|en, MALPAN_SITE, MALPAN_TOKEN, MALPAN_PASSPHRASE, MALPAN_DEBUG, HTTPS_PROXY, "
        "SSL_CERT_FILE을 읽습니다.",
        "Exit status: 0 done · 1 the file or the request is wrong · 2 usage · 3 no token, a wrong or expired one, or "
        "not allowed\n"
        "  4 not now (limit, phase, order) · 5 server or network · 6 not found · 7 accepted, not scored yet "
        "(--wait-limit)\n"
        "  8 another version of the API · 130 interrupted\n"
        "Reads MALPAN_LANG=ko|en, MALPAN_SITE, MALPAN_TOKEN, MALPAN_PASSPHRASE, MALPAN_DEBUG, HTTPS_PROXY, "
        "SSL_CERT_FILE.",
    ),
    "help_commands": ("명령", "commands"),
    "help_options": ("옵션", "options"),
    "help_arguments": ("인자", "arguments"),
    "help_usage": ("사용법: ", "usage: "),
    "help_error": ("사용법 오류", "usage error"),
    "help_help": ("이 도움말을 보이고 끝냅니다", "show this help and exit"),
    "help_version_option": ("판을 보이고 끝냅니다", "show the version and exit"),
    "help_json": (
        "결과를 JSON으로 씁니다. 오류도 error가 있는 JSON입니다",
        "write the result as JSON, a failure as an object with error",
    ),
    "help_lang": ("언어: ko 또는 en (MALPAN_LANG, 로캘)", "language: ko or en (MALPAN_LANG, locale)"),
    "help_site": (
        "사이트의 주소 (MALPAN_SITE, 마지막으로 로그인한 곳)",
        "address of the site (MALPAN_SITE, the last log-in)",
    ),
    "help_insecure": ("암호화하지 않은 http 주소도 씁니다", "also use an address that is not encrypted"),
    "help_max_wait": (
        "서버가 바쁘거나 답이 없거나 연결이 끊겼을 때 요청마다 모두 몇 초까지 기다릴지 (300). 올린 파일의 답은 "
        "180초까지 기다립니다",
        "seconds to wait in all, for each request, for a busy or silent server or a lost connection (300); the answer "
        "to an upload is waited for up to 180",
    ),
    "help_arg_place": ("대회[/트랙[/단계]]", "CONTEST[/TRACK[/PHASE]]"),
    "help_arg_file": ("파일", "file"),
    "help_arg_id": ("제출의 id", "id of the submission"),
    "help_arg_ids": ("제출의 id", "ids of submissions"),
    "help_arg_names": ("자료의 이름이나 id. 없으면 모두", "names or ids of files; none: all"),
    "help_arg_number": ("번호", "number"),
    # participants
    "help_login": (
        "토큰을 저장합니다(묻거나 표준 입력에서 읽습니다)",
        "keep a token (asked for, or read from the standard input)",
    ),
    "help_logout": ("저장한 토큰을 지웁니다", "forget the token"),
    "help_whoami": ("토큰의 주인, 팀과 역할", "whose token it is, teams and roles"),
    "help_competitions": ("대회 목록, 또는 대회 하나", "the contests, or one of them"),
    "help_files": ("내려받을 자료의 목록", "files for download"),
    "help_download": (
        "자료를 내려받습니다. 끊기면 이어 받고 sha256을 확인합니다",
        "download files; resumed where they were cut off, checked by sha256",
    ),
    "help_terms": ("참가 약관을 읽고 동의합니다", "read and accept the terms"),
    "help_team": ("내 팀을 보거나 만듭니다", "show or make your team"),
    "help_check": (
        "파일을 제출하지 않고 검사합니다\n"
        "서버가 제출할 때와 똑같이, 문항의 id까지 확인합니다. 횟수를 쓰지 않고 파일을 보관하지 않습니다. --local은 "
        "네트워크 없이 이 컴퓨터의 scoring 패키지로 형식을 확인합니다(문항의 id는 --references가 있어야 봅니다).",
        "check a file without submitting it\n"
        "The server checks as for a submission, ids of items included; nothing is charged or kept. --local checks "
        "the form on this machine by the package scoring, without a network (and ids only with --references).",
    ),
    "help_submit": (
        "파일을 제출합니다\n"
        "끊기면 같은 키로 다시 보내므로 두 번 접수되지 않습니다. 똑같은 파일이 이미 접수되어 있으면 다시 보내지 않고 "
        "그 제출을 보여 줍니다(--again은 다시 보냅니다).",
        "submit a file\n"
        "After a cut connection it is sent again under the same key, and never accepted twice. If this very file was "
        "submitted before, that submission is shown and nothing is spent (--again submits it once more).",
    ),
    "help_submissions": ("내 팀의 제출 내역", "the submissions of your team"),
    "help_submission": ("제출 하나의 상태와 점수", "state and scores of a submission"),
    "help_fetch": ("제출한 파일을 내려받습니다", "download the file of a submission"),
    "help_limits": ("남은 제출 횟수와 다음 제출 시각", "what is left of the limits, and the next time"),
    "help_board": ("순위표. 발표되었으면 최종 순위표", "the board; the final one once it is published"),
    "help_final": ("최종 순위표에 반영할 제출을 고르거나 봅니다", "choose the submissions that count, or show them"),
    "help_withdraw": ("제출을 철회합니다", "withdraw a submission"),
    # their options
    "help_to": ("내려받을 폴더", "folder for the files"),
    "help_force": ("다른 파일이 있어도 바꿉니다", "replace another file that is there"),
    "help_accept": ("읽은 약관의 판", "the version that you read"),
    "help_create": (
        "파일대로 대회를 만들거나 맞춥니다. 다시 실행하면 다른 것만 바꿉니다\n"
        "파일은 TOML이나 JSON입니다. slug와 title_ko, [[tracks]]에 slug, title_ko, recipe, [[tracks.phases]]에 slug, "
        "title_ko, starts_at, ends_at, references = '정답.json'을 적습니다. 있는 대회의 파일은 malpan settings get "
        "대회가 씁니다. 잘못 쓴 이름에는 알려진 이름을 모두 보여 줍니다.",
        "make a contest from a file; run again it changes only what differs\n"
        "The file is TOML or JSON: slug and title_ko; in [[tracks]] slug, title_ko, recipe; in [[tracks.phases]] slug, "
        "title_ko, starts_at, ends_at, references = 'answers.json'. malpan settings get CONTEST writes that of a "
        "contest that is there. A misspelled name is answered with all known ones.",
    ),
    "help_create_team": ("이 이름의 팀을 만듭니다", "make a team of this name"),
    "help_local": ("이 컴퓨터의 scoring 패키지로 검사합니다", "check by the package scoring on this machine"),
    "help_recipe": ("채점 방식. 예: rag-qa@1", "recipe, such as rag-qa@1"),
    "help_own_references": ("--local에서 견줄 정답 파일", "references to compare with, for --local"),
    "help_memo": ("팀만 보는 메모", "a memo for your team"),
    "help_dry_run": (
        "바꾸지 않고 무엇이 될지만 봅니다. 지금은 안 될 것이면 종료 코드가 4입니다",
        "change nothing, only say what would be; ends with 4 where it could not be done now",
    ),
    "help_again": (
        "똑같은 파일이라도 다시 제출합니다(횟수를 씁니다)",
        "submit the very same file once more (spends a slot)",
    ),
    "help_wait": ("채점이 끝날 때까지 기다립니다", "wait until it is scored"),
    "help_wait_limit": ("--wait로 기다릴 초. 지나면 7로 끝냅니다", "seconds to wait at most; then the status is 7"),
    "help_all_rows": ("모든 줄", "all rows"),
    "help_none": ("선택을 비웁니다", "choose none"),
    "help_yes": ("묻지 않고 합니다", "do not ask"),
    # organisers
    "help_settings": ("대회의 설정을 파일로 읽고 씁니다", "the settings of a contest as a file"),
    "help_settings_get": ("설정을 TOML(--json: JSON)로 씁니다", "write the settings as TOML (JSON with --json)"),
    "help_settings_update": ("있는 대회를 파일대로 고칩니다", "bring a contest that is there to its file"),
    "help_references": ("정답 판", "versions of the references"),
    "help_references_list": ("모든 정답 판", "all versions"),
    "help_references_upload": ("정답을 초안으로 올립니다", "upload references as a draft"),
    "help_references_publish": (
        "제출이 없는 단계의 초안을 반영합니다",
        "make a draft current where nothing was submitted",
    ),
    "help_references_diff": ("지금 판과 달라진 정답", "what a version changes"),
    "help_references_discard": ("쓰지 않은 초안을 지웁니다", "delete an unused draft"),
    "help_built_in_synonyms": ("유의어 표를 기본 표로 되돌립니다", "go back to the built-in table of synonyms"),
    "help_synonyms": ("METEOR의 유의어 표(TSV)", "table of synonyms of METEOR (TSV)"),
    "help_frames": ("문항의 그림 zip", "zip with the pictures of the items"),
    "help_note": ("운영자끼리 보는 메모", "a note for organisers"),
    "help_erratum_ko": ("반영할 때 공지할 글(한국어)", "what is announced when it is published (Korean)"),
    "help_erratum_en": ("반영할 때 공지할 글(영어)", "what is announced when it is published (English)"),
    "help_at_once": (
        "초안이 아니라 바로 반영합니다(제출이 없을 때)",
        "make it current at once (where nothing was submitted)",
    ),
    "help_rescore": ("재채점", "rescoring"),
    "help_rescore_list": ("재채점 목록", "the rescorings"),
    "help_rescore_start": (
        "재채점을 시작합니다. 적용할 때까지 순위표는 그대로입니다",
        "start; the board stays as it is until it is applied",
    ),
    "help_from_scratch": (
        "이미 계산해 둔 값을 쓰지 않습니다(채점 서버 하나가 잘못된 값을 냈을 때)",
        "use no value that was computed before (where a scoring worker computed wrong ones)",
    ),
    "help_rescore_show": ("재채점 하나와 그 진행", "a rescoring and its progress"),
    "help_rescore_preview": ("적용하면 바뀔 점수와 순위", "which scores and ranks would change"),
    "help_rescore_apply": ("본 그대로 적용합니다", "apply what was seen"),
    "help_rescore_order": (
        "채점이 끝나면 저절로 적용하도록 예약합니다",
        "have it applied by itself when all is scored",
    ),
    "help_rescore_withdraw": ("적용 예약을 거둡니다", "take the order back"),
    "help_rescore_cancel": ("취소합니다", "cancel it"),
    "help_reason": ("까닭(감사 기록과 공지에 남습니다)", "the reason, which is recorded and shown"),
    "help_also": (
        "같은 트랙의 이 단계도 함께. 한꺼번에 적용됩니다. 예: open,final",
        "these phases of the track too, applied together, as open,final",
    ),
    "help_version": ("정답 판의 id, 또는 draft(가장 새 초안)", "id of a version, or draft for the newest one"),
    "help_profile": ("모델 프로필", "model profile"),
    "help_since": ("이 시각부터 제출한 것만", "only what was submitted from then on"),
    "help_until": ("이 시각까지 제출한 것만", "only what was submitted until then"),
    "help_state": ("이 상태의 제출만", "only submissions in this state"),
    "help_teams": ("이 번호의 팀만. 예: 1,4,9", "only teams of these numbers, as 1,4,9"),
    "help_seen": (
        "미리보기의 seen. 그사이 달라졌으면 적용하지 않습니다",
        "seen of a preview: applied only if nothing changed since",
    ),
    "help_title_ko": ("공지의 제목(한국어)", "title of a notice (Korean)"),
    "help_body_ko": ("공지의 내용(한국어)", "text of the notice (Korean)"),
    "help_title_en": ("공지의 제목(영어)", "title of the notice (English)"),
    "help_body_en": ("공지의 내용(영어)", "text of the notice (English)"),
    "help_grant": ("팀마다 더 줄 제출 횟수", "slots to give to each team"),
    "help_guard": (
        "1위부터 이 순위까지의 순서가 바뀌면 적용하지 않습니다. 0은 언제나 적용합니다 (3)",
        "not applied where the order of the first so many places changes; 0: always applied (3)",
    ),
    "help_reset_quota": ("모든 팀의 횟수를 처음으로 되돌립니다", "reset the limits of all teams"),
    "help_leave_other_phases": (
        "다른 단계의 점수가 순위표에서 빠져도 적용합니다",
        "apply although scores of other phases leave the board",
    ),
    "help_publish": ("대회나 최종 순위표를 공개합니다", "publish the contest or the final board"),
    "help_publish_contest": (
        "대회를 공개합니다. 빠진 것이 있으면 알려 줍니다",
        "open the contest to everybody; says what is missing",
    ),
    "help_publish_board": ("최종 순위표를 발표합니다", "publish the final board"),
    "help_accept_gaps": ("빠진 것이 있어도 공개합니다", "publish although something is missing"),
    "help_note_ko": ("다시 발표하는 까닭(한국어)", "why it is published again (Korean)"),
    "help_note_en": ("다시 발표하는 까닭(영어)", "why it is published again (English)"),
    "help_close": ("진행 중인 단계를 지금 마감합니다", "end a running phase now"),
    "help_export": ("대회를 보관 파일로 내려받습니다", "download the archive of the contest"),
    "help_to_file": ("파일의 이름 (대회.zip)", "name of the file (CONTEST.zip)"),
    "help_encrypt": (
        "정답도 암호화해 담습니다(MALPAN_PASSPHRASE 또는 물음)",
        "include the references, encrypted (MALPAN_PASSPHRASE, or asked for)",
    ),
}

USAGE_ERRORS = (  # argparse words them in English only; these are all that the arguments of this command can cause
    (r"the following arguments are required: (.+)", r"필요한 인자가 없습니다: \1"),
    (r"argument (.+): invalid choice: '?(.+?)'? \(choose from (.+)\)", r"\1: ‘\2’ 값은 쓸 수 없습니다. 가능한 값: \3"),
    (r"unrecognized arguments: (.+)", r"모르는 인자입니다: \1"),
    (r"argument (.+): expected (?:one|at least one) argument", r"\1: 값이 필요합니다"),
    (r"argument (.+): invalid (?:int|float|number_list|number_or_none) value: (.+)", r"\1: 숫자가 아닙니다: \2"),
    (r"argument (.+): ignored explicit argument (.+)", r"\1: 값을 받지 않습니다(\2)"),
)
