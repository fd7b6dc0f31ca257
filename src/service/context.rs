//! What a role is shown of the repository beside its brief. Roles that may change nothing may
//! have no shell either: whatever they decide by stands here, or is named with the command
//! that shows it.

use super::candidates::list_candidates;
use super::dispatch::find_head;
use super::foreign::{Foreign, find_foreign, list_foreign, list_others};
use super::gate_runs::add_runs;
use super::offers::list_offers;
use super::past::Past;
use super::scripted::{describe_scripted, list_scripted_commands};
use super::slice_rows::{add_slice_rows, list_untrusted};
use super::told::list_told;
use super::unclaimed::list_unclaimed;
use super::workspace::Workspace;
use crate::measure::gate_commands;
use cook_mutants::{Class, classify};
use cook_protocol::diagnostic::{Failure, Lines, clean, count_noun};
use cook_protocol::machine::{AnchorQuestion, FactSet, Facts, short};
use cook_protocol::model::{ActiveStatus, Evidence, Role, SliceStatus, Snapshot, Verdict};
use cook_repo::git::{ChangeKind, Edit, make_unified_diff};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Paths that are listed.
const LISTED: usize = 200;
/// Bytes of one file's diff.
const FILE_DIFF: usize = 12_000;
/// Bytes of the whole diff.
const WHOLE_DIFF: usize = 90_000;

/// The context of a role's prompt, of the log's documents and of those that a report finds.
///
/// # Errors
/// Unreadable state.
pub(super) fn context_text(
    workspace: &Workspace,
    (logged, snapshot): (&Snapshot, &Snapshot),
    facts: &Facts,
    role: Role,
) -> Result<String, Failure> {
    let mut text = String::new();
    let head = find_head(facts)?;
    let commit = head.commit.as_deref();
    let commit = commit.unwrap_or("the repository has no commit yet");
    let _ = writeln!(text, "HEAD: {commit}");
    let span = span(snapshot, facts, head.commit.as_deref());
    let slices = snapshot.plan.candidate_slices.iter();
    let commands = slices.flat_map(|slice| slice.verification_commands.iter().flatten());
    let gates = gate_commands(workspace.config()?, commands);
    let edits = match &span {
        Some((basis, upto)) => workspace.repo.edits(basis, upto)?,
        None => Vec::new(),
    };
    let foreign = match &span {
        Some((basis, upto)) => find_foreign(workspace, snapshot, facts, (basis, upto))?,
        None => Foreign::default(),
    };
    if let (Some((basis, upto)), Some(id)) = (&span, &snapshot.active.slice_id) {
        let _ = write!(
            text,
            "slice {id} from its basis {} to {}: ",
            short(basis),
            short(upto)
        );
        list_paths(&mut text, (basis, upto), &edits, &gates, &foreign);
        list_foreign(&mut text, workspace, &foreign)?;
    }
    if role == Role::Regrounder {
        list_others(&mut text, workspace, logged, facts, &foreign)?;
        list_untrusted(&mut text, workspace, snapshot)?;
    }
    let judges_the_whole = matches!(role, Role::Auditor | Role::StopJudge);
    if judges_the_whole || role == Role::Regrounder {
        let past = Past::read(workspace, snapshot, &head)?;
        if judges_the_whole {
            list_unclaimed(&mut text, workspace, snapshot, &head, &past, &foreign)?;
        }
        list_told(&mut text, logged, &past, role);
    }
    add_slice_rows(&mut text, workspace, snapshot, facts, role)?;
    add_runs(&mut text, workspace, snapshot, &head, role)?;
    if role != Role::Implementer {
        list_criteria(&mut text, workspace, logged, role)?;
        list_offers(&mut text, workspace, snapshot)?;
    }
    if let (Some((basis, _)), Role::Regrounder, ActiveStatus::Committed) =
        (&span, role, snapshot.active.status)
    {
        let work = (basis.as_str(), edits.as_slice());
        list_candidates(&mut text, workspace, snapshot, facts, work, &gates)?;
    }
    let opened = snapshot.ledger.scripted_commands.0;
    if opened > 0 && role != Role::Implementer {
        let commands = list_scripted_commands(workspace, snapshot)?;
        let _ = writeln!(
            text,
            "user-only commands by a script: {}",
            describe_scripted(opened, &commands)
        );
    }
    if let (Some((basis, upto)), true) = (&span, role != Role::Implementer) {
        add_diff(&mut text, &edits, (basis, upto), &foreign)?;
    }
    Ok(text)
}

/// From where to where the slice in work goes, if both ends are there.
fn span(snapshot: &Snapshot, facts: &Facts, head: Option<&str>) -> Option<(String, String)> {
    let handoff = snapshot.active.handoff.as_ref()?;
    let id = snapshot.active.slice_id.as_ref()?;
    let basis = &handoff.basis_commit;
    let own = snapshot.ledger.slices.get(id)?.head.clone();
    let upto = own.or_else(|| head.map(str::to_owned))?;
    facts
        .ranges
        .get(basis)
        .is_some_and(|range| range.resolves)
        .then(|| (basis.clone(), upto))
}

fn list_paths(
    text: &mut String,
    (basis, upto): (&str, &str),
    edits: &[Edit],
    gates: &[String],
    foreign: &Foreign,
) {
    let mut by_class: BTreeMap<Class, u64> = BTreeMap::new();
    for edit in edits {
        *by_class
            .entry(classify(&edit.change.path, gates))
            .or_default() += 1;
    }
    let classes: Vec<String> = by_class
        .iter()
        .map(|(class, count)| format!("{count} {class}"))
        .collect();
    let _ = match edits.len() {
        0 => writeln!(text, "no file differs"),
        1 => writeln!(text, "1 file differs: {}", classes.join(", ")),
        files => writeln!(text, "{files} files differ: {}", classes.join(", ")),
    };
    for edit in edits.iter().take(LISTED) {
        let kind = match edit.change.kind {
            ChangeKind::Added => "added",
            ChangeKind::Modified => "modified",
            ChangeKind::Deleted => "deleted",
        };
        let class = classify(&edit.change.path, gates);
        let mark = foreign.mark(&edit.change.path);
        let path = clean(&edit.change.path, Lines::Fold);
        let _ = writeln!(text, "  {kind:<8} {class:<6} {path}{mark}");
    }
    if edits.len() > LISTED {
        let _ = writeln!(
            text,
            "  and {} more (`git diff --stat {basis} {upto}` shows all)",
            edits.len() - LISTED
        );
    }
}

/// Each criterion of slices that are in work or done, and what its proof is worth now by the
/// receipts that are kept: no gate is run for a prompt. Judges are shown all of them, other roles
/// those that do not simply stand.
fn list_criteria(
    text: &mut String,
    workspace: &Workspace,
    snapshot: &Snapshot,
    role: Role,
) -> Result<(), Failure> {
    let active = snapshot.active.slice_id.as_deref();
    let slices = snapshot.plan.candidate_slices.iter().filter(|slice| {
        slice.status == SliceStatus::Done || Some(slice.slice_id.as_str()) == active
    });
    let mut wanted = FactSet {
        head: true,
        existing_receipts_only: true,
        ..FactSet::default()
    };
    let mut rows = Vec::new();
    for slice in slices {
        for criterion in &slice.acceptance_criteria {
            let records = slice.evidence.iter().filter_map(Evidence::record);
            let questions: Vec<AnchorQuestion> = records
                .filter(|record| record.criterion == *criterion)
                .map(|record| AnchorQuestion::ask_stored(slice, record))
                .collect();
            wanted.anchors.extend(questions.iter().cloned());
            rows.push((slice, criterion, questions));
        }
    }
    if rows.is_empty() {
        return Ok(());
    }
    let facts = match wanted.anchors.is_empty() {
        true => Facts::default(),
        false => workspace.measure(&wanted, Some(snapshot))?,
    };
    let is_judge = role == Role::StopJudge;
    let mut standing = 0_u64;
    let mut shown = String::new();
    for (slice, criterion, questions) in rows {
        let known = questions.iter().filter_map(|question| {
            let answer = facts.anchors.get(&question.key())?;
            Some((answer.verdict, &question.anchor))
        });
        let known: Vec<_> = known.collect();
        let mut verdicts = known.iter().map(|(verdict, _)| *verdict);
        let stands = verdicts.all(|verdict| verdict == Verdict::Verified);
        if stands && !known.is_empty() && !is_judge {
            standing += 1;
            continue;
        }
        // Before a slice is accepted nobody gives proof.
        if known.is_empty() && slice.status != SliceStatus::Done {
            continue;
        }
        let proofs = match known.is_empty() {
            true => "no proof is given".to_owned(),
            false => {
                let proofs = known.iter();
                let proofs = proofs.map(|(verdict, anchor)| format!("{} ({anchor})", verdict.id()));
                proofs.collect::<Vec<_>>().join(", ")
            }
        };
        let _ = writeln!(shown, "  {}: {criterion}: {proofs}", slice.slice_id);
    }
    if standing > 0 {
        let _ = writeln!(
            text,
            "proofs that simply stand: {standing} (`cook brief check` lists all)"
        );
    }
    if !shown.is_empty() {
        let _ = writeln!(text, "criteria and what their proof is worth now:");
        text.push_str(&shown);
    }
    Ok(())
}

/// The diff, file by file; what is too much of it is named with the command that shows it. Files that
/// no commit of the slice wrote come last, below a title of their own.
fn add_diff(
    text: &mut String,
    edits: &[Edit],
    (basis, upto): (&str, &str),
    foreign: &Foreign,
) -> Result<(), Failure> {
    if edits.is_empty() {
        return Ok(());
    }
    let is_theirs = |edit: &&Edit| foreign.is_theirs(&edit.change.path);
    let (theirs, own): (Vec<&Edit>, Vec<&Edit>) = edits.iter().partition(is_theirs);
    let first_theirs = theirs.first().map(|edit| edit.change.path.as_str());
    let mut left = Vec::new();
    let mut diff = String::new();
    for edit in own.into_iter().chain(theirs) {
        if first_theirs == Some(&*edit.change.path) {
            diff.push_str("the diff of files that no commit of the slice wrote:\n");
        }
        let path = clean(&edit.change.path, Lines::Fold);
        let Some((before, after)) = &edit.texts else {
            left.push(format!("{path} (no text, or too much of it)"));
            continue;
        };
        let one = make_unified_diff(
            &edit.change.path,
            before.as_deref().unwrap_or(""),
            after.as_deref().unwrap_or(""),
        )?;
        if diff.len() + one.len().min(FILE_DIFF) > WHOLE_DIFF {
            left.push(format!("{path} ({})", trim_lines(&one)));
            continue;
        }
        let shown = cut_at_line(&one, FILE_DIFF);
        diff.push_str(shown);
        if shown.len() < one.len() {
            let _ = writeln!(diff, "[{path}: {} more]", trim_lines(&one[shown.len()..]));
            left.push(format!("the rest of {path}"));
        }
    }
    let _ = writeln!(text, "the diff:");
    text.push_str(&diff);
    if !left.is_empty() {
        let _ = writeln!(
            text,
            "not shown here: `git diff {basis} {upto} -- PATH` shows"
        );
        for one in left.iter().take(LISTED) {
            let _ = writeln!(text, "  {one}");
        }
        if left.len() > LISTED {
            let _ = writeln!(text, "  and {} more", left.len() - LISTED);
        }
    }
    Ok(())
}

fn trim_lines(text: &str) -> String {
    count_noun(text.lines().count() as u64, "line")
}

/// The first whole lines that fit.
fn cut_at_line(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let end = text.as_bytes()[..bytes]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use cook_repo::git::Change;

    fn edit(path: &str, lines: usize) -> Edit {
        Edit {
            change: Change {
                path: path.to_owned(),
                kind: ChangeKind::Added,
            },
            texts: Some((None, Some("a line of text\n".repeat(lines)))),
        }
    }

    #[test]
    fn a_large_diff_is_cut_by_file_and_says_what_is_left() {
        let edits: Vec<Edit> = (0..40)
            .map(|n| edit(&format!("src/{n}.rs"), if n == 0 { 10_000 } else { 200 }))
            .collect();
        let mut text = String::new();
        add_diff(&mut text, &edits, ("aaaa", "bbbb"), &Foreign::default()).unwrap();
        assert!(text.len() < WHOLE_DIFF + FILE_DIFF);
        assert!(text.contains("+++ b/src/1.rs"));
        assert!(text.contains("[src/0.rs: "));
        assert!(text.contains("`git diff aaaa bbbb -- PATH` shows\n  the rest of src/0.rs\n"));
        assert!(text.contains("  src/39.rs (20"));
    }
}
