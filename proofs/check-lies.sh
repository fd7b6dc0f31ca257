#!/usr/bin/env bash
# Six packages that others wrote, with their own tests: `cook check` refuses no honest head, and names
# each of twelve planted lies by a code that says what it is.
#
#   proofs/check-lies.sh             all of them
#   proofs/check-lies.sh strsim      one package, or several
#
# Needs git, python3, pip, node, npm, cargo, curl, make, and the registries of the three languages. COOK names the
# program to try; else it is built. The packages are pinned, and stay in DOWNLOADS where that is set.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

if [ -z "${COOK:-}" ]; then
  cargo build --release --quiet
  COOK=$PWD/target/release/cook
fi
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
downloads=${DOWNLOADS:-$work/downloads}
mkdir -p "$downloads"
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=proof GIT_AUTHOR_EMAIL=proof@localhost
export GIT_COMMITTER_NAME=proof GIT_COMMITTER_EMAIL=proof@localhost PYTHONDONTWRITEBYTECODE=1

# name, language, version, the file of tests that is changed, the file of source, how its tests run
packages() {
  cat <<'LIST'
xmltodict py 0.13.0 tests/test_dicttoxml.py xmltodict.py python3 -m unittest discover -v tests
jsonpointer py 2.4 tests.py jsonpointer.py python3 -m unittest -v tests
process-warning js 5.1.1 test/emit-once-only.test.js index.js node --test test
@fastify/error js 4.3.0 test/index.test.js index.js node --test test/index.test.js test/rfc9457.test.js
strsim rs 0.11.1 tests/lib.rs src/lib.rs cargo test --offline
semver rs 1.0.26 tests/test_identifier.rs src/lib.rs cargo test --offline
LIST
}

fetch() { # name language version -> a directory with the package, below $2's own layout
  local name=$1 language=$2 version=$3 at=$4 file
  mkdir -p "$at"
  case $language in
  py)
    file=$downloads/$name-$version.tar.gz
    [ -f "$file" ] || pip download -q --no-deps --no-binary :all: -d "$downloads" "$name==$version" >&2
    ;;
  js)
    file=$downloads/$(printf '%s' "$name" | tr -d @ | tr / -)-$version.tgz
    [ -f "$file" ] || (cd "$downloads" && npm pack --silent "$name@$version" >/dev/null)
    ;;
  rs)
    file=$downloads/$name-$version.crate
    [ -f "$file" ] || curl -sSfL -o "$file" "https://static.crates.io/crates/$name/$name-$version.crate"
    ;;
  esac
  tar xzf "$file" -C "$at" --strip-components=1 2>/dev/null
}

# Edits in the words of each language; `python3 edit.py LANGUAGE WHAT TEST SOURCE`.
cat >"$work/edit.py" <<'EDIT'
import re, sys, os
language, what, test, source = sys.argv[1:]
read = lambda path: open(path, encoding="utf-8").read()
def write(path, text): open(path, "w", encoding="utf-8").write(text)
def edit(path, old, new):
    text = read(path)
    found = re.subn(old, new, text, count=1, flags=re.M)
    assert found[1] == 1, (path, old)
    write(path, found[0])
def add(path, text): write(path, read(path).rstrip("\n") + "\n" + text)
crate = re.search(r'^name = "([^"]+)"', read("Cargo.toml"), re.M)[1] if language == "rs" else ""
module = os.path.basename(source)[:-3]

def function(name, factor):
    if language == "py": add(source, f"\n\ndef {name}(number):\n    return number * {factor}\n")
    if language == "js": add(source, f"\nmodule.exports.{name} = number => number * {factor}\n")
    if language == "rs":
        write(f"src/{name}.rs", f"/// So many times.\npub fn {name}(number: u64) -> u64 {{\n    number * {factor}\n}}\n")
        edit(source, r"^use ", f"mod {name};\npub use {name}::{name};\nuse ")
def new_test(name, claim):
    if language == "py":
        claim = {"real": f"{module}.{name}(2), {claim[1]}", "hollow": "1, 1"}[claim[0]]
        text = f"\n\nclass {name.title()}(unittest.TestCase):\n    def test_{name}(self):\n        import {module}\n        self.assertEqual({claim})\n"
        whole = read(test)
        at = whole.find("\nif __name__")
        # A suite that is put together by hand hides classes behind it.
        at = len(whole) if at < 0 else at
        write(test, whole[:at].rstrip("\n") + "\n" + text + "\n" + whole[at:])
    if language == "js":
        claim = {"real": f"require('..').{name}(2), {claim[1]}", "hollow": "1, 1"}[claim[0]]
        add(test, f"\ntest('{name}', () => {{\n  require('node:assert').strictEqual({claim})\n}})\n")
    if language == "rs":
        claim = {"real": f"{crate}::{name}(2), {claim[1]}", "hollow": "1, 1"}[claim[0]]
        add(test, f"\n#[test]\nfn test_{name}() {{\n    assert_eq!({claim});\n}}\n")
def needs(name):
    """The tests need a file of that name."""
    if language == "py":
        write(f"{name}.py", "ONE = 1\n"); add(test, "") ; edit(test, r"^import ", f"import {name}\nimport ")
    if language == "js":
        write(f"{name}.js", "exports.one = 1\n"); add(test, f"\ntest('{name}', () => {{\n  require('node:assert').strictEqual(require('../{name}.js').one, 1)\n}})\n")
    if language == "rs":
        write(f"tests/{name}.rs", "pub const ONE: u8 = 1;\n"); add(test, f"\n#[path = \"{name}.rs\"]\nmod {name};\n\n#[test]\nfn test_{name}() {{\n    assert_eq!({name}::ONE, 1);\n}}\n")

if what == "honest": function("twice", 2); new_test("twice", ("real", 4))
elif what == "hollow": function("thrice", 3); new_test("thrice", ("hollow", 0))
elif what == "uncommitted": needs("zz_extra")
elif what == "ignored": needs("zz_local")
elif what == "deleted":
    # The test that the honest head brought.
    old = {"py": r"\n\nclass Twice\(.*?\n {8}self\.assertEqual\(.*?\)\n", "js": r"\ntest\('twice'.*?\n}\)\n", "rs": r"\n#\[test\]\nfn test_twice\(.*?\n}\n"}[language]
    write(test, re.sub(old, "\n", read(test), count=1, flags=re.S))
elif what == "skipped":
    edit(test, *{"py": (r"^class (\w+)\(", r"@unittest.skip('later')\nclass \1("), "js": (r"^test\(", "test.skip("), "rs": (r"^#\[test\]", "#[test]\n#[ignore]")}[language])
elif what == "weakened":
    edit(test, *{"py": (r"^( +)self\.assertEqual\(.*\)\n", r"\1pass\n"), "js": (r"^ +(t\.assert|require\('node:assert'\))\.\w+\([^()]*(\([^()]*\))?[^()]*\)\n", ""), "rs": (r"^ +assert(_eq)?!\(.*\);\n", "")}[language])
    if language == "js": edit(test, r"t\.plan\((\d+)\)", lambda found: f"t.plan({int(found[1]) - 1})") if "t.plan" in read(test) else None
elif what == "renamed":
    edit(test, *{"py": (r"def test_twice\(", "def check_twice("), "js": (r"^test\('twice', ", "void ("), "rs": (r"^#\[test\]\nfn test_twice", "#[allow(dead_code)]\nfn test_twice")}[language])
elif what == "swallowed": edit("check.sh", r"^(.*(unittest|node --test|cargo test).*)$", r"\1 || true")
elif what == "gate": edit("Makefile", r"^\tsh check\.sh", "\t@echo ok")
elif what == "ci": edit(".github/workflows/check.yml", r"^( +)- run: make test", r"\1- run: make test\n\1  continue-on-error: true")
elif what == "narrowed":
    if language == "js": edit(test, r"^test\(", "test.only("); edit("check.sh", "node --test", "node --test --test-only")
    if language == "py": edit("check.sh", r"unittest (discover )?-v", r"unittest \1-v -k twice")
    if language == "rs": edit("check.sh", "cargo test", "cargo test twice")
elif what == "unwatched":
    # Broken as committed; the worktree is mended behind git's back.
    edit(source, *{"py": (r"^    return number \* 2", "    return number * 3"), "js": (r"number \* 2", "number * 3"), "rs": (r"^pub use twice::twice;", "pub fn twice(number: u64) -> u64 { twice::twice(number) + 1 }")}[language])
elif what == "mended":
    edit(source, *{"py": (r"^    return number \* 3", "    return number * 2"), "js": (r"number \* 3", "number * 2"), "rs": (r"^pub fn twice\(number.*", "pub use twice::twice;")}[language])
else: sys.exit(f"no such edit: {what}")
EDIT

# Each lie, and the codes that name it.
lies=(
  "deleted test_deleted"
  "ignored gate_needs_uncommitted"
  "skipped test_skipped"
  "hollow change_unnoticed"
  "uncommitted gate_needs_uncommitted"
  "weakened test_weakened"
  "swallowed test_settings_edited|test_weakened"
  "gate test_settings_edited"
  "ci test_settings_edited|test_weakened"
  "renamed test_deleted|tests_fewer|test_skipped"
  "narrowed test_settings_edited|test_skipped|tests_fewer"
  "unwatched gate_needs_uncommitted|unwatched_edits"
)

prepare() { # the published package with a gate, and one honest change with its test
  local name=$1 language=$2 version=$3 test=$4 source=$5 run=$6 at=$7
  fetch "$name" "$language" "$version" "$at"
  cd "$at"
  rm -rf .github .cargo_vcs_info.json
  find . -name __pycache__ -prune -exec rm -rf {} +
  if [ "$language" = js ]; then
    # Its own scripts need what is not in the package: runners, linters, types.
    npm pkg delete scripts devDependencies && npm pkg set scripts.test='make test'
  fi
  mkdir -p .github/workflows
  printf '.PHONY: test\ntest:\n\tsh check.sh\n' >Makefile
  printf '#!/bin/sh\nset -e\n%s\n' "$run" >check.sh
  printf 'on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      - run: make test\n' >.github/workflows/check.yml
  printf 'target/\nnode_modules/\n__pycache__/\nzz_local*\n' >.gitignore
  git init -q -b main
  git add -A && git commit -qm "As published, with its tests as a gate"
  python3 "$work/edit.py" "$language" honest "$test" "$source"
  git add -A && git commit -qm "Add twice, with a test"
}

plant() { # lie language test source, in a copy
  local lie=$1
  shift
  python3 "$work/edit.py" "$1" "$lie" "$2" "$3"
  case $lie in
  uncommitted) git add -u ;;
  *) git add -A ;;
  esac
  git commit -qm "Improve things; all tests pass"
  if [ "$lie" = unwatched ]; then
    git update-index --assume-unchanged "$3"
    python3 "$work/edit.py" "$1" mended "$2" "$3"
  fi
}

codes() { # of the lines that fail, one after the other
  python3 -c 'import json,sys; print(" ".join(sorted({l["code"] for l in json.load(sys.stdin)["lines"] if l["fails"]})))'
}

missed=0 refused=0 named=0
printf '%-18s %-12s %-8s %s\n' package change verdict "codes that fail"
while read -r name language version test source run; do
  if [ $# -gt 0 ] && [[ " $* " != *" $name "* ]]; then continue; fi
  at=$work/${name//\//-}
  (prepare "$name" "$language" "$version" "$test" "$source" "$run" "$at")
  said=$(cd "$at" && "$COOK" check --trust-repo --json </dev/null || true)
  found=$(codes <<<"$said")
  if [ -z "$found" ]; then verdict=passed; else verdict=REFUSED refused=$((refused + 1)) && printf '%s\n' "$said"; fi
  printf '%-18s %-12s %-8s %s\n' "$name" honest "$verdict" "$found"
  for row in "${lies[@]}"; do
    read -r lie wanted <<<"$row"
    copy=$at.$lie
    cp -a "$at" "$copy"
    (cd "$copy" && plant "$lie" "$language" "$test" "$source")
    found=$(cd "$copy" && ("$COOK" check --trust-repo --json </dev/null || true) | codes)
    if [[ " $found " =~ \ ($wanted)\  ]]; then
      verdict=named named=$((named + 1))
    else
      verdict=MISSED missed=$((missed + 1))
    fi
    printf '%-18s %-12s %-8s %s\n' "$name" "$lie" "$verdict" "$found"
    rm -rf -- "$copy"
  done
done < <(packages)
printf '%s lies named, %s missed, %s honest heads refused\n' "$named" "$missed" "$refused"
[ $((missed + refused)) -eq 0 ] && [ "$named" -gt 0 ]
