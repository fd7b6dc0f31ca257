# `proofs/real-agents.sh --goal`: a goal holds the stops of an agent that the user started. Sourced, after stops.sh.

# A package whose test asks for what is not there yet, and the goal that it is.
prepare_goal() {
  prepare_stops && clean cook hooks remove "$agent" --check && clean bash .work/lie.sh asked && clean git push -q || return 1

  clean cook goal 'fourfold is four times a number' --check 'node --test test/fourfold.test.js' --agent "$agent" --as-user
}

prepare_unheld() {
  rm -rf "$repo" && mkdir -p "$repo" && cd -- "$repo" || return 1
  clean git init -q -b main && clean bash "$here/real-agents/lie.sh" begin
}
says_what_holds() {
  clean cook goal 'fourfold is four times a number' --check 'node --test test/fourfold.test.js' --agent "$agent" --as-user |
    grep "cannot be held by a hook"
}

# The refusal names the check; what is mended is let go, and reached.
is_reached() {
  story missed 2 1 || return 1
  [[ "$heard" == *"node --test test/fourfold.test.js"* ]] || { echo "$heard"; return 1; }
  clean cook goal && [[ -z "$(clean git status --porcelain)" ]]
}

is_held_open() {
  if [[ "$(told "a stop is")" == "refused once"* ]]; then story "missed, kept" 2 1; else story "missed, kept" 4 3; fi || return 1
  ! clean cook goal
}

# Nothing of it is left, and nothing holds the agent any more.
is_dropped() {
  clean cook goal drop --as-user && clean cook hooks remove "$agent" --check || return 1
  story missed 1 0 && [[ -z "$(clean git status --porcelain --ignored | grep -v ' .work/$')" && ! -e .git/cook/hidden ]]
}

drive_goals() {
  local rows=() format='| %-8s | %-9s | %-7s | %-9s | %-8s | %-9s | %-5s | %-9s | %-7s | %-6s |\n'
  command -v tmux >/dev/null || echo "skipped: no tmux, so no program is shown in a terminal"
  for agent in "${agents[@]}"; do
    open_agent "$here/real-agents/stops.mjs" || continue
    if is_not_held; then
      prepare_unheld >"$dir/$agent.check" 2>&1
      check "of a goal that cannot hold it it is said what does" says_what_holds
      echo "$agent $version: it asks no hook when it stops; what holds is said: ${noted[*]}"
      close_agent
      continue
    fi
    prepare_goal >"$dir/$agent.check" 2>&1 || { tail -n 3 "$dir/$agent.check"; wrong=1; close_agent; continue; }
    : >"$dir/$agent.out" && : >"$dir/$agent.err"
    started=$SECONDS
    check "a missed goal is refused by its check, mended and reached" is_reached
    check "after three refusals without a change it is let go, and the goal is open again" is_held_open
    case "$agent" in
      claude | codex | gemini | qwen) check_terminal ;;
      *) noted+=(– – – –) ;;
    esac
    check "a goal that is dropped leaves nothing and refuses nothing" is_dropped
    # shellcheck disable=SC2059
    rows+=("$(printf "$format" "$agent" "$version" "${noted[@]}" "$((SECONDS - started)) s")")
    close_agent
  done
  # shellcheck disable=SC2059
  printf "$format" agent version reached "held open" terminal "held open" loop "loop lied" dropped took
  printf '%s\n' "${rows[@]}"
}
