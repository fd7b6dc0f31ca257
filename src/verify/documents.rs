//! The documents as they stand in `.agent/`: do they follow their schemas, are
//! they the log's, do they contradict one another.

use super::outcome::Outcome;
use crate::service::Workspace;
use cook_core::diagnostic::{Code, Failure, Finding};
use cook_core::machine::{self, OutsideEdit};
use cook_core::model::{ActiveSlice, BriefDocument, Plan, Snapshot, State, VerificationEvidence};
use cook_core::schema::{self, Documented};
use cook_os::disk::{self, Links};
use std::io::Read;
use std::path::Path;

/// A finding about a file, with the file in its place.
pub(super) fn in_file(mut finding: Finding, file: &str) -> Finding {
    let inside = finding.place.take().unwrap_or_default();
    let inside = inside.strip_prefix(file).unwrap_or(&inside);
    finding.place = Some(format!(".agent/{file}{inside}"));
    finding
}

/// Reads one document; what is wrong with it becomes findings.
fn read<T: Documented>(
    root: &Path,
    file: &str,
    outcome: &mut Outcome,
    required: bool,
) -> Option<T> {
    let path = root.join(".agent").join(file);
    let mut bytes = Vec::new();
    let read = disk::open_regular(&path, Links::Refuse).and_then(|file| {
        file.map(|file| {
            file.take(schema::MAX_DOCUMENT_BYTES as u64 + 1)
                .read_to_end(&mut bytes)
        })
        .transpose()
    });
    match read {
        Ok(Some(_)) => {}
        Ok(None) => {
            if required {
                outcome.find(
                    Code::DocumentMissing,
                    format!("`.agent/{file}` is missing"),
                    &format!(".agent/{file}"),
                );
            }
            return None;
        }
        Err(error) => {
            outcome.find(
                Code::DocumentUnreadable,
                format!("`.agent/{file}`: {error}"),
                &format!(".agent/{file}"),
            );
            return None;
        }
    }
    match schema::read_document::<T>(&bytes, schema::MAX_DOCUMENT_BYTES) {
        Ok(document) => Some(document),
        Err(findings) => {
            outcome
                .findings
                .extend(findings.into_iter().map(|finding| in_file(finding, file)));
            None
        }
    }
}

/// A clone without execution state passes on its contract; state without a log is said so.
pub(super) fn check_without_log(
    workspace: &Workspace,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let root = workspace.repo.root();
    let plan = read::<Plan>(root, "plan.json", outcome, false);
    let state = read::<State>(root, "state.json", outcome, false);
    read::<ActiveSlice>(root, "active-slice.json", outcome, false);
    read::<VerificationEvidence>(root, "verification-evidence.json", outcome, false);
    let history = super::histories::check(root, outcome)?;
    // What this clone has says nothing of a log that was asked for elsewhere.
    let is_here = workspace.log_from.is_none();
    if is_here && (plan.is_some() || state.is_some() || history) {
        outcome.findings.push(Finding::new(
            Code::LogMissing,
            "there is execution state and no log for this worktree; `cook init` takes it in",
        ));
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
    read::<State>(root, "state.json", outcome, true);
    let plan = read::<Plan>(root, "plan.json", outcome, true);
    let active = read::<ActiveSlice>(root, "active-slice.json", outcome, true);
    read::<VerificationEvidence>(root, "verification-evidence.json", outcome, true);
    read::<BriefDocument>(root, "brief.json", outcome, snapshot.brief.is_some());
    for edit in workspace.outside_edits()? {
        outcome
            .findings
            .extend(edit_finding(&edit, outcome.findings.as_slice()));
    }
    let mut view = snapshot.clone();
    view.plan = plan.unwrap_or_else(|| snapshot.plan.clone());
    view.active = active.unwrap_or_else(|| snapshot.active.clone());
    outcome.findings.extend(machine::contradictions(&view));
    let in_work = view.active.slice_id.as_deref();
    for slice in view.plan.open_slices() {
        // Of the slice in work it is a contradiction already.
        if slice.acceptance_criteria.is_empty() && in_work != Some(slice.slice_id.as_str()) {
            outcome.find(
                Code::CriteriaMissing,
                format!("slice `{}` has no acceptance criteria", slice.slice_id),
                &slice.slice_id,
            );
        }
    }
    basis(workspace, &view, outcome)?;
    outcome.add_checked("the documents in .agent/");
    Ok(())
}

/// An edited file, unless a finding of its own says why already.
fn edit_finding(edit: &OutsideEdit, known: &[Finding]) -> Option<Finding> {
    let place = format!(".agent/{}", edit.file);
    let fields = if edit.fields.is_empty() {
        String::new()
    } else {
        format!(" ({})", edit.fields.join(", "))
    };
    let missing = known.iter().any(|finding| {
        finding.code == Code::DocumentMissing && finding.place.as_deref() == Some(place.as_str())
    });
    if missing {
        return None;
    }
    let (code, message) = match edit.file.as_str() {
        "state.json" => (
            Code::StateForged,
            format!("`{place}` differs from the log{fields}"),
        ),
        "slice-history.jsonl" | "stop-check-history.jsonl" | "brief-history.jsonl"
            if edit.missing =>
        {
            (Code::DocumentMissing, format!("`{place}` is missing"))
        }
        "slice-history.jsonl" | "stop-check-history.jsonl" | "brief-history.jsonl" => (
            Code::HistoryForged,
            format!("`{place}` differs from the log"),
        ),
        _ => (
            Code::EditedOutside,
            format!("`{place}` was edited outside cook{fields}"),
        ),
    };
    Some(Finding::new(code, message).at(place))
}

/// The basis that `.agent/active-slice.json` names, in this repository.
fn basis(workspace: &Workspace, view: &Snapshot, outcome: &mut Outcome) -> Result<(), Failure> {
    let Some(handoff) = &view.active.handoff else {
        return Ok(());
    };
    if view.active.status == cook_core::model::ActiveStatus::Done {
        return Ok(());
    }
    let basis = &handoff.basis_commit;
    let range = workspace
        .repo
        .range(&workspace.repo.head()?, basis, false)?;
    let place = ".agent/active-slice.json/basis_commit";
    if !range.resolves {
        outcome.find(
            Code::BasisUnresolved,
            format!("`basis_commit` {basis} is not a commit of this repository"),
            place,
        );
    } else if !range.ancestor {
        outcome.find(
            Code::BasisNotAncestor,
            format!("`basis_commit` {basis} is not an ancestor of HEAD"),
            place,
        );
    }
    Ok(())
}
