'use strict';
// A reporter that playwright adds to the project's own.
const { Records, describe, findError, guard } = require('./record.cjs');

const RESULTS = { passed: 'passed', failed: 'failed', timedOut: 'failed', interrupted: 'failed', skipped: 'skipped' };

class TrialReporter {
  constructor() {
    guard(() => {
      if (!process.env.TRIAL_RECORDS || !process.env.TRIAL_ROOT) return;
      const records = new Records('playwright');
      if (!records.isInside()) return;
      records.hide();
      this.records = records;
    });
  }

  printsToStdio() {
    return false;
  }

  onTestEnd(test, result) {
    guard(() => {
      if (!this.records) return;
      const file = this.records.relate(test.location.file);
      // Of `titlePath` the project comes second and the file third.
      const [, project, , ...titles] = test.titlePath();
      const isExpected = test.expectedStatus === result.status;
      // That it fails as expected does not say that the code works.
      const kind = result.status === 'passed' ? (isExpected ? 'passed' : 'failed') : isExpected ? 'skipped' : RESULTS[result.status];
      const message = kind === 'failed' ? describe(result.error || { name: 'Error', message: 'expected to fail, and passed' }) : undefined;
      this.records.addTest(file, titles, kind, message, result.retry, project && `[${project}]`);
    });
  }

  onError(error) {
    guard(() => {
      if (!this.records) return;
      const file = this.records.relate(error.location && error.location.file);
      if (file) this.records.addUnloaded(file, findError(error.message) || error.message);
    });
  }

  onEnd() {
    guard(() => this.records && this.records.addEnd());
  }
}

module.exports = TrialReporter;
