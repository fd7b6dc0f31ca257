#!/usr/bin/env bash
# One would guess that `git bundle create` refuses in a shallow clone, or notes the commits that are missing as ones
# that the bundle needs, and that `git bundle verify` tells. The bundle says of itself that it "records a complete
# history" and needs nothing; `verify` says so too, that it is okay, and ends with 0, in an empty repository as well.
# No repository can clone it or fetch from it, since the parents of its oldest commit are in no place. A backup or a
# log that is carried out of a CI job as a bundle (a checkout there is shallow) is lost, and was verified.
# Seen with git 2.47.3 on Linux, as installed. Exit code 1: it is otherwise now; 77: git could not be had.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
git --version || exit 77
export HOME=$work GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.com
git init -q -b main whole
for n in 1 2 3; do
  git -C whole commit -q --allow-empty -m "commit $n"
done
git clone -q --depth 1 "file://$work/whole" shallow
git init -q -b main empty

run() {
  echo "\$ git $*"
  status=0
  git "$@" >said 2>&1 || status=$?
  sed '/^hint:/d; s/^/    /' said
  echo "    exit code $status"
}

run -C shallow bundle create -q "$work/it.bundle" HEAD main
[[ "$status" == 0 ]] || exit 1
run -C empty bundle verify "$work/it.bundle"
[[ "$status" == 0 ]] && grep -q 'records a complete history' said && grep -q 'is okay' said || exit 1
run clone it.bundle cloned
[[ "$status" != 0 ]] || exit 1
run -C empty fetch "$work/it.bundle" main
[[ "$status" != 0 ]] || exit 1
# The repository that it came from has what is missing.
run -C whole fetch "$work/it.bundle" main
[[ "$status" == 0 ]] || exit 1
