'use strict';
// Adds a reporter to the running instance of vitest, after it has read its own from options and
// settings: an option or a setting of ours would replace those.
const { Records, describe, findError, guard, runBeforeMain } = require('./record.cjs');

function install(directory) {
  const path = require('path').join(directory, 'dist', 'node.js');
  if (!require('fs').existsSync(path)) return;
  const records = new Records('vitest');
  if (!records.isInside()) return;
  // Before any pool of workers copies the environment.
  records.hide();
  runBeforeMain(async () => {
    const node = await import(require('url').pathToFileURL(path).href);
    const seen = new WeakSet();
    const add = (vitest) =>
      guard(() => {
        if (!vitest || !Array.isArray(vitest.reporters) || seen.has(vitest)) return;
        seen.add(vitest);
        vitest.reporters.push(makeReporter(records));
      });
    // Whatever is set: an instance is handed to its reporters, and to what sorts its files.
    for (const found of Object.values(Object.assign({}, node.ReportersMap, node))) {
      if (typeof found === 'function' && found.prototype && Object.hasOwn(found.prototype, 'onInit')) {
        const own = found.prototype.onInit;
        found.prototype.onInit = function (...args) {
          add(args[0]);
          return own.apply(this, args);
        };
      }
    }
    const sorter = node.BaseSequencer && node.BaseSequencer.prototype;
    if (sorter) {
      const own = sorter.sort;
      sorter.sort = function (...args) {
        add(this.ctx);
        return own.apply(this, args);
      };
    }
  });
}

function makeReporter(records) {
  let done = false;
  let passesOver = false;
  const finish = (files, errors) =>
    guard(() => {
      if (done) return;
      done = true;
      for (const file of files || []) guard(() => addFile(records, file));
      // The run is red by them, and no test is.
      if (errors && errors.length && !passesOver) records.addTest(undefined, ['unhandled errors'], 'failed', describe(errors[0]));
      records.addEnd();
    });
  const begin = () => {
    done = false;
  };
  return {
    onInit: (vitest) => guard(() => (passesOver = vitest.config.dangerouslyIgnoreUnhandledErrors === true)),
    onTestRunStart: begin,
    onTestRunEnd: (modules, errors) => finish((modules || []).map((module) => module.task), errors),
    onFinished: finish,
  };
}

function addFile(records, task) {
  const file = records.relate(task.filepath) || task.name;
  const project = task.projectName && `|${task.projectName}|`;
  const errors = (task.result && task.result.errors) || [];
  if (!task.tasks.length && task.result && task.result.state === 'fail') {
    records.addUnloaded(file, errors.length ? describe(errors[0]) : undefined);
    return;
  }
  const above = failedBefore(task) ? errors : [];
  for (const one of task.tasks) addTask(records, file, project, [], one, above);
  // A hook of the whole file that failed after its tests.
  if (errors.length && !above.length) records.addTest(file, [], 'failed', describe(errors[0]), 0, project);
}

// Tests behind a `beforeAll` that failed are handed on as skipped.
function failedBefore({ result }) {
  return result && result.state === 'fail' && result.hooks && result.hooks.beforeAll === 'run';
}

function addTask(records, file, project, titles, task, above) {
  const path = titles.concat([task.name]);
  const result = task.result || {};
  const errors = result.errors || [];
  if (task.type === 'suite') {
    for (const one of task.tasks || []) addTask(records, file, project, path, one, failedBefore(task) ? errors : above);
    // One that failed after its tests.
    if (errors.length && !failedBefore(task)) records.addTest(file, path, 'failed', describe(errors[0]), 0, project);
    return;
  }
  const write = (kind, message, attempt) => records.addTest(file, path, kind, message, attempt, project);
  const tries = result.retryCount || 0;
  if (!result.state || result.state === 'run' || result.state === 'skip' || result.state === 'todo') {
    const isAsked = result.state || (task.mode !== 'skip' && task.mode !== 'todo');
    return above.length && isAsked ? write('failed', describe(above[0])) : write('skipped');
  }
  if (result.state === 'pass') {
    for (let attempt = 0; attempt < tries; attempt++) write('failed', errors[attempt] && describe(errors[attempt]), attempt);
    // That it fails as expected does not say that the code works.
    return write(task.fails ? 'skipped' : 'passed', undefined, tries);
  }
  write('failed', describe(errors[errors.length - 1]) || 'failed', tries);
}

module.exports = { install };
