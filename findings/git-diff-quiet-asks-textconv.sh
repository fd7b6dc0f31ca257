#!/usr/bin/env bash
# One would guess that `git diff --quiet` and `--exit-code` compare contents, and that a `textconv` filter is only for
# what is shown. Both ask the filter: where it makes the same text of the old and of the new content (a driver for
# notebooks, pictures or encrypted files that leaves something out), the exit code is 0, "no difference", for a file
# that `git status` and `git diff --stat` list as modified. With --no-textconv it is 1, and so it is for the plumbing
# `git diff-index --quiet`. A script that asks `git diff --quiet HEAD` whether work is left to commit leaves it behind.
# Seen with git 2.47.3 on Linux, as installed. Exit code 1: it is otherwise now; 77: git could not be had.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
git --version || exit 77
export HOME=$work GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.com
git init -q -b main .
echo '*.cells diff=cells' >.gitattributes
# The lines of code of a notebook, without what they printed.
git config diff.cells.textconv 'grep ^code:'
printf 'code: 1 + 1\nprinted: 2\n' >it.cells
git add .gitattributes it.cells
git commit -q -m 'a notebook'
printf 'code: 1 + 1\nprinted: 3\n' >it.cells

run() {
  status=0
  git "$@" >said 2>&1 || status=$?
  echo "\$ git $*"
  sed 's/^/    /' said
  echo "    exit code $status"
}

run status --porcelain it.cells
grep -q '^ M it.cells' said || exit 1
run diff --stat HEAD
grep -q 'it.cells' said || exit 1
run diff --quiet HEAD
[[ "$status" == 0 ]] || exit 1
run diff --exit-code HEAD
[[ "$status" == 0 && ! -s said ]] || exit 1
run diff --quiet --no-textconv HEAD
[[ "$status" == 1 ]] || exit 1
run diff-index --quiet HEAD
[[ "$status" == 1 ]] || exit 1
