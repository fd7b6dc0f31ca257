//! A worktree in a temporary directory and small transitions that follow one another.

pub use super::NOW;
use cook_protocol::diagnostic::Failure;
use cook_protocol::machine::Facts;
use cook_protocol::model::{
    ActiveSlice, Actor, Count, Counters, Event, Ledger, Phase, Plan, Policy, Profile, Records,
    RoleSlot, SchemaVersion, Slice, SliceRecord, SliceRecordType, SliceStatus, Snapshot, State,
    StopRecord, StopRecordType, Undone, VerificationEvidence,
};
use cook_repo::store::{Committed, Place, Replayed, Store, Tip, Transition};
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

pub const WAIT: Duration = Duration::from_secs(30);

pub struct Fixture {
    pub dir: TempDir,
}

impl Fixture {
    pub fn new() -> Self {
        let dir = super::room();
        git2::Repository::init(dir.path().join("work")).unwrap();
        Self { dir }
    }

    /// With a log of `transitions` pauses.
    pub fn with(transitions: u64) -> (Self, Store) {
        let fixture = Self::new();
        let store = Store::create(fixture.place()).unwrap();
        for _ in 0..transitions {
            step(&store).unwrap();
        }
        (fixture, store)
    }

    pub fn place(&self) -> Place {
        let worktree = self.dir.path().join("work");
        Place {
            common_dir: worktree.join(".git"),
            git_dir: worktree.join(".git"),
            worktree,
        }
    }

    pub fn open(&self) -> Store {
        Store::open(self.place()).unwrap().unwrap()
    }

    pub fn agent(&self, file: &str) -> PathBuf {
        self.dir.path().join("work/.agent").join(file)
    }

    pub fn log(&self, file: &str) -> PathBuf {
        self.dir.path().join("work/.git/cook/log.git").join(file)
    }

    pub fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.agent(file)).unwrap()
    }

    pub fn edit(&self, file: &str, from: &str, to: &str) {
        let text = self.read(file);
        assert!(text.contains(from), "{file} does not hold {from}");
        std::fs::write(self.agent(file), text.replacen(from, to, 1)).unwrap();
    }
}

/// What this fixture's "machine" does: pauses number the reason, every one adds a record.
pub fn produce(before: Option<&Snapshot>, event: &Event, seq: u64) -> (Snapshot, Records) {
    let mut snapshot = before.cloned().unwrap_or_else(first_snapshot);
    let mut records = Records::default();
    match event {
        Event::Bootstrapped { mission, .. } => {
            snapshot.mission = mission.clone().unwrap_or_default();
        }
        Event::Undone { to, .. } => {
            let kept = snapshot.counters.clone();
            snapshot = (**to).clone();
            snapshot.counters = kept;
        }
        Event::Paused { why } => {
            snapshot.state.continuation_reason = why.clone();
            snapshot.counters.steps.0 += 1;
            records.slice.push(slice_record(seq, why));
            if seq.is_multiple_of(3) {
                records.stop.push(stop_record(seq));
            }
        }
        Event::Adopted { plan } => snapshot.plan = plan.clone(),
        _ => {}
    }
    snapshot.ledger.seq = Count(seq);
    snapshot.state.revision = Some(Count(seq));
    snapshot.active.revision = Some(Count(seq));
    (snapshot, records)
}

/// The number of the transition that follows `before`.
pub fn next_seq(before: Option<&Snapshot>) -> u64 {
    before.map_or(1, |snapshot| snapshot.ledger.seq.0 + 1)
}

pub fn replay(before: Option<&Snapshot>, event: &Event, seq: u64) -> Replayed {
    let (snapshot, records) = produce(before, event, seq);
    Replayed {
        snapshot,
        records,
        rule: find_rule(event).to_owned(),
    }
}

pub fn find_rule(event: &Event) -> &'static str {
    match event {
        Event::Bootstrapped { .. } => "1",
        _ => "S",
    }
}

pub fn first_event() -> Event {
    Event::Bootstrapped {
        mission: Some("# Ship it\n\nAll of it.\n".to_owned()),
        profile: Profile::new("demo"),
        branch: Some("main".to_owned()),
        settings: None,
        import: None,
    }
}

pub fn make_paused(why: &str) -> Event {
    Event::Paused {
        why: why.to_owned(),
    }
}

pub fn transition(before: Option<(Tip, Snapshot)>, event: Event) -> Transition {
    let seq = before.as_ref().map_or(0, |(tip, _)| tip.seq) + 1;
    let (snapshot, records) = produce(before.as_ref().map(|(_, s)| s), &event, seq);
    Transition {
        parent: before.map(|(tip, _)| tip),
        rule: find_rule(&event).to_owned(),
        event,
        facts: Facts {
            now: NOW.to_owned(),
            ..Facts::default()
        },
        actor: Actor::User,
        subject: "demo".to_owned(),
        lease_epoch: snapshot.ledger.lease_epoch.0,
        snapshot,
        records,
        receipts: Vec::new(),
        exchanges: Vec::new(),
        tests: Vec::new(),
        displace: false,
    }
}

/// The next transition after the tip.
pub fn next(store: &Store) -> Transition {
    let before = store.current().unwrap();
    let event = match &before {
        None => first_event(),
        Some((tip, _)) => make_paused(&format!("pause {}", tip.seq + 1)),
    };
    transition(before, event)
}

pub fn commit(store: &Store, transition: Transition) -> Result<Committed, Failure> {
    store
        .lock(WAIT)?
        .recover()?
        .stage(transition)?
        .commit(None, |_| Ok(()))
}

pub fn step(store: &Store) -> Result<Committed, Failure> {
    commit(store, next(store))
}

pub fn slice_record(seq: u64, text: &str) -> SliceRecord {
    SliceRecord {
        schema_version: SchemaVersion,
        kind: SliceRecordType::Accepted,
        recorded_at: NOW.into(),
        slice_id: "one".to_owned(),
        commit_sha: "c".repeat(40),
        head_sha: "c".repeat(40),
        seq: Some(Count(seq)),
        role: None,
        by: None,
        report: None,
        report_sha256: None,
        session: None,
        receipts: None,
        claimed: None,
        criteria_sha256: None,
        findings: Some(vec![text.to_owned()]),
    }
}

pub fn stop_record(seq: u64) -> StopRecord {
    StopRecord {
        schema_version: SchemaVersion,
        kind: StopRecordType::Judgment,
        recorded_at: NOW.into(),
        head_sha: "c".repeat(40),
        can_stop: true,
        blocker_count: Count(0),
        high_value_gap_count: Count(0),
        stop_wave_id: Some(Count(1)),
        seq: Some(Count(seq)),
        role: None,
        report: None,
        report_sha256: None,
        session: None,
    }
}

pub fn slice(id: &str) -> Slice {
    Slice {
        slice_id: id.to_owned(),
        goal: format!("do {id}"),
        acceptance_criteria: vec!["it works".to_owned()],
        contract_ids: Vec::new(),
        priority: 1.into(),
        status: SliceStatus::Planned,
        why_now: String::new(),
        blocked_on: Vec::new(),
        evidence: Vec::new(),
        implementation_surfaces: None,
        verification_commands: None,
        locked_notes: None,
        must_fix_findings: None,
        basis_commit: None,
        remaining_contract_ids_before: None,
        release_blocker_count_before: None,
        high_value_gap_count_before: None,
    }
}

fn first_snapshot() -> Snapshot {
    let anchor = "Ship it";
    Snapshot {
        brief: None,
        mission: String::new(),
        profile: Profile::new("demo"),
        state: State {
            schema_version: SchemaVersion,
            revision: None,
            mission_anchor: anchor.to_owned(),
            current_phase: Phase::Reground,
            continuation_policy: Policy::Continue,
            continuation_reason: String::new(),
            project_done: false,
            requires_reground: true,
            slices_since_last_reground: Count(0),
            remaining_release_blockers: None,
            remaining_high_value_gaps: None,
            unsatisfied_contract_ids: Vec::new(),
            release_blocker_ids: Vec::new(),
            next_mandatory_action: "re-ground".to_owned(),
            next_mandatory_role: RoleSlot(None),
            remaining_stop_judges: Count(3),
            last_reground_at: None,
            last_auditor_verdict: None,
            contract_status: "bootstrapped".to_owned(),
            latest_completed_slice: None,
            latest_verified_slice: None,
            task_type: "completion-workflow".to_owned(),
            evaluation_profile: "completion-rubric-v1".to_owned(),
            current_stop_wave_id: Count(0),
        },
        plan: Plan {
            schema_version: SchemaVersion,
            mission_anchor: anchor.to_owned(),
            last_reground_at: None,
            plan_basis: String::new(),
            candidate_slices: vec![slice("one").into(), slice("two").into()],
        },
        active: ActiveSlice::idle(anchor),
        evidence: VerificationEvidence::default(),
        ledger: Ledger::default(),
        counters: Counters::default(),
        undone: Undone::default(),
    }
}
