#!/usr/bin/env bash
# Two public benchmarks of somebody else's: `cook check` refuses tests that were bent until they passed, and
# lets tests that were only rewritten go.
#
#   proofs/tamper.sh                        builds cook, and tries all 140 cases
#   proofs/tamper.sh COOK                   tries that program (or set COOK)
#   proofs/tamper.sh COOK NAME...           only the cases whose name begins so
#
# The cases are those of the source package checkwash 0.9.0 on PyPI. It is downloaded into a temporary
# directory (or into DOWNLOADS, where that is set), and nothing of it stays.
#
#   tamper     80 edits of tests: they are red before and green after, and the code is the same. All 80 must be refused.
#   refactors  60 honest edits of tests: they are green before and after, and red on the broken code that comes with each.
#              None may be refused.
#
# Each case is run by pytest before cook sees it. A case that does not do what it says is named and does
# not count. Prints each case and the sums; exits with 1 when a figure is missed, and with 77 when this
# machine lacks a program or PyPI.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

cook=${1:-${COOK:-}}
[ $# -eq 0 ] || shift
if [ -z "$cook" ]; then
  cargo build --release --quiet
  cook=$PWD/target/release/cook
fi
cook=$(realpath -- "$cook")
# Not below /tmp, which the sandbox hides from gates.
mkdir -p target
work=$(mktemp -d "$PWD/target/tamper.XXXXXX")
trap 'rm -rf -- "$work"' EXIT
downloads=${DOWNLOADS:-$work/downloads}
mkdir -p "$downloads" "$work/home"

skip() {
  echo "proofs/tamper.sh was skipped: $1" >&2
  exit 77
}
for program in git python3 timeout; do
  command -v "$program" >/dev/null || skip "$program is missing"
done
archive=$downloads/checkwash-0.9.0.tar.gz
if [ ! -f "$archive" ]; then
  python3 -m pip download --quiet --no-binary :all: --no-deps --dest "$downloads" checkwash==0.9.0 ||
    skip "PyPI did not give the source package checkwash 0.9.0"
fi
mkdir "$work/package"
tar xzf "$archive" -C "$work/package" --strip-components=1
cases=$work/package/benchmarks
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet pytest || skip "PyPI did not give pytest"
runner=$("$work/venv/bin/pytest" --version 2>&1)

# Nothing of the caller's environment reaches cook or the tests: cook refuses to trust for an agent.
clean=(env -i "PATH=$work/venv/bin:$PATH" "HOME=$work/home" LANG=C.UTF-8 GIT_CONFIG_NOSYSTEM=1
  GIT_AUTHOR_NAME=proof GIT_AUTHOR_EMAIL=proof@localhost GIT_COMMITTER_NAME=proof GIT_COMMITTER_EMAIL=proof@localhost)

in_work() { # directory command...
  (cd -- "$1" && shift && "${clean[@]}" "$@")
}

commit() { # repository message
  in_work "$1" git add --all
  in_work "$1" git commit --quiet --allow-empty --message "$2"
}

lay() { # repository code tests
  rm -rf -- "$1/src" "$1/tests"
  cp -R -- "$2" "$1/src"
  cp -R -- "$3" "$1/tests"
}

repository() { # path
  mkdir -p "$1/.agent"
  in_work "$1" git init --quiet --initial-branch main .
  printf '[tool.pytest.ini_options]\npythonpath = ["src"]\ntestpaths = ["tests"]\n' >"$1/pyproject.toml"
  printf '__pycache__/\n.pytest_cache/\n' >"$1/.gitignore"
  printf '[gates.test]\nrun = "pytest -v"\n' >"$1/.agent/cook.toml"
}

# The exit code of pytest in a copy without caches: 0 green, 1 red.
tests_say() { # repository
  local said=0
  in_work "$1" env PYTHONDONTWRITEBYTECODE=1 timeout 120 pytest -q -p no:cacheprovider >"$work/pytest.out" 2>&1 || said=$?
  echo "$said"
}

# Prints the codes of the lines that say something false, then those of the others in brackets.
cat >"$work/codes.py" <<'CODES'
import json, sys
try:
    lines = json.load(open(sys.argv[1], encoding="utf-8"))["lines"]
except (ValueError, KeyError, OSError):
    print("no-answer")
    sys.exit()
false = sorted({line["code"] for line in lines if line["weight"] == "refuses"})
rest = sorted({line["code"] for line in lines if line["weight"] != "refuses"})
print(",".join(false) or "-", "(" + ",".join(rest) + ")" if rest else "")
CODES

checked() { # repository -> exit code, codes
  local said=0
  in_work "$1" timeout 600 "$cook" check --base HEAD~1 --trust-repo --json >"$work/answer.json" 2>"$work/answer.err" || said=$?
  echo "$said $(python3 "$work/codes.py" "$work/answer.json")"
}

wanted() { # case names...
  local case=$1 name
  shift
  [ $# -gt 0 ] || return 0
  for name in "$@"; do
    case $case in "$name"*) return 0 ;; esac
  done
  return 1
}

tampered=0 refused=0 unsound=0
for case in "$cases"/tamper/cases/*/; do
  [ -d "$case/before/tests" ] || continue
  name=$(basename -- "$case")
  wanted "$name" "$@" || continue
  repo=$work/repo
  rm -rf -- "$repo"
  repository "$repo"
  lay "$repo" "$case/src" "$case/before/tests"
  commit "$repo" "base"
  before=$(tests_say "$repo")
  lay "$repo" "$case/src" "$case/after/tests"
  commit "$repo" "Mend the tests"
  after=$(tests_say "$repo")
  if [ "$before" != 1 ] || [ "$after" != 0 ]; then
    unsound=$((unsound + 1))
    echo "tamper    $name: does not count, pytest exits with $before before and with $after after"
    continue
  fi
  tampered=$((tampered + 1))
  read -r said false rest < <(checked "$repo")
  if [ "$said" = 1 ] && [ "$false" != - ] && [ "$false" != no-answer ]; then
    refused=$((refused + 1))
    echo "tamper    $name: refused, $false $rest"
  else
    echo "tamper    $name: MISSED, exit $said $false $rest"
  fi
done

honest=0 accused=0 unknown=0 unqualified=0
for case in "$cases"/refactors/cases/*/; do
  [ -d "$case/BEFORE/tests" ] || continue
  name=$(basename -- "$case")
  wanted "$name" "$@" || continue
  repo=$work/repo
  rm -rf -- "$repo"
  repository "$repo"
  lay "$repo" "$case/PROD-BUG/src" "$case/BEFORE/tests"
  broken_before=$(tests_say "$repo")
  lay "$repo" "$case/PROD-BUG/src" "$case/AFTER/tests"
  broken_after=$(tests_say "$repo")
  lay "$repo" "$case/PROD-GOOD/src" "$case/BEFORE/tests"
  commit "$repo" "base"
  before=$(tests_say "$repo")
  lay "$repo" "$case/PROD-GOOD/src" "$case/AFTER/tests"
  commit "$repo" "Tidy the tests"
  after=$(tests_say "$repo")
  remark=
  if [ "$broken_before" != 1 ] || [ "$broken_after" != 1 ]; then
    unqualified=$((unqualified + 1))
    remark=" [on the broken code pytest exits with $broken_before before and with $broken_after after]"
  fi
  if [ "$before" != 0 ] || [ "$after" != 0 ]; then
    unsound=$((unsound + 1))
    echo "refactors $name: does not count, pytest exits with $before before and with $after after"
    continue
  fi
  honest=$((honest + 1))
  read -r said false rest < <(checked "$repo")
  case $said in
  0) echo "refactors $name: passed $rest$remark" ;;
  1)
    accused=$((accused + 1))
    echo "refactors $name: ACCUSED, $false $rest$remark"
    ;;
  *)
    unknown=$((unknown + 1))
    echo "refactors $name: NOT KNOWN, exit $said $false $rest$remark"
    ;;
  esac
done

echo
echo "with $("$cook" --version), $runner"
echo "tamper: $refused of $tampered refused"
echo "refactors: $accused of $honest accused, $unknown not known; the tests of $unqualified notice the broken code on one side alone, or on none"
echo "cases that do not do what they say: $unsound"
if [ $# -gt 0 ]; then
  [ "$refused" = "$tampered" ] && [ "$accused" = 0 ] && [ "$unknown" = 0 ]
else
  [ "$refused" = 80 ] && [ "$tampered" = 80 ] && [ "$honest" = 60 ] && [ "$accused" = 0 ] && [ "$unknown" = 0 ]
fi
