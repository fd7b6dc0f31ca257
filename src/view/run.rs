//! `cook run`, `cook run --once`: what an onlooker is told while agents work, and what came of it.

use super::cost::tell_dollars;
use super::next::{Dispatched, describe_policy};
use super::{Exit, Page, Show, Tone};
use crate::drive::{Ended, Held, Outcome, RunEvent, Violation, paths_are};
use cook_agents::Progress;
use cook_core::diagnostic::{Lines, clean, count_noun};
use cook_core::model::{Policy, Role};
use serde::Serialize;
use std::time::Duration;

/// Characters of a line that an agent said.
const SAID: usize = 160;
/// Lines by which an agent says how far it is (`protocol/completion.md#reports`).
const MARKED: [&str; 5] = [
    "PROGRESS:",
    "RATIONALE:",
    "NEXT:",
    "VERIFYING:",
    "STATE-DELTA:",
];

/// What `cook run` and `cook run --once` answer.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunAnswer {
    /// Why it ended: the policy, the sessions asked for, a budget, no progress, no agent that could
    /// play, a signal.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["policy", "steps", "budget", "stalled", "agents", "asked"])))]
    ended: &'static str,
    reason: String,
    /// Sessions that were held.
    sessions: u64,
    /// Of the sessions whose cost is known.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    cost_usd: f64,
    /// Answers whose cost nobody told.
    cost_unknown: u64,
    /// Refs that moved on the remote; absent where the session was not held for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pushed: Option<Vec<String>>,
    next: Dispatched,
    #[serde(skip)]
    goes_on: Option<String>,
    #[serde(skip)]
    exit: Exit,
}

impl RunAnswer {
    /// What came of a run.
    pub fn of(held: Held) -> Self {
        let goes_on = goes_on(&held);
        let is_done = held.is_done();
        let Outcome {
            ended,
            cut,
            sessions,
            cost_micro_usd,
            unpriced,
            next,
        } = held.outcome;
        let (word, exit) = match &ended {
            Ended::Policy(policy) => ("policy", Exit::of_policy(*policy)),
            Ended::Steps if next.policy == Policy::Continue && !held.is_one_step => {
                ("steps", Exit::Ended)
            }
            Ended::Steps => ("steps", Exit::of_policy(next.policy)),
            Ended::Budget(_) => ("budget", Exit::Spent),
            Ended::Stalled(_) => ("stalled", Exit::Spent),
            Ended::Agents(_) => ("agents", Exit::Supplier),
            Ended::Asked => ("asked", Exit::Interrupted),
        };
        let exit = match (&held.given, is_done) {
            (Some(_), true) => Exit::Ended,
            _ => exit,
        };
        let reason = match ended {
            Ended::Policy(policy) => match (policy, next.reason.as_str()) {
                (Policy::Done, _) | (_, "") => describe_policy(policy).to_owned(),
                (_, reason) => format!("{}: {reason}", describe_policy(policy)),
            },
            Ended::Steps => "as many sessions as were asked for were held".to_owned(),
            Ended::Budget(what) | Ended::Stalled(what) | Ended::Agents(what) => what,
            Ended::Asked => match cut {
                Some(role) => format!(
                    "an end was asked for, and the session of the {role} was ended before it reported"
                ),
                None => "an end was asked for, and no session was cut off".to_owned(),
            },
        };
        Self {
            ended: word,
            reason,
            sessions,
            cost_usd: cost_micro_usd as f64 / 1e6,
            cost_unknown: unpriced,
            pushed: held.given.map(|given| given.refs),
            next: Dispatched::of(next, Some(&held.snapshot), &held.head, None),
            goes_on,
            exit,
        }
    }

    fn cost(&self) -> String {
        let dollars = format!("{:.2} US dollars", self.cost_usd);
        match (self.cost_usd > 0.0, self.cost_unknown) {
            (_, 0) => dollars,
            (false, _) => "unknown cost".to_owned(),
            (true, unknown) => format!(
                "{dollars}, and {} of unknown cost",
                count_noun(unknown, "call")
            ),
        }
    }
}

fn list_refs(refs: &[String]) -> String {
    match refs.is_empty() {
        true => "nothing, because nothing was recorded".to_owned(),
        false => refs.join(", "),
    }
}

/// What goes on from here; none when nothing is to go on.
fn goes_on(held: &Held) -> Option<String> {
    let Held {
        outcome,
        uncommitted,
        ..
    } = held;
    let next = &outcome.next;
    let again = match &held.given {
        Some(given) => format!("cook run --once --from {}", given.remote),
        None => "cook run".to_owned(),
    };
    if let (true, Some(command)) = (next.role.is_none(), &next.blocking_command) {
        return (next.policy != Policy::Done).then(|| format!("`{command}`, then `{again}`"));
    }
    let mut text = match (&outcome.ended, outcome.cut) {
        (Ended::Policy(Policy::Done), _) => return None,
        (Ended::Asked, Some(role)) => format!(
            "`{again}` begins the step of the {role} again, and no attempt is spent{}",
            match role {
                Role::Implementer => "; what it left in the worktree, and its commits, stay",
                _ => "",
            }
        ),
        (Ended::Agents(_), _) => {
            format!(
                "`cook doctor agents` says who is installed and `cook doctor --probe` who answers; log in where that is missing, then `{again}`"
            )
        }
        (_, _) => match next.role {
            Some(role) => format!("`{again}` resumes with the {role}"),
            None => "`cook next` says what is due".to_owned(),
        },
    };
    if matches!(outcome.ended, Ended::Asked) && *uncommitted > 0 {
        text.push_str(&format!(
            "; it refuses while {} not committed, unless you say `--yes` or `--park-changes`",
            paths_are(*uncommitted)
        ));
    }
    Some(text)
}

impl Show for RunAnswer {
    fn human(&self, page: &mut Page) {
        page.row("ended", &self.reason);
        let sessions = count_noun(self.sessions, "session");
        page.row("held", &format!("{sessions}, {}", self.cost()));
        if let Some(refs) = &self.pushed {
            page.row("pushed", &list_refs(refs));
        }
        if let Some(text) = &self.goes_on {
            page.row("goes on", text);
        }
        self.next.lines(page);
    }

    fn exit(&self) -> Exit {
        self.exit
    }
}

/// The line, if any, that a reader sees for an event. `verbose` tells of tools and words.
pub fn event_line(event: &RunEvent, verbose: bool) -> Option<(Tone, String)> {
    let plain = |text: String| Some((Tone::Dim, text));
    match event {
        RunEvent::Begins {
            role,
            dispatch,
            agent,
            ..
        } => Some((
            Tone::Strong,
            format!(
                "{role} ({agent}), rule {}: {}",
                dispatch.rule, dispatch.reason
            ),
        )),
        RunEvent::Shows { progress, .. } => progress_line(progress, verbose),
        RunEvent::Ends { .. } => None,
        RunEvent::NotNotified(finding) | RunEvent::Inbox(finding) => Some((
            Tone::Warn,
            format!("  [{}] {}", finding.code, one_line(&finding.message)),
        )),
        RunEvent::Repairs(findings) => Some((
            Tone::Warn,
            format!(
                "  the report breaks {}, and is asked for once more",
                count_noun(findings.len() as u64, "rule")
            ),
        )),
        RunEvent::Recovered { role, breach } => match breach.is_none() {
            true => plain(format!(
                "an unfinished session of the {role} was ended; its report was not taken, so its step is begun again{}",
                came_later(breach)
            )),
            false => Some((
                Tone::Warn,
                format!(
                    "an unfinished session of the {role}: {}; its step is begun again{}",
                    describe_violation(breach),
                    came_later(breach)
                ),
            )),
        },
        RunEvent::Beside(copies) => Some((
            Tone::Warn,
            format!(
                "  the worktree was changed beside the session; {}",
                one_line(&note_kept_before(copies))
            ),
        )),
        RunEvent::Breached { role, breach } => {
            let what = describe_violation(breach);
            Some((
                Tone::Bad,
                format!("  the {role} {what}; its report is not taken"),
            ))
        }
        RunEvent::CaughtUp(recovery) => {
            let kept = recovery.displaced.as_deref().map_or(String::new(), |id| {
                format!("; what stood there is kept as {}", one_line(id))
            });
            plain(format!(
                "`.agent/` was behind the log and shows it now{kept}"
            ))
        }
        RunEvent::Unlocked(locks) => {
            let names: Vec<String> = locks
                .iter()
                .map(|lock| lock.display().to_string())
                .collect();
            Some((
                Tone::Warn,
                format!(
                    "  locks of a git that was ended are removed: {}",
                    one_line(&names.join(", "))
                ),
            ))
        }
        RunEvent::CameToNothing { why, .. } => {
            Some((Tone::Warn, format!("  came to nothing: {}", one_line(why))))
        }
        RunEvent::Recorded {
            applied,
            took,
            cost_micro_usd,
            ..
        } => {
            let cost = cost_micro_usd.map_or_else(|| "cost unknown".to_owned(), tell_dollars);
            Some((
                Tone::Good,
                format!(
                    "  recorded #{} {} ({}, {cost})",
                    applied.step.snapshot.ledger.seq.0,
                    applied.event,
                    humantime::format_duration(Duration::from_millis(took.as_millis() as u64))
                ),
            ))
        }
        RunEvent::ByCook(applied) => Some((
            Tone::Good,
            format!(
                "cook re-grounded #{}: {}",
                applied.step.snapshot.ledger.seq.0,
                one_line(&applied.step.next.reason)
            ),
        )),
        RunEvent::ModelAsked(why) => plain(format!("a model re-grounds: {}", one_line(why))),
        RunEvent::Waits { until } => {
            Some((Tone::Warn, format!("  waiting until {until} to try again")))
        }
    }
}

fn progress_line(progress: &Progress, verbose: bool) -> Option<(Tone, String)> {
    match progress {
        Progress::Tool(tool) if verbose => Some((Tone::Dim, format!("  tool: {}", one_line(tool)))),
        Progress::Said(text) => {
            let marked = text
                .lines()
                .rev()
                .map(str::trim)
                .find(|line| MARKED.iter().any(|mark| line.starts_with(mark)));
            marked.map(|line| (Tone::Dim, format!("  {}", one_line(line))))
        }
        Progress::Notice(text) => Some((Tone::Warn, format!("  it waits: {}", one_line(text)))),
        Progress::Started(_) | Progress::Tool(_) | Progress::Pulse { .. } => None,
    }
}

fn describe_violation(breach: &Violation) -> String {
    let mut text = format!("did what its role may not: {}", breach.what.join("; "));
    if !breach.copies.is_empty() {
        text.push_str(&format!(
            "; put back, a copy is kept (`cook doctor rescue show {}`)",
            breach.copies.join("`, `cook doctor rescue show ")
        ));
    }
    for path in &breach.moved {
        text.push_str(&format!(
            "; put back, too large for a copy, moved to `{}`",
            path.display()
        ));
    }
    if !breach.refs.is_empty() {
        text.push_str(&format!("; its commits stay at {}", breach.refs.join(", ")));
    }
    if !breach.left.is_empty() {
        text.push_str(&format!("; left as it is: {}", breach.left.join("; ")));
    }
    if breach.log_moved {
        text.push_str("; the log was moved meanwhile");
    }
    one_line(&text)
}

/// What is taken for the user's own work, and where that is which it replaced.
fn came_later(breach: &Violation) -> String {
    let mut text = String::new();
    if !breach.later.is_empty() {
        text.push_str(&format!(
            "; left as it is, because it came after the session: {}",
            breach.later.join("; ")
        ));
    }
    if breach.is_none() && !breach.refs.is_empty() {
        text.push_str(&format!(
            "; what they named before stays at {}",
            breach.refs.join(", ")
        ));
    }
    if !breach.before.is_empty() {
        text.push_str(&format!("; {}", note_kept_before(&breach.before)));
    }
    one_line(&text)
}

fn note_kept_before(copies: &[String]) -> String {
    format!(
        "what stood there before and is in no commit is kept (`cook doctor rescue show {}`)",
        copies.join("`, `cook doctor rescue show ")
    )
}

fn one_line(text: &str) -> String {
    let text = clean(text, Lines::Fold);
    match text.char_indices().nth(SAID * 4) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
