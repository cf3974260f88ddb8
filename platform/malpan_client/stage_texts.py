"""The texts of stages of judging: by name, in Korean and in English."""

from __future__ import annotations

STAGES = {
    "help_stages": ("심사: 순위표 뒤에 이어지는 심사와 점수표", "stages of judging, and their tables of scores"),
    "help_stages_list": ("모든 심사와 그 상태", "all stages and where they stand"),
    "help_stages_show": ("심사 하나: 설정, 점수표, 발표", "a stage: settings, tables, publications"),
    "help_stages_create": (
        "심사를 트랙의 맨 뒤에 더합니다\n"
        "첫 심사는 --phase의 최종 순위표를, 그 뒤의 심사는 --campaign의 결과나 입력한 점수표를 읽습니다.",
        "add a stage to the end of a track\n"
        "The first one reads the final board of --phase, a later one the result of --campaign or a table that is "
        "entered.",
    ),
    "help_stages_update": ("심사를 고칩니다. 적은 것만 바뀝니다", "change a stage: what is named"),
    "help_stages_remove": (
        "점수표와 결과가 없는 마지막 심사를 지웁니다",
        "delete the last stage, if it has neither tables nor results",
    ),
    "help_stages_teams": (
        "점수를 적을 표(TSV): 팀과 지금까지의 점수",
        "the table to fill in (TSV): teams, and their scores so far",
    ),
    "help_stages_scores": ("가장 새 점수표", "the newest table of scores"),
    "help_stages_enter": (
        "점수표를 입력합니다. 다른 운영자가 확인해야 발표할 수 있습니다",
        "enter a table of scores; another organiser has to confirm it",
    ),
    "help_stages_confirm": ("다른 사람이 입력한 점수표를 확인합니다", "confirm the table that somebody else entered"),
    "help_stages_reject": (
        "다른 사람이 입력한 점수표를 돌려보냅니다",
        "send back the table that somebody else entered",
    ),
    "help_publish_stage": ("심사의 결과를 발표합니다", "publish the result of a stage"),
    "help_publish_standing": ("모든 심사의 종합 결과를 발표합니다", "publish the combined standing of all stages"),
    "help_arg_scores": (
        "점수표: 한 줄에 팀 번호나 이름과 점수(CSV, TSV)",
        "the table: a team's number or name and its score in each line (CSV, TSV)",
    ),
    "help_scores_reason": ("고친 점수표라면 그 까닭", "the reason of a correction"),
    "help_seen_scores": (
        "본 점수표의 seen. 그사이 달라졌으면 하지 않습니다",
        "seen of the table that was looked at: done only if nothing changed since",
    ),
    "help_stage_title_ko": ("심사의 이름(한국어)", "name of the stage (Korean)"),
    "help_stage_title_en": ("심사의 이름(영어)", "name of the stage (English)"),
    "help_stage_notice_ko": ("참가자에게 보일 안내(한국어)", "what readers are told of it (Korean)"),
    "help_stage_notice_en": ("참가자에게 보일 안내(영어)", "what readers are told of it (English)"),
    "help_stage_phase": (
        "첫 심사가 읽을 최종 순위표의 단계",
        "the phase whose final board the first stage reads",
    ),
    "help_stage_campaign": (
        "읽을 사람 평가의 id. none이면 점수를 입력합니다",
        "id of the human evaluation that it reads; none: scores are entered",
    ),
    "help_stage_weight": ("종합에서의 비중(0~1000)", "weight in the combined standing (0 to 1000)"),
    "help_stage_cut": ("다음 심사로 갈 팀의 수. none이면 모두", "how many teams go on; none: all of them"),
    "help_stage_scale_min": ("입력하는 점수의 최저점", "lowest score that may be entered"),
    "help_stage_scale_max": ("입력하는 점수의 최고점", "highest score that may be entered"),
    "help_stage_normalisation": ("점수(value)나 순위(rank)로 종합합니다", "what counts: the value or the rank"),
    "help_stage_tie_rule": (
        "동점: 같은 순위(shared)나 먼저 제출한 팀(earlier)",
        "of equal scores: a shared rank, or the earlier submission first",
    ),
    "help_announce": ("심사가 있음을 누구에게나 알립니다", "say to everybody that there is this stage"),
    "help_conceal": ("발표할 때까지 운영자만 봅니다", "only organisers see it until it is published"),
    "cut": ("진출", "go on"),
    "goes_on": ("진출", "goes on"),
    "number": ("번호", "number"),
    "publication": ("발표 {number}판", "publication {number}"),
    "scale": ("점수 범위", "scale"),
    "source": ("점수의 출처", "scores from"),
    "source_board": ("최종 순위표", "final board"),
    "source_campaign": ("사람 평가", "human evaluation"),
    "source_table": ("점수표", "table"),
    "stage_behind": ("발표 {number}판을 다시 발표해야 함", "publication {number} is to be published again"),
    "stage_open": ("열림", "open"),
    "stage_published": ("발표 {number}판", "publication {number}"),
    "stage_waits": ("앞의 발표를 기다림", "waits for what is before it"),
    "state_table_confirmed": ("확인됨", "confirmed"),
    "state_table_none": ("점수표 없음", "no table"),
    "state_table_pending": ("확인 대기", "waits to be confirmed"),
    "state_table_rejected": ("돌려보냄", "sent back"),
    "table_version": ("점수표 {number}판", "table {number}"),
    "team_number": ("팀 번호", "team number"),
    "weight": ("비중", "weight"),
    "no_stages": ("심사가 없습니다.", "There are no stages."),
    "not_a_table": (
        "{path}: UTF-8, CP949나 UTF-16으로 저장한 표가 아닙니다.",
        "{path} is no text in UTF-8, CP949 or UTF-16.",
    ),
    "stage_removed": ("심사 {id}번을 지웠습니다.", "Stage {id} is deleted."),
    "scores_entered": (
        "점수표 {number}판을 입력했습니다. 다른 운영자가 확인합니다: malpan stages confirm {place} {id}",
        "Table {number} is entered. Another organiser confirms it: malpan stages confirm {place} {id}",
    ),
    "result_published": (
        "결과 {number}판을 발표했습니다. 줄 {count}개, sha256 {sha256}",
        "Result {number} is published: {count} rows, sha256 {sha256}",
    ),
    "confirm_scores": (
        "{entered_by}님이 입력한 점수표 {number}판이 맞습니까? 확인하면 이 점수로 발표할 수 있습니다.",
        "Is table {number}, entered by {entered_by}, right? Once confirmed it can be published.",
    ),
    "confirm_stage": ("심사 {id}번의 결과를 누구에게나 발표할까요?", "Publish the result of stage {id} to everybody?"),
    "confirm_stage_removal": ("심사 {id}번을 지울까요?", "Delete stage {id}?"),
    "confirm_standing": ("{track}의 종합 결과를 누구에게나 발표할까요?", "Publish the combined standing of {track}?"),
}
