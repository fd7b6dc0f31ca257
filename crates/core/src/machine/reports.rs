//! What the reports of implementer, reviewer, auditor and judge do.

use super::drift;
use super::facts::{CommitQuestion, FactSet, GateQuestion, GateRun};
use super::finish::auditor_verdict;
use super::slices::criteria_sha256;
use super::work::{Work, attach};
use crate::change::LossKind;
use crate::diagnostic::{Code, Finding, Refusal};
use crate::digest::hex;
use crate::model::{
    ActiveStatus, AuditNote, Count, Outcome, Policy, Receipt, ReportRecord, ReviewNote, Role,
    SliceRecordType, SliceStatus, Snapshot, Subject, Submission, Verdicts, VerificationEvidence,
    Vote, Waiting, WaitingKind, surface_matches, surface_names,
};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// What an `Implemented` wants measured.
pub(super) fn implemented_needs(
    snapshot: &Snapshot,
    slice_id: &str,
    commit: &str,
    set: &mut FactSet,
) {
    set.worktree = true;
    set.config = true;
    let Some(handoff) = snapshot.active.handoff.as_ref().filter(|_| {
        drift::in_work(snapshot) && snapshot.active.slice_id.as_deref() == Some(slice_id)
    }) else {
        return;
    };
    set.commit = Some(CommitQuestion {
        commit: commit.to_owned(),
        basis: handoff.basis_commit.clone(),
        since: snapshot.ledger.head_seen.clone(),
    });
    set.gates = Some(GateQuestion {
        commit: commit.to_owned(),
        basis: handoff.basis_commit.clone(),
        commands: handoff.verification_commands.clone().unwrap_or_default(),
    });
    set.trust = own_commands(snapshot);
}

/// Commands that the handoff names.
fn own_commands(snapshot: &Snapshot) -> BTreeSet<String> {
    let handoff = snapshot.active.handoff.iter();
    handoff
        .flat_map(|handoff| handoff.verification_commands.iter().flatten())
        .cloned()
        .collect()
}

/// A commit of the active slice, with its gates run.
pub(super) fn implemented(
    work: &mut Work,
    slice_id: &str,
    submission: &Submission,
) -> Result<(), Refusal> {
    require_active(work, slice_id)?;
    let commit = commit_of(work, slice_id)?;
    let names = work.facts.untrusted(&own_commands(work.before))?;
    if !names.is_empty() {
        let trust = |name: &String| format!("run `cook trust {}`", super::quoted(name));
        return Err(Refusal::new(
            Code::TrustMissing,
            format!(
                "gates that are not trusted on this machine: {}",
                names.join(" · ")
            ),
        )
        .replace_hints(names.iter().map(trust)));
    }
    let runs = work.facts.gates()?.to_vec();
    let red: Vec<&GateRun> = runs
        .iter()
        .filter(|run| run.gate.required && !run.passed())
        .collect();
    let green = red.is_empty();
    let findings: Vec<String> = red.iter().map(|run| red_gate(run)).collect();
    for run in runs
        .iter()
        .filter(|run| !run.gate.required && !run.passed())
    {
        work.findings
            .push(Finding::new(Code::GateOptionalRed, red_gate(run)).at(run.gate.name.clone()));
    }
    note_outside_surfaces(work, slice_id)?;
    note_losses(work, slice_id, &runs)?;
    claim(work, slice_id, &commit)?;
    keep_named_settings(work, slice_id)?;
    write_evidence(work, slice_id, &commit, &runs, green);
    if green {
        commit_slice(work, slice_id, &commit, &runs, submission)?;
    } else {
        for text in &findings {
            work.findings
                .push(Finding::new(Code::GateRed, text.clone()).at(slice_id));
        }
        send_back(work, slice_id, findings);
    }
    Ok(())
}

fn require_active(work: &Work, slice_id: &str) -> Result<(), Refusal> {
    let active = work.active_id();
    if active.as_deref() == Some(slice_id) {
        return Ok(());
    }
    let in_work = active.map_or("nothing".to_owned(), |id| format!("`{id}`"));
    Err(Refusal::new(
        Code::WrongSlice,
        format!("the report is about slice `{slice_id}`, but {in_work} is in work"),
    ))
}

/// The full id of the reported commit, after every check on it.
fn commit_of(work: &Work, slice_id: &str) -> Result<String, Refusal> {
    let facts = work.facts.commit()?;
    let Some(id) = &facts.id else {
        return Err(Refusal::new(
            Code::CommitUnknown,
            "the reported id does not name exactly one commit",
        ));
    };
    let short = super::dispatch::short(id);
    if !facts.on_head {
        return Err(Refusal::new(
            Code::CommitNotOnHead,
            format!("commit {short} is not on HEAD"),
        ));
    }
    if !facts.after_basis {
        return Err(Refusal::new(
            Code::CommitNotAfterBasis,
            format!("commit {short} does not come after the slice's basis"),
        ));
    }
    if facts.paths.is_empty() {
        return Err(Refusal::new(
            Code::CommitEmpty,
            format!("nothing differs between the slice's basis and commit {short}"),
        ));
    }
    if let Some(ledger) = work.next.ledger.slices.get(slice_id)
        && (ledger.head.as_ref() == Some(id)
            || (ledger.last_head.as_ref() == Some(id) && has_must_fix(work)))
    {
        return Err(Refusal::new(
            Code::CommitAlreadyReported,
            format!("commit {short} was reported, and nothing was committed since"),
        ));
    }
    let surfaces = surfaces(work, slice_id);
    let forbidden: Vec<&String> = facts
        .protected
        .iter()
        .filter(|path| !surfaces.iter().any(|surface| surface_names(surface, path)))
        .filter(|path| !is_as_the_user_left_it(work, path))
        .collect();
    if let Some(path) = forbidden.first() {
        return Err(Refusal::new(
            Code::ProtectedPath,
            format!("the slice's work changes `{path}`, which is protected"),
        )
        .replace_hints(["take the change back, or, when the user wants it, name the path in the slice's `implementation_surfaces` in `.agent/plan.json` and run `cook adopt`"]));
    }
    Ok(id.clone())
}

/// A settings file that changed since the basis, and is as the user wants it.
fn is_as_the_user_left_it(work: &Work, path: &str) -> bool {
    let left = work.before.ledger.settings.get(path);
    let found = work.facts.settings.as_ref();
    left.is_some() && left == found.and_then(|found| found.get(path))
}

fn has_must_fix(work: &Work) -> bool {
    work.next
        .active
        .handoff
        .as_ref()
        .is_some_and(|handoff| !handoff.must_fix_findings.is_empty())
}

fn surfaces(work: &Work, slice_id: &str) -> Vec<String> {
    work.next
        .plan
        .slice(slice_id)
        .and_then(|slice| slice.implementation_surfaces.clone())
        .unwrap_or_default()
}

fn red_gate(run: &GateRun) -> String {
    let name = &run.gate.name;
    if let Some(problem) = &run.problem {
        return format!("gate `{name}`: {problem}");
    }
    let Some(receipt) = &run.receipt else {
        return format!("gate `{name}` did not run");
    };
    if receipt.passed() {
        return format!("gate `{name}` passes at the basis too, and must fail there");
    }
    let how = receipt.ending();
    let last = receipt
        .tail
        .lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("");
    format!("gate `{name}` {how}: {}", last.trim())
}

fn note_outside_surfaces(work: &mut Work, slice_id: &str) -> Result<(), Refusal> {
    let surfaces = surfaces(work, slice_id);
    if surfaces.is_empty() {
        return Ok(());
    }
    let outside: Vec<String> = work
        .facts
        .commit()?
        .paths
        .iter()
        .filter(|path| {
            !surfaces
                .iter()
                .any(|surface| surface_matches(surface, path))
        })
        .take(20)
        .cloned()
        .collect();
    if !outside.is_empty() {
        let what = format!(
            "changed outside the slice's surfaces: {}",
            outside.join(", ")
        );
        work.remark(Code::OutsideSurfaces, slice_id, what);
    }
    Ok(())
}

/// What the slice takes away from the tests. The diff is the whole slice's: what was said of
/// an earlier commit of it holds no longer.
fn note_losses(work: &mut Work, slice_id: &str, runs: &[GateRun]) -> Result<(), Refusal> {
    let by_diff = work.facts.commit()?.losses.clone();
    let by_gates = runs.iter().flat_map(|run| run.losses.clone());
    work.next.ledger.remarks.retain(|remark| {
        remark.slice_id != slice_id || !LOSSES.iter().any(|code| code.id() == remark.code)
    });
    for loss in by_diff.into_iter().chain(by_gates) {
        let code = match loss.kind {
            LossKind::Deleted => Code::TestDeleted,
            LossKind::Skipped => Code::TestSkipped,
            LossKind::Weakened => Code::TestWeakened,
            LossKind::Fewer => Code::TestsFewer,
        };
        work.remark(code, slice_id, loss.what);
    }
    Ok(())
}

const LOSSES: [Code; 4] = [
    Code::TestDeleted,
    Code::TestSkipped,
    Code::TestWeakened,
    Code::TestsFewer,
];

/// Settings that the slice names as its own work are the user's from here on.
fn keep_named_settings(work: &mut Work, slice_id: &str) -> Result<(), Refusal> {
    let surfaces = surfaces(work, slice_id);
    let found = work.facts.settings()?.clone();
    for (path, digest) in found {
        let named = surfaces.iter().any(|surface| surface_names(surface, &path));
        let kept = work.next.ledger.settings.get(&path);
        if named && kept.is_some_and(|kept| *kept != digest) {
            let what = format!("`{path}` was changed, as the slice says it would be");
            work.remark(Code::ContractEdited, slice_id, what);
            work.next.ledger.settings.insert(path, digest);
        }
    }
    Ok(())
}

/// Every commit that appeared during the session is the slice's.
fn claim(work: &mut Work, slice_id: &str, commit: &str) -> Result<(), Refusal> {
    let session = work.facts.commit()?.claimed.clone();
    let basis = work
        .next
        .active
        .handoff
        .as_ref()
        .map(|handoff| handoff.basis_commit.clone())
        .unwrap_or_default();
    let range = work.facts.range(&basis)?.clone();
    let upto = range
        .commits
        .iter()
        .position(|seen| seen.id == commit)
        .map_or(0, |index| index + 1);
    let own = range.commits[..upto]
        .iter()
        .filter(|seen| seen.slice.as_deref() == Some(slice_id))
        .map(|seen| seen.id.clone());
    let ledger = work.ledger(slice_id);
    for id in session.into_iter().chain(own).chain([commit.to_owned()]) {
        if !ledger.claimed.contains(&id) {
            ledger.claimed.push(id);
        }
    }
    ledger.reported = Some(commit.to_owned());
    Ok(())
}

fn write_evidence(work: &mut Work, slice_id: &str, commit: &str, runs: &[GateRun], green: bool) {
    let Some(slice) = work.next.plan.slice(slice_id) else {
        return;
    };
    let receipts: Vec<Receipt> = runs
        .iter()
        .flat_map(|run| run.receipt.iter().chain(run.at_basis.iter()))
        .cloned()
        .collect();
    let evidence = VerificationEvidence {
        subject_type: Subject::SelectedSlice,
        slice_id: Some(slice_id.to_owned()),
        goal: Some(slice.goal.clone()),
        contract_ids: slice.contract_ids.clone(),
        basis_commit: slice.basis_commit.clone(),
        head_sha: Some(commit.to_owned()),
        verification_commands: runs.iter().map(|run| run.gate.run.clone()).collect(),
        outcome: match (runs.is_empty(), green) {
            (true, _) => Outcome::NotRecorded,
            (false, true) => Outcome::Passed,
            (false, false) => Outcome::Failed,
        },
        recorded_at: Some(work.now()),
        summary: format!(
            "{} of {} gates passed",
            runs.iter().filter(|run| run.passed()).count(),
            runs.len()
        ),
        runs: receipts,
        ..VerificationEvidence::none()
    };
    work.next.evidence = evidence;
}

fn commit_slice(
    work: &mut Work,
    slice_id: &str,
    commit: &str,
    runs: &[GateRun],
    submission: &Submission,
) -> Result<(), Refusal> {
    let tree = work.facts.commit()?.tree.clone();
    let receipts: Vec<String> = runs
        .iter()
        .filter_map(|run| run.receipt.as_ref())
        .map(|receipt| receipt.id.clone())
        .collect();
    let ledger = work.ledger(slice_id);
    ledger.head = Some(commit.to_owned());
    ledger.head_tree = tree;
    ledger.receipts = receipts.clone();
    // After an undo the same commit may be reported again; a no to it stays.
    ledger
        .review
        .take_if(|review| review.acceptable || review.commit != commit);
    ledger.audit = None;
    let claimed = ledger.claimed.clone();
    let record = work.slice_record(SliceRecordType::Implemented, slice_id, commit);
    attach(record, submission);
    record.receipts = Some(receipts);
    record.claimed = Some(claimed);
    if let Some(slice) = work.next.plan.slice_mut(slice_id) {
        slice.status = SliceStatus::InProgress;
        slice.must_fix_findings = Some(Vec::new());
    }
    work.next.active.status = ActiveStatus::Committed;
    work.sync_handoff();
    work.next.state.slices_since_last_reground.0 += 1;
    if !runs.is_empty() {
        work.next.state.latest_verified_slice = Some(slice_id.to_owned());
    }
    Ok(())
}

/// Red gates: the slice goes back to work and an attempt is spent.
fn send_back(work: &mut Work, slice_id: &str, findings: Vec<String>) {
    if let Some(slice) = work.next.plan.slice_mut(slice_id) {
        slice.status = SliceStatus::InProgress;
        slice.must_fix_findings = Some(findings);
    }
    let ledger = work.ledger(slice_id);
    if let Some(head) = ledger.head.take() {
        ledger.last_head = Some(head);
    }
    work.next.active.status = ActiveStatus::InProgress;
    work.sync_handoff();
    work.next
        .counters
        .attempts
        .entry(slice_id.to_owned())
        .or_default()
        .0 += 1;
}

/// The implementer says the plan must change first.
pub(super) fn returned(work: &mut Work, slice_id: &str, why: &str) -> Result<(), Refusal> {
    require_active(work, slice_id)?;
    work.next.state.requires_reground = true;
    work.next.ledger.returned = Some(why.to_owned());
    Ok(())
}

/// What reviewer, auditor and judge want measured.
pub(super) fn read_only_needs(set: &mut FactSet) {
    set.worktree = true;
    set.config = true;
}

/// A read-only role leaves the worktree as it was at the last transition.
fn require_same_tree(work: &Work) -> Result<(), Refusal> {
    let worktree = work.facts.worktree()?;
    let same = work
        .before
        .ledger
        .status_seen
        .as_ref()
        .is_none_or(|seen| seen == &worktree.digest);
    if same || worktree.is_clean() {
        return Ok(());
    }
    Err(Refusal::new(
        Code::TreeChanged,
        format!(
            "the worktree changed since the last transition: {}",
            worktree.dirty.iter().take(5).cloned().collect::<Vec<_>>().join(", ")
        ),
    )
    .replace_hints(["commit, stash or put back these paths; `cook pause` then `cook resume` takes the tree as it is"]))
}

fn committed_key(work: &Work) -> Result<(String, String, String), Refusal> {
    let id = work
        .active_id()
        .filter(|_| work.next.active.status == ActiveStatus::Committed)
        .ok_or_else(|| Refusal::new(Code::WrongSlice, "no committed slice is in work"))?;
    let head = work
        .next
        .ledger
        .slices
        .get(&id)
        .and_then(|slice| slice.head.clone())
        .ok_or_else(|| Refusal::new(Code::WrongSlice, "the committed slice has no commit"))?;
    let criteria = work
        .next
        .plan
        .slice(&id)
        .map(|slice| criteria_sha256(&slice.acceptance_criteria))
        .unwrap_or_default();
    Ok((id, head, criteria))
}

/// A review of the current key.
pub(super) fn reviewed(
    work: &mut Work,
    verdicts: &Verdicts,
    submission: &Submission,
) -> Result<(), Refusal> {
    require_same_tree(work)?;
    let (id, head, criteria) = committed_key(work)?;
    require_new_words(work, submission)?;
    let seq = work.seq();
    work.ledger(&id).review = Some(ReviewNote {
        commit: head.clone(),
        criteria_sha256: criteria.clone(),
        acceptable: verdicts.positive,
        fails: verdicts.fails.clone(),
        findings: verdicts.findings.clone(),
        follow_up: verdicts.follow_up.clone(),
        report_sha256: submission.report_sha256.clone(),
        seq,
    });
    let record = work.slice_record(SliceRecordType::Reviewed, &id, &head);
    attach(record, submission);
    record.criteria_sha256 = Some(criteria);
    Ok(())
}

/// An audit of the current key.
pub(super) fn audited(
    work: &mut Work,
    verdicts: &Verdicts,
    submission: &Submission,
) -> Result<(), Refusal> {
    require_same_tree(work)?;
    let (id, head, criteria) = committed_key(work)?;
    let seq = work.seq();
    work.ledger(&id).audit = Some(AuditNote {
        commit: head.clone(),
        criteria_sha256: criteria.clone(),
        findings: verdicts.findings.clone(),
        report_sha256: submission.report_sha256.clone(),
        seq,
    });
    let record = work.slice_record(SliceRecordType::Audited, &id, &head);
    attach(record, submission);
    record.criteria_sha256 = Some(criteria);
    work.next.state.last_auditor_verdict = Some(auditor_verdict(!verdicts.positive));
    Ok(())
}

/// A vote of the current wave.
pub(super) fn judged(
    work: &mut Work,
    verdicts: &Verdicts,
    submission: &Submission,
) -> Result<(), Refusal> {
    require_same_tree(work)?;
    let head = work.head()?;
    require_new_judge(work, submission)?;
    require_new_words(work, submission)?;
    require_latest_commit(work, verdicts, &head)?;
    let seq = work.seq();
    let mut blockers: Vec<String> = verdicts.findings.clone();
    if !verdicts.open_contract_ids.is_empty() {
        blockers.push(format!(
            "open contracts: {}",
            verdicts.open_contract_ids.join(", ")
        ));
    }
    if verdicts.blocker_count.0 + verdicts.high_value_gap_count.0 > 0 {
        blockers.push(format!(
            "{} blockers, {} high-value gaps",
            verdicts.blocker_count.0, verdicts.high_value_gap_count.0
        ));
    }
    let wave = &mut work.next.ledger.wave;
    wave.votes
        .retain(|vote| vote.head == head || !vote.can_stop);
    wave.votes.push(Vote {
        head: head.clone(),
        can_stop: verdicts.positive,
        blocker_count: verdicts.blocker_count,
        high_value_gap_count: verdicts.high_value_gap_count,
        blockers,
        session: submission.session.clone(),
        ticket: submission.ticket.clone(),
        report_sha256: submission.report_sha256.clone(),
        seq,
    });
    if wave.opened_at.as_ref() != Some(&head) {
        wave.opened_at = Some(head.clone());
        wave.opened = Count(1);
    }
    work.stop_record(&head, verdicts, submission);
    Ok(())
}

/// Reports whose digests are kept.
const HEARD: usize = 256;

/// Without a session or a ticket the words are all that tells two verdicts apart, whatever
/// commit or wave they are handed in for. (An audit decides nothing, and may say the same.)
fn require_new_words(work: &mut Work, submission: &Submission) -> Result<(), Refusal> {
    if submission.session.is_some() || submission.ticket.is_some() {
        return Ok(());
    }
    let words = words_sha256(&submission.report);
    let heard = &mut work.next.ledger.heard;
    if heard.contains(&words) {
        return Err(Refusal::new(
            Code::DuplicateReport,
            "these words were handed in before",
        )
        .hint("hand the report in with the ticket of `cook next --json`: `cook record ROLE --ticket TICKET`"));
    }
    heard.push(words);
    let over = heard.len().saturating_sub(HEARD);
    heard.drain(..over);
    Ok(())
}

/// Digest of what a report says, white space folded.
fn words_sha256(report: &ReportRecord) -> String {
    let fold = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut digest = Sha256::new();
    digest.update(report.role.id());
    for (field, value) in &report.fields {
        digest.update([0]);
        digest.update(field);
        digest.update([0]);
        digest.update(fold(value));
    }
    let rubric = serde_json::to_string(&report.rubric).unwrap_or_default();
    digest.update(fold(&rubric));
    hex(&digest.finalize())
}

/// Two votes come from two sessions; told by session, else by ticket, else by text.
fn require_new_judge(work: &Work, submission: &Submission) -> Result<(), Refusal> {
    let twin = work.next.ledger.wave.votes.iter().find(|vote| {
        match (
            &submission.session,
            &vote.session,
            &submission.ticket,
            &vote.ticket,
        ) {
            (Some(mine), Some(theirs), _, _) => mine == theirs,
            (_, _, Some(mine), Some(theirs)) => mine == theirs,
            _ => submission.report_sha256 == vote.report_sha256,
        }
    });
    match twin {
        None => Ok(()),
        Some(vote) => Err(Refusal::new(
            Code::DuplicateReport,
            format!("this judgment is already recorded as number {}", vote.seq.0),
        )),
    }
}

/// The commit a judge names is the latest completed slice's, or HEAD.
fn require_latest_commit(work: &Work, verdicts: &Verdicts, head: &str) -> Result<(), Refusal> {
    let Some(named) = &verdicts.commit else {
        return Ok(());
    };
    let latest = work
        .next
        .state
        .latest_completed_slice
        .as_ref()
        .and_then(|id| work.next.ledger.slices.get(id))
        .and_then(|slice| slice.last_head.clone());
    let fits = |commit: &str| commit.starts_with(named.as_str());
    if named.len() >= 7 && (fits(head) || latest.as_deref().is_some_and(fits)) {
        return Ok(());
    }
    Err(Refusal::new(
        Code::WrongCommit,
        format!(
            "the report names `{named}` as the latest completed slice's commit, it is {}",
            latest.as_deref().map_or("none", super::dispatch::short)
        ),
    ))
}

/// A role needs something only the user has. Those that judge do not ask.
pub(super) fn asked(work: &mut Work, role: Role, question: &str) -> Result<(), Refusal> {
    let may_ask = matches!(
        role,
        Role::Bootstrapper | Role::Regrounder | Role::Implementer
    );
    if !may_ask {
        return Err(Refusal::new(
            Code::NotYourTurn,
            format!("the {role} reports a verdict and asks nothing"),
        ));
    }
    work.next.state.continuation_policy = Policy::AwaitUserInput;
    work.next.ledger.waiting = Some(Waiting {
        kind: WaitingKind::Question,
        what: question.to_owned(),
        exit: "cook answer 'TEXT'".to_owned(),
    });
    Ok(())
}

/// A driven session's report was refused: an attempt is spent, nothing else moves.
pub(super) fn refused(work: &mut Work) {
    work.next.counters.refused.0 += 1;
    if let Some(id) = work.active_id() {
        work.next.counters.attempts.entry(id).or_default().0 += 1;
    }
}
