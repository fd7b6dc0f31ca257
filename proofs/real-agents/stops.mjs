// A model that says that it is finished, while its commit may be a lie. The user's words name the story, as
// "(story: bent)". It mends the lie only when it is told by the code what is wrong; "(story: bent, kept)" never.
// By POST /control {"tell": "loop 3"} it works in the program's own goal loop, which is told (by a tool of it, or by its judge, who
// goes by the model's words) that its goal is reached only when the model says so for the third time; by "loop 1" already at the lie.
import { randomUUID } from "node:crypto";

const STORY = /\(story: (\w+)(, kept)?\)/;
const TOLD = {
  bent: "[pass_to_fail]",
  uncommitted: "[gate_needs_uncommitted]",
  missed: "`node --test test/fourfold.test.js`",
};
/** What the judge of a loop is asked, as Claude Code and Qwen Code say it; and what is asked beside the work, with all tools. */
const JUDGED = /stopping condition been satisfied|You are an independent Goal Verifier/;
const BESIDE = /^\[SUGGESTION MODE/;
const REASON = "It says that it is finished.";

/** A judge that believes what it was told: that it is finished. */
function judge(asked, noted, trusted) {
  const ok = trusted > 0 && noted.finished >= trusted;
  (noted.judged ??= []).push(ok);
  const verdict = /Verifier/.test(asked) ? { decision: ok ? "accept" : "reject" } : { ok };
  return { beside: true, text: JSON.stringify({ ...verdict, reason: ok ? REASON : "It is not certain." }) };
}

/** Tells the loop by its tool that the goal is reached. */
function claim(tool) {
  return { call: { id: `call_${randomUUID().slice(0, 8)}`, name: tool.name, namespace: tool.namespace, args: { status: "complete", ...("reason" in (tool.schema.properties ?? {}) ? { reason: REASON } : {}) } } };
}

export function answer({ turns, tools, body, noted, tell, shell }) {
  const trusted = Number(tell.match(/^loop (\d)$/)?.[1] ?? 0);
  const asked = JSON.stringify(body).match(JUDGED)?.[0];
  if (asked && tools.length === 0) return judge(asked, noted, trusted);
  // A loop says the words that began it again and again.
  const at = turns[trusted ? "findIndex" : "findLastIndex"](([who, text]) => who === "user" && STORY.test(text));
  if (at < 0 || tools.length === 0 || BESIDE.test(turns.at(-1)[1])) return { beside: true, text: "A job" };
  const [, story, kept] = turns[at][1].match(STORY);
  const since = turns.slice(at + 1);
  const calls = since.flatMap(([, , calls]) => calls ?? []);
  const isClaim = (turn) => turn?.[2]?.some(({ name }) => /update_goal$/.test(name));
  const claimed = since.filter((_, at) => isClaim(since[at - 1])).map(([, text]) => text);
  const refused = claimed.filter((text) => text.includes("cook goal: not reached"));
  const shells = calls.length - since.filter(isClaim).length;
  if (claimed.length) noted.claimed = claimed.at(-1);
  // A claim that was refused is as good as having said it.
  const said = since.filter(([who, text, calls]) => who === "model" && text && !calls.length).length + refused.length;
  // What came after it had said that it is finished.
  const first = since.findIndex(([who, , calls]) => who === "model" && !calls.length);
  const later = first < 0 ? [] : since.slice(first).filter(([who]) => who === "user").map(([, text]) => text);
  const heard = [...refused, ...later];
  noted.finished = said + (since.at(-1)?.[0] === "tool" || since.at(-1)?.[0] === "user" ? 1 : 0);
  noted.heard = heard;
  const work = (what) => ({ call: shell(`bash .work/lie.sh ${what}`) });
  if (shells === 0) return work(story);
  const told = heard.some((text) => TOLD[story] && text.includes(TOLD[story]));
  if (told && shells === 1 && !kept) return work(`${story}-mended`);
  const loop = tools.find(({ name }) => /update_goal$/.test(name));
  if (loop && trusted && noted.finished >= trusted && claimed.length === Math.min(refused.length, shells - 1)) return claim(loop);
  return { text: shells > 1 ? "It is mended and finished." : "It is finished." };
}
