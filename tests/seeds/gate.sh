#!/bin/sh
# A line a claim that a part makes, `ok` or `not ok`; exits 1 when one is bad.
cd -- "${0%/*}/.." || exit 1
failed=0
number=0
for part in src/*.txt; do
  [ -f "$part" ] || continue
  while IFS= read -r line; do
    number=$((number + 1))
    case $line in
      bad) echo "not ok $number - $part" && failed=1 ;;
      *) echo "ok $number - $line" ;;
    esac
  done <"$part"
done
exit "$failed"
