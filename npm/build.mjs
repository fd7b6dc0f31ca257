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
  description: "A repo-local completion control plane: agents report, cook decides, git is the database",
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

const optionalDependencies = {};
for (const pair of given) {
  const at = pair.indexOf("=");
  const [key, binary] = [pair.slice(0, at), pair.slice(at + 1)];
  const target = targets[key];
  if (!target) {
    console.error(`unknown platform \`${key}\`; those are ${Object.keys(targets).join(", ")}`);
    process.exit(2);
  }
  const file = target.os === "win32" ? "bin/cook.exe" : "bin/cook";
  make(`agent-cook-${key}`, { os: [target.os], cpu: [target.cpu], files: ["bin"], preferUnplugged: true }, [[file, binary, 0o755]]);
  optionalDependencies[`agent-cook-${key}`] = version;
}
make("agent-cook", { bin: { cook: "agent-cook.js" }, files: ["agent-cook.js"], engines: { node: ">=18" }, optionalDependencies }, [
  ["agent-cook.js", join(here, "agent-cook.js"), 0o755],
]);
