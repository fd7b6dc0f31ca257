# `proofs/real-agents.sh --mcp`: a job of two slices through the tools of `cook mcp`, by an agent that the user started.
# Sourced.

# How a user adds the server (docs/mcp.md).
add_server() {
  local server='{ "mcpServers": { "cook": { "command": "cook", "args": ["mcp"] } } }'
  case "$agent" in
    claude) clean claude mcp add cook -- cook mcp ;;
    codex) clean codex mcp add cook -- cook mcp ;;
    gemini) clean gemini mcp add -s user cook cook mcp ;;
    qwen) clean qwen mcp add -s user cook cook mcp ;;
    cline) echo "$server" >"$home/.cline/data/settings/cline_mcp_settings.json" ;;
    copilot) mkdir -p "$home/.copilot" && echo "$server" >"$home/.copilot/mcp-config.json" ;;
    kimi) echo "$server" >"$home/.kimi-code/mcp.json" ;;
    opencode) sed -i 's/^{/{"mcp": {"cook": {"type": "local", "command": ["cook", "mcp"]}}, /' "$home/.config/opencode/opencode.json" ;;
    # Without the exposure its model reaches them through a script alone.
    pi) sed 's/"args"/"exposure": "direct", &/' <<<"$server" >"$home/pi/mcp.json" ;;
    *) echo "$agent: no way to add the server is known here"; return 1 ;;
  esac
}

# One of them keeps the user's own git settings from its shell.
own_name() { clean git config user.name "$name" && clean git config user.email "$address"; }

# A report that cook refused was not the model's mistake: it does and says what the prompts ask for.
is_taken() { [[ "$(noted_by_model '.refused ?? []')" == "[]" ]] || { noted_by_model .refused; return 1; }; }

policy() { clean cook next --json | json .policy; }
tip() { clean git --git-dir=.git/cook/log.git for-each-ref; }

# A session of its own for each role, until nobody is due. What only a person may do is tried on the way, and done by
# the person then: until the gate is trusted cook lets no slice be built.
one_role_each() {
  local sessions=0
  until [[ "$(policy)" == done ]]; do
    ((sessions += 1))
    ((sessions <= 16)) || { echo "no end after 16 sessions"; return 1; }
    by_hand "Do with cook's tools what is due. (story: one)" >>"$dir/$agent.out" 2>>"$dir/$agent.err" || { tail -n 3 "$dir/$agent.err"; return 1; }
    if ((sessions == 1)); then
      try_user_only
      trust_gate || return 1
    fi
  done
  is_done && [[ "$sessions" == 7 ]] || { echo "$sessions sessions, $(policy)"; return 1; }
}

try_user_only() {
  before="$(tip)"
  by_hand "Try what is mine alone. (story: user_only)" >>"$dir/$agent.out" 2>>"$dir/$agent.err"
  user_only="$(noted_by_model .user_only)"
  after="$(tip)"
}

# Each was tried, each was refused, and nothing was written.
is_refused() {
  [[ -n "$before" && "$before" == "$after" ]] || { echo "something was written"; return 1; }
  node -e '
    const user_only = JSON.parse(process.argv[1]);
    const fits = (what, said) =>
      what.startsWith("cook ") ? /\[user_only\]/.test(said) && !/\[usage\]/.test(said)
      : what.startsWith("a tool") ? /unknown|unsupported|no such tool|not found|not available|unavailable|does not exist|not registered/i.test(said)
      : what === "an untrusted command" ? /trust_missing/.test(said)
      : /-32602|unknown argument|validation failed|additional propert|unknown role|usage|must be|invalid|not allowed|unknown gate|gate_unknown/i.test(said);
    const open = user_only.filter(([what, said]) => !said || !fits(what, said));
    open.forEach(([what, said]) => console.log(`${what}: ${said}`));
    process.exit(user_only.length === 18 && open.length === 0 ? 0 : 1);
  ' "$user_only"
}

lists_seven() {
  [[ "$(noted_by_model .tools)" == '["brief","check","gate","next","prompt","record","status"]' ]] || { noted_by_model .tools; return 1; }
}

# The same job by one session that goes on until nobody is due.
one_session() {
  by_hand "Work with cook's tools until it is done. (story: all)" >>"$dir/$agent.out" 2>>"$dir/$agent.err" || return 1
  is_done || { policy; noted_by_model .calls; return 1; }
}

drive_tools() {
  local rows=() took format='| %-8s | %-9s | %-9s | %-11s | %-11s | %-11s | %-11s | %-12s | %-6s |\n'
  for agent in "${agents[@]}"; do
    open_agent "$here/real-agents/tools.mjs" || continue
    : >"$dir/$agent.out" && : >"$dir/$agent.err"
    begin_untrusted >"$dir/$agent.check" 2>&1 && add_server >>"$dir/$agent.check" 2>&1 && own_name || { tail -n 3 "$dir/$agent.check"; wrong=1; close_agent; continue; }
    started=$SECONDS
    check "a session for each role comes to done" one_role_each
    took="$((SECONDS - started)) s"
    check "the commits are the user's" is_by_the_user
    check "the tools are the seven that are listed" lists_seven
    check "what is the user's is refused" is_refused
    # The server stays in the agent's settings.
    begin >/dev/null 2>&1 && own_name
    check "one session comes to done" one_session
    check "no honest report is refused" is_taken
    # shellcheck disable=SC2059
    rows+=("$(printf "$format" "$agent" "$version" "${noted[@]}" "$took")")
    close_agent
  done
  # shellcheck disable=SC2059
  printf "$format" agent version "role each" "by the user" "seven tools" "user's: no" "one session" "none refused" took
  printf '%s\n' "${rows[@]}"
}
