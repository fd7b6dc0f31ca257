//! `cook run`: agents drive the workflow.

use super::call::store;
use super::caller;
use super::context::{Answer, Context, answer};
use super::printer::Printer;
use crate::drive::{self, Observer, Opening, Operator, Order};
use crate::service::{self, Workspace};
use crate::view::{EstimateAnswer, RunAnswer, Screen, Tone};
use clap::Args;
use std::io::{BufRead, IsTerminal};

/// What a scheduler does next, by how a session for a remote ends.
const EXITS: &str = "Exit codes with --from:
  0          call it again
  7          somebody else was first, or works in this clone: call it again
  13         the mission is done
  10, 11, 12 a person is waited for: an answer, something outside, a pause
  5, 6       no agent could work; a limit is used up
  4          refused here: the message names the command (trust, a worktree that is not clean, a secret)
  3          the remote or the state cannot be read; what was recorded stands in this clone
  2          the command line is wrong
  130        an end was asked for (Ctrl-C, SIGTERM)";

#[derive(Debug, Args)]
#[command(after_help = EXITS)]
pub(super) struct RunArgs {
    /// Hold at most so many sessions
    #[arg(long, value_name = "N")]
    pub steps: Option<u64>,
    /// Say what a run would take, and hold none
    #[arg(long, conflicts_with_all = ["steps", "once", "agent", "yes", "park_changes"])]
    pub estimate: bool,
    /// Hold exactly one session, then exit
    #[arg(long, conflicts_with = "steps")]
    pub once: bool,
    /// With --once: take log and branch from this remote (a name or an address), and push what came of the session
    #[arg(long, value_name = "REMOTE", requires = "once", conflicts_with_all = ["yes", "park_changes"])]
    pub from: Option<String>,
    /// With --from: trust every gate, stop verifier and agent of the repository for this session
    #[arg(long, requires = "from")]
    pub trust_repo: bool,
    #[command(flatten)]
    pub drive: DriveArgs,
}

/// What one session and many have in common.
#[derive(Debug, Args)]
pub(super) struct DriveArgs {
    /// The agent of every role, in place of `[roles.*] agent`
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Go on beside paths that are not committed
    #[arg(long)]
    pub yes: bool,
    /// Put what is not committed aside as a ref, and back when the run ends
    #[arg(long, conflicts_with = "yes")]
    pub park_changes: bool,
}

/// Holds so many sessions at most.
pub(super) fn run(context: &Context, args: &RunArgs) -> Answer {
    if args.estimate {
        let workspace = context.workspace()?;
        let calls = store(&workspace)?.lines()?;
        let estimate = service::estimate_run(&workspace, &calls)?;
        return answer(EstimateAnswer::of(&estimate));
    }
    caller::not_nested()?;
    if args.once {
        return hold_one(context, args);
    }
    let order = args.drive.order(context, args.steps, Opening::default());
    let held = drive::hold(&order, &Terminal(context.screen))?;
    answer(RunAnswer::of(held))
}

fn hold_one(context: &Context, args: &RunArgs) -> Answer {
    let opening = Opening {
        trusts_everything: args.trust_repo,
        pushes_later: args.from.is_some(),
        tells_nobody: false,
    };
    let order = args.drive.order(context, Some(1), opening);
    let terminal = Terminal(context.screen);
    let mut held = match &args.from {
        None => drive::hold(&order, &terminal)?,
        Some(remote) => {
            caller::not_apart(&Workspace::open(&context.dir)?)?;
            drive::step_from(&order, &terminal, remote, caller::is_attended())?
        }
    };
    held.is_one_step = true;
    answer(RunAnswer::of(held))
}

impl DriveArgs {
    pub fn order<'a>(
        &'a self,
        context: &'a Context,
        steps: Option<u64>,
        opening: Opening,
    ) -> Order<'a> {
        Order {
            dir: &context.dir,
            agent: self.agent.as_deref(),
            steps,
            goes_beside: self.yes,
            parks: self.park_changes,
            opening,
        }
    }
}

/// Whoever began the run, at the terminal.
pub(super) struct Terminal(pub Screen);

impl Operator for Terminal {
    fn show(&self, line: &str) {
        self.0.note_toned(Tone::Dim, line);
    }

    fn note(&self, text: &str) {
        self.0.note(text);
    }

    fn warn(&self, text: &str) {
        self.0.note_toned(Tone::Warn, text);
    }

    fn agrees(&self, question: &str) -> bool {
        if !std::io::stdin().is_terminal() || self.0.json {
            return false;
        }
        self.0.note(question);
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line);
        read.is_ok() && matches!(line.trim(), "y" | "Y" | "yes")
    }

    fn observer(&self) -> Box<dyn Observer> {
        Box::new(Printer::new(self.0))
    }
}
