//! Whether a culprit was caught: read from the log and the repository after the run.
//!
//! Invariant: each misdeed needs an entry of the log of its own, of its role and code, in
//! the order of the story, and whatever was put back must be kept and gone.

use super::demo_repository::Misdeed;
use crate::prelude::*;
use crate::run::{Observer, RunEvent, Violation};
use crate::service::Applied;
use crate::workspace::Workspace;
use cook_repo::process::Alarm;
use cook_repo::store::Entry;

/// Largest file that may be kept of what a session printed: head and tail of a stream, and
/// the line between them.
const KEPT: u64 = 10 << 20;

/// How one misdeed was caught.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct CaughtViolation {
    /// Role of the session.
    pub role: Role,
    /// Action of the session.
    pub did: String,
    /// Code in the log (see `codes.json`).
    #[schemars(with = "cook_protocol::diagnostic::Code")]
    pub code: String,
    /// Number of the transition in the log.
    #[schemars(range(min = 1))]
    pub seq: u64,
    /// Findings, a line each.
    pub noticed: Vec<String>,
    /// IDs for `cook doctor rescue`, and refs, that hold the reverted changes.
    pub kept: Vec<String>,
}

/// What was seen of the sessions while they went on.
#[derive(Debug, Default)]
pub(super) struct Seen {
    breaches: Vec<(Role, Violation)>,
    nothing: Vec<(Role, String)>,
}

/// Looks on and tells on.
pub(super) struct Recorder<'a> {
    pub observer: &'a mut dyn Observer,
    pub seen: Seen,
}

impl Observer for Recorder<'_> {
    fn observe(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Breached { role, breach } => {
                self.seen.breaches.push((*role, (*breach).clone()));
            }
            RunEvent::CameToNothing { role, why } => {
                self.seen.nothing.push((*role, (*why).to_owned()));
            }
            _ => {}
        }
        self.observer.observe(event);
    }

    fn alarm(&self) -> Option<Alarm> {
        self.observer.alarm()
    }
}

/// What became of each misdeed.
///
/// # Errors
/// `demo_not_caught`, with the first one that the log or the repository does not show.
pub(super) fn catches(
    workspace: &Workspace,
    misdeeds: &[&Misdeed],
    seen: &Seen,
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
        let mut catch = CaughtViolation {
            role,
            did: misdeed.did.clone(),
            code: misdeed.code.clone(),
            seq: entry.seq,
            noticed: Vec::new(),
            kept: Vec::new(),
        };
        if misdeed.code == Code::AuthorityBreached.id() {
            let (_, breach) = of_role(&seen.breaches, role)
                .ok_or_else(|| report_missed(misdeed, "nothing was put back"))?;
            is_put_back(workspace, breach).map_err(|why| report_missed(misdeed, &why))?;
            catch.noticed.clone_from(&breach.what);
            catch.kept = [&breach.copies[..], &breach.refs].concat();
        } else if misdeed.code == GATE_RED {
            let handoff = entry.snapshot.active.handoff.as_ref();
            let noticed = handoff.map(|handoff| handoff.must_fix_findings.clone());
            catch.noticed = noticed.unwrap_or_default();
        } else {
            let (_, why) = of_role(&seen.nothing, role)
                .ok_or_else(|| report_missed(misdeed, "its report was taken"))?;
            catch.noticed.push(why.clone());
        }
        catches.push(catch);
    }
    let sessions = workspace.repo.cook_dir()?.join("sessions");
    if let Some((_, name)) = largest(&sessions).filter(|(bytes, _)| *bytes > KEPT) {
        let what = format!("`{name}` holds more of what an agent printed than cook keeps");
        return Err(not_caught(&what));
    }
    still_wanted(workspace, &entries)?;
    Ok(catches)
}

/// A red gate is not a refusal: the report is taken for the commit that it names.
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

fn of_role<T>(seen: &[(Role, T)], role: Role) -> Option<&(Role, T)> {
    seen.iter().find(|(whose, _)| *whose == role)
}

/// Copies are there, refs name what was taken back, and nothing of it is on HEAD.
fn is_put_back(workspace: &Workspace, breach: &Violation) -> Result<(), String> {
    let said = |failure: Failure| failure.to_string();
    if !breach.left.is_empty() || breach.log_moved {
        return Err("some of it could not be restored".to_owned());
    }
    if breach.copies.is_empty() {
        return Err("nothing of it was kept".to_owned());
    }
    let store = workspace.store().map_err(said)?;
    let copies = store.rescue_list().map_err(said)?;
    for id in &breach.copies {
        if !copies.iter().any(|copy| copy.id == *id) {
            return Err(format!("there is no copy `{id}`"));
        }
    }
    let refs = workspace.repo.refs().map_err(said)?;
    let head = workspace.repo.head().map_err(said)?.commit;
    for name in &breach.refs {
        let Some(commit) = refs.get(name) else {
            return Err(format!("there is no ref `{name}`"));
        };
        let head = head.as_deref().unwrap_or_default();
        if workspace.repo.is_ancestor(commit, head).map_err(said)? {
            return Err(format!("what `{name}` holds is on HEAD"));
        }
    }
    Ok(())
}

/// Every criterion that a plan ever had is in the last one, word for word.
fn still_wanted(workspace: &Workspace, entries: &[Entry]) -> Result<()> {
    let (_, snapshot) = workspace.require()?;
    let planned = entries.iter();
    for slice in planned.flat_map(|entry| &entry.snapshot.plan.candidate_slices) {
        let last = snapshot.plan.slice(&slice.slice_id);
        let last = last.filter(|last| last.status != SliceStatus::Cancelled);
        let is_kept =
            |text: &String| last.is_some_and(|last| last.acceptance_criteria.contains(text));
        if let Some(lost) = slice.acceptance_criteria.iter().find(|text| !is_kept(text)) {
            return Err(not_caught(&format!("`{lost}` is not asked for any more")));
        }
    }
    Ok(())
}

/// The largest file below a directory.
fn largest(dir: &Path) -> Option<(u64, String)> {
    let entries = std::fs::read_dir(dir).ok()?.flatten();
    let sizes = entries.filter_map(|entry| {
        let kind = entry.file_type().ok()?;
        if kind.is_dir() {
            return largest(&entry.path());
        }
        let size = entry.metadata().ok().filter(|_| kind.is_file())?.len();
        Some((size, entry.path().display().to_string()))
    });
    sizes.max()
}

fn report_missed(misdeed: &Misdeed, why: &str) -> Failure {
    let who = misdeed.role().map_or("agent", Role::short);
    not_caught(&format!("the {who} {}: {why}", misdeed.did))
}

fn not_caught(why: &str) -> Failure {
    let what = format!("a culprit got away: {why}");
    Failure::new(FailureKind::Check, Code::DemoNotCaught, what)
}

// Why cook did what it did: one line for each thing that happens in a run.
//
// Told from the event alone, so that it is true of any run.

/// The line; none where the event says why itself.
pub fn why(event: &RunEvent) -> Option<String> {
    match event {
        RunEvent::Recorded { role, applied, .. } => explain_record(*role, applied),
        RunEvent::Breached { breach, .. } if breach.left.is_empty() => Some(
            "cook compared the repository before and after the session: what the role may not \
             touch was kept aside and put back, and its report is not read"
                .to_owned(),
        ),
        RunEvent::CameToNothing { .. } => Some(
            "nothing moves by such a session: the log keeps it, the attempt is spent, the role \
             gets another session"
                .to_owned(),
        ),
        _ => None,
    }
}

fn explain_record(role: Role, applied: &Applied) -> Option<String> {
    match role {
        Role::Bootstrapper => None,
        Role::Regrounder => Some(explain_reground(applied)),
        Role::Implementer => Some(explain_work(applied)),
        Role::Reviewer => explain_review(applied),
        Role::Auditor => Some(
            "whatever the review said, an auditor looks past the slice, at the whole project"
                .to_owned(),
        ),
        Role::StopJudge => explain_vote(applied),
    }
}

fn explain_reground(applied: &Applied) -> String {
    let snapshot = &applied.step.snapshot;
    let records = &applied.step.records.slice;
    let wave = snapshot.state.current_stop_wave_id.0;
    if snapshot.state.project_done {
        return format!(
            "every judge of wave {wave} said yes at this commit, and cook ran the stop verifier \
             there: it is done"
        );
    }
    let of = |kind| records.iter().find(|record| record.kind == kind);
    if let Some(accepted) = of(SliceRecordType::Accepted) {
        let criteria = snapshot
            .plan
            .slice(&accepted.slice_id)
            .map_or(0, |slice| slice.acceptance_criteria.len());
        return format!(
            "the review said yes, and each of the {criteria} criteria has proof of its own that \
             cook looked up in a receipt or in the slice's commits"
        );
    }
    if of(SliceRecordType::Reopened).is_some() {
        return "a no is not talked away: what the reviewer found is what the next implementer \
                must fix"
            .to_owned();
    }
    let slices = snapshot.plan.candidate_slices.len();
    if applied.step.rule == Rule::Conclude {
        return format!(
            "a judge's rejection is answered by work: the plan has {} now, and another wave comes \
             after them",
            count_noun(slices, "slice")
        );
    }
    format!(
        "the plan is taken, with {}; from here on its criteria may grow and never weaken",
        count_noun(slices, "slice")
    )
}

fn explain_work(applied: &Applied) -> String {
    let active = &applied.step.snapshot.active;
    match active.status {
        ActiveStatus::Committed => "cook ran the gate itself at that commit, green: the report's \
                                    word on tests counts for nothing"
            .to_owned(),
        _ => format!(
            "cook ran the gate itself at that commit, red, whatever the report says: {}",
            active
                .handoff
                .as_ref()
                .and_then(|handoff| handoff.must_fix_findings.first())
                .map_or("it must be fixed", String::as_str)
        ),
    }
}

fn explain_review(applied: &Applied) -> Option<String> {
    let report = applied.step.records.slice.first()?.report.as_ref()?;
    let answer = report.fields.get("acceptable_as_is")?;
    Some(match answer.to_ascii_lowercase().starts_with("yes") {
        true => "yes, at this commit and for these criteria only: either changes, and it is void"
            .to_owned(),
        false => format!(
            "no, so the slice can only be reopened: {}",
            report.fields.get("findings").map_or("", String::as_str)
        ),
    })
}

fn explain_vote(applied: &Applied) -> Option<String> {
    let vote = applied.step.records.stop.first()?;
    let need = applied.step.snapshot.profile.required_stop_judges;
    let have = need
        .0
        .saturating_sub(applied.step.snapshot.state.remaining_stop_judges.0);
    let heard = format!("judge {have} of {}", need.0);
    Some(match vote.can_stop {
        true => format!("{heard}: yes; it takes all of them, and none sees another's answer"),
        false => {
            let report = vote.report.as_ref()?;
            let why = report.fields.get("brief_justification");
            format!(
                "{heard}: no, {}; the others are heard all the same",
                why.map_or("", String::as_str)
            )
        }
    })
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

    /// A re-grounder's session that breached, as far as the log is concerned.
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

    fn list_kept(workspace: &Workspace) -> Vec<String> {
        let path = workspace.repo.root().join("roman");
        let files = [(b"roman".to_vec(), path)];
        cook_repo::store::rescue_keep(&workspace.place(), &files, "a test")
            .unwrap()
            .into_iter()
            .collect()
    }

    fn make_seen(breach: Violation) -> Seen {
        Seen {
            breaches: vec![(Role::Regrounder, breach)],
            nothing: Vec::new(),
        }
    }

    #[track_caller]
    fn gets_away(workspace: &Workspace, misdeed: &Misdeed, seen: &Seen, why: &str) {
        let failure = catches(workspace, &[misdeed], seen).unwrap_err();
        assert_eq!(failure.code, Code::DemoNotCaught);
        assert!(failure.message.contains(why), "{}", failure.message);
    }

    #[test]
    fn a_culprit_of_whom_the_log_says_nothing_got_away() {
        let (_dir, workspace) = repository();
        let story = Story::read().unwrap();
        for &culprit in Culprit::value_variants() {
            let misdeeds = story.misdeeds(culprit);
            let failure = catches(&workspace, &misdeeds, &Seen::default()).unwrap_err();
            assert_eq!(failure.code, Code::DemoNotCaught, "{culprit:?}");
        }
    }

    #[test]
    fn what_was_put_back_must_be_kept_and_gone() {
        let (_dir, workspace) = repository();
        let misdeed = make_misdeed();
        record_breach(&workspace);
        let none = Violation::default();
        gets_away(
            &workspace,
            &misdeed,
            &Seen::default(),
            "nothing was put back",
        );
        gets_away(
            &workspace,
            &misdeed,
            &make_seen(none),
            "nothing of it was kept",
        );
        let left = Violation {
            left: vec!["`roman` was changed".to_owned()],
            ..Violation::default()
        };
        gets_away(
            &workspace,
            &misdeed,
            &make_seen(left),
            "some of it could not be restored",
        );
        let forged = Violation {
            copies: vec!["01".to_owned()],
            ..Violation::default()
        };
        gets_away(
            &workspace,
            &misdeed,
            &make_seen(forged),
            "there is no copy `01`",
        );
        let copies = list_kept(&workspace);
        let on_head = Violation {
            copies: copies.clone(),
            refs: vec!["refs/heads/main".to_owned()],
            ..Violation::default()
        };
        gets_away(&workspace, &misdeed, &make_seen(on_head), "is on HEAD");
        let kept = make_seen(Violation {
            copies,
            ..Violation::default()
        });
        assert_eq!(catches(&workspace, &[&misdeed], &kept).unwrap().len(), 1);
    }

    /// One entry of the log shows one misdeed.
    #[test]
    fn two_misdeeds_need_two_entries() {
        let (_dir, workspace) = repository();
        let misdeed = make_misdeed();
        record_breach(&workspace);
        let kept = make_seen(Violation {
            copies: list_kept(&workspace),
            ..Violation::default()
        });
        let both = [&misdeed, &misdeed];
        assert!(catches(&workspace, &both, &kept).is_err());
        record_breach(&workspace);
        assert_eq!(catches(&workspace, &both, &kept).unwrap().len(), 2);
    }
}
