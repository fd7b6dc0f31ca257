# shellcheck shell=bash
# `cook check` where nothing is trusted, there is no gate, the worktree is dirty, or the call is wrong.
calculator calc
note "nobody trusts the gate"
cook check
json check
cook trust 'make test' --as-user
cook trust --list
json trust --list
cook check

note "the worktree is dirty, and the commit is not"
printf 'scratch\n' >notes.txt
printf '# more\n' >>calc.py
cook check
json check

note "wrong calls"
cook check --base no-such-ref
json check --base no-such-ref
cook check --gate no-such-gate
json check --gate no-such-gate
cook check --format no-such-format
cook check --no-such-option

note "no gate"
fresh nothing
printf 'text\n' >file.txt
save "Begin"
cook check
json check

note "no commit"
fresh unborn
cook check
json check

note "no repository"
mkdir "$ROOM/plain"
cd "$ROOM/plain" || exit
cook check
json check

note "an agent may not trust"
cd "$ROOM/calc" || exit
CLAUDECODE=1 cook trust 'make other'
CLAUDECODE=1 cook check --trust-repo
CLAUDECODE=1 json check
