"""What the command says when something went wrong, and what to do then."""

from __future__ import annotations

FAILURES = {  # what went wrong
    "broken_off": ("상대가 연결을 끊었습니다.", "the other side ended the connection."),
    "cannot_read": ("{path} 파일을 읽을 수 없습니다: {reason}", "Cannot read {path}: {reason}"),
    "cannot_write": ("{path}에 쓸 수 없습니다: {reason}", "Cannot write {path}: {reason}"),
    "check_where": (
        "어느 대회의 파일인지 적거나(malpan check 대회/트랙 파일), --local로 이 컴퓨터에서 검사하십시오.",
        "Name the contest (malpan check CONTEST/TRACK FILE), or check on this machine with --local.",
    ),
    "closed": ("지금은 제출을 받지 않습니다: {times}", "Submissions are not accepted now: {times}"),
    "cut_off": ("답을 받기 전에 연결이 끊겼습니다: {reason}", "The connection was lost before the answer: {reason}"),
    "damaged_again": (
        "{path}: 받은 파일의 sha256이 사이트에 적힌 것과 다릅니다.",
        "{path}: its sha256 is not that of the site.",
    ),
    "empty_file": ("{path}: 빈 파일입니다.", "{path} is empty."),
    "errors_shown": ("오류 {total}건 가운데 {shown}건:", "{shown} of {total} errors:"),
    "failed": ("하지 못했습니다", "Failed"),
    "field_missing": ("서버의 답에 ‘{name}’ 항목이 없습니다.", "The server's answer has no “{name}”."),
    "file_changed": (
        "보내는 동안 파일이 바뀌었습니다. 접수된 파일을 확인하십시오.",
        "The file changed while it was sent. Check what was accepted.",
    ),
    "file_names": ("이름이 같은 파일이 둘 있습니다.", "two files have the same name."),
    "file_needs": ("파일마다 path와 title_ko가 있어야 합니다.", "each file needs path and title_ko."),
    "file_trouble": ("파일을 쓰거나 읽지 못했습니다: {path} ({reason})", "Trouble with a file: {path} ({reason})"),
    "interrupted": ("중단했습니다.", "Interrupted."),
    "is_folder": ("파일이 아니라 폴더입니다", "it is a folder, no file"),
    "moved": ("사이트가 다른 주소로 옮겨 가게 합니다: {address}", "The site redirects to another address: {address}"),
    "next_allowed": ("다음 제출은 {moment}부터 할 수 있습니다.", "The next submission is possible from {moment}."),
    "no_address": ("사이트의 주소가 아닙니다: {address}", "Not the address of a site: {address}"),
    "no_contest": (
        "{path}: 대회의 주소 이름 slug가 없습니다.",
        "{path} has no slug, the name of the contest's address.",
    ),
    "not_over": (
        "단계가 {moment}에 끝납니다. 그 전에는 발표할 수 없습니다.",
        "The phase ends at {moment}: its board cannot be published before.",
    ),
    "not_scored": (
        "채점이 끝나지 않은 제출이 {count}건 있어 아직 발표할 수 없습니다.",
        "Submissions are still to be scored ({count}): the board cannot be published yet.",
    ),
    "no_draft": ("이 단계에 초안이 없습니다.", "The phase has no draft."),
    "no_file": ("이런 자료가 없습니다: {name}", "There is no such file: {name}"),
    "no_folder": ("{path}: 이런 폴더가 없습니다.", "{path}: no such folder."),
    "no_json": ("서버의 답을 읽을 수 없습니다(JSON이 아니라 {kind}).", "The server's answer is no JSON ({kind})."),
    "no_list": ("서버의 답에 목록이 없습니다.", "The server's answer has no list where one is due."),
    "no_malpan": (
        "{address}의 답이 말판의 것이 아닙니다(HTTP {status}).",
        "{address} does not answer as a Malpan site does (HTTP {status}).",
    ),
    "no_passphrase": (
        "암호 구문이 없습니다. MALPAN_PASSPHRASE에 넣거나 터미널에서 실행하십시오.",
        "There is no passphrase: set MALPAN_PASSPHRASE, or run this in a terminal.",
    ),
    "no_phase": ("{place}에 그런 단계가 없습니다.", "There is no such phase: {place}"),
    "no_phase_now": ("진행 중인 단계가 없습니다.", "no phase is running."),
    "no_place": (
        "‘{text}’: 대회, 대회/트랙 또는 대회/트랙/단계를 적으십시오.",
        "“{text}”: write CONTEST, CONTEST/TRACK or CONTEST/TRACK/PHASE.",
    ),
    "no_scoring": ("이 컴퓨터에 scoring 패키지가 없습니다.", "The package scoring is not on this machine."),
    "no_slot": ("지금은 제출할 수 있는 횟수가 없습니다.", "There is no submission left now."),
    "no_permission": ("읽거나 쓸 권한이 없습니다", "no permission to read or write it"),
    "no_such_file": ("파일이 없습니다", "no such file"),
    "no_such_host": ("서버의 이름을 찾을 수 없습니다(DNS).", "the name of the server is not known (DNS)."),
    "no_tables": ("{place}: 표의 목록이어야 합니다([[…]]).", "{place}: a list of tables is needed ([[…]])."),
    "no_token": ("{site}의 토큰이 없습니다.", "There is no token for {site}."),
    "no_token_text": ("토큰으로 쓸 수 없는 글입니다.", "This cannot be a token."),
    "no_toml": (
        "이 Python에는 TOML을 읽는 기능이 없습니다. Python 3.11 이상을 쓰거나 JSON으로 적으십시오.",
        "This Python reads no TOML. Use Python 3.11 or newer, or write JSON.",
    ),
    "not_confirmed": ("하지 않았습니다.", "Nothing was done."),
    "not_encrypted": (
        "{address}: 암호화되지 않은 주소로는 토큰을 보내지 않습니다. https 주소를 쓰거나, 위험을 알고 있다면 "
        "--insecure를 붙이십시오.",
        "{address} is not encrypted: others could read the token. Use https or, if you accept that, --insecure.",
    ),
    "not_reached": ("{site}에 연결하지 못했습니다: {reason}", "Cannot reach {site}: {reason}"),
    "not_trusted": (
        "{host}의 인증서를 믿을 수 없습니다: {reason}. 기관의 인증서는 SSL_CERT_FILE로 알려 줍니다.",
        "The certificate of {host} is not trusted: {reason}. Name your own authority in SSL_CERT_FILE.",
    ),
    "other_file_there": (
        "{path}에 다른 파일이 있습니다. 바꾸려면 --force",
        "Another file is at {path}. --force replaces it.",
    ),
    "other_phase": (
        "파일은 지금의 단계로만 보낼 수 있습니다. 적은 단계는 {phase}, 지금의 단계는 {now}입니다.",
        "Files go to the present phase only. You named {phase}; the present one is {now}.",
    ),
    "other_version": (
        "서버의 API는 {version}판이고 이 명령은 {own}판을 씁니다.",
        "The server's API is version {version}; this command speaks version {own}.",
    ),
    "own_names": ("트랙과 단계마다 서로 다른 slug가 있어야 합니다.", "Each track and phase needs a slug of its own."),
    "refused": ("서버가 연결을 받지 않습니다.", "the server takes no connection."),
    "request_id": ("요청 번호: {id}", "Request: {id}"),
    "say_yes": ("{question} 터미널이 아니므로 --yes가 있어야 합니다.", "{question} This is no terminal: say --yes."),
    "short_answer": ("답이 중간에 끝났습니다.", "the answer ended too early."),
    "too_soon": (
        "제출 사이의 최소 간격({seconds}초)이 아직 지나지 않았습니다.",
        "The least time between two submissions ({seconds} s) is not over yet.",
    ),
    "timed_out": ("답이 없습니다(시간 초과).", "no answer in time."),
    "too_many_hops": ("주소가 끝없이 이어집니다: {address}", "Too many redirections: {address}"),
    "unexpected": (
        "서버의 답이나 이 명령에 예상하지 못한 문제가 있습니다({error}). MALPAN_DEBUG=1로 다시 실행하면 자세히 "
        "보입니다.",
        "Something unexpected in the server's answer or in this command ({error}). MALPAN_DEBUG=1 shows more.",
    ),
    "unknown_names": ("모르는 항목: {names}. 쓸 수 있는 항목: {known}", "unknown: {names}. Known are: {known}"),
    "would_be_refused": ("사이트가 받지 않을 것이 {count}가지 있습니다.", "The site would refuse this ({count}):"),
    "nothing_begun": (
        "아무것도 바꾸지 않았습니다. 파일을 고쳐 같은 명령을 다시 보내십시오.",
        "Nothing was changed. Mend the file and give the same command again.",
    ),
    "would_leak": (
        "{path}: 정답 파일과 같은 파일이라 공개 자료로 쓸 수 없습니다.",
        "{path}: the same file holds reference answers, so it cannot be a file for download.",
    ),
    "which_phase": ("어느 단계인지 적으십시오: {names}", "Which phase? {names}"),
    "which_recipe": (
        "--local에는 --recipe가 있어야 합니다. 예: --recipe rag-qa@1",
        "--local needs --recipe, such as --recipe rag-qa@1.",
    ),
    "which_site": ("어느 사이트인지 알 수 없습니다(--site 또는 MALPAN_SITE).", "Which site? (--site or MALPAN_SITE)"),
    "which_track": ("어느 트랙인지 적으십시오: {names}", "Which track? {names}"),
    "which_version": ("‘{name}’: 정답 판의 id나 draft를 적으십시오.", "“{name}”: write the id of a version, or draft."),
}

HINTS = {  # what to do next; ``next_`` with a code or an HTTP status of the server
    "next": ("다음에 할 일: {hint}", "Next: {hint}"),
    "accept_gaps": (
        "갖춘 뒤 다시 하거나, 그래도 공개하려면 --accept-gaps",
        "complete it, or publish all the same with --accept-gaps",
    ),
    "bring_again": (
        "고친 뒤 같은 명령을 다시 실행하십시오. 이미 된 것은 건너뛰고 이어서 합니다.",
        "mend it and run the same command again: what is done is skipped.",
    ),
    "follow": ("malpan submission {id}", "malpan submission {id}"),
    "get_newer": ("맞는 판을 받으십시오: {address}", "get the version of this site: {address}"),
    "install_scoring": (
        "말판 소스의 scoring 폴더를 설치하거나(pip install ./scoring), --local 없이 서버에서 검사하십시오.",
        "install the folder scoring of Malpan's source (pip install ./scoring), or check without --local",
    ),
    "log_in_there": ("malpan login {site}", "malpan login {site}"),
    "look_first": (
        "되었을 수도 있으니 먼저 확인한 뒤 다시 하십시오.",
        "it may have been done: look first, then try again.",
    ),
    "maybe_accepted": (
        "제출이 이미 접수되었을 수 있습니다. 같은 명령을 다시 실행하면 같은 키로 이어서 보내므로 두 번 접수되지 "
        "않습니다.",
        "the submission may have been accepted. Run the same command again: it is sent under the same key, and never "
        "accepted twice.",
    ),
    "right_site": (
        "사이트의 주소와 네트워크(프록시, 로그인 화면)를 확인하십시오.",
        "check the site's address and the network (a proxy, a log-in page)",
    ),
    "try_later": ("네트워크를 확인하고 잠시 뒤에 다시 실행하십시오.", "check the network and run it again in a while"),
    "next_api_scope_missing": (
        "{site}/tokens/에서 쓸 곳을 더 고른 토큰을 만들고 malpan login {site}",
        "make a token for this at {site}/tokens/, then malpan login {site}",
    ),
    "next_api_token_expired": (
        "{site}/tokens/에서 새 토큰을 만들고 malpan login {site}",
        "make a new token at {site}/tokens/, then malpan login {site}",
    ),
    "next_api_token_invalid": (
        "MALPAN_TOKEN을 확인하거나 malpan login {site}",
        "check MALPAN_TOKEN, or malpan login {site}",
    ),
    "next_file_rejected": (
        "위의 곳을 고치고 malpan check로 확인한 뒤 다시 제출하십시오.",
        "mend these places, malpan check the file, then submit it again",
    ),
    "next_not_team_member": (
        "malpan team 대회 --create 이름, 또는 초대 링크로 팀에 들어가십시오.",
        "malpan team CONTEST --create NAME, or join a team by an invitation",
    ),
    "next_phase_not_open": (
        "malpan competitions 대회로 기간을 확인하십시오.",
        "malpan competitions CONTEST shows the times",
    ),
    "next_quota_exceeded": (
        "malpan limits 대회/트랙으로 남은 횟수를 봅니다.",
        "malpan limits CONTEST/TRACK shows what is left",
    ),
    "next_references_in_use": (
        "--publish 없이 초안으로 올리고 malpan rescore start로 반영하십시오.",
        "upload it as a draft, without --publish, then malpan rescore start",
    ),
    "next_terms_not_accepted": (
        "malpan terms 대회로 읽고 malpan terms 대회 --accept 판",
        "read malpan terms CONTEST, then malpan terms CONTEST --accept VERSION",
    ),
    "next_terms_changed": (
        "바뀐 약관을 malpan terms 대회로 읽으십시오.",
        "read the new terms with malpan terms CONTEST",
    ),
    "next_503": ("잠시 뒤에 같은 명령을 다시 실행하십시오.", "run the same command again in a while"),
}
