'use strict';
// Records each result of a file that jest adds up. No reporter is added and none is taken away.
const { Records, findError, guard } = require('./record.cjs');
const Module = require('module');

function install(directory) {
  const seen = new Set();
  for (const start of [process.cwd() + '/', directory + '/']) {
    guard(() => {
      const path = find(start);
      if (!path || seen.has(path)) return;
      seen.add(path);
      watch(path, /[\\/]jest(-cli)?$/.test(directory));
    });
  }
}

// The module that adds results up, as the core of jest finds it.
function find(start) {
  let from = start;
  for (const name of ['jest', 'jest-cli', '@jest/core', '@jest/test-result']) {
    const next = guard(() => Module.createRequire(from).resolve(name));
    if (next) from = next;
  }
  return from.includes('test-result') ? from : undefined;
}

function watch(path, isJest) {
  const own = require(path);
  const entry = require.cache[path];
  const add = own.addResult;
  if (!entry || typeof add !== 'function') return;
  const records = new Records('jest');
  let begun = false;
  const added = (sum, result) => {
    guard(() => {
      if (!records.relate(result.testFilePath)) return;
      if (!begun) {
        begun = true;
        records.hide();
        process.once('exit', () => records.addEnd());
      }
      addFile(records, result);
    });
    return add(sum, result);
  };
  const parts = Object.getOwnPropertyDescriptors(own);
  parts.addResult = { value: added, enumerable: true, configurable: true, writable: true };
  entry.exports = Object.create(Object.getPrototypeOf(own), parts);
  // Workers and what tests start have none; a program around jest may yet start it as one of its own.
  if (isJest) guard(() => records.isInside() && records.hide());
}

const RESULTS = { passed: 'passed', failed: 'failed', pending: 'skipped', skipped: 'skipped', todo: 'skipped', disabled: 'skipped' };

function addFile(records, result) {
  const file = records.relate(result.testFilePath);
  const tests = result.testResults || [];
  const broken = result.testExecError;
  if (broken && !tests.length) {
    records.addUnloaded(file, findError(result.failureMessage) || broken.message || result.failureMessage);
    return;
  }
  for (const test of tests) {
    // That one fails as expected does not say that the code works.
    const kind = test.failing && test.status === 'passed' ? 'skipped' : RESULTS[test.status];
    if (!kind) continue;
    const titles = (test.ancestorTitles || []).concat([test.title]);
    const reasons = test.retryReasons || [];
    const tries = Math.max(reasons.length, (test.invocations || 1) - 1);
    for (let attempt = 0; attempt < tries; attempt++) records.addTest(file, titles, 'failed', reasons[attempt], attempt);
    records.addTest(file, titles, kind, kind === 'failed' ? (test.failureMessages || [])[0] : undefined, tries);
  }
  // What failed behind all tests of the file is no test's.
  if (broken) records.addTest(file, [], 'failed', broken.message || broken.stack || result.failureMessage);
}

module.exports = { install };
