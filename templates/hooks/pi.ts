// The hooks of cook for pi: each event goes to `cook hook pi` as JSON, its answer is carried out here.
import type { ExtensionAPI, ExtensionContext } from "@mariozechner/pi-coding-agent";
import { spawn } from "node:child_process";

type Answer = { context?: string; deny?: string; block?: string; notice?: string };

const ask = (cwd: string, event: Record<string, unknown>) =>
  new Promise<Answer>((resolve) => {
    let out = "";
    const child = spawn("cook", ["hook", "pi"], { cwd, stdio: ["pipe", "pipe", "ignore"], timeout: 15_000 });
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
    child.stdin.end(JSON.stringify({ cwd, ...event }));
  });

const words = (message: unknown): string => {
  const content = (message as { content?: unknown } | undefined)?.content;
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((part) => (part?.type === "text" ? part.text : "")).join("") : "";
};

export default function cook(pi: ExtensionAPI) {
  let last = "";
  let typed = true;
  const send = async (ctx: ExtensionContext, event: string, more: Record<string, unknown> = {}) => {
    const percent = ctx.getContextUsage?.()?.percent ?? undefined;
    const session = ctx.sessionManager.getSessionId();
    // The same in a second copy of this extension, another one after each message.
    const turn = String(ctx.sessionManager.getEntries().length);
    const answer = await ask(ctx.cwd, { event, session, turn, percent, last_message: last || undefined, ...more });
    if (answer.notice && ctx.hasUI) ctx.ui.notify(answer.notice, "info");
    return answer;
  };
  const say = (content: string) => ({ customType: "cook", content, display: false });

  pi.on("session_start", async (event, ctx) => void (await send(ctx, "session_start", { source: event.reason })));
  pi.on("input", async (event) => {
    typed = event.source !== "extension";
    return { action: "continue" };
  });
  pi.on("before_agent_start", async (event, ctx) => {
    const { context } = await send(ctx, "prompt", { prompt: event.prompt, typed });
    return context ? { message: say(context) } : undefined;
  });
  pi.on("tool_call", async (event, ctx) => {
    const { deny } = await send(ctx, "before_tool", { tool: event.toolName, call_id: event.toolCallId, args: event.input });
    return deny ? { block: true, reason: deny } : undefined;
  });
  pi.on("tool_result", async (event, ctx) => {
    const more = { tool: event.toolName, call_id: event.toolCallId, args: event.input, failed: event.isError };
    const { context } = await send(ctx, "after_tool", more);
    return context ? { content: [...event.content, { type: "text", text: context }] } : undefined;
  });
  pi.on("turn_end", async (event, ctx) => {
    last = words(event.message) || last;
    if (event.toolResults.length === 0) return;
    const { context } = await send(ctx, "turn_end");
    if (context) pi.sendMessage(say(context), { deliverAs: "steer" });
  });
  pi.on("session_before_compact", async (_, ctx) => void (await send(ctx, "before_compact")));
  pi.on("session_compact", async (_, ctx) => void (await send(ctx, "after_compact")));
  pi.on("agent_end", async (_, ctx) => {
    const { block } = await send(ctx, "stop");
    if (block) pi.sendMessage(say(block), { deliverAs: "followUp", triggerTurn: true });
  });
  pi.on("session_shutdown", async (_, ctx) => void (await send(ctx, "session_end")));
}
