# `proofs/real-agents.sh --check`: `cook check` holds the stops of an agent that the user started, in a repository without
# a workflow. Sourced.

# A package with tests, its upstream, and cook at each stop of the agent.
prepare_stops() {
  rm -rf "$repo" "$repo.git"
  mkdir -p "$repo"
  cd -- "$repo" || return 1
  clean git init -q -b main
  # One of them keeps the user's own git settings from its shell.
  clean git config user.name "$name" && clean git config user.email "$address"
  clean bash "$here/real-agents/lie.sh" begin || return 1
  clean git clone -q --bare . "$repo.git" && clean git remote add origin "$repo.git" || return 1
  clean git fetch -q && clean git branch -q -u origin/main || return 1
  mkdir .work && cp "$here/real-agents/lie.sh" .work/ && echo .work/ >>.git/info/exclude
  clean cook hooks install "$agent" --check && clean cook trust 'npm run test' --as-user && clean cook hooks check "$agent" --check
}

# story WHAT FINISHED REFUSED: an agent's session from the upstream's commit says so often that it is finished, and hears so many refusals.
story() {
  clean git reset -q --hard origin/main && clean git clean -qfd && control '{"reset": true}'
  by_hand "Add fourfold with its test. (story: $1)" >>"$dir/$agent.out" 2>>"$dir/$agent.err" || { echo "$agent ended with $?"; return 1; }
  heard="$(noted_by_model '.heard')"
  local finished refusals
  finished="$(noted_by_model '.finished')" refusals="$(json .length <<<"$heard")"
  [[ "$finished $refusals" == "$2 $3" ]] || { echo "finished $finished times, refused $refusals times, not $2 and $3: $heard"; return 1; }
}

# A refusal names the code and the command that shows more; the mended commit is let go, and true.
is_mended() {
  story "$1" 2 1 || return 1
  [[ "$heard" == *"[$2]"* && "$heard" == *"$3"* ]] || { echo "$heard"; return 1; }
  clean cook check >/dev/null && [[ -z "$(clean git status --porcelain)" ]]
}

is_quiet() { story honest 1 0 && clean cook check >/dev/null; }

# Three refusals without a new commit, then it is let go; that is written down, and the commit is as untrue as before. One
# program asks at one stop of each prompt alone.
is_let_go() {
  if [[ "$(told "a stop is")" == "refused once"* ]]; then
    story "bent, kept" 2 1 && ! clean cook check >/dev/null
    return
  fi
  story "bent, kept" 4 3 || return 1
  grep -qs '"kind":"released".*\[pass_to_fail\]' .git/cook-hooks/queue.jsonl || { ls .git/cook-hooks; return 1; }
  ! clean cook check >/dev/null
}

# What was installed goes as it came.
is_removed() {
  clean cook hooks remove "$agent" --check || return 1
  story bent 1 0
}

# An agent that asks nobody when it stops is not promised to be held.
is_not_held() { [[ "$(told "a stop is")" == – ]]; }
refuses_to_hold() {
  clean cook hooks install "$agent" --check 2>"$dir/$agent.refused" && return 1
  grep -q "asks no hook when it stops" "$dir/$agent.refused" || { cat "$dir/$agent.refused"; return 1; }
}

drive_stops() {
  local rows=() format='| %-8s | %-9s | %-12s | %-22s | %-6s | %-14s | %-7s | %-6s |\n'
  for agent in "${agents[@]}"; do
    open_agent "$here/real-agents/stops.mjs" || continue
    if is_not_held; then
      begin_untrusted >/dev/null 2>&1
      check "a check that cannot hold it is not installed" refuses_to_hold
      echo "$agent $version: it asks no hook when it stops; that the check is not installed: ${noted[*]}"
      close_agent
      continue
    fi
    prepare_stops >"$dir/$agent.check" 2>&1 || { tail -n 3 "$dir/$agent.check"; wrong=1; close_agent; continue; }
    : >"$dir/$agent.out" && : >"$dir/$agent.err"
    started=$SECONDS
    check "a rewritten expectation is refused with the name and the line that would declare it, mended and let go" is_mended bent pass_to_fail "Test-Changed: test/thrice.test.js"
    check "a commit that is red in a clean room is refused, mended and let go" is_mended uncommitted gate_needs_uncommitted "cook gate --clean"
    check "an honest commit hears nothing" is_quiet
    check "after three refusals without a commit it is let go" is_let_go
    check "a hook that is removed refuses nothing" is_removed
    # shellcheck disable=SC2059
    rows+=("$(printf "$format" "$agent" "$version" "${noted[@]}" "$((SECONDS - started)) s")")
    close_agent
  done
  # shellcheck disable=SC2059
  printf "$format" agent version pass_to_fail gate_needs_uncommitted honest "let go after 3" removed took
  printf '%s\n' "${rows[@]}"
}
