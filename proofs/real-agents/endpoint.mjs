// A model on loopback that plays the roles of a small job, in the four protocols that agents speak: OpenAI's chat
// completions and responses, Anthropic's messages, Gemini's content. Node's own library alone.
//
//   node endpoint.mjs PORT_FILE PART ROOT [PLAY]
//
// PART (part.sh) says what a role reports and what an implementer runs, in the repository ROOT. What it counted is at
// GET /counted; POST /control takes {"hang": LINE}: an implementer's session then runs that;
// {"fail": 529}: every request of a session is answered so; {"reset": true}: it counts anew; {"tell": TEXT}: a play is told that.
// PLAY (tools.mjs, stops.mjs, abilities.mjs) answers in place of that, or is silent; what it noted is at GET /noted. ENDPOINT_LOG names a file
// that gets every request.
import { execFileSync } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { appendFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";

const [portFile, part, root, playFile] = process.argv.slice(2);
const play = playFile && (await import(pathToFileURL(playFile)));
const SHELLS = ["Bash", "bash", "exec_command", "shell_command", "shell", "run_shell_command", "run_commands"];
/** Tokens of every request, in and out, where a play says nothing else. */
const TAKEN = [120, 15];
const ROLE = /^# Role: completion-([a-z-]+)/m;

let hang = "";
let fail = 0;
let tell = "";
let counted;
const sessions = new Map();
const begun = new Map();
let noted;
const reset = () => {
  counted = { requests: 0, input: 0, output: 0, beside: 0, failed: 0 };
  noted = {};
};
reset();

// ---- what is asked -----------------------------------------------------------------------------

const texts = (value) => {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(texts).filter(Boolean).join("\n");
  if (!value || typeof value !== "object") return "";
  return texts(value.text ?? value.parts ?? value.content ?? value.output ?? value.functionResponse?.response ?? value.error ?? "");
};

/** What the model called in one item of the conversation, as { name, args }. */
function callsOf(item) {
  const blocks = Array.isArray(item.content ?? item.parts) ? (item.content ?? item.parts) : [];
  const list = [item, ...blocks, ...(item.tool_calls ?? [])].map((one) => one.function ?? one.functionCall ?? one);
  const args = (one) => one.input ?? one.args ?? one.arguments ?? {};
  return list
    .filter((one) => typeof one.name === "string" && !/result|output/.test(one.type ?? "") && one.response === undefined)
    .map((one) => ({ name: one.namespace ? `${one.namespace}__${one.name}` : one.name, args: typeof args(one) === "string" ? JSON.parse(args(one) || "{}") : args(one) }));
}

/** The conversation as [who, text, calls], where `tool` is what a tool gave back. */
function turnsOf(api, body) {
  const items = { chat: body.messages, anthropic: body.messages, responses: body.input, gemini: body.contents }[api];
  const list = typeof items === "string" ? [{ role: "user", content: items }] : (items ?? []);
  return list.flatMap((item) => {
    const blocks = item.content ?? item.parts ?? [];
    const isResult = (block) => block?.type === "tool_result" || block?.functionResponse;
    if (item.role === "tool" || /call_output$/.test(item.type ?? "")) return [["tool", texts(item)]];
    if (Array.isArray(blocks) && blocks.some(isResult)) return [["tool", texts(blocks.filter(isResult))]];
    if (item.role === "user") return [["user", texts(blocks)]];
    return item.role === "system" || item.role === "developer" ? [] : [["model", texts(blocks), callsOf(item)]];
  });
}

function toolsOf(body) {
  const inside = (tool) => tool.tools?.map((one) => ({ namespace: tool.name, ...(one.function ?? one) }));
  const flat = (body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? inside(tool) ?? [tool.function ?? tool]);
  return flat.map((tool) => ({
    name: tool.name ?? "",
    namespace: tool.namespace,
    schema: tool.parameters ?? tool.input_schema ?? tool.parametersJsonSchema ?? {},
  }));
}

// ---- what is answered --------------------------------------------------------------------------

/** A call of the agent's own shell, with what else that tool wants to be told. */
function shell(tools, line) {
  const tool = SHELLS.map((name) => tools.find((tool) => tool.name === name)).find(Boolean);
  if (!tool) return undefined;
  const wanted = tool.schema.properties ?? { command: {} };
  const key = ["command", "cmd", "script", "commands"].find((name) => name in wanted) ?? "command";
  const words = key === "commands" ? [line] : ["bash", "-c", line];
  const args = { [key]: wanted[key]?.type === "array" ? words : line };
  for (const name of tool.schema.required ?? []) {
    const type = wanted[name]?.type;
    args[name] ??= wanted[name]?.enum?.[0] ?? (type === "boolean" ? false : /number|integer/.test(type) ? 600000 : "the job");
  }
  return { id: `call_${randomUUID().slice(0, 8)}`, name: tool.name, args };
}

const run = (...args) => execFileSync("bash", [part, ...args], { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

function answer(turns, tools, digest) {
  const last = turns.findLastIndex(([who, text]) => who === "user" && (ROLE.test(text) || /Say plum/.test(text)));
  const prompt = last < 0 ? "" : turns[last][1];
  const done = turns.slice(last + 1).filter(([who], at, all) => who === "tool" && all[at - 1]?.[0] !== "tool").length;
  const role = prompt.match(ROLE)?.[1];
  if (tools.length === 0 || !role) return { beside: tools.length === 0, text: /Say plum/.test(prompt) ? "plum" : "A job" };
  // A request that is sent again is the same one; a later one belongs to the session that its prompt began.
  const key = `${role} ${createHash("sha256").update(prompt).digest("hex")}`;
  if (done === 0 && !begun.has(digest)) {
    sessions.set(role, (sessions.get(role) ?? 0) + 1);
    begun.set(digest, sessions.get(role));
    begun.set(key, sessions.get(role));
  }
  const number = String(begun.get(digest) ?? begun.get(key) ?? 1);
  if (role === "implementer" && hang) {
    return { call: shell(tools, hang) };
  }
  if (role === "implementer" && done === 0) {
    const call = shell(tools, `bash .work/part.sh work ${number}`);
    return call ? { call } : { text: "there is no shell" };
  }
  return { text: run("report", role, number) };
}

// ---- how each protocol says it -----------------------------------------------------------------

const id = (prefix) => prefix + randomUUID().replaceAll("-", "").slice(0, 16);

const SPEAKERS = {
  chat(model, { text, call, taken }) {
    const usage = { prompt_tokens: taken[0], completion_tokens: taken[1], total_tokens: taken[0] + taken[1] };
    const calls = call && [{ index: 0, id: call.id, type: "function", function: { name: call.name, arguments: JSON.stringify(call.args) } }];
    const head = { id: id("chatcmpl-"), created: Math.floor(Date.now() / 1000), model };
    const reason = call ? "tool_calls" : "stop";
    const message = { role: "assistant", content: text ?? "", ...(calls ? { tool_calls: calls } : {}) };
    const piece = (delta, finish_reason, more) => [null, { ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }], ...more }];
    return {
      whole: { ...head, object: "chat.completion", usage, choices: [{ index: 0, message, finish_reason: reason }] },
      stream: [piece(message, null), piece({}, reason, { usage }), [null, "[DONE]"]],
    };
  },
  responses(model, { text, call, taken }) {
    const head = { id: id("resp_"), object: "response", created_at: Math.floor(Date.now() / 1000), model, status: "in_progress", output: [] };
    const item = call
      ? { type: "function_call", id: id("fc_"), call_id: call.id, name: call.name, namespace: call.namespace, arguments: JSON.stringify(call.args), status: "completed" }
      : { type: "message", id: id("msg_"), role: "assistant", status: "completed", content: [{ type: "output_text", text, annotations: [] }] };
    const usage = {
      input_tokens: taken[0], input_tokens_details: { cached_tokens: 0 },
      output_tokens: taken[1], output_tokens_details: { reasoning_tokens: 0 }, total_tokens: taken[0] + taken[1],
    };
    const whole = { ...head, status: "completed", output: [item], usage };
    const events = [["response.created", { response: head }]];
    events.push(["response.output_item.added", { output_index: 0, item: { ...item, status: "in_progress", ...(call ? { arguments: "" } : { content: [] }) } }]);
    if (!call) events.push(["response.output_text.delta", { item_id: item.id, output_index: 0, content_index: 0, delta: text }]);
    events.push(["response.output_item.done", { output_index: 0, item }], ["response.completed", { response: whole }]);
    return { whole, stream: events.map(([type, data], at) => [type, { type, sequence_number: at, ...data }]) };
  },
  anthropic(model, { text, call, taken }) {
    const usage = { input_tokens: taken[0], output_tokens: taken[1] };
    const head = { id: id("msg_"), type: "message", role: "assistant", model, stop_sequence: null };
    const block = call ? { type: "tool_use", id: call.id, name: call.name, input: call.args } : { type: "text", text };
    const stop_reason = call ? "tool_use" : "end_turn";
    const delta = call ? { type: "input_json_delta", partial_json: JSON.stringify(call.args) } : { type: "text_delta", text };
    const events = [
      ["message_start", { message: { ...head, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } } }],
      ["content_block_start", { index: 0, content_block: call ? { ...block, input: {} } : { ...block, text: "" } }],
      ["content_block_delta", { index: 0, delta }],
      ["content_block_stop", { index: 0 }],
      ["message_delta", { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: taken[1] } }],
      ["message_stop", {}],
    ];
    return { whole: { ...head, content: [block], stop_reason, usage }, stream: events.map(([type, data]) => [type, { type, ...data }]) };
  },
  gemini(model, { text, call, taken }) {
    const parts = [call ? { functionCall: { id: call.id, name: call.name, args: call.args } } : { text }];
    const whole = {
      candidates: [{ index: 0, content: { role: "model", parts }, finishReason: "STOP" }],
      modelVersion: model,
      usageMetadata: { promptTokenCount: taken[0], candidatesTokenCount: taken[1], totalTokenCount: taken[0] + taken[1] },
    };
    return { whole, stream: [[null, whole]] };
  },
};

const apiOf = (path) =>
  /\/chat\/completions$/.test(path) ? "chat" : /\/responses$/.test(path) ? "responses" : /\/messages$/.test(path) ? "anthropic" : /enerateContent$/.test(path) ? "gemini" : undefined;

function send(response, status, value) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

function serve(request, response, raw) {
  const path = request.url.split("?")[0];
  if (path === "/counted") return send(response, 200, counted);
  if (path === "/noted") return send(response, 200, noted);
  if (request.method === "GET") {
    return send(response, 200, { object: "list", data: [{ id: "mock-model", object: "model", created: 0 }], models: [], has_more: false });
  }
  const body = raw.length ? JSON.parse(raw) : {};
  if (path === "/control") {
    if ("hang" in body) hang = body.hang;
    if ("fail" in body) fail = body.fail;
    if ("tell" in body) tell = body.tell;
    if (body.reset) reset();
    return send(response, 200, {});
  }
  if (/count_?tokens$/i.test(path)) return send(response, 200, { input_tokens: TAKEN[0], totalTokens: TAKEN[0] });
  const api = apiOf(path);
  if (!api) return send(response, 404, { error: { message: `nothing is at ${path}`, type: "not_found" } });
  const tools = toolsOf(body);
  const turns = turnsOf(api, body);
  if (process.env.ENDPOINT_LOG) appendFileSync(process.env.ENDPOINT_LOG, JSON.stringify({ path, turns, body }) + "\n");
  const said = play
    ? play.answer({ turns, tools, body, noted, tell, run, shell: (line) => shell(tools, line) })
    : answer(turns, tools, createHash("sha256").update(raw).digest("hex"));
  if (said.silent) return;
  if (fail && !said.beside) {
    counted.failed += 1;
    const words = { 401: "invalid api key", 429: "rate limit reached", 529: "overloaded" }[fail] ?? "no";
    return send(response, fail, { type: "error", error: { type: "error", message: words, code: fail } });
  }
  said.taken ??= TAKEN;
  if (said.beside) counted.beside += 1;
  else {
    counted.requests += 1;
    counted.input += said.taken[0];
    counted.output += said.taken[1];
  }
  const model = body.model ?? path.split("/").pop().split(":")[0];
  const { whole, stream } = SPEAKERS[api](model, said);
  if (!body.stream && !/:streamGenerateContent$/.test(path)) return send(response, 200, whole);
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const [event, data] of stream) {
    response.write(`${event ? `event: ${event}\n` : ""}data: ${data === "[DONE]" ? data : JSON.stringify(data)}\n\n`);
  }
  response.end();
}

const server = createServer((request, response) => {
  const pieces = [];
  request.on("data", (piece) => pieces.push(piece));
  request.on("end", () => {
    try {
      serve(request, response, Buffer.concat(pieces));
    } catch (error) {
      console.error(error);
      send(response, 500, { error: { message: String(error), type: "endpoint" } });
    }
  });
});
server.listen(0, "127.0.0.1", () => {
  writeFileSync(`${portFile}.new`, String(server.address().port));
  renameSync(`${portFile}.new`, portFile);
});
