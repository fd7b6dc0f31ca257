#!/usr/bin/env bash
# What `cook check` costs beside one warm run of the suite that it checks: 500 tests in 50 files.
#
#   benches/trials.sh [COOK] [RUNNER ...]   pytest, jest, go, cargo, unittest; those that are not here are skipped
#
# Two changes of each repository: the code with one test file edited, and the code alone. The base has its receipt, as after
# the check of the commit before. Prints the seconds of the suite by itself in the clean room, of the check, and their ratio, all
# from one run. COOK_RUNNERS_DIR is the directory that tests/trial/prepare.sh fills.
set -euo pipefail
cook=$(realpath -- "${1:-target/release/cook}")
shift || true
runners=${COOK_RUNNERS_DIR:-}
work=$(mktemp -d)
trap 'chmod -R u+w -- "$work"; rm -rf -- "$work"' EXIT
home=$work/home
mkdir -p "$home"

clean() {
  env -i PATH="$PATH" HOME="$home" LC_ALL=C GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=b GIT_AUTHOR_EMAIL=b@example.org \
    GIT_COMMITTER_NAME=b GIT_COMMITTER_EMAIL=b@example.org CARGO_HOME="${CARGO_HOME:-$HOME/.cargo}" \
    RUSTUP_HOME="${RUSTUP_HOME:-$HOME/.rustup}" GOFLAGS=-mod=mod GOCACHE="$work/gocache" "$@"
}

save() { clean git add -A && clean git commit -qm "$1"; }

# Seconds of a command, with one digit; its answer is kept in $work/said.
seconds() {
  local from to
  from=$(date +%s%N)
  "$@" >"$work/said" 2>&1 || true
  to=$(date +%s%N)
  awk -v n=$((to - from)) 'BEGIN { printf "%.2f", n / 1e9 }'
}

# Each file has ten tests that take some milliseconds, as tests do.
lay_pytest() {
  gate="$1 -m pytest -q"
  mkdir -p app tests
  touch app/__init__.py
  for n in $(seq 50); do
    printf 'def f(x):\n    return x + %d\n' "$n" >"app/m$n.py"
    {
      printf 'import time\nimport pytest\nfrom app.m%d import f\n\n\n' "$n"
      printf '@pytest.mark.parametrize("x", range(10))\ndef test_f(x):\n    time.sleep(0.01)\n    assert f(x) == x + %d\n' "$n"
    } >"tests/test_m$n.py"
  done
  code=app/m7.py test=tests/test_m7.py
  printf '__pycache__/\n.pytest_cache/\n' >.gitignore
  caches='"__pycache__", ".pytest_cache"'
}

lay_unittest() {
  gate="python3 -m unittest discover -s tests -t ."
  mkdir -p app tests
  touch app/__init__.py tests/__init__.py
  for n in $(seq 50); do
    printf 'def f(x):\n    return x + %d\n' "$n" >"app/m$n.py"
    {
      printf 'import time\nimport unittest\nfrom app.m%d import f\n\n\nclass T(unittest.TestCase):\n' "$n"
      for t in $(seq 10); do printf '    def test_%d(self):\n        time.sleep(0.01)\n        self.assertEqual(f(%d), %d)\n' "$t" "$t" $((t + n)); done
    } >"tests/test_m$n.py"
  done
  code=app/m7.py test=tests/test_m7.py
  printf '__pycache__/\n' >.gitignore
  caches='"__pycache__"'
}

lay_jest() {
  gate="node $1/node_modules/jest/bin/jest.js"
  mkdir -p src test
  printf '{"name": "b", "version": "1.0.0"}\n' >package.json
  for n in $(seq 50); do
    printf 'exports.f = (x) => x + %d;\n' "$n" >"src/m$n.js"
    printf 'const { f } = require("../src/m%d");\ndescribe("m%d", () => {\n  for (let x = 0; x < 10; x++) {\n    test(`adds to ${x}`, async () => {\n      await new Promise((go) => setTimeout(go, 10));\n      expect(f(x)).toBe(x + %d);\n    });\n  }\n});\n' "$n" "$n" "$n" >"test/m$n.test.js"
  done
  code=src/m7.js test=test/m7.test.js
  caches='"node_modules"'
}

lay_go() {
  gate="go test ./..."
  printf 'module example.com/b\n\ngo 1.19\n' >go.mod
  for n in $(seq 50); do
    mkdir -p "m$n"
    printf 'package m%d\n\nfunc F(x int) int { return x + %d }\n' "$n" "$n" >"m$n/m.go"
    {
      printf 'package m%d\n\nimport (\n\t"testing"\n\t"time"\n)\n' "$n"
      for t in $(seq 10); do printf '\nfunc TestF%d(t *testing.T) {\n\ttime.Sleep(10 * time.Millisecond)\n\tif F(%d) != %d {\n\t\tt.Fatal("F")\n\t}\n}\n' "$t" "$t" $((t + n)); done
    } >"m$n/m_test.go"
  done
  code=m7/m.go test=m7/m_test.go
  caches='' again=-count=1
}

lay_cargo() {
  gate="cargo test --offline"
  mkdir -p src tests
  printf '[package]\nname = "b"\nversion = "0.1.0"\nedition = "2021"\n\n[lib]\ndoctest = false\n' >Cargo.toml
  : >src/lib.rs
  for n in $(seq 50); do
    printf 'pub mod m%d;\n' "$n" >>src/lib.rs
    printf 'pub fn f(x: u32) -> u32 {\n    x + %d\n}\n' "$n" >"src/m$n.rs"
    {
      printf 'use b::m%d::f;\n' "$n"
      for t in $(seq 10); do printf '\n#[test]\nfn t%d() {\n    std::thread::sleep(std::time::Duration::from_millis(10));\n    assert_eq!(f(%d), %d);\n}\n' "$t" "$t" $((t + n)); done
    } >"tests/m$n.rs"
  done
  code=src/m7.rs test=tests/m7.rs
  printf 'target/\n' >.gitignore
  caches='"target"'
}

row() { printf '%-9s %-24s %8s %8s %6s\n' "$@"; }

measure() { # runner, its place
  local runner=$1 at=$work/$1 gate code test caches again='' took
  mkdir -p "$at"
  cd "$at"
  clean git init -q -b main
  "lay_$runner" "${2:-}"
  mkdir -p .agent
  {
    printf '[gates.test]\nrun = "%s"\n\n[clean_room]\ndir = "%s"\nenv = ["CARGO_HOME", "RUSTUP_HOME", "GOCACHE", "GOFLAGS"]\n' "$gate" "$work/rooms"
    [ -z "$caches" ] || printf 'cache = [%s]\n' "$caches"
  } >.agent/cook.toml
  [ "$runner" != cargo ] || clean cargo generate-lockfile --offline
  save "Begin"
  printf 'A suite.\n' >README.md
  save "Say what it is"
  seconds clean "$cook" check --trust-repo >/dev/null
  # The receipt of the base, and caches that are warm.
  clean "$cook" check --trust-repo >"$work/said" || { cat "$work/said"; return 1; }
  # A warm run by itself, the best of three: the first one builds.
  local best='' words
  read -ra words <<<"$gate"
  seconds clean "${words[@]}" >/dev/null
  for _ in 1 2 3; do
    took=$(seconds clean "${words[@]}" ${again:+"$again"})
    best=$(printf '%s\n%s\n' "$took" "$best" | sort -n | grep . | head -1)
  done
  clean "$cook" check --trust-repo >/dev/null || true
  sed -i 's/x + 7/7 + x/' "$code"
  save "Turn it round"
  took=$(seconds clean "$cook" check --trust-repo --base HEAD~1)
  row "$runner" "code alone" "$best" "$took" "$(awk -v a="$took" -v b="$best" 'BEGIN { printf "%.2f", a / b }')"
  sed -i 's/7 + x/x + 7 + 0/' "$code"
  case $test in
  *.py) printf '\n\ndef helper():\n    return 1\n' >>"$test" ;;
  *) printf '\n// More is to come.\n' >>"$test" ;;
  esac
  save "Turn it again, and touch its tests"
  took=$(seconds clean "$cook" check --trust-repo --base HEAD~1)
  row "$runner" "code with edited tests" "$best" "$took" "$(awk -v a="$took" -v b="$best" 'BEGIN { printf "%.2f", a / b }')"
}

row runner change suite check ratio
for runner in "${@:-pytest jest go cargo unittest}"; do
  for one in $runner; do
    case $one in
    pytest) python=$runners/venv/bin/python && [ -x "$python" ] && measure pytest "$python" || echo "pytest: skipped, COOK_RUNNERS_DIR has none" ;;
    jest) [ -n "$runners" ] && [ -d "$runners/npm/node_modules/jest" ] && measure jest "$runners/npm" || echo "jest: skipped, COOK_RUNNERS_DIR has none" ;;
    go) command -v go >/dev/null && measure go || echo "go: skipped, it is not here" ;;
    cargo) command -v cargo >/dev/null && measure cargo || echo "cargo: skipped, it is not here" ;;
    unittest) measure unittest ;;
    *) echo "unknown runner: $one" >&2 && exit 2 ;;
    esac
  done
done
