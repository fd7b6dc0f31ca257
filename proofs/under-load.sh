#!/usr/bin/env bash
# The same tests again and again while every core is busy: a test that waits for luck fails here.
#
#   proofs/under-load.sh [RUNS=50] [FILTER]     FILTER is a part of a test's name; without it every test
#
# Ends with 1 when a test failed, after all runs, and prints which, how often and where its output is.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
runs=${1:-50}
filter=${2:-}
[[ $runs =~ ^[0-9]+$ ]] || { sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 2; }
out=$PWD/target/under-load
rm -rf "$out"
mkdir -p "$out"

# Each program of tests with the directory of its package, which is where it runs.
cargo test --no-run --message-format=json >"$out/built"
programs=()
while IFS=$'\t' read -r directory program; do
  found=$("$program" --list --format=terse ${filter:+"$filter"} 2>/dev/null | grep -c ': test$' || true)
  ((found > 0)) || continue
  programs+=("$directory"$'\t'"$program")
done < <(sed -n 's/.*"manifest_path":"\([^"]*\)\/Cargo.toml".*"test":true},"features".*"executable":"\([^"]*\)".*/\1\t\2/p' "$out/built")
((${#programs[@]} > 0)) || { printf 'no test is called `%s`\n' "$filter" >&2; exit 2; }

load=()
unload() { kill "${load[@]}" 2>/dev/null || true; }
trap unload EXIT
cores=$(getconf _NPROCESSORS_ONLN)
if command -v stress-ng >/dev/null; then
  stress-ng --quiet --cpu "$cores" &
  load+=($!)
else
  for ((core = 0; core < cores; core++)); do
    (while :; do :; done) &
    load+=($!)
  done
fi

failed=0
for ((run = 1; run <= runs; run++)); do
  for entry in "${programs[@]}"; do
    IFS=$'\t' read -r directory program <<<"$entry"
    name=$(basename -- "$program")
    log=$out/${name%-*}-$run
    if (cd "$directory" && "$program" ${filter:+"$filter"}) >"$log" 2>&1; then
      rm "$log"
    else
      failed=$((failed + 1))
      printf 'run %s: %s failed: %s\n' "$run" "${name%-*}" "$log"
    fi
  done
done
if ((failed > 0)); then
  printf '\nfailures of a test in %s runs:\n' "$runs"
  sed -n 's/^test \(.*\) \.\.\. FAILED$/\1/p' "$out"/*-[0-9]* | sort | uniq -c | sort -rn
  exit 1
fi
printf '%s runs of %s programs under load on %s cores: nothing failed\n' "$runs" "${#programs[@]}" "$cores"
