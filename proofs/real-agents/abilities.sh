# `proofs/real-agents.sh --abilities`: what docs/agents.md and the pages on sessions, runs and hooks promise of each agent beside a
# job: orders, conversations, schemas, reading, limits, hooks. A line for each promise: yes, `refused CODE` where the table
# says that the agent cannot and cook says so, or NO. An agent that tells no tokens is held to none. Sourced.

# shellcheck source=/dev/null
source "$here/real-agents/abilities-hooks.sh"

# promise WHAT COMMAND...: prints whether it holds. The command may put another word than yes into $outcome.
promise() {
  local what="$1" since=$SECONDS
  shift
  outcome=yes noted=()
  check "$what" "$@"
  [[ "${noted[0]}" == yes ]] || { outcome=NO && { echo "$what" && cat "$dir/$agent.check"; } >>"$dir/$agent.no"; }
  # shellcheck disable=SC2059
  printf "$format" "$agent" "$version" "$what" "$outcome" "$((SECONDS - since)) s"
}

# say COMMAND WORDS OPTION...: cook's answer in $answer, the status in $status.
say() {
  status=0
  answer="$(clean cook "$1" "$2" "${model[@]}" --json "${@:3}" 2>>"$dir/$agent.ask")" || status=$?
}
ask() { say ask "$1" --agent "$agent" "${@:2}"; }
of() { json "$1" <<<"$answer"; }

# ends WITH CODE: the last call ended with that status and that error.
ends() { [[ "$status" == "$1" && "$(of '.error?.code ?? ""')" == "$2" ]] || { echo "it ended with $status: ${answer:0:600}"; return 1; }; }
is_answered() { ends 0 ""; }

# knows WORDS: an answer says that the model was shown these words of before and no other.
knows() { is_answered && [[ "$(of .output)" == "known: $1" ]] || { echo "not known: $1: $(of .output) $(of .transport)"; return 1; }; }

# ---- orders ------------------------------------------------------------------------------------

# What nobody but cook and the user may write, as one line each.
list_kept() { sha256sum .git/config .git/cook/log.git/HEAD "$home/.gitconfig" && ls -l .git/hooks && tip; }
tip() { clean git --git-dir=.git/cook/log.git for-each-ref refs/cook refs/heads; }

does_its_work() {
  begin || return 1
  kept="$(list_kept)"
  say act "Make it. (story: act)" --agent "$agent"
  acted="$(noted_by_model '.acted ?? []')"
  is_answered || return 1
  [[ "$(of .act.commits.length) $(of '.act.changed.join()')" == "1 "*made.txt* ]] || { of .act; return 1; }
  [[ "$(clean git log -1 --format='%s %an <%ae> %cn <%ce>')" == "Make it $name <$address> $name <$address>" && -f made.txt ]] || { clean git log -1; return 1; }
  [[ "$acted" == *"open: its work"* ]] || { echo "$acted"; return 1; }
}

touches_nothing_else() {
  [[ "$(list_kept)" == "$kept" && -z "$(clean git status --porcelain | grep -v made.txt)" ]] || { diff <(echo "$kept") <(list_kept); clean git status --porcelain; return 1; }
  # Some refuse a call themselves before a shell sees it, and some repeat the command in what they answer.
  node -e '
    const acted = JSON.parse(process.argv[1]);
    const code = /\[(user_only|inside_role)\]|denied/;
    const open = acted.slice(1).filter(([what, said]) => !said || said.replaceAll(`echo \x27open: ${what}\x27`, "").includes(`open: ${what}`) || (/user-only/.test(what) && !code.test(said)));
    open.forEach(([what, said]) => console.log(`${what}: ${said}`));
    process.exit(acted.length === 6 && open.length === 0 ? 0 : 1);
  ' "$acted" || return 1
  clean cook doctor fsck >/dev/null
}

# ---- conversations -----------------------------------------------------------------------------

# A series that goes on, and a branch from its beginning: each is shown what stood before it, and nothing of the other.
goes_on() {
  local way
  way="$(told "continues by")"
  ask "Keep a word. (story: keep plum)"
  knows plum || return 1
  first="$(of .refs.episode)"
  clean cook session name "$first" "kept-$agent" >/dev/null || return 1
  ask "Keep another. (story: keep pear)" --on-series "$(of .refs.series)"
  knows "plum pear" && [[ "$(of .transport)" == "$way" ]] || { echo "by $(of .transport) and not by $way"; return 1; }
  clean cook session verify >/dev/null
}

# By a fork or not at all: what the table says it cannot is refused, and its refs are still good.
requires_a_fork() {
  ask "Keep a third. (story: keep apple)" --on-episode "$first" --native require
  if [[ "$(told "continues by")" == fork ]]; then
    knows "plum apple" && [[ "$(of .transport)" == fork ]]
    return
  fi
  outcome="refused $(of '.error?.code')"
  ends 5 continuation_not_supported && [[ "$(of .error.prior.episode)" == "$first" ]]
}

fans_out() {
  say ask "What is known? (story: recall)" --each "$agent,$agent" --on-episode "$first"
  [[ "$status" == 0 ]] || { echo "$answer"; return 1; }
  [[ "$(of '.members.map((one) => one.output).join()')" == "known: plum,known: plum" ]] || { of .members; return 1; }
}

# The agent's own record is gone; what cook kept is enough.
is_revived() {
  rm -rf "$home"/.claude/projects "$home"/.codex/{sessions,archived_sessions} "$home"/.qwen/{projects,tmp,chats} "$home"/.gemini/tmp \
    "$home"/.copilot/{session-state,history-session-state} "$home"/.local/share/opencode/storage "$home"/.local/share/opencode/opencode.db* \
    "$home"/pi/sessions .git/cook/sessions/native
  ask "What is known? (story: recall)" --on-episode "kept-$agent"
  knows plum && [[ "$(of .transport)" == replay ]] || { of .transport; return 1; }
}

# ---- schemas -----------------------------------------------------------------------------------

write_schema() { echo '{"type": "object", "required": ["number"], "additionalProperties": false, "properties": {"number": {"type": "integer"}}}' >"$dir/$agent.schema"; }
number() {
  control '{"reset": true}'
  ask "Give a number. (story: number $1)" --schema "$dir/$agent.schema"
}
is_seven() { is_answered && [[ "$(of '.data.number')" == 7 ]] || { echo "${answer:0:600}"; return 1; }; }

# An answer that does not fit is asked for again. Where the agent holds its answers to a schema it is handed over, else it is
# told in words.
is_asked_again() {
  number mended && is_seven || return 1
  local handed=false
  [[ "$(told schema)" != yes ]] || handed=true
  [[ "$(noted_by_model .handed) $(noted_by_model .answers)" == "$handed 2" ]] || { echo "handed over: $(noted_by_model .handed), answers: $(noted_by_model .answers)"; return 1; }
}

# Never an answer that does not fit: by cook's own count, or by that of an agent that holds itself to it.
never_fits() {
  number wrong
  outcome="refused $(of '.error?.code')"
  ends 5 output_schema_invalid || { [[ "$(told schema)" == yes ]] && ends 5 supplier_failed; }
}

# ---- reading -----------------------------------------------------------------------------------

look() { clean git rev-parse HEAD && clean git status --porcelain && cat README.md && clean git for-each-ref refs/heads refs/tags; }

# Each try came back to the model as what is not there or not allowed.
is_told_no() {
  noted_by_model '.tried ?? []' | node -e '
    const tried = JSON.parse(require("fs").readFileSync(0));
    const no = /not |declined|unknown|unsupported|error|denied|read-only|invalid|no such|unavailable|disabled|plan mode|shut: a new file/i;
    const open = tried.filter(([, said]) => /open: /.test(said ?? "open: ") || !no.test(said));
    open.forEach(([name, said]) => console.log(`${name}: ${said}`));
    process.exit(tried.length === 2 && open.length === 0 ? 0 : 1);
  '
}

reads_only() {
  local before
  before="$(look)"
  control '{"reset": true}'
  ask "Is it fine? (story: write)"
  [[ "$(look)" == "$before" ]] || { diff <(echo "$before") <(look); return 1; }
  if [[ "$(told "only reads")" == yes ]]; then
    is_answered && is_told_no
    return
  fi
  # What it wrote in the sandbox is gone.
  is_answered >/dev/null && { outcome="yes, in the sandbox"; return; }
  outcome="refused $(of '.error?.code')"
  ends 5 read_only_violated
}

# A role that reads tries the same; its report is taken, and nothing has changed.
reads_as_a_role() {
  begin || return 1
  local before
  before="$(look)"
  control '{"reset": true}'
  clean cook run --once >"$dir/$agent.run" 2>&1 || { tail -n 3 "$dir/$agent.run"; return 1; }
  [[ "$(look)" == "$before" && "$(noted_by_model '.tried.length')" == 2 ]] || { diff <(echo "$before") <(look); noted_by_model .tried; return 1; }
  [[ "$(clean cook next --json | json .role)" == completion-implementer ]] || { clean cook next; return 1; }
}

# ---- limits ------------------------------------------------------------------------------------

# limited WORDS TELL: a session of the implementer under that limit, whose model does so; what the run says is kept. The job is
# the one that a role has read.
limited() {
  sed -i '/^\[limits\]/,$d' .agent/cook.toml
  printf '[limits]\n%s\n' "$1" >>.agent/cook.toml
  clean git commit -qam "Set a limit" && clean cook init --as-user >/dev/null || return 1
  control "{\"tell\": \"$2\", \"reset\": true}"
  status=0
  clean timeout 300 cook run --steps 1 >"$dir/$agent.run" 2>&1 || status=$?
  control '{"tell": ""}'
}

is_ended_by_requests() {
  limited "requests = 4" endless || return 1
  grep -q 'it made 5 requests to its model, and a session may make 4 (`\[limits\] requests`)' "$dir/$agent.run" || { tail -n 5 "$dir/$agent.run"; return 1; }
  [[ -z "$(left)" ]] || { left; return 1; }
}

# Its preset says whether it tells tokens while it works. Where it does so at its end no other session begins.
is_ended_by_tokens() {
  local preset="$root/protocol/agents/$agent.toml" cost limit
  cost="$(clean cook status --cost --json)"
  limit=$(($(json '.total.input_tokens ?? 0' <<<"$cost") + $(json '.total.output_tokens ?? 0' <<<"$cost") + 400))
  if grep -qE '^usage = "event"|spent = ' "$preset"; then
    limited "tokens = $limit" endless || return 1
    grep -q 'were left (`\[limits\] tokens`)' "$dir/$agent.run" || { tail -n 5 "$dir/$agent.run"; return 1; }
    return
  fi
  limited "tokens = $limit" many || return 1
  # Of the protocol's agents one tells none.
  if [[ "$(told tokens)" != yes || "$agent" == kimi ]]; then
    outcome="tells none"
    [[ "$(clean cook status --cost --json | json '.total.cost_unknown > 0')" == true ]]
    return
  fi
  outcome="refused with exit code 6"
  status=0
  clean cook run >"$dir/$agent.run" 2>&1 || status=$?
  [[ "$status" == 6 ]] && grep -q "of $limit tokens" "$dir/$agent.run" || { echo "$status"; tail -n 5 "$dir/$agent.run"; return 1; }
}

# ---- all of it ---------------------------------------------------------------------------------

drive_abilities() {
  local format='| %-8s | %-9s | %-42s | %-34s | %6s |\n' first kept acted answer status
  write_row_heads
  for agent in "${agents[@]}"; do
    open_agent "$here/real-agents/abilities.mjs" || continue
    : >"$dir/$agent.no" && : >"$dir/$agent.ask" && : >"$dir/$agent.out" && : >"$dir/$agent.err"
    model=()
    [[ -n "$(model_of "$agent")" ]] && model=(--model "$(model_of "$agent")")
    write_schema
    # What it fetches, and writes into its own settings, at its first start is its own.
    begin >/dev/null && settle_user && by_user "Look around. (story: work)" || { echo "$agent: cannot be started"; wrong=1; close_agent; continue; }
    promise "act: does its work" does_its_work
    promise "act: keeps what is not its own" touches_nothing_else
    promise "goes on by $(told "continues by")" goes_on
    promise "goes on by a fork or not at all" requires_a_fork
    promise "two are asked from one point" fans_out
    promise "is revived without its own record" is_revived
    promise "schema: fits once it is asked again" is_asked_again
    promise "schema: never fits" never_fits
    promise "reads only: a question" reads_only
    promise "reads only: a role" reads_as_a_role
    promise "limit of requests" is_ended_by_requests
    promise "limit of tokens" is_ended_by_tokens
    drive_hooks
    close_agent
  done
}

write_row_heads() {
  # shellcheck disable=SC2059
  printf "$format" agent version promise holds took
}
