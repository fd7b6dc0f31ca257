// The hooks of cook for opencode: each event goes to `cook hook opencode` as JSON, its answer is carried out here.
import type { Plugin } from "@opencode-ai/plugin";
import { spawn } from "node:child_process";

type Answer = { context?: string; deny?: string; block?: string; notice?: string };

const ask = (directory: string, event: Record<string, unknown>) =>
  new Promise<Answer>((resolve) => {
    let out = "";
    const child = spawn("cook", ["hook", "opencode"], { cwd: directory, stdio: ["pipe", "pipe", "ignore"], timeout: 15_000 });
    child.on("error", () => resolve({}));
    child.stdin.on("error", () => {});
    child.stdout.on("data", (bytes) => (out += bytes));
    child.on("close", () => {
      try {
        resolve(out.trim() ? JSON.parse(out) : {});
      } catch {
        resolve({});
      }
    });
    child.stdin.end(JSON.stringify({ cwd: directory, ...event }));
  });

export const CookPlugin: Plugin = async ({ client, directory }) => {
  const children = new Set<string>();
  const windows = new Map<string, number>();
  const fed = new Set<string>();
  const answers = new Map<string, string>();
  const send = async (session: string, event: string, more: Record<string, unknown> = {}) => {
    const answer = await ask(directory, { event, session, subagent: children.has(session), ...more });
    if (answer.notice) await client.tui.showToast({ body: { message: answer.notice, variant: "info" } }).catch(() => {});
    return answer;
  };
  return {
    event: async ({ event }) => {
      if (event.type === "session.created") {
        if (event.properties.info.parentID) children.add(event.properties.info.id);
        await send(event.properties.info.id, "session_start", { source: "startup" });
      } else if (event.type === "session.compacted") {
        await send(event.properties.sessionID, "after_compact");
      } else if (event.type === "session.deleted") {
        await send(event.properties.info.id, "session_end");
      } else if (event.type === "message.updated" && event.properties.info.role === "assistant") {
        const { id, sessionID, tokens } = event.properties.info;
        answers.set(sessionID, id);
        const used = tokens.input + tokens.output + tokens.cache.read + tokens.cache.write;
        const window = windows.get(sessionID);
        if (window && used) await send(sessionID, "usage", { percent: (used / window) * 100 });
      } else if (event.type === "session.idle") {
        const id = event.properties.sessionID;
        const { block } = await send(id, "stop", { turn: answers.get(id) });
        if (!block) return;
        fed.add(block);
        await client.session.prompt({ path: { id }, body: { parts: [{ type: "text", text: block }] } }).catch(() => {});
      }
    },
    "chat.params": async ({ sessionID, model }) => {
      if (model.limit.context) windows.set(sessionID, model.limit.context);
    },
    "chat.message": async ({ sessionID, messageID }, output) => {
      const prompt = output.parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
      const { context } = await send(sessionID, "prompt", { prompt, typed: !fed.delete(prompt) && !children.has(sessionID), turn: messageID });
      const part = output.parts.find((part) => part.type === "text");
      if (context && part?.type === "text") part.text = `${part.text}\n\n${context}`;
    },
    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      const { deny } = await send(sessionID, "before_tool", { tool, call_id: callID, args });
      if (deny) throw new Error(deny);
    },
    "tool.execute.after": async ({ tool, sessionID, callID, args }, output) => {
      const { context } = await send(sessionID, "after_tool", { tool, call_id: callID, args });
      if (context) output.output = `${output.output}\n\n${context}`;
    },
    "experimental.session.compacting": async ({ sessionID }, output) => {
      const { context } = await send(sessionID, "before_compact");
      if (context) output.context.push(context);
    },
  };
};
