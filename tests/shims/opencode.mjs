// Loads the plugin into a stub of opencode's API, plays a session, and prints what it was given.
import { execFileSync } from "node:child_process";
const { CookPlugin } = await import(process.argv[2]);
const prompted = [];
const toasts = [];
const client = {
  tui: { showToast: async ({ body }) => toasts.push(body.message) },
  session: { prompt: async (call) => prompted.push(call) },
};
const hooks = await CookPlugin({ client, directory: process.cwd() });
const out = { hooks: Object.keys(hooks).sort() };
const sessionID = "opencode-session";
await hooks.event({ event: { type: "session.created", properties: { info: { id: sessionID } } } });
await hooks.event({ event: { type: "session.created", properties: { info: { id: "child", parentID: sessionID } } } });
const say = async (id, text) => {
  const parts = [{ type: "text", text }];
  await hooks["chat.message"]({ sessionID: id, messageID: `m-${text}` }, { message: {}, parts });
  return parts[0].text;
};
out.child = await say("child", "by a sub-agent");
out.first = await say(sessionID, "go");
out.second = await say(sessionID, "again");
const call = { tool: "bash", sessionID, callID: "1" };
const args = { command: "cook next --take" };
await hooks["tool.execute.before"](call, { args });
// The command is run, with a variable that opencode sets for its shell.
execFileSync("cook", ["next", "--take"], { env: { ...process.env, OPENCODE: "1" } });
const result = { title: "", output: "said", metadata: {} };
await hooks["tool.execute.after"]({ ...call, args }, result);
out.result = result.output;
out.denied = await hooks["tool.execute.before"]({ tool: "write", sessionID, callID: "2" }, { args: { filePath: ".agent/state.json" } })
  .then(() => null, (error) => error.message);
await hooks["chat.params"]({ sessionID, model: { limit: { context: 100 } } });
const tokens = { input: 80, output: 6, cache: { read: 4, write: 0 } };
await hooks.event({ event: { type: "message.updated", properties: { info: { id: "m", role: "assistant", sessionID, tokens } } } });
const compacting = { context: [] };
await hooks["experimental.session.compacting"]({ sessionID }, compacting);
out.compacting = compacting.context;
await hooks.event({ event: { type: "session.compacted", properties: { sessionID } } });
await hooks.event({ event: { type: "session.idle", properties: { sessionID } } });
await hooks.event({ event: { type: "session.deleted", properties: { info: { id: sessionID } } } });
console.log(JSON.stringify({ ...out, prompted, toasts }));
