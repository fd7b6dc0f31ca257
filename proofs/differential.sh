#!/usr/bin/env bash
# Holds the defects that `cook strength` plants against those of the languages' own tools: cargo-mutants and
# Stryker, on the same change with the same tests. The shares that strong and that hollow tests notice may differ
# by 0.15. With tests of one half of a program they are shown: there the mix of defects decides, and cargo-mutants
# replaces each function by several constants, which any test of it notices.
#
#   proofs/differential.sh                    both; COOK_BIN names the binary
#   proofs/differential.sh --tools DIR        keeps the tools there (installed with cargo and npm where they are missing)
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

readonly MUTANTS=27.1.0 STRYKER=9.5.1 ALLOWED=0.15
tools="$PWD/target/tools"
while (($# > 0)); do
  case $1 in
    --tools) tools=${2:?} && shift ;;
    *) sed -n '2,8s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
  esac
  shift
done
cook="${COOK_BIN:-$PWD/target/release/cook}"
programs="$PWD/tests/strength"
work="$(mktemp -d)"
trap 'rm -rf -- "$work"' EXIT
# What this machine trusts and keeps is left alone.
export XDG_CONFIG_HOME="$work/config" XDG_STATE_HOME="$work/state" XDG_CACHE_HOME="$work/cache"

install_tools() {
  mkdir -p "$tools/npm"
  [[ -x "$tools/bin/cargo-mutants" ]] ||
    cargo install --quiet --locked --root "$tools" cargo-mutants --version "$MUTANTS"
  [[ -x "$tools/npm/node_modules/.bin/stryker" ]] ||
    (cd "$tools/npm" && npm install --no-audit --no-fund --silent "@stryker-mutator/core@$STRYKER")
}

# A repository whose last commit brings the source, with tests that were there before: NAME SOURCE TESTS
begin() {
  dir="$work/$1"
  mkdir -p "$dir/.agent" "$dir/src" "$dir/tests"
  cd "$dir"
  git init -q -b main
  git config user.name Proof && git config user.email proof@example.invalid
}

commit() {
  git add -A && git commit -q -m "$1"
}

rust() {
  begin "rust-$1"
  printf '[package]\nname = "spans"\nversion = "0.1.0"\nedition = "2021"\n' >Cargo.toml
  printf '/target\n/mutants.out*\n' >.gitignore
  printf '[gates.test]\nrun = "cargo test --offline --quiet"\n[clean_room]\ncache = ["target"]\n' >.agent/cook.toml
  cp "$programs/$1_spans.rs.txt" tests/spans.rs
  : >src/lib.rs
  commit Begin
  cp "$programs/spans.rs.txt" src/lib.rs
  commit 'Write it'
  git diff HEAD~1 HEAD >change.diff
  "$tools/bin/cargo-mutants" mutants --in-diff change.diff --no-shuffle >mutants.log 2>&1 || true
  jq -r '[.caught + .timeout, .caught + .timeout + .missed] | "\(.[0]) \(.[1])"' mutants.out/outcomes.json
}

javascript() {
  begin "javascript-$1"
  printf '{"name": "range", "private": true, "version": "0.1.0"}\n' >package.json
  printf '/reports\n/.stryker-tmp\n' >.gitignore
  printf '[gates.test]\nrun = "node range.test.js"\n' >.agent/cook.toml
  cp "$programs/$1.js" range.test.js
  : >range.js
  commit Begin
  cp "$programs/range.js" range.js
  commit 'Write it'
  cat >stryker.json <<'EOF'
{"testRunner": "command", "commandRunner": {"command": "node range.test.js"}, "mutate": ["range.js"],
 "reporters": ["json"], "plugins": [], "concurrency": 2, "allowEmpty": true}
EOF
  "$tools/npm/node_modules/.bin/stryker" run stryker.json >stryker.log 2>&1 || true
  jq -r '[.files[].mutants[].status] | map(select(. == "Killed" or . == "Timeout" or . == "Survived" or . == "NoCoverage"))
    | "\(map(select(. == "Killed" or . == "Timeout")) | length) \(length)"' reports/mutation/mutation.json
}

install_tools
failed=0
printf '%-12s %-8s %-22s %-22s %s\n' program tests 'the tool' cook difference
for language in rust javascript; do
  for tests in strong half hollow; do
    read -r noticed all < <("$language" "$tests")
    cd "$work/$language-$tests"
    "$cook" strength --trust-repo --json --base HEAD~1 --mutants 400 --minutes 20 >strength.json
    read -r own planted < <(jq -r '"\(.killed) \(.planted)"' strength.json)
    line="$(awk -v a="$noticed" -v b="$all" -v c="$own" -v d="$planted" -v allowed="$ALLOWED" 'BEGIN {
      x = a / b; y = c / d; far = x > y ? x - y : y - x; verdict = (far > allowed) ? "  too far" : ""
      printf("%-22s %-22s %.2f%s", sprintf("%.2f (%d of %d)", x, a, b), sprintf("%.2f (%d of %d)", y, c, d), far, verdict)
    }')"
    printf '%-12s %-8s %s\n' "$language" "$tests" "$line"
    [[ "$line" != *'too far' || "$tests" == half ]] || failed=1
  done
done
exit "$failed"
