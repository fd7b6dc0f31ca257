// What the model says while streams are recorded (record.sh), by the words of the prompt; a play of
// proofs/real-agents/endpoint.mjs.
export function answer({ turns, tools, shell }) {
  const last = turns.findLastIndex(([who, text]) => who === "user" && /say something|use a tool|fail now|answer in JSON|take long/.test(text));
  const words = last < 0 ? "" : turns[last][1];
  const since = turns.slice(last + 1);
  const results = since.filter(([who]) => who === "tool").length;
  if (tools.length === 0 && !words) return { beside: true, text: "A title" };
  if (/use a tool/.test(words)) {
    return results === 0 ? { call: shell("echo seen"), taken: [30, 4] } : { text: "The tool said: seen.", taken: [50, 6] };
  }
  if (/answer in JSON/.test(words)) {
    const tool = tools.find((tool) => /structured.?output/i.test(tool.name));
    if (tool && results === 0) return { call: { id: "call_1", name: tool.name, args: { ok: true } }, taken: [25, 5] };
    return { text: '{"ok":true}', taken: [25, 5] };
  }
  if (/take long/.test(words)) return { silent: true };
  // A stop that was refused comes back as a prompt.
  const refused = turns.slice(last + 1).some(([who, text]) => who === "user" && /not yet/.test(text));
  return { text: refused ? "A second answer." : "A plain answer.", taken: [20, 3] };
}
