//! Implementers' reports: a commit of the slice, a reason why the plan must change first, or a question.

use super::active::take_vanished_away;
use super::facts::{CommitFacts, GateRun, Range};
use super::slices::handoff_commands;
use super::wave::add_new;
use super::work::{Work, attach, quote_word, require_reground};
use super::{drift, user_answers};
use crate::change::{code_of, list_test_changes, list_undeclared};
use crate::diagnostic::without_escapes;
use crate::model::{Outcome, surface_matches, surface_names};
use crate::prelude::*;
use crate::question::{CommitQuestion, GateQuestion};
use crate::report::{advice, list_items};
use crate::trials::Word;

/// The report field that holds the results of the checks.
const RESULTS: &str = "verification_results";
/// Maximum number of failed tests, and of declarations, that are named.
const NAMED: usize = 10;

/// The question about the commit that an `Implemented` event reports.
pub fn ask_commit(snapshot: &Snapshot, event: &Event) -> Option<CommitQuestion> {
    let Event::Implemented {
        slice_id,
        commit,
        submission,
        ..
    } = event
    else {
        return None;
    };
    let is_active = snapshot.active.slice_id.as_ref() == Some(slice_id) && snapshot.is_in_work();
    let handoff = snapshot.active.handoff.as_ref().filter(|_| is_active)?;
    let ledger = snapshot.find_ledger(slice_id);
    Some(CommitQuestion {
        commit: commit.clone(),
        basis: handoff.basis_commit.clone(),
        since: submission.began_at.clone(),
        slice_id: slice_id.clone(),
        claimed: ledger.map_or_else(Default::default, |ledger| {
            ledger.claimed.iter().cloned().collect()
        }),
    })
}

/// Records a commit of the active slice and the runs of its gates.
pub(super) fn implement(
    work: &mut Work,
    slice_id: &str,
    evidence: &[Offer],
    submission: &Submission,
) -> Result<(), Refusal> {
    require_active(work, slice_id)?;
    let commit = find_commit(work, slice_id)?;
    take_vanished_away(work)?;
    let names = work.facts.list_untrusted(&handoff_commands(work.before))?;
    if !names.is_empty() {
        let trust = |name: &String| format!("run `cook trust {}`", quote_word(name));
        return Err(refusal!(
            Code::TrustMissing,
            "gates that are not trusted on this machine: {}",
            names.join(" · ")
        )
        .replace_hints(names.iter().map(trust)));
    }
    let handoff = work.before.active.handoff.clone().unwrap_or_default();
    let runs = work.facts.gates(GateQuestion {
        commit: commit.clone(),
        basis: handoff.basis_commit,
        commands: handoff.verification_commands.unwrap_or_default(),
    })?;
    let runs = runs.to_vec();
    require_declared(work)?;
    let red: Vec<&GateRun> = runs
        .iter()
        .filter(|run| run.gate.required && !run.has_passed())
        .collect();
    let green = red.is_empty();
    let findings: Vec<String> = red.iter().map(|run| red_gate(run)).collect();
    for run in runs
        .iter()
        .filter(|run| !run.gate.required && !run.has_passed())
    {
        work.note(Code::GateOptionalRed, run.gate.name.clone(), red_gate(run));
    }
    note_outside_surfaces(work, slice_id, &submission.report)?;
    note_runs(work, slice_id, &runs)?;
    claim(work, slice_id, &commit)?;
    keep_named_settings(work, slice_id)?;
    write_evidence(work, slice_id, &commit, &runs, green);
    work.note_remarks(slice_id, &submission.report);
    let ledger = work.ledger(slice_id);
    ledger.checked = submission.report.fields.get(RESULTS).cloned();
    keep_offers(work, slice_id, evidence, submission);
    work.note_fixes(slice_id, &submission.report);
    note_strength(work, slice_id, green);
    if green {
        commit_slice(work, slice_id, &commit, &runs, submission)?;
    } else {
        for text in &findings {
            work.note(Code::GateRed, slice_id, text.clone());
        }
        send_back(work, slice_id, findings);
    }
    Ok(())
}

/// Refuses a commit that takes away from the tests of the basis, unless a commit message declares it.
fn require_declared(work: &Work) -> Result<(), Refusal> {
    let undeclared = list_undeclared(&work.facts.trials);
    if undeclared.is_empty() {
        return Ok(());
    }
    let what = format!(
        "{} of the basis, or the files that run them, were changed, and no commit declares the change",
        count_noun(undeclared.len() as u64, "test")
    );
    let findings = undeclared
        .iter()
        .map(|line| Finding::new(code_of(line.word), line.what.clone()).at(line.name.clone()));
    let declarations = undeclared.iter().filter_map(|line| line.declaration());
    let declare = |line: String| {
        format!(
            "fix the code; or, if the change is intended, commit (`git commit --allow-empty`) with this line in the message: {line}"
        )
    };
    Err(Refusal::new(Code::TestsUndeclared, what)
        .with(findings.collect())
        .replace_hints(declarations.take(NAMED).map(declare)))
}

/// Keeps the result of the planted defects, if the gates are green.
fn note_strength(work: &mut Work, slice_id: &str, green: bool) {
    let note = work.facts.strength.clone().filter(|_| green);
    let codes = [
        Code::ProvesNothing,
        Code::StrengthUnknown,
        Code::DefectsUnnoticed,
    ];
    // Remarks on an earlier attempt no longer apply.
    work.next.ledger.remarks.retain(|remark| {
        remark.slice_id != slice_id || codes.iter().all(|code| code.id() != remark.code)
    });
    if let Some(note) = &note {
        let code = match (note.proves_nothing, &note.problem) {
            (true, _) => Some(Code::ProvesNothing),
            (false, Some(_)) => Some(Code::StrengthUnknown),
            (false, None) => (note.unnoticed.0 > 0).then_some(Code::DefectsUnnoticed),
        };
        if let Some(code) = code {
            work.remark(code, slice_id, note.tell());
        }
    }
    work.ledger(slice_id).strength = note.map(Box::new);
}

/// Gives the slice back, because the implementer says that the plan must change first.
pub(super) fn hand_back(
    work: &mut Work,
    slice_id: &str,
    why: &str,
    submission: &Submission,
) -> Result<(), Refusal> {
    require_active(work, slice_id)?;
    // Commits of its session stay the slice's, with or without a trailer.
    let made: Vec<String> = match (&submission.began_at, drift::mark(work.before)) {
        (Some(seen), Some(mark)) => {
            let commits = &work.facts.since(mark)?.commits;
            let before = commits.iter().position(|commit| commit.id == *seen);
            let is_mark = mark == seen;
            let made = match before {
                Some(at) => &commits[at + 1..],
                None if is_mark => &commits[..],
                None => &[],
            };
            made.iter().map(|commit| commit.id.clone()).collect()
        }
        _ => Vec::new(),
    };
    let ledger = work.ledger(slice_id);
    for id in made {
        if !ledger.claimed.contains(&id) {
            ledger.claimed.push(id);
        }
    }
    require_reground(&mut work.next, format!("slice `{slice_id}` was given back"));
    work.next.ledger.returned = Some(why.to_owned());
    Ok(())
}

/// Keeps the proof that the implementer names for each criterion. Under `strict` the regrounder names it.
fn keep_offers(work: &mut Work, slice_id: &str, evidence: &[Offer], submission: &Submission) {
    let is_heard = !work.before.assurance().is_strict() && !evidence.is_empty();
    let ledger = work.ledger(slice_id);
    ledger.offered = match is_heard {
        true => evidence.to_vec(),
        false => Vec::new(),
    };
    ledger.offered_by = submission.session.clone().filter(|_| is_heard);
}

fn require_active(work: &Work, slice_id: &str) -> Result<(), Refusal> {
    let active = work.active_id();
    if active.as_deref() == Some(slice_id) {
        return Ok(());
    }
    let in_work = active.map_or("nothing".to_owned(), |id| format!("`{id}`"));
    Err(refusal!(
        Code::WrongSlice,
        "the report is about slice `{slice_id}`, but {in_work} is in work"
    ))
}

fn red_gate(run: &GateRun) -> String {
    let name = &run.gate.name;
    if let Some(problem) = &run.problem {
        return format!("gate `{name}`: {problem}");
    }
    let Some(receipt) = &run.receipt else {
        return format!("gate `{name}` did not run");
    };
    if receipt.has_passed() {
        return format!("gate `{name}` passes at the basis too, and must fail there");
    }
    let how = receipt.ending();
    if !run.failed.is_empty() {
        let names: Vec<&str> = run.failed.iter().take(NAMED).map(String::as_str).collect();
        let more = match run.failed.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        return format!("gate `{name}` {how}: failed: {}{more}", names.join(", "));
    }
    let tail = without_escapes(&receipt.tail);
    let lines = tail.lines().map(str::trim);
    let last = lines.rev().find(|line| !line.is_empty()).unwrap_or("");
    format!("gate `{name}` {how}: {last}")
}

/// Accepts changed settings files as the user's, if the slice names them as its surfaces.
fn keep_named_settings(work: &mut Work, slice_id: &str) -> Result<(), Refusal> {
    let surfaces = work.next.plan.surfaces(slice_id).to_vec();
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

fn write_evidence(work: &mut Work, slice_id: &str, commit: &str, runs: &[GateRun], green: bool) {
    let Some(slice) = work.next.plan.slice(slice_id) else {
        return;
    };
    let receipts: Vec<Receipt> = runs
        .iter()
        .filter_map(|run| run.receipt.as_ref())
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
            runs.iter().filter(|run| run.has_passed()).count(),
            runs.len()
        ),
        runs: receipts,
        ..VerificationEvidence::default()
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
    work.set_audit_aside(slice_id);
    let ledger = work.ledger(slice_id);
    ledger.head = Some(commit.to_owned());
    ledger.head_tree = tree;
    ledger.receipts = receipts.clone();
    ledger.holds = None;
    let claimed = ledger.claimed.clone();
    let record = work.slice_record(SliceRecordType::Implemented, slice_id, commit);
    attach(record, submission);
    record.receipts = Some(receipts);
    record.claimed = Some(claimed);
    // After an undo the same commit may be reported again; a no to it stays.
    let ledger = work.ledger(slice_id);
    let is_no = |review: &ReviewNote| review.rejects() && review.commit == commit;
    if ledger.review.is_none() {
        ledger.review = ledger.sent_back.take_if(|review| is_no(review));
    }
    let is_rejected = ledger.review.as_deref().is_some_and(is_no);
    let mut fixed = match is_rejected {
        true => work.ledger(slice_id).fixed.clone(),
        false => work.take_review(slice_id),
    };
    if let Some(slice) = work.next.plan.slice_mut(slice_id) {
        slice.status = SliceStatus::InProgress;
        let must = slice.must_fix_findings.replace(Vec::new());
        add_new(&mut fixed, must.unwrap_or_default());
    }
    work.ledger(slice_id).fixed = fixed;
    work.next.active.status = ActiveStatus::Committed;
    work.sync_handoff();
    work.next.state.slices_since_last_reground.0 += 1;
    if !runs.is_empty() {
        work.next.state.latest_verified_slice = Some(slice_id.to_owned());
    }
    Ok(())
}

/// Sends the slice back to work because of red gates, and spends an attempt. Their findings replace those of
/// earlier red gates.
fn send_back(work: &mut Work, slice_id: &str, findings: Vec<String>) {
    let unfixed = work.take_review(slice_id);
    let before = std::mem::replace(&mut work.ledger(slice_id).red_gates, findings.clone());
    if let Some(slice) = work.next.plan.slice_mut(slice_id) {
        slice.status = SliceStatus::InProgress;
        let must = slice.must_fix_findings.get_or_insert_default();
        add_new(must, unfixed);
        must.retain(|text| !before.contains(text));
        add_new(must, findings);
    }
    work.set_audit_aside(slice_id);
    let ledger = work.ledger(slice_id);
    ledger.holds = None;
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

// The commit that an implementer names: whether it can be the slice's, which commits come with it, and which of
// its changes reviewers should see.

/// Checks the reported commit, and returns its full id.
fn find_commit(work: &Work, slice_id: &str) -> Result<String, Refusal> {
    let facts = work.facts.commit()?;
    let Some(id) = &facts.id else {
        return Err(Refusal::new(
            Code::CommitUnknown,
            "the reported id does not name exactly one commit",
        ));
    };
    let short = short(id);
    if !facts.on_head {
        return Err(refusal!(
            Code::CommitNotOnHead,
            "commit {short} is not on HEAD"
        ));
    }
    if !facts.after_basis {
        return Err(refusal!(
            Code::CommitNotAfterBasis,
            "commit {short} does not come after the slice's basis"
        ));
    }
    if facts.paths.is_empty() {
        return Err(refusal!(
            Code::CommitEmpty,
            "commit {short} does not change anything since the slice's basis"
        ));
    }
    if let Some(ledger) = work.next.find_ledger(slice_id)
        && (ledger.head.as_ref() == Some(id)
            || (ledger.last_head.as_ref() == Some(id) && has_must_fix(work)))
    {
        return Err(refusal!(
            Code::CommitAlreadyReported,
            "commit {short} was already reported, and it is the newest one"
        ));
    }
    let mut others = work.next.ledger.slices.iter();
    if let Some((other, _)) =
        others.find(|(other, ledger)| *other != slice_id && ledger.claimed.contains(id))
    {
        return Err(refusal!(Code::CommitAlreadyReported, "commit {short} was reported for slice `{other}`")
        .replace_hints([format!(
            "make a commit with the trailer `Cook-Slice: {slice_id}` and report it; it may be empty if HEAD already contains the work"
        )]));
    }
    let ledger = work.next.find_ledger(slice_id);
    if facts.is_earlier && !ledger.is_some_and(|it| it.is_held_by(id)) {
        return Err(refusal!(
            Code::WrongCommit,
            "commit {short} was there before this session began, and nothing says that it is the slice's"
        )
        .replace_hints([format!(
            "report a commit of this session; if an earlier session made {short} for the slice, run `git commit --amend --no-edit --trailer 'Cook-Slice: {slice_id}'` and report what that makes"
        )]));
    }
    let surfaces = work.next.plan.surfaces(slice_id).to_vec();
    let forbidden: Vec<&String> = facts
        .protected
        .iter()
        .filter(|path| !surfaces.iter().any(|surface| surface_names(surface, path)))
        .filter(|path| !is_as_the_user_left_it(work, path))
        .collect();
    if let Some(path) = forbidden.first() {
        return Err(refusal!(Code::ProtectedPath, "the slice's work changes `{path}`, which is protected")
        .replace_hints(["revert the change, or, if the user wants it, add the path to the slice's `implementation_surfaces` in `.agent/plan.json` and run `cook plan adopt`"]));
    }
    Ok(id.clone())
}

/// Whether a changed settings file is as the user left it.
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

fn note_outside_surfaces(
    work: &mut Work,
    slice_id: &str,
    report: &ReportRecord,
) -> Result<(), Refusal> {
    let surfaces = work.next.plan.surfaces(slice_id).to_vec();
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
        let reasons = list_said_of(report, &outside);
        let said = match reasons.is_empty() {
            true => "; the implementer gives no reason".to_owned(),
            false => format!("; the implementer says: {}", reasons.join("; ")),
        };
        let what = format!(
            "changed outside the slice's surfaces: {}{said}",
            outside.join(", ")
        );
        work.remark(Code::OutsideSurfaces, slice_id, what);
    }
    Ok(())
}

/// The report's items about changed files that say more of these paths than their names.
fn list_said_of(report: &ReportRecord, paths: &[String]) -> Vec<String> {
    let files = list_items(report, "files_changed");
    files
        .into_iter()
        .filter(|item| {
            paths.iter().any(|path| {
                let named = item.trim_matches(['`', '*']);
                item.contains(path.as_str()) && named != path
            })
        })
        .collect()
}

/// Remarks on what the slice takes away from the tests, and on what may make its gates' runs differ from those in
/// a clone. They are about the whole slice's diff and replace the remarks on its earlier commits.
fn note_runs(work: &mut Work, slice_id: &str, runs: &[GateRun]) -> Result<(), Refusal> {
    let lines = work.facts.trials.clone();
    work.next.ledger.remarks.retain(|remark| {
        remark.slice_id != slice_id || !OF_RUNS.iter().any(|code| code.id() == remark.code)
    });
    for what in runs.iter().flat_map(|run| &run.remarks) {
        work.remark(Code::GateSurroundings, slice_id, what);
    }
    for line in lines.iter().filter(|line| line.word != Word::FailToPass) {
        let what = match &line.declared {
            Some(why) => format!("{}; declared: {why}", line.what),
            None => line.what.clone(),
        };
        work.remark(code_of(line.word), slice_id, what);
    }
    work.ledger(slice_id).test_changes = list_test_changes(&lines);
    Ok(())
}

/// Codes of the remarks that each new run of the slice's gates replaces.
const OF_RUNS: [Code; 12] = [
    Code::GateSurroundings,
    Code::PassToFail,
    Code::Bent,
    Code::TestRepaired,
    Code::SetAside,
    Code::Lost,
    Code::RedBefore,
    Code::NotComparable,
    Code::RunnerChanged,
    Code::GateChanged,
    Code::ChangeUnnoticed,
    Code::DeclarationUnknown,
];

/// The commits that a slice's report claims: those of its session that no other slice has and no merge brought in,
/// those with the slice's trailer up to the reported commit, and that commit itself.
pub fn claims(
    slice_id: &str,
    commit: &str,
    facts: &CommitFacts,
    range: &Range,
    is_others: impl Fn(&String) -> bool,
) -> Vec<String> {
    let session = facts.claimed.iter();
    let session = session.filter(|made| !facts.merged.contains(made) && !is_others(made));
    let commits = &range.commits;
    let upto = commits.iter().position(|seen| seen.id == commit);
    let upto = &commits[..upto.map_or(0, |at| at + 1)];
    let own = upto
        .iter()
        .filter(|seen| seen.slice.as_deref() == Some(slice_id))
        .map(|seen| &seen.id);
    let claimed = session.chain(own).cloned();
    claimed.chain([commit.to_owned()]).collect()
}

/// Adds the commits that the report claims to the slice.
pub(super) fn claim(work: &mut Work, slice_id: &str, commit: &str) -> Result<(), Refusal> {
    let slices = &work.next.ledger.slices;
    let is_others = |made: &String| {
        let mut others = slices.iter().filter(|(other, _)| *other != slice_id);
        others.any(|(_, ledger)| ledger.claimed.contains(made))
    };
    let handoff = work.next.active.handoff.as_ref();
    let basis = handoff.map(|handoff| handoff.basis_commit.as_str());
    let range = work.facts.range(basis.unwrap_or_default())?;
    let claimed = claims(slice_id, commit, work.facts.commit()?, range, is_others);
    let ledger = work.ledger(slice_id);
    for id in claimed {
        if !ledger.claimed.contains(&id) {
            ledger.claimed.push(id);
        }
    }
    ledger.reported = Some(commit.to_owned());
    Ok(())
}

// Instead of a report: a question to the user, or a refusal.

/// Asks the user for something that only the user has. Judging roles may not ask.
pub(super) fn ask(
    work: &mut Work,
    role: Role,
    question: &str,
    submission: &Submission,
) -> Result<(), Refusal> {
    let may_ask = matches!(
        role,
        Role::Bootstrapper | Role::Regrounder | Role::Implementer
    );
    if !may_ask {
        return Err(refusal!(
            Code::NotYourTurn,
            "the {role} gives a verdict and cannot ask the user"
        ));
    }
    user_answers::require_new(work, question)?;
    // The rest of the report is used when the role continues.
    match role {
        Role::Implementer => {
            if let Some(id) = work.active_id() {
                work.note_remarks(&id, &submission.report);
                work.note_fixes(&id, &submission.report);
            }
        }
        _ => {
            work.next.ledger.advice = advice(&submission.report).or(work.next.ledger.advice.take())
        }
    }
    let (policy, kind) = (Policy::AwaitUserInput, WaitingKind::Question);
    work.next
        .wait(policy, kind, question, "cook resume --answer 'TEXT'");
    if let Some(waiting) = &mut work.next.ledger.waiting {
        waiting.asker = Some(role);
    }
    Ok(())
}

/// Counts a refused report of a driven session: an attempt is spent, and nothing else changes.
pub(super) fn count_refusal(work: &mut Work) {
    work.next.counters.refused.0 += 1;
    if let Some(id) = work.active_id() {
        work.next.counters.attempts.entry(id).or_default().0 += 1;
    }
}
