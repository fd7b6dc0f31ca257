//! `cook run`: agents drive the workflow.

use super::call::store;
use super::caller;
use super::context::{Answer, Context, answer};
use super::printer::Printer;
use crate::drive::{self, Observer, Opening, Operator, Order};
use crate::service;
use crate::view::{EstimateAnswer, RunAnswer, Screen, Tone};
use clap::Args;
use std::io::{BufRead, IsTerminal};

#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// Hold at most so many sessions
    #[arg(long, value_name = "N")]
    pub steps: Option<u64>,
    /// Say what a run would take, and hold none
    #[arg(long, conflicts_with_all = ["steps", "agent", "yes", "park_changes"])]
    pub estimate: bool,
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
    let order = args.drive.order(context, args.steps, Opening::default());
    let held = drive::hold(&order, &Terminal(context.screen))?;
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
