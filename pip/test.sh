#!/usr/bin/env bash
# Packs a wheel around a binary, installs it from its file alone into a fresh environment, and runs `cook`:
# pip/test.sh BINARY. 77 without Python 3.9 or its `venv`.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 9))' 2>/dev/null ||
  { echo "python3 (3.9 or newer) with venv is not here" >&2; exit 77; }
binary="$(realpath -- "${1:?usage: pip/test.sh BINARY}")"
work="$(mktemp -d)"
trap 'rm -rf -- "$work"' EXIT
key="$(python3 -c 'import platform, sys
cpu = platform.machine().lower()
print(sys.platform + "-" + {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(cpu, cpu))')"
python3 pip/build.py "$work/wheels" "$key=$binary"
wheel="$(echo "$work/wheels/"*.whl)"
python3 pip/build.py "$work/again" "$key=$binary"
cmp "$wheel" "$work/again/${wheel##*/}"
# What was built for another platform, or is not a program, is not packed.
other=darwin-arm64
[[ "$key" != "$other" ]] || other=linux-x64
head -c 4096 "$binary" >"$work/torn"
for wrong in "$other=$binary" "none=$binary" "$key=pip/test.sh" "$key=$work/torn" "$key=$work/absent"; do
  status=0
  python3 pip/build.py "$work/wrong" "$key=$binary" "$wrong" 2>"$work/err" || status=$?
  [[ "$status" == 2 && ! -e "$work/wrong" ]] && grep -q "next:" "$work/err" || { echo "$wrong ended with $status" >&2; exit 1; }
done
# pip does not hold a wheel to its own list of digests.
python3 - "$wheel" <<'END'
import base64, csv, hashlib, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
names = archive.namelist()
rows = list(csv.reader(archive.read(names[-1]).decode().splitlines()))
assert [row[0] for row in rows] == names, names
for name, digest, size in rows[:-1]:
    data = archive.read(name)
    found = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    assert (digest, size) == ("sha256=" + found, str(len(data))), name
assert archive.getinfo(names[0]).external_attr >> 16 == 0o100755, names[0]
END
python3 -m venv "$work/venv"
list_files() { find "$work/venv" -name __pycache__ -prune -o -print | sort; }
list_files >"$work/before"
"$work/venv/bin/python" -m pip --isolated --disable-pip-version-check install --quiet --no-index "$wheel"
cook="$work/venv/bin/cook"
cmp "$binary" "$cook"
wanted="$("$binary" --version)"
found="$("$cook" --version)"
[[ "$found" == "$wanted" ]] || { echo "\`$found\` instead of \`$wanted\`" >&2; exit 1; }
# The ending and both streams are those of the program.
status=0
"$cook" --no-such-option >"$work/out" 2>"$work/err" || status=$?
[[ "$status" == 2 && ! -s "$work/out" && -s "$work/err" ]] || { echo "ended with $status" >&2; exit 1; }
"$work/venv/bin/python" -m pip --isolated --disable-pip-version-check uninstall --quiet --yes agent-cook
list_files | diff "$work/before" - || { echo "the wheel leaves files behind" >&2; exit 1; }
if command -v uvx >/dev/null; then
  found="$(UV_CACHE_DIR="$work/uv" uvx --quiet --offline --no-config --python "$work/venv/bin/python" --from "$wheel" cook --version)"
  [[ "$found" == "$wanted" ]] || { echo "uvx: \`$found\` instead of \`$wanted\`" >&2; exit 1; }
fi
echo "pip: $wanted, ${wheel##*/}"
