//! `cook demo`: a whole run with scripted agents, in a repository of its own.

use super::context::{Answer, Context, answer};
use super::{caller, live_line};
use crate::demo::{Culprit, Demo, why};
use crate::drive::{Observer, RunEvent};
use crate::view::{DemoAnswer, Screen, Tone};
use clap::Args;
use cook_os::process::Alarm;
use std::time::Duration;

/// How long `--slow` rests after each step.
const REST: Duration = Duration::from_millis(1500);

#[derive(Debug, Args)]
#[command(
    after_help = "The repository is made in a new directory, or in the one that `--dir` names, which must be \
absent or empty; it stays there to be looked at."
)]
pub(super) struct DemoArgs {
    /// Let this agent misbehave, and see it caught
    #[arg(long, value_enum, value_name = "CULPRIT")]
    pub with: Option<Culprit>,
    /// Pause after each step, to read along
    #[arg(long)]
    pub slow: bool,
}

pub(super) fn demo(context: &Context, args: &DemoArgs) -> Answer {
    caller::not_nested()?;
    let screen = context.screen;
    let dir = context.dir_is_named.then_some(context.dir.as_path());
    let demo = Demo::prepare(dir, args.with)?;
    let quietly = |text: String| screen.note_toned(Tone::Dim, &text);
    quietly(format!(
        "a program with one test in {}, `cook init --commit`, `cook trust '{}'`: a script did what you would do",
        demo.root().display(),
        demo.gate()
    ));
    quietly(
        "every agent is scripted: no keys, no network; what it reports is decided as in `cook run`"
            .to_owned(),
    );
    let mut printer = Printer {
        screen,
        slow: args.slow,
        run: live_line::Printer::new(context.screen),
    };
    let result = demo.run(&mut printer)?;
    answer(DemoAnswer::of(result))
}

/// What happens as `cook run` shows it, each with the reason.
struct Printer {
    run: live_line::Printer,
    screen: Screen,
    slow: bool,
}

impl Observer for Printer {
    fn observe(&mut self, event: &RunEvent) {
        self.run.observe(event);
        if let Some(reason) = why(event) {
            self.screen.note_toned(Tone::Dim, &format!("    {reason}"));
            if self.slow {
                std::thread::sleep(REST);
            }
        }
    }

    fn alarm(&self) -> Option<Alarm> {
        self.run.alarm()
    }
}
