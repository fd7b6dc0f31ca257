//! What the documents and histories say by themselves, slot by slot, before the
//! entries that were added. No model, no memory: the same state gives the same brief.

use super::author::is_users;
use super::field::normalise;
use super::going_on::fill_next;
use super::material::{Filled, Material, Origin, PROTECTED, Proof};
use super::past::fill_learned;
use super::render::{Brief, Weight};
use super::slots::{Slots, cut, short, unsay};
use crate::diagnostic::{Severity, without_tags};
use crate::model::{
    Anchor, Basis, BriefLine, BriefStanding, Policy, Receipt, Slot, Snapshot, UserAnswer, Verdict,
};

/// The whole brief, and its entries with where they come from, in the same order.
pub fn fill(material: &Material) -> (Brief, Vec<Filled>) {
    let mut slots = Slots::default();
    fill_forbid(material, &mut slots);
    fill_established(material, &mut slots);
    fill_learned(material, &mut slots);
    fill_open(material, &mut slots);
    fill_next(material, &mut slots);
    fill_added(material, &mut slots);
    let entries: Vec<Filled> = slots.0.into_values().flatten().collect();
    let brief = Brief {
        task: without_tags(&fit(&task(material.snapshot))),
        done_when: without_tags(&fit(&list_done_when(material.snapshot))),
        lines: entries.iter().map(|entry| entry.line.clone()).collect(),
    };
    (brief, entries)
}

fn fit(text: &str) -> String {
    normalise(&cut(text)).unwrap_or_else(|_| "not known yet".to_owned())
}

fn task(snapshot: &Snapshot) -> String {
    let mission = match snapshot.mission.trim().is_empty() {
        true => "the mission is not known yet; the user owes it".to_owned(),
        false => snapshot.state.mission_anchor.clone(),
    };
    match (&snapshot.active.slice_id, &snapshot.active.goal) {
        (Some(id), Some(goal)) if snapshot.active.handoff.is_some() && is_open(snapshot, id) => {
            format!("{mission} · slice `{id}`: {goal}")
        }
        _ => mission,
    }
}

fn is_open(snapshot: &Snapshot, id: &str) -> bool {
    snapshot
        .plan
        .open_slices()
        .any(|slice| slice.slice_id == id)
}

fn list_done_when(snapshot: &Snapshot) -> String {
    let active = snapshot.active.slice_id.as_deref();
    if let (Some(handoff), Some(id)) = (&snapshot.active.handoff, active)
        && is_open(snapshot, id)
    {
        let mut text = format!(
            "Every criterion of slice `{id}` has evidence that verifies: {}.",
            handoff.acceptance_criteria.join("; ")
        );
        let gates = handoff.verification_commands.iter().flatten();
        let gates: Vec<String> = gates.map(|gate| format!("`{gate}`")).collect();
        if !gates.is_empty() {
            text.push_str(&format!(" These gates exit 0: {}.", gates.join(", ")));
        }
        return text;
    }
    let policy = snapshot.state.continuation_policy;
    let held = match (policy, &snapshot.ledger.head_seen) {
        (Policy::Done, Some(head)) => format!(" All of it held at HEAD `{}`.", short(head)),
        _ => String::new(),
    };
    let assurance = snapshot.describe_assurance();
    let assurance = assurance.map_or_else(String::new, |words| format!(" Assurance: {words}."));
    format!(
        "No slice is open, {} judges of one wave say yes at one HEAD without a blocker or a gap, and \
         `bash .agent/verify_completion_stop.sh` exits 0 on a clean worktree.{held}{assurance}",
        snapshot.profile.required_stop_judges.0
    )
}

/// What a plan's notes may take of the brief, in bytes; the user's answers are none of them.
const MAX_NOTES: usize = 2048;

fn fill_forbid(material: &Material, slots: &mut Slots) {
    let snapshot = material.snapshot;
    let handoff = snapshot.active.handoff.as_ref();
    let notes = handoff.map_or(&[][..], |handoff| &handoff.locked_notes);
    let slice = snapshot.active.slice_id.as_deref().unwrap_or_default();
    let answers = &snapshot.ledger.answers;
    let mut room = MAX_NOTES;
    let mut left_out = 0;
    for note in notes {
        let source = format!("locked note of slice `{slice}`");
        let line = BriefLine::new(Slot::Forbid, note, source);
        if answers.iter().any(|answer| answer.note() == *note) {
            slots.add_said(line, Weight::Kept);
        } else if note.len() > room {
            left_out += 1;
        } else {
            room -= note.len();
            slots.add(line, Weight::Kept);
        }
    }
    // What the user said binds before a slice is selected, and after the last one is done.
    let is_noted = |answer: &&UserAnswer| notes.contains(&answer.note());
    for answer in answers.iter().filter(|answer| !is_noted(answer)) {
        let source = format!("what the user said in transition {}", answer.seq.0);
        let line = BriefLine::new(Slot::Forbid, answer.note(), source);
        slots.add_said(line, Weight::Kept);
    }
    if left_out > 0 {
        let rule = format!(
            "Keep to the notes of slice `{slice}` that are too long to stand here ({left_out})."
        );
        let source = "`locked_notes` in `.agent/active-slice.json`";
        let line = BriefLine::new(Slot::Forbid, rule, source);
        slots.add(line, Weight::Kept);
    }
    for path in material.protected {
        let rule = format!("Do not change `{path}` unless the slice names it.");
        let line = BriefLine::new(Slot::Forbid, rule, PROTECTED);
        slots.add(line, Weight::Kept);
    }
}

fn holds(proof: &Proof) -> bool {
    matches!(proof.verdict, Verdict::Verified | Verdict::Moved)
}

fn fill_established(material: &Material, slots: &mut Slots) {
    for proof in material.proofs.iter().filter(|proof| holds(proof)) {
        let claim = format!("{} (slice `{}`)", proof.criterion, proof.slice_id);
        let anchor = &proof.anchor;
        let line = BriefLine::established(claim, anchor, proof.basis, reopen(anchor));
        slots.add(line, Weight::Established(proof.at.clone()));
    }
    for receipt in list_passed_receipts(material) {
        let claim = format!("Gate `{}` exits 0 on the tree of HEAD.", receipt.command);
        let evidence = format!("receipt:{}", receipt.id);
        let reopen = "when a tracked file changes";
        let line = BriefLine::established(claim, evidence, Basis::Output, reopen);
        slots.add(line, Weight::Established(receipt.started_at.display()));
    }
    let is_lost = |slice: &str| {
        let mut proofs = material.proofs.iter();
        proofs.any(|proof| proof.slice_id == slice && !holds(proof))
    };
    for (slice, commit) in material.commits.iter().filter(|(slice, _)| !is_lost(slice)) {
        let goal = material.snapshot.plan.slice(slice);
        let goal = goal.map_or(String::new(), |slice| format!(": {}", slice.goal));
        let claim = format!("The work of slice `{slice}` is committed{goal}");
        let evidence = format!("commit:{commit}");
        let line = BriefLine::established(claim, evidence, Basis::Observed, "none");
        slots.add(line, Weight::Established(String::new()));
    }
}

/// Receipts of this tree; of another one they say nothing about now.
fn list_passed_receipts<'a>(material: &Material<'a>) -> impl Iterator<Item = &'a Receipt> {
    let tree = material.tree;
    let runs = material.snapshot.evidence.runs.iter();
    runs.filter(move |run| run.has_passed() && run.proves() && run.tree_oid.as_deref() == tree)
}

/// What would make a proof worth another look.
fn reopen(anchor: &str) -> String {
    match Anchor::parse(anchor) {
        Ok(Anchor::Lines { path, .. } | Anchor::Symbol { path, .. }) => {
            format!("when `{path}` changes there")
        }
        Ok(Anchor::Test(_) | Anchor::Command { .. } | Anchor::Receipt(_)) => {
            "when a gate of the tree at HEAD says otherwise".to_owned()
        }
        _ => "none".to_owned(),
    }
}

fn fill_open(material: &Material, slots: &mut Slots) {
    fill_unproved(material, slots);
    let snapshot = material.snapshot;
    let (passed, red): (Vec<&Receipt>, Vec<&Receipt>) =
        (snapshot.evidence.runs.iter()).partition(|run| run.has_passed());
    for run in red {
        let question = format!("Why is gate `{}` red?", run.command);
        let verifies = format!("It exits 0. It last said: {}", last_line(&run.tail));
        slots.ask(question, verifies, Weight::Failed);
    }
    let is_stale = |run: &&&Receipt| run.tree_oid.as_deref() != material.tree;
    for run in passed.iter().filter(is_stale) {
        let question = format!("Does gate `{}` pass on the tree of HEAD?", run.command);
        let verifies = "`cook gate --clean` keeps a receipt of this tree.";
        slots.ask(question, verifies, Weight::Open);
    }
    let handoff = snapshot.active.handoff.iter();
    for finding in handoff.flat_map(|handoff| &handoff.must_fix_findings) {
        let question = format!("Is this mended: {finding}");
        let verifies = "The next review, or the gate, says so.";
        slots.ask(question, verifies, Weight::Open);
    }
    for no in &snapshot.ledger.unanswered {
        let what = no.what.join("; ");
        let question = format!("What answers the judge's rejection `{}`: {what}", no.id);
        let verifies = "The next re-ground answers it with a slice or a reason.";
        slots.ask(question, verifies, Weight::Open);
    }
    let findings = material.findings.iter();
    for finding in findings.filter(|found| found.severity() >= Severity::Warning) {
        let question = format!("{}: {}", finding.code, finding.message);
        let verifies = format!("`cook next` no longer says so; {}.", finding.code.hint());
        slots.ask(question, verifies, Weight::Open);
    }
}

/// Criteria of the slice in work, and of done ones, that no evidence proves now.
fn fill_unproved(material: &Material, slots: &mut Slots) {
    for proof in material.proofs.iter().filter(|proof| !holds(proof)) {
        let (criterion, slice) = (&proof.criterion, &proof.slice_id);
        let question = format!("Does this still hold: {criterion} (slice `{slice}`)");
        let verifies = format!("{} is {}: {}", proof.anchor, proof.verdict.id(), proof.why);
        slots.ask(question, verifies, Weight::Failed);
    }
    let active = &material.snapshot.active;
    let (Some(handoff), Some(id)) = (&active.handoff, &active.slice_id) else {
        return;
    };
    if !is_open(material.snapshot, id) {
        return;
    }
    for criterion in &handoff.acceptance_criteria {
        let proves = |proof: &Proof| proof.slice_id == *id && proof.criterion == *criterion;
        if !material.proofs.iter().any(proves) {
            let question = format!("Does this hold: {criterion} (slice `{id}`)");
            let verifies = "The re-ground that accepts the slice names evidence that verifies.";
            slots.ask(question, verifies, Weight::Open);
        }
    }
}

/// The last line of an output that says something.
pub fn last_line(text: &str) -> String {
    let line = text.lines().rev().find(|line| !line.trim().is_empty());
    line.map_or_else(|| "nothing".to_owned(), |line| line.trim().to_owned())
}

/// The entries that agents and the user added.
fn fill_added(material: &Material, slots: &mut Slots) {
    for entry in &material.added.entries {
        let standing = material.standings.get(&entry.id);
        let claimed = standing.and_then(|standing| as_question(&entry.line, standing));
        let mut line = claimed.unwrap_or_else(|| entry.line.clone());
        for (_, text) in line.texts_mut() {
            *text = without_tags(text);
        }
        if !is_users(&entry.by) {
            unsay(&mut line);
        }
        let slot = line.slot;
        let list = slots.0.entry(slot).or_default();
        // What cook says itself need not be said twice.
        if list.iter().any(|known| known.line == line) {
            continue;
        }
        let weight = match slot {
            Slot::Forbid => Weight::Kept,
            Slot::Open if entry.demoted_from.is_some() => Weight::Failed,
            Slot::Open => match standing.map(|standing| standing.verdict) {
                None | Some(Verdict::Unverifiable) => Weight::Open,
                Some(_) => Weight::Failed,
            },
            Slot::Next => Weight::Later,
            Slot::Learned => Weight::Learned(entry.seq.0),
            Slot::Established => match standing.map(|standing| standing.verdict) {
                // A page that cannot be read here goes first.
                Some(Verdict::Unverifiable) => Weight::Established(String::new()),
                _ => Weight::Established(entry.recorded_at.display()),
            },
        };
        list.push(Filled {
            line,
            id: entry.id.clone(),
            by: entry.by.clone(),
            origin: Origin::Added,
            weight,
        });
    }
}

/// What nothing here proves, as the question that it is until something does. A page elsewhere is
/// nobody's to check from here, and the claim says that it is one.
fn as_question(line: &BriefLine, standing: &BriefStanding) -> Option<BriefLine> {
    let is_page = match (line.slot, &line.proof) {
        (_, Some((basis, _))) => *basis == Basis::Doc && line.tail.contains("://"),
        (slot, None) => slot != Slot::Forbid,
    };
    if standing.verdict == Verdict::Moved || is_page {
        return None;
    }
    let (tail, verdict) = (&line.tail, standing.verdict.id());
    let question = cut(&format!("Claimed, not verified: {}", line.head));
    let verifies = cut(&format!("{tail} is {verdict}: {}", standing.why));
    Some(BriefLine::new(Slot::Open, question, verifies))
}
