#!/usr/bin/env bash
# One would guess that a test that pytest-rerunfailures tries three times is one case of the JUnit report, or that its
# red tries are marked there. Each try is a case of its own, of the same name, and those that failed stand there as
# cases that passed, with nothing of their error; the attribute `tests` says 1 above three cases. A flaky test cannot
# be told from one that ran three times and passed. A try with a failed subtest is the contrary: it is a failure in the
# report of a run that is green.
# Seen with pytest 9.2.0 and pytest-rerunfailures 16.7 on Linux. Exit code 1: it is otherwise now; 77: they could not
# be had.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv tools && tools/bin/pip -q install pytest==9.2.0 pytest-rerunfailures==16.7 >/dev/null 2>&1 || exit 77
tools/bin/pytest --version || exit 77
cat >test_it.py <<'PY'
tries = {"flaky": 0, "part": 0}

def test_flaky():
    tries["flaky"] += 1
    assert tries["flaky"] == 3

def test_red():
    assert False

def test_part(subtests):
    tries["part"] += 1
    with subtests.test("one"):
        assert tries["part"] == 2
PY

run() {
  echo "\$ pytest --reruns 2 $1"
  status=0
  env -u PYTEST_ADDOPTS tools/bin/pytest -q -p no:cacheprovider --reruns 2 --junitxml=junit.xml "$1" >said 2>&1 || status=$?
  tail -n 1 said | sed 's/^/    /'
  sed 's/<testcase/\n&/g' junit.xml | grep -oE ' errors=.* tests="[0-9]+"|<testcase [^>]*>(<failure [^>]*>)?' | sed -E 's/ time="[^"]*"//; s/^ */    /'
  echo "    exit code $status"
}
cases() { grep -o '<testcase ' junit.xml | wc -l; }
empty_cases() { grep -o '<testcase [^>]*/>' junit.xml | wc -l; }

run test_it.py::test_flaky
[[ "$status" == 0 && $(cases) == 3 && $(empty_cases) == 3 ]] && grep -q '1 passed, 2 rerun' said && grep -q 'tests="1"' junit.xml || exit 1
run test_it.py::test_red
[[ "$status" == 1 && $(cases) == 3 && $(empty_cases) == 2 ]] && grep -q 'failures="1"' junit.xml || exit 1
run test_it.py::test_part
[[ "$status" == 0 && $(cases) == 2 && $(empty_cases) == 1 ]] && grep -q 'failures="1"' junit.xml || exit 1
