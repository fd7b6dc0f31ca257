'use strict';
// Node reads this file before each program, because NODE_OPTIONS names it. It looks at how the program
// was called and leaves at once where that is no test runner. An error in here is never one of the
// program.
try {
  // Nor does the program find it among what it has loaded.
  delete require.cache[__filename];
  start();
} catch (_) {}

function start() {
  const env = process.env;
  if (!env.TRIAL_RECORDS || !env.TRIAL_ROOT || env.NODE_TEST_CONTEXT) return;
  const hook = choose(process.argv[1] || '', process.execArgv);
  if (!hook || !require('worker_threads').isMainThread) return;
  require(hook[0]).install(hook[1]);
}

function choose(script, options) {
  if (options.includes('--test')) return ['./node_test.cjs', true];
  if (!script) return null;
  if (script.includes('node_modules')) {
    const path = require('fs').realpathSync(script).replace(/\\/g, '/');
    const [, directory, name] = /^(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(path) || [];
    switch (name) {
      case 'vitest':
        return ['./vitest.cjs', directory];
      case 'mocha':
        return ['./mocha.cjs', directory];
      case 'jest':
      case 'jest-cli':
      case 'react-scripts':
      case 'react-app-rewired':
      case '@craco/craco':
      case '@wordpress/scripts':
        return ['./jest.cjs', directory];
    }
    return null;
  }
  return runsTests(script) ? ['./node_test.cjs', false] : null;
}

// A script that calls Node's own runner is a run of it, without `--test` too.
function runsTests(script) {
  const fs = require('fs');
  const path = require('path').resolve(script);
  if (!path.startsWith(fs.realpathSync(process.env.TRIAL_ROOT)) && !path.startsWith(process.env.TRIAL_ROOT)) return false;
  if (!fs.existsSync(path) || fs.statSync(path).size > 1 << 20) return false;
  return /[\\/][^\\/]*(test|spec)/i.test(path.slice(process.env.TRIAL_ROOT.length)) || fs.readFileSync(path, 'utf8').includes('node:test');
}
