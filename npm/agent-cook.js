#!/usr/bin/env node
// Starts the `cook` of this platform's package with the same arguments, streams and ending.
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `agent-cook-${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "cook.exe" : "cook";
let program;
try {
  program = require.resolve(`${name}/bin/${file}`);
} catch {
  console.error(`error: \`${name}\` is not installed; it has the \`cook\` of this platform`);
  console.error("  next: install again without `--omit=optional`, or build from source: `cargo install --path . --locked`");
  process.exit(3);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// The terminal's signals reach both; others are handed on.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`error: \`${program}\` cannot be started: ${error.message}`);
  process.exit(3);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
