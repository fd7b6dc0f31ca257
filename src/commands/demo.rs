//! `cook demo`: a whole run with scripted agents, in its own repository.

use super::context::*;
use super::record::tell_taken;
use super::recorded::note;
use super::run;
use crate::demo::{CaughtViolation, Culprit, Demo, DemoResult, remove_left};
use crate::run::{Observer, RunEvent};
use cook_repo::process::Alarm;

/// The pause after each step with `--slow`.
const REST: Duration = Duration::from_millis(1500);

#[derive(Debug, Args)]
#[command(
    after_help = "The repository is created in a new directory, or in the one that --dir names, which must be \
absent or empty. It is kept, so that you can look at it; `cook demo --clean` removes those in new directories."
)]
pub(super) struct DemoArgs {
    /// Let an agent misbehave in this way, and show how it is caught
    #[arg(long, value_enum, value_name = "CULPRIT")]
    pub with: Option<Culprit>,
    /// Pause after each step, so that you can read along
    #[arg(long)]
    pub slow: bool,
    /// Remove the repositories that earlier demos left in the directory for temporary files
    #[arg(long, conflicts_with_all = ["with", "slow"])]
    pub clean: bool,
}

/// Removes the repositories of earlier demos.
fn clean(context: &Context) -> Answer {
    if context.dir_is_named {
        let what = "a repository that you named with --dir is yours to delete";
        return Err(Failure::usage(what).hint("cook demo --clean"));
    }
    let (gone, stay) = remove_left();
    let mut lines: Vec<String> = gone
        .iter()
        .map(|dir| format!("removed {}", dir.display()))
        .collect();
    lines.extend(stay.into_iter().map(|failure| failure.message));
    if lines.is_empty() {
        lines.push("no demo left anything to remove".to_owned());
    }
    note("demo_cleaned", lines)
}

pub(super) fn demo(context: &Context, args: &DemoArgs) -> Answer {
    if args.clean {
        return clean(context);
    }
    context::not_nested()?;
    let screen = context.screen;
    let dir = context.dir_is_named.then_some(context.dir.as_path());
    let demo = Demo::prepare(dir, args.with, None)?;
    let quietly = |text: String| screen.note_toned(Tone::Dim, &text);
    quietly(format!(
        "a program with one test in {}, `cook init --commit`, `cook trust '{}'`: a script did what you would do",
        demo.root.display(),
        demo.gate
    ));
    quietly(
        "every agent is scripted: no keys, no network; what it reports is decided as in `cook run`"
            .to_owned(),
    );
    let mut printer = Printer {
        screen,
        slow: args.slow,
        run: run::Printer::new(context.screen),
    };
    let result = demo.run(&mut printer)?;
    answer(DemoAnswer::of(result))
}

/// Prints events as `cook run` does, and adds the outcome of each.
struct Printer {
    run: run::Printer,
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

/// Returns the outcome of a session; `None` if the event already states it.
fn why(event: &RunEvent) -> Option<String> {
    match event {
        RunEvent::Recorded { event, applied, .. } => Some(tell_taken(event, applied)),
        RunEvent::Breached { breach, .. } if breach.left.is_empty() => Some(
            "cook compared the repository before and after the session: what the role may not \
             touch was kept aside and put back, and its report is not read"
                .to_owned(),
        ),
        RunEvent::CameToNothing(_) => Some(
            "nothing moves by such a session: the log keeps it, the attempt is spent, the role \
             gets another session"
                .to_owned(),
        ),
        _ => None,
    }
}

/// The answer of `cook demo`: the work is done, and the misbehaving agent, if any, was caught.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct DemoAnswer {
    /// Directory of the repository, which is kept.
    directory: String,
    /// Kind of the misbehaving agent; null if none misbehaved.
    culprit: Option<Culprit>,
    /// Violations of the misbehaving agent, in order.
    caught: Vec<CaughtViolation>,
    /// Number of sessions.
    sessions: u64,
    /// Wall time of the sessions, in milliseconds.
    milliseconds: u64,
    /// Commands that show the result.
    commands: Vec<String>,
    next: Dispatched,
    /// Command that removes the directory.
    removal: String,
    #[serde(skip)]
    ended: String,
}

impl DemoAnswer {
    fn of(result: DemoResult) -> Self {
        let milliseconds = u64::try_from(result.took.as_millis()).unwrap_or(u64::MAX);
        let commit = result.head.commit.as_deref();
        let directory = result.root.display().to_string();
        let sessions = result.outcome.sessions;
        let cook = name_program();
        Self {
            ended: format!(
                "done at {}, after {} in {}",
                commit.map_or("no commit", short),
                count_noun(sessions, "session"),
                humantime::format_duration(Duration::from_millis(milliseconds)),
            ),
            culprit: result.culprit,
            caught: result.catches,
            sessions,
            milliseconds,
            commands: vec![
                format!("cd {}", quote_word(&directory)),
                format!("{cook} status"),
                format!("{cook} log"),
                format!("{cook} verify --strict"),
            ],
            removal: match result.is_temporary {
                true => format!("{cook} demo --clean"),
                false => format!("rm -rf {}", quote_word(&directory)),
            },
            directory,
            next: Dispatched::of(
                result.outcome.next,
                Some(&result.snapshot),
                &result.head,
                None,
            ),
        }
    }
}

/// Returns the word with which a shell starts this program: its name if `PATH` finds it, otherwise its path.
fn name_program() -> String {
    let Ok(own) = std::env::current_exe() else {
        return "cook".to_owned();
    };
    let found = std::env::var_os("PATH").and_then(|path| on_path("cook", &path));
    let is_own = |found: &PathBuf| found.canonicalize().ok() == own.canonicalize().ok();
    match found.filter(is_own) {
        Some(_) => "cook".to_owned(),
        None => quote_word(&own.display().to_string()),
    }
}

impl Show for DemoAnswer {
    fn human(&self, page: &mut Page) {
        page.row("ended", &self.ended);
        for catch in &self.caught {
            show_caught(page, catch);
        }
        page.row("left in", &self.directory);
        page.line("look at it:");
        page.list("  ", &self.commands);
        page.line(&format!("when you have seen it: {}", self.removal));
    }
}

fn show_caught(page: &mut Page, catch: &CaughtViolation) {
    page.add_toned(Tone::Good, "caught");
    page.line(&format!("     the {} {}", catch.role.short(), catch.did));
    page.line(&format!(
        "           in the log as #{}, {}",
        catch.seq, catch.code
    ));
    page.list("           noticed: ", &catch.noticed);
    for kept in &catch.kept {
        let command = match kept.strip_prefix("refs/") {
            Some(_) => format!("git show {kept}"),
            None => format!("cook doctor rescue show {kept}"),
        };
        page.line(&format!("           kept: `{command}`"));
    }
}
