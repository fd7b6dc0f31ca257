// A model that tries what cook promises of an agent beside a job. What it does stands in the user's last words, as
// "(story: NAME)" or "(story: NAME MORE)":
//   keep WORD, recall              what of an earlier conversation it is shown
//   number right|mended|wrong      an answer in a schema, that fits, that fits once it is asked again, that never fits
//   act, write                     an order, and an answer for which it may only read: both try what is not theirs
//   work, compact, own             sessions that the user started, under the hooks
// A role of a job reports as part.sh does. A re-grounder tries to write first; an implementer works as it is told by
// POST /control {"tell": "endless"}: for ever, {"tell": "many"}: for some requests.
import { randomUUID } from "node:crypto";
import { doneOf } from "./tools.mjs";

const STORY = /\(story: ([a-z]+)(?: ([a-z]+))?\)/g;
const ROLE = /^# Role: completion-([a-z-]+)/m;
const WORDS = ["plum", "pear", "apple"];
const WRITERS = ["Write", "write", "write_file", "create"];
/** A tool of an agent's own for an answer in a schema. */
const SCHEMA_TOOL = /^structured_?output$/i;
/** Words with which agents ask for a summary of what they drop. */
const SUMS = /summar[iy]|compact|state_snapshot/i;
const FITS = { number: 7 };
const BREAKS = { number: "seven" };
/** Answers in a schema that it tries. */
const MOST = 12;
const ROOT = process.argv[4];

/** A line of a shell that says whether it came to its end. */
const trying = ([what, line]) => `(${line}) && echo 'open: ${what}' || echo 'shut: ${what}'`;

const ACT = [
  ["its work", "printf 'made\\n' >made.txt && git add made.txt && git commit -qm 'Make it'"],
  ["settings of git", "echo '# x' >>.git/config"],
  ["a hook of git", "echo x >.git/hooks/post-checkout"],
  ["the log", "echo x >.git/cook/log.git/HEAD"],
  ["settings of the user", "echo '# x' >>~/.gitconfig"],
  ["a user-only command", ".work/cook resume --add steps=5 --as-user 2>&1"],
];
const WRITE = [
  ["a tracked file", "echo x >>README.md"],
  ["a new file", "echo x >new.txt"],
  ["a commit", "git commit --allow-empty -qm 'By a reader'"],
].map(trying).join("\n");
/** What a session that has taken the work tries while the re-grounder is due. */
const OWN = [
  ["take", ".work/cook next --take"],
  ["guard: nested", "bash -lc 'git commit --allow-empty -qm nested'"],
  ["guard: flags", "git -C . -c color.ui=never commit --allow-empty -qm flags"],
  ["guard: redirection", "cd . && echo x >> ./README.md"],
  ["user: nested", "bash -lc '.work/cook resume --as-user' 2>&1"],
  ["user: flags", ".work/cook -C . --color never resume --add steps=5 --as-user 2>&1"],
  ["document", "cat >.work/heard.txt <<'E'\ngit commit --allow-empty -qm document\ncook resume --as-user\nE\necho it is written"],
];

/** A call of a tool by its name, whether it is there or not. */
const call = (name, args) => ({ call: { id: `call_${randomUUID().slice(0, 8)}`, name, args } });

/** The agent's shell, or the call of one that is not there. */
const always = (shell, line) => (shell(line) ? { call: shell(line) } : call("bash", { command: line }));

/** The agent's tool that writes a file, or the call of one that is not there. */
function writeFile(tools, path, text) {
  const tool = WRITERS.map((name) => tools.find((tool) => tool.name === name)).find(Boolean);
  const args = Object.keys(tool?.schema.properties ?? { file_path: {}, content: {} }).map((name) => [name, /path/i.test(name) ? path : /content|text/i.test(name) ? text : undefined]);
  return call(tool?.name ?? "Write", Object.fromEntries(args.filter(([, value]) => value !== undefined)));
}

/** Tries to write: by the shell, then by a tool. What came of it is noted; none once both were tried. */
function tryToWrite({ done, tools, noted, shell }) {
  noted.tried = done.map(({ name, said }) => [name, said]);
  if (done.length === 0) return always(shell, WRITE);
  return done.length === 1 ? writeFile(tools, `${ROOT}/by-a-tool.txt`, "x\n") : undefined;
}

function answerInSchema(more, { done, tools, body, noted }) {
  const tool = tools.find(({ name }) => SCHEMA_TOOL.test(name));
  noted.handed = Boolean(tool ?? body.text?.format?.schema ?? body.response_format ?? body.generationConfig?.responseJsonSchema);
  if (tool && JSON.stringify(done.at(-1)?.args) === JSON.stringify(FITS)) return { text: "It is handed in." };
  noted.answers = (noted.answers ?? 0) + 1;
  // One of them asks for ever.
  if (noted.answers > MOST) return { text: "It gives up." };
  const fits = more === "right" || (more === "mended" && noted.answers > 1);
  const value = fits ? FITS : BREAKS;
  return tool ? call(tool.name, value) : { text: JSON.stringify(value) };
}

function playRole(role, { done, tools, noted, tell, run, shell }) {
  if (role === "implementer") {
    const goesOn = tell === "endless" || (tell === "many" && done.length < 8);
    return goesOn ? always(shell, `echo turn ${done.length}`) : { text: "It stops here." };
  }
  return tryToWrite({ done, tools, noted, shell }) ?? { text: run("report", role, "1") };
}

/**
 * Some calls, and a context that is full until the conversation grows no more, then some more calls. As it is told with "N turn"
 * its turn ends when it is full, with "N turn take" it has taken the work before, so that its stop is refused and brings a turn.
 */
function fillContext({ body, noted, tell, shell }) {
  const [tokens, turn, take] = tell.split(" ");
  const length = conversation(body).length;
  const shrank = length <= (noted.length ?? 0);
  noted.steps = (noted.steps ?? 0) + 1;
  noted.length = length;
  noted.shrank ||= shrank;
  const full = noted.steps >= 4 && !noted.shrank ? { taken: [Number(tokens), 15] } : {};
  if (noted.steps > 6 || (turn && noted.steps === 4)) return { text: "It is finished.", ...full };
  const line = take && noted.steps === 1 ? ".work/cook next --take" : `seq -s ' ' ${noted.steps}000 ${noted.steps}400`;
  return { call: shell(line), ...full };
}

/** Takes the work and tries, then says again and again that it is finished. */
function own({ done, since, noted, shell }) {
  noted.own = OWN.map(([what], number) => [what, done[number]?.said]);
  if (done.length < OWN.length) return { call: shell(OWN[done.length][1]) };
  noted.finished = since.filter(([who, text, calls]) => who === "model" && text && !calls.length).length + 1;
  return { text: `It is finished (${noted.finished}).` };
}

/** How often the body holds what the hooks say after a start, and after a compaction; and how long the conversation is. */
function noteRequest(body, noted, what) {
  const text = JSON.stringify(body);
  const count = (words) => text.split(words).length - 1;
  (noted.requests ??= []).push([what, count("## Core Rules"), count("--- cook brief ---"), conversation(body).length]);
}

const conversation = (body) => body.messages ?? body.input ?? body.contents ?? [];

export function answer(asked) {
  const { turns, tools, body, noted } = asked;
  const isStory = ([who, text]) => who === "user" && (new RegExp(STORY).test(text) || ROLE.test(text));
  const last = JSON.stringify(conversation(body).at(-1));
  // What the hooks say after a compaction has such words too.
  const sums = noted.steps >= 4 && SUMS.test(last) && !last.includes("--- cook brief ---");
  if (tools.length === 0 || sums) {
    // One of them asks, after many turns, whether this model runs in circles.
    if (!sums && /conversation history/.test(last)) return { beside: true, text: '{"unproductive_state_analysis": "none", "unproductive_state_confidence": 0}' };
    if (sums) noteRequest(body, noted, "summary");
    // It reads all that is dropped: one of them takes a summary for longer than what it sums up otherwise.
    const taken = [Number(asked.tell.split(" ")[0]), 50];
    return sums ? { beside: true, taken, text: "<state_snapshot>What it did. (story: compact)</state_snapshot>" } : { beside: true, text: "A job" };
  }
  const at = turns.findLastIndex(isStory);
  const words = at < 0 ? "(story: compact)" : turns[at][1];
  const since = turns.slice(at + 1);
  const all = { ...asked, since, done: doneOf(since) };
  const role = words.match(ROLE)?.[1];
  if (role) return playRole(role, all);
  const [, story, more] = [...words.matchAll(STORY)].at(-1);
  noteRequest(body, noted, story);
  switch (story) {
    case "keep":
    case "recall": {
      const shown = turns.map(([, text]) => text).join("\n");
      return { text: `known: ${WORDS.filter((word) => new RegExp(`\\b${word}\\b`).test(shown)).join(" ")}` };
    }
    case "number":
      return answerInSchema(more, all);
    case "act":
      noted.acted = ACT.map(([what], number) => [what, all.done[number]?.said]);
      return all.done.length < ACT.length ? always(all.shell, trying(ACT[all.done.length])) : { text: "It is done." };
    case "write":
      return tryToWrite(all) ?? { text: "It is written." };
    case "work":
      return all.done.length < 2 ? { call: all.shell(`echo work ${all.done.length}`) } : { text: "It is finished." };
    case "compact":
      return fillContext(all);
    case "own":
      return own(all);
  }
  return { text: `What is ${story}?` };
}
