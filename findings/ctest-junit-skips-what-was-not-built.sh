#!/usr/bin/env bash
# One would guess that the JUnit report of ctest shows as failed what ctest counts as failed. A test whose program is
# not there, since it was not built, is one of "The following tests FAILED" and makes the exit code 8, and so is a test
# whose fixture failed; in the report of `--output-junit` both are <skipped> with the status "notrun", which is also
# how the report shows a test that asked to be skipped, and are counted under `skipped`. A dashboard that reads the
# report is green where nothing was built.
# Seen with ctest 4.4.5 on Linux. Exit code 1: it is otherwise now; 77: ctest could not be had.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv tools && tools/bin/pip -q install cmake==4.4.5 >/dev/null 2>&1 || exit 77
ctest=$work/tools/bin/ctest
"$ctest" --version | head -n 1 || exit 77
# What `cmake` makes of five times add_test().
cat >CTestTestfile.cmake <<'CMAKE'
add_test(built "true")
add_test(unbuilt "./unbuilt_test")
add_test(setup "false")
set_tests_properties(setup PROPERTIES FIXTURES_SETUP server)
add_test(needs "true")
set_tests_properties(needs PROPERTIES FIXTURES_REQUIRED server)
add_test(skips "sh" "-c" "exit 77")
set_tests_properties(skips PROPERTIES SKIP_RETURN_CODE 77)
CMAKE

run() {
  echo "\$ ctest --output-junit junit.xml ${*@Q}"
  status=0
  "$ctest" --output-junit "$work/junit.xml" "$@" >said 2>&1 || status=$?
  sed -n '/tests passed/p; /did not run/,/^$/p; /tests FAILED/,/^Errors/p' said | grep -v '^$\|^Errors' | sed 's/^/    /'
  tr '\n' ' ' <junit.xml | grep -oE '<testcase[^>]*>|<skipped[^>]*>|<failure[^>]*>|(failures|skipped)="[0-9]+"' | sed -E 's/ (classname|time)="[^"]*"//g; s/^/    /'
  echo "    exit code $status"
}

run -E 'setup|needs'
[[ "$status" == 8 ]] && grep -q 'unbuilt (Not Run)' said && grep -q '1 tests* failed out of 3' said || exit 1
grep -q 'failures="0"' junit.xml && grep -q 'skipped="2"' junit.xml || exit 1
[[ $(grep -c 'status="notrun"' junit.xml) == 2 ]] || exit 1
! grep -q '<failure\|<error\|status="fail"' junit.xml || exit 1
run -R 'setup|needs'
[[ "$status" == 8 ]] && grep -q 'needs (Not Run)' said && grep -q '2 tests* failed out of 2' said || exit 1
grep -q 'failures="1"' junit.xml && grep -q 'skipped="1"' junit.xml || exit 1
