// A model that says that it is finished, while its commit may be a lie. The user's words name the story, as
// "(story: bent)". It mends the lie only when it is told by the code what is wrong; "(story: bent, kept)" never.
const STORY = /\(story: (\w+)(, kept)?\)/;
const TOLD = {
  bent: "[pass_to_fail]",
  uncommitted: "[gate_needs_uncommitted]",
  missed: "`node --test test/fourfold.test.js`",
};

export function answer({ turns, tools, noted, shell }) {
  const at = turns.findLastIndex(([who, text]) => who === "user" && STORY.test(text));
  if (at < 0 || tools.length === 0) return { beside: true, text: "A job" };
  const [, story, kept] = turns[at][1].match(STORY);
  const since = turns.slice(at + 1);
  const shells = since.flatMap(([, , calls]) => calls ?? []).length;
  const said = since.filter(([who, text, calls]) => who === "model" && text && !calls.length).length;
  // What came after it had said that it is finished.
  const first = since.findIndex(([who, , calls]) => who === "model" && !calls.length);
  const heard = first < 0 ? [] : since.slice(first).filter(([who]) => who === "user").map(([, text]) => text);
  noted.finished = said + (since.at(-1)?.[0] === "tool" || since.at(-1)?.[0] === "user" ? 1 : 0);
  noted.heard = heard;
  const work = (what) => ({ call: shell(`bash .work/lie.sh ${what}`) });
  if (shells === 0) return work(story);
  const told = heard.some((text) => TOLD[story] && text.includes(TOLD[story]));
  if (told && shells === 1 && !kept) return work(`${story}-mended`);
  return { text: shells > 1 ? "It is mended and finished." : "It is finished." };
}
