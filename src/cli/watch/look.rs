//! Looks at the log's tip, and at what a driver is at; the log is read where the tip moved, and only then.

use super::super::cost::sum_cost;
use crate::drive::{self, Live};
use crate::service::Workspace;
use crate::view::{Run, Watched, WatchedSession, WatchedSlice, WatchedWait, make_line, show_words};
use cook_core::diagnostic::Failure;
use cook_core::model::{Evidence, Role, Slice, Snapshot, WaitingKind};
use cook_os::clock::Clock;
use cook_os::process::is_alive;
use cook_store::session::GitStore;
use cook_store::store::Tip;
use std::ops::Range;
use std::time::Duration;

/// Transitions that are shown.
const MOMENTS: usize = 20;
/// Hours, minutes and seconds of a time.
const TIME: Range<usize> = 11..19;
/// Seconds by which a silence is told: what changes each second is drawn each second.
const STEP: i64 = 5;

/// What was seen, and at which tip.
#[derive(Default)]
pub(super) struct Look {
    pub seen: Watched,
    tip: Option<Tip>,
    sessions: usize,
}

impl Look {
    pub fn again(&mut self, workspace: &Workspace) -> Result<(), Failure> {
        let tip = workspace.store()?.tip()?;
        let live = drive::live(workspace)?;
        let sessions = live.as_ref().map_or(0, |live| live.sessions.len());
        if tip != self.tip {
            self.read(workspace)?;
            self.tip = tip;
        }
        // A session that ended has told what it cost.
        if sessions != self.sessions || self.seen.cost.is_empty() {
            self.seen.cost = cost(workspace)?;
            self.sessions = sessions;
        }
        self.seen.run = match &live {
            Some(live) => describe_driver(live),
            None => match drive::find_killed(workspace)? {
                Some(killed) => describe_killed(&killed, &drive::list_unfinished(workspace)?),
                None => Run::None,
            },
        };
        let now = workspace.clock.epoch_millis() / 1000;
        let held = live.iter().flat_map(|live| &live.sessions);
        self.seen.sessions = held
            .map(|session| {
                let since = |at: &str| Clock::parse_seconds(at).map_or(0, |at| (now - at).max(0));
                let process = match session.pid {
                    None => "not started yet".to_owned(),
                    Some(pid) if is_alive(pid) => format!("pid {pid}"),
                    Some(pid) => format!("pid {pid} gone"),
                };
                let tool = session.tool.as_ref();
                let tool = tool.map_or_else(String::new, |tool| format!(", tool {tool}"));
                let quiet = since(&session.output_at) / STEP * STEP;
                let quiet = match quiet {
                    0 => String::new(),
                    quiet => format!(", quiet {quiet}s"),
                };
                let took = describe_span(since(&session.began_at) / STEP * STEP);
                WatchedSession {
                    what: show_words(&format!(
                        "{} by {}, {process}, {took}{quiet}{tool}",
                        session.role, session.agent
                    )),
                    lines: session.lines.iter().map(|line| show_words(line)).collect(),
                }
            })
            .collect();
        Ok(())
    }

    fn read(&mut self, workspace: &Workspace) -> Result<(), Failure> {
        let (_, snapshot) = workspace.require()?;
        let Snapshot {
            state,
            plan,
            ledger,
            ..
        } = &snapshot;
        let seen = &mut self.seen;
        seen.mission = show_words(&state.mission_anchor);
        seen.standing = format!(
            "{} · phase {} · #{}",
            state.continuation_policy, state.current_phase, ledger.seq.0
        );
        seen.waits = ledger.waiting.as_ref().map(|waiting| WatchedWait {
            what: show_words(&waiting.what),
            exit: show_words(&waiting.exit),
        });
        let waiting = ledger.waiting.as_ref();
        seen.asks = waiting.is_some_and(|waiting| waiting.kind == WaitingKind::Question);
        seen.slices = plan.candidate_slices.iter().map(make_slice).collect();
        let mut moments = Vec::new();
        for meta in workspace.store()?.entries()?.take(MOMENTS) {
            let meta = meta?;
            // The day is not what one looks for, and a row is narrow.
            let time = Clock::of_epoch(meta.epoch_seconds);
            let time = time.get(TIME).unwrap_or(&time);
            moments.push(make_line(
                meta.seq,
                time,
                &meta.event,
                &meta.actor,
                &meta.subject,
            ));
        }
        moments.reverse();
        seen.moments = moments;
        Ok(())
    }
}

fn make_slice(slice: &Slice) -> WatchedSlice {
    let records = || slice.evidence.iter().filter_map(Evidence::record);
    let is_proven = |criterion: &&String| records().any(|one| one.criterion == **criterion);
    WatchedSlice {
        id: show_words(&slice.slice_id),
        goal: show_words(&slice.goal),
        status: slice.status.id(),
        proven: slice.acceptance_criteria.iter().filter(is_proven).count(),
        criteria: slice.acceptance_criteria.len(),
    }
}

fn describe_driver(live: &Live) -> Run {
    let pid = live.pid;
    Run::Driven(match &live.waits_until {
        Some(until) => show_words(&format!(
            "driven by pid {pid}, which waits until {until} to try again"
        )),
        None if live.sessions.is_empty() => format!("driven by pid {pid}, between two sessions"),
        None => format!("driven by pid {pid}"),
    })
}

fn describe_killed(killed: &Live, left: &[Role]) -> Run {
    let pid = killed.pid;
    Run::Killed(match left {
        [] => format!("the run (pid {pid}) was killed: `cook run` goes on"),
        [role, ..] => format!(
            "the run (pid {pid}) was killed in a session of the {role}: `cook run` settles it and goes on"
        ),
    })
}

fn cost(workspace: &Workspace) -> Result<String, Failure> {
    let mut calls = GitStore::open(workspace.place())?.lines()?;
    calls.retain(|call| call.is_of(workspace.store_id()));
    Ok(sum_cost(&calls).summary())
}

fn describe_span(seconds: i64) -> String {
    let seconds = u64::try_from(seconds).unwrap_or_default();
    humantime::format_duration(Duration::from_secs(seconds)).to_string()
}
