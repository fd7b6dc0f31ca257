//! When two states are the same state: a digest of the documents in which
//! commits are named by their place in the graph, and moments, sequence numbers
//! and everything that only tells the story are left out.

use super::events::Bounds;
use super::world::{Mood, Touch, World, find_commit};
use cook_protocol::machine::{AUDIT_EVERY, current_audit, current_review};
use cook_protocol::model::{ActiveStatus, Evidence, Policy, SliceStatus, Snapshot};
use serde::ser::{self, Serialize};
use std::collections::hash_map::DefaultHasher;
use std::fmt;
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
        field: "",
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
    let parts = (
        &snapshot.state,
        &snapshot.plan,
        &snapshot.active,
        &snapshot.ledger,
    );
    // Serializing into a hasher cannot fail.
    let _ = parts.serialize(&mut digest);
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
    field: &'static str,
}

impl Digest<'_, '_> {
    fn put(&mut self, value: impl Hash) {
        value.hash(&mut self.hasher);
        value.hash(&mut self.second);
        // The two would be equal without a salt between the values.
        0xa5u8.hash(&mut self.second);
    }
}

/// What a serializer must be able to say; a hash never fails.
#[derive(Debug)]
pub struct Never;

impl fmt::Display for Never {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a digest cannot fail")
    }
}

impl std::error::Error for Never {}

impl ser::Error for Never {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Never
    }
}

macro_rules! put {
    ($($method:ident $type:ty),*) => {
        $(fn $method(self, value: $type) -> Result<(), Never> {
            self.put(value);
            Ok(())
        })*
    };
}

impl ser::Serializer for &mut Digest<'_, '_> {
    type Ok = ();
    type Error = Never;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    put!(serialize_bool bool, serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64,
        serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64, serialize_char char,
        serialize_bytes &[u8]);

    fn serialize_f32(self, value: f32) -> Result<(), Never> {
        self.put(value.to_bits());
        Ok(())
    }
    fn serialize_f64(self, value: f64) -> Result<(), Never> {
        self.put(value.to_bits());
        Ok(())
    }
    fn serialize_str(self, value: &str) -> Result<(), Never> {
        if value.starts_with("no-") && self.field == "id" {
            return Ok(());
        }
        match find_commit(value).filter(|commit| *commit < self.names.world.commits.len()) {
            Some(commit) => {
                let name = self.names.name(commit);
                self.put(name);
            }
            None => self.put(value),
        }
        Ok(())
    }
    fn serialize_none(self) -> Result<(), Never> {
        self.put(0u8);
        Ok(())
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Never> {
        self.put(1u8);
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<(), Never> {
        Ok(())
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Never> {
        Ok(())
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, v: &'static str) -> Result<(), Never> {
        self.put(v);
        Ok(())
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Never> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Never> {
        self.put(variant);
        value.serialize(self)
    }
    fn serialize_seq(self, len: Option<usize>) -> Result<Self, Never> {
        self.put(len);
        Ok(self)
    }
    fn serialize_tuple(self, _: usize) -> Result<Self, Never> {
        Ok(self)
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Never> {
        Ok(self)
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self, Never> {
        self.put(variant);
        Ok(self)
    }
    fn serialize_map(self, len: Option<usize>) -> Result<Self, Never> {
        self.put(len);
        Ok(self)
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Never> {
        Ok(self)
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self, Never> {
        self.put(variant);
        Ok(self)
    }
}

macro_rules! items {
    ($($trait:ident $method:ident),*) => {
        $(impl ser::$trait for &mut Digest<'_, '_> {
            type Ok = ();
            type Error = Never;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
                value.serialize(&mut **self)
            }
            fn end(self) -> Result<(), Never> {
                self.put(0x5au8);
                Ok(())
            }
        })*
    };
}

items!(SerializeSeq serialize_element, SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field, SerializeTupleVariant serialize_field);

macro_rules! fields {
    ($($trait:ident),*) => {
        $(impl ser::$trait for &mut Digest<'_, '_> {
            type Ok = ();
            type Error = Never;
            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), Never> {
                if IGNORED.contains(&key) {
                    return Ok(());
                }
                self.field = key;
                self.put(key);
                value.serialize(&mut **self)
            }
            fn end(self) -> Result<(), Never> {
                self.put(0x5au8);
                Ok(())
            }
        })*
    };
}

fields!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for &mut Digest<'_, '_> {
    type Ok = ();
    type Error = Never;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Never> {
        self.field = "";
        key.serialize(&mut **self)
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
        value.serialize(&mut **self)
    }
    fn end(self) -> Result<(), Never> {
        self.put(0x5au8);
        Ok(())
    }
}
