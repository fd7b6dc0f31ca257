//! What the log holds that a page tells.

use super::super::caught::{Caught, REPORTS, list_catches};
use crate::judges::find_verdicts;
use crate::service::Workspace;
use crate::view::{
    Catch, CostAnswer, GraphAnswer, GraphForm, Judgment, Kept, Moment, OpenCriterion, Report,
    SliceEvent, SliceStory, VerifyAnswer,
};
use cook_core::diagnostic::Failure;
use cook_core::machine::Head;
use cook_core::model::{Event, Evidence, Slice, SliceStatus, Snapshot, Submission, Verdicts};
use cook_os::clock::Clock;
use cook_store::session::GitStore;
use cook_store::store::Meta;
use std::collections::BTreeMap;

/// The text of a report that says why.
const JUSTIFICATION: &str = "brief_justification";

pub(super) fn tell(workspace: &Workspace, verified: VerifyAnswer) -> Result<Report, Failure> {
    let (tip, snapshot) = workspace.require()?;
    let is_here = workspace.log_from.is_none();
    let judges = tell_judges(workspace, &snapshot, &verified)?;
    let mut report = Report {
        mission: snapshot.mission.clone(),
        source: match &workspace.log_from {
            Some(from) => format!(
                "the log {} of {}, at {}",
                from.reference, from.shown, from.tip
            ),
            None => format!("the log of this worktree, at {}", tip.commit),
        },
        branch: snapshot.ledger.branch.clone(),
        made_at: workspace.clock.now(),
        verified,
        required_votes: snapshot.profile.required_stop_judges.0,
        slices: Vec::new(),
        open: Vec::new(),
        judgments: Vec::new(),
        judges,
        caught: Vec::new(),
        unheeded: None,
        kept: None,
        cost: None,
        timeline: Vec::new(),
        graph: GraphAnswer::new(&snapshot.plan, GraphForm::Drawn),
    };
    let catches = list_catches(workspace)?;
    report.unheeded = catches.unheeded;
    report.caught = catches.caught.into_iter().map(catch).collect();
    let mut events = walk(workspace, &snapshot, &mut report)?;
    for slice in &snapshot.plan.candidate_slices {
        let (attempts, events) = events.remove(&slice.slice_id).unwrap_or_default();
        report.open.extend(open_criteria(slice));
        report.slices.push(SliceStory {
            id: slice.slice_id.clone(),
            goal: slice.goal.clone(),
            status: slice.status,
            waits_for: slice.blocked_on.clone(),
            head: find_head(&snapshot, slice),
            attempts,
            events,
        });
    }
    if is_here {
        report.kept = Some(list_kept(workspace)?);
        let mut calls = GitStore::open(workspace.place())?.lines()?;
        calls.retain(|call| call.is_of(workspace.store_id()));
        report.cost = Some(CostAnswer::sum(&calls));
    }
    Ok(report)
}

fn catch(caught: Caught) -> Catch {
    let Caught {
        seq,
        subject,
        what,
        names,
    } = caught;
    Catch {
        seq,
        subject,
        what,
        names,
    }
}

/// Whose word the verdicts are, at the commit that was found done, else at HEAD.
fn tell_judges(
    workspace: &Workspace,
    snapshot: &Snapshot,
    verified: &VerifyAnswer,
) -> Result<Vec<String>, Failure> {
    let question = verified.question.as_ref();
    let standing = question.and_then(|question| question.commit.as_ref());
    let at = match standing.and_then(|standing| standing.done.clone()) {
        Some(done) => Head {
            commit: Some(done),
            tree: None,
            branch: None,
        },
        None => workspace.repo.head()?,
    };
    let verdicts = find_verdicts(workspace, snapshot, &at)?;
    Ok(verdicts.iter().map(|judged| judged.words()).collect())
}

fn find_head(snapshot: &Snapshot, slice: &Slice) -> Option<String> {
    let ledger = snapshot.ledger.slices.get(&slice.slice_id)?;
    ledger.head.clone().or_else(|| ledger.last_head.clone())
}

/// Of each slice: commits that were reported, and what was said of them.
type Events = BTreeMap<String, (usize, Vec<SliceEvent>)>;

/// Reads the transitions once, oldest first.
fn walk(
    workspace: &Workspace,
    snapshot: &Snapshot,
    report: &mut Report,
) -> Result<Events, Failure> {
    let store = workspace.store()?;
    let mut metas = store.entries()?.collect::<Result<Vec<Meta>, _>>()?;
    metas.reverse();
    let mut slices = Events::new();
    for meta in metas {
        if REPORTS.contains(&meta.event.as_str()) {
            let event = store.event(&meta.commit)?;
            if let Event::Judged {
                verdicts,
                submission,
            } = &event
            {
                let votes = &snapshot.ledger.wave.votes;
                report.judgments.push(Judgment {
                    seq: meta.seq,
                    session: submission.session.clone(),
                    yes: verdicts.positive,
                    counts: votes.iter().any(|vote| vote.seq.0 == meta.seq),
                    reasons: reasons(submission, &verdicts.findings),
                    concerns: verdicts.concerns.clone(),
                });
            } else {
                let (attempts, events) = slices.entry(meta.subject.clone()).or_default();
                *attempts += usize::from(matches!(event, Event::Implemented { .. }));
                events.extend(slice_event(meta.seq, event));
            }
        }
        report.timeline.push(Moment {
            time: Clock::of_epoch(meta.epoch_seconds),
            undone: snapshot.undone.seqs.contains(&meta.seq),
            seq: meta.seq,
            epoch_seconds: meta.epoch_seconds,
            event: meta.event,
            actor: meta.actor,
            rule: meta.rule,
            subject: meta.subject,
        });
    }
    Ok(slices)
}

fn slice_event(seq: u64, event: Event) -> Option<SliceEvent> {
    let (what, good, says) = match event {
        Event::Implemented { commit, .. } => ("a commit was reported", None, vec![commit]),
        Event::Returned { why, .. } => ("given back", Some(false), vec![why]),
        Event::Refused { role, codes, .. } => {
            let codes = codes.join(", ");
            (
                "a session was refused",
                Some(false),
                vec![format!("{role}: {codes}")],
            )
        }
        Event::Reviewed { verdicts, .. } => {
            let what = match verdicts.positive {
                true => "the review accepts it",
                false => "the review sends it back",
            };
            (what, Some(verdicts.positive), list_named(verdicts))
        }
        Event::Audited { verdicts, .. } => {
            let what = match verdicts.positive {
                true => "the audit finds nothing open",
                false => "the audit finds something open",
            };
            // Before the re-ground a contract is open because nobody has closed it yet.
            (
                what,
                verdicts.positive.then_some(true),
                list_named(verdicts),
            )
        }
        _ => return None,
    };
    Some(SliceEvent {
        seq,
        what,
        good,
        says,
    })
}

/// What it names; dimensions that fail stand among the concerns too, where those are on record.
fn list_named(verdicts: Verdicts) -> Vec<String> {
    let rated = match verdicts.concerns.is_empty() {
        true => verdicts.fails,
        false => verdicts.concerns,
    };
    [verdicts.findings, rated].concat()
}

/// Why a judge votes so: its own words, and what it names as open.
fn reasons(submission: &Submission, findings: &[String]) -> Vec<String> {
    let text = submission.report.fields.get(JUSTIFICATION);
    let lines = text.into_iter().flat_map(|text| text.lines());
    let mut reasons: Vec<String> = lines
        .map(|line| line.trim_start_matches(['-', '*', ' ']).to_owned())
        .collect();
    reasons.extend(
        findings
            .iter()
            .filter(|one| !text.is_some_and(|text| text.contains(one.as_str())))
            .cloned(),
    );
    reasons
}

/// Criteria that nobody has accepted yet.
fn open_criteria(slice: &Slice) -> Vec<OpenCriterion> {
    if matches!(slice.status, SliceStatus::Done | SliceStatus::Cancelled) {
        return Vec::new();
    }
    let records = || slice.evidence.iter().filter_map(Evidence::record);
    let criteria = slice.acceptance_criteria.iter();
    let open = criteria.map(|criterion| OpenCriterion {
        slice: slice.slice_id.clone(),
        text: criterion.clone(),
        anchor: records()
            .find(|record| record.criterion == *criterion)
            .map(|record| record.anchor.clone()),
    });
    open.collect()
}

fn list_kept(workspace: &Workspace) -> Result<Vec<Kept>, Failure> {
    let copies = workspace.store()?.rescue_list()?.into_iter();
    let copies = copies.map(|copy| Kept {
        time: Clock::of_epoch(copy.epoch_seconds),
        why: copy.why,
        files: copy.files.into_iter().map(|file| file.path).collect(),
        id: copy.id,
    });
    Ok(copies.collect())
}
