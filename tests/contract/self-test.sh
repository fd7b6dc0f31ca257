#!/usr/bin/env bash
# Shows that the contract suite can fail: programs that lie must be noticed, and so must rows of no use.
#
#   tests/contract/self-test.sh PROGRAM
#
# Exits 0 when the suite notices each of them, 1 when it misses one. It takes some seconds.
set -euo pipefail
unset CDPATH
here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)"
[[ $# == 1 && -x "$1" ]] || {
  printf 'usage: self-test.sh PROGRAM\n' >&2
  exit 2
}
cook="$(cd -- "$(dirname -- "$1")" && pwd -P)/$(basename -- "$1")"
work="$(mktemp -d)"
trap 'rm -rf -- "$work"' EXIT
missed=0
export ONLY=check-places

# liar LINES: a program that calls the real one and then does what the lines say with $status and ./out.
liar() {
  cat >"$work/liar" <<CODE
#!/bin/bash
out="\$(mktemp)"
status=0
(exec -a cook "$cook" "\$@") >"\$out" || status=\$?
$1
cat "\$out"
rm -f "\$out"
exit "\$status"
CODE
  chmod +x "$work/liar"
}

# expect STATUS TEXT NAME: compares the program with the liar; it must end so and print that text.
expect() {
  local status=0
  "$here/run.sh" --recorded "$work/liar" >"$work/said" 2>&1 || status=$?
  if [[ "$status" == "$1" ]] && grep -qF -- "$2" "$work/said"; then
    printf 'noticed  %s\n' "$3"
  else
    printf 'missed   %s (ended with %s)\n' "$3" "$status"
    sed 's/^/  | /' "$work/said"
    missed=1
  fi
}

: >"$work/table"
export TABLE="$work/table" ANSWERS="$work/answers"
"$here/run.sh" --record "$cook"
liar ''
expect 0 '0 failures' "nothing, of a program that tells the truth"
# shellcheck disable=SC2016 # The liar expands it.
liar '[[ "$*" == "check --base no-such-ref" ]] && status=1'
expect 1 $'cook check --base no-such-ref\t+exit 1' "an exit code that changed"
# shellcheck disable=SC2016
liar '[[ "$*" == "trust --list" ]] && sed -i "1s/command/order/" "$out"'
expect 1 $'cook trust --list\t+out order' "a line that changed"
# shellcheck disable=SC2016
liar '[[ "$*" == "trust --list" ]] && sed -i 1d "$out"'
expect 1 $'cook trust --list\t-out command' "a line that is missing"
# shellcheck disable=SC2016
liar '[[ "$*" == *--json ]] && sed -i "s/\"passed\":/\"is_passed\":/" "$out"'
expect 1 '+json .is_passed' "a key that changed its name"
# shellcheck disable=SC2016
liar '[[ "$*" == *--json ]] && sed -i "s/\"passed\": *false/\"passed\": \"false\"/" "$out"'
expect 1 '+json .passed "false"' "a value of another kind"
liar 'kill -9 $$'
expect 1 'exit 137' "a program that is killed"

# A row with a reason lets its difference pass, and no other.
# shellcheck disable=SC2016
liar '[[ "$*" == "check --base no-such-ref" ]] && status=1'
printf 'check-*\tcook check --base no-such-ref\t-exit 2\tthe test says so\ncheck-places\tcook check *\t+exit 1\tthe test says so\n' >"$TABLE"
expect 0 '2 differences with a reason, 0 failures' "the difference that two rows explain"
printf 'check-places\tcook check --base no-such-ref\t-exit 2\tthe test says so\n' >"$TABLE"
expect 1 '+exit 1' "the half of a difference that no row explains"
printf 'check-places\tcook check\t-exit 2\t\n' >"$TABLE"
expect 2 'four columns' "a row without a reason"

# Rows of no use are looked for where every story is compared.
printf '*\tcook never\t-exit 0\tnothing does this\n' >"$TABLE"
status=0
ONLY='*' ANSWERS="$here/before" "$here/run.sh" --unplayed >"$work/said" 2>&1 || status=$?
if [[ "$status" == 1 ]] && grep -q 'matches no difference' "$work/said"; then
  printf 'noticed  a row that matches nothing\n'
else
  printf 'missed   a row that matches nothing\n'
  missed=1
fi
exit "$missed"
