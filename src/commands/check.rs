//! `cook check`: checks whether the latest claim is true of this commit.

use super::context::Progress;
use super::context::*;
use super::recorded::note;
use crate::check::{Ask, Checked, Line, Runs, Truth, check, keep_said};
use crate::trial::find_laid_out;
use crate::view::Results;
use cook_protocol::trials::Weight;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

/// The maximum size of git's input to the pre-push hook in bytes.
const MAX_PUSH: u64 = 1 << 20;

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// Compare with this commit [default: where the branch left its upstream or the remote's default branch,
    /// else the previous commit]
    #[arg(long, value_name = "REF")]
    pub base: Option<String>,
    /// A commit without an option.
    #[arg(value_name = "REF", hide = true)]
    pub stray: Option<String>,
    /// Run only this gate (can be repeated)
    #[arg(long, value_name = "NAME")]
    pub gate: Vec<String>,
    /// Run no gates: look only for uncommitted changes, and report the rest as not known
    #[arg(long, conflicts_with_all = ["gate", "fast"])]
    pub no_gates: bool,
    /// Run the gates only at the commit, without comparing with the base: earlier failures count too
    #[arg(long)]
    pub fast: bool,
    /// Trust the gates of this repository for this run
    #[arg(long)]
    pub trust_repo: bool,
    /// Print the answer in this format [default: human]
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Check each commit that git's pre-push hook lists on standard input against the remote's version
    #[arg(long, conflicts_with_all = ["base", "format"])]
    pub pushed: bool,
}

pub(super) fn check_commit(context: &Context, args: &CheckArgs) -> Answer {
    if let Some(stray) = &args.stray {
        let base = format!("cook check --base {}", quote_word(stray));
        return Err(Failure::usage(format!(
            "`cook check` checks HEAD and does not take `{stray}` by itself"
        ))
        .hint(format!("to compare HEAD with it: `{base}`")));
    }
    let mut workspace = context.workspace()?;
    context::not_apart(&workspace)?;
    workspace.trust_everything = args.trust_repo;
    let asked = |commit: Option<&str>, base: Option<&str>, workspace: &mut Workspace| {
        let ask = Ask {
            base,
            commit,
            gates: &args.gate,
            runs: match (args.no_gates, args.fast) {
                (true, _) => Runs::Nothing,
                (false, true) => Runs::Head,
                (false, false) => Runs::All,
            },
        };
        let progress = Progress::begin(context.screen);
        let tell = |text: &str| progress.tell(text);
        let (mut checked, written) = context::guard(|| check(workspace, &ask, &tell))?;
        if let Some(written) = written {
            let next = written.code.hint();
            let line = Line::new(written.code, Weight::Refuses, written.message, next);
            checked.lines.insert(0, line);
        }
        Ok::<Checked, Failure>(checked.settle())
    };
    if !args.pushed {
        let checked = asked(None, args.base.as_deref(), &mut workspace)?;
        if !args.no_gates && !args.fast && args.gate.is_empty() {
            keep_said(&workspace.repo, &checked);
        }
        return answer(checked);
    }
    let mut last: Option<Checked> = None;
    for (commit, base) in read_pushed(&workspace)? {
        let checked = last.insert(asked(Some(&commit), base.as_deref(), &mut workspace)?);
        if checked.answer != Truth::True {
            break;
        }
    }
    match last {
        Some(checked) => answer(checked),
        None => note(
            "nothing_pushed",
            vec!["the push does not contain anything to check".to_owned()],
        ),
    }
}

/// The pushed commits, each with the commit that it replaces on the remote, if this clone has that one.
type Pushed = Vec<(String, Option<String>)>;

/// Parses the stdin of a pre-push hook: `LOCAL_REF LOCAL_ID REMOTE_REF REMOTE_ID`, one line per ref.
fn read_pushed(workspace: &Workspace) -> Result<Pushed> {
    let mut text = String::new();
    let read = std::io::stdin()
        .lock()
        .take(MAX_PUSH)
        .read_to_string(&mut text);
    read.map_err(|error| Failure::usage(format!("standard input cannot be read: {error}")))?;
    let named = |id: &str| match id.bytes().all(|byte| byte == b'0') {
        true => Ok(None),
        false => workspace.repo.commit_named(id),
    };
    let mut found = Pushed::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [_, local, _, remote] = words[..] else {
            return Err(Failure::usage(format!(
                "`--pushed` expects the input of a pre-push hook, not `{line}`"
            )));
        };
        // Skips deleted refs and objects that are not commits; a tag stands for its commit.
        let Some(commit) = named(local)? else {
            continue;
        };
        if !found.iter().any(|(known, _)| *known == commit) {
            found.push((commit, named(remote)?));
        }
    }
    Ok(found)
}

/// How many lines of one code are shown; `--json` has all of them.
const SHOWN: usize = 10;

/// Shows a line for each finding, and the next command, which is not wrapped so that it can be copied.
pub(super) fn show_lines(page: &mut Page, lines: &[Line]) {
    let mut counts: BTreeMap<Code, usize> = BTreeMap::new();
    let mut last = None;
    for line in lines {
        let count = counts.entry(line.code).or_default();
        *count += 1;
        if *count > SHOWN {
            continue;
        }
        let (tone, word) = match line.weight {
            Weight::Refuses => (Tone::Bad, "false"),
            Weight::NotKnown => (Tone::Warn, "open"),
            Weight::Shown => (Tone::Warn, "look"),
        };
        page.text("  ");
        page.add_toned(tone, &format!("{word:<5}"));
        page.line(&format!(" [{}] {}", line.code, line.message));
        // If the same command shows several lines, only the first line names it.
        if last.replace(&line.show) != Some(&line.show) {
            page.add_toned(Tone::Dim, "        next: ");
            page.lines(&clean(&line.show, Lines::Fold));
        }
        if let Some(declare) = &line.declare {
            page.add_toned(Tone::Dim, "        or declare it in a commit's message: ");
            page.lines(&clean(declare, Lines::Fold));
        }
    }
    for (code, count) in counts.into_iter().filter(|(_, count)| *count > SHOWN) {
        let more = count - SHOWN;
        page.line(&format!("  and {more} more [{code}]: `--json` lists them"));
    }
}

impl Show for Checked {
    fn human(&self, page: &mut Page) {
        let tone = match self.answer {
            Truth::False => Tone::Bad,
            Truth::NotKnown => Tone::Warn,
            Truth::True => Tone::Good,
        };
        page.add_toned(tone, self.word());
        page.line(&format!("  {}", self.describe_compared()));
        show_lines(page, &self.lines);
        let laid_out = self
            .lines
            .iter()
            .filter_map(|line| find_laid_out(&line.show));
        let made: BTreeSet<&str> = laid_out
            .filter(|made| {
                [&self.base.commit, &self.head]
                    .iter()
                    .all(|own| !own.starts_with(made))
            })
            .collect();
        for commit in made {
            let what = "is the new code with old tests: a commit that cook made, on no branch";
            page.add_toned_line(Tone::Dim, &format!("  {commit} {what}"));
        }
        for line in &self.checked {
            page.add_toned_line(Tone::Dim, &format!("  {line}"));
        }
    }

    fn results(&self) -> Option<Results> {
        let verdict = format!(
            "is what was claimed true of this commit? {}: {}",
            self.word(),
            self.describe_compared()
        );
        let mut results = Results::new("cook check", self.answer == Truth::True, &verdict);
        results.head = Some(self.head.clone());
        self.lines.iter().for_each(|line| results.add_line(line));
        results.note_looked_at(&self.checked);
        Some(results)
    }

    fn exit(&self) -> Exit {
        match self.answer {
            Truth::True => Exit::Ok,
            Truth::False => Exit::CheckFailed,
            Truth::NotKnown => Exit::State,
        }
    }
}

impl Checked {
    fn word(&self) -> &'static str {
        match (self.answer, self.lines.is_empty()) {
            (Truth::False, _) => "false",
            (Truth::NotKnown, _) => "not known",
            (Truth::True, false) => "true: nothing false was found, with a remark",
            (Truth::True, true) => "true: nothing false was found",
        }
    }

    /// Names the commit, and the base with which it was compared.
    fn describe_compared(&self) -> String {
        let (head, base) = (short(&self.head), short(&self.base.commit));
        format!("{head} against {base} ({})", self.base.why)
    }
}
