#!/usr/bin/env bash
# Two clones at once, each driven as the timer would; one is killed in the middle of a session.
# shellcheck source=examples/job/lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../job/lib.sh"
begin "$@"

if command -v systemd-analyze >/dev/null; then
  mkdir "$WORK/units"
  cp "$here"/cook-step@.* "$WORK/units"
  # It wants programs by whole paths that are there.
  sed -i "s|^ExecStart=cook |ExecStart=$(command -v cook) |" "$WORK/units/cook-step@.service"
  mkdir -m 700 "$WORK/runtime"
  XDG_RUNTIME_DIR="$WORK/runtime" systemd-analyze --user --man=no verify "$WORK/units/cook-step@.service" "$WORK/units/cook-step@.timer"
  echo "systemd-analyze finds nothing"
else
  echo "systemd-analyze is not here: the units were not looked at by it"
fi

# What the units say, and nothing else, is what is run.
line="$(sed -n 's/^ExecStart=//p' "$here/cook-step@.service")"
after="$(sed -n "s/^ExecStopPost=sh -c '\(.*\)'$/\1/p" "$here/cook-step@.service")"
mkdir "$WORK/stopped"
printf '#!/bin/sh\ntouch "%s/stopped/${3}"\n' "$WORK" >"$WORK/bin/systemctl"
chmod +x "$WORK/bin/systemctl"
# shellcheck disable=SC2016
cat >"$WORK/timer.sh" <<'SH'
# timer.sh CLONE LINE AFTER
cd "$WORK/$1"
until [ -e "$WORK/stopped/cook-step@$1.timer" ]; do
  EXIT_STATUS=0
  $2 || EXIT_STATUS=$?
  export EXIT_STATUS
  echo "ended with $EXIT_STATUS"
  sh -c "$(printf '%s' "$3" | sed "s/%i/$1/g")"
  sleep 0.1
done
SH
export WORK

begin_job
trusted_clone a
trusted_clone b
touch "$STATE/hang-implementer"
start a bash "$WORK/timer.sh" a "$line" "$after"
a=$pid
start b bash "$WORK/timer.sh" b "$line" "$after"
b=$pid
kill_who_works "$a" "$b"
wait_for "the mission's end" 180 test -e "$WORK/stopped/cook-step@$other.timer"
check_done
# The machine comes back: its clone is usable, and its timer stops.
start back bash "$WORK/timer.sh" "$victim" "$line" "$after"
wait_for "the end of $victim" 60 test -e "$WORK/stopped/cook-step@$victim.timer"
[[ "$(git -C "$WORK/$victim" rev-parse HEAD)" == "$(git --git-dir="$WORK/remote.git" rev-parse main)" ]]
[[ -z "$(git -C "$WORK/$victim" status --porcelain)" ]]
grep -h 'ended with' "$WORK"/{a,b,back}.out | sort | uniq -c
