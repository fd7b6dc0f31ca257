//! The contract and the documents as they stand in the worktree: are they there, do they follow their
//! schemas, are they the log's, do they contradict one another. Without a log the histories too, each line
//! by itself: a clone holds none (they are not tracked), so these are a copied or restored worktree's.

use super::verify_outcome::Outcome;
use crate::service::Workspace;
use cook_protocol::diagnostic::{Code, Failure, Finding};
use cook_protocol::machine::{self, CONTRACT_TEXTS, OutsideEdit};
use cook_protocol::model::{
    ActiveSlice, ActiveStatus, BriefDocument, Plan, Profile, SliceRecord, Snapshot, State,
    StopRecord, VerificationEvidence,
};
use cook_protocol::schema::{self, Documented, MAX_DOCUMENT_BYTES};
use cook_repo::disk::{self, Links};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// The tracked contract: there, readable, committed, and in step with the repository.
pub(super) fn check_contract(
    workspace: &Workspace,
    snapshot: Option<&Snapshot>,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let missing = workspace.repo.contract_missing()?;
    for path in &missing {
        let what = format!("`{path}` is not in the worktree");
        outcome.find_at(Code::ContractMissing, what, path);
    }
    let head = workspace.repo.head()?;
    for path in workspace.repo.contract_uncommitted(&head)? {
        if !missing.contains(&path) {
            let what = format!("`{path}` is not committed as it stands");
            outcome.find_at(Code::ContractUntracked, what, &path);
        }
    }
    let [_, profile] = CONTRACT_TEXTS;
    if let Some(bytes) = workspace.read_contract_text(profile)? {
        parse::<Profile>(&bytes, "", outcome);
    }
    for path in workspace.contract_differs(snapshot)? {
        let take_in = machine::take_in_command(&path);
        let what = format!("`{path}` differs from the log's; `{take_in}` takes it in");
        outcome.find_at(Code::ContractEdited, what, &path);
    }
    if workspace.is_stop_verifier_stale()? {
        outcome.findings.push(machine::stale_stop_verifier());
    }
    outcome.add_checked("the tracked contract");
    Ok(())
}

/// A document; what is wrong with it becomes findings, with the file and the line in their places.
fn parse<T: Documented>(bytes: &[u8], line: &str, outcome: &mut Outcome) -> Option<T> {
    let file = T::DOCUMENT.file();
    let findings = match schema::read_document::<T>(bytes, MAX_DOCUMENT_BYTES) {
        Ok(document) => return Some(document),
        Err(findings) => findings,
    };
    outcome.findings.extend(findings.into_iter().map(|finding| {
        let inside = finding.place.as_deref().unwrap_or_default();
        let inside = inside.strip_prefix(file).unwrap_or(inside);
        let place = format!(".agent/{file}{line}{inside}");
        finding.at(place)
    }));
    None
}

/// Reads one document; what is wrong with it becomes findings.
fn read<T: Documented>(root: &Path, outcome: &mut Outcome, required: bool) -> Option<T> {
    let place = format!(".agent/{}", T::DOCUMENT.file());
    let mut bytes = Vec::new();
    let read = disk::open_regular(&root.join(&place), Links::Refuse).and_then(|file| {
        let limit = MAX_DOCUMENT_BYTES as u64 + 1;
        let read = file.map(|file| file.take(limit).read_to_end(&mut bytes));
        read.transpose()
    });
    match read {
        Ok(Some(_)) => return parse(&bytes, "", outcome),
        Ok(None) if required => {
            let what = format!("`{place}` is missing");
            outcome.find_at(Code::DocumentMissing, what, &place);
        }
        Ok(None) => {}
        Err(error) => {
            let what = format!("`{place}`: {error}");
            outcome.find_at(Code::DocumentUnreadable, what, &place);
        }
    }
    None
}

/// Checks a history line by line, with no more in memory than one document may have. How many lines it holds;
/// 0 when it is not there.
fn check_history<T: Documented>(root: &Path, outcome: &mut Outcome) -> u64 {
    let place = format!(".agent/{}", T::DOCUMENT.file());
    let most = outcome.findings.len() + schema::MAX_FINDINGS;
    let mut lines = 0;
    let mut check = || -> std::io::Result<()> {
        let Some(opened) = disk::open_regular(&root.join(&place), Links::Refuse)? else {
            return Ok(());
        };
        let mut opened = BufReader::new(opened);
        let mut line = Vec::new();
        while outcome.findings.len() < most {
            line.clear();
            let mut rest = opened.by_ref().take(MAX_DOCUMENT_BYTES as u64 + 2);
            if rest.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            lines += 1;
            let whole = line.strip_suffix(b"\n");
            if whole.is_none() && line.len() <= MAX_DOCUMENT_BYTES {
                let place = format!("{place}:{lines}");
                outcome.find_at(Code::HistoryTorn, "the last line is incomplete", &place);
                break;
            }
            parse::<T>(whole.unwrap_or(&line), &format!(":{lines}"), outcome);
            if whole.is_none() {
                break;
            }
        }
        Ok(())
    };
    if let Err(error) = check() {
        outcome.find_at(Code::DocumentUnreadable, error.to_string(), &place);
    }
    lines
}

/// A clone without execution state passes on its contract; state without a log is said so.
pub(super) fn check_without_log(
    workspace: &Workspace,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let root = workspace.repo.root();
    let plan = read::<Plan>(root, outcome, false);
    let state = read::<State>(root, outcome, false);
    read::<ActiveSlice>(root, outcome, false);
    read::<VerificationEvidence>(root, outcome, false);
    let slices = check_history::<SliceRecord>(root, outcome);
    let records = slices + check_history::<StopRecord>(root, outcome);
    if records > 0 {
        outcome.add_checked(format!("{records} history records"));
    }
    // What this clone has says nothing of a log that was asked for elsewhere.
    let is_here = workspace.log_from.is_none();
    if is_here && (plan.is_some() || state.is_some() || records > 0) {
        let what = "there is execution state and no log for this worktree; `cook init` takes it in";
        outcome.find(Code::LogMissing, what);
    }
    outcome.add_checked("no log here: the contract alone was checked");
    Ok(())
}

pub(super) fn check(
    workspace: &Workspace,
    snapshot: &Snapshot,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let root = workspace.repo.root();
    read::<State>(root, outcome, true);
    let plan = read::<Plan>(root, outcome, true);
    let active = read::<ActiveSlice>(root, outcome, true);
    read::<VerificationEvidence>(root, outcome, true);
    read::<BriefDocument>(root, outcome, snapshot.brief.is_some());
    for edit in workspace.outside_edits()? {
        find_edit(&edit, outcome);
    }
    let mut view = snapshot.clone();
    view.plan = plan.unwrap_or_else(|| snapshot.plan.clone());
    view.active = active.unwrap_or_else(|| snapshot.active.clone());
    outcome.findings.extend(machine::contradictions(&view));
    let in_work = view.active.slice_id.as_deref();
    for slice in view.plan.open_slices() {
        // Of the slice in work it is a contradiction already.
        if slice.acceptance_criteria.is_empty() && in_work != Some(slice.slice_id.as_str()) {
            let what = format!("slice `{}` has no acceptance criteria", slice.slice_id);
            outcome.find_at(Code::CriteriaMissing, what, &slice.slice_id);
        }
    }
    check_basis(workspace, &view, outcome)?;
    outcome.add_checked("the documents in .agent/");
    Ok(())
}

/// An edited file, unless a finding of its own says why already.
fn find_edit(edit: &OutsideEdit, outcome: &mut Outcome) {
    let place = format!(".agent/{}", edit.file);
    let is_missing = |finding: &Finding| {
        finding.code == Code::DocumentMissing && finding.place.as_deref() == Some(&place)
    };
    if outcome.findings.iter().any(is_missing) {
        return;
    }
    let fields = match edit.fields.is_empty() {
        true => String::new(),
        false => format!(" ({})", edit.fields.join(", ")),
    };
    let is_history = edit.file.ends_with("-history.jsonl");
    let (code, what) = match edit.file.as_str() {
        "state.json" => (Code::StateForged, "differs from the log"),
        _ if is_history && edit.missing => (Code::DocumentMissing, "is missing"),
        _ if is_history => (Code::HistoryForged, "differs from the log"),
        _ => (Code::EditedOutside, "was edited outside cook"),
    };
    outcome.find_at(code, format!("`{place}` {what}{fields}"), &place);
}

/// The basis that `.agent/active-slice.json` names, in this repository.
fn check_basis(
    workspace: &Workspace,
    view: &Snapshot,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let is_open = view.active.status != ActiveStatus::Done;
    let Some(handoff) = view.active.handoff.as_ref().filter(|_| is_open) else {
        return Ok(());
    };
    let basis = &handoff.basis_commit;
    let head = workspace.repo.head()?;
    let range = workspace.repo.range(&head, basis, false)?;
    let (code, what) = match (range.resolves, range.ancestor) {
        (false, _) => (Code::BasisUnresolved, "is not a commit of this repository"),
        (true, false) => (Code::BasisNotAncestor, "is not an ancestor of HEAD"),
        (true, true) => return Ok(()),
    };
    let place = ".agent/active-slice.json/basis_commit";
    outcome.find_at(code, format!("`basis_commit` {basis} {what}"), place);
    Ok(())
}
