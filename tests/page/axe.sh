#!/usr/bin/env bash
# Looks at a page of `cook report --html` as a browser does: axe-core finds nothing against it, light and dark, its own
# policy lets its style in, and it asks for nothing. Without a page it makes one of `cook demo`.
#
#   tests/page/axe.sh [PAGE]       AXE=axe.min.js, else npm brings axe-core into a temporary directory; COOK=target/debug/cook
#
# 77 says that what it needs is not here.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || { echo "no chromium here" >&2; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
page=${1:-}
if [ -z "$page" ]; then
  cook=${COOK:-$here/target/debug/cook}
  [ -x "$cook" ] || { echo "no $cook: cargo build" >&2; exit 77; }
  "$cook" -q -C "$work/demo" demo >"$work/demo.log" 2>&1 || { cat "$work/demo.log" >&2; exit 1; }
  page=$work/report.html
  "$cook" -q -C "$work/demo" report --html "$page"
fi
axe=${AXE:-}
if [ -z "$axe" ]; then
  command -v npm >/dev/null || { echo "no npm here, and AXE is not set" >&2; exit 77; }
  (cd "$work" && npm init -y && npm install axe-core) >"$work/npm.log" 2>&1 || { echo "npm brought no axe-core" >&2; exit 77; }
  axe=$work/node_modules/axe-core/axe.min.js
fi
look() { timeout 100 "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" --window-size="$size" "$@"; }

# What the page's policy refuses is said on the console; a request would be too.
size=1200,900 look --enable-logging=stderr --dump-dom "file://$(realpath "$page")" >"$work/as-it-is.html" 2>"$work/console"
if grep -Ei 'content security policy|refused to|net::err' "$work/console"; then
  echo "the page wants what its policy refuses" >&2
  exit 1
fi

# The page as it is lets no script in: a copy without its policy holds axe.
{
  sed 's/<meta http-equiv="Content-Security-Policy"[^>]*>//' "$page"
  printf '<script>'
  cat "$axe"
  printf '%s' '</script><script>axe.run(document,{resultTypes:["violations","incomplete"]}).then(found=>{const out=document.createElement("pre");out.id="axe-result";
out.textContent=[...found.violations.map(v=>"VIOLATION "+v.id+" ("+v.impact+"): "+v.help+"\n"+v.nodes.slice(0,3).map(n=>"  "+n.html.slice(0,160)+"\n  "+n.failureSummary.replace(/\n/g," ")).join("\n")),"PASSED "+found.passes.length].join("\n");document.body.append(out)})</script>'
} >"$work/copy.html"
failed=0
for size in 1200,900 400,800; do
  for scheme in light dark; do
    dark=()
    [ $scheme = dark ] && dark=(--force-dark-mode --blink-settings=preferredColorScheme=0)
    size=$size look "${dark[@]}" --virtual-time-budget=20000 --dump-dom "file://$work/copy.html" 2>/dev/null |
      tr '\n' '\f' | sed -n 's/.*<pre id="axe-result">\(.*\)<\/pre>.*/\1/p' | tr '\f' '\n' >"$work/found"
    grep -q '^PASSED [1-9]' "$work/found" || { echo "axe gave no answer ($scheme, $size)" >&2; exit 1; }
    if grep -q '^VIOLATION' "$work/found"; then
      failed=1
      cat "$work/found"
    fi
    echo "$scheme $size: $(grep -c '^VIOLATION' "$work/found" || true) violations, $(grep '^PASSED' "$work/found")"
  done
done
exit $failed
