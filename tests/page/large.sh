#!/usr/bin/env bash
# Makes the page of a job of 50 slices and 1,000 transitions, and opens it in a browser: what it takes until it is
# loaded and laid out. Ends with 1 above a megabyte, or where the median of eleven takes more than 300 ms.
#
#   tests/page/large.sh [PAGE]     without a page one is made, which takes minutes
#
# 77 says that no browser is here.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || { echo "no chromium here" >&2; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
page=${1:-}
if [ -z "$page" ]; then
  page=$work/page.html
  (cd "$here" && COOK_PAGE=$page cargo test --quiet --test all verify::large:: -- --ignored --nocapture)
fi
# The page as it is lets no script in: a copy without its policy says how long it took.
{
  sed 's/<meta http-equiv="Content-Security-Policy"[^>]*>//' "$page"
  printf '%s' '<script>addEventListener("load",()=>{document.body.offsetHeight;const took=Math.round(performance.now());
setTimeout(()=>{document.title="took "+took},0)})</script>'
} >"$work/copy.html"
for _ in $(seq 11); do
  timeout 100 "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" --dump-dom "file://$work/copy.html" 2>/dev/null |
    sed -n 's/.*<title>took \([0-9]*\)<.*/\1/p'
done | sort -n >"$work/took"
[ "$(wc -l <"$work/took")" -eq 11 ] || { echo "the browser did not tell all eleven times" >&2; exit 1; }
median=$(sed -n 6p "$work/took")
bytes=$(wc -c <"$page")
echo "$bytes bytes, opened in $(head -1 "$work/took") to $(tail -1 "$work/took") ms, median $median ms"
((bytes <= 1000000 && median <= 300))
