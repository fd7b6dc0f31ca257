#!/bin/sh
# Keeps so many copies of a file.
set -e
file=$1
keep=${2:-3}
if [ -z "$file" ]; then
  echo "rotate.sh FILE [KEEP]" >&2
  exit 2
fi
if [ ! -f "$file" ]; then
  exit 3
fi
n=$keep
while [ "$n" -gt 1 ]; do
  before=$((n - 1))
  if [ -f "$file.$before" ]; then
    mv "$file.$before" "$file.$n"
  fi
  n=$before
done
cp "$file" "$file.1"
: > "$file"
