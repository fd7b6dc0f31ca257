//! Whether a culprit was caught, according to the log and the repository after the run.
//!
//! Invariant: each misdeed needs its own entry in the log, with its role and code, in the order of the story.

use super::demo_repository::Misdeed;
use crate::prelude::*;
use crate::run::{Observer, RunEvent, Violation};
use crate::workspace::Workspace;
use cook_repo::process::Alarm;
use cook_repo::store::Entry;

/// A violation that was caught, with the findings about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct CaughtViolation {
    /// Role of the session.
    pub role: Role,
    /// Action of the session.
    pub did: String,
    /// Code of the finding in the log; `codes.json` explains it.
    #[schemars(with = "cook_protocol::diagnostic::Code")]
    pub code: String,
    /// Number of the transition in the log.
    #[schemars(range(min = 1))]
    pub seq: u64,
    /// Findings about the violation, one line each.
    pub noticed: Vec<String>,
    /// IDs for `cook doctor rescue`, and refs, that hold the reverted changes.
    pub kept: Vec<String>,
}

/// Passes events on to another observer and records violations.
pub(super) struct Recorder<'a> {
    pub observer: &'a mut dyn Observer,
    /// Violations of sessions, with their roles.
    pub breaches: Vec<(Role, Violation)>,
}

impl Observer for Recorder<'_> {
    fn observe(&mut self, event: &RunEvent) {
        if let RunEvent::Breached { role, breach } = event {
            self.breaches.push((*role, (*breach).clone()));
        }
        self.observer.observe(event);
    }

    fn alarm(&self) -> Option<Alarm> {
        self.observer.alarm()
    }
}

/// How each misdeed was caught.
///
/// # Errors
/// `demo_not_caught`, with the first misdeed that the log does not show.
pub(super) fn catches(
    workspace: &Workspace,
    misdeeds: &[&Misdeed],
    breaches: &[(Role, Violation)],
) -> Result<Vec<CaughtViolation>> {
    let mut entries = Vec::new();
    for meta in workspace.store()?.entries()? {
        entries.push(workspace.store()?.entry(&meta?.commit)?);
    }
    entries.reverse();
    let mut rest = entries.iter();
    let mut catches = Vec::new();
    for misdeed in misdeeds {
        let role = misdeed
            .role()
            .ok_or_else(|| report_missed(misdeed, "nobody's session"))?;
        let entry = rest
            .find(|entry| tells(entry, role, &misdeed.code))
            .ok_or_else(|| report_missed(misdeed, "the log does not record it"))?;
        let breach = breaches
            .iter()
            .find(|(whose, _)| *whose == role && misdeed.code == Code::AuthorityBreached.id());
        let (noticed, kept) = match (&entry.event, breach) {
            (_, Some((_, breach))) => {
                let kept = [&breach.copies[..], &breach.refs].concat();
                (breach.what.clone(), kept)
            }
            (Event::Refused { why, .. }, None) => (vec![why.clone()], Vec::new()),
            _ => {
                let handoff = entry.snapshot.active.handoff.as_ref();
                let noticed = handoff.map(|handoff| handoff.must_fix_findings.clone());
                (noticed.unwrap_or_default(), Vec::new())
            }
        };
        catches.push(CaughtViolation {
            role,
            did: misdeed.did.clone(),
            code: misdeed.code.clone(),
            seq: entry.seq,
            noticed,
            kept,
        });
    }
    Ok(catches)
}

/// A red gate is not a refusal: the report is accepted for the commit that it names.
const GATE_RED: &str = "gate_red";

fn tells(entry: &Entry, role: Role, code: &str) -> bool {
    match &entry.event {
        Event::Refused {
            role: whose, codes, ..
        } => *whose == role && codes.iter().any(|found| found == code),
        Event::Implemented { .. } if code == GATE_RED => {
            let mut runs = entry.facts.gates.iter().flatten();
            role == Role::Implementer && runs.any(|run| run.gate.required && !run.has_passed())
        }
        _ => false,
    }
}

fn report_missed(misdeed: &Misdeed, why: &str) -> Failure {
    let who = misdeed.role().map_or("agent", Role::short);
    let what = format!("a culprit got away: the {who} {}: {why}", misdeed.did);
    Failure::new(FailureKind::Check, Code::DemoNotCaught, what)
}

#[cfg(test)]
mod tests {
    use super::super::demo_repository::set_up;
    use super::super::demo_repository::{Culprit, Story};
    use super::*;
    use crate::service;
    use clap::ValueEnum;
    use cook_protocol::model::Actor;

    fn repository() -> (tempfile::TempDir, Workspace) {
        let dir = tempfile::tempdir().unwrap();
        set_up(dir.path(), &Story::read().unwrap(), None).unwrap();
        let workspace = Workspace::open(dir.path()).unwrap();
        (dir, workspace)
    }

    /// Records a violation by a session of the re-grounder.
    fn record_breach(workspace: &Workspace) {
        let event = Event::Refused {
            role: Role::Regrounder,
            codes: vec![Code::AuthorityBreached.id().to_owned()],
            why: String::new(),
        };
        service::transition(workspace, &event, Actor::Role).unwrap();
    }

    fn make_misdeed() -> Misdeed {
        let text = "culprit = 'editor'\nturn = 1\ncode = 'authority_breached'\ndid = 'edited'\n\
                    [session]\nrole = 'regrounder'\n";
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_culprit_of_whom_the_log_says_nothing_got_away() {
        let (_dir, workspace) = repository();
        let story = Story::read().unwrap();
        for &culprit in Culprit::value_variants() {
            let misdeeds = story.misdeeds(culprit);
            let failure = catches(&workspace, &misdeeds, &[]).unwrap_err();
            assert_eq!(failure.code, Code::DemoNotCaught, "{culprit:?}");
        }
    }

    /// One entry of the log accounts for one misdeed.
    #[test]
    fn two_misdeeds_need_two_entries() {
        let (_dir, workspace) = repository();
        let misdeed = make_misdeed();
        record_breach(&workspace);
        let both = [&misdeed, &misdeed];
        assert!(catches(&workspace, &both, &[]).is_err());
        record_breach(&workspace);
        assert_eq!(catches(&workspace, &both, &[]).unwrap().len(), 2);
    }
}
