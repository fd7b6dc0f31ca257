// Loads the extension into a stub of pi's API, plays a session, and prints what it was given.
import { execFileSync } from "node:child_process";
const { default: extension } = await import(process.argv[2]);
const handlers = {};
const sent = [];
const notes = [];
let entries = 0;
extension({
  on: (name, handler) => (handlers[name] = handler),
  sendMessage: (message, options) => sent.push({ ...message, ...options }),
});
const context = {
  cwd: process.cwd(),
  hasUI: true,
  ui: { notify: (text) => notes.push(text) },
  sessionManager: { getSessionId: () => "pi-session", getEntries: () => ({ length: entries++ }) },
  getContextUsage: () => ({ tokens: 90, contextWindow: 100, percent: 90 }),
};
const fire = (name, event = {}) => handlers[name]({ type: name, ...event }, context);
const out = { handlers: Object.keys(handlers).sort() };
await fire("session_start", { reason: "startup" });
await handlers.input({ type: "input", text: "go", source: "interactive" });
out.first = await fire("before_agent_start", { prompt: "go" });
out.second = await fire("before_agent_start", { prompt: "go" });
const call = (id, command) => ({ toolName: "bash", toolCallId: id, input: { command } });
out.allowed = await fire("tool_call", call("1", "cook next --take"));
// The command is run, with the variable that pi sets for its shell.
execFileSync("cook", ["next", "--take"], { env: { ...process.env, PI_SESSION_ID: "pi-session" } });
out.result = await fire("tool_result", { ...call("1", "cook next --take"), content: [{ type: "text", text: "said" }], isError: false });
out.denied = await fire("tool_call", { toolName: "write", toolCallId: "2", input: { path: ".agent/state.json", content: "" } });
const turn = { turnIndex: 1, message: { role: "assistant", content: [{ type: "text", text: "I go on with the parser" }] }, toolResults: [{}] };
await fire("turn_end", turn);
await fire("session_before_compact");
await fire("session_compact");
out.after = await fire("before_agent_start", { prompt: "go on" });
await fire("agent_end", { messages: [] });
out.sent = sent;
out.notes = notes;
await fire("session_shutdown", { reason: "quit" });
console.log(JSON.stringify(out));
