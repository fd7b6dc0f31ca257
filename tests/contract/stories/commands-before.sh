# shellcheck shell=bash
# Every command where there is no repository, where there is one without a workflow, and where HEAD is unborn.
# try FORM: all of them.
try() {
  local line
  while read -r line; do
    # shellcheck disable=SC2086 # A line is several words.
    record "cook $line" "$1" timeout 20 "$COOK" $line
  done <<'LINES'
next
run --steps 1
verify
gate
trust --list
status
log
undo --as-user
pause why --as-user
resume --as-user
cancel why --as-user
brief
brief check
hooks check claude
session log
issue ready
push origin
pull origin
strength
calibrate
doctor
ask hello
act do-it
report --html -
LINES
  folded codes next --why -- why
  folded codes status --graph -- graph
  folded codes log 1 -- show 1
  folded codes resume --answer yes --as-user -- answer yes --as-user
  folded codes doctor fsck -- fsck
  folded codes brief recover -- recover
  codes attest
  printf 'nothing\n' | record "cook record regrounder -" codes "$COOK" record regrounder -
}
note "no repository"
mkdir "$ROOM/plain"
cd "$ROOM/plain" || exit
try codes
cook status
json status
cook init --mission "Build it"

note "a repository without a workflow"
fresh none
printf 'text\n' >file.txt
save "Begin"
try text
json next
json doctor

note "no commit"
fresh unborn
codes next
codes verify
cook strength

note "no such command, no command, a wrong option, a directory that is not there"
cook no-such-command
"$COOK" >"$ROOM/out" 2>"$ROOM/err"
printf '\nwithout a command: exit %s\n' "$?"
cook next --no-such-option
cook --dir "$ROOM/absent" status
