#!/usr/bin/env bash
# An agent that plays every role of the smoke script's job, one answer a call: how far it is
# stands in $STATE, a directory of its own. A file $STATE/mischief (`ROLE KIND`) makes the next
# session of that role misbehave, once.
set -uo pipefail
# shellcheck source=/dev/null
source "$SMOKE/steps.sh"
# shellcheck source=/dev/null
source "$SMOKE/job.sh"
own="$COOK_ROLE"
[[ "$own" == stop-judge ]] && own="judge.$$"
cat >"$STATE/prompt.$own"
printf '%s\n' "$COOK_ROLE" >>"$STATE/calls"
cp .agent/state.json "$STATE/seen.$COOK_ROLE"

if [[ -f "$STATE/mischief" ]]; then
  read -r role kind <"$STATE/mischief"
  if [[ "$role" == "$COOK_ROLE" ]]; then
    rm "$STATE/mischief"
    case "$kind" in
      edit) echo cheat >>tally ;;
      untracked) echo cheat >cheat.txt ;;
      commit) git commit --quiet --allow-empty --message "mine" ;;
      tag) git tag cheat ;;
      branch) git checkout --quiet -b cheat ;;
      rewrite) git reset --quiet --hard HEAD~1 ;;
      config) git config user.name cheat ;;
      hook) printf '#!/bin/sh\n' >.git/hooks/post-commit ;;
      state) sed -i 's/continue/done/' .agent/state.json ;;
      log) git --git-dir=.git/cook/log.git update-ref -d "$(git --git-dir=.git/cook/log.git for-each-ref --format='%(refname)' refs/heads)" ;;
      rewind)
        branch="$(git --git-dir=.git/cook/log.git for-each-ref --format='%(refname)' refs/heads)"
        git --git-dir=.git/cook/log.git update-ref "$branch" "$branch~1"
        ;;
      exclude) echo mine >>.git/info/exclude ;;
      criteria) sed -i 's/prints how many/prints/' .agent/plan.json ;;
      gone) rm -rf .git/cook ;;
      hide) git update-index --assume-unchanged tally ;;
      stash) git stash clear ;;
      waits)
        cook pause >/dev/null 2>&1
        echo $? >"$STATE/pause"
        cook next --json >"$STATE/next"
        cook gate >"$STATE/gate" 2>&1
        echo $? >>"$STATE/gate"
        [[ "$role" == reviewer ]] && cook hooks install claude >"$STATE/hooks" 2>&1
        echo $$ >"$STATE/hung"
        until [[ -f "$STATE/go" ]]; do sleep 0.02; done
        ;;
      silent) exit 0 ;;
      fails) exit 3 ;;
      earlier) implemented "C-words, C-top" words "count the words of a file"; exit 0 ;;
      lies) reviewed "C-words, C-top" yes fail "all is well" none; exit 0 ;;
      malformed) echo "$role still-malformed" >"$STATE/mischief"; echo "I did everything you asked for."; exit 0 ;;
      still-malformed) echo "As I said, all is done."; exit 0 ;;
      once) if [[ ! -f "$STATE/once" ]]; then touch "$STATE/once"; printf 'reviewer once\n' >"$STATE/mischief"; echo "a report? here you are"; exit 0; fi ;;
      elsewhere)
        git -C "$STATE/../other" commit --quiet --allow-empty --message beside
        git update-ref refs/remotes/origin/x side
        ;;
      daemon) setsid bash -c 'trap "" TERM HUP; echo $$ >"$0/daemon"; sleep 600' "$STATE" >/dev/null 2>&1 & sleep 0.3 ;;
      locks) : >.git/index.lock; : >.git/refs/heads/main.lock; exit 3 ;;
      weaken) sed -i '/a missing file is an error/d' tests/run.sh ;;
      settings)
        printf '[agents.mine]\nbin = "true"\nstart = []\n[roles.reviewer]\nagent = "mine"\n' >>.agent/cook.toml
        echo $$ >"$STATE/hung"
        sleep 600
        ;;
      misled)
        mkdir -p evil/objects
        cp -r .git/refs evil/
        printf '[core]\n\tbare = false\n' >evil/config
        echo "$PWD/evil" >.git/commondir
        exit 3
        ;;
      replaced) printf '%s refs/replace/%s\n' "$(git rev-parse HEAD~1)" "$(git rev-parse HEAD)" >>.git/packed-refs ;;
      borrowed) echo /nowhere/objects >.git/objects/info/alternates ;;
      worktree-config) printf '[core]\n\tfsmonitor = %s/evil\n' "$STATE" >.git/config.worktree ;;
      nested)
        git init -q nested
        git -C nested commit -q --allow-empty --message work
        printf '[filter "evil"]\n\tclean = sh -c "touch %s/evil; cat"\n' "$STATE" >>nested/.git/config
        echo '* filter=evil' >nested/.gitattributes
        git add nested 2>/dev/null
        ;;
      trusts) echo '{"schema_version": 1, "commands": []}' >.git/cook/trust.json ;;
      another-log) echo 01ARZ3NDEKTSV4RRFFQ69G5FAV >.git/cook-id ;;
      plants)
        mkdir -p ~/.player/hooks
        echo evil >~/.player/settings.json
        echo evil >~/.player/hooks/evil
        echo seen >~/.player/session
        ;;
      leaves)
        cook brief checkpoint 'DONE: half; NEXT: the rest' >"$STATE/left.$COOK_ROLE" 2>&1
        echo $? >>"$STATE/left.$COOK_ROLE"
        cook status >"$STATE/status.$COOK_ROLE" 2>&1 || echo "status ended with $?" >>"$STATE/status.$COOK_ROLE"
        git -C "$(git rev-parse --show-toplevel)" log --oneline >/dev/null || echo no-log >>"$STATE/status.$COOK_ROLE"
        ;;
      hoards)
        git init -q vendored
        git -C vendored commit -q --allow-empty --message work
        echo work >vendored/work.txt
        printf work >$'caf\xe9.txt'
        printf '#!/bin/sh\n' >run.sh
        chmod +x run.sh
        truncate -s 70M big.bin
        ;;
      vandal)
        # It is at work once it has removed something.
        rm -rf .git/cook
        echo $$ >"$STATE/hung"
        while :; do rm -rf .git/cook; sleep 0.02; done
        ;;
      cut)
        # shellcheck source=/dev/null
        source "$STATE/deeds"
        echo $$ >"$STATE/hung"
        sleep 600
        ;;
      hang) echo $$ >"$STATE/hung"; sleep 600 ;;
    esac
    if [[ "$kind" != once && "$kind" != daemon && "$kind" != elsewhere && "$kind" != weaken && "$kind" != waits && "$kind" != leaves ]]; then
      echo "done, trust me"
      exit 0
    fi
  fi
fi

if [[ -f "$STATE/idle" && "$COOK_ROLE" == regrounder ]]; then
  reworded="${words_slice/top builds on it/reading number $(grep -c . "$STATE/calls")}"
  remaining="C-words, C-top"
  (($(grep -c . "$STATE/calls") > 1)) || remaining=none
  reground "$remaining" none none none <<JSON
{"plan": {"plan_basis": "README and tally",
  "candidate_slices": [$reworded, $top_slice]}}
JSON
  exit 0
fi

until mkdir "$STATE/turning" 2>/dev/null; do sleep 0.02; done
turn=$(($(cat "$STATE/$COOK_ROLE" 2>/dev/null || echo 0) + 1))
echo "$turn" >"$STATE/$COOK_ROLE"
rmdir "$STATE/turning"
if [[ "$COOK_ROLE" == stop-judge ]]; then
  mv "$STATE/prompt.$own" "$STATE/judge.$turn"
  echo begins >>"$STATE/judges"
  [[ -f .agent/stop-check-history.jsonl ]] && touch "$STATE/votes"
  [[ -f "$STATE/slow" ]] && sleep 1
  echo ends >>"$STATE/judges"
fi
case "$COOK_ROLE-$turn" in
  regrounder-1)
    reground none none none words <<JSON
{"plan": {"plan_basis": "README and tally", "candidate_slices": [$words_slice, $top_slice]}, "select": "words"}
JSON
    ;;
  implementer-1)
    write_words
    commit words "Count words" >/dev/null
    echo "PROGRESS: counting words"
    implemented "C-words, C-top" words "count the words of a file"
    ;;
  reviewer-1) reviewed "C-words, C-top" no fail "tally:8 hides a file that is not there" "let the error through and test it" ;;
  auditor-1) audited "C-words, C-top" "C-words, C-top" words ;;
  regrounder-2)
    reground "C-words, C-top" reopened words words <<JSON
{"reconcile": {"slice_id": "words", "decision": "reopened"}}
JSON
    ;;
  implementer-2)
    fix_words
    commit words "Let a missing file be an error" >/dev/null
    implemented "C-words, C-top" words "count the words of a file"
    ;;
  reviewer-2) reviewed "C-words, C-top" yes pass none none ;;
  auditor-2) audited "C-words, C-top" C-top top ;;
  regrounder-3)
    reground "C-words, C-top" accepted words top <<JSON
{"reconcile": {"slice_id": "words", "decision": "accepted"}, "select": "top", "evidence": $words_evidence}
JSON
    ;;
  implementer-3)
    write_top
    commit top "List the most frequent words" >/dev/null
    implemented C-top top "list the most frequent words"
    ;;
  reviewer-3) reviewed C-top yes pass none none ;;
  auditor-3) audited C-top C-top top ;;
  regrounder-4)
    reground C-top accepted top none <<JSON
{"reconcile": {"slice_id": "top", "decision": "accepted"}, "evidence": $top_evidence}
JSON
    ;;
  stop-judge-1) judged yes pass "both commands work and are tested" 0 ;;
  stop-judge-2) judged no concern "the README does not say how to call either command" 1 ;;
  stop-judge-3) judged yes pass "nothing is left in the plan" 0 ;;
  regrounder-5)
    reground none none none manual <<JSON
{"plan": {"plan_basis": "the judges' first wave", "candidate_slices": [$words_slice, $top_slice, $manual_slice]},
 "conclude": {"decision": "go_on", "reason": "manual takes it up: the README will show both calls"}, "select": "manual"}
JSON
    ;;
  implementer-4)
    write_manual
    commit manual "Say how to call tally" >/dev/null
    implemented C-manual manual "name both commands in the README"
    ;;
  reviewer-4) reviewed C-manual yes pass none none ;;
  auditor-4) audited C-manual C-manual manual ;;
  regrounder-6)
    reground C-manual accepted manual none <<'JSON'
{"reconcile": {"slice_id": "manual", "decision": "accepted"}, "evidence": [
  {"criterion": "the README names every command", "anchor": "test:the manual names every command", "basis": "test"},
  {"criterion": "the README says what top prints first", "anchor": "README.md:8", "basis": "observed"}
]}
JSON
    ;;
  regrounder-7)
    reground none none none none <<'JSON'
{"conclude": {"decision": "stop"}}
JSON
    ;;
  stop-judge-*) judged yes pass "judge $turn finds nothing left" 0 ;;
  *) echo "nothing is left for $COOK_ROLE-$turn" ;;
esac
