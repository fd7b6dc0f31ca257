//! `cook demo`: a whole run with scripted agents, in a repository of its own.

use super::args::{DemoArgs, DemoCulprit};
use super::{Answer, Context, answer, caller, run};
use crate::demo::{Culprit, Demo, why};
use crate::drive::{Audience, Moment};
use crate::view::{DemoAnswer, Screen, Tone};
use cook_os::process::{Alarm, Heed};
use std::time::Duration;

/// How long `--slow` rests after each step.
const REST: Duration = Duration::from_millis(1500);

pub(super) fn demo(context: &Context, args: &DemoArgs) -> Answer {
    caller::not_nested()?;
    let screen = context.screen;
    let dir = context.dir_is_named.then_some(context.dir.as_path());
    let demo = Demo::prepare(dir, args.with.map(culprit))?;
    let quietly = |text: String| screen.toned_note(Tone::Dim, &text);
    quietly(format!(
        "a program with one test in {}, `cook init --commit`, `cook trust '{}'`: a script did what you would do",
        demo.root().display(),
        demo.gate()
    ));
    quietly(
        "every agent is scripted: no keys, no network; what it reports is decided as in `cook run`"
            .to_owned(),
    );
    let mut onlooker = Onlooker {
        screen,
        slow: args.slow,
        run: run::Onlooker::new(context.screen),
    };
    let told = demo.run(&mut onlooker)?;
    answer(DemoAnswer(told))
}

fn culprit(with: DemoCulprit) -> Culprit {
    match with {
        DemoCulprit::Liar => Culprit::Liar,
        DemoCulprit::Cheater => Culprit::Cheater,
        DemoCulprit::Crasher => Culprit::Crasher,
        DemoCulprit::Hanger => Culprit::Hanger,
        DemoCulprit::Flooder => Culprit::Flooder,
        DemoCulprit::Editor => Culprit::Editor,
    }
}

/// What happens as `cook run` shows it, each with the reason.
struct Onlooker {
    run: run::Onlooker,
    screen: Screen,
    slow: bool,
}

impl Audience for Onlooker {
    fn told(&mut self, moment: &Moment) -> Heed {
        self.run.told(moment);
        if let Some(reason) = why(moment) {
            self.screen.toned_note(Tone::Dim, &format!("    {reason}"));
            if self.slow {
                std::thread::sleep(REST);
            }
        }
        Heed::GoOn
    }

    fn alarm(&self) -> Option<Alarm> {
        self.run.alarm()
    }
}
