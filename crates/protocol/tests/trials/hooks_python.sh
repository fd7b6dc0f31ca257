# pytest, unittest and tox; sourced by hooks.sh.

lay_pytest() {
  mkdir -p sub
  cat >test_a.py <<'PY'
import pytest, subprocess, sys, unittest

def test_pass(): pass
def test_fail(): assert 1 == 2, "one is\nnot two"
@pytest.mark.skip
def test_skip(): pass
@pytest.mark.parametrize("x", ["a", "b - c"])
def test_case(x): assert x == "a"
class TestOuter:
    class TestInner:
        def test_deep(self): pass
@pytest.fixture
def bad_start(): raise ValueError("no set-up")
@pytest.fixture
def bad_end():
    yield
    raise ValueError("no teardown")
def test_start(bad_start): pass
def test_end(bad_end): pass
@pytest.mark.xfail
def test_expected(): assert 0
@pytest.mark.xfail(strict=True)
def test_strict(): pass
@pytest.mark.xfail(run=False)
def test_not_run(): pass
tries = []
@pytest.mark.flaky(reruns=2)
def test_flaky():
    tries.append(1)
    assert len(tries) == 3
def test_parts(subtests):
    for i in range(2):
        with subtests.test(i=i): assert i
class Case(unittest.TestCase):
    def test_case(self): pass
def test_nested(tmp_path):
    (tmp_path / "test_n.py").write_text("def test_inner(): assert 0")
    subprocess.run([sys.executable, "-m", "pytest", str(tmp_path)], cwd=tmp_path)
    subprocess.run([sys.executable, "-m", "pytest", "sub/test_ok.py"])
    assert pytest.main([str(tmp_path), "-q", "--rootdir", str(tmp_path)]) == 1
PY
  echo 'def test_ok(): pass' >sub/test_ok.py
  echo 'import nothing_there' >sub/test_broken.py
  printf 'import pytest\npytest.importorskip("nope_nope")\n' >test_module.py
}

expect_pytest() {
  cat <<'END'
unloaded sub/test_broken.py
skipped test_module.py
passed sub/test_ok.py::test_ok
passed test_a.py::test_pass
failed test_a.py::test_fail
skipped test_a.py::test_skip
passed test_a.py::test_case[a]
failed test_a.py::test_case[b - c]
passed test_a.py::TestOuter::TestInner::test_deep
failed test_a.py::test_start
failed test_a.py::test_end
skipped test_a.py::test_expected
failed test_a.py::test_strict
skipped test_a.py::test_not_run
failed test_a.py::test_flaky
failed@1 test_a.py::test_flaky
passed@2 test_a.py::test_flaky
failed test_a.py::test_parts
passed test_a.py::Case::test_case
passed test_a.py::test_nested
ran 13
END
}

if is_asked pytest; then
  if python3 -m venv "$tools/pytest" && "$tools/pytest/bin/pip" -q install pytest==9.2.0 pytest-xdist==3.8.0 \
    pytest-rerunfailures==16.7 >/dev/null 2>&1; then
    python=$tools/pytest/bin/python
    label=$("$python" -m pytest --version)
    options=(--continue-on-collection-errors -p no:cacheprovider)
    clear_tree && lay_pytest
    expect_pytest | compare "$label" "$python" -m pytest "${options[@]}"
    expect_pytest | compare "$label -q, no junitxml" "$python" -m pytest -q -p no:junitxml "${options[@]}"
    # Which worker prints a line first is chance.
    expect_pytest | IGNORE_CONSOLE=1 compare "$label -n 2" "$python" -m pytest -n 2 "${options[@]}"
    compare "$label -I" "$python" -I -m pytest -q sub/test_ok.py </dev/null
    compare "$label, no plugins" env PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 "$python" -m pytest sub/test_ok.py <<'END'
passed sub/test_ok.py::test_ok
ran 1
END
    echo 'raise ValueError("mine")' >conftest.py
    compare "$label, conftest" "$python" -m pytest sub/test_ok.py <<'END'
unloaded conftest.py
ran 0
END
    # Another file of this name is not hidden.
    rm conftest.py
    mkdir own && echo 'import os; os.environ["OWN"] = "1"' >own/sitecustomize.py
    echo 'import os; assert os.environ["OWN"]; print("own file is read")' >asks.py
    compare "sitecustomize, own" env sh -c 'PYTHONPATH=$PYTHONPATH:own exec "$0" asks.py' "$python" </dev/null
  else
    miss pytest "pip install pytest"
  fi
fi

if is_asked unittest; then
  clear_tree
  cat >test_a.py <<'PY'
import io, subprocess, sys, unittest

class A(unittest.TestCase):
    def test_pass(self): pass
    def test_fail(self): self.assertEqual(1, 2)
    @unittest.skip("no")
    def test_skip(self): pass
    @unittest.expectedFailure
    def test_expected(self): self.fail()
    @unittest.expectedFailure
    def test_unexpected(self): pass
    def test_parts(self):
        for i in range(2):
            with self.subTest(i=i): self.assertNotEqual(i, 1)
    def test_nested(self):
        class B(unittest.TestCase):
            def test_inner(self): self.fail()
        unittest.TextTestRunner(stream=io.StringIO()).run(unittest.defaultTestLoader.loadTestsFromTestCase(B))
        subprocess.call([sys.executable, "-m", "unittest", "test_a.C"], stderr=subprocess.DEVNULL)
class B(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise ValueError("no set-up")
    def test_one(self): pass
class C(unittest.TestCase):
    def tearDown(self): raise ValueError("no teardown")
    def test_one(self): pass
class D(unittest.TestCase):
    @classmethod
    def tearDownClass(cls): raise ValueError("no teardown")
    def test_one(self): pass
PY
  echo 'import nothing_there' >test_broken.py
  compare "unittest, $(python3 --version)" python3 -m unittest <<'END'
unloaded test_broken.py
passed test_a.A.test_pass
failed test_a.A.test_fail
skipped test_a.A.test_skip
skipped test_a.A.test_expected
failed test_a.A.test_unexpected
failed test_a.A.test_parts
passed test_a.A.test_nested
failed test_a.B.test_one
failed test_a.C.test_one
passed test_a.D.test_one
failed tearDownClass (test_a.D)
ran 7
END
fi

if is_asked tox; then
  if python3 -m venv "$tools/tox" && "$tools/tox/bin/pip" -q install tox==4.67.15 >/dev/null 2>&1; then
    clear_tree
    printf '[tox]\nskipsdist = true\n[testenv]\npass_env = HOME\ndeps = pytest==9.2.0\ncommands = pytest -q\n' >tox.ini
    echo 'def test_a(): pass' >test_a.py
    IGNORE_CONSOLE=1 compare "tox $("$tools/tox/bin/tox" --version | cut -d' ' -f1)" "$tools/tox/bin/tox" -q -e py <<'END'
passed test_a.py::test_a
ran 1
END
    rm -rf tox.ini .tox
    printf 'no_package = true\n[env_run_base]\ndeps = ["pytest==9.2.0"]\ncommands = [["pytest", "-q"]]\n' >tox.toml
    IGNORE_CONSOLE=1 compare "tox, tox.toml" "$tools/tox/bin/tox" -q -e py <<'END'
passed test_a.py::test_a
ran 1
END
  else
    miss tox "pip install tox"
  fi
fi
