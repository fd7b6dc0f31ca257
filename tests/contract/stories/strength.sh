# shellcheck shell=bash disable=SC2016
# `cook strength`: defects planted in a change, and how many its tests notice.
fresh lib
printf 'test:\n\tsh t.sh\n' >Makefile
printf 'one() { echo 1; }\n' >lib.sh
printf 'set -e\n. ./lib.sh\n[ "$(one)" = 1 ]\n' >t.sh
save "Begin"
put lib.sh <<'CODE'
one() { echo 1; }
bigger() {
  if [ "$1" -gt "$2" ]; then
    echo "$1"
  else
    echo "$2"
  fi
}
CODE
printf '[ "$(bigger 1 2)" = 2 ]\n' >>t.sh
save "Find the bigger one"
cook strength
cook strength --trust-repo --mutants 6
json strength --trust-repo --mutants 6
cook strength --trust-repo --mutants 6 --minimum 1
cook strength --base no-such-ref
cook strength no-such-slice
printf '[ "$(bigger 5 2)" = 5 ]\n' >>t.sh
save "Test the other side"
cook strength --trust-repo --base HEAD~2 --mutants 6
cook strength --trust-repo
