'use strict';
// Appends records of tests, one write each. What fails in here is said to nobody.
const fs = require('fs');
const path = require('path');

class Records {
  constructor(runner) {
    this.runner = runner;
    this.path = process.env.TRIAL_RECORDS;
    this.root = fs.realpathSync(process.env.TRIAL_ROOT);
    this.ran = new Set();
    this.ended = false;
  }

  // Programs that the run starts are parts of it, and record nothing themselves.
  hide() {
    delete process.env.TRIAL_RECORDS;
  }

  // A path from the root of the tree, or nothing for one outside.
  relate(file) {
    if (!file) return undefined;
    let full = String(file);
    try {
      if (full.startsWith('file:')) full = require('url').fileURLToPath(full);
      full = fs.realpathSync(path.resolve(full));
    } catch (_) {}
    const inside = path.relative(this.root, full);
    if (inside === '' || inside.startsWith('..') || path.isAbsolute(inside)) return undefined;
    return inside.split(path.sep).join('/');
  }

  // Whether the run stands in the tree.
  isInside() {
    const here = path.relative(this.root, fs.realpathSync(process.cwd()));
    return !here.startsWith('..') && !path.isAbsolute(here);
  }

  add(record) {
    try {
      fs.appendFileSync(this.path, JSON.stringify(Object.assign({ runner: this.runner }, record)) + '\n');
    } catch (_) {}
  }

  // What stands before the file is the project of runners that have several, as they print it.
  addTest(file, titles, result, message, attempt, project) {
    const name = (project ? project + ' ' : '') + [file].concat(titles).filter(Boolean).join(' > ');
    if (result !== 'skipped') this.ran.add(name);
    this.add({ name, file, result, message: shorten(message), attempt: attempt || undefined });
  }

  addUnloaded(file, message) {
    this.add({ unloaded: file, message: shorten(message) || 'it did not load' });
  }

  addEnd() {
    this.add({ ran: this.ran.size });
    this.ran.clear();
  }
}

// eslint-disable-next-line no-control-regex
const COLOURS = /\x1b\[[0-9;]*m/g;

// The first line that says something, with the next one behind a colon, at most 200 characters long.
function shorten(text) {
  if (text === undefined || text === null) return undefined;
  const lines = String(text).replace(COLOURS, '').split('\n').map((line) => line.trim()).filter(Boolean);
  if (!lines.length) return undefined;
  const line = lines[0].endsWith(':') && lines[1] ? `${lines[0]} ${lines[1]}` : lines[0];
  return line.slice(0, 200);
}

// Of what a program printed when it broke: the line with its error.
function findError(text) {
  const lines = String(text).replace(COLOURS, '').split('\n');
  return lines.find((line) => /^\s*(\w*(Error|Exception)\b|Cannot find )/.test(line));
}

function describe(error) {
  if (!error || typeof error !== 'object') return error === undefined ? undefined : String(error);
  const said = error.message === undefined ? String(error) : String(error.message);
  const name = error.name || 'Error';
  return said.startsWith(name) ? said : `${name}: ${said}`;
}

// Runs a function of ours beside one of the runner: what it throws stays here.
function guard(run) {
  try {
    return run();
  } catch (_) {
    return undefined;
  }
}

// Runs before the program's own file, which waits for it and starts whatever becomes of it.
function runBeforeMain(prepare) {
  const Module = require('module');
  const runMain = Module.runMain;
  Module.runMain = function (...args) {
    Module.runMain = runMain;
    const go = () => runMain.apply(this, args);
    Promise.resolve()
      .then(prepare)
      .catch(() => {})
      .then(() => process.nextTick(go));
  };
}

module.exports = { Records, shorten, findError, describe, guard, runBeforeMain };
