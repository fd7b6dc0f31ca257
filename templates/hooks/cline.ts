// The hooks of cook for Cline: each event goes to `cook hook cline` as JSON, its answer is carried out here.
import type { AgentExtension, AgentRuntimeStateSnapshot } from "@cline/shared";
import { spawn } from "node:child_process";

type Answer = { context?: string; deny?: string };

const ask = (cwd: string | undefined, event: Record<string, unknown>) =>
  new Promise<Answer>((resolve) => {
    let out = "";
    const child = spawn("cook", ["hook", "cline"], { cwd, stdio: ["pipe", "pipe", "ignore"], timeout: 15_000 });
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

const words = (content: readonly unknown[] | undefined) =>
  (content ?? []).map((part) => (part as { text?: string }).text ?? "").join("").replace(/^<user_input[^>]*>([^]*)<\/user_input>$/, "$1");

let cwd: string | undefined;
let session: string | undefined;
const send = (snapshot: AgentRuntimeStateSnapshot, event: string, more: Record<string, unknown> = {}) => {
  const turn = `${snapshot.runId}-${snapshot.iteration}`;
  return ask(cwd, { event, session: session ?? snapshot.conversationId, turn, subagent: Boolean(snapshot.parentAgentId), ...more });
};

const plugin: AgentExtension = {
  name: "cook",
  manifest: { capabilities: ["hooks"] },
  setup: async (_, context) => {
    cwd = context.workspaceInfo?.rootPath;
    session = context.session?.sessionId;
    if (session) await ask(cwd, { event: "session_start", session, source: "startup" });
  },
  hooks: {
    beforeRun: async ({ snapshot }) => {
      const { messages, parentAgentId } = snapshot;
      const { context } = await send(snapshot, "prompt", { prompt: words(messages.at(-1)?.content), typed: !parentAgentId });
      return context ? { appendContext: context } : undefined;
    },
    beforeTool: async ({ snapshot, toolCall, input }) => {
      const { deny } = await send(snapshot, "before_tool", { tool: toolCall.toolName, call_id: toolCall.toolCallId, args: input });
      return deny ? { skip: true, reason: deny } : undefined;
    },
    afterTool: async ({ snapshot, toolCall, input, result }) => {
      const more = { tool: toolCall.toolName, call_id: toolCall.toolCallId, args: input, failed: result.isError === true };
      const { context } = await send(snapshot, "after_tool", more);
      return context ? { appendContext: context } : undefined;
    },
    afterRun: async ({ snapshot, result }) => {
      if (result.status === "completed") await send(snapshot, "stop", { last_message: result.outputText });
    },
  },
};
export default plugin;
