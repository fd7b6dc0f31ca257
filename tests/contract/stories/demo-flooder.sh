# `cook demo` with the culprit `flooder`. Its steps are shown without the remarks beside them.
unset COOK_TEST COOK_NOW COOK_WRITER
demo() {
  "$COOK" demo --dir "$ROOM/demo" "$@" 2>"$ROOM/steps"
  local status=$?
  grep -E '^  (recorded|came to nothing|put back|[a-z ]*:? \[)' "$ROOM/steps" >&2
  return "$status"
}
record "cook demo --with flooder" text demo --with flooder
cd "$ROOM/demo" || exit
record "cook verify --strict, whether it passed" text sh -c 'cook verify --strict --json | jq .passed'
cook log -n 60
