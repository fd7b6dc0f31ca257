# shellcheck shell=bash
# The formats of `cook check`, for a green answer and a red one.
form() {
  local format
  for format in github markdown junit; do
    cook "$@" --format "$format"
  done
  for format in sarif json; do
    record "cook $(words "$@") --format $format" json "$COOK" "$@" --format "$format"
  done
}
calculator calc
form check --trust-repo
sed -i "s/^class T/@unittest.skip('later')\nclass T/" tests/test_calc.py
save "Stabilise"
form check --trust-repo

note "the summary and the outputs of a workflow"
export GITHUB_STEP_SUMMARY="$ROOM/summary" GITHUB_OUTPUT="$ROOM/output"
: >"$GITHUB_STEP_SUMMARY"
: >"$GITHUB_OUTPUT"
cook check --trust-repo --format github
record "the summary, its rows" text grep -c "^|" "$GITHUB_STEP_SUMMARY"
any cat "$GITHUB_OUTPUT"
