# shellcheck shell=bash
# `cook demo` with the culprit `liar`. Its steps are shown without the remarks beside them.
unset COOK_TEST COOK_NOW COOK_WRITER
demo() {
  "$COOK" demo --dir "$ROOM/demo" "$@" 2>"$ROOM/steps"
  local status=$?
  grep -E '^  (came to nothing|put back)' "$ROOM/steps" >&2
  return "$status"
}
record "cook demo --with liar" text demo --with liar
cd "$ROOM/demo" || exit
record "cook verify --strict, whether it passed" text sh -c 'cook verify --strict --json | jq .passed'
record "cook log -n 60, its events" text sh -c "cook log -n 60 | sed -E 's/^(#[0-9]+).* (adopted|audited|bootstrapped|implemented|judged|refused|regrounded|restored|resumed|reviewed)[: ].*/\1 \2/'"
