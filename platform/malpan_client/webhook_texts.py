"""The texts of webhooks: by name, in Korean and in English."""

from __future__ import annotations

WEBHOOKS = {
    "help_webhooks": (
        "웹훅: 사건이 있을 때 사이트가 내 프로그램에 보냅니다",
        "webhooks: the site tells your program of events",
    ),
    "help_webhooks_list": ("웹훅을 봅니다", "list the webhooks"),
    "help_webhooks_create": (
        "웹훅을 만듭니다. 서명을 확인할 비밀 값은 한 번만 나옵니다",
        "make a webhook; the secret that verifies its signatures is shown once",
    ),
    "help_webhooks_update": ("웹훅의 주소나 사건을 바꾸거나, 끄고 켭니다", "change a webhook, switch it off or on"),
    "help_webhooks_remove": ("웹훅을 기록과 함께 지웁니다", "remove a webhook with its log"),
    "help_webhooks_test": ("시험 사건을 보냅니다(1분에 한 번)", "send a test event (one a minute)"),
    "help_webhooks_log": ("보낸 기록을 봅니다", "list what was sent"),
    "help_webhooks_resend": ("같은 webhook-id로 다시 보냅니다", "send it again under the same webhook-id"),
    "help_arg_url": ("받을 주소(https). -이면 표준 입력에서 읽습니다", "the https address; - reads it from the input"),
    "help_url": ("새 주소. -이면 표준 입력에서 읽습니다", "the new address; - reads it from the input"),
    "help_arg_webhook": ("웹훅의 id", "id of the webhook"),
    "help_arg_delivery": ("기록의 id", "id of what was sent"),
    "help_events": ("사건의 이름, 쉼표로 나눕니다", "names of events, with commas between"),
    "help_contest": (
        "내 것이 아니라 운영하는 이 대회의 웹훅",
        "the webhooks of this contest, which you run, not your own",
    ),
    "help_on": ("켭니다", "switch it on"),
    "help_off": ("끕니다", "switch it off"),
    "url": ("주소", "address"),
    "events": ("사건", "events"),
    "event": ("사건", "event"),
    "attempts": ("시도", "attempts"),
    "attempt_at": ("다음 시도", "next attempt"),
    "error": ("오류", "error"),
    "state_on": ("켜짐", "on"),
    "state_off": ("꺼짐", "off"),
    "state_failing": ("실패하는 중", "failing"),
    "state_waiting": ("대기 중", "waiting"),
    "state_sent": ("보냄", "sent"),
    "state_dropped": ("보내지 않음", "not sent"),
    "no_webhooks": ("만든 웹훅이 없습니다.", "There are no webhooks."),
    "no_deliveries": ("보낸 것이 없습니다.", "Nothing was sent yet."),
    "webhook_made": ("웹훅 {id}번을 만들었습니다.", "Webhook {id} is made."),
    "webhook_secret": (
        "서명의 비밀 값입니다. 다시 보여 드리지 않습니다: {secret}",
        "The secret of its signatures, never shown again: {secret}",
    ),
    "confirm_webhook_removal": ("웹훅 {id}번을 기록과 함께 지울까요?", "Remove webhook {id} with its log?"),
    "webhook_removed": ("웹훅 {id}번을 지웠습니다.", "Webhook {id} is removed."),
    "webhook_sent": ("곧 보냅니다: {webhook_id}", "Will be sent soon: {webhook_id}"),
    "what_to_change": ("무엇을 바꿀지 적어 주십시오.", "Say what to change."),
}
