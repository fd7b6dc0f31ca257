# Every command where there is no repository, where there is one without a workflow, and where HEAD is unborn.
try() {
  local line
  while read -r line; do
    # shellcheck disable=SC2086 # A line is several words.
    record "cook $line" text timeout 20 "$COOK" $line
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
attest
doctor
ask hello
act do-it
report --html -
LINES
  folded cook next --why -- why
  folded cook status --graph -- graph
  folded cook log 1 -- show 1
  folded cook resume --answer yes --as-user -- answer yes --as-user
  folded cook doctor fsck -- fsck
  folded cook brief recover -- recover
  printf 'nothing\n' | record "cook record regrounder -" text "$COOK" record regrounder -
}
note "no repository"
mkdir "$ROOM/plain"
cd "$ROOM/plain" || exit
try
json status
cook init --mission "Build it"

note "a repository without a workflow"
fresh none
printf 'text\n' >file.txt
save "Begin"
try
json next
json doctor

note "no commit"
fresh unborn
cook next
cook verify
cook strength

note "no such command, no command, a wrong option, a directory that is not there"
cook no-such-command
"$COOK" >"$ROOM/out" 2>"$ROOM/err"
printf '\nwithout a command: exit %s\n' "$?"
cook next --no-such-option
cook --dir "$ROOM/absent" status
