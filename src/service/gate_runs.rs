//! The runs of gates that a prompt shows, with where each was and what a red one printed.

use super::workspace::Workspace;
use cook_protocol::diagnostic::{Failure, without_escapes};
use cook_protocol::machine::{Head, short};
use cook_protocol::model::{Receipt, Role, Snapshot, StrengthNote, TestChange, WHOLE};
use cook_repo::receipt::Receipts;
use std::fmt::Write;

/// Last lines of a red gate's output.
const OUTPUT: usize = 40;

/// Adds the runs that this role decides on.
///
/// # Errors
/// Unreadable state.
pub(super) fn add_runs(
    text: &mut String,
    workspace: &Workspace,
    snapshot: &Snapshot,
    head: &Head,
    role: Role,
) -> Result<(), Failure> {
    let shown = match snapshot.find_slice_in_work() {
        // It is decided at its own commit.
        Some(_) => snapshot.evidence.runs.clone(),
        None => list_newest_at_head(workspace, snapshot, head, role)?,
    };
    for run in &shown {
        add_run(text, run, head);
    }
    add_strength(text, snapshot, role);
    match role {
        Role::Regrounder | Role::Implementer => {
            add_red_at_head(text, workspace, head, role, &shown)
        }
        _ => Ok(()),
    }
}

/// Of each gate of the slice that was last in work, and for a judge of each required one, the newest run at
/// HEAD's tree; where it has none, the one at that slice's commit.
fn list_newest_at_head(
    workspace: &Workspace,
    snapshot: &Snapshot,
    head: &Head,
    role: Role,
) -> Result<Vec<Receipt>, Failure> {
    let evidence = &snapshot.evidence;
    let Some(tree) = head.tree.as_deref() else {
        return Ok(evidence.runs.clone());
    };
    let receipts = Receipts::of(&workspace.repo)?;
    let mut shown: Vec<Receipt> = Vec::new();
    for run in &evidence.runs {
        let is_of_basis = run.head_sha.is_some() && run.head_sha == evidence.basis_commit;
        let newest = match is_of_basis {
            true => None,
            false => receipts.find(&run.command, tree)?,
        };
        shown.push(newest.unwrap_or_else(|| run.clone()));
    }
    if role == Role::StopJudge {
        let gates = workspace.config()?.gate_specs().into_iter();
        for gate in gates.filter(|gate| gate.required) {
            let is_shown = shown.iter().any(|run| run.command == gate.run);
            if !is_shown && let Some(found) = receipts.find(&gate.run, tree)? {
                shown.push(found);
            }
        }
    }
    Ok(shown)
}

/// How a gate ended, and where; of a red one with the last lines that it printed.
fn add_run(text: &mut String, run: &Receipt, head: &Head) {
    let how = if run.has_passed() { "passed" } else { "failed" };
    let at = match (
        &run.head_sha,
        run.tree_oid.is_some() && run.tree_oid == head.tree,
    ) {
        (at, true) if *at == head.commit => "at HEAD".to_owned(),
        (Some(at), true) => format!("at {}, which has HEAD's tree", short(at)),
        (None, true) => "at HEAD's tree".to_owned(),
        (Some(at), false) => format!("at {}, NOT at HEAD", short(at)),
        (None, false) => "NOT at HEAD".to_owned(),
    };
    let _ = writeln!(
        text,
        "gate `{}` {how} {at} (receipt:{})",
        run.command, run.id
    );
    if !run.has_passed() {
        let tail = without_escapes(&run.tail);
        let lines: Vec<&str> = tail.lines().collect();
        for line in &lines[lines.len().saturating_sub(OUTPUT)..] {
            let _ = writeln!(text, "  | {line}");
        }
    }
}

/// What planted defects say of the gates: of the slice in work each that no gate notices, of the others a
/// line.
fn add_strength(text: &mut String, snapshot: &Snapshot, role: Role) {
    let in_work = snapshot.find_slice_in_work();
    for (id, ledger) in &snapshot.ledger.slices {
        add_test_changes(text, id, &ledger.test_changes, role);
        let head = match &ledger.accepted {
            Some(accepted) => Some(&accepted.head),
            None => ledger.head.as_ref().or(ledger.last_head.as_ref()),
        };
        let note = ledger.strength.as_ref();
        let Some(note) = note.filter(|note| head == Some(&note.commit)) else {
            continue;
        };
        let told = note.tell();
        let _ = writeln!(
            text,
            "strength of the gates over slice `{id}` at {}: {told}",
            short(&note.commit)
        );
        for waiver in &note.waived {
            let why = without_escapes(&waiver.why);
            let _ = writeln!(text, "  waived `{}`: {why}", waiver.id);
        }
        if in_work != Some(id.as_str()) {
            continue;
        }
        let is_waived = |id: &str| note.waived.iter().any(|waiver| waiver.id == id);
        for defect in note.defects.iter().filter(|defect| !is_waived(&defect.id)) {
            let (id, line, what) = (&defect.id, defect.line.0, &defect.what);
            let path = &defect.path;
            let _ = writeln!(
                text,
                "  `{id}` {path}:{line}, {what}: every gate passes with this change"
            );
            for line in without_escapes(&defect.diff).lines() {
                let _ = writeln!(text, "  | {line}");
            }
        }
        if role == Role::Reviewer {
            text.push_str(&how_to_waive(note));
        }
    }
}

/// Changes of tests that commits of a slice declare, that could not be compared, or that are gone.
fn add_test_changes(text: &mut String, slice: &str, changes: &[TestChange], role: Role) {
    if changes.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "changes of tests in slice `{slice}`, by running the tests of its basis on its code:"
    );
    for change in changes {
        let what = without_escapes(&change.what);
        let _ = writeln!(text, "  `{}` [{}] {what}", change.id, change.code);
        match &change.declared {
            Some(why) => {
                let _ = writeln!(text, "  | its commit says: {}", without_escapes(why));
            }
            None => text.push_str("  | no commit says why\n"),
        }
        if let Some(answer) = &change.answered {
            let _ = writeln!(text, "  | the review says: {}", without_escapes(answer));
        }
    }
    if role == Role::Reviewer {
        text.push_str("  A yes answers for each of them by a line of `Findings`: `WAIVE ID: why`. A no needs none.\n");
    }
}

/// What a reviewer may say of defects that no gate notices.
fn how_to_waive(note: &StrengthNote) -> String {
    let whole = match note.proves_nothing || note.problem.is_some() {
        true => format!("; `{WHOLE}` stands for the change as a whole"),
        false => String::new(),
    };
    if note.defects.is_empty() && whole.is_empty() {
        return String::new();
    }
    let each = match note.defects.is_empty() {
        true => "",
        false => " Each may be a test that is missing.",
    };
    let counts = match note.required.is_some() {
        true => " A yes counts here only where enough is noticed or answered for.",
        false => "",
    };
    format!(
        " {each} What means the same as the code, or has to be tested by nobody, you answer for by a line of `Findings`: `WAIVE ID: why`{whole}.{counts}\n"
    )
}

/// The required gates that are known to be red at HEAD, beside the runs that are shown; for a
/// regrounder the stop verifier as well.
fn add_red_at_head(
    text: &mut String,
    workspace: &Workspace,
    head: &Head,
    role: Role,
    shown: &[Receipt],
) -> Result<(), Failure> {
    let Some(tree) = head.tree.as_deref() else {
        return Ok(());
    };
    let receipts = Receipts::of(&workspace.repo)?;
    let mut gates = workspace.config()?.gate_specs();
    gates.retain(|gate| gate.required);
    let commands = gates.iter().map(|gate| gate.run.as_str());
    for command in commands {
        let found = receipts.find(command, tree)?;
        let is_shown = |found: &Receipt| {
            let mut runs = shown.iter();
            runs.any(|run| run.command == found.command && run.tree_oid == found.tree_oid)
        };
        if let Some(red) = found.filter(|found| !found.has_passed() && !is_shown(found)) {
            add_run(text, &red, head);
        }
    }
    let verifier = match role {
        Role::Regrounder => receipts.find_stop_verifier(tree)?,
        _ => None,
    };
    if let Some(red) = verifier.filter(|found| !found.has_passed()) {
        add_run(text, &red, head);
    }
    Ok(())
}
