//! `cook run`, `cook step`: what an onlooker is told while agents work, and what came of it.

use super::next::{Dispatched, describe_policy, dispatch_lines};
use super::{Exit, Page, Show, Tone, count, to_json};
use crate::drive::{Ended, Outcome, RunEvent, Violation};
use cook_agents::Progress;
use cook_core::diagnostic::{Lines, clean};
use cook_core::machine::Head;
use cook_core::model::{Policy, Role, Snapshot};
use serde::Serialize;
use serde_json::Value;
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

/// What `cook run` and `cook step` answer.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Ran<'a> {
    /// Why it ended: the policy, the sessions asked for, a budget, no progress, no agent that could
    /// play, a signal.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["policy", "steps", "budget", "stalled", "agents", "asked"])))]
    ended: &'a str,
    reason: String,
    /// Sessions that were held.
    sessions: u64,
    /// Of the sessions whose cost is known.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    cost_usd: f64,
    /// Answers whose cost nobody told.
    cost_unknown: u64,
    next: Dispatched<'a>,
}

/// What came of a run.
#[derive(Debug)]
pub struct RunAnswer {
    /// Of the driver.
    pub outcome: Outcome,
    /// The documents now.
    pub snapshot: Snapshot,
    /// HEAD.
    pub head: Head,
    /// Paths that are not committed now.
    pub uncommitted: u64,
}

impl RunAnswer {
    fn why(&self) -> String {
        match &self.outcome.ended {
            Ended::Policy(policy) => describe_policy(*policy).to_owned(),
            Ended::Steps => "as many sessions as were asked for were held".to_owned(),
            Ended::Budget(what) | Ended::Stalled(what) | Ended::Agents(what) => what.clone(),
            Ended::Asked => match self.outcome.cut {
                Some(role) => format!(
                    "an end was asked for, and the session of the {role} was ended before it reported"
                ),
                None => "an end was asked for, and no session was cut off".to_owned(),
            },
        }
    }

    /// What goes on from here; none when nothing is to go on.
    fn goes_on(&self) -> Option<String> {
        let next = &self.outcome.next;
        if let (true, Some(command)) = (next.role.is_none(), &next.blocking_command) {
            return (next.policy != Policy::Done).then(|| format!("`{command}`, then `cook run`"));
        }
        let mut text = match (&self.outcome.ended, self.outcome.cut) {
            (Ended::Policy(Policy::Done), _) => return None,
            (Ended::Asked, Some(role)) => format!(
                "`cook run` begins the step of the {role} again, and no attempt is spent{}",
                match role {
                    Role::Implementer => "; what it left in the worktree, and its commits, stay",
                    _ => "",
                }
            ),
            (Ended::Agents(_), _) => {
                "`cook agents` says who is installed and `cook doctor --probe` who answers; log in where that is missing, then `cook run`".to_owned()
            }
            (_, _) => match next.role {
                Some(role) => format!("`cook run` resumes with the {role}"),
                None => "`cook next` says what is due".to_owned(),
            },
        };
        if matches!(self.outcome.ended, Ended::Asked) && self.uncommitted > 0 {
            text.push_str(&format!(
                "; it refuses while {} not committed, unless you say `--yes` or `--park-changes`",
                match self.uncommitted {
                    1 => "1 path is".to_owned(),
                    paths => format!("{paths} paths are"),
                }
            ));
        }
        Some(text)
    }

    fn cost(&self) -> String {
        let outcome = &self.outcome;
        let dollars = format!("{:.2} US dollars", outcome.cost_micro_usd as f64 / 1e6);
        match (outcome.cost_micro_usd, outcome.unpriced) {
            (_, 0) => dollars,
            (0, _) => "unknown cost".to_owned(),
            (_, unknown) => format!(
                "{dollars}, and {} of unknown cost",
                count(unknown as usize, "call")
            ),
        }
    }
}

impl Show for RunAnswer {
    fn human(&self, page: &mut Page) {
        page.row("ended", &self.why());
        page.row(
            "held",
            &format!(
                "{}, {}",
                count(self.outcome.sessions as usize, "session"),
                self.cost()
            ),
        );
        if let Some(text) = self.goes_on() {
            page.row("goes on", &text);
        }
        dispatch_lines(page, &self.outcome.next);
    }

    fn json(&self) -> Value {
        let ended = match &self.outcome.ended {
            Ended::Policy(_) => "policy",
            Ended::Steps => "steps",
            Ended::Budget(_) => "budget",
            Ended::Stalled(_) => "stalled",
            Ended::Agents(_) => "agents",
            Ended::Asked => "asked",
        };
        to_json(&Ran {
            ended,
            reason: self.why(),
            sessions: self.outcome.sessions,
            cost_usd: self.outcome.cost_micro_usd as f64 / 1e6,
            cost_unknown: self.outcome.unpriced,
            next: Dispatched::of(&self.outcome.next, Some(&self.snapshot), &self.head, None),
        })
    }

    fn exit(&self) -> Exit {
        match &self.outcome.ended {
            Ended::Policy(policy) => Exit::of_policy(*policy),
            Ended::Steps | Ended::Asked => Exit::of_policy(self.outcome.next.policy),
            Ended::Budget(_) | Ended::Stalled(_) => Exit::Spent,
            Ended::Agents(_) => Exit::Supplier,
        }
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
        RunEvent::Shows { progress, .. } => shown(progress, verbose),
        RunEvent::Ends { .. } => None,
        RunEvent::Untold(finding) => Some((
            Tone::Warn,
            format!("  [{}] {}", finding.code, one_line(&finding.message)),
        )),
        RunEvent::Repairs(findings) => Some((
            Tone::Warn,
            format!(
                "  the report breaks {}, and is asked for once more",
                count(findings.len(), "rule")
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
                    breached(breach),
                    came_later(breach)
                ),
            )),
        },
        RunEvent::Beside(copies) => Some((
            Tone::Warn,
            format!(
                "  the worktree was changed beside the session; {}",
                one_line(&kept_before(copies))
            ),
        )),
        RunEvent::Breached { role, breach } => {
            let what = breached(breach);
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
            let cost = cost_micro_usd.map_or("cost unknown".to_owned(), |micro| {
                format!("{:.4} US dollars", micro as f64 / 1e6)
            });
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
        RunEvent::Waits { until } => Some((
            Tone::Warn,
            format!("  waiting until {until} for the end of a limit"),
        )),
    }
}

fn shown(progress: &Progress, verbose: bool) -> Option<(Tone, String)> {
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
        Progress::Started(_) | Progress::Tool(_) | Progress::Pulse { .. } => None,
    }
}

fn breached(breach: &Violation) -> String {
    let mut text = format!("did what its role may not: {}", breach.what.join("; "));
    if !breach.copies.is_empty() {
        text.push_str(&format!(
            "; put back, a copy is kept (`cook rescue show {}`)",
            breach.copies.join("`, `cook rescue show ")
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
        text.push_str(&format!("; {}", kept_before(&breach.before)));
    }
    one_line(&text)
}

fn kept_before(copies: &[String]) -> String {
    format!(
        "what stood there before and is in no commit is kept (`cook rescue show {}`)",
        copies.join("`, `cook rescue show ")
    )
}

fn one_line(text: &str) -> String {
    let text = clean(text, Lines::Fold);
    match text.char_indices().nth(SAID * 4) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
