//! What a role is shown of the repository beside its brief. Roles that may change nothing may
//! have no shell either: whatever they decide by stands here, or is named with the command
//! that shows it.

use super::candidates::list_candidates;
use super::dispatch::find_head;
use super::past::Past;
use super::past::list_told;
use super::past::list_unclaimed;
use super::past::{Foreign, find_foreign, list_foreign, list_others};
use super::workspace::Workspace;
use crate::measure::gate_commands;
use cook_mutants::{Class, classify};
use cook_protocol::diagnostic::{Failure, Lines, clean, count_noun, without_escapes};
use cook_protocol::machine::{AnchorQuestion, FactSet, Facts, Head, short};
use cook_protocol::model::{
    ActiveStatus, Evidence, EvidenceClaim, Offer, Place, Receipt, Role, SliceStatus, Snapshot,
    StrengthNote, TestChange, USER_COMMANDS, Verdict, WHOLE, surface_matches,
};
use cook_repo::git::{ChangeKind, Edit, make_unified_diff};
use cook_repo::receipt::{Receipts, merge_gates};
use std::collections::{BTreeMap, BTreeSet};
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

// What a prompt says of the slice in work out of settings and worktree: attempts, the gates
// that will decide, and whose what is uncommitted would be.

/// Paths that are named of each kind.
const NAMED: usize = 20;

/// Adds the rows that this role decides on; none where no slice is in work.
pub(super) fn add_slice_rows(
    text: &mut String,
    workspace: &Workspace,
    snapshot: &Snapshot,
    facts: &Facts,
    role: Role,
) -> Result<(), Failure> {
    let Some(id) = snapshot.find_slice_in_work() else {
        return Ok(());
    };
    if matches!(role, Role::Implementer | Role::Regrounder) {
        let limits = &workspace.config()?.limits();
        let allowed = limits.add_attempts(&snapshot.counters.granted);
        let spent = snapshot.counters.attempts.get(id);
        let spent = spent.map_or(0, |spent| spent.0);
        let left = allowed.saturating_sub(spent);
        let _ = writeln!(text, "attempts left at slice {id}: {left} of {allowed}");
    }
    list_vanished(text, workspace, snapshot, facts, id)?;
    match role {
        Role::Implementer => list_gates(text, workspace, snapshot, facts),
        Role::Regrounder => {
            split_dirty(text, snapshot, facts, id);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Commits that were reported for the slice and are not there any more.
fn list_vanished(
    text: &mut String,
    workspace: &Workspace,
    snapshot: &Snapshot,
    facts: &Facts,
    id: &str,
) -> Result<(), Failure> {
    let (Some(ledger), Some(head)) = (snapshot.ledger.slices.get(id), &facts.head) else {
        return Ok(());
    };
    let reported = [&ledger.head, &ledger.reported].into_iter().flatten();
    let reported: BTreeSet<&String> = reported.chain(&ledger.claimed).collect();
    let mut gone = Vec::new();
    for commit in reported {
        if !workspace.repo.on_head(head, commit)? {
            gone.push(commit.as_str());
        }
    }
    if !gone.is_empty() {
        let _ = writeln!(
            text,
            "reported for slice {id} and not on HEAD any more, so nothing of it counts as committed: {}",
            gone.join(", ")
        );
    }
    Ok(())
}

/// The gates that run at the commit, whether they may, and how long they took last.
fn list_gates(
    text: &mut String,
    workspace: &Workspace,
    snapshot: &Snapshot,
    facts: &Facts,
) -> Result<(), Failure> {
    let handoff = snapshot.active.handoff.as_ref();
    let commands = handoff.and_then(|handoff| handoff.verification_commands.clone());
    let gates = merge_gates(
        workspace.config()?.gate_specs(),
        &commands.unwrap_or_default(),
    );
    let trust = workspace.trust()?;
    let receipts = Receipts::of(&workspace.repo)?;
    let tree = facts.head.as_ref().and_then(|head| head.tree.as_deref());
    for gate in gates {
        let mut about = Vec::new();
        about.push(match gate.place {
            Place::CleanRoom => "runs at your commit, in a clean checkout",
            Place::Worktree => "runs in the worktree",
        });
        if !gate.required {
            about.push("may fail");
        }
        if gate.must_fail_at_basis {
            about.push("must fail at the basis");
        }
        about.push(match trust.is_trusted(&gate.run) {
            true => "is trusted here",
            false => "is not trusted here yet, so it does not run",
        });
        let _ = write!(text, "gate `{}`: {}", gate.run, about.join(", "));
        let runs = snapshot.evidence.runs.iter().rev();
        let of_slice = runs.into_iter().find(|run| run.command == gate.run);
        let at_head = match (of_slice, tree) {
            (None, Some(tree)) => receipts.find(&gate.run, tree)?,
            _ => None,
        };
        let _ = match of_slice.or(at_head.as_ref()) {
            Some(run) => write!(text, "; took {} ms last", run.duration_ms.0),
            None => write!(text, "; has not run at this HEAD"),
        };
        text.push('\n');
    }
    Ok(())
}

/// Commands of the settings and of open slices that this machine does not trust: the work stops for them
/// until the user does.
///
/// # Errors
/// Settings or trust that cannot be read.
pub(super) fn list_untrusted(
    text: &mut String,
    workspace: &Workspace,
    snapshot: &Snapshot,
) -> Result<(), Failure> {
    let trust = workspace.trust()?;
    let gates = workspace.config()?.gate_specs().into_iter();
    let gates = gates.map(|gate| gate.run);
    let slices = snapshot.plan.open_slices();
    let planned = slices.flat_map(|slice| slice.verification_commands.iter().flatten().cloned());
    let untrusted: BTreeSet<String> = gates
        .chain(planned)
        .filter(|command| !trust.is_trusted(command))
        .collect();
    for command in untrusted {
        let _ = writeln!(
            text,
            "gate `{command}`: is not trusted here yet; the work stops until the user trusts it"
        );
    }
    Ok(())
}

/// What is uncommitted on the slice's surfaces, and what beside them.
fn split_dirty(text: &mut String, snapshot: &Snapshot, facts: &Facts, id: &str) {
    let Some(worktree) = facts.worktree.as_ref().filter(|tree| !tree.is_clean()) else {
        return;
    };
    let handoff = snapshot.active.handoff.as_ref();
    let surfaces = handoff.and_then(|handoff| handoff.implementation_surfaces.as_ref());
    let surfaces = surfaces.map(Vec::as_slice).unwrap_or_default();
    let is_own = |path: &&String| {
        surfaces
            .iter()
            .any(|surface| surface_matches(surface, path))
    };
    let (own, beside): (Vec<_>, Vec<_>) = worktree.dirty.iter().partition(is_own);
    let mut list = |label: &str, paths: &[&String], more: u64| {
        if paths.is_empty() {
            return;
        }
        let named: Vec<&str> = paths.iter().take(NAMED).map(|path| path.as_str()).collect();
        let more = more + (paths.len() - named.len()) as u64;
        let _ = write!(text, "{label}: {}", named.join(", "));
        let _ = match more {
            0 => writeln!(text),
            more => writeln!(text, " and {more} more (`git status` shows all)"),
        };
    };
    list(&format!("uncommitted on the surfaces of {id}"), &own, 0);
    list("uncommitted beside them", &beside, worktree.more);
}

// The runs of gates that a prompt shows, with where each was and what a red one printed.

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

// Commands of the user's that a script gave in their place.

/// How many transitions are looked through for those that a script made.
const LOOK_BACK: usize = 1_000;

/// Sequence and event of user-only commands that were run with `--as-user`, newest
/// first, as far back as the log can be read. It is read only when there is one.
///
/// # Errors
/// An unreadable log.
pub fn list_scripted_commands(
    workspace: &Workspace,
    snapshot: &Snapshot,
) -> Result<Vec<(u64, String)>, Failure> {
    let opened = snapshot.ledger.scripted_commands.0;
    let mut found = Vec::new();
    if opened == 0 {
        return Ok(found);
    }
    for meta in workspace.store()?.entries()?.take(LOOK_BACK) {
        // Those that cannot be read are counted all the same; `cook verify` names them.
        let Ok(meta) = meta else { break };
        if meta.actor == "script" && USER_COMMANDS.contains(&meta.event.as_str()) {
            found.push((meta.seq, meta.event));
        }
        if found.len() as u64 == opened {
            break;
        }
    }
    Ok(found)
}

/// Who reads this decides how much a user's word is worth that a script spoke.
pub fn describe_scripted(opened: u64, commands: &[(u64, String)]) -> String {
    const SHOWN: usize = 10;
    let mut named: Vec<String> = commands
        .iter()
        .take(SHOWN)
        .map(|(seq, event)| format!("#{seq} {event}"))
        .collect();
    if opened > named.len() as u64 {
        named.push("…".to_owned());
    }
    format!(
        "{} run with --as-user: {}",
        count_noun(opened, "user-only command"),
        named.join(", ")
    )
}

// What an implementer says proves each criterion, and what that is worth now: for whoever weighs
// its commit. Nothing is run for it.

/// Lists the criteria of the slice in work; none where its implementer gave no evidence.
pub(super) fn list_offers(
    text: &mut String,
    workspace: &Workspace,
    snapshot: &Snapshot,
) -> Result<(), Failure> {
    let id = snapshot.find_slice_in_work().unwrap_or_default();
    let ledger = snapshot.ledger.slices.get(id);
    let offered = ledger.map_or(&[][..], |ledger| ledger.offered.as_slice());
    let slice = snapshot.plan.slice(id);
    let (Some(slice), false) = (slice, offered.is_empty()) else {
        return Ok(());
    };
    let question = |offer: &Offer| {
        let claim = EvidenceClaim::of_offer(id, offer);
        AnchorQuestion::ask_claimed(snapshot, id, &claim.anchor, claim.basis)
    };
    let wanted = FactSet {
        head: true,
        existing_receipts_only: true,
        anchors: offered.iter().filter_map(question).collect(),
        ..FactSet::default()
    };
    let facts = workspace.measure(&wanted, Some(snapshot))?;
    let worth = |offer: &Offer| {
        let answer = question(offer).and_then(|asked| facts.anchors.get(&asked.key()));
        let Some(answer) = answer else {
            return "not looked at".to_owned();
        };
        let mut worth = answer.verdict.id().to_owned();
        if !answer.is_new {
            worth.push_str(", held at the basis too");
        }
        worth
    };
    let _ = writeln!(
        text,
        "what the implementer says proves each criterion, and what that is worth now:"
    );
    for criterion in &slice.acceptance_criteria {
        let given = offered.iter().filter(|offer| offer.criterion == *criterion);
        let given: Vec<String> = given
            .map(|offer| format!("{} ({})", offer.anchor, worth(offer)))
            .collect();
        let shown = match given.is_empty() {
            true => "nothing is given".to_owned(),
            false => given.join(", "),
        };
        let _ = writeln!(text, "  {criterion}: {shown}");
    }
    Ok(())
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
