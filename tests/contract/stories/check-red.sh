# shellcheck shell=bash
# `cook check` where a gate is red, needs what is not committed, or is not there.
calculator calc
note "a red gate"
sed -i 's/a + b/a - 1 * b/' calc.py
save "Fix addition"
cook check --trust-repo
json check --trust-repo

note "the gate is green in the worktree alone"
sed -i 's/a - 1 \* b/a + b/' calc.py
cook check --trust-repo
json check --trust-repo

note "a file that git ignores is needed"
git checkout --quiet --force main
printf 'X = 1\n' >local_helper.py
sed -i -e 's/a - 1 \* b/a + b/' calc.py
sed -i '1i import local_helper' tests/test_calc.py
save "Use a helper"
cook check --trust-repo
json check --trust-repo

note "a file that was not added is needed"
calculator parts
printf 'from parts import add\n' >calc.py
git commit --quiet --all --message "Split"
printf 'def add(a, b):\n    return a + b\n' >parts.py
cook check --trust-repo
json check --trust-repo

note "git was told not to see an edit"
calculator unwatched
save "Nothing"
git update-index --assume-unchanged calc.py
printf 'def add(a, b):\n    return 0\n' >calc.py
cook check --trust-repo
json check --trust-repo
