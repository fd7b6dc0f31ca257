//! Fills the slots from the documents and histories, and then with the entries that were added. No model and no
//! memory are used: the same state gives the same brief.

use super::entry::{Brief, Weight, is_users, line_digest, normalise, settle};
use crate::diagnostic::{Severity, last_line, without_attribution, without_tags};
use crate::model::{BriefDocument, BriefStanding, MAX_ENTRIES, Pattern, SliceRecord, Verdict};
use crate::prelude::*;

/// Returns the whole brief, and its entries with their origins, in the same order.
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
        (Some(id), Some(goal))
            if snapshot.active.handoff.is_some() && snapshot.plan.is_open(id) =>
        {
            format!("{mission} · slice `{id}`: {goal}")
        }
        _ => mission,
    }
}

fn list_done_when(snapshot: &Snapshot) -> String {
    let active = snapshot.active.slice_id.as_deref();
    if let (Some(handoff), Some(id)) = (&snapshot.active.handoff, active)
        && snapshot.plan.is_open(id)
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
        "No slice is open, one stop wave has {} at one HEAD, without a blocker or a gap, and \
         `bash .agent/verify_completion_stop.sh` exits 0 on a clean worktree.{held}{assurance}",
        count_noun(snapshot.profile.required_stop_judges.0, "yes vote")
    )
}

/// Maximum size of a plan's notes in the brief, in bytes. The user's answers do not count.
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
    // The user's words bind before a slice is selected, and after the last one is done.
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
        let line = BriefLine::establish(claim, anchor, proof.basis, reopen(anchor));
        slots.add(line, Weight::Established(proof.at.clone()));
    }
    for receipt in list_passed_receipts(material) {
        let claim = format!("Gate `{}` exits 0 on the tree of HEAD.", receipt.command);
        let evidence = format!("receipt:{}", receipt.id);
        let reopen = "when a tracked file changes";
        let line = BriefLine::establish(claim, evidence, Basis::Output, reopen);
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
        let line = BriefLine::establish(claim, evidence, Basis::Observed, "none");
        slots.add(line, Weight::Established(String::new()));
    }
}

/// Passed receipts of HEAD's tree. Those of another tree say nothing about the present.
fn list_passed_receipts<'a>(material: &Material<'a>) -> impl Iterator<Item = &'a Receipt> {
    let tree = material.tree;
    let runs = material.snapshot.evidence.runs.iter();
    runs.filter(move |run| run.has_passed() && run.proves() && run.tree_oid.as_deref() == tree)
}

/// When a proof should be looked at again.
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
        let verifies = format!(
            "It exits 0. It last said: {}",
            last_line(&run.tail).unwrap_or("nothing")
        );
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

/// Asks about the criteria of the slice in work, and of done slices, that no evidence proves now.
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
    if !material.snapshot.plan.is_open(id) {
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

/// Adds the entries of agents and the user.
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
        // cook's own entry is not repeated.
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
                // A page that cannot be read from here is left out first.
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

/// A claim that nothing here proves, as a question until something does; `None` if it stays a claim. A page
/// elsewhere cannot be checked from here, and the claim shows that it is one.
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

fn fill_learned(material: &Material, slots: &mut Slots) {
    let mut lessons: Vec<(u64, BriefLine, Origin)> = Vec::new();
    for record in material.reopened {
        let findings = record.findings.clone().unwrap_or_default();
        let why = findings.join("; ");
        let seq = record.seq.map_or(0, |seq| seq.0);
        let lesson = format!("Slice `{}` was reopened: {why}", record.slice_id);
        let commit = short(&record.commit_sha);
        let source = format!("transition #{seq}, reopened at commit:{commit}");
        let line = BriefLine::new(Slot::Learned, lesson, source);
        lessons.push((seq, line, Origin::Findings(findings)));
    }
    // Equal failures are listed once, with their number.
    let mut failed: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for attempt in material.attempts {
        let slice = match &attempt.slice_id {
            Some(id) => format!("An attempt at slice `{id}`"),
            None => "An attempt".to_owned(),
        };
        let lesson = format!("{slice} failed ({}): {}", attempt.class, attempt.line);
        failed.entry(lesson).or_default().push(attempt.seq);
    }
    for (lesson, seqs) in failed {
        let last = seqs.last().copied().unwrap_or_default();
        let source = match seqs.len() {
            1 => format!("transition #{last}"),
            times => format!("transition #{last}, the last of {times}"),
        };
        let line = BriefLine::new(Slot::Learned, lesson, source);
        lessons.push((last, line, Origin::State));
    }
    lessons.sort_by_key(|(seq, ..)| *seq);
    for (seq, line, origin) in lessons {
        slots.add_from(origin, line, Weight::Learned(seq));
    }
    for answered in &material.snapshot.ledger.answered_rejections {
        let by = match answered.no.is_users() {
            true => "No slice holds to it".to_owned(),
            false => format!("{} said no", answered.no.by().replacen('a', "A", 1)),
        };
        let (what, answer) = (answered.no.what.join("; "), &answered.answer);
        let lesson = format!("{by}: {what}; the answer was: {answer}");
        let line = BriefLine::new(Slot::Learned, lesson, format!("`{}`", answered.no.id));
        let origin = Origin::Rejection(answered.no.id.clone());
        slots.add_from(origin, line, Weight::Learned(u64::MAX));
    }
    for amendment in &material.snapshot.ledger.amendments {
        let lesson = format!(
            "A criterion of slice `{}` proved false and was amended: it said \"{}\" and says \"{}\", because {}",
            amendment.slice_id, amendment.old, amendment.new, amendment.reason
        );
        let source = "the user, by `cook plan criteria amend`";
        let line = BriefLine::new(Slot::Learned, lesson, source);
        slots.add_from(Origin::Amendment, line, Weight::Learned(u64::MAX));
    }
    if let Some(last) = &material.checkpoint {
        fill_said(last, slots);
    }
    slots.keep_newest(Slot::Learned);
}

/// Maximum number of dirty paths that are named; the others are counted.
const NAMED: usize = 8;

fn fill_next(material: &Material, slots: &mut Slots) {
    let due = &material.due;
    let first = match &due.command {
        Some(command) => format!(" First run `{command}`."),
        None => String::new(),
    };
    let (action, outcome) = match due.role {
        Some(role) => (
            format!(
                "As the {role}: {}.{first} `cook next --prompt` says how.",
                due.action
            ),
            format!("`cook record {role} FILE` takes the report."),
        ),
        None if material.snapshot.state.project_done && due.command.is_none() => (
            "Nothing: the project is done.".to_owned(),
            "`cook verify --strict` proves it again.".to_owned(),
        ),
        None => (
            format!("{}.{first}", due.action),
            format!("The work goes on; it stands still because {}.", due.reason),
        ),
    };
    slots.add(BriefLine::new(Slot::Next, action, outcome), Weight::Kept);
    let last = material.checkpoint.as_ref();
    let outcome = match last.and_then(|last| last.next.as_ref()) {
        Some(next) => format!("{CHECKPOINT} {next}"),
        None => "No checkpoint says what comes next.".to_owned(),
    };
    let line = BriefLine::new(Slot::Next, stands_on(&material.here), outcome);
    slots.add(line, Weight::Later);
}

fn stands_on(here: &Here) -> String {
    let branch = match &here.branch {
        Some(branch) => format!("branch `{branch}`"),
        None => "no branch".to_owned(),
    };
    let head = match &here.head {
        Some(head) => format!("HEAD `{}`", short(head)),
        None => "no commit yet".to_owned(),
    };
    let named: Vec<String> = here
        .dirty
        .iter()
        .take(NAMED)
        .map(|path| format!("`{path}`"))
        .collect();
    let rest = (here.dirty.len() as u64 + here.more).saturating_sub(named.len() as u64);
    let more = match rest {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    let dirty = match named.is_empty() {
        true => "nothing is uncommitted".to_owned(),
        false => format!("uncommitted: {}{more}", named.join(", ")),
    };
    format!("Go on from {branch}, {head}; {dirty}.")
}

/// Adds what a checkpoint calls done. It is only a claim until a commit shows it.
fn fill_said(last: &LastCheckpoint, slots: &mut Slots) {
    let Some(done) = &last.done else { return };
    let source = format!("the last checkpoint, {}", last.at);
    let line = BriefLine::new(Slot::Learned, format!("{SAID_DONE} {done}"), source);
    slots.add(line, Weight::Learned(u64::MAX));
}

/// Splits a checkpoint into what it calls done and what it calls next (`Next: …`, at its end).
pub fn split_checkpoint(text: &str) -> (Option<String>, Option<String>) {
    let said = |text: &str, nothing: &str| {
        let text = text.trim().trim_end_matches(['.', ';']).trim();
        (!text.is_empty() && text != nothing).then(|| text.to_owned())
    };
    let lower = text.to_ascii_lowercase();
    let (before, next) = match lower.rfind("next:") {
        Some(at) => (&text[..at], said(&text[at + "next:".len()..], "not known")),
        None => (text, None),
    };
    let done = match lower[..before.len()].find("done:") {
        Some(at) => &before[at + "done:".len()..],
        None => before,
    };
    // The rest of what cook itself keeps before a compaction is not work that was done.
    let done = done.split_once(". Files: ").map_or(done, |(done, _)| done);
    // A commit shows itself, and cook says who is due.
    let done: Vec<&str> = done
        .split("; ")
        .filter(|part| !part.trim_start().starts_with("commit "))
        .collect();
    let next = next.filter(|next| !next.starts_with("cook next"));
    (said(&done.join("; "), "nothing committed"), next)
}

#[derive(Default)]
struct Slots(pub(super) BTreeMap<Slot, Vec<Filled>>);

impl Slots {
    /// Adds an entry of cook's own. A text without content is not an entry.
    pub(super) fn add(&mut self, line: BriefLine, weight: Weight) {
        self.add_from(Origin::State, line, weight);
    }

    /// Adds a question, with what would answer it.
    pub(super) fn ask(&mut self, question: String, verifies: impl Into<String>, weight: Weight) {
        self.add(BriefLine::new(Slot::Open, question, verifies), weight);
    }

    /// Like [`Self::add`], for an entry that some role's prompt shows in a part of its own.
    fn add_from(&mut self, origin: Origin, mut line: BriefLine, weight: Weight) {
        unsay(&mut line);
        self.insert(origin, line, weight);
    }

    /// Adds the user's words as cook wrote them down.
    fn add_said(&mut self, line: BriefLine, weight: Weight) {
        self.insert(Origin::State, line, weight);
    }

    fn insert(&mut self, origin: Origin, mut line: BriefLine, weight: Weight) {
        for (_, text) in line.texts_mut() {
            match normalise(&cut(text)) {
                Ok(kept) => *text = without_tags(&settle(&kept)),
                Err(_) => return,
            }
        }
        let list = self.0.entry(line.slot).or_default();
        if !list.iter().any(|known| known.line == line) {
            list.push(Filled {
                id: line_digest(&line),
                by: "cook".to_owned(),
                origin,
                line,
                weight,
            });
        }
    }

    /// Keeps the newest entries of a slot that could grow without end.
    fn keep_newest(&mut self, slot: Slot) {
        if let Some(list) = self.0.get_mut(&slot)
            && list.len() > MAX_ENTRIES
        {
            list.drain(..list.len() - MAX_ENTRIES);
        }
    }
}

/// Keeps a role's words from reading as the user's words that cook wrote down. Sources and evidence stay, because
/// they are checked against those.
fn unsay(line: &mut BriefLine) {
    for (name, text) in line.texts_mut() {
        if !matches!(name, "source" | "evidence") {
            *text = without_attribution(text);
        }
    }
}

/// Cuts a text to fit a field, and marks the cut.
pub(super) fn cut(text: &str) -> String {
    /// Leaves room for the mark.
    const LONGEST: usize = MAX_FIELD_CHARS - 4;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

// The material of a whole brief, and its entries.

/// A piece of a slice's evidence, with its present verdict.
#[derive(Debug, Clone)]
pub struct Proof {
    /// The slice.
    pub slice_id: String,
    /// The criterion that it proves.
    pub criterion: String,
    /// Its present anchor.
    pub anchor: String,
    /// The kind of proof.
    pub basis: Basis,
    /// When it was last stamped.
    pub at: String,
    /// The verdict on it now.
    pub verdict: Verdict,
    /// The reason for the verdict.
    pub why: String,
}

/// A failed attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The slice, if known.
    pub slice_id: Option<String>,
    /// One word: `gate_red`, `returned`, `refused`.
    pub class: &'static str,
    /// The last line of the error, or the reason.
    pub line: String,
    /// Log sequence number.
    pub seq: u64,
}

/// The role that is due.
#[derive(Debug, Clone)]
pub struct Due {
    /// The short name of the role; `None` if the work is stopped.
    pub role: Option<&'static str>,
    /// What the role is to do.
    pub action: String,
    /// Why it is due.
    pub reason: String,
    /// A command to run first.
    pub command: Option<String>,
}

/// The branch, the commit and the uncommitted files of the worktree.
#[derive(Debug, Clone, Default)]
pub struct Here {
    /// The branch; `None` if HEAD is detached.
    pub branch: Option<String>,
    /// HEAD's commit.
    pub head: Option<String>,
    /// Uncommitted paths, without cook's own files.
    pub dirty: Vec<String>,
    /// Number of further uncommitted paths.
    pub more: u64,
}

/// The last checkpoint that was written before the context was lost.
#[derive(Debug, Clone)]
pub struct LastCheckpoint {
    /// When it was written.
    pub at: String,
    /// What it calls done, if no commit came after it.
    pub done: Option<String>,
    /// What it calls next.
    pub next: Option<String>,
}

/// Everything the slots are filled from.
#[derive(Debug, Clone)]
pub struct Material<'a> {
    /// The documents.
    pub snapshot: &'a Snapshot,
    /// The role that is due.
    pub due: Due,
    /// The branch, the commit and the uncommitted files of the worktree.
    pub here: Here,
    /// The last checkpoint of this mission.
    pub checkpoint: Option<LastCheckpoint>,
    /// The findings of the dispatch.
    pub findings: &'a [Finding],
    /// Evidence of the plan's criteria.
    pub proofs: &'a [Proof],
    /// Reopened slices, oldest first.
    pub reopened: &'a [SliceRecord],
    /// Failed attempts, oldest first.
    pub attempts: &'a [Attempt],
    /// Slices whose head is on HEAD, with that head.
    pub commits: &'a [(String, String)],
    /// Protected paths of `cook.toml`.
    pub protected: &'a [Pattern],
    /// HEAD's tree.
    pub tree: Option<&'a str>,
    /// The entries that were added, reconciled.
    pub added: &'a BriefDocument,
    /// The standings of those entries whose anchor no longer holds as it was stamped.
    pub standings: &'a BTreeMap<String, BriefStanding>,
}

/// The origin of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// An agent or the user, who added it.
    Added,
    /// The documents and histories.
    State,
    /// A slice that was reopened, with the fixes required then.
    Findings(Vec<String>),
    /// A rejection that was answered, by its id.
    Rejection(String),
    /// A criterion that the user amended.
    Amendment,
}

/// An entry of the whole brief.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filled {
    /// Its text.
    pub line: BriefLine,
    /// Its id; `c…` if cook filled it in.
    pub id: String,
    /// Its author; `cook` if cook filled it in.
    pub by: String,
    /// Its origin.
    pub origin: Origin,
    /// Its weight if room is short.
    pub weight: Weight,
}

impl Filled {
    /// Whether cook filled it in itself; such an entry is not stored.
    pub fn is_own(&self) -> bool {
        self.origin != Origin::Added
    }

    /// Whether the role's prompt shows it in a part of its own, as it does criteria, gates, findings and the due
    /// role. `shown` are the findings and the ids of rejections that the prompt shows. A judge reads no
    /// checkpoint, because it may reveal another judge's vote.
    pub fn stands_in_prompt(&self, role: Role, shown: &[String]) -> bool {
        self.is_own()
            && match self.line.slot {
                Slot::Learned => match &self.origin {
                    Origin::Findings(findings) => {
                        !findings.is_empty() && findings.iter().all(|one| shown.contains(one))
                    }
                    Origin::Rejection(id) => role == Role::StopJudge || shown.contains(id),
                    Origin::Amendment => role != Role::Bootstrapper,
                    Origin::State => {
                        role == Role::StopJudge && self.line.head.starts_with(SAID_DONE)
                    }
                    Origin::Added => false,
                },
                Slot::Forbid => self.line.tail != PROTECTED,
                Slot::Next => role == Role::StopJudge || !self.line.tail.starts_with(CHECKPOINT),
                _ => true,
            }
    }
}

/// The source of a rule from the settings.
const PROTECTED: &str = "`rules.protected` in .agent/cook.toml";

/// Begins the outcome of a next step that a checkpoint names.
const CHECKPOINT: &str = "The last checkpoint goes on with:";
/// Begins the text that the last checkpoint calls done.
const SAID_DONE: &str = "Said to be done, and in no commit since:";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_says_what_is_done_and_what_is_next() {
        for (text, done, next) in [
            (
                "half the parser; next: the printer",
                "half the parser",
                "the printer",
            ),
            ("Done: a. b\nNext: c.", "a. b", "c"),
            ("only done", "only done", ""),
            ("next: go", "", "go"),
            (
                "Auto-checkpoint (before compaction). Done: nothing committed. Files: x. Turns since the last checkpoint: 2. Next: not known",
                "",
                "",
            ),
            (
                "half of it; commit 1a. Files: a. Next: cook next --prompt",
                "half of it",
                "",
            ),
            (
                "Auto-checkpoint (before compaction). Done: commit 1a; ran `t`. Files: x. Turns since the last checkpoint: 2. Next: mend it",
                "ran `t`",
                "mend it",
            ),
        ] {
            let (found, then) = split_checkpoint(text);
            assert_eq!(found.unwrap_or_default(), done, "{text}");
            assert_eq!(then.unwrap_or_default(), next, "{text}");
        }
    }
}
