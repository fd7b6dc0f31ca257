# shellcheck shell=bash
# The recorded sessions of four agents, and the events of four others, through `cook hook AGENT`.
# shellcheck source=tests/contract/stages.sh
source "$CONTRACT/stages.sh"
data="$CONTRACT/../data/hooks"
# minute N: the clock after so many steps of ten seconds.
tick() {
  local second=$(($1 * 10))
  COOK_NOW="$(printf '2026-03-02T14:%02d:%02dZ' $((second / 60)) $((second % 60)))"
  export COOK_NOW
}
# send AGENT EVENT JSON [OPTIONS...]: one event; its answer is shown as JSON where it is.
send() {
  local agent="$1" event="$2"
  printf '%s' "$3" >"$ROOM/event"
  shift 3
  record "cook hook $agent${*:+ $*} < $event" json "$COOK" hook "$agent" "$@" <"$ROOM/event"
}
# take_in NAME SESSION: `cook next --take` with the variable by which the agent names its session.
take_it() { quietly env "$1=s" "$COOK" next --take; }

selected base
for recording in claude claude-waits codex gemini qwen; do
  agent="${recording%-waits}"
  case "$agent" in
    claude) variable=CLAUDE_CODE_SESSION_ID ;;
    codex) variable=CODEX_THREAD_ID ;;
    gemini) variable=GEMINI_CLI ;;
    qwen) variable=QWEN_CODE_SESSION_ID ;;
  esac
  note "the recorded session $recording"
  cp -R "$ROOM/base" "$ROOM/$recording"
  cd "$ROOM/$recording" || exit
  number=0
  while IFS= read -r line; do
    number=$((number + 1))
    tick "$number"
    line="${line//@ROOT@/$PWD}"
    line="${line//@SESSION@/s}"
    read -r event taken < <(jq -r '.hook_event_name + " " + ((.tool_input.command? // "") == "cook next --take" | tostring)' <<<"$line")
    [[ "$taken" == true && ("$event" == PostToolUse || "$event" == AfterTool) ]] && take_it "$variable"
    send "$agent" "$number-$event" "$line"
  done <"$data/$recording.jsonl"
done

for agent in copilot cursor opencode pi; do
  note "the events of $agent"
  cp -R "$ROOM/base" "$ROOM/$agent"
  cd "$ROOM/$agent" || exit
  number=0
  case "$agent" in
    copilot) events="sessionStart userPromptSubmitted preToolUse postToolUse preCompact agentStop agentStop sessionEnd" variable=COPILOT_AGENT_SESSION_ID ;;
    cursor) events="sessionStart beforeSubmitPrompt preToolUse beforeShellExecution afterFileEdit postToolUse preCompact stop stop sessionEnd" variable=CURSOR_AGENT ;;
    opencode) events="session_start prompt before_tool after_tool before_compact after_compact usage stop stop session_end" variable=OPENCODE ;;
    pi) events="session_start prompt before_tool after_tool turn_end before_compact after_compact stop stop session_end" variable=PI_SESSION_ID ;;
  esac
  for event in $events; do
    number=$((number + 1))
    tick "$number"
    [[ "$event" == postToolUse || "$event" == after_tool ]] && take_it "$variable"
    case "$agent" in
      copilot)
        send "$agent" "$number-$event" "$(jq -nc --arg cwd "$PWD" --arg event "$event" '{sessionId: "s", cwd: $cwd, toolName: "bash",
          toolArgs: ({command: "cook next --take"} | tojson), prompt: "p", source: "new", id: $event}')" --event "$event"
        ;;
      cursor)
        send "$agent" "$number-$event" "$(jq -nc --arg cwd "$PWD" --arg event "$event" '{hook_event_name: $event, conversation_id: "s",
          workspace_roots: [$cwd], generation_id: "g", tool_name: "Shell", tool_input: {command: "cook next --take"},
          command: "cook next --take", file_path: "a.txt", prompt: "p"}')"
        ;;
      *)
        send "$agent" "$number-$event" "$(jq -nc --arg cwd "$PWD" --arg event "$event" '{event: $event, session: "s", cwd: $cwd, tool: "bash",
          call_id: $event, args: {command: "cook next --take"}, prompt: "p", typed: true}')"
        ;;
    esac
  done
done

note "the files of cook are guarded"
cp -R "$ROOM/base" "$ROOM/guard"
cd "$ROOM/guard" || exit
tick 1
send claude SessionStart "$(jq -nc --arg cwd "$PWD" '{hook_event_name: "SessionStart", session_id: "s", cwd: $cwd, transcript_path: "",
  source: "startup"}')"
take_it CLAUDE_CODE_SESSION_ID
send claude PostToolUse-take "$(jq -nc --arg cwd "$PWD" '{hook_event_name: "PostToolUse", session_id: "s", cwd: $cwd, transcript_path: "",
  tool_name: "Bash", tool_use_id: "t", tool_input: {command: "cook next --take"}}')"
for path in .agent/plan.json .agent/mission.md tests/run.sh; do
  send claude "PreToolUse-$path" "$(jq -nc --arg cwd "$PWD" --arg path "$PWD/$path" '{hook_event_name: "PreToolUse", session_id: "s",
    cwd: $cwd, transcript_path: "", tool_name: "Write", tool_use_id: $path, tool_input: {file_path: $path, content: "x"}}')"
done
send claude PreToolUse-trust "$(jq -nc --arg cwd "$PWD" '{hook_event_name: "PreToolUse", session_id: "s", cwd: $cwd, transcript_path: "",
  tool_name: "Bash", tool_use_id: "t", tool_input: {command: "cook trust true --as-user"}}')"
note "bad events"
send claude nothing ''
send claude no-json '{'
send claude other '{"hook_event_name": "NoSuchEvent", "session_id": "s"}'
send no-such-agent other '{}'
send claude-statusline line '{"session_id": "s", "cwd": ".", "context_window": {"used_percentage": 91}}'
