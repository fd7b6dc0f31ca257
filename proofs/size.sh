#!/usr/bin/env bash
# How large the product is: proofs/size.sh. It counts lines of code (neither blank nor comment) in src and crates/*/src
# without unit tests, and of the tables (TOML, JSON) that lie among them, so that moving words there saves nothing;
# packages of the lock file; and source files that share a name. It fails where one of them grew beyond the bar below;
# who makes one smaller lowers its bar.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
most_lines=97658 most_packages=219 most_shared=0

mapfile -t files < <(git ls-files 'src/*.rs' 'crates/*/src/*.rs' | grep -v '/tests\.rs$')
mapfile -t tables < <(git ls-files 'src/*.toml' 'src/*.json' 'crates/*/src/*.toml' 'crates/*/src/*.json')
lines="$(awk '
  FNR == 1 { tested = 0; marked = 0 }
  tested { next }
  marked && /^[ ]*(pub(\([a-z]+\))? )?mod [a-z_]+ \{/ { tested = 1; code -= marked; next }
  # Attributes between the mark and the module belong to the module.
  { marked = /^#\[cfg\(test\)\]/ ? 1 : marked && /^#\[/ ? marked + 1 : 0 }
  /^[ \t]*$/ || /^[ \t]*\/\// { next }
  { code += 1 }
  END { print code }' "${files[@]}")"
lines=$((lines + $(cat -- "${tables[@]}" | grep -cvE '^[ \t]*(#|$)')))
packages="$(grep -c '^name = ' Cargo.lock)"
shared="$(printf '%s\n' "${files[@]##*/}" | grep -vxE '(mod|lib|main|error)\.rs' | sort | uniq -d | wc -l)"
status=0
# tell WHAT COUNT BAR
tell() {
  printf '%-36s %7d   at most %d\n' "$@"
  (($2 <= $3)) || status=1
}
tell "lines of product code" "$lines" "$most_lines"
tell "packages in Cargo.lock" "$packages" "$most_packages"
tell "names that source files share" "$shared" "$most_shared"
exit "$status"
