#!/usr/bin/env bash
# What `.ci/run` leaves to the night: the sweeps, the proofs, the examples and the real runners of tests, each whole.
# Prints what each took; ends with 1 when one of them failed, after all of them ran. 77 is no failure: what a proof
# needs is not here, and it said so.
#
#   proofs/nightly.sh            all of them, many hours
#   proofs/nightly.sh --short    the short form of each that has one, and the rest whole
set -uo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." || exit 1
short=()
case "${1:-}" in
  '') ;;
  --short) short=(--short) ;;
  *) sed -n '6,7s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
esac

summary=""
broken=0
prove() {
  local started="$SECONDS" status=0
  printf '\n=== %s\n' "$*"
  "$@" || status=$?
  ((status == 0 || status == 77)) || broken=1
  summary+="$(printf '%3s %6s s  %s' "$status" "$((SECONDS - started))" "$*")"$'\n'
}

for proof in exploration mutants crash-sweep power-loss concurrency race workers faults cheats seeds histories hollow odd prompts; do
  prove "./proofs/$proof.sh" ${short[@]+"${short[@]}"}
done
prove env COOK_LONG_TESTS=1 cargo test --test all -- hooks:: tracker:: docs::schemas::
prove env COOK_HOSTILE=whole cargo test --test all hostile::
prove ./tests/trial/prepare.sh target/runners
prove env COOK_RUNNERS_DIR="$PWD/target/runners" ./tests/trial/runners.sh target/debug/cook
for example in examples/*/test.sh; do
  prove timeout 900 "$example"
done
printf '\nexit code, time and command:\n%s' "$summary"
exit "$broken"
