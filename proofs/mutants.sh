#!/usr/bin/env bash
# Switches off each guard of the protocol in turn and expects a test to notice.
#
#   proofs/mutants.sh            every guard
#   proofs/mutants.sh --short    those of proofs/mutants.sample, what CI runs
#   proofs/mutants.sh --only RE  those whose number, place or text matches
#
# In a copy of crates/protocol (target/mutants) proofs/mutants.pl turns each guard of the machine and
# of the rules of reports into one that is skipped when MUTANT names its number, so that one build
# serves all. proofs/mutants.list adds decisions that are changed instead of skipped.
# Guards of the machine must be missed by crates/protocol/tests/exploration, rules of reports
# by crates/protocol/tests/reports.rs.
# proofs/mutants.allowed names those that nothing can miss, with the reason.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
root=$PWD
copy=$root/target/mutants
short=
only=
case "${1:-}" in
  --short) short=yes ;;
  --only) only=$2 ;;
  '') ;;
  *) sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac

rm -rf "$copy"
crate=$copy/crates/protocol
mkdir -p "$crate" "$copy/tests/support"
cp -R Cargo.lock protocol "$copy/"
cp -R crates/protocol/src crates/protocol/hooks crates/protocol/tests "$crate/"
cp tests/support/generated.rs "$copy/tests/support/"
# A workspace of that one crate. It has another name, so that both can be built into one target
# directory, and every dependency of the whole workspace, so that those are built already.
sections() { awk -v wanted="$2" '/^\[/ { print_it = $0 ~ wanted } print_it' "$1"; }
sections Cargo.toml '^\[(workspace|profile)' | sed '/^default-members/d' >"$copy/Cargo.toml"
{
  sections crates/protocol/Cargo.toml '^\[package\]'
  printf '[lib]\nname = "cook_protocol"\n\n[dependencies]\n'
  sections Cargo.toml '^\[workspace.dependencies\]' |
    sed -n '/^cook-/!s/^\([a-z0-9_-]*\) = .*/\1.workspace = true/p'
  sections Cargo.toml '^\[dev-dependencies\]' | sed '/^cook-/d'
} >"$crate/Cargo.toml"
sed -i -e 's/cook-protocol/cook-guarded/' "$copy/Cargo.toml" "$copy/Cargo.lock" "$crate/Cargo.toml"
sed -i -e '1i #![allow(missing_docs, unused)]' -e '0,/^pub mod/s//#[macro_use]\nmod mutant;\n&/' \
  "$crate/src/lib.rs"
cat >"$crate/src/mutant.rs" <<'RUST'
use std::sync::LazyLock;

/// A refusal that is skipped.
macro_rules! guard {
    ($number:expr, $($refusal:tt)*) => {
        if !crate::mutant::is($number) {
            return Err($($refusal)*);
        }
    };
}
/// A refusal in whose place an empty answer is given.
macro_rules! refuse {
    ($number:expr, $($refusal:tt)*) => {
        if crate::mutant::is($number) {
            Ok(Default::default())
        } else {
            Err($($refusal)*)
        }
    };
}
/// Something noticed that is not kept.
macro_rules! keep {
    ($number:expr, $($list:ident).+, $($what:tt)*) => {
        if !crate::mutant::is($number) {
            $($list).+($($what)*);
        }
    };
}
static MUTANT: LazyLock<u32> = LazyLock::new(|| {
    let number = std::env::var("MUTANT").map_or(0, |text| text.parse().unwrap());
    // The first breach is enough; other threads would go on for a while.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        hook(panic);
        std::process::exit(101);
    }));
    number
});
pub(crate) fn is(number: u32) -> bool {
    *MUTANT == number
}
RUST

mutants=$copy/mutants
: >"$mutants"
for file in $(find crates/protocol/src/machine -name '*.rs' | LC_ALL=C sort) crates/protocol/src/report/rules.rs; do
  # The brief decides nothing; its refusals have tests of their own.
  [ "$file" = crates/protocol/src/machine/brief_changes.rs ] && continue
  { grep -F "$file"$'\t' proofs/mutants.list || true; } |
    perl proofs/mutants.pl "$copy/$file" "$file" "$(wc -l <"$mutants")" "$mutants"
done

gone=$(sed 's/^\([^\t]*\):[0-9]*\t/\1\t/' <(cut -f2- "$mutants") | sort -u | comm -13 - <(sort -u proofs/mutants.sample))
if [ -n "$gone" ]; then
  printf 'proofs/mutants.sample names what is no guard any more:\n%s\n' "$gone"
  exit 2
fi

export CARGO_TARGET_DIR=$root/target
cargo test --quiet --manifest-path "$copy/Cargo.toml" --test exploration --test reports --no-run \
  --message-format=json >"$copy/built"
program() { sed -n "s/.*\"executable\":\"\([^\"]*\/$1-[^\"]*\)\".*/\1/p" "$copy/built" | tail -1; }
exploration=$(program exploration)
reports=$(program reports)
export exploration reports copy root short
unset COOK_UPDATE COOK_EXPLORE RUST_BACKTRACE

meet_scenarios() { asked "$exploration" liveness:: imports:: answered:: offered:: on_record:: by_cook:: proof:: refused::; }
# Ends with 0 when no test notices mutant $1 of the place $2. What finds most is asked first. Far states are not asked:
# a guard that those alone miss needs a scenario. The random walks are left out: whoever is killed is killed every time.
unnoticed() {
  cd "$copy"
  export MUTANT=$1
  case "$2" in
    */report/*) asked "$reports" ;;
    *)
      meet_scenarios &&
        COOK_EXPLORE=60 asked "$exploration" from_every &&
        COOK_EXPLORE=1000 asked "$exploration" from_every &&
        { [ "${3:-}" = nearest ] || [ -n "$short" ] || COOK_EXPLORE=12000 asked "$exploration" from_every; }
      ;;
  esac >"$copy/out.$1" 2>&1
}
# A mutant may never come to an end; how long one takes that does is seen below, on this machine as
# busy as it is.
limit=3600
export limit
asked() { timeout "$limit" nice -n 10 "$@" --nocapture; }
judge() {
  local number=$1 place=$2 what=$3 depth=
  # Of what is known to survive the nearest states are asked, and the sample leaves it out.
  if is_allowed "$place" "$what"; then
    if [ -n "$short" ]; then return; fi
    depth=nearest
  fi
  if unnoticed "$number" "$place" "$depth"; then
    printf 'survived\t%s\t%s\n' "$place" "$what"
  else
    printf 'killed\t%s\t%s\t%s\n' "$place" "$what" \
      "$(grep -A1 -m1 'panicked at' "$copy/out.$number" | tail -1 | cut -c1-160)"
    rm -f "$copy/out.$number"
  fi
}
is_allowed() { grep -qF -- "${1%%:*}"$'\t'"$2"$'\t' "$root/proofs/mutants.allowed"; }
export -f meet_scenarios unnoticed asked judge is_allowed
unchanged_fails() {
  echo "the unchanged copy fails:"
  tail -30 "$copy/out.0"
  exit 2
}

# Nothing may be taken for a kill that fails without a mutant too. The longest exploration of the
# unchanged copy is what `cargo test` runs; the sample trusts that for the shorter ones as well.
started=$SECONDS
meet_scenarios >"$copy/out.0" 2>&1 || unchanged_fails
if [ -z "$short" ]; then
  unnoticed 0 crates/protocol/src/machine/ nearest || unchanged_fails
fi
unnoticed 0 crates/protocol/src/report/ || unchanged_fails
limit=$((600 + 40 * (SECONDS - started)))
started=$SECONDS
# The sample is named by text: a guard that is added elsewhere leaves it as it is.
awk -F'\t' -v short="$short" -v only="$only" -v sample="$root/proofs/mutants.sample" '
  BEGIN { while ((getline line < sample) > 0) named[line] = 1 }
  {
    file = $2
    sub(/:[0-9]+$/, "", file)
    key = file "\t" $3
  }
  short != "" && !(key in named) || only != "" && $0 !~ only { next }
  { delete named[key]; printf "%s%c%s%c%s%c", $1, 0, $2, 0, $3, 0 }' \
  "$mutants" | xargs -0 -n3 -P2 bash -c 'judge "$@"' judge >"$copy/judged" || {
  echo "a judgment ended before its time, after $(wc -l <"$copy/judged")"
  exit 2
}

killed=0
allowed=0
survived=0
while IFS=$'\t' read -r verdict place what _; do
  if [ "$verdict" = killed ]; then
    killed=$((killed + 1))
  elif is_allowed "$place" "$what"; then
    allowed=$((allowed + 1))
  else
    survived=$((survived + 1))
    printf 'survived: %s  %s\n' "$place" "$what"
  fi
done <"$copy/judged"
echo "$((killed + allowed + survived)) guards, $killed killed, $allowed allowed, $survived survived, $((SECONDS - started)) s"
[ "$survived" -eq 0 ] && [ "$killed" -gt 0 ]
