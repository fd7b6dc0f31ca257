// A model that does a job through cook's tools alone: it goes by what they answered, and knows nothing of the job
// but what it reports and runs (part.sh). Which of three things it does stands in the user's words:
//   (story: one)     the role that is due, then it stops
//   (story: all)     role after role, until nobody is due
//   (story: user_only)   it tries what only a person may do, by tools, by arguments and by its shell
import { randomUUID } from "node:crypto";

const STORY = /\(story: (one|all|user_only)\)/;
const TOOLS = ["brief", "check", "gate", "next", "prompt", "record", "status"];
/** Also in an answer that was cut, and is no JSON any more. */
const ROLE = /^(?:.*"text":")?# Role: completion-([a-z-]+)/m;
/** Of the user alone. */
export const DOORS = [
  "trust 'bash tests/run.sh'", "trust --gates", "resume", "undo", "cancel", "plan adopt", "resume --answer yes", "plan refocus --mission less",
  "resume --add steps=5", "plan criteria amend words 1 --text anything --reason none", "brief say done",
];

/** What a tool said, as agents show it: the structured answer, or the text beside it. */
function read(text) {
  const from = text.indexOf("{");
  if (from < 0) return { text };
  try {
    const said = JSON.parse(text.slice(from, text.lastIndexOf("}") + 1));
    // One of them hands over the whole answer of the server.
    return said.structuredContent ?? (Array.isArray(said.content) && said.content[0]?.text ? read(said.content[0].text) : said);
  } catch {
    return { text };
  }
}

/** The last prompt that a tool gave, whichever way. */
const roleOf = (text) => (read(text).prompt ?? read(text).text ?? text).match(ROLE)?.[1];

/** A tool's name with that of its server, however an agent lists it. */
const full = (tool) => (tool.namespace ? `${tool.namespace}__${tool.name}` : tool.name);

/** Calls a tool that is not listed, after its schema was asked for. */
const BRIDGE = "tool_call";
const unwrap = (call) => (call.name === BRIDGE && call.args.name ? { name: call.args.name, args: call.args.arguments } : call);

/** Each call with what came of it, since the user asked. */
export function doneOf(turns) {
  const done = [];
  for (const [who, text, calls] of turns) {
    if (who === "model") done.push(...calls.map((call) => ({ ...unwrap(call), said: undefined })));
    const open = done.find((one) => one.said === undefined);
    if (who === "tool" && open) open.said = text;
  }
  return done;
}

const short = (name) => name.match(/cook[^a-z]+([a-z]+)$/)?.[1] ?? "shell";

/** A call of cook's tool of that name as this agent lists it; of one that is not there as it would be listed. */
function call(tools, name, args) {
  const any = tools.find((tool) => /cook[^a-z]*next$/.test(full(tool)));
  const id = `call_${randomUUID().slice(0, 8)}`;
  if (!any && tools.some((tool) => tool.name === BRIDGE)) return { call: { id, name: BRIDGE, args: { name: `mcp__cook__${name}`, arguments: args } } };
  if (!any) return { text: "cook's tools are not here" };
  return { call: { id, name: any.name.replace(/next$/, name), namespace: any.namespace, args } };
}

export function answer({ turns, tools, noted, run, shell }) {
  const at = turns.findLastIndex(([who, text]) => who === "user" && STORY.test(text));
  if (at < 0 || tools.length === 0) {
    // One of them asks another model, after many turns, whether this one runs in circles.
    const text = turns.some(([, text]) => /conversation history/.test(text)) ? '{"unproductive_state_analysis": "none", "unproductive_state_confidence": 0}' : "A job";
    return { beside: true, text };
  }
  const story = turns[at][1].match(STORY)[1];
  const all = doneOf(turns.slice(at + 1));
  const isSearch = ({ name }) => /^tool_?search$/i.test(name);
  // One of them lists a tool that was found never.
  const found = all.filter(isSearch).flatMap(({ said }) => [...(said ?? "").matchAll(/"name":"(mcp__cook__[a-z]+)"/g)].map(([, name]) => name));
  const named = tools.map(full).filter((name) => /cook/.test(name));
  const listed = (named.length ? named : found).map(short).sort();
  if (listed.length) noted.tools = listed;
  const done = all.filter((one) => !isSearch(one));
  // Some list tools by name only, until they are asked for them.
  const search = tools.find(isSearch);
  if (listed.length === 0 && all.length === 0 && search) {
    return { call: { id: `call_${randomUUID().slice(0, 8)}`, name: search.name, args: { query: `select:${TOOLS.map((name) => `mcp__cook__${name}`)}`, max_results: 20 } } };
  }
  if (story === "user_only") return tryUserOnly(done, tools, noted, shell);

  const last = done.at(-1);
  if (!last) return call(tools, "next", {});
  const ticket = () => read(done.findLast((one) => short(one.name) === "next").said).ticket;
  const role = () => roleOf(done.findLast((one) => short(one.name) === "prompt").said);
  const report = (more) => call(tools, "record", { role: role(), report: run("report", role(), "0"), ...more });
  const said = read(last.said);
  noted.calls = { ...noted.calls, [short(last.name)]: (noted.calls?.[short(last.name)] ?? 0) + 1 };
  switch (short(last.name)) {
    case "next":
      // It did its role, and was told to look again.
      if (said.role && /stale_ticket/.test(done.at(-2)?.said)) return report({ ticket: ticket() });
      return said.role ? call(tools, "prompt", {}) : { text: `Nobody is due: ${said.policy} ${said.reason ?? ""}` };
    case "prompt":
      if (!role()) return { text: `This is no prompt: ${last.said.slice(0, 200)}` };
      return role() === "implementer" ? { call: shell("bash .work/part.sh work 0") } : report({ check: true });
    case "shell":
      return report({ check: true });
    case "record":
      if (last.args.check) {
        if (said.valid) return report({ ticket: ticket() });
        (noted.refused ??= []).push(`${role()}: ${last.said}`);
        return { text: `It would be refused: ${last.said}` };
      }
      if (!said.operation && !said.seq) {
        (noted.refused ??= []).push(`${role()}: ${last.said}`);
        return /stale_ticket/.test(last.said) && !/stale_ticket/.test(done.at(-3)?.said) ? call(tools, "next", {}) : { text: `It was refused: ${last.said}` };
      }
      return story === "all" ? call(tools, "next", {}) : { text: `Handed in: ${role()}` };
  }
  return { text: `What is ${last.name}?` };
}

/** Each thing that it tries, in order; what came of it is noted. */
function tryUserOnly(done, tools, noted, shell) {
  const record = { role: "regrounder", report: "x" };
  const tries = [
    ["a tool undo", () => call(tools, "undo", {})],
    ["a tool resume", () => call(tools, "resume", {})],
    ["an argument as_user", () => call(tools, "record", { ...record, as_user: true })],
    ["a role --as-user", () => call(tools, "record", { ...record, role: "--as-user" })],
    ["an argument trust_repo", () => call(tools, "check", { trust_repo: true })],
    ["gates --trust-repo", () => call(tools, "gate", { names: ["--trust-repo"] })],
    ["an untrusted command", () => call(tools, "gate", { slice: "words", clean: true })],
    ...DOORS.map((line) => [`cook ${line}`, () => ({ call: shell(`.work/cook ${line} --as-user </dev/null 2>&1`) })]),
  ];
  noted.user_only = tries.map(([what], number) => [what, done[number]?.said]);
  return done.length < tries.length ? tries[done.length][1]() : { text: "None of it opens" };
}
