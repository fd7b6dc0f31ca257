// Makes the npm packages: `node npm/build.mjs OUT KEY=BINARY...`, where KEY is one of `targets.json`.
// Each binary becomes a package of its platform; `agent-cook` names exactly those. Nothing is downloaded, at
// installation either, and nothing is published.
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
const targets = JSON.parse(readFileSync(join(here, "targets.json"), "utf8"));
const version = /^\[workspace\.package\]\nversion = "([^"]+)"/m.exec(readFileSync(join(root, "Cargo.toml"), "utf8"))[1];
const common = {
  version,
  description: "Check what coding agents claim, and mark work done only with proof",
  license: "MIT OR Apache-2.0",
};
const [out, ...given] = process.argv.slice(2);
if (!out || given.length === 0) {
  console.error("usage: node npm/build.mjs OUT KEY=BINARY...");
  process.exit(2);
}

function make(name, manifest, files) {
  const directory = join(out, name);
  for (const [path, source, mode] of files) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    copyFileSync(source, join(directory, path));
    chmodSync(join(directory, path), mode);
  }
  for (const licence of ["LICENSE-MIT", "LICENSE-APACHE"]) copyFileSync(join(root, licence), join(directory, licence));
  writeFileSync(join(directory, "package.json"), `${JSON.stringify({ name, ...common, ...manifest }, null, 2)}\n`);
}

// For which platform a program was made, by its first bytes: ELF, Mach-O and PE name their machine.
function platform(binary) {
  const bytes = readFileSync(binary);
  const machine = (at, names) => (at + 4 <= bytes.length ? names[bytes.readUInt16LE(at)] : undefined);
  if (bytes.length < 64) return undefined;
  if (bytes.readUInt32BE(0) === 0x7f454c46) return ["linux", machine(18, { 0x3e: "x64", 0xb7: "arm64" })];
  if (bytes.readUInt32LE(0) === 0xfeedfacf) return ["darwin", { 0x01000007: "x64", 0x0100000c: "arm64" }[bytes.readUInt32LE(4)]];
  if (bytes.toString("latin1", 0, 2) === "MZ") {
    const at = bytes.readUInt32LE(60);
    if (bytes.toString("latin1", at, at + 4) === "PE\0\0") return ["win32", machine(at + 4, { 0x8664: "x64", 0xaa64: "arm64" })];
  }
  return undefined;
}

function fail(what, next) {
  console.error(`${what}\n  next: ${next}`);
  process.exit(2);
}

const optionalDependencies = {};
const packages = given.map((pair) => {
  const at = pair.indexOf("=");
  const [key, binary] = [pair.slice(0, at), pair.slice(at + 1)];
  const target = targets[key];
  if (!target) fail(`unknown platform \`${key}\``, `name one of ${Object.keys(targets).join(", ")}`);
  let found;
  try {
    found = platform(binary);
  } catch (error) {
    fail(`\`${binary}\` cannot be read: ${error.code}`, `build it, or name another: ${key}=BINARY`);
  }
  if (!found) fail(`\`${binary}\` is no program of a platform that is known here`, `name the built \`cook\`: ${key}=BINARY`);
  if (found[0] !== target.os || found[1] !== target.cpu) {
    fail(`\`${binary}\` was built for ${found.join("-")}, not for ${target.os}-${target.cpu}`, `name the program that was built for ${key}`);
  }
  return { key, binary, target };
});
// All of them are sound before the first is written.
for (const { key, binary, target } of packages) {
  const file = target.os === "win32" ? "bin/cook.exe" : "bin/cook";
  make(`agent-cook-${key}`, { os: [target.os], cpu: [target.cpu], files: ["bin"], preferUnplugged: true }, [[file, binary, 0o755]]);
  optionalDependencies[`agent-cook-${key}`] = version;
}
make("agent-cook", { bin: { cook: "agent-cook.js" }, files: ["agent-cook.js"], engines: { node: ">=18" }, optionalDependencies }, [
  ["agent-cook.js", join(here, "agent-cook.js"), 0o755],
]);
