'use strict';
// Adds a reporter to the running instance of vitest, after it has read its own from options and
// settings: an option or a setting of ours would replace those.
const { Records, describe, findError, guard, runBeforeMain } = require('./record.cjs');

function install(directory) {
  const path = require('path').join(directory, 'dist', 'node.js');
  if (!require('fs').existsSync(path)) return;
  runBeforeMain(async () => {
    const node = await import(require('url').pathToFileURL(path).href);
    const seen = new WeakSet();
    const add = (vitest) =>
      guard(() => {
        if (!vitest || !Array.isArray(vitest.reporters) || seen.has(vitest)) return;
        seen.add(vitest);
        const records = new Records('vitest');
        if (!records.isInside()) return;
        records.hide();
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
  const finish = (files) =>
    guard(() => {
      if (done) return;
      done = true;
      for (const file of files || []) guard(() => addFile(records, file));
      records.addEnd();
    });
  const begin = () => {
    done = false;
  };
  return {
    onTestRunStart: begin,
    onTestRunEnd: (modules) => finish((modules || []).map((module) => module.task)),
    onFinished: finish,
  };
}

function addFile(records, task) {
  const file = records.relate(task.filepath) || task.name;
  const project = task.projectName ? `|${task.projectName}| ` : '';
  const errors = (task.result && task.result.errors) || [];
  if (!task.tasks.length && task.result && task.result.state === 'fail') {
    records.addUnloaded(file, errors.length ? describe(errors[0]) : undefined);
    return;
  }
  for (const one of task.tasks) addTask(records, file, project, [], one, errors);
  // A hook of the whole file that failed after its tests.
  if (errors.length && !records.failedIn) records.addTest(file, [], 'failed', describe(errors[0]));
}

function addTask(records, file, project, titles, task, above) {
  const path = titles.concat([task.name]);
  const result = task.result || {};
  const errors = result.errors || [];
  if (task.type === 'suite') {
    for (const one of task.tasks || []) addTask(records, file, project, path, one, errors.length ? errors : above);
    return;
  }
  const titled = project ? [project + file].concat(path) : path;
  const write = (kind, message, attempt) => {
    if (!project) return records.addTest(file, titled, kind, message, attempt);
    const name = titled.join(' > ');
    if (kind !== 'skipped') records.ran.add(name);
    records.add({ name, file, result: kind, message, attempt: attempt || undefined });
  };
  const tries = result.retryCount || 0;
  if (task.mode !== 'run' && task.mode !== 'only' && task.mode !== 'queued') return write('skipped');
  if (!result.state || result.state === 'run') return write(above.length ? 'failed' : 'skipped', above.length ? describe(above[0]) : undefined);
  if (result.state === 'skip') return write(above.length ? 'failed' : 'skipped', above.length ? describe(above[0]) : undefined);
  if (result.state === 'pass') {
    for (let attempt = 0; attempt < tries; attempt++) write('failed', errors[attempt] && describe(errors[attempt]), attempt);
    return write('passed', undefined, tries);
  }
  write('failed', describe(errors[errors.length - 1]) || 'failed', tries);
}

module.exports = { install };
