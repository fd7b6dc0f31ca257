//! `cook check`: is what was just claimed true of this commit?

use super::context::{Answer, Context, answer};
use super::progress::Progress;
use super::transition::note;
use super::{caller, runner_files};
use crate::check::{Ask, Checked, Line, Runs, Truth, check};
use crate::service::Workspace;
use crate::view::{CommitCheckAnswer, Format};
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
        Ok::<Checked, Failure>(checked)
    };
    if !args.pushed {
        let checked = asked(None, args.base.as_deref(), &mut workspace)?;
        return answer(CommitCheckAnswer::from(checked));
    }
    let mut last: Option<Checked> = None;
    for Pushed { commit, base } in read_pushed(&workspace)? {
        let checked = asked(Some(&commit), base.as_deref(), &mut workspace)?;
        let is_true = checked.truth() == Truth::True;
        last = Some(checked);
        if !is_true {
            break;
        }
    }
    match last {
        Some(checked) => answer(CommitCheckAnswer::from(checked)),
        None => note(
            "nothing_pushed",
            vec!["nothing is pushed that could be checked".to_owned()],
        ),
    }
}

/// A commit that a push brings, and what the remote has in its place, where that is here.
struct Pushed {
    commit: String,
    base: Option<String>,
}

/// What git tells its pre-push hook: `LOCAL_REF LOCAL_ID REMOTE_REF REMOTE_ID`, a line for each ref.
fn read_pushed(workspace: &Workspace) -> Result<Vec<Pushed>, Failure> {
    let mut text = String::new();
    let read = std::io::stdin()
        .lock()
        .take(MAX_PUSH)
        .read_to_string(&mut text);
    read.map_err(|error| Failure::usage(format!("standard input cannot be read: {error}")))?;
    let none = |id: &str| id.bytes().all(|byte| byte == b'0');
    let mut found: Vec<Pushed> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [_, local, _, remote] = words[..] else {
            return Err(Failure::usage(format!(
                "`--pushed` reads what git tells a pre-push hook, not `{line}`"
            )));
        };
        // A ref that is deleted brings nothing; a tag is what it points at; other things are no commit.
        let commit = match none(local) {
            true => None,
            false => workspace.repo.commit_named(local)?,
        };
        let Some(commit) = commit else { continue };
        let base = match none(remote) {
            true => None,
            false => workspace.repo.commit_named(remote)?,
        };
        if !found.iter().any(|known| known.commit == commit) {
            found.push(Pushed { commit, base });
        }
    }
    Ok(found)
}
