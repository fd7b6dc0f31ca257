#!/usr/bin/env bash
# Real repositories of fourteen runners of tests, each with the same stories: what `cook check` says of every one.
#
#   tests/trial/runners.sh [COOK]                 all of them; COOK is the program to try (default: target/debug/cook)
#   RUNNERS="go cargo" tests/trial/runners.sh     these alone
#   STORIES="break skip" tests/trial/runners.sh   these alone
#   KEEP=DIR tests/trial/runners.sh               leaves repositories and answers in DIR
#
# Needs git and jq. COOK_RUNNERS_DIR is a directory that tests/trial/prepare.sh filled; runners that are not here are
# skipped, and said; 77 where there is none. JOBS runners go at once (default 2), a check gets CHECK_TIME seconds
# (default 400), and all of it TOTAL_TIME (default 5400): what is not asked by then is wrong.
# What is written into the repositories has dollar signs of its own.
# shellcheck disable=SC2016
set -euo pipefail

all_runners="pytest unittest cargo go node vitest jest mocha rspec minitest shell bats maven phpunit"
all_stories="feature break declared rename extend split each delete skip red bent vacuous settings settings2 gone gone_fn cache"

if [ -z "${TRIAL_CLEAN:-}" ]; then
  here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
  cook=${1:-$here/../../target/debug/cook}
  if ! [ -x "$cook" ]; then
    echo "runners.sh: no program to try at $cook" >&2
    exit 2
  fi
  cook=$(cd -- "$(dirname -- "$cook")" && pwd -P)/$(basename -- "$cook")
  work=${KEEP:-$(mktemp -d "${TMPDIR:-/tmp}/cook-runners.XXXXXX")}
  mkdir -p "$work/home" "$work/tmp"
  work=$(cd -- "$work" && pwd -P)
  child=
  # shellcheck disable=SC2317
  end_tree() { # What a process started, then itself.
    local below
    for below in $(pgrep -P "$1" || true); do end_tree "$below"; done
    kill "$1" 2>/dev/null || true
  }
  # shellcheck disable=SC2317
  finish() {
    [ -z "$child" ] || end_tree "$child"
    [ -n "${KEEP:-}" ] || { chmod -R u+w "$work" 2>/dev/null || true; rm -rf -- "$work"; }
  }
  trap finish EXIT
  trap 'exit 130' INT TERM HUP
  path=/usr/local/bin:/usr/bin:/bin
  if cargo=$(command -v cargo); then path=$(dirname -- "$cargo"):$path; fi
  # Not a version manager's script: that asks for a home.
  if python=$(python3 -c 'import os, sys; print(os.path.dirname(os.path.realpath(sys.executable)))'); then path=$python:$path; fi
  env -i PATH="$path" HOME="$work/home" TMPDIR="$work/tmp" LANG=C.UTF-8 TZ=UTC GIT_CONFIG_NOSYSTEM=1 \
    RUSTUP_HOME="${RUSTUP_HOME:-$HOME/.rustup}" \
    GOCACHE="$work/go-cache" \
    COOK="$cook" WORK="$work" COOK_RUNNERS_DIR="${COOK_RUNNERS_DIR:-/nowhere}" TRIAL_CLEAN=1 \
    RUNNERS="${RUNNERS:-$all_runners}" STORIES="${STORIES:-$all_stories}" JOBS="${JOBS:-2}" \
    CHECK_TIME="${CHECK_TIME:-400}" TOTAL_TIME="${TOTAL_TIME:-5400}" \
    bash "$here/runners.sh" </dev/null &
  child=$!
  code=0
  wait "$child" || code=$?
  child=
  exit "$code"
fi

: "${WORK:?}" "${COOK:?}"
git config --global user.name trial
git config --global user.email trial@localhost
git config --global init.defaultBranch main
git config --global commit.gpgsign false
git config --global gc.auto 0
bin=$COOK_RUNNERS_DIR/npm/node_modules/.bin

# --- What is here -----------------------------------------------------------------------------------------------

missing() { # RUNNER -> what it lacks, or nothing
  local need
  case $1 in
  pytest) need=$COOK_RUNNERS_DIR/venv/bin/python ;;
  unittest) need="python3 make" ;;
  cargo) need=cargo ;;
  go) need=go ;;
  node) need="node npm" ;;
  vitest | jest | mocha) need="node npm $bin/$1" ;;
  rspec) need=rspec ;;
  minitest) need="rake ruby" ;;
  shell) need="sh" ;;
  bats) need=bats ;;
  maven) need="mvn /etc/maven/settings-debian.xml /usr/share/maven-repo/junit/junit/4.x" ;;
  phpunit) need=phpunit ;;
  *) need=" a-runner-of-that-name" ;;
  esac
  for it in $need; do
    case $it in
    /*) [ -e "$it" ] || echo "$it" ;;
    *) command -v "$it" >/dev/null || echo "$it" ;;
    esac
  done
  if [ "$1" = minitest ]; then ruby -e 'require "minitest"' 2>/dev/null || echo "the gem minitest"; fi
}

takes_files() { case $1 in unittest | minitest | maven | phpunit | shell) return 1 ;; esac; }
# An import of what is not there ends the load, or the build, of the file.
load_fails() { case $1 in pytest | unittest | cargo | go | node | maven) ;; *) return 1 ;; esac; }

# --- The code ---------------------------------------------------------------------------------------------------

# code RUNNER [broken] [twice] [nolow] [noold]: add, mul and low in one file, old in a file of its own.
code() {
  local runner=$1 op=+ twice='' low=yes old=yes
  shift
  for flag in "$@"; do
    case $flag in
    broken) op=- ;;
    twice) twice=yes ;;
    nolow) low='' ;;
    noold) old='' ;;
    esac
  done
  case $runner in
  pytest | unittest)
    {
      printf 'def add(a, b):\n    return a %s b\n\n\ndef mul(a, b):\n    return a * b\n' "$op"
      [ -z "$low" ] || printf '\n\ndef low(a, b):\n    return min(a, b)\n'
      [ -z "$twice" ] || printf '\n\ndef twice(a, b):\n    return (a + b) * 2\n'
    } >calc.py
    printf 'def old(a, b):\n    return a - b\n' >old.py
    [ -n "$old" ] || rm old.py
    ;;
  cargo)
    mkdir -p src
    {
      [ -z "$old" ] || printf 'pub mod old;\n\n'
      printf 'pub fn add(a: i32, b: i32) -> i32 {\n    a %s b\n}\n\npub fn mul(a: i32, b: i32) -> i32 {\n    a * b\n}\n' "$op"
      [ -z "$low" ] || printf '\npub fn low(a: i32, b: i32) -> i32 {\n    a.min(b)\n}\n'
      [ -z "$twice" ] || printf '\npub fn twice(a: i32, b: i32) -> i32 {\n    (a + b) * 2\n}\n'
    } >src/lib.rs
    printf 'pub fn old(a: i32, b: i32) -> i32 {\n    a - b\n}\n' >src/old.rs
    [ -n "$old" ] || rm src/old.rs
    ;;
  go)
    {
      printf 'package calc\n\nfunc add(a, b int) int {\n\treturn a %s b\n}\n\nfunc mul(a, b int) int {\n\treturn a * b\n}\n' "$op"
      [ -z "$low" ] || printf '\nfunc low(a, b int) int {\n\tif a < b {\n\t\treturn a\n\t}\n\treturn b\n}\n'
      [ -z "$twice" ] || printf '\nfunc twice(a, b int) int {\n\treturn (a + b) * 2\n}\n'
    } >calc.go
    printf 'package calc\n\nfunc old(a, b int) int {\n\treturn a - b\n}\n' >old.go
    [ -n "$old" ] || rm old.go
    ;;
  node | vitest)
    {
      printf 'export const add = (a, b) => a %s b;\nexport const mul = (a, b) => a * b;\n' "$op"
      [ -z "$low" ] || printf 'export const low = (a, b) => Math.min(a, b);\n'
      [ -z "$twice" ] || printf 'export const twice = (a, b) => (a + b) * 2;\n'
    } >calc.js
    printf 'export const old = (a, b) => a - b;\n' >old.js
    [ -n "$old" ] || rm old.js
    ;;
  jest | mocha)
    {
      printf 'exports.add = (a, b) => a %s b;\nexports.mul = (a, b) => a * b;\n' "$op"
      [ -z "$low" ] || printf 'exports.low = (a, b) => Math.min(a, b);\n'
      [ -z "$twice" ] || printf 'exports.twice = (a, b) => (a + b) * 2;\n'
    } >calc.js
    printf 'exports.old = (a, b) => a - b;\n' >old.js
    [ -n "$old" ] || rm old.js
    ;;
  rspec | minitest)
    mkdir -p lib
    {
      printf 'module Calc\n  def self.add(a, b)\n    a %s b\n  end\n\n  def self.mul(a, b)\n    a * b\n  end\n' "$op"
      [ -z "$low" ] || printf '\n  def self.low(a, b)\n    [a, b].min\n  end\n'
      [ -z "$twice" ] || printf '\n  def self.twice(a, b)\n    (a + b) * 2\n  end\n'
      printf 'end\n'
    } >lib/calc.rb
    printf 'module Old\n  def self.old(a, b)\n    a - b\n  end\nend\n' >lib/old.rb
    [ -n "$old" ] || rm lib/old.rb
    ;;
  shell | bats)
    {
      printf 'add() { echo $(($1 %s $2)); }\nmul() { echo $(($1 * $2)); }\n' "$op"
      [ -z "$low" ] || printf 'low() { if [ "$1" -lt "$2" ]; then echo "$1"; else echo "$2"; fi; }\n'
      [ -z "$twice" ] || printf 'twice() { echo $((($1 + $2) * 2)); }\n'
    } >calc.sh
    printf 'old() { echo $(($1 - $2)); }\n' >old.sh
    [ -n "$old" ] || rm old.sh
    ;;
  maven)
    mkdir -p src/main/java/calc
    {
      printf 'package calc;\n\npublic final class Calc {\n    public static int add(int a, int b) {\n        return a %s b;\n    }\n\n    public static int mul(int a, int b) {\n        return a * b;\n    }\n' "$op"
      [ -z "$low" ] || printf '\n    public static int low(int a, int b) {\n        return Math.min(a, b);\n    }\n'
      [ -z "$twice" ] || printf '\n    public static int twice(int a, int b) {\n        return (a + b) * 2;\n    }\n'
      printf '}\n'
    } >src/main/java/calc/Calc.java
    printf 'package calc;\n\npublic final class Old {\n    public static int old(int a, int b) {\n        return a - b;\n    }\n}\n' >src/main/java/calc/Old.java
    [ -n "$old" ] || rm src/main/java/calc/Old.java
    ;;
  phpunit)
    mkdir -p src
    {
      printf '<?php\n\nfunction add($a, $b)\n{\n    return $a %s $b;\n}\n\nfunction mul($a, $b)\n{\n    return $a * $b;\n}\n' "$op"
      [ -z "$low" ] || printf '\nfunction low($a, $b)\n{\n    return min($a, $b);\n}\n'
      [ -z "$twice" ] || printf '\nfunction twice($a, $b)\n{\n    return ($a + $b) * 2;\n}\n'
    } >src/calc.php
    printf '<?php\n\nfunction old($a, $b)\n{\n    return $a - $b;\n}\n' >src/old.php
    [ -n "$old" ] || rm src/old.php
    ;;
  esac
}

# --- The tests --------------------------------------------------------------------------------------------------

title() { printf '%s' "$1" | awk -F_ '{ for (i = 1; i <= NF; i++) printf "%s", toupper(substr($i, 1, 1)) substr($i, 2) }'; }

path_of() { # RUNNER FILE
  case $1 in
  pytest | unittest) echo "tests/test_$2.py" ;;
  cargo) echo "tests/$2.rs" ;;
  go) echo "$2_test.go" ;;
  node | jest | vitest | mocha) echo "test/$2.test.js" ;;
  rspec) echo "spec/$2_spec.rb" ;;
  minitest) echo "test/$2_test.rb" ;;
  shell) echo "tests/test_$2.sh" ;;
  bats) echo "tests/$2.bats" ;;
  maven) echo "src/test/java/calc/$(title "$2")Test.java" ;;
  phpunit) echo "tests/$(title "$2")Test.php" ;;
  esac
}

# The parts of a file of tests. VERB is head FILE FUNCTION..., test NAME, skip NAME, same FUNCTION A B RESULT, none,
# each NAME FUNCTION A:B:RESULT..., end or foot. `each` fails where the runner has no tests with parameters.
emit() {
  local runner=$1 verb=$2 it fn
  shift 2
  case $runner-$verb in
  pytest-head)
    printf 'import pytest\n'
    shift
    for it in "$@"; do [ "$it" = old ] && printf 'from old import old\n' || printf 'from calc import %s\n' "$it"; done
    ;;
  pytest-test) printf '\n\ndef test_%s():\n' "$1" ;;
  pytest-skip) printf '\n\n@pytest.mark.skip(reason="later")\ndef test_%s():\n' "$1" ;;
  pytest-same) printf '    assert %s(%s, %s) == %s\n' "$@" ;;
  pytest-none) printf '    assert 1 + 1 == 2\n' ;;
  pytest-each)
    printf '\n\n@pytest.mark.parametrize("a, b, c", ['
    fn=$2 it=$1
    shift 2
    printf '(%s), ' "${@//:/, }"
    printf '])\ndef test_%s(a, b, c):\n    assert %s(a, b) == c\n' "$it" "$fn"
    ;;

  unittest-head)
    printf 'import unittest\n'
    it=$1
    shift
    for fn in "$@"; do [ "$fn" = old ] && printf 'from old import old\n' || printf 'from calc import %s\n' "$fn"; done
    printf '\n\nclass %s(unittest.TestCase):\n' "$(title "$it")"
    ;;
  unittest-test) printf '    def test_%s(self):\n' "$1" ;;
  unittest-skip) printf '    @unittest.skip("later")\n    def test_%s(self):\n' "$1" ;;
  unittest-same) printf '        self.assertEqual(%s(%s, %s), %s)\n' "$@" ;;
  unittest-none) printf '        self.assertEqual(1 + 1, 2)\n' ;;
  unittest-each)
    printf '    def test_%s(self):\n        for a, b, c in [' "$1"
    fn=$2
    shift 2
    printf '(%s), ' "${@//:/, }"
    printf ']:\n            with self.subTest(a=a, b=b):\n                self.assertEqual(%s(a, b), c)\n' "$fn"
    ;;

  cargo-head)
    shift
    for it in "$@"; do [ "$it" = old ] && printf 'use calc::old::old;\n' || printf 'use calc::%s;\n' "$it"; done
    ;;
  cargo-test) printf '\n#[test]\nfn %s_is_so() {\n' "$1" ;;
  cargo-skip) printf '\n#[test]\n#[ignore]\nfn %s_is_so() {\n' "$1" ;;
  cargo-same) printf '    assert_eq!(%s(%s, %s), %s);\n' "$@" ;;
  cargo-none) printf '    assert_eq!(1 + 1, 2);\n' ;;
  cargo-end) printf '}\n' ;;

  go-head) printf 'package calc\n\nimport "testing"\n' ;;
  go-test) printf '\nfunc Test%s(t *testing.T) {\n' "$(title "$1")" ;;
  go-skip) printf '\nfunc Test%s(t *testing.T) {\n\tt.Skip("later")\n' "$(title "$1")" ;;
  go-same) printf '\tif got := %s(%s, %s); got != %s {\n\t\tt.Fatalf("got %%d", got)\n\t}\n' "$@" ;;
  go-none) printf '\tif 1+1 != 2 {\n\t\tt.Fatal("no")\n\t}\n' ;;
  go-end) printf '}\n' ;;
  go-each)
    printf '\nfunc Test%s(t *testing.T) {\n' "$(title "$1")"
    fn=$2
    shift 2
    for it in "$@"; do
      # shellcheck disable=SC2046,SC2183
      printf '\tt.Run("%s", func(t *testing.T) {\n\t\tif got := %s(%s, %s); got != %s {\n\t\t\tt.Fatalf("got %%d", got)\n\t\t}\n\t})\n' "${it//:/ }" "$fn" $(tr : ' ' <<<"$it")
    done
    printf '}\n'
    ;;

  node-head | vitest-head)
    [ "$runner" = node ] && printf "import { test } from 'node:test';\nimport assert from 'node:assert';\n" || printf "import { expect, test } from 'vitest';\n"
    shift
    for it in "$@"; do [ "$it" = old ] && printf "import { old } from '../old.js';\n" || printf "import { %s } from '../calc.js';\n" "$it"; done
    ;;
  jest-head | mocha-head)
    [ "$runner" = jest ] || printf "const assert = require('node:assert');\n"
    it=$1
    shift
    for fn in "$@"; do [ "$fn" = old ] && printf "const { old } = require('../old.js');\n" || printf "const { %s } = require('../calc.js');\n" "$fn"; done
    printf "describe('%s', () => {\n" "$it"
    ;;
  jest-foot | mocha-foot) printf '});\n' ;;
  node-test | vitest-test | jest-test) printf "test('%s is so', () => {\n" "$1" ;;
  mocha-test) printf "it('%s is so', () => {\n" "$1" ;;
  node-skip | vitest-skip | jest-skip) printf "test.skip('%s is so', () => {\n" "$1" ;;
  mocha-skip) printf "it.skip('%s is so', () => {\n" "$1" ;;
  node-same | mocha-same) printf '  assert.strictEqual(%s(%s, %s), %s);\n' "$@" ;;
  vitest-same | jest-same) printf '  expect(%s(%s, %s)).toBe(%s);\n' "$@" ;;
  node-none | mocha-none) printf '  assert.strictEqual(1 + 1, 2);\n' ;;
  vitest-none | jest-none) printf '  expect(1 + 1).toBe(2);\n' ;;
  node-end | vitest-end | jest-end | mocha-end) printf '});\n' ;;
  vitest-each | jest-each)
    it=$1 fn=$2
    shift 2
    printf 'test.each(['
    printf '[%s], ' "${@//:/, }"
    printf "])('%s is so %%i %%i', (a, b, c) => {\n  expect(%s(a, b)).toBe(c);\n});\n" "$it" "$fn"
    ;;
  node-each | mocha-each)
    it=$1 fn=$2
    shift 2
    printf 'for (const [a, b, c] of ['
    printf '[%s], ' "${@//:/, }"
    printf ']) {\n  %s(`%s is so ${a} ${b}`, () => assert.strictEqual(%s(a, b), c));\n}\n' "$([ "$runner" = node ] && echo test || echo it)" "$it" "$fn"
    ;;

  rspec-head)
    it=$1
    shift
    for fn in "$@"; do [ "$fn" = old ] && printf "require_relative '../lib/old'\n" || printf "require_relative '../lib/calc'\n"; done | uniq
    printf "\nRSpec.describe '%s' do\n" "$it"
    ;;
  rspec-test) printf "  it '%s is so' do\n" "$1" ;;
  rspec-skip) printf "  xit '%s is so' do\n" "$1" ;;
  rspec-same) printf '    expect(%s.%s(%s, %s)).to eq(%s)\n' "$([ "$1" = old ] && echo Old || echo Calc)" "$@" ;;
  rspec-none) printf '    expect(1 + 1).to eq(2)\n' ;;
  rspec-end) printf '  end\n' ;;
  rspec-foot) printf 'end\n' ;;
  rspec-each)
    it=$1 fn=$2
    shift 2
    printf '  ['
    printf '[%s], ' "${@//:/, }"
    printf '].each do |a, b, c|\n    it "%s is so #{a} #{b}" do\n      expect(Calc.%s(a, b)).to eq(c)\n    end\n  end\n' "$it" "$fn"
    ;;

  minitest-head)
    it=$1
    shift
    printf "require 'minitest/autorun'\n"
    for fn in "$@"; do [ "$fn" = old ] && printf "require_relative '../lib/old'\n" || printf "require_relative '../lib/calc'\n"; done | uniq
    printf '\nclass %sTest < Minitest::Test\n' "$(title "$it")"
    ;;
  minitest-test) printf '  def test_%s\n' "$1" ;;
  minitest-skip) printf "  def test_%s\n    skip 'later'\n" "$1" ;;
  minitest-same) printf '    assert_equal %s, %s.%s(%s, %s)\n' "$4" "$([ "$1" = old ] && echo Old || echo Calc)" "$1" "$2" "$3" ;;
  minitest-none) printf '    assert_equal 2, 1 + 1\n' ;;
  minitest-end) printf '  end\n' ;;
  minitest-foot) printf 'end\n' ;;
  minitest-each)
    it=$1 fn=$2
    shift 2
    printf '  ['
    printf '[%s], ' "${@//:/, }"
    printf '].each do |a, b, c|\n    define_method("test_%s_#{a}_#{b}") { assert_equal c, Calc.%s(a, b) }\n  end\n' "$it" "$fn"
    ;;

  shell-head)
    shift
    printf 'set -eu\n'
    for fn in "$@"; do [ "$fn" = old ] && printf '. ./old.sh\n' || printf '. ./calc.sh\n'; done | uniq
    ;;
  shell-test) printf '# %s\n' "$1" ;;
  shell-skip) printf '# %s, later\nexit 0\n' "$1" ;;
  shell-same) printf '[ "$(%s %s %s)" = %s ]\n' "$@" ;;
  shell-none) printf '[ 2 = 2 ]\n' ;;

  bats-head)
    shift
    printf 'load helper\n'
    for fn in "$@"; do [ "$fn" = old ] && printf '. ./old.sh\n' || printf '. ./calc.sh\n'; done | uniq
    ;;
  bats-test) printf '\n@test "%s is so" {\n' "$1" ;;
  bats-skip) printf '\n@test "%s is so" {\n  skip later\n' "$1" ;;
  bats-same) printf '  same "$(%s %s %s)" %s\n' "$@" ;;
  bats-none) printf '  same 2 2\n' ;;
  bats-end) printf '}\n' ;;

  maven-head) printf 'package calc;\n\nimport static org.junit.Assert.assertEquals;\n\nimport org.junit.Ignore;\nimport org.junit.Test;\n\npublic class %sTest {\n' "$(title "$1")" ;;
  maven-test) printf '    @Test\n    public void %sIsSo() {\n' "$1" ;;
  maven-skip) printf '    @Ignore("later")\n    @Test\n    public void %sIsSo() {\n' "$1" ;;
  maven-same) printf '        assertEquals(%s, %s.%s(%s, %s));\n' "$4" "$([ "$1" = old ] && echo Old || echo Calc)" "$1" "$2" "$3" ;;
  maven-none) printf '        assertEquals(2, 1 + 1);\n' ;;
  maven-end) printf '    }\n' ;;
  maven-foot) printf '}\n' ;;

  phpunit-head)
    it=$1
    shift
    printf '<?php\n\nuse PHPUnit\\Framework\\TestCase;\n\n'
    for fn in "$@"; do [ "$fn" = old ] && printf "require_once __DIR__ . '/../src/old.php';\n" || printf "require_once __DIR__ . '/../src/calc.php';\n"; done | uniq
    printf '\nfinal class %sTest extends TestCase\n{\n' "$(title "$it")"
    ;;
  phpunit-test) printf '    public function test%s(): void\n    {\n' "$(title "$1")" ;;
  phpunit-skip) printf '    public function test%s(): void\n    {\n        $this->markTestSkipped("later");\n' "$(title "$1")" ;;
  phpunit-same) printf '        $this->assertSame(%s, %s(%s, %s));\n' "$4" "$1" "$2" "$3" ;;
  phpunit-none) printf '        $this->assertSame(2, 1 + 1);\n' ;;
  phpunit-end) printf '    }\n' ;;
  phpunit-foot) printf '}\n' ;;
  phpunit-each)
    it=$1 fn=$2
    shift 2
    printf '    public static function cases(): array\n    {\n        return ['
    printf '[%s], ' "${@//:/, }"
    printf '];\n    }\n\n    /** @dataProvider cases */\n    public function test%s($a, $b, $c): void\n    {\n        $this->assertSame($c, %s($a, $b));\n    }\n' "$(title "$it")" "$fn"
    ;;
  *-each) return 1 ;;
  esac
}

# tests RUNNER FILE CASE...: writes a file. CASE is NAME[/skip|/each]=FUNCTION:A:B:RESULT[,...], or NAME= of a test
# that asks nothing.
tests() {
  local runner=$1 file=$2 path name how asks it fns
  shift 2
  path=$(path_of "$runner" "$file")
  mkdir -p "$(dirname "$path")"
  fns=$(printf '%s\n' "$@" | sed 's/^[^=]*=//' | tr , '\n' | cut -d: -f1 | sed '/^$/d' | awk '!seen[$0]++')
  {
    # shellcheck disable=SC2086
    emit "$runner" head "$file" $fns
    for it in "$@"; do
      name=${it%%=*} asks=${it#*=} how=test
      case $name in */*) how=${name#*/} name=${name%/*} ;; esac
      if [ "$how" = each ]; then
        # shellcheck disable=SC2046
        emit "$runner" each "$name" "${asks%%:*}" $(tr , '\n' <<<"$asks" | cut -d: -f2-) || return 1
        continue
      fi
      emit "$runner" "$how" "$name"
      [ -n "$asks" ] || emit "$runner" none
      for ask in $(tr , ' ' <<<"$asks"); do
        # shellcheck disable=SC2046
        emit "$runner" same $(tr : ' ' <<<"$ask")
      done
      emit "$runner" end || true
    done
    emit "$runner" foot || true
  } >"$path"
}

# --- The repository ---------------------------------------------------------------------------------------------

package() { # SCRIPT [MORE JSON]
  printf '{\n  "name": "calc",\n  "version": "1.0.0",%s\n  "scripts": {\n    "test": "%s"\n  }%s\n}\n' "$([ "$runner" = node ] || [ "$runner" = vitest ] && printf '\n  "type": "module",')" "$1" "${2:-}" >package.json
}

pom() { # EXCLUDES
  cat >pom.xml <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>calc</groupId>
  <artifactId>calc</artifactId>
  <version>1.0</version>
  <properties>
    <maven.compiler.source>11</maven.compiler.source>
    <maven.compiler.target>11</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency>
      <groupId>junit</groupId>
      <artifactId>junit</artifactId>
      <version>4.x</version>
      <scope>test</scope>
    </dependency>
  </dependencies>
  <build>
    <plugins>
      <plugin>
        <groupId>org.apache.maven.plugins</groupId>
        <artifactId>maven-surefire-plugin</artifactId>$1
      </plugin>
    </plugins>
  </build>
</project>
POM
}

settle() { # The gate and what belongs to it.
  local run cache='' env='' setup=''
  case $runner in
  pytest)
    run="$COOK_RUNNERS_DIR/venv/bin/python -m pytest -q" cache='"__pycache__"'
    printf '[pytest]\ntestpaths = tests\n' >pytest.ini
    printf '__pycache__/\n.pytest_cache/\n' >.gitignore
    ;;
  unittest)
    run="make test" cache='"__pycache__"'
    mkdir -p tests
    : >tests/__init__.py
    printf 'test:\n\tpython3 -m unittest discover -v -t . -s tests\n' >Makefile
    printf '__pycache__/\n' >.gitignore
    ;;
  cargo)
    run="cargo test --offline" cache='"target"'
    printf '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n' >Cargo.toml
    printf '# This file is automatically @generated by Cargo.\n# It is not intended for manual editing.\nversion = 4\n\n[[package]]\nname = "calc"\nversion = "0.1.0"\n' >Cargo.lock
    printf 'target/\n' >.gitignore
    ;;
  go)
    run="go test ./..." env='"GOCACHE"'
    printf 'module calc\n\ngo 1.19\n' >go.mod
    ;;
  node) run="npm test" && package "node --test" ;;
  jest | vitest | mocha)
    run="npm test" cache='"node_modules"'
    setup="\"mkdir -p node_modules/.bin\", \"ln -sfn $COOK_RUNNERS_DIR/npm/node_modules/$runner node_modules/$runner\", \"ln -sfn $bin/$runner node_modules/.bin/$runner\""
    package "$([ "$runner" = vitest ] && echo 'vitest run' || echo "$runner")"
    printf 'node_modules/\n' >.gitignore
    if [ "$runner" = mocha ]; then printf '{\n  "spec": ["test/**/*.test.js"]\n}\n' >.mocharc.json; fi
    ;;
  rspec) run=rspec && printf -- '--require stringio\n' >.rspec ;;
  minitest)
    run="rake test"
    printf "require 'rake/testtask'\n\nRake::TestTask.new(:test) do |t|\n  t.libs << 'test'\n  t.pattern = 'test/*_test.rb'\nend\n" >Rakefile
    ;;
  shell)
    run="sh check.sh"
    printf 'for it in tests/test_*.sh; do\n  sh "$it" || exit 1\ndone\n' >check.sh
    ;;
  bats)
    run="bats tests"
    mkdir -p tests
    printf 'same() {\n  [ "$1" = "$2" ]\n}\n' >tests/helper.bash
    ;;
  maven)
    run="mvn -o -B -q -s /etc/maven/settings-debian.xml test" cache='"target"'
    pom ""
    printf 'target/\n' >.gitignore
    ;;
  phpunit)
    run=phpunit
    printf '<phpunit>\n  <testsuites>\n    <testsuite name="all">\n      <directory>tests</directory>\n    </testsuite>\n  </testsuites>\n</phpunit>\n' >phpunit.xml
    printf '.phpunit.result.cache\n' >.gitignore
    ;;
  esac
  mkdir -p .agent
  {
    printf '[gates.test]\nrun = "%s"\n' "$run"
    if [ -n "$cache$env$setup" ]; then
      printf '\n[clean_room]\n'
      [ -z "$cache" ] || printf 'cache = [%s]\n' "$cache"
      [ -z "$env" ] || printf 'env = [%s]\n' "$env"
      [ -z "$setup" ] || printf 'setup = [%s]\n' "$setup"
    fi
  } >.agent/cook.toml
}

# Settings of the runner that turn the test of `add` off; a second way where there is one.
turn_off() {
  case $runner-$1 in
  pytest-1) printf '[pytest]\ntestpaths = tests\naddopts = -k "not add"\n' >pytest.ini ;;
  pytest-2)
    printf '[pytest]\ntestpaths = tests\naddopts = -p quiet\n' >pytest.ini
    printf 'def pytest_collection_modifyitems(items):\n    items[:] = [it for it in items if "add" not in it.name]\n' >quiet.py
    ;;
  unittest-1) printf 'test:\n\tpython3 -m unittest -v tests.test_low tests.test_old\n' >Makefile ;;
  cargo-1)
    mkdir -p .cargo
    printf "[target.'cfg(all())']\nrunner = \"true\"\n" >.cargo/config.toml
    ;;
  cargo-2) printf '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\nautotests = false\n\n[[test]]\nname = "low"\n\n[[test]]\nname = "old"\n' >Cargo.toml ;;
  go-1) printf 'package calc\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) {\n\tm.Run()\n\tos.Exit(0)\n}\n' >main_test.go ;;
  node-1) package "node --test test/low.test.js test/old.test.js" ;;
  node-2) package "node --test --test-name-pattern=low" ;;
  jest-1) package jest ',
  "jest": {
    "testPathIgnorePatterns": ["calc.test"]
  }' ;;
  jest-2) package "jest low old" ;;
  vitest-1) printf "export default { test: { exclude: ['test/calc.test.js'] } };\n" >vitest.config.js ;;
  vitest-2) package "vitest run low old" ;;
  mocha-1) printf '{\n  "spec": ["test/**/*.test.js"],\n  "ignore": ["test/calc.test.js"]\n}\n' >.mocharc.json ;;
  mocha-2) package "mocha --grep low" ;;
  rspec-1) printf -- '--require stringio\n--exclude-pattern spec/calc_spec.rb\n' >.rspec ;;
  rspec-2) printf -- '--require stringio\n--example low\n' >.rspec ;;
  minitest-1) printf "require 'rake/testtask'\n\nRake::TestTask.new(:test) do |t|\n  t.libs << 'test'\n  t.pattern = 'test/{low,old}_test.rb'\nend\n" >Rakefile ;;
  shell-1) printf 'for it in tests/test_*.sh; do\n  sh "$it" || true\ndone\n' >check.sh ;;
  bats-1) printf 'same() {\n  true\n}\n' >tests/helper.bash ;;
  maven-1) pom "
        <configuration>
          <excludes>
            <exclude>**/CalcTest.java</exclude>
          </excludes>
        </configuration>" ;;
  phpunit-1) printf '<phpunit>\n  <testsuites>\n    <testsuite name="all">\n      <directory>tests</directory>\n      <exclude>tests/CalcTest.php</exclude>\n    </testsuite>\n  </testsuites>\n</phpunit>\n' >phpunit.xml ;;
  *) return 1 ;;
  esac
}

commit() { git add -A && git commit -q -m "$1"; }

# --- What is said ------------------------------------------------------------------------------------------------

answer=
exit_code=
check() { # BASE
  local left=$((deadline - $(date +%s)))
  answer=$WORK/answers/$runner-$story.$((++asked)).json
  exit_code=0
  if [ "$left" -le 0 ]; then
    exit_code=late
    : >"$answer"
    return
  fi
  timeout -k 10 "$((left < CHECK_TIME ? left : CHECK_TIME))" "$COOK" check --base "$1" --trust-repo --json >"$answer" 2>"$answer.err" || exit_code=$?
}

codes() { jq -r '[.lines[]?.code] | unique | join(" ")' "$answer" 2>/dev/null || head -c 200 "$answer.err"; }

# expect EXIT [CODE[|CODE] [TEXT]]: the last check ended so, and says that of something whose line holds the text.
expect() {
  local want=$1 code=${2:-} text=${3:-}
  if [ "$exit_code" != "$want" ]; then
    wrong="WRONG($exit_code, $(codes)); due $want${code:+ $code}"
    return 1
  fi
  [ -n "$code" ] || return 0
  if ! jq -e --arg code "$code" --arg text "$text" '($code | split("|")) as $codes
      | any(.lines[]; (.code as $it | $codes | index($it)) and (.message | test($text; "i")))' "$answer" >/dev/null 2>&1; then
    wrong="WRONG($exit_code, $(codes)); due $want $code${text:+ of $text}"
    return 1
  fi
}

# says_only [CODE]: the last answer has no line, or none of another code: an honest change is not troubled.
says_only() {
  [ -z "$wrong" ] || return 1
  if ! jq -e --arg code "${1:-}" 'all(.lines[]; .code == $code)' "$answer" >/dev/null; then
    wrong="WRONG($exit_code, $(codes)); due $exit_code and nothing${1:+ but $1}"
    return 1
  fi
}

declare_all() { # An empty commit that declares what the answer asks to.
  local lines
  lines=$(jq -r '.lines[].declare // empty' "$answer" | sort -u)
  if [ -z "$lines" ]; then
    wrong="WRONG($exit_code, $(codes)); no line to declare"
    return 1
  fi
  git commit -q --allow-empty -m "Declare" -m "${lines//WHY/that is how it is meant}"
}

# --- The stories --------------------------------------------------------------------------------------------------

add=add=add:1:2:3
mul=mul=mul:2:3:6,mul:0:5:0

# tell STORY -> 0 as due, 1 with `wrong` set, 2 where it is nothing for this runner
tell() {
  local names=yes
  [ "$runner" != shell ] || names=
  # ${names:+CODE}: where nothing names tests, no line about one is due.
  case $1 in
  feature)
    code "$runner" twice && tests "$runner" calc "$add" "$mul" twice=twice:1:2:6 && commit Feature
    check HEAD~1
    expect 0 && says_only
    ;;
  break)
    code "$runner" broken && tests "$runner" calc add=add:1:2:-1 "$mul" && commit Break
    check HEAD~1
    expect 1 pass_to_fail "${names:+add}"
    ;;
  declared)
    code "$runner" broken && tests "$runner" calc add=add:1:2:-1 "$mul" && commit Break
    check HEAD~1
    expect 1 pass_to_fail "${names:+add}" && declare_all || return 1
    check HEAD~2
    expect 0 pass_to_fail "${names:+add}"
    ;;
  rename)
    # In Java and PHP the class goes with it; so the test file is written anew.
    git rm -q "$(path_of "$runner" calc)"
    tests "$runner" sums "$add" "$mul" && commit Rename
    check HEAD~1
    expect 0 && says_only lost
    ;;
  extend)
    tests "$runner" calc "$add,add:2:2:4" "$mul" && commit Extend
    check HEAD~1
    expect 0 && says_only
    ;;
  split)
    tests "$runner" calc "$add" mul_some=mul:2:3:6 mul_zero=mul:0:5:0 && commit Split
    check HEAD~1
    expect 0 "${names:+lost}" "${names:+mul}" && says_only lost
    ;;
  each)
    tests "$runner" calc "$add" "${mul/=//each=}" || return 2
    commit Parametrise
    check HEAD~1
    expect 0 && says_only lost
    ;;
  delete)
    tests "$runner" calc "$add" && commit Delete
    check HEAD~1
    expect 0 "${names:+lost}" "${names:+mul}" && says_only lost
    ;;
  skip)
    tests "$runner" calc "$add" "${mul/=//skip=}" && commit Skip
    check HEAD~1
    if [ -n "$names" ]; then expect 1 set_aside mul; else expect 0; fi
    ;;
  red)
    tests "$runner" calc "$add" "$mul" red=mul:2:2:5 && commit Red
    code "$runner" twice && commit Code
    check HEAD~1
    expect 3 red_before "${names:+red}"
    ;;
  bent)
    tests "$runner" calc "$add" "$mul" red=mul:2:2:5 && commit Red
    code "$runner" twice && tests "$runner" calc "$add" "$mul" red=mul:2:2:4 && commit Bend
    check HEAD~1
    expect 1 bent "${names:+red}"
    ;;
  vacuous)
    code "$runner" twice && tests "$runner" more more= && commit Vacuous
    check HEAD~1
    if takes_files "$runner"; then expect 0 change_unnoticed; else expect 0; fi
    ;;
  settings | settings2)
    code "$runner" broken
    turn_off "$([ "$1" = settings ] && echo 1 || echo 2)" || return 2
    commit Settings
    check HEAD~1
    expect 1 'pass_to_fail|runner_changed|gate_changed'
    ;;
  gone)
    code "$runner" noold && git rm -q "$(path_of "$runner" old)" && commit Gone
    check HEAD~1
    # By the exit code alone, old tests that do not load count as red.
    if [ -n "$names" ]; then expect 3 not_comparable; else expect 1 pass_to_fail; fi
    [ -z "$wrong" ] && declare_all || return 1
    check HEAD~2
    expect 0
    ;;
  gone_fn)
    code "$runner" nolow && git rm -q "$(path_of "$runner" low)" && commit Gone
    check HEAD~1
    # Where a name that is not there is met as the test runs, the test is red, and that is all that can be said.
    if load_fails "$runner"; then expect 3 not_comparable; else expect 1 pass_to_fail "${names:+low}"; fi
    [ -z "$wrong" ] && declare_all || return 1
    check HEAD~2
    expect 0
    ;;
  cache)
    # The caches know the good code; the broken one has the same size, and was written in the same second.
    code "$runner" twice && commit Good
    check HEAD~1
    expect 0 || return 1
    code "$runner" twice broken && commit Broken
    check HEAD~1
    expect 1 gate_red "${names:+add}" || return 1
    code "$runner" twice && commit Good
    check HEAD~1
    expect 0
    ;;
  esac
}

tell_runner() { # Writes RUNNER STORY SECONDS RESULT, a line each.
  local story lack code wrong asked=0 began
  lack=$(missing "$runner" | tr '\n' ' ')
  if [ -n "$lack" ]; then
    echo "$runner - 0 skipped: not here: $lack" | tee "$WORK/results/$runner"
    return
  fi
  mkdir -p "$WORK/repos/$runner"
  cd "$WORK/repos/$runner"
  git init -q .
  settle
  code "$runner"
  tests "$runner" calc "$add" "$mul"
  tests "$runner" low low=low:1:2:1
  tests "$runner" old old=old:3:1:2
  commit Begin
  for story in $STORIES; do
    began=$(date +%s) wrong='' code=0 asked=0
    git checkout -q -f -B "$story" main && git clean -q -fd
    tell "$story" || code=$?
    [ -z "$wrong" ] || code=1
    case $code in
    0) wrong=ok ;;
    2) wrong=- ;;
    *) wrong=${wrong:-"WRONG(the story could not be told)"} ;;
    esac
    printf '%s %s %s %s\n' "$runner" "$story" "$(($(date +%s) - began))" "$wrong" | tee -a "$WORK/results/$runner"
  done
}

mkdir -p "$WORK/answers" "$WORK/results" "$WORK/repos"
rm -f "$WORK"/results/*
deadline=$(($(date +%s) + TOTAL_TIME))
for runner in $RUNNERS; do
  while [ "$(jobs -rp | wc -l)" -ge "$JOBS" ]; do wait -n || true; done
  tell_runner &
done
wait

# --- The table ---------------------------------------------------------------------------------------------------

echo
{
  printf 'runner %s' "$STORIES"
  echo
  for runner in $RUNNERS; do
    printf '%s' "$runner"
    for story in $STORIES; do
      awk -v story="$story" '$2 == story { found = $4 ~ /^WRONG/ ? "WRONG" : $4 } END { printf " %s", found == "" ? "." : found }' "$WORK/results/$runner" 2>/dev/null || printf ' .'
    done
    echo
  done
} | awk '{ for (i = 1; i <= NF; i++) { cell[NR, i] = $i; if (length($i) > wide[i]) wide[i] = length($i) } fields = NF > fields ? NF : fields }
  END { for (r = 1; r <= NR; r++) { line = ""; for (i = 1; i <= fields; i++) line = line sprintf("%-" wide[i] "s ", cell[r, i]); sub(/ +$/, "", line); print line } }'
echo
cat "$WORK"/results/* | grep -E 'WRONG|skipped' || true
passed=$(cat "$WORK"/results/* | grep -c ' ok$' || true)
failed=$(cat "$WORK"/results/* | grep -c WRONG || true)
echo "$passed passed, $failed failed"
if [ "$failed" -gt 0 ]; then exit 1; fi
if [ "$passed" -eq 0 ]; then exit 77; fi
