# `proofs/real-agents.sh --goal`, where tmux is: the same in the form that a person sits at, in a terminal of tmux, and inside
# the goal loop of the program's own. Sourced, after goals.sh. What a terminal showed last stands in DIR/AGENT.WHAT.pane.

# Seconds for a program to start, and to come to its stop.
STARTS=60 STOPS=120

# A server of tmux that is this run's alone.
terminal() { "${around[@]}" TERM=xterm-256color COLORTERM=truecolor tmux -L "cook-$$" -f /dev/null "$@"; }
pane() { terminal capture-pane -p -t "$agent" 2>/dev/null; }
end_terminals() { env -u TMUX_TMPDIR tmux -L "cook-$$" kill-server 2>/dev/null; rm -f "/tmp/tmux-$UID/cook-$$"; }

# What a person would have answered at the first start: colours, the key, and that this folder is trusted.
answer_first_start() {
  case "$agent" in
    claude)
      node - "$home/.claude.json" "$repo" <<'JS'
const [file, repo] = process.argv.slice(2), fs = require("node:fs");
const now = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file)) : {};
const project = { ...now.projects?.[repo], hasTrustDialogAccepted: true };
const more = { hasCompletedOnboarding: true, theme: "dark", customApiKeyResponses: { approved: ["zqzqz"], rejected: [] } };
fs.writeFileSync(file, JSON.stringify({ ...now, ...more, projects: { ...now.projects, [repo]: project } }));
JS
      ;;
    codex) grep -qF "[projects.\"$repo\"]" "$home/.codex/config.toml" || printf '[projects."%s"]\ntrust_level = "trusted"\n' "$repo" >>"$home/.codex/config.toml" ;;
    gemini | qwen) echo "{\"$repo\": \"TRUST_FOLDER\"}" >"$home/.$agent/trustedFolders.json" ;;
  esac
}

# The program as a person starts it, the words with which it waits for a prompt, and those that end it.
sit_at() {
  case "$agent" in
    claude) words=("accept edits on" /exit) && set -- claude --permission-mode acceptEdits --allowedTools Bash mcp__cook ;;
    codex) words=("Ask Codex to do" /quit) && set -- codex --dangerously-bypass-hook-trust -a never -s workspace-write --add-dir .git ;;
    gemini) words=("Type your message" /quit) && set -- gemini --approval-mode yolo --model "$(model_of gemini)" ;;
    qwen) words=("Type your message" /quit) && set -- qwen --approval-mode yolo ;;
  esac
  terminal new-session -d -s "$agent" -x 200 -y 60 -c "$repo" "${around[@]}" TERM=xterm-256color COLORTERM=truecolor "$@"
}

# until_true SECONDS COMMAND...
until_true() {
  local end=$((SECONDS + $1))
  until "${@:2}"; do
    sleep 0.5
    ((SECONDS < end)) || return 1
  done
}

shows() { [[ "$(pane)" == *"$1"* ]]; }
is_ended() { ! terminal has-session -t "$agent" 2>/dev/null; }
has_begun() { [[ "$(counted .requests)" != 0 ]]; }

# Enter goes astray while a program still draws, and an empty line is none.
type_words() {
  terminal send-keys -t "$agent" -l "$1" && until_true 10 shows "${1: -12}" && sleep 1 && terminal send-keys -t "$agent" Enter
}

refusals() { curl -s "$url/noted" | json '.heard?.filter((text) => text.includes("cook goal: not reached")).length ?? 0'; }
is_at() { [[ "$(noted_by_model .finished)" == "$1" && "$(refusals)" == "$2" ]] && shows "$3"; }

# sit WHAT WORDS FINISHED REFUSED SHOWN [TELL]: like story (stops.sh), in a terminal.
sit() {
  local words=() good=1
  clean git reset -q --hard origin/main && clean git clean -qfd && control "{\"reset\": true, \"tell\": \"${6:-}\"}"
  answer_first_start && sit_at || return 1
  if ! until_true "$STARTS" shows "${words[0]}"; then
    echo "it does not wait for a prompt" && good=0
  else
    sleep 1
    type_words "$2" && { until_true 8 has_begun || { terminal send-keys -t "$agent" Enter && until_true 8 has_begun; }; } || { echo "it does not begin" && good=0; }
    ((good)) && { until_true "$STOPS" is_at "$3" "$4" "$5" || { echo "finished $(noted_by_model .finished) times, refused $(refusals) times, not $3 and $4 with: $5" && good=0; }; }
  fi
  # Whoever is let go says nothing more.
  sleep 2
  pane >"$dir/$agent.$1.pane"
  if ((good)); then
    is_at "$3" "$4" "$5" || { echo "it went on" && good=0; }
    type_words "${words[1]}" && until_true 20 is_ended || { echo "it does not end by ${words[1]}" && good=0; }
  fi
  is_ended || terminal kill-session -t "$agent"
  control '{"tell": ""}'
  ((good))
}

is_reached_in_terminal() {
  sit terminal "Add fourfold with its test. (story: missed)" 2 1 "goal: reached at" && clean cook goal && [[ -z "$(clean git status --porcelain)" ]]
}

is_held_open_in_terminal() {
  sit kept "Add fourfold with its test. (story: missed, kept)" 4 3 "The session stopped although" && ! clean cook goal
}

# Whether the program has a goal loop, begun by /goal.
has_loop() {
  case "$agent" in
    claude | codex) ;;
    *) grep -rqs --include='*.js' 'name: *"goal"' "$dir/npm/$agent/node_modules/$(package_of "$agent")" ;;
  esac
}

# is_reached_in_loop STOP FINISHED WHAT: its loop is told at that stop that its goal is reached. The first is the lie.
is_reached_in_loop() {
  local shown="goal: reached at"
  # It shows nothing of a hook that lets a tool pass, and no stop comes after it.
  [[ "$agent $3" == "qwen loop-lied" ]] && shown="Goal complete"
  sit "$3" "/goal Add fourfold with its test. (story: missed)" "$2" 1 "$shown" "loop $1" || return 1
  # What its judge was made to say, or what its tool answered.
  local told
  told="$(noted_by_model '.judged') $(noted_by_model '.claimed')"
  [[ "$told" == *true* || "$told" == *complete* ]] || { echo "its loop was never told: $told"; return 1; }
  clean cook goal && [[ -z "$(clean git status --porcelain)" ]]
}

check_terminal() {
  command -v tmux >/dev/null || { noted+=(- - - -); return; }
  trap '[[ -n "$endpoint" ]] && kill "$endpoint" 2>/dev/null; end_terminals' EXIT
  check "in a terminal a missed goal is refused by its check, mended and reached" is_reached_in_terminal
  check "in a terminal it is let go after three refusals, and the goal is open again" is_held_open_in_terminal
  has_loop || { noted+=(none none); return; }
  check "in the program's own goal loop a missed goal is refused, mended and reached" is_reached_in_loop 3 3 loop
  check "it is refused also where the loop believes that its goal is reached" is_reached_in_loop 1 2 loop-lied
}
