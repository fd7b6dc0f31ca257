// A worker: worker.mjs PORT CLONE. Serves the virtual object `cook`, whose key is REMOTE#BRANCH. Restate lets one
// invocation of a key run at a time; where its worker dies, another one behind the same address takes it over.
import { execFileSync, spawn } from "node:child_process";
import * as restate from "@restatedev/restate-sdk";

const [port, clone] = process.argv.slice(2);
const wait = Number(process.env.COOK_WAIT ?? 60);
const git = (...words) => execFileSync("git", words, { cwd: clone, encoding: "utf8" }).trim();

const step = () =>
  new Promise((resolve, reject) => {
    const child = spawn("cook", ["run", "--once", "--from", "origin"], { cwd: clone, stdio: "inherit" });
    child.on("error", reject);
    child.on("close", (code, signal) => (code === null ? reject(new Error(`ended by ${signal}`)) : resolve(code)));
  });

const work = async (ctx) => {
  const here = `${git("remote", "get-url", "origin")}#${git("branch", "--show-current")}`;
  if (ctx.key !== here) throw new restate.TerminalError(`this worker's clone is of ${here}`);
  for (;;) {
    const code = await ctx.run("cook run --once", step);
    if (code === 13) return "done";
    if ([3, 5, 10, 11, 12].includes(code)) await ctx.sleep({ seconds: wait });
    else if (code !== 0 && code !== 7) throw new restate.TerminalError(`cook run --once ended with ${code}`);
  }
};

// A session says nothing to Restate for as long as it takes, and is not to be begun again meanwhile.
const options = { inactivityTimeout: { hours: 6 }, abortTimeout: { hours: 1 } };
await restate.serve({ services: [restate.object({ name: "cook", handlers: { work }, options })], port: Number(port) });
