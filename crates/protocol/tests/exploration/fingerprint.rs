//! When two states are the same state: a digest of the documents in which
//! commits are named by their place in the graph, and moments, sequence numbers
//! and everything that only tells the story are left out.

use super::events::Bounds;
use super::world::{Mood, Touch, World, find_commit};
use cook_protocol::machine::{AUDIT_EVERY, current_audit, current_review};
use cook_protocol::model::{ActiveStatus, Evidence, Policy, SliceStatus, Snapshot};
use serde_json::{Value, json};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// Fields that no decision reads, or that are formulas of the rest.
const IGNORED: &[&str] = &[
    "revision",
    "recorded_at",
    "seq",
    "last_reground_at",
    "continuation_reason",
    "next_mandatory_action",
    "slices_since_last_reground",
    "current_stop_wave_id",
    "report_sha256",
    "session",
    "ticket",
    "what",
    "goal",
    "why_now",
    "head_sha",
    "duration_ms",
    "undone",
    "scripted_commands",
    "reported",
    "latest_verified_slice",
    "amendments",
    "returned",
    "answered",
    "stopped_for",
    "due_for",
    "answers",
    "answered_rejections",
    "advice",
    "sent_back",
    "fixed",
    "fixes",
    "fixes_before",
    "checked",
    "red_gates",
    "earlier_audit",
    "open_audit",
    "remarked",
    "locked_notes",
    "last_auditor_verdict",
    "head_tree",
    "receipts",
    "findings",
    "follow_up",
    "contract_status",
    "current_phase",
    "next_mandatory_role",
    "remaining_stop_judges",
    "unsatisfied_contract_ids",
    "mission_anchor",
];

/// The digest, and the commits it speaks of in the order of their names.
pub fn fingerprint(snapshot: &Snapshot, world: &World, steps_left: u64, bounds: &Bounds) -> u128 {
    let mut snapshot = snapshot.clone();
    if bounds.rewrites == 0 {
        forget_left_commits(&mut snapshot, world);
    }
    let in_work = matches!(
        snapshot.active.status,
        ActiveStatus::Selected | ActiveStatus::InProgress | ActiveStatus::Committed
    );
    if !in_work {
        snapshot.active.handoff = None;
    }
    for slice in &mut snapshot.plan.candidate_slices {
        if !matches!(
            slice.status,
            SliceStatus::Selected | SliceStatus::InProgress
        ) {
            slice.basis_commit = None;
            slice.remaining_contract_ids_before = None;
        }
        if let Some(findings) = &mut slice.must_fix_findings {
            findings.truncate(1);
            findings.iter_mut().for_each(String::clear);
        }
    }
    if let Some(handoff) = &mut snapshot.active.handoff {
        handoff.must_fix_findings.truncate(1);
        handoff.must_fix_findings.iter_mut().for_each(String::clear);
    }
    snapshot.active.revision = None;
    forget_closed(&mut snapshot);
    place_accepted(&mut snapshot, world);
    weigh_accepted(&mut snapshot, world, bounds);
    let has_review = current_review(&snapshot).is_some();
    let has_audit = current_audit(&snapshot).is_some();
    for slice in snapshot.ledger.slices.values_mut() {
        let slice = &mut **slice;
        let head = slice.head.clone();
        // Whose words they are matters as far as the reviewer is another.
        if let Some(by) = &mut slice.offered_by {
            let review = slice.review.as_deref();
            let is_same = review.is_some_and(|note| note.session.as_ref() == Some(&*by));
            *by = if is_same { "same" } else { "other" }.to_owned();
        }
        // A no is owed an answer once its criteria are others.
        slice.review.take_if(|note| !has_review && !note.rejects());
        slice.audit.take_if(|_| !has_audit);
        // The user's answers are part of what it was given for, under the numbers of the log.
        for note in slice.review.iter_mut() {
            note.criteria_sha256.clear();
        }
        for note in slice.audit.iter_mut() {
            note.criteria_sha256.clear();
        }
        slice
            .review
            .take_if(|note| Some(&note.commit) != head.as_ref());
        slice
            .audit
            .take_if(|note| Some(&note.commit) != head.as_ref());
    }
    let weighed = list_unweighed(&snapshot);
    let assured = &mut snapshot.ledger.assured;
    assured.unaudited.0 = assured.unaudited.0.min(AUDIT_EVERY);
    // The next report of an implementer measures the tree anew.
    if snapshot.state.continuation_policy == Policy::Continue
        && matches!(
            snapshot.active.status,
            ActiveStatus::Selected | ActiveStatus::InProgress
        )
    {
        snapshot.ledger.status_seen = None;
    }
    snapshot.ledger.unanswered.truncate(2);
    let here = world.head.map(|head| world.tree(head));
    if let Some(room) = &mut snapshot.ledger.room {
        room.red.truncate(1);
        if Some(&room.tree) == here.as_ref() {
            room.tree = "here".to_owned();
        } else if bounds.rewrites == 0 {
            // No commit of before comes back.
            snapshot.ledger.room = None;
        }
    }
    let mut names = Names {
        world,
        order: world.chain(world.head),
        lowest: usize::MAX,
        on_chain: 0,
        seen: snapshot.ledger.mark.as_deref().and_then(find_commit),
    };
    names.on_chain = names.order.len();
    let mut digest = Digest {
        hasher: DefaultHasher::new(),
        second: DefaultHasher::new(),
        names: &mut names,
    };
    let counters = &snapshot.counters;
    let spent: Vec<(&String, u64)> = counters
        .attempts
        .iter()
        .filter(|_| bounds.attempts < 100)
        .map(|(id, count)| {
            let limit = bounds.attempts + counters.granted.attempts_per_slice.unwrap_or(0);
            (id, limit.saturating_sub(count.0))
        })
        .collect();
    let unborn = world.head.is_none();
    let in_work = snapshot
        .find_slice_in_work()
        .and_then(|id| snapshot.ledger.slices.get(id));
    // The one that was set aside last takes the other's place once the slice is closed.
    let is_same = in_work.map(|slice| bounds.rewrites > 0 && slice.head_tree == here);
    let earlier_audit = in_work.and_then(|slice| slice.earlier_audit.as_deref());
    let open_audit = earlier_audit.or(snapshot.ledger.open_audit.as_deref());
    (
        steps_left,
        (world.rewrites, world.harms()),
        unborn,
        snapshot.undone.seqs.is_empty(),
        open_audit.map(|note| (note.rejects, &note.planned)),
        weighed,
        is_same,
    )
        .hash(&mut digest.hasher);
    spent.hash(&mut digest.hasher);
    let parts = json!([
        snapshot.state,
        snapshot.plan,
        snapshot.active,
        snapshot.ledger,
    ]);
    digest.put_value(&parts);
    let (mut hasher, mut second) = (digest.hasher, digest.second);
    names.shape(bounds.rewrites > 0).hash(&mut hasher);
    let first = hasher.finish();
    first.hash(&mut second);
    (u128::from(first) << 64) | u128::from(second.finish())
}

/// Below `strict`: whether something is there that cook does not weigh, of the texts that are left out.
fn list_unweighed(snapshot: &Snapshot) -> Option<[bool; 4]> {
    if snapshot.assurance().is_strict() {
        return None;
    }
    let ledger = &snapshot.ledger;
    let slice = snapshot
        .find_slice_in_work()
        .and_then(|id| ledger.slices.get(id));
    let review = slice.and_then(|slice| slice.review.as_deref());
    let audit = slice.and_then(|slice| slice.audit.as_deref());
    Some([
        ledger.returned.is_some() || ledger.answered.is_some() || ledger.stopped_for.is_some(),
        slice.is_some_and(|slice| {
            slice.earlier_audit.is_some()
                || slice.remarked.is_some()
                || slice.find_unheard_no().is_some()
        }),
        review.is_some_and(|note| !note.findings.is_empty() || note.follow_up.is_some()),
        audit.is_some_and(|note| !note.findings.is_empty() || note.next_slice.is_some()),
    ])
}

/// Of accepted work it matters whether HEAD holds its commit and its basis, and not where.
fn place_accepted(snapshot: &mut Snapshot, world: &World) {
    let chain = world.chain(world.head);
    let place = |commit: &mut String| {
        let index = find_commit(commit);
        *commit = match index.filter(|index| chain.contains(index)) {
            Some(_) => "on HEAD",
            None => "left",
        }
        .to_owned();
    };
    for slice in snapshot.ledger.slices.values_mut() {
        if let Some(accepted) = &mut slice.accepted {
            accepted.seq.0 = 0;
            place(&mut accepted.basis);
            place(&mut accepted.head);
        }
        slice.holds.iter_mut().for_each(place);
    }
}

/// Of an accepted proof it matters what it is worth, and where history is rewritten since when.
fn weigh_accepted(snapshot: &mut Snapshot, world: &World, bounds: &Bounds) {
    let slices = snapshot.plan.candidate_slices.iter_mut();
    for slice in slices.filter(|slice| slice.rests_on_proof()) {
        for entry in &mut slice.evidence {
            if let Evidence::Record(record) = entry {
                record.tests = Some(format!("{:?}", world.worth(record, &Mood::GOOD)));
                let since = record.head_sha.clone();
                record.receipt = (bounds.rewrites > 0).then_some(since);
            }
        }
    }
}

/// A cancelled slice comes back only where what showed it to be there is gone; a done one begins anew
/// when it is reopened.
fn forget_closed(snapshot: &mut Snapshot) {
    snapshot.ledger.wave.opened.0 = snapshot.ledger.wave.opened.0.min(2);
    for slice in &mut snapshot.plan.candidate_slices {
        if slice.status.is_open() || slice.is_satisfied() {
            continue;
        }
        slice.must_fix_findings = None;
        if let Some(ledger) = snapshot.ledger.slices.get_mut(&slice.slice_id) {
            ledger.claimed.clear();
            ledger.basis = None;
        }
        if slice.status == SliceStatus::Cancelled {
            slice.evidence.clear();
            if snapshot.state.latest_completed_slice.as_deref() != Some(&slice.slice_id) {
                snapshot.ledger.slices.remove(&slice.slice_id);
            }
        }
    }
}

/// Where history is never rewritten, HEAD does not come back to a commit it left.
fn forget_left_commits(snapshot: &mut Snapshot, world: &World) {
    let head = world.head.map(super::world::id);
    let chain: Vec<String> = world
        .chain(world.head)
        .into_iter()
        .map(super::world::id)
        .collect();
    for slice in snapshot.ledger.slices.values_mut() {
        // A claimed commit without trailer tells only that the slice has own commits.
        let any = slice.claimed.iter().any(|commit| chain.contains(commit));
        slice.claimed.retain(|commit| {
            chain.contains(commit)
                && find_commit(commit).is_some_and(|index| world.commits[index].slice.is_some())
        });
        slice.claimed.sort();
        if any {
            slice.claimed.push("some".to_owned());
        }
        slice.last_head.take_if(|commit| !chain.contains(commit));
    }
    for vote in &mut snapshot.ledger.wave.votes {
        if Some(&vote.head) != head.as_ref() {
            vote.head = "left".to_owned();
        }
    }
    if snapshot.ledger.wave.opened_at != head {
        snapshot.ledger.wave.opened_at = None;
        snapshot.ledger.wave.opened.0 = 0;
    }
}

/// A commit: its place, its slice, what it changes, its parent, how far the one is that changed the same first.
type Shape = (usize, Option<&'static str>, Touch, usize, usize);

struct Names<'a> {
    world: &'a World,
    /// Commits by name: the chain of HEAD, then others as they are met.
    order: Vec<usize>,
    on_chain: usize,
    /// The oldest commit of the chain that matters.
    lowest: usize,
    /// HEAD at the last transition.
    seen: Option<usize>,
}

impl Names<'_> {
    fn name(&mut self, commit: usize) -> (bool, usize) {
        if self.world.commits[commit].gone {
            return (true, commit);
        }
        let mut missing = Vec::new();
        let mut at = Some(commit);
        while let Some(index) = at {
            if let Some(place) = self.order.iter().position(|known| *known == index) {
                if place < self.on_chain {
                    self.lowest = self.lowest.min(place);
                }
                break;
            }
            missing.push(index);
            at = self.world.commits[index].parent;
        }
        missing.reverse();
        self.order.extend(missing);
        let place = self
            .order
            .iter()
            .position(|known| *known == commit)
            .unwrap_or(usize::MAX);
        // Names on the chain count from HEAD, so that what lies below does not matter.
        if place < self.on_chain {
            (false, self.on_chain - place)
        } else {
            (false, 1000 + place - self.on_chain)
        }
    }

    /// The graph from the oldest commit that matters upward.
    fn shape(&self, rewrites: bool) -> Vec<Shape> {
        let from = self.lowest.min(self.on_chain);
        let below = if rewrites { from.min(2) } else { 0 };
        let mut shape = vec![(below, None, Touch::Nothing, 0, 0)];
        // Paths are asked for only of what came since.
        let new_from = self
            .seen
            .and_then(|seen| {
                self.order[..self.on_chain]
                    .iter()
                    .position(|at| *at == seen)
            })
            .map_or(0, |place| place + 1);
        for (place, &index) in self.order.iter().enumerate().skip(from) {
            let commit = self.world.commits[index];
            let parent = commit.parent.map_or(0, |parent| {
                self.order
                    .iter()
                    .position(|known| *known == parent)
                    .map_or(0, |place| {
                        if place < self.on_chain {
                            self.on_chain - place
                        } else {
                            1000 + place - self.on_chain
                        }
                    })
            });
            let parent = if place == from { 0 } else { parent };
            let touch = match commit.touch {
                Touch::Elsewhere if place < new_from && !rewrites => Touch::Surface,
                touch => touch,
            };
            let again = self.order.iter().position(|known| *known == commit.change);
            let again = again
                .filter(|_| rewrites)
                .map_or(0, |first| 1 + place.abs_diff(first));
            shape.push((place - from, commit.slice, touch, parent, again));
        }
        shape
    }
}

struct Digest<'a, 'b> {
    hasher: DefaultHasher,
    second: DefaultHasher,
    names: &'a mut Names<'b>,
}

impl Digest<'_, '_> {
    fn put(&mut self, value: impl Hash) {
        value.hash(&mut self.hasher);
        value.hash(&mut self.second);
        // The two would be equal without a salt between the values.
        0xa5u8.hash(&mut self.second);
    }

    fn put_value(&mut self, value: &Value) {
        match value {
            Value::Null => self.put(0u8),
            Value::Bool(truth) => self.put(truth),
            Value::Number(number) => self.put(number),
            Value::String(text) => self.put_text(text),
            Value::Array(items) => {
                self.put(items.len());
                items.iter().for_each(|item| self.put_value(item));
            }
            Value::Object(entries) => {
                for (key, entry) in entries {
                    if IGNORED.contains(&key.as_str()) {
                        continue;
                    }
                    self.put_text(key);
                    // Rejections are numbered; the numbers tell only the story.
                    let is_number =
                        key == "id" && entry.as_str().is_some_and(|text| text.starts_with("no-"));
                    if !is_number {
                        self.put_value(entry);
                    }
                }
                self.put(0x5au8);
            }
        }
    }

    fn put_text(&mut self, text: &str) {
        match find_commit(text).filter(|commit| *commit < self.names.world.commits.len()) {
            Some(commit) => {
                let name = self.names.name(commit);
                self.put(name);
            }
            None => self.put(text),
        }
    }
}
