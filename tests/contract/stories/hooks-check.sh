# shellcheck shell=bash
# Hooks that hold a stop and a push against `cook check`, in a repository without a workflow.
with_remote here
quietly "$COOK" trust 'make test' --as-user
stop() {
  local agent="$1" more="${2:-{\}}" form=json
  # The first answers are shown word for word.
  [[ "$more" == {} || "${turn:-1}" == 1 ]] && form=text
  jq -nc --arg cwd "$PWD" --argjson more "$more" \
    '{hook_event_name: "Stop", session_id: "s", cwd: $cwd, turn_id: "t", stop_hook_active: false} + $more' >"$ROOM/event"
  record "cook hook $agent --check < Stop $more" "$form" "$COOK" hook "$agent" --check <"$ROOM/event"
}
for agent in claude codex; do
  stop "$agent"
done
break_it
for agent in claude codex; do
  note "$agent is held three times and then let go"
  for turn in 1 2 3 4 5; do
    at "10:0$turn"
    stop "$agent" "$(jq -nc --arg agent "$agent" '{session_id: $agent}')"
  done
done
turn=2
note "what is no stop of the session itself"
stop claude '{"hook_event_name": "PostToolBatch", "session_id": "t"}'
stop claude '{"agent_id": "sub", "session_id": "t"}'
stop claude '{"session_id": "t"}'
export COOK_HOOKS=off
stop claude '{"session_id": "t"}'
unset COOK_HOOKS
note "mended"
printf 'one() { echo 1; }\n' >lib.sh
save "Mend it"
stop claude '{"session_id": "t"}'

note "a push"
cook hooks install git --check
any cat .git/hooks/pre-push
cook hooks check git
any git push --quiet origin main
break_it
any git push --quiet origin main
any git push --quiet origin HEAD~1:refs/heads/other
any git push --quiet --no-verify origin HEAD:refs/heads/third
any git push --quiet origin :refs/heads/third
cook hooks install git --check
cook hooks remove git
cook hooks check git --check
cook hooks remove git --check
any ls .git/hooks/pre-push
printf '#!/bin/sh\necho theirs\n' >.git/hooks/pre-push
chmod +x .git/hooks/pre-push
cook hooks install git --check

note "what git's hook is given"
zero=0000000000000000000000000000000000000000
head="$(git rev-parse HEAD)"
printf 'refs/heads/main %s refs/heads/main %s\n' "$head" "$zero" >"$ROOM/refs"
record "cook check --pushed < a new branch" text "$COOK" check --pushed <"$ROOM/refs"
record "cook check --pushed --json < a new branch" json "$COOK" check --pushed --json <"$ROOM/refs"
printf '(delete) %s refs/heads/main %s\n' "$zero" "$head" >"$ROOM/refs"
record "cook check --pushed < a deletion" text "$COOK" check --pushed <"$ROOM/refs"
printf 'nonsense\n' >"$ROOM/refs"
record "cook check --pushed < nonsense" text "$COOK" check --pushed <"$ROOM/refs"

note "nobody trusts the gate"
with_remote there
for agent in claude codex; do
  stop "$agent"
done
cook hooks install claude --check
