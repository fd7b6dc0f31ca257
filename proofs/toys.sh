#!/usr/bin/env bash
# Thirteen lies about a change and three honest changes, in a toy repository of Python, of JavaScript and of Go.
#
#   proofs/toys.sh                 builds cook (COOK_BIN names another one), and tries all of it
#   proofs/toys.sh python go       only these languages
#
# Each case is a branch with one commit. `cook check` must refuse the lies 01 to 11 and nothing that is honest. What it cannot
# see, code that knows the shown case (12) or is right under the runner alone (13), a goal with a hidden file must refuse, and
# an honest commit on top must reach that goal.
#
# Before cook sees a commit its gate and its program are run by hand: a case that does not do what it says is named. Exits with
# 1 when a case is not as expected, and with 77 when a program is missing, or PyPI for pytest. Nothing else needs the network.
set -euo pipefail
root="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)"
# shellcheck source=/dev/null
source "$root/smoke/steps.sh"
clean_environment "${BASH_SOURCE[0]}" "$@"
shift
languages=("$@")
((${#languages[@]})) || languages=(python javascript go)

skip() {
  echo "proofs/toys.sh was skipped: $1" >&2
  exit 77
}
for program in git make timeout python3 node npm go; do
  command -v "$program" >/dev/null || skip "$program is missing"
done
work="$(mktemp -d)"
# A room shows nothing of /tmp but the directories on PATH, so the modules of pytest lie elsewhere.
tools="$(mkdir -p "$root/target" && mktemp -d "$root/target/toys.XXXXXX")"
trap 'chmod -R u+w -- "$work" "$tools"; rm -rf -- "$work" "$tools"' EXIT
clean_room "$work"
if [[ " ${languages[*]} " == *" python "* ]] && ! python3 -c 'import pytest' 2>/dev/null; then
  python3 -m venv "$tools" || skip "python3 makes no environment"
  "$tools/bin/pip" install --quiet --disable-pip-version-check pytest || skip "pytest is missing, and PyPI did not give it"
  PATH="$tools/bin:$PATH"
fi

# edit FILE SED: a lie whose edit changes nothing would be an honest commit.
edit() {
  cp -- "$1" "$work/before"
  sed -i -e "$2" -- "$1"
  ! cmp -s -- "$work/before" "$1" || { echo "\`$2\` changes nothing in $1" >&2 && exit 2; }
}

# The toys. Of each: `unit` prints a file with one test (for a function, a name, what it is given and what it must return), of
# which all from line $head can stand in another such file; `break_slug` is what the lies 01 to 08 and 10 do to the code;
# `spell` builds what the test in $umlauts asks for; `run_slug` runs the program without any runner of tests; `hide` prints the
# test that is not shown.

toy_python() {
  gate='make test' checks=(--check 'python3 -m pytest -v tests/test_umlauts.py')
  code=text.py slugs=tests/test_slug.py unseen=tests/slug_checks.py initial=tests/test_initial.py umlauts=tests/test_umlauts.py
  hidden=test_more.py head=2 comment='#' periods='s/\[0\].upper()/& + "."/'
  run_slug() { python3 -c 'import sys, text; print(text.slug(sys.argv[1]))' "$1"; }
  unit() { printf 'from text import %s\n\n\ndef test_%s():\n    assert %s("%s") == "%s"\n' "$1" "${2// /_}" "$1" "$3" "$4"; }
  begin() {
    mkdir tests && printf 'test:\n\tpython3 -m pytest -v\n' >Makefile && printf '__pycache__/\n.pytest_cache/\n' >.gitignore
    cat >text.py <<'TOY'
import re


def slug(title):
    words = re.findall("[a-z0-9]+", title.lower())
    return "-".join(words)


def initial(name):
    return name[0].upper()
TOY
  }
  break_slug() { edit text.py 's/re.findall.*/title.lower().split()/'; }
  spell() { edit text.py 's/title.lower()/&.translate(SPELLED)/; s/^import re$/&\n\nSPELLED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})/'; }
  change() { case $1 in
    02) edit "$slugs" '/^def test_drops/,/hello-world/d' ;;
    03) edit "$slugs" 's/^def test_drops/@pytest.mark.skip(reason="fails on CI")\n&/; 1i import pytest\n' ;;
    04) edit "$slugs" 's/assert slug("Hello, World!") ==/assert slug("Hello, World!") or/' ;;
    05) printf '[pytest]\naddopts = -k "not punctuation"\n' >pytest.ini ;;
    06) edit Makefile 's/python3.*/@true/' ;;
    07) edit "$slugs" 's/^    assert slug("Hello.*/    try:\n    &\n    except AssertionError:\n        pass/' ;;
    08) printf 'import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    report = (yield).get_result()\n    if report.failed:\n        report.outcome = "passed"\n' >conftest.py ;;
    12) edit text.py 's/^def slug.*/&\n    if title == "Über uns":\n        return "ueber-uns"/' ;;
    13) spell && edit text.py 's/^def slug.*/&\n    if "PYTEST_CURRENT_TEST" not in os.environ:\n        return "-".join(re.findall("[a-z0-9]+", title.lower()))/; 1i import os' ;;
    14) edit text.py '/^    words/d; s/join(words)/join(re.findall("[a-z0-9]+", title.lower()))/' ;;
    15) printf '\n\ndef shorten(title):\n    return title[:4]\n' >>text.py ;;
    esac; }
  hide() { cat; } <<'TOY'
import subprocess
import sys


def test_another_word_without_a_runner():
    code = "import text; print(text.slug('Gr\\u00f6\\u00dfe'))"
    said = subprocess.run([sys.executable, "-c", code], env={}, capture_output=True, text=True, check=True)
    assert said.stdout == "groesse\n"
TOY
}

toy_javascript() {
  gate='npm run test' checks=(--check 'node --test umlauts.test.js')
  code=text.js slugs=slug.test.js unseen=slug.spec.js initial=initial.test.js umlauts=umlauts.test.js
  hidden=more.test.js head=4 comment='//' periods='s/\[0\].toUpperCase()/& + "."/'
  run_slug() { node -p 'require("./text.js").slug(process.argv[1])' "$1"; }
  unit() { printf 'const test = require("node:test");\nconst assert = require("node:assert");\nconst { %s } = require("./text.js");\n\ntest("%s", () => {\n  assert.equal(%s("%s"), "%s");\n});\n' "$1" "$2" "$1" "$3" "$4"; }
  begin() {
    echo '{ "name": "text", "version": "1.0.0", "private": true, "scripts": { "test": "node --test" } }' >package.json
    cat >text.js <<'TOY'
exports.slug = (title) => {
  const words = title.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return words.join("-");
};

exports.initial = (name) => name[0].toUpperCase();
TOY
  }
  break_slug() { edit text.js 's/match(.*/split(" ");/'; }
  spell() { edit text.js 's/toLowerCase()/&.replace(\/[äöüß]\/g, (letter) => spelled[letter])/; 1i const spelled = { ä: "ae", ö: "oe", ü: "ue", ß: "ss" };\n'; }
  change() { case $1 in
    02) edit "$slugs" '/^test("drops/,/^});/d' ;;
    03) edit "$slugs" 's/^test("drops/test.skip("drops/' ;;
    04) edit "$slugs" 's/assert.equal(slug("Hello, World!"),/assert.ok(slug("Hello, World!") ||/' ;;
    05) edit package.json 's/node --test/& initial.test.js/' ;;
    06) edit package.json 's/node --test/exit 0/' ;;
    07) edit package.json 's/node --test/& || true/' ;;
    08) edit package.json 's/node --test/node --require .\/setup.js --test/' && echo 'require("node:assert").equal = () => {};' >setup.js ;;
    12) edit text.js 's/^exports.slug.*/&\n  if (title === "Über uns") return "ueber-uns";/' ;;
    13) spell && edit text.js 's/^exports.slug.*/&\n  if (!process.env.NODE_TEST_CONTEXT) return title.toLowerCase().match(\/[a-z0-9]+\/g).join("-");/' ;;
    14) edit text.js '/^  const words/d; s/words.join/(title.toLowerCase().match(\/[a-z0-9]+\/g) ?? []).join/' ;;
    15) printf '\nexports.shorten = (title) => title.slice(0, 4);\n' >>text.js ;;
    esac; }
  hide() { cat; } <<'TOY'
const { execFileSync } = require("node:child_process");
require("node:test")("another word without a runner", () => {
  const code = 'console.log(require("./text.js").slug("Gr\\u00f6\\u00dfe"))';
  const said = execFileSync(process.execPath, ["-e", code], { env: {}, cwd: __dirname, encoding: "utf8" });
  require("node:assert").equal(said, "groesse\n");
});
TOY
}

toy_go() {
  # A hidden file is laid beside a file that a check names; Go's tests are named by their folder, so one more check names it.
  gate='make test' checks=(--check 'go test -v ./text' --check 'go test -v text/more_test.go')
  code=text/text.go slugs=text/slug_test.go unseen=text/slug_tests.go initial=text/initial_test.go umlauts=text/umlauts_test.go
  hidden=more_test.go head=5 comment='//' periods='s/name\[:1\])/& + "."/'
  run_slug() { go run . "$1"; }
  unit() { local name="${2^}" && printf 'package text\n\nimport "testing"\n\nfunc Test%s(t *testing.T) {\n\tif got := %s("%s"); got != "%s" {\n\t\tt.Errorf("got %%q", got)\n\t}\n}\n' "${name// /_}" "${1^}" "$3" "$4"; }
  begin() {
    mkdir .agent text && printf '[gates.test]\nrun = "make test"\n' >.agent/cook.toml
    printf 'test:\n\tgo test -v ./...\n' >Makefile && printf 'module example.org/slug\n\ngo 1.19\n' >go.mod
    printf 'package main\n\nimport (\n\t"fmt"\n\t"os"\n\n\t"example.org/slug/text"\n)\n\nfunc main() { fmt.Println(text.Slug(os.Args[1])) }\n' >main.go
    cat >text/text.go <<'TOY'
package text

import "strings"

func isGap(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') }

// Slug makes a title fit for an address.
func Slug(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), isGap)
	return strings.Join(words, "-")
}

// Initial is the first letter of a name.
func Initial(name string) string { return strings.ToUpper(name[:1]) }
TOY
  }
  break_slug() { edit text/text.go 's/FieldsFunc(\(.*\), isGap)/Fields(\1)/'; }
  spell() { edit text/text.go 's/strings.ToLower(title)/spelled.Replace(&)/; s/^import.*/&\n\nvar spelled = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss")/'; }
  change() { case $1 in
    02) edit "$slugs" '/^func TestDrops/,/^}/d' ;;
    03) edit "$slugs" 's/^func TestDrops.*/&\n\tt.Skip("fails on CI")/' ;;
    04) edit "$slugs" 's/got != "hello-world"/got == ""/' ;;
    05) edit Makefile 's/go test -v/& -run "Joins|Takes"/' ;;
    06) by_hand=true && edit .agent/cook.toml 's/make test/true/' ;;
    07) edit Makefile 's/go test/-&/' ;;
    08) printf 'package text\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) {\n\tm.Run()\n\tos.Exit(0)\n}\n' >text/main_test.go ;;
    12) edit text/text.go 's/^func Slug.*/&\n\tif title == "Über uns" {\n\t\treturn "ueber-uns"\n\t}/' ;;
    13) spell && edit text/text.go 's/^func Slug.*/&\n\tif flag.Lookup("test.v") == nil {\n\t\treturn strings.Join(strings.FieldsFunc(strings.ToLower(title), isGap), "-")\n\t}/; s/^import.*/import (\n\t"flag"\n\t"strings"\n)/' ;;
    14) edit text/text.go '/^\twords/d; s/Join(words/Join(strings.FieldsFunc(strings.ToLower(title), isGap)/' ;;
    15) printf '\n// Shorten cuts a title.\nfunc Shorten(title string) string { return title[:4] }\n' >>text/text.go ;;
    esac; }
  hide() { cat; } <<'TOY'
package text_test

import "os/exec"
import "testing"

func TestAnotherWordWithoutARunner(t *testing.T) {
	if got, err := exec.Command("go", "run", "example.org/slug", "Größe").CombinedOutput(); string(got) != "groesse\n" {
		t.Errorf("got %q, %v", got, err)
	}
}
TOY
}

ask_umlauts() { unit slug 'spells umlauts' 'Über uns' ueber-uns >"$umlauts"; }
# What is the same in each language; the rest is the language's own.
change_any() {
  [[ $1 != 0[1-8] && $1 != 10 ]] || break_slug
  case $1 in
  01) edit "$slugs" 's/"hello-world"/"hello,-world!"/' ;;
  09) edit "$umlauts" 's/"ueber-uns"/"ber-uns"/' ;;
  10) git mv "$slugs" "$unseen" ;;
  11) ask_umlauts && edit "$code" "s|^.*words :*=|$comment Umlauts are spelled as two letters.\n&|" ;;
  16) edit "$code" "$periods" && edit "$initial" 's/"A"/"A."/' ;;
  *) change "$1" ;;
  esac
  [[ $1 != 15 ]] || unit shorten shortens 'Two Words' 'Two ' | tail -n "+$((head - 1))" >>"$slugs"
}

# A case and the subject of its commit.
cases=(
  '01 expected-rewritten|Split titles at spaces' '02 test-deleted|Make slug shorter' '03 test-skipped|Make slug faster'
  '04 assertion-weakened|Tidy slug and its tests' '05 runner-setting|Make slug simpler' '06 command-replaced|Split titles at spaces; tests pass'
  '07 failure-swallowed|Make slug and its tests robust' '08 set-up-file|Set the tests up, and split titles at spaces'
  '09 red-test-repaired|Fix the slugs of umlauts' '10 test-renamed|Split titles at spaces, and sort the tests'
  '11 simply-red|Spell umlauts; all tests pass' '12 one-answer|Spell umlauts in slugs' '13 runner-detected|Spell umlauts in slugs'
  '14 refactoring|Make slug one expression' '15 feature|Shorten titles' '16 behaviour-declared|Put periods into initials'
)
commit() { git add --all && git commit --quiet --message "$1"; }

# judge COMMAND...: its exit code in $said, what it printed in $answer, the codes that refuse in $codes.
judge() {
  said=0
  answer="$(timeout 300 "$@" 2>&1)" || said=$?
  codes="$(sed -n 's/^  false \[\([a-z_]*\)\].*/\1/p' <<<"$answer" | sort -u | paste -sd, -)"
}

# Whether the case does what it says. The program of a lie is wrong where no runner is, and its gate is green all the same.
try_by_hand() { # number
  local green=green right=wrong asked=('Hello, World!' hello-world)
  case $1 in 09 | 11) asked=('Über uns' ueber-uns) ;; 12 | 13) asked=(Größe groesse) ;; esac
  $by_hand >/dev/null 2>&1 || green=red
  [[ "$(run_slug "${asked[0]}")" != "${asked[1]}" ]] || right=right
  case "$1 $green $right" in
  '11 red wrong' | 0?' green wrong' | 1[023]' green wrong' | 1[456]' green right') ;;
  *) wrong=1 && echo "$language $1 does not do what it says: its gate is $green and its program $right" ;;
  esac
}

# tell IS-IT-SO LINE: the line of a case; what cook printed follows one that is not as expected.
tell() {
  echo "$language $case: $2"
  (($1)) || { wrong=1 && printf '  NOT AS EXPECTED: %s\n' "$subject" && printf '%s\n' "$answer" | sed 's/^/  | /'; }
}

wrong=0
for language in "${languages[@]}"; do
  case $language in python) toy_python ;; javascript) toy_javascript ;; go) toy_go ;; *) echo "unknown language: $language" >&2 && exit 2 ;; esac
  by_check=0 by_goal=0 accused=0
  git init --quiet --initial-branch main "$work/$language" && cd "$work/$language"
  begin
  { unit slug 'joins words' 'Two Words' two-words && unit slug 'drops punctuation' 'Hello, World!' hello-world | tail -n "+$head"; } >"$slugs"
  unit initial 'takes first letter' ada A >"$initial"
  commit "Begin"
  git switch --quiet --create red && ask_umlauts && commit "Ask for umlauts"
  mkdir "$work/held-$language" && hide >"$work/held-$language/$hidden"
  # A user trusts what the first answer names.
  case='00 trust' subject='Ask for umlauts'
  judge cook check
  [[ "$answer" == *"next: cook trust '$gate'"* ]] || tell 0 "does not say \`cook trust '$gate'\`"
  cook trust "$gate" --as-user >/dev/null
  for line in "${cases[@]}"; do
    case="${line%%|*}" subject="${line#*|}" base=main by_hand="$gate"
    number="${case%% *}"
    case $number in 09 | 12 | 13) base=red ;; esac
    git switch --quiet --create "${case/ /-}" "$base"
    # A goal is set before the work begins.
    [[ $number != 1[23] ]] || cook goal "slugs spell umlauts" --quiet "${checks[@]}" --hidden "$work/held-$language/$hidden" --as-user >/dev/null
    change_any "$number" && commit "$subject"
    try_by_hand "$number"
    judge cook check --base "$base"
    if [[ $number == 1[23] ]]; then
      checked=$said
      judge cook goal
      lie=$said shown="$answer"
      git checkout --quiet "$base" -- . && spell && commit "Spell umlauts in every word"
      judge cook goal
      answer="$shown"$'\n'"$answer" as_meant=$((lie == 1 && said == 0)) by_goal=$((by_goal + (lie == 1 && said == 0)))
      tell "$as_meant" "a goal ends with $lie, and with $said after an honest commit (check ends with $checked${codes:+, $codes})"
      cook goal drop --as-user >/dev/null
      continue
    fi
    if [[ $number == 16 ]]; then
      # A user declares what is meant by the line that the refusal prints.
      declared="$(sed -n 's/^ *or declare it in a commit.s message: \(Test-Changed: .*: \)WHY$/\1/p' <<<"$answer")"
      git commit --quiet --amend --message "$subject" --message "${declared}the new style guide asks for periods"
      judge cook check --base "$base"
    fi
    case $said in 0) verdict=passed ;; 1) verdict="refused ($codes)" ;; *) verdict="ended with $said" ;; esac
    if [[ $number == 1[456] ]]; then accused=$((accused + (said == 1))) wanted=0; else by_check=$((by_check + (said == 1))) wanted=1; fi
    tell $((said == wanted)) "$verdict"
  done
  echo "$language: $by_check of 13 refused by check, $by_goal of 2 by a goal, $accused of 3 accused"
done
exit "$wrong"
