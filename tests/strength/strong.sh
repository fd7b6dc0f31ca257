#!/bin/sh
fail() {
  echo "$1" >&2
  exit 1
}
status() {
  "$@" >out 2>err && echo 0 || echo $?
}
[ "$(status sh rotate.sh)" = 2 ] || fail "no file"
[ "$(cat err)" = "rotate.sh FILE [KEEP]" ] || fail "usage"
[ "$(status sh rotate.sh none)" = 3 ] || fail "missing"
for round in a b c d; do
  echo "$round" > log
  [ "$(status timeout 5 sh rotate.sh log 3)" = 0 ] || fail "rotate $round"
  [ ! -s log ] || fail "emptied"
done
[ "$(cat log.1)$(cat log.2)$(cat log.3)" = "dcb" ] || fail "copies"
[ ! -e log.4 ] || fail "too many"
for round in a b c d; do
  echo "$round" > other
  timeout 5 sh rotate.sh other || fail "default"
done
[ -e other.3 ] && [ ! -e other.4 ] || fail "three by default"
