#!/usr/bin/env bash
# Honest commits of public repositories, with their own tests as gates: `cook check` should accuse none.
#
#   proofs/honest.sh [COOK]               runs `cook check` on each commit of proofs/honest.tsv
#   proofs/honest.sh --repos click,rack   only these repositories
#   proofs/honest.sh --each 5             only the first five commits of each
#   proofs/honest.sh --missing            only the commits of which no verdict is kept
#   proofs/honest.sh --gates              runs no cook: only looks whether the gate is green at each commit
#   proofs/honest.sh --keep               writes the verdicts into proofs/honest.tsv; reasons there stay
#
# proofs/honest-repos.tsv names the repositories: where they are, what their gate is and what it needs.
# proofs/honest.tsv is the kept list: for each commit what it touches, what the gate says without cook,
# the verdict (exit code and codes of the lines), and the reason for each exit code that is not 0.
#
# HONEST_REPOS=DIR  clones that are here already, one directory for each name; they are cloned again and never
#                   written to. A repository that is not there is cloned from its public address.
# HONEST_WORK=DIR   keeps clones, what was installed, rooms and answers for the next run (else all of it is removed). It may
#                   not lie below /tmp, which is another directory in the sandbox.
# COOK=PATH         the program to try; else it is built.
#
# A repository has no settings of cook's: each commit and its parent are made again in the clone, with `.agent/cook.toml`
# added to both.
#
# Needs git, python3, and for each language its tools: go 1.19 or newer, node and npm, ruby with test-unit,
# bats. A repository whose tools are missing is skipped and named. Each check may take 600
# seconds. Exits with 1 when a verdict is not the kept one or lacks a reason.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
here=$PWD/proofs

cook=${COOK:-} only='' each=0 keep='' gates_only='' missing=''
while [ $# -gt 0 ]; do
  case $1 in
  --repos) only=,$2, && shift ;;
  --each) each=$2 && shift ;;
  --gates) gates_only=yes ;;
  --keep) keep=yes ;;
  --missing) missing=yes ;;
  -*) sed -n '2,12s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
  *) cook=$1 ;;
  esac
  shift
done
if [ -z "$cook" ] && [ -z "$gates_only" ]; then
  cargo build --release --quiet
  cook=$PWD/target/release/cook
fi
[ -z "$cook" ] || cook=$(realpath -- "$cook")

if [ -n "${HONEST_WORK:-}" ]; then
  mkdir -p "$HONEST_WORK"
  work=$(realpath -- "$HONEST_WORK")
else
  mkdir -p target
  work=$(mktemp -d -p "$PWD/target" honest.XXXXXX)
  trap 'chmod -R u+w -- "$work"; rm -rf -- "$work"' EXIT
fi
mkdir -p "$work"/{clones,env,home,rooms,answers,prepared}
results=$work/results.tsv
: >"$results"
tab=$(printf '\t')

# Nothing of the caller's environment reaches cook or the gates but where toolchains are.
clean=(env -i "HOME=$work/home" "LANG=C.UTF-8" GIT_CONFIG_NOSYSTEM=1
  "RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup}" "CARGO_HOME=${CARGO_HOME:-$HOME/.cargo}"
  GIT_AUTHOR_NAME=proof GIT_AUTHOR_EMAIL=proof@localhost GIT_COMMITTER_NAME=proof GIT_COMMITTER_EMAIL=proof@localhost)

# The text of column $1 of line $2, with the directory of what was installed put in.
column() {
  local text
  text=$(printf '%s\n' "$2" | cut -f"$1")
  [ "$text" != - ] || text=
  printf '%s' "${text//\{env\}/$env}"
}

toml_list() { # words -> "a", "b"
  local word list=''
  for word in "$@"; do list="$list${list:+, }\"$word\""; done
  printf '%s' "$list"
}

write_settings() { # file
  {
    # Not below `.cache`: express, for one, serves no file that has a directory with a dot above it.
    printf '[clean_room]\ndir = "%s"\n' "$work/rooms"
    # The words of these two columns are names without spaces.
    # shellcheck disable=SC2086
    printf 'cache = [%s]\nenv = [%s]\n' "$(toml_list $cache)" "$(toml_list ${passed_names[@]+"${passed_names[@]}"})"
    [ -z "$setup" ] || printf "setup = '''%s'''\n" "$setup"
    printf "\n[gates.test]\nrun = '''%s'''\n" "$gate"
  } >"$1"
}

# Prints the codes of the lines that fail, then those of the others in brackets.
cat >"$work/codes.py" <<'CODES'
import json, sys
try:
    lines = json.load(open(sys.argv[1], encoding="utf-8"))["lines"]
except (ValueError, KeyError, OSError):
    print("no-answer")
    sys.exit()
fails = sorted({line["code"] for line in lines if line["weight"] != "shown"})
looks = sorted({line["code"] for line in lines if line["weight"] == "shown"})
print((",".join(fails) or "-") + ("(" + ",".join(looks) + ")" if looks else ""))
CODES

# A commit and its parent, made again with the settings added: prints the new commit.
with_settings() { # clone commit
  local index=$work/index made='' of blob tree
  blob=$(git -C "$1" hash-object -w "$work/cook.toml")
  for of in "$2~1" "$2"; do
    rm -f -- "$index"
    GIT_INDEX_FILE=$index git -C "$1" read-tree "$of"
    GIT_INDEX_FILE=$index git -C "$1" update-index --add --cacheinfo "100644,$blob,.agent/cook.toml"
    tree=$(GIT_INDEX_FILE=$index git -C "$1" write-tree)
    made=$(git -C "$1" log -1 --format=%B "$of" | "${clean[@]}" "PATH=$PATH" git -C "$1" commit-tree "$tree" -p "${made:-$of~1}" -F -)
  done
  printf '%s' "$made"
}

go_to() { # clone commit
  git -C "$1" checkout --quiet --force --detach "$2"
  git -C "$1" clean -ffdxq -e .agent "${kept_directories[@]}"
}

seconds() { awk -v from="$1" -v to="$(date +%s.%N)" 'BEGIN { printf "%.1f", to - from }'; }

prepare_repository() { # name url prepare newest
  local clone=$work/clones/$1 source=$2
  if [ ! -d "$clone/.git" ]; then
    [ ! -d "${HONEST_REPOS:-/nowhere}/$1" ] || source=$HONEST_REPOS/$1
    git -c init.defaultBranch=main clone --quiet --no-checkout "$source" "$clone" || return 1
    printf '/.agent/\n/node_modules\n/target\n' >>"$clone/.git/info/exclude"
  fi
  git -C "$clone" checkout --quiet --force --detach "$4" || return 1
  [ ! -e "$work/prepared/$1" ] || return 0
  mkdir -p "$work/env/$1"
  if [ -n "$3" ]; then
    (cd -- "$clone" && timeout 900 bash -euc "$3" >"$work/prepared/$1.log" 2>&1) || return 1
  fi
  : >"$work/prepared/$1"
}

check_commit() { # name commit -> a line of results
  local name=$1 commit=$2 clone=$work/clones/$1 at answer=$work/answers/$1-$2 from said=0 codes
  go_to "$clone" "$commit"
  write_settings "$work/cook.toml"
  from=$(date +%s.%N)
  if [ -n "$gates_only" ]; then
    (cd -- "$clone" && "${clean[@]}" "${passed[@]}" CI=true timeout -k 10 600 bash -c "${setup:-:} && $gate" >"$answer.gate" 2>&1) || said=$?
    codes=gate
  else
    at=$(with_settings "$clone" "$commit")
    rm -rf -- "$clone/.agent"
    go_to "$clone" "$at"
    (cd -- "$clone" && "${clean[@]}" "${passed[@]}" timeout -k 10 600 "$cook" check --base HEAD~1 --trust-repo --json >"$answer.json" 2>"$answer.err") || said=$?
    codes=$(python3 "$work/codes.py" "$answer.json")
    [ "$codes" != no-answer ] || codes="no-answer:$(head -c 200 "$answer.err" | tr '\n\t' '  ')"
  fi
  [ "$said" != 124 ] || codes=took-too-long
  printf '%s\t%s\t%s\t%s\t%s\n' "$name" "$commit" "$said" "$codes" "$(seconds "$from")" | tee -a "$results"
}

skipped=''
while IFS= read -r line <&3; do
  case $line in '' | '#'*) continue ;; esac
  name=$(printf '%s\n' "$line" | cut -f1)
  case $only in '' | *,$name,*) ;; *) continue ;; esac
  env=$work/env/$name
  url=$(column 3 "$line") tools=$(column 4 "$line") prepare=$(column 5 "$line") setup=$(column 6 "$line")
  cache=$(column 7 "$line") variables=$(column 8 "$line") gate=$(column 9 "$line")
  for tool in $tools; do
    command -v "$tool" >/dev/null || { skipped="$skipped $name ($tool is missing)" && continue 2; }
  done
  commits=$(awk -F"$tab" -v name="$name" -v missing="$missing" '$1 == name && (missing == "" || $5 == "-") { print $2 }' "$here/honest.tsv")
  [ -n "$commits" ] || { skipped="$skipped $name (no commits)" && continue; }
  passed=("PATH=$env/bin:$PATH") passed_names=() kept_directories=()
  for variable in $variables; do
    passed_names+=("${variable%%=*}")
    case $variable in *=*) passed+=("$variable") ;; esac
  done
  for directory in $cache; do kept_directories+=(-e "/$directory"); done
  if ! prepare_repository "$name" "$url" "$prepare" "$(printf '%s\n' "$commits" | head -n 1)"; then
    skipped="$skipped $name (could not be prepared)"
    continue
  fi
  count=0
  for commit in $commits; do
    count=$((count + 1))
    [ "$each" = 0 ] || [ "$count" -le "$each" ] || break
    check_commit "$name" "$commit"
  done
done 3<"$here/honest-repos.tsv"

[ -z "$skipped" ] || echo "skipped:$skipped"
python3 "$here/honest-sum.py" "$here/honest-repos.tsv" "$here/honest.tsv" "$results" ${keep:+--keep} ${gates_only:+--gates}
