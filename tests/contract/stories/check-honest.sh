# shellcheck shell=bash disable=SC2016
# `cook check` of changes that are what they seem.
calculator calc
cook check --trust-repo
printf '\n\ndef mul(a, b):\n    return a * b\n' >>calc.py
sed -i 's/import add/import add, mul/' tests/test_calc.py
printf '\n    def test_mul(self):\n        self.assertEqual(mul(2, 3), 6)\n' >>tests/test_calc.py
save "Multiply"
cook check --trust-repo
json check --trust-repo
cook check --trust-repo --no-revert
cook check --trust-repo --gate test
printf 'def add(a, b):\n    total = a\n    total += b\n    return total\n\n\ndef mul(a, b):\n    return a * b\n' >calc.py
save "Name the sum"
cook check --trust-repo
json check --trust-repo
printf '# Calc\n\nRun `make test || true`.\n' >README.md
save "Say what it is"
cook check --trust-repo
json check --trust-repo --base HEAD~2
