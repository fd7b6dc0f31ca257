'use strict';
// Listens to mocha's runner beside its reporter.
const { Records, describe, guard, runBeforeMain } = require('./record.cjs');

function install(directory) {
  const path = require('path').join(directory, 'lib', 'runner.js');
  if (!require('fs').existsSync(path)) return;
  runBeforeMain(async () => {
    const found = await import(require('url').pathToFileURL(path).href);
    const Runner = found.Runner || found.default.Runner || found.default;
    const run = Runner.prototype.run;
    const seen = new WeakSet();
    let running = false;
    const wrap = (own) =>
      function (...args) {
        guard(() => {
          if (running || seen.has(this)) return;
          seen.add(this);
          const records = new Records('mocha');
          if (!records.isInside()) return;
          running = true;
          this.once('end', () => (running = false));
          listen(this, records);
        });
        return own.apply(this, args);
      };
    Runner.prototype.run = wrap(run);
    // The runner of `--parallel` has a `run` of its own.
    for (const end of ['js', 'cjs']) {
      guard(() => {
        const parallel = require(`${directory}/lib/nodejs/parallel-buffered-runner.${end}`);
        parallel.prototype.run = wrap(parallel.prototype.run);
      });
    }
  });
}

function listen(runner, records) {
  records.hide();
  const add = (test, result, error, attempt) =>
    guard(() => {
      const titles = test.titlePath ? test.titlePath() : [test.fullTitle()];
      records.addTest(relate(test), titles, result, describe(error), attempt);
    });
  const relate = (test) => records.relate(test.file || (test.parent && test.parent.file));
  const count = (test) => (typeof test.currentRetry === 'function' ? test.currentRetry() : test._currentRetry) || 0;
  // A test that passed may still fail in what is done after it.
  let passed;
  const settle = () => {
    if (passed) add(passed, 'passed', undefined, count(passed));
    passed = undefined;
  };
  runner.on('pass', (test) => {
    settle();
    passed = test;
  });
  runner.on('pending', (test) => {
    settle();
    add(test, 'skipped');
  });
  runner.on('retry', (test, error) => {
    settle();
    add(test, 'failed', error, count(test));
  });
  runner.on('fail', (test, error) => {
    if (test.type === 'hook') return guard(() => addHook(test, error));
    settle();
    add(test, 'failed', error, count(test));
  });
  runner.once('end', () => {
    settle();
    guard(() => records.addEnd());
  });

  // The hook names the test that it stood before or after; tests behind it do not run.
  function addHook(hook, error) {
    const [, kind, title] = /^"(\w+ \w+)" hook(?:: .*?)?(?: (?:for|in) "(.*)")?$/s.exec(hook.title) || [];
    const titles = hook.titlePath().slice(0, -1).concat(title || []);
    const isOf = (test) => test && test.titlePath().join('\0') === titles.join('\0');
    if (/each/.test(kind) && title) {
      const attempt = isOf(passed) ? count(passed) : 0;
      if (isOf(passed)) passed = undefined;
      settle();
      return records.addTest(relate(hook), titles, 'failed', describe(error), attempt);
    }
    settle();
    if (kind === 'before all' && hook.parent && hook.parent.eachTest) {
      return hook.parent.eachTest((test) => add(test, test.isPending() ? 'skipped' : 'failed', error));
    }
    if (kind === 'before all' && title) return records.addTest(relate(hook), titles, 'failed', describe(error));
    add(hook, 'failed', error);
  }
}

module.exports = { install };
