#!/usr/bin/env bash
# What `cook verify --rerun` of a finished job costs beside one cold run of its gate in a clean room.
#
#   benches/rerun/run.sh [COOK] [SLICES]     10 slices, each with a part and a test file of its own
#
# Prints seconds and their ratio, from one run.
set -euo pipefail
here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)"
if [[ "${1:-}" != --clean ]]; then
  cook="$(realpath -- "${1:-target/release/cook}")"
  exec env -i PATH="$PATH" LC_ALL=C TERM=dumb COOK_BIN="$cook" bash "${BASH_SOURCE[0]}" --clean "${2:-10}"
fi
# shellcheck source=/dev/null
source "$here/../../smoke/steps.sh"
work="$(mktemp -d)"
trap 'chmod -R u+w -- "$work"; rm -rf -- "$work"' EXIT
clean_room "$work"
export SLICES="$work/slices"
echo "$2" >"$SLICES"

git init --quiet --initial-branch=main "$work/job"
cd "$work/job"
mkdir -p .agent tests
cat >run.sh <<'RUN'
n=0
for file in tests/*.sh; do
  n=$((n + 1))
  name="$(basename "$file" .sh)"
  if bash "$file"; then echo "ok $n - $name"; else echo "not ok $n - $name"; bad=1; fi
done
echo "1..$n"
exit "${bad:-0}"
RUN
echo true >tests/begin.sh
cat >.agent/cook.toml <<TOML
[gates.tests]
run = "bash run.sh"

[agents.player]
bin = "$here/agent.sh"
start = []
events = "text"
env = { SLICES = "$work/slices" }

[roles.default]
agent = "player"
timeout = "60s"

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

# seconds COMMAND...
seconds() {
  local from to
  from=$(date +%s%N)
  "$@" >"$work/said" 2>&1 || { cat "$work/said" >&2; return 1; }
  to=$(date +%s%N)
  awk -v n=$((to - from)) 'BEGIN { printf "%.2f", n / 1e9 }'
}

tell() {
  cold=$(seconds cook gate --clean --fresh)
  rerun=$(seconds cook verify --rerun)
  awk -v what="$1" -v a="$cold" -v b="$rerun" 'BEGIN { printf "%-24s cold run %6.2f s, verify --rerun %6.2f s, ratio %.2f\n", what, a, b, b / a }'
}

tell "$2 slices, as accepted"
