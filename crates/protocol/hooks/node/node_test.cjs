'use strict';
// Records what Node's own runner hands to its reporters, whichever those are.
const { Records, findError, describe, guard } = require('./record.cjs');

function install(isRunner) {
  const records = new Records('node:test');
  if (!records.isInside()) return;
  if (isRunner) records.hide();
  const run = new Run(records);
  const { Readable } = require('stream');
  const own = Readable.prototype.push;
  // Until the first event shows which class of streams carries them.
  Readable.prototype.push = function (event, encoding) {
    if (isEvent(event)) {
      guard(() => {
        const carrier = Object.getPrototypeOf(this);
        Readable.prototype.push = own;
        carrier.push = function (next, ...rest) {
          if (isEvent(next)) guard(() => run.take(next));
          return own.call(this, next, ...rest);
        };
        records.hide();
        process.once('exit', () => guard(() => run.end()));
        run.take(event);
      });
    }
    return own.call(this, event, encoding);
  };
  if (isRunner) process.once('exit', () => guard(() => run.end()));
}

function isEvent(event) {
  return event !== null && typeof event === 'object' && typeof event.type === 'string' && event.type.startsWith('test:') && typeof event.data === 'object';
}

class Run {
  constructor(records) {
    this.records = records;
    this.titles = [];
    this.cancelled = [];
    this.printed = new Map();
    this.hasPattern = process.execArgv.some((one) => one.startsWith('--test-name-pattern') || one.startsWith('--test-skip-pattern') || one === '--test-only');
    this.ended = false;
  }

  take({ type, data }) {
    if (type === 'test:start') {
      this.titles.length = data.nesting;
      this.titles[data.nesting] = data.name;
    } else if (type === 'test:stderr') {
      const path = this.records.relate(data.file);
      this.printed.set(path, (this.printed.get(path) || '') + data.message);
    } else if (type === 'test:pass' || type === 'test:fail') {
      this.finish(data, type === 'test:pass');
    }
  }

  finish(data, passed) {
    const file = this.records.relate(data.file || process.argv[1]);
    const details = data.details || {};
    const error = details.error || {};
    const titles = this.titles.slice(0, data.nesting).concat([data.name]);
    if (data.nesting === 0 && file && this.records.relate(data.name) === file) {
      return this.finishFile(file, passed);
    }
    const isSuite = details.type === 'suite';
    const cause = describe(error.cause === undefined ? error.message : error.cause);
    const flushed = this.flush(data.nesting, isSuite && !passed ? cause : undefined);
    const isSkipped = data.skip !== undefined && data.skip !== false;
    const isTodo = data.todo !== undefined && data.todo !== false;
    const isExpected = passed && data.expectFailure !== undefined && data.expectFailure !== false;
    if (isSuite) {
      // Its tests speak, but for what only the suite itself did wrong: a hook that failed after all of them, too.
      const isTold = ['subtestsFailed', 'cancelledByParent'].includes(error.failureType) || (error.failureType === 'hookFailed' && flushed > 0);
      if (!passed && !isTodo && !isTold) {
        this.records.addTest(file, titles, 'failed', cause);
      } else if (isSkipped) {
        this.records.addTest(file, titles, 'skipped');
      }
      return;
    }
    const result = isSkipped || isTodo || isExpected ? 'skipped' : passed ? 'passed' : 'failed';
    const record = [file, titles, result, result === 'failed' ? cause : undefined];
    if (error.failureType === 'cancelledByParent' && data.nesting > 0 && result === 'failed') {
      this.cancelled.push({ nesting: data.nesting, record });
    } else {
      this.records.addTest(...record);
    }
  }

  // Tests that never began because a hook of their suite failed say why.
  flush(nesting, cause) {
    const ended = this.cancelled.filter((one) => one.nesting > nesting);
    this.cancelled = this.cancelled.filter((one) => one.nesting <= nesting);
    for (const { record } of ended) this.records.addTest(record[0], record[1], record[2], cause || record[3]);
    return ended.length;
  }

  // The runner takes a file for a test where none is in it, or where it broke.
  finishFile(file, passed) {
    if (passed) {
      if (!this.hasPattern) this.records.addTest(file, [], 'passed');
    } else if ([...this.records.ran].some((name) => name.startsWith(file + ' > '))) {
      this.records.addTest(file, [], 'failed', findError(this.printed.get(file)) || 'the file failed');
    } else {
      this.records.addUnloaded(file, findError(this.printed.get(file)));
    }
  }

  end() {
    if (this.ended) return;
    this.ended = true;
    this.flush(-1);
    this.records.addEnd();
  }
}

module.exports = { install };
