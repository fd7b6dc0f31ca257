#!/usr/bin/env bash
# What a finished job costs those who ask about it: `cook verify`, `cook brief`, and `cook verify --rerun` beside one
# cold run of its gate in a clean room.
#
#   benches/rerun/run.sh [COOK] [SLICES] [KIND] [BEFORE]     10 slices of a shell project
#
# KIND is `sh`, `rust` (a crate, with a test file for each slice) or `shared` (one test file that every slice changes).
# BEFORE is another build that is asked the same. Prints milliseconds of processor time, children included, and ratios,
# from one run.
set -euo pipefail
here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)"
if [[ "${1:-}" != --clean ]]; then
  cook="$(realpath -- "${1:-target/release/cook}")"
  before="${4:+$(realpath -- "$4")}"
  exec env -i PATH="$PATH" LC_ALL=C TERM=dumb COOK_BIN="$cook" BEFORE="$before" TMPDIR="${TMPDIR:-/tmp}" \
    CARGO_HOME="${CARGO_HOME:-$HOME/.cargo}" RUSTUP_HOME="${RUSTUP_HOME:-$HOME/.rustup}" \
    bash "${BASH_SOURCE[0]}" --clean "${2:-10}" "${3:-sh}"
fi
# shellcheck source=/dev/null
source "$here/../../smoke/steps.sh"
work="$(mktemp -d)"
trap 'chmod -R u+w -- "$work"; rm -rf -- "$work"' EXIT
clean_room "$work"
export SLICES="$work/slices" KIND="$3"
echo "$2" >"$SLICES"

git init --quiet --initial-branch=main "$work/job"
cd "$work/job"
mkdir -p .agent tests
if [[ "$KIND" == sh ]]; then
  gate="bash run.sh" cache="[]"
  cat >run.sh <<'RUN'
n=0
for file in tests/*.sh; do
  n=$((n + 1))
  name="$(basename "$file" .sh)"
  # shellcheck source=/dev/null
  if source "$file"; then echo "ok $n - $name"; else echo "not ok $n - $name"; bad=1; fi
done
echo "1..$n"
exit "${bad:-0}"
RUN
  echo true >tests/begin.sh
else
  gate="cargo test --offline" cache='["target"]'
  mkdir src
  echo target >.gitignore
  echo '//! Parts.' >src/lib.rs
  printf '[package]\nname = "parts"\nversion = "0.1.0"\nedition = "2021"\n' >Cargo.toml
  printf '#[test]\nfn begin() {}\n' >tests/begin.rs
  cargo generate-lockfile --offline --quiet
fi
export GATE="$gate"
cat >.agent/cook.toml <<TOML
[gates.tests]
run = "$gate"

[clean_room]
cache = $cache

[agents.player]
bin = "$here/agent.sh"
start = []
events = "text"
env = { SLICES = "$work/slices", KIND = "$KIND", GATE = "$gate" }

[roles.default]
agent = "player"
timeout = "600s"

[limits]
steps = 100000

[sandbox]
mode = "off"
TOML
git add --all
git commit --quiet --message "Begin"
cook init --mission "add the parts" --assurance lite --as-user --commit >/dev/null
words="$(cook doctor agents | sed -n "s/.*cook trust '\(agent [^']*\)'.*/\1/p")"
cook trust --gates --as-user >/dev/null
cook trust "$words" --as-user >/dev/null
cook run >"$work/run.out" 2>&1 || { tail -20 "$work/run.out" >&2; exit 1; }

# cost COMMAND...: milliseconds of processor time.
cost() {
  local TIMEFORMAT='%U %S' spent
  spent=$({ time "$@" >"$work/said" 2>&1; } 2>&1) || { cat "$work/said" >&2; return 1; }
  awk '{ printf "%d", ($1 + $2) * 1000 }' <<<"$spent"
}

# tell NAME COOK
tell() {
  local cold rerun verify brief
  verify=$(cost "$2" verify)
  brief=$(cost "$2" brief)
  cold=$(cost "$2" gate --clean --fresh)
  rerun=$(cost "$2" verify --rerun)
  awk -v what="$1" -v v="$verify" -v f="$brief" -v a="$cold" -v b="$rerun" \
    'BEGIN { printf "%-24s verify %d ms, brief %d ms; cold run %d ms, verify --rerun %d ms, ratio %.2f\n", what, v, f, a, b, b / a }'
}

tell "$2 slices ($3)" "$(command -v cook)"
[[ -z "${BEFORE:-}" ]] || tell "the same, before" "$BEFORE"
