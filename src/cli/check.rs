//! `cook check`: is what was just claimed true of this commit?

use super::context::{Answer, Context, answer};
use super::progress::Progress;
use super::transition::note;
use super::{caller, runner_files};
use crate::check::{Ask, Checked, Line, Runs, Truth, check};
use crate::service::Workspace;
use crate::view::Format;
use clap::Args;
use cook_core::diagnostic::Failure;
use cook_trials::Weight;
use std::io::Read;

/// What git may say of a push.
const MAX_PUSH: u64 = 1 << 20;

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// Compare with this commit (default: where the branch left its upstream or the remote's default
    /// branch, else the commit before)
    #[arg(long, value_name = "REF")]
    pub base: Option<String>,
    /// Run this gate only; may be given several times
    #[arg(long, value_name = "NAME")]
    pub gate: Vec<String>,
    /// Run no gate: look at what is not committed alone, and say that the rest is not known
    #[arg(long, conflicts_with_all = ["gate", "fast"])]
    pub no_gates: bool,
    /// Run the gates at the commit alone, and compare nothing with the base: what was red before counts as red
    #[arg(long)]
    pub fast: bool,
    /// Trust the gates of this repository for this run
    #[arg(long)]
    pub trust_repo: bool,
    /// How to answer (default: human)
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Check each commit that git's pre-push hook names on standard input, against what the remote has
    #[arg(long, conflicts_with_all = ["base", "format"])]
    pub pushed: bool,
}

pub(super) fn check_commit(context: &Context, args: &CheckArgs) -> Answer {
    let mut workspace = context.workspace()?;
    caller::not_apart(&workspace)?;
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
        let (mut checked, written) = runner_files::guard(|| check(workspace, &ask, &tell))?;
        if let Some(written) = written {
            let next = written.code.hint();
            let line = Line::new(written.code, Weight::Refuses, written.message, next);
            checked.lines.insert(0, line);
        }
        Ok::<Checked, Failure>(checked.settle())
    };
    if !args.pushed {
        return answer(asked(None, args.base.as_deref(), &mut workspace)?);
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
            vec!["nothing is pushed that could be checked".to_owned()],
        ),
    }
}

/// Commits that a push brings, each with what the remote has in its place, where that is here.
type Pushed = Vec<(String, Option<String>)>;

/// What git tells its pre-push hook: `LOCAL_REF LOCAL_ID REMOTE_REF REMOTE_ID`, a line for each ref.
fn read_pushed(workspace: &Workspace) -> Result<Pushed, Failure> {
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
                "`--pushed` reads what git tells a pre-push hook, not `{line}`"
            )));
        };
        // A ref that is deleted brings nothing; a tag is what it points at; other things are no commit.
        let Some(commit) = named(local)? else {
            continue;
        };
        if !found.iter().any(|(known, _)| *known == commit) {
            found.push((commit, named(remote)?));
        }
    }
    Ok(found)
}
