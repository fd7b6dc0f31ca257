#!/usr/bin/env bash
# One would guess that an `xfail` mark is about its own test. What a session's or module's fixture raises when it is
# torn down belongs to the last test that ran, and that test's mark takes it in: the run says "xfailed" twice of one
# test, the JUnit report has no error, and the exit code is 0. The same two tests in the other order are red. So
# whether a leak that such a fixture finds is red depends on which test comes last, and on how tests were sorted or
# selected.
# Seen with pytest 9.2.0 on Linux. Exit code 1: it is otherwise now; 77: pytest could not be had.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv tools && tools/bin/pip -q install pytest==9.2.0 >/dev/null 2>&1 || exit 77
tools/bin/pytest --version || exit 77
cat >test_it.py <<'PY'
import pytest

@pytest.fixture(scope="session", autouse=True)
def server():
    yield
    raise RuntimeError("the server leaked 3 connections")

def test_works():
    pass

@pytest.mark.xfail(reason="issue 12")
def test_is_known_to_fail():
    assert False
PY

run() {
  echo "\$ pytest -q $*"
  status=0
  env -u PYTEST_ADDOPTS tools/bin/pytest -q -p no:cacheprovider --junitxml=junit.xml "$@" >said 2>&1 || status=$?
  tail -n 1 said | sed 's/^/    /'
  grep -o ' errors="[0-9]*" failures="[0-9]*" skipped="[0-9]*" tests="[0-9]*"' junit.xml | sed 's/^/   /'
  echo "    exit code $status"
}

run test_it.py
[[ "$status" == 0 ]] && grep -q '1 passed, 2 xfailed' said && grep -q 'errors="0" failures="0"' junit.xml || exit 1
! grep -q 'leaked' said || exit 1
run test_it.py::test_is_known_to_fail test_it.py::test_works
[[ "$status" == 1 ]] && grep -q '1 passed, 1 xfailed, 1 error' said && grep -q 'errors="1"' junit.xml || exit 1
