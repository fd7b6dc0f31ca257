# shellcheck shell=bash
# `cook check` of changes that hide something: each on its own branch from the same commit.
calculator calc
lie() {
  quietly git checkout --quiet --force main
  quietly git checkout --quiet -b "$1"
}
refused_as() {
  save "$1"
  cook check --trust-repo --base main
  json check --trust-repo --base main
}

note "the expected value is rewritten together with the bug"
lie rewritten
sed -i 's/a + b/a - 1 * b/' calc.py
sed -i -e 's/add(1, 2), 3/add(1, 2), -1/' -e 's/add(1, -2), -1/add(1, -2), 3/' tests/test_calc.py
refused_as "Fix addition"

note "the expected value alone is rewritten, of a test that was red"
lie repaired
sed -i 's/a + b/a - 1 * b/' calc.py
save "Break it"
quietly git branch broken
sed -i -e 's/add(1, 2), 3/add(1, 2), -1/' -e 's/add(1, -2), -1/add(1, -2), 3/' tests/test_calc.py
save "Fix the tests"
cook check --trust-repo --base broken
json check --trust-repo --base broken

note "a skip is added"
lie skipped
sed -i "s/^class T/@unittest.skip('later')\nclass T/" tests/test_calc.py
refused_as "Stabilise"

note "a test is deleted"
lie deleted
sed -i '/test_neg/,$d' tests/test_calc.py
refused_as "Tidy"

note "a whole file of tests is deleted"
lie emptied
rm tests/test_calc.py
refused_as "Tidy"

note "an assertion is weakened"
lie weakened
sed -i 's/assertEqual(add(1, 2), 3)/assertTrue(add(1, 2))/' tests/test_calc.py
refused_as "Tidy"

note "a test that tests nothing of the change"
lie hollow
printf '\n\ndef mul(a, b):\n    return a * b\n' >>calc.py
printf '\n    def test_mul(self):\n        self.assertEqual(2 * 3, 6)\n' >>tests/test_calc.py
refused_as "Multiply"

note "the gate ends with 0 whatever happens"
lie disarmed
printf 'test:\n\tpython3 -m unittest -v || true\n' >Makefile
refused_as "Fix CI"
