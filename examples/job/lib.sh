# What the tests of the examples share. Sourced as the first thing of a `test.sh`, which is called again with
# `--clean` in an environment that holds nothing of the caller's but PATH: an agent's marker would be in the way,
# and git would read the caller's settings.
#
# Before, with the caller's environment, `prepare DIRECTORY` is called where the test has one: it installs what
# the test needs into that directory.
set -euo pipefail
here="$(cd -- "$(dirname -- "${BASH_SOURCE[1]}")" && pwd -P)"
root="$(cd -- "$here/../.." && pwd -P)"

# The test cannot be run here: 77 says so to whoever counts.
skip() {
  echo "skipped: $1" >&2
  exit 77
}

begin() {
  if [[ "${1:-}" != --clean ]]; then
    local cook="${COOK_BIN:-}"
    if [[ -z "$cook" ]]; then
      (cd -- "$root" && cargo build --quiet --bin cook)
      cook="${CARGO_TARGET_DIR:-$root/target}/debug/cook"
    fi
    cook="$(cd -- "$(dirname -- "$cook")" && pwd -P)/$(basename -- "$cook")"
    work="$(mktemp -d "${TMPDIR:-/tmp}/cook-example-XXXXXX")"
    trap 'rm -rf -- "$work"' EXIT
    if declare -F prepare >/dev/null; then
      prepare "$work"
    fi
    env -i PATH="$PATH" TMPDIR="${TMPDIR:-/tmp}" LC_ALL=C TERM=dumb COOK_BIN="$cook" WORK="$work" \
      bash "$here/test.sh" --clean
    exit
  fi
  # shellcheck source=/dev/null
  source "$root/smoke/steps.sh"
  clean_room "$WORK"
  export STATE="$WORK/state"
  mkdir "$STATE"
  started=()
  trap end_all EXIT
}

# Ends what this test started and is still there, by its ids.
end_all() {
  end_hung
  local pid
  for pid in "${started[@]}"; do end_group "$pid"; done
}

# The session that hangs outlives a worker that was killed.
end_hung() {
  local pid
  pid="$(cut -d' ' -f1 "$STATE/hung" 2>/dev/null || true)"
  [[ -z "$pid" ]] || end_group "$pid"
}

end_group() { kill -KILL -- "-$1" 2>/dev/null || kill -KILL "$1" 2>/dev/null || true; }

# A bare remote at $WORK/remote.git that holds the job, begun and with nothing done yet.
begin_job() {
  git init --quiet --bare --initial-branch=main "$WORK/remote.git"
  git init --quiet --initial-branch=main "$WORK/first"
  cd "$WORK/first"
  mkdir tests
  # shellcheck disable=SC2016
  printf 'set -e\ncd "$(dirname "$0")/.."\necho "ok 1 - it runs"\n' >tests/run.sh
  mkdir -p .agent
  cat >.agent/cook.toml <<TOML
[gates.tests]
run = "bash tests/run.sh"

[agents.player]
bin = "$root/examples/job/agent.sh"
start = []
events = "text"
writes = ["$STATE"]

[roles.default]
agent = "player"
timeout = "60s"

[sandbox]
mode = "off"
TOML
  git add --all
  git commit --quiet --message "Begin"
  cook init --mission "greet says hello" --commit >/dev/null
  git remote add origin "$WORK/remote.git"
  cook push --yes >/dev/null
}

# trusted_clone NAME: a clone at $WORK/NAME in which everything that the job runs is trusted.
trusted_clone() {
  git clone --quiet "$WORK/remote.git" "$WORK/$1"
  # What two machines commit differs.
  git -C "$WORK/$1" config user.name "Worker $1"
  local words
  words="$(cd "$WORK/$1" && cook doctor agents | sed -n "s/.*cook trust '\(agent [^']*\)'.*/\1/p")"
  (cd "$WORK/$1" && cook trust --gates --as-user && cook trust "$words" --as-user) >/dev/null
}

# start NAME COMMAND...: begins a worker in a group of its own; its process id is in $pid and $started.
start() {
  local name="$1"
  shift
  setsid "$@" >"$WORK/$name.out" 2>&1 &
  pid=$!
  started+=("$pid")
}

# wait_for WHAT SECONDS COMMAND...: until the command succeeds.
wait_for() {
  local what="$1" end=$((SECONDS + $2))
  shift 2
  until "$@"; do
    if ((SECONDS > end)); then
      tail -n 20 "$WORK"/*.out >&2 || true
      echo "not in time: $what" >&2
      exit 1
    fi
    sleep 0.1
  done
}

# The session of the role whose first session hangs is at work; its clone is in $where.
wait_for_hung() {
  wait_for "a session that hangs" 120 test -f "$STATE/hung"
  where="$(cut -d' ' -f2 "$STATE/hung")"
}

# kill_who_works PID_OF_A PID_OF_B: kills the worker whose session hangs, $victim; $other is the one left.
kill_who_works() {
  wait_for_hung
  local pid
  case "$where" in
    "$WORK/a") victim=a pid=$1 other=b ;;
    *) victim=b pid=$2 other=a ;;
  esac
  kill -KILL -- "-$pid"
  echo "killed $victim in a session of the implementer"
}

is_done() { git --git-dir="$WORK/remote.git" for-each-ref refs/cook/done/ | grep -q .; }

# The mission was done once, and a machine that knows nothing of it makes the proof again.
check_done() {
  is_done || { echo "not done" >&2; exit 1; }
  local reader="$WORK/reader"
  git clone --quiet "$WORK/remote.git" "$reader"
  cd "$reader"
  run 0 cook verify --from origin --strict --rerun --trust-repo
  says reproduced
  run 0 cook pull
  run 0 cook doctor fsck
  run 0 cook log
  [[ "$(grep -c implemented <<<"$answer")" == 1 ]] || surprise "built, but not once"
  [[ "$(git log --format=%s --grep='Cook-Slice: hello')" == "Say hello" ]] || surprise "committed, but not once"
  [[ "$(git --git-dir="$WORK/remote.git" for-each-ref refs/cook/done/ | wc -l)" == 1 ]] || surprise "done, but not once"
  printf 'done once: %s sessions were begun, %s transitions\n' "$(wc -l <"$STATE/calls")" "$(grep -c . <<<"$answer")"
}
