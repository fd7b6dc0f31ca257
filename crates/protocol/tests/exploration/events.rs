//! What can happen in a state: every role's reports, every command of the user's,
//! and what the repository does by itself.

use super::world::{Contract, Dirt, Gates, Harm, Mood, Touch, World, id};
use cook_protocol::machine::{
    MAX_SLICES, Rule, Verdict, current_audit, find_audit_to_answer, list_left_without, list_owed,
};
use cook_protocol::model::{
    self, ActiveStatus, Actor, AnswerTo, Assurance, Basis, Blocker, CancelledSlice, ChangedSlice,
    Conclude, Count, Decision, Event, Evidence, EvidenceClaim, Limits, PAUSED_BY_HAND, PlaceAnswer,
    PlanBlock, PlannedSlice, Policy, PolicyChange, Reconcile, Reground, Reopen, ReportRecord,
    Resume, Role, Slice, SliceStatus, Snapshot, Submission, Verdicts, WaitingKind,
};
use std::collections::BTreeMap;

/// Which workflow is explored, and how far.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    pub name: &'static str,
    /// Slices the first plan holds; the second waits for the first.
    pub slices: usize,
    /// Slices a plan may grow to.
    pub max_slices: usize,
    pub judges: u64,
    /// The profile in force.
    pub assurance: Assurance,
    /// Commits the repository has at the start.
    pub start: &'static [usize],
    /// Commits that are ever made, those of the start among them.
    pub commits: usize,
    /// Steps and attempts `cook.toml` allows; steps above 1,000 are never spent.
    pub steps: u64,
    pub attempts: u64,
    /// Reports that no honest role writes are offered in every state too.
    pub hostile: bool,
    /// Plans that block, cancel, reopen, drop and add.
    pub plans: bool,
    /// The user's own commands beside pause and resume.
    pub user_commands: bool,
    /// Pauses, and a tree that is dirty while the work is stopped.
    pub stops: bool,
    /// How often history is rewritten on the way: amended, rewound, rebased, replaced.
    pub rewrites: usize,
    /// How often somebody harms what proofs show.
    pub harms: usize,
    /// Starts from state of older layouts too.
    pub imports: bool,
    /// Slices name a command that must be trusted.
    pub commands: bool,
    /// Transitions that an undo takes back at most.
    pub undo: usize,
}

/// One thing that may be tried.
#[derive(Debug, Clone)]
pub struct Offer {
    pub label: String,
    pub event: Event,
    pub actor: Actor,
    pub mood: Mood,
}

pub const MISSION: &str = "make it work";
/// The first criterion of every slice as the user may amend it.
pub const AMENDED: &str = "amended";

pub fn submission(snapshot: &Snapshot, role: Role) -> Submission {
    let seq = snapshot.ledger.seq.0;
    Submission {
        report: ReportRecord {
            role,
            fields: BTreeMap::new(),
            rubric: None,
        },
        report_sha256: format!("report-{seq}"),
        session: Some(format!("session-{seq}")),
        ticket: None,
        began_at: snapshot.ledger.head_seen.clone(),
        mission_anchor: snapshot.state.mission_anchor.clone(),
        remaining_contract_ids: snapshot.state.unsatisfied_contract_ids.clone(),
        worktree_clean: None,
    }
}

/// Of who reads what is at HEAD.
fn reading(snapshot: &Snapshot, world: &World, role: Role) -> Submission {
    Submission {
        began_at: world.head.map(id),
        ..submission(snapshot, role)
    }
}

pub fn verdicts(positive: bool) -> Verdicts {
    let said = |text: &str| vec![text.to_owned()];
    Verdicts {
        positive,
        fails: Vec::new(),
        concerns: Vec::new(),
        findings: if positive { Vec::new() } else { said("a hole") },
        follow_up: (!positive).then(|| "close the hole".to_owned()),
        open_contract_ids: Vec::new(),
        blocker_count: Count(0),
        high_value_gap_count: Count(0),
        commit: None,
        weighs_plan: false,
    }
}

/// What an audit says.
pub fn audit(positive: bool) -> Verdicts {
    Verdicts {
        weighs_plan: true,
        blocker_count: Count(u64::from(!positive)),
        ..verdicts(positive)
    }
}

pub fn slice_plan(name: &str, blocked_on: &[&str], bounds: &Bounds) -> PlannedSlice {
    PlannedSlice {
        slice_id: name.to_owned(),
        goal: format!("do {name}"),
        acceptance_criteria: vec![format!("{name}1"), format!("{name}2")],
        contract_ids: Some(vec![format!("C-{name}")]),
        priority: 1.into(),
        status: None,
        why_now: String::new(),
        blocked_on: Some(blocked_on.iter().map(|&text| text.to_owned()).collect()),
        implementation_surfaces: Some(vec!["src/".to_owned()]),
        verification_commands: Some(match bounds.commands {
            true => vec![format!("check {name}")],
            false => Vec::new(),
        }),
        locked_notes: Some(Vec::new()),
        reason: None,
    }
}

pub const NAMES: [&str; 3] = ["a", "b", "c"];

pub fn first_plan(bounds: &Bounds) -> PlanBlock {
    PlanBlock {
        plan_basis: "the mission".to_owned(),
        candidate_slices: (0..bounds.slices)
            .map(|index| {
                let blocked: &[&str] = if index == 1 { &["a"] } else { &[] };
                slice_plan(NAMES[index], blocked, bounds)
            })
            .collect(),
        ..PlanBlock::default()
    }
}

pub fn restate(slice: &Slice) -> PlannedSlice {
    PlannedSlice {
        slice_id: slice.slice_id.clone(),
        goal: slice.goal.clone(),
        acceptance_criteria: slice.acceptance_criteria.clone(),
        contract_ids: Some(slice.contract_ids.clone()),
        priority: slice.priority.clone(),
        status: None,
        why_now: slice.why_now.clone(),
        blocked_on: Some(slice.blocked_on.clone()),
        implementation_surfaces: slice.implementation_surfaces.clone(),
        verification_commands: slice.verification_commands.clone(),
        locked_notes: slice.locked_notes.clone(),
        reason: None,
    }
}

pub fn plan_of(snapshot: &Snapshot) -> PlanBlock {
    PlanBlock {
        plan_basis: snapshot.plan.plan_basis.clone(),
        candidate_slices: snapshot
            .plan
            .candidate_slices
            .iter()
            .map(|it| restate(it))
            .collect(),
        ..PlanBlock::default()
    }
}

pub fn claim(slice: &str, criterion: &str, kind: &str) -> EvidenceClaim {
    EvidenceClaim {
        slice_id: Some(slice.to_owned()),
        criterion: criterion.to_owned(),
        anchor: match kind {
            "text" => format!("{kind}:{slice}:{criterion}"),
            _ => format!("test:{kind}:{slice}:{criterion}"),
        },
        basis: Basis::Observed,
    }
}

pub fn claims(slice: &Slice, kind: &str) -> Vec<EvidenceClaim> {
    slice
        .acceptance_criteria
        .iter()
        .map(|criterion| claim(&slice.slice_id, criterion, kind))
        .collect()
}

/// An answer to each no that the report of a regrounder owes one.
pub fn answers(snapshot: &Snapshot) -> Vec<AnswerTo> {
    let audit = find_audit_to_answer(snapshot);
    let is_of_slice = current_audit(snapshot).is_some();
    list_owed(snapshot)
        .into_iter()
        .chain(audit.filter(|_| !is_of_slice))
        .map(answer_to)
        .collect()
}

pub fn answer_to(no: Blocker) -> AnswerTo {
    AnswerTo {
        no: no.id,
        reason: "it is not so".to_owned(),
    }
}

pub fn reconcile(slice: &str, decision: Decision) -> Option<Reconcile> {
    Some(Reconcile {
        slice_id: slice.to_owned(),
        decision,
        findings: match decision {
            Decision::Accepted => Vec::new(),
            Decision::Reopened => vec!["it does not do it".to_owned()],
        },
    })
}

pub fn asks() -> Option<PolicyChange> {
    Some(PolicyChange::AwaitUserInput {
        question: "which one?".to_owned(),
    })
}

pub fn blocks_it() -> Option<PolicyChange> {
    Some(PolicyChange::Blocked {
        why: "the key is missing".to_owned(),
        exit: "cook resume".to_owned(),
    })
}

struct Blocks<'a> {
    snapshot: &'a Snapshot,
    bounds: &'a Bounds,
    base: Reground,
    head: Option<String>,
    made: Vec<(String, Reground)>,
}

impl Blocks<'_> {
    fn add(&mut self, label: impl Into<String>, change: impl FnOnce(&mut Reground)) {
        let mut block = self.base.clone();
        change(&mut block);
        self.made.push((label.into(), block));
    }

    fn plan(&mut self, label: impl Into<String>, change: impl FnOnce(&mut PlanBlock)) {
        let mut plan = plan_of(self.snapshot);
        change(&mut plan);
        self.add(label, |block| block.plan = Some(plan));
    }

    /// A plan that says what changes.
    fn changes(&mut self, label: impl Into<String>, change: impl FnOnce(&mut PlanBlock)) {
        let mut plan = PlanBlock::default();
        change(&mut plan);
        self.add(label, |block| block.plan = Some(plan));
    }

    fn revise(
        &mut self,
        label: impl Into<String>,
        index: usize,
        change: impl FnOnce(&mut PlannedSlice),
    ) {
        self.plan(label, |plan| change(&mut plan.candidate_slices[index]));
    }
}

/// The blocks a regrounder may hand in where `rule` answers.
fn blocks(
    snapshot: &Snapshot,
    world: &World,
    rule: Rule,
    bounds: &Bounds,
) -> Vec<(String, Reground)> {
    let mut all = Blocks {
        snapshot,
        bounds,
        base: Reground {
            answers: answers(snapshot),
            conclude: (rule == Rule::Conclude).then_some(Conclude::GoOn { reason: None }),
            ..Reground::default()
        },
        head: world.head(&Mood::GOOD, None).commit,
        made: Vec::new(),
    };
    all.add("nothing", |_| {});
    if !all.base.answers.is_empty() {
        all.add("no answer", |block| block.answers.clear());
    }
    if bounds.plans {
        all.add("asks", |block| block.policy = asks());
        all.add("blocks", |block| block.policy = blocks_it());
    }
    selections(&mut all);
    growth(&mut all);
    if bounds.plans {
        revisions(&mut all);
    } else {
        cancellations(&mut all);
    }
    if rule == Rule::Reconcile || bounds.hostile {
        reconciliations(&mut all);
    }
    rejections(&mut all, rule);
    if rule == Rule::Conclude || bounds.hostile {
        conclusions(&mut all);
    }
    if bounds.hostile {
        hostile_plans(&mut all);
    }
    replacements(&mut all, world);
    all.made
}

/// Each block that decides also with another proof for each that does not hold; and in place of one that does.
fn replacements(all: &mut Blocks, world: &World) {
    let slices = all.snapshot.plan.candidate_slices.iter();
    let slices = slices.filter(|slice| slice.rests_on_proof());
    let records = slices.flat_map(|slice| {
        let records = slice.evidence.iter().filter_map(Evidence::record);
        records.map(move |record| (slice, record))
    });
    let (mut other, mut owed) = (Vec::new(), Vec::new());
    for (slice, record) in records {
        let claim = claim(&slice.slice_id, &record.criterion, "other");
        if world.worth(record, &Mood::GOOD) != Verdict::Verified {
            owed.push(claim.clone());
        }
        other.push(claim);
    }
    if !owed.is_empty() {
        for (label, mut block) in all.made.clone() {
            if decides(&block) || label == "nothing" {
                block.evidence.extend(owed.clone());
                all.made.push((format!("{label}, proofs replaced"), block));
            }
        }
    }
    if all.bounds.hostile && !other.is_empty() {
        all.add("replace proofs that hold", |block| {
            block.evidence = other;
            block.policy = asks();
        });
    }
}

/// It selects, accepts or stops.
fn decides(block: &Reground) -> bool {
    let reconcile = block.reconcile.as_ref();
    block.select.is_some()
        || block.conclude == Some(Conclude::Stop)
        || reconcile.is_some_and(|reconcile| reconcile.decision == Decision::Accepted)
}

fn selections(all: &mut Blocks) {
    for slice in &all.snapshot.plan.candidate_slices {
        if slice.status.is_open() || all.bounds.hostile {
            let name = slice.slice_id.clone();
            all.add(format!("select {name}"), |block| block.select = Some(name));
        }
    }
}

/// The first plan, and one more slice.
fn growth(all: &mut Blocks) {
    let (snapshot, bounds) = (all.snapshot, all.bounds);
    let have = snapshot.plan.candidate_slices.len();
    if have == 0 {
        all.add("empty plan", |block| {
            block.plan = Some(PlanBlock {
                plan_basis: "nothing is left".to_owned(),
                candidate_slices: Vec::new(),
                ..PlanBlock::default()
            });
        });
        all.add("plan", |block| block.plan = Some(first_plan(bounds)));
        all.add("plan, select a", |block| {
            block.plan = Some(first_plan(bounds));
            block.select = Some("a".to_owned());
        });
        return;
    }
    if have < bounds.max_slices {
        let name = NAMES[have];
        all.plan(format!("plan {name}"), |plan| {
            plan.candidate_slices.push(slice_plan(name, &[], bounds));
        });
        all.plan(format!("plan and select {name}"), |plan| {
            plan.candidate_slices.push(slice_plan(name, &[], bounds));
        });
        if let Some((_, block)) = all.made.last_mut() {
            block.select = Some(name.to_owned());
        }
    }
}

/// The way out that needs no commit; an imported slice may lack criteria.
fn cancellations(all: &mut Blocks) {
    for (index, slice) in all.snapshot.plan.candidate_slices.iter().enumerate() {
        if slice.acceptance_criteria.is_empty() {
            all.revise(
                format!("give {} criteria", slice.slice_id),
                index,
                |planned| planned.acceptance_criteria = vec![format!("{}1", slice.slice_id)],
            );
        }
    }
    for (index, slice) in all.snapshot.plan.candidate_slices.iter().enumerate() {
        if slice.status.is_open() {
            let cancels = |planned: &mut PlannedSlice| {
                planned.status = Some(SliceStatus::Cancelled);
                planned.reason = Some("it is not needed".to_owned());
            };
            let name = &slice.slice_id;
            all.revise(format!("cancel {name}"), index, cancels);
            let left = list_left_without(all.snapshot, &[name]);
            let active = &all.snapshot.active;
            let is_committed =
                active.status == ActiveStatus::Committed && active.slice_id.as_ref() == Some(name);
            if left.is_empty() || is_committed {
                continue;
            }
            all.revise(format!("cancel {name}, with an answer"), index, cancels);
            if let Some((_, block)) = all.made.last_mut() {
                block.answers.extend(left.into_iter().map(answer_to));
            }
        }
    }
}

fn revisions(all: &mut Blocks) {
    let snapshot = all.snapshot;
    for (index, slice) in snapshot.plan.candidate_slices.iter().enumerate() {
        let name = slice.slice_id.as_str();
        let status = |to: SliceStatus| {
            move |planned: &mut PlannedSlice| {
                planned.status = Some(to);
                planned.reason = Some("it has to be".to_owned());
            }
        };
        match slice.status {
            SliceStatus::Done => {
                all.revise(
                    format!("plan reopens {name}"),
                    index,
                    status(SliceStatus::Planned),
                );
                all.add(format!("reopen {name}"), |block| {
                    block.reconcile = reconcile(name, Decision::Reopened);
                });
                let nowhere = Some("nowhere".to_owned());
                let places = all.head.clone().map(|head| ("HEAD", head));
                for (label, at) in places
                    .into_iter()
                    .chain(nowhere.map(|at| ("no commit", at)))
                {
                    all.add(format!("reopen {name} at {label}"), |block| {
                        block.reopen = vec![Reopen {
                            slice_id: name.to_owned(),
                            why: "its proof was rewritten".to_owned(),
                            at: Some(at),
                        }];
                    });
                }
            }
            SliceStatus::Cancelled => {}
            open => {
                all.revise(
                    format!("cancel {name}"),
                    index,
                    status(SliceStatus::Cancelled),
                );
                for (label, count) in [("there already", usize::MAX), ("half there", 1)] {
                    let mut proof = claims(slice, "good");
                    if proof.len() <= count && count == 1 {
                        continue;
                    }
                    proof.truncate(count);
                    all.revise(
                        format!("{name} is {label}"),
                        index,
                        status(SliceStatus::Cancelled),
                    );
                    if let Some((_, block)) = all.made.last_mut() {
                        block.evidence = proof;
                    }
                }
                let other = if open == SliceStatus::Blocked {
                    SliceStatus::Planned
                } else {
                    SliceStatus::Blocked
                };
                all.revise(
                    format!("{name} becomes {}", other.id()),
                    index,
                    status(other),
                );
                if matches!(open, SliceStatus::Selected | SliceStatus::InProgress) {
                    all.revise(
                        format!("{name} is put back"),
                        index,
                        status(SliceStatus::Planned),
                    );
                }
                if slice.acceptance_criteria.len() < 3 {
                    all.revise(format!("{name} gains a criterion"), index, |planned| {
                        planned.acceptance_criteria.push(format!("{name}3"));
                    });
                }
                if slice.acceptance_criteria.len() > 1 {
                    let dropped = slice.acceptance_criteria[0].clone();
                    all.revise(
                        format!("{name} drops a criterion with proof"),
                        index,
                        |planned| {
                            planned.acceptance_criteria.remove(0);
                        },
                    );
                    if let Some((_, block)) = all.made.last_mut() {
                        block.evidence = vec![claim(name, &dropped, "good")];
                    }
                }
            }
        }
    }
}

fn reconciliations(all: &mut Blocks) {
    let snapshot = all.snapshot;
    let Some(slice) = snapshot
        .active
        .slice_id
        .as_deref()
        .and_then(|name| snapshot.plan.slice(name))
    else {
        return;
    };
    let name = slice.slice_id.as_str();
    let audit = current_audit(snapshot).and_then(|_| find_audit_to_answer(snapshot));
    let audit: Vec<AnswerTo> = audit.into_iter().map(answer_to).collect();
    let accepted = |kind: &'static str| {
        let (name, proof, audit) = (name.to_owned(), claims(slice, kind), audit.clone());
        move |block: &mut Reground| {
            block.reconcile = reconcile(&name, Decision::Accepted);
            block.evidence = proof;
            block.answers.extend(audit);
        }
    };
    all.add(format!("accept {name}"), accepted("good"));
    all.add(format!("reopen {name}"), |block| {
        block.reconcile = reconcile(name, Decision::Reopened);
    });
    if !audit.is_empty() {
        let of_audit = |answer: &AnswerTo| answer.no.starts_with(Blocker::AUDIT);
        all.add(format!("accept {name}, audit unanswered"), |block| {
            accepted("good")(block);
            block.answers.retain(|answer| !of_audit(answer));
        });
        all.add(format!("reopen {name}, audit answered"), |block| {
            block.reconcile = reconcile(name, Decision::Reopened);
            block.answers.extend(audit.clone());
        });
        all.add("audit answered, nothing reconciled", |block| {
            block.answers.extend(audit.clone());
            block.policy = asks();
        });
    }
    let kinds: &[&str] = if all.bounds.hostile {
        &["bad", "gone", "odd", "unrelated", "shared", "old", "text"]
    } else if all.bounds.harms > 0 {
        &["text"]
    } else {
        &["unrelated"]
    };
    for &kind in kinds {
        all.add(format!("accept {name}, {kind} proof"), accepted(kind));
    }
    all.add(format!("accept {name} without proof"), |block| {
        block.reconcile = reconcile(name, Decision::Accepted);
    });
    if slice.acceptance_criteria.len() > 1 {
        all.add(format!("accept {name}, one criterion unproved"), |block| {
            accepted("good")(block);
            block.evidence.pop();
        });
    }
    if let Some(next) = snapshot
        .plan
        .open_slices()
        .find(|other| other.slice_id != name)
    {
        let next = next.slice_id.clone();
        all.add(format!("accept {name}, select {next}"), |block| {
            accepted("good")(block);
            block.select = Some(next);
        });
    }
    if slice.acceptance_criteria.len() < 3 {
        let mut plan = plan_of(snapshot);
        for planned in &mut plan.candidate_slices {
            if planned.slice_id == name {
                planned.acceptance_criteria.push(format!("{name}3"));
            }
        }
        all.add(format!("accept {name} and add a criterion"), |block| {
            accepted("good")(block);
            block
                .evidence
                .push(claim(name, &format!("{name}3"), "good"));
            block.plan = Some(plan);
        });
    }
}

/// What a review said no to is reopened wherever a re-ground is due; an answer to nobody's no is none.
fn rejections(all: &mut Blocks, rule: Rule) {
    let active = &all.snapshot.active;
    let name = active.slice_id.clone().unwrap_or_default();
    let ledger = all.snapshot.ledger.slices.get(&name);
    let review = ledger.and_then(|ledger| ledger.review.as_deref());
    let is_rejected = review.is_some_and(|review| review.rejects());
    let is_committed = rule == Rule::Recover && active.status == ActiveStatus::Committed;
    if is_committed && (is_rejected || all.bounds.harms > 0) {
        all.add(format!("reopen committed {name}"), |block| {
            block
                .answers
                .retain(|answer| !answer.no.starts_with("review-"));
            block.reconcile = reconcile(&name, Decision::Reopened);
        });
    }
    if all.bounds.hostile {
        all.add("answer nobody's no", |block| {
            block.answers.push(AnswerTo {
                no: "no-0".to_owned(),
                reason: "it is not so".to_owned(),
            });
        });
    }
}

fn conclusions(all: &mut Blocks) {
    let (snapshot, bounds) = (all.snapshot, all.bounds);
    let reason = || Conclude::GoOn {
        reason: Some("a judge was misled".to_owned()),
    };
    all.add("stop", |block| block.conclude = Some(Conclude::Stop));
    all.add("stop and ask", |block| {
        block.conclude = Some(Conclude::Stop);
        block.policy = asks();
    });
    all.add("stop and name a blocker", |block| {
        block.conclude = Some(Conclude::Stop);
        block.release_blocker_ids = Some(vec!["RB-1".to_owned()]);
    });
    all.add("go on", |block| block.conclude = Some(reason()));
    all.add("go on with spaces", |block| {
        block.conclude = Some(Conclude::GoOn {
            reason: Some("  ".to_owned()),
        });
    });
    all.add("conclude nothing", |block| block.conclude = None);
    all.add("ask without concluding", |block| {
        block.conclude = None;
        block.policy = asks();
    });
    if let Some(slice) = snapshot.plan.candidate_slices.first() {
        let name = slice.slice_id.clone();
        all.add(format!("stop and select {name}"), |block| {
            block.conclude = Some(Conclude::Stop);
            block.select = Some(name);
        });
    }
    if snapshot.plan.candidate_slices.len() < bounds.max_slices {
        let name = NAMES[snapshot.plan.candidate_slices.len()];
        let mut plan = plan_of(snapshot);
        plan.candidate_slices.push(slice_plan(name, &[], bounds));
        all.add(format!("stop and plan {name}"), |block| {
            block.conclude = Some(Conclude::Stop);
            block.plan = Some(plan);
        });
    }
}

/// Plans that must be refused wherever they come.
fn hostile_plans(all: &mut Blocks) {
    let (snapshot, bounds) = (all.snapshot, all.bounds);
    all.add("select nobody", |block| {
        block.select = Some("nobody".to_owned())
    });
    all.add("prove for nobody", |block| {
        block.evidence = vec![claim("nobody", "x", "good")];
    });
    all.add("prove for no slice", |block| {
        let mut proof = claim("", "nobody's criterion", "good");
        proof.slice_id = None;
        block.evidence = vec![proof];
    });
    all.add("reconcile nobody", |block| {
        block.reconcile = reconcile("nobody", Decision::Reopened);
    });
    all.add("place an answer of nobody", |block| {
        block.answers_to = vec![PlaceAnswer {
            answer: "answer-0".to_owned(),
            slices: Vec::new(),
        }];
    });
    for answer in &snapshot.ledger.answers {
        let note = answer.note();
        let has_it = |slice: &Slice| slice.locked_notes.iter().flatten().any(|own| *own == note);
        let mut slices = snapshot.plan.candidate_slices.iter();
        let closed = slices.find(|slice| !slice.status.is_open() && !has_it(slice));
        if let Some(slice) = closed {
            all.add("place an answer where it binds nothing", |block| {
                block.answers_to = vec![PlaceAnswer {
                    answer: answer.id(),
                    slices: vec![slice.slice_id.clone()],
                }];
            });
        }
    }
    all.changes("add and cancel one", |plan| {
        plan.add = vec![slice_plan("z", &[], bounds)];
        plan.cancel = vec![CancelledSlice {
            slice_id: "z".to_owned(),
            reason: "nobody needs it".to_owned(),
        }];
    });
    if let Some(slice) = snapshot.plan.open_slices().next() {
        all.changes("change one twice", |plan| {
            let change = |priority: u64| ChangedSlice {
                slice_id: slice.slice_id.clone(),
                priority: Some(priority.into()),
                ..ChangedSlice::default()
            };
            plan.change = vec![change(2), change(3)];
        });
    }
    all.plan("every slice and an order", |plan| {
        let ids = plan.candidate_slices.iter();
        plan.order = ids.map(|slice| slice.slice_id.clone()).collect();
    });
    for note in [
        " user@answer-9: yes",
        "`USER＠answer-9`: yes",
        "us\u{435}r@a: yes",
    ] {
        all.changes("a word of the user's", |plan| {
            let mut slice = slice_plan("z", &[], bounds);
            slice.locked_notes = Some(vec![note.to_owned()]);
            plan.add = vec![slice];
        });
    }
    all.changes("put nobody first", |plan| {
        plan.order = vec!["nobody".to_owned()];
    });
    all.plan("a slice that is done", |plan| {
        let mut slice = slice_plan("z", &[], bounds);
        slice.status = Some(SliceStatus::Done);
        plan.candidate_slices.push(slice);
    });
    all.plan("a slice that is in work", |plan| {
        let mut slice = slice_plan("z", &[], bounds);
        slice.status = Some(SliceStatus::InProgress);
        plan.candidate_slices.push(slice);
    });
    if snapshot.ledger.seq.0 < 2 {
        all.plan("too many slices", |plan| {
            for index in 0..=MAX_SLICES {
                plan.candidate_slices
                    .push(slice_plan(&format!("n{index}"), &[], bounds));
            }
        });
    }
    all.plan("an id of two words", |plan| {
        plan.candidate_slices
            .push(slice_plan("two words", &[], bounds));
    });
    all.plan("one id twice", |plan| {
        plan.candidate_slices.push(slice_plan("z", &[], bounds));
        plan.candidate_slices.push(slice_plan("z", &[], bounds));
    });
    all.plan("a circle", |plan| {
        plan.candidate_slices.push(slice_plan("y", &["z"], bounds));
        plan.candidate_slices.push(slice_plan("z", &["y"], bounds));
    });
    all.plan("a command with an open quote", |plan| {
        let mut slice = slice_plan("z", &[], bounds);
        slice.verification_commands = Some(vec!["echo 'x".to_owned()]);
        plan.candidate_slices.push(slice);
    });
    all.plan("no criteria", |plan| {
        let mut slice = slice_plan("z", &[], bounds);
        slice.acceptance_criteria.clear();
        plan.candidate_slices.push(slice);
    });
    all.plan("a command with an open quote", |plan| {
        if let Some(slice) = plan.candidate_slices.first_mut() {
            slice
                .verification_commands
                .get_or_insert_default()
                .push("bash 'x".to_owned());
        }
    });
    all.plan("one criterion twice", |plan| {
        let mut slice = slice_plan("z", &[], bounds);
        slice.acceptance_criteria = vec!["z1".to_owned(), "z1".to_owned()];
        plan.candidate_slices.push(slice);
    });
    for (index, slice) in snapshot.plan.candidate_slices.iter().enumerate() {
        let name = slice.slice_id.as_str();
        all.plan(format!("leave out {name}"), |plan| {
            // A plan without any slice says what changes.
            plan.candidate_slices[index] = slice_plan("z", &[], bounds);
        });
        all.add(format!("reopen {name} for nothing"), |block| {
            block.reconcile = reconcile(name, Decision::Reopened);
            block.reconcile.as_mut().unwrap().findings.clear();
        });
        all.add(format!("reopen {name} twice"), |block| {
            let reopen = Reopen {
                slice_id: name.to_owned(),
                why: "it does not do it".to_owned(),
                at: None,
            };
            block.reopen = vec![reopen.clone(), reopen];
        });
        all.revise(format!("block {name} for nothing"), index, |planned| {
            planned.status = Some(SliceStatus::Blocked);
            planned.blocked_on = Some(Vec::new());
        });
        all.revise(format!("mark {name} done"), index, |planned| {
            planned.status = Some(SliceStatus::Done);
        });
        all.revise(format!("mark {name} in progress"), index, |planned| {
            planned.status = Some(SliceStatus::InProgress);
        });
        all.revise(
            format!("cancel {name} without a reason"),
            index,
            |planned| {
                planned.status = Some(SliceStatus::Cancelled);
            },
        );
        all.revise(
            format!("drop all criteria of {name} with proof"),
            index,
            |planned| planned.acceptance_criteria.clear(),
        );
        if let Some((_, block)) = all.made.last_mut() {
            block.evidence = claims(slice, "good");
        }
        for kind in ["bad", "odd"] {
            all.revise(
                format!("drop a criterion of {name}, {kind} proof"),
                index,
                |planned| {
                    planned.acceptance_criteria.remove(0);
                },
            );
            if let Some((_, block)) = all.made.last_mut() {
                block.evidence = vec![claim(name, &slice.acceptance_criteria[0], kind)];
            }
        }
        all.revise(format!("reword {name}"), index, |planned| {
            planned.acceptance_criteria[0] = "something easier".to_owned();
        });
        if !matches!(slice.status, SliceStatus::Planned | SliceStatus::Blocked) {
            all.revise(format!("another goal for {name}"), index, |planned| {
                planned.goal = "something else".to_owned();
            });
        }
    }
}

fn offer(label: impl Into<String>, event: Event, actor: Actor, mood: Mood) -> Offer {
    Offer {
        label: label.into(),
        event,
        actor,
        mood,
    }
}

/// What the role that is due may hand in.
pub fn reports(snapshot: &Snapshot, world: &World, rule: Rule, bounds: &Bounds) -> Vec<Offer> {
    let mut offers = Vec::new();
    let Some(role) = rule.role() else {
        return offers;
    };
    match role {
        Role::Regrounder => {
            for (label, block) in blocks(snapshot, world, rule, bounds) {
                let event = Event::Regrounded {
                    block,
                    submission: submission(snapshot, role),
                };
                offers.push(offer(label, event, Actor::Role, Mood::GOOD));
            }
        }
        Role::Implementer => implementer(snapshot, world, &mut offers),
        Role::Reviewer => {
            for (label, said) in opinions() {
                let event = Event::Reviewed {
                    verdicts: said,
                    submission: reading(snapshot, world, role),
                };
                offers.push(offer(
                    format!("review {label}"),
                    event,
                    Actor::Role,
                    Mood::GOOD,
                ));
            }
        }
        Role::Auditor => {
            for positive in [true, false] {
                let event = Event::Audited {
                    verdicts: audit(positive),
                    submission: reading(snapshot, world, role),
                };
                offers.push(offer("audit", event, Actor::Role, Mood::GOOD));
            }
            let planned = snapshot.state.unsatisfied_contract_ids.clone();
            let event = Event::Audited {
                verdicts: Verdicts {
                    blocker_count: Count(0),
                    open_contract_ids: planned,
                    ..audit(false)
                },
                submission: reading(snapshot, world, role),
            };
            offers.push(offer("audit, as planned", event, Actor::Role, Mood::GOOD));
        }
        Role::StopJudge => judges(snapshot, world, bounds.hostile, &mut offers),
        Role::Bootstrapper => {}
    }
    if matches!(rule, Rule::Recover | Rule::Judge | Rule::Conclude) || bounds.hostile {
        for verifier in [Gates::Green, Gates::Red] {
            let mood = Mood {
                verifier,
                ..Mood::GOOD
            };
            let label = format!("verify {verifier:?}");
            offers.push(offer(label, Event::Verified, Actor::Role, mood));
        }
    }
    if bounds.user_commands {
        let event = Event::Asked {
            role,
            question: "which one?".to_owned(),
            submission: submission(snapshot, role),
        };
        offers.push(offer("question", event, Actor::Role, Mood::GOOD));
    }
    if bounds.attempts < 100 {
        let event = Event::Refused {
            role,
            codes: vec!["field_missing".to_owned()],
            why: String::new(),
        };
        offers.push(offer("refused report", event, Actor::Runner, Mood::GOOD));
    }
    moods(&mut offers, bounds);
    if bounds.hostile {
        misstatements(&mut offers);
    }
    offers
}

fn opinions() -> Vec<(&'static str, Verdicts)> {
    let mut failing = verdicts(true);
    failing.fails = vec!["correctness_risk".to_owned()];
    vec![
        ("yes", verdicts(true)),
        ("no", verdicts(false)),
        ("yes with a fail", failing),
    ]
}

fn implementer(snapshot: &Snapshot, world: &World, offers: &mut Vec<Offer>) {
    let slice_id = snapshot.active.slice_id.clone().unwrap_or_default();
    let chain = world.chain(world.head);
    let mut commits: Vec<(&str, String)> = vec![
        ("HEAD", world.head.map(id).unwrap_or_default()),
        ("nothing", "feedfeedfeed".to_owned()),
    ];
    if let Some(&below) = chain.iter().rev().nth(1) {
        commits.push(("HEAD~", id(below)));
    }
    if let Some(aside) =
        (0..world.commits.len()).find(|index| !chain.contains(index) && !world.commits[*index].gone)
    {
        commits.push(("a commit aside", id(aside)));
    }
    for (label, commit) in commits {
        let event = Event::Implemented {
            slice_id: slice_id.clone(),
            commit,
            evidence: Vec::new(),
            submission: submission(snapshot, Role::Implementer),
        };
        offers.push(offer(
            format!("implemented {label}"),
            event,
            Actor::Role,
            Mood::GOOD,
        ));
    }
    // What proves each criterion: what holds, and what does not.
    let slice = snapshot.plan.slice(&slice_id);
    let slice = slice.filter(|_| !snapshot.assurance().is_strict());
    for (slice, kind) in slice
        .into_iter()
        .flat_map(|slice| [(slice, "good"), (slice, "bad")])
    {
        let claims = claims(slice, kind).into_iter();
        let event = Event::Implemented {
            slice_id: slice_id.clone(),
            commit: world.head.map(id).unwrap_or_default(),
            evidence: claims
                .map(|claim| model::Offer {
                    criterion: claim.criterion,
                    anchor: claim.anchor,
                })
                .collect(),
            submission: submission(snapshot, Role::Implementer),
        };
        let label = format!("implemented HEAD, {kind} evidence");
        offers.push(offer(label, event, Actor::Role, Mood::GOOD));
    }
    for name in [slice_id.as_str(), "nobody"] {
        let event = Event::Returned {
            slice_id: name.to_owned(),
            why: "the plan is wrong".to_owned(),
            submission: submission(snapshot, Role::Implementer),
        };
        offers.push(offer("returned", event, Actor::Role, Mood::GOOD));
    }
    let event = Event::Implemented {
        slice_id: "nobody".to_owned(),
        commit: world.head.map(id).unwrap_or_default(),
        evidence: Vec::new(),
        submission: submission(snapshot, Role::Implementer),
    };
    offers.push(offer(
        "implemented nobody's slice",
        event,
        Actor::Role,
        Mood::GOOD,
    ));
}

fn judges(snapshot: &Snapshot, world: &World, hostile: bool, offers: &mut Vec<Offer>) {
    let mut counting = verdicts(true);
    counting.blocker_count = Count(1);
    let mut about = verdicts(true);
    about.commit = world.head.map(id);
    let mut elsewhere = verdicts(true);
    elsewhere.commit = Some("0123456789".to_owned());
    let mut said = vec![
        ("yes", verdicts(true)),
        ("no", verdicts(false)),
        ("yes to HEAD", about),
        ("yes to another commit", elsewhere),
    ];
    if hostile {
        said.push(("yes with a blocker", counting));
    }
    for (label, said) in said {
        let event = Event::Judged {
            verdicts: said,
            submission: reading(snapshot, world, Role::StopJudge),
        };
        offers.push(offer(
            format!("judge says {label}"),
            event,
            Actor::Role,
            Mood::GOOD,
        ));
    }
    for vote in &snapshot.ledger.wave.votes {
        let mut again = reading(snapshot, world, Role::StopJudge);
        again.session.clone_from(&vote.session);
        let event = Event::Judged {
            verdicts: verdicts(true),
            submission: again,
        };
        offers.push(offer("the same judge", event, Actor::Role, Mood::GOOD));
    }
}

/// Each report also where one thing of the world is not as it should be.
fn moods(offers: &mut Vec<Offer>, bounds: &Bounds) {
    let mut more = Vec::new();
    for given in offers.iter() {
        let mut with = |label: &str, change: &dyn Fn(&mut Mood)| {
            let mut varied = given.clone();
            change(&mut varied.mood);
            varied.label = format!("{}, {label}", given.label);
            more.push(varied);
        };
        match &given.event {
            Event::Regrounded { block, .. } => {
                let decides = decides(block);
                if decides {
                    if bounds.hostile {
                        with("on the user's dirt", &|mood| mood.dirt = Dirt::User);
                    }
                    with("on dirt of the slice", &|mood| mood.dirt = Dirt::Surface);
                }
                if block.select.is_some() {
                    with("contract uncommitted", &|mood| {
                        mood.contract = Contract::Uncommitted;
                    });
                }
                if block.conclude == Some(Conclude::Stop) {
                    let ends: &[Gates] = if bounds.hostile {
                        &[
                            Gates::Red,
                            Gates::NotStarted,
                            Gates::InWorktree,
                            Gates::WithCaches,
                        ]
                    } else {
                        &[Gates::Red]
                    };
                    for &gates in ends {
                        with("verifier not green", &|mood| mood.verifier = gates);
                    }
                    with("verifier untrusted", &|mood| mood.trusted = false);
                }
                let plain = !decides && block.policy.is_none();
                if decides || (plain && (bounds.hostile || given.label == "nothing")) {
                    let verdicts: &[Verdict] = if bounds.hostile {
                        &[
                            Verdict::Moved,
                            Verdict::Changed,
                            Verdict::Missing,
                            Verdict::Unverifiable,
                            Verdict::Stale,
                        ]
                    } else if bounds.harms > 0 {
                        // A commit brings it about.
                        &[]
                    } else {
                        &[Verdict::Changed, Verdict::Missing]
                    };
                    for &verdict in verdicts {
                        with(&format!("stored proof {verdict:?}"), &|mood| {
                            mood.stored = verdict;
                        });
                    }
                }
                let accepts = |given: &Reconcile| given.decision == Decision::Accepted;
                if block.reconcile.as_ref().is_some_and(accepts) {
                    with("red in the clean room", &|mood| mood.verifier = Gates::Red);
                }
                if bounds.commands && (block.plan.is_some() || block.select.is_some()) {
                    with("untrusted", &|mood| mood.trusted = false);
                }
            }
            Event::Implemented { .. } if given.label == "implemented HEAD" => {
                let ends: &[Gates] = if bounds.hostile {
                    &[
                        Gates::Red,
                        Gates::OptionalRed,
                        Gates::NotStarted,
                        Gates::None,
                        Gates::Weak,
                    ]
                } else {
                    &[Gates::Red]
                };
                for &gates in ends {
                    with(&format!("gates {gates:?}"), &|mood| mood.gates = gates);
                }
                if bounds.commands {
                    with("untrusted", &|mood| mood.trusted = false);
                }
                if bounds.stops {
                    with("on dirt", &|mood| mood.dirt = Dirt::Surface);
                }
            }
            Event::Reviewed { .. } | Event::Audited { .. } | Event::Judged { .. }
                if bounds.stops || bounds.hostile =>
            {
                with("on dirt", &|mood| mood.dirt = Dirt::Surface);
            }
            _ => {}
        }
    }
    offers.append(&mut more);
}

/// Reports whose header is not what cook measures.
fn misstatements(offers: &mut Vec<Offer>) {
    let mut more = Vec::new();
    for given in offers
        .iter()
        .filter(|offer| offer.mood == Mood::GOOD)
        .take(3)
    {
        let mut wrong = |label: &str, change: &dyn Fn(&mut Submission)| {
            let mut varied = given.clone();
            if let Some(submission) = submission_mut(&mut varied.event) {
                change(submission);
                varied.label = format!("{}, {label}", given.label);
                more.push(varied);
            }
        };
        wrong("another mission", &|submission| {
            submission.mission_anchor = "something else".to_owned();
        });
        wrong("other contracts", &|submission| {
            submission.remaining_contract_ids = vec!["C-9".to_owned()];
        });
        wrong("calls it dirty", &|submission| {
            submission.worktree_clean = Some(false);
        });
        wrong("calls it clean", &|submission| {
            submission.worktree_clean = Some(true);
        });
    }
    offers.append(&mut more);
}

fn submission_mut(event: &mut Event) -> Option<&mut Submission> {
    match event {
        Event::Regrounded { submission, .. }
        | Event::Implemented { submission, .. }
        | Event::Returned { submission, .. }
        | Event::Reviewed { submission, .. }
        | Event::Audited { submission, .. }
        | Event::Judged { submission, .. }
        | Event::Asked { submission, .. } => Some(submission),
        _ => None,
    }
}

/// One report of each role that is not due: all must be refused.
pub fn list_out_of_turn(snapshot: &Snapshot, world: &World, due: Option<Role>) -> Vec<Offer> {
    let head = world.head.map(id).unwrap_or_default();
    let slice_id = snapshot.active.slice_id.clone().unwrap_or("a".to_owned());
    let events = [
        Event::Regrounded {
            block: Reground::default(),
            submission: submission(snapshot, Role::Regrounder),
        },
        Event::Implemented {
            slice_id,
            commit: head,
            evidence: Vec::new(),
            submission: submission(snapshot, Role::Implementer),
        },
        Event::Reviewed {
            verdicts: verdicts(true),
            submission: submission(snapshot, Role::Reviewer),
        },
        Event::Audited {
            verdicts: verdicts(true),
            submission: submission(snapshot, Role::Auditor),
        },
        Event::Judged {
            verdicts: verdicts(true),
            submission: submission(snapshot, Role::StopJudge),
        },
    ];
    events
        .into_iter()
        .filter(|event| event.role() != due)
        .map(|event| offer("out of turn", event, Actor::Role, Mood::GOOD))
        .collect()
}

/// The user's own commands and the runner's stop, in every state.
pub fn user_commands(snapshot: &Snapshot, bounds: &Bounds, mood: Mood) -> Vec<Offer> {
    let mut offers = Vec::new();
    let mut user = |label: &str, event| offers.push(offer(label, event, Actor::User, mood));
    let kind = snapshot.ledger.waiting.as_ref();
    let kind = kind.map(|waiting| waiting.kind);
    if bounds.stops {
        user(
            "pause",
            Event::Paused {
                why: PAUSED_BY_HAND.to_owned(),
            },
        );
    }
    user("resume", Event::Resumed(Resume::default()));
    // Words bind, whatever they are said beside: each that is kept doubles what follows.
    let answers = match kind {
        Some(WaitingKind::Question) => true,
        Some(WaitingKind::Trust) => snapshot.ledger.answers.is_empty(),
        _ => bounds.user_commands,
    };
    if answers {
        user(
            "resume with an answer",
            Event::Resumed(Resume {
                answer: Some("the first".to_owned()),
                ..Resume::default()
            }),
        );
    }
    let spent = kind == Some(WaitingKind::Budget);
    if spent || (bounds.user_commands && snapshot.counters.granted.steps.is_none()) {
        user(
            "resume with budget",
            Event::Resumed(Resume {
                budget: Some(make_budget(snapshot)),
                ..Resume::default()
            }),
        );
    }
    user(
        "resume with a new wave",
        Event::Resumed(Resume {
            new_wave: true,
            ..Resume::default()
        }),
    );
    user(
        "resume with another review",
        Event::Resumed(Resume {
            review_again: true,
            ..Resume::default()
        }),
    );
    if bounds.user_commands {
        user(
            "resume with trust",
            Event::Resumed(Resume {
                trust: vec!["cargo test".to_owned()],
                ..Resume::default()
            }),
        );
        more_user_commands(snapshot, &mut user);
    }
    // Where code is harmed as well, a plan has to answer for the red gate that no proof opens a slice for.
    if bounds.user_commands && bounds.harms == 0 {
        give_up_a_proof(snapshot, &mut user);
    }
    if bounds.plans {
        offers.push(offer(
            "blocked by the runner",
            Event::Blocked {
                why: "the agent is gone".to_owned(),
                exit: "cook resume".to_owned(),
            },
            Actor::Runner,
            mood,
        ));
    }
    let stopped = snapshot.state.continuation_policy != Policy::Continue;
    if bounds.attempts < 100 && stopped {
        let event = Event::Refused {
            role: Role::Implementer,
            codes: vec!["field_missing".to_owned()],
            why: String::new(),
        };
        offers.push(offer("refused too late", event, Actor::Runner, mood));
    }
    if snapshot.ledger.seq.0 % 8 == 3 {
        let event = Event::Resumed(Resume::default());
        offers.push(offer("resume by a role", event, Actor::Role, mood));
    }
    offers
}

/// What the stopped work says it needs.
fn make_budget(snapshot: &Snapshot) -> Limits {
    let attempts = snapshot
        .ledger
        .waiting
        .as_ref()
        .is_some_and(|waiting| waiting.exit.contains("attempts"));
    Limits {
        steps: (!attempts).then_some(2),
        attempts_per_slice: attempts.then_some(1),
        ..Limits::default()
    }
}

fn give_up_a_proof(snapshot: &Snapshot, user: &mut impl FnMut(&str, Event)) {
    if let Some(first) = snapshot.plan.candidate_slices.first() {
        for (number, reason) in [(1, "nobody uses it"), (9, "x"), (1, " ")] {
            let event = Event::ProofRetired {
                slice_id: first.slice_id.clone(),
                number,
                reason: reason.to_owned(),
            };
            user("give up a proof", event);
        }
    }
}

fn more_user_commands(snapshot: &Snapshot, user: &mut impl FnMut(&str, Event)) {
    user(
        "cancel",
        Event::Cancelled {
            why: "enough".to_owned(),
        },
    );
    user(
        "refocus",
        Event::Refocused {
            mission: MISSION.to_owned(),
        },
    );
    user(
        "refocus on nothing",
        Event::Refocused {
            mission: " \n".to_owned(),
        },
    );
    user("restore", Event::Restored);
    user("adopt branch", Event::BranchAdopted);
    let mut plan = snapshot.plan.clone();
    user("adopt the same plan", Event::Adopted { plan: plan.clone() });
    if let Some(first) = plan.candidate_slices.first_mut() {
        let extra = format!("{}3", first.slice_id);
        if first.status.is_open() && !first.acceptance_criteria.contains(&extra) {
            first.acceptance_criteria.push(extra);
            user("adopt one criterion more", Event::Adopted { plan });
        }
        let mut forged = snapshot.plan.clone();
        forged.candidate_slices[0].status = SliceStatus::Done;
        user("adopt a slice marked done", Event::Adopted { plan: forged });
        let mut forged = snapshot.plan.clone();
        forged.candidate_slices[0].basis_commit = Some("f00d".to_owned());
        user("adopt a forged basis", Event::Adopted { plan: forged });
    }
    let mut forged = snapshot.plan.clone();
    forged.mission_anchor = "something else".to_owned();
    user("adopt another mission", Event::Adopted { plan: forged });
    for slice in &snapshot.plan.candidate_slices {
        for (number, text) in [(1, AMENDED), (2, AMENDED), (9, "x"), (1, " ")] {
            user(
                "amend",
                Event::CriterionAmended {
                    slice_id: slice.slice_id.clone(),
                    number,
                    text: text.to_owned(),
                    reason: "it was false".to_owned(),
                },
            );
        }
    }
    user(
        "amend nobody",
        Event::CriterionAmended {
            slice_id: "nobody".to_owned(),
            number: 1,
            text: "x".to_owned(),
            reason: "y".to_owned(),
        },
    );
    let profile = snapshot.profile.clone();
    user(
        "init again",
        Event::Bootstrapped {
            mission: None,
            profile: profile.clone(),
            branch: None,
            settings: None,
            import: None,
        },
    );
    user(
        "init with another mission",
        Event::Bootstrapped {
            mission: Some("something else".to_owned()),
            profile,
            branch: None,
            settings: None,
            import: None,
        },
    );
}

/// What the repository may become without cook.
pub fn repository(snapshot: &Snapshot, world: &World, bounds: &Bounds) -> Vec<(String, World)> {
    let mut after = Vec::new();
    let mut with = |label: &str, change: &dyn Fn(&mut World) -> bool| {
        let mut next = world.clone();
        if next.commits.len() < 200 && change(&mut next) {
            after.push((label.to_owned(), next));
        }
    };
    let room = world.commits.len() < bounds.commits;
    let own = snapshot
        .active
        .slice_id
        .as_deref()
        .filter(|_| snapshot.active.status != ActiveStatus::Done)
        .and_then(|name| NAMES.iter().copied().find(|known| *known == name));
    if room {
        if own.is_some() {
            with("own commit", &|next| {
                next.commit(own, Touch::Surface);
                true
            });
        }
        if bounds.harms == 0 {
            with("commit without trailer on the surface", &|next| {
                next.commit(None, Touch::Surface);
                true
            });
        }
        if bounds.hostile {
            with("commit elsewhere", &|next| {
                next.commit(None, Touch::Elsewhere);
                true
            });
        }
        if bounds.hostile && own.is_some() {
            with("own commit on the contract", &|next| {
                next.commit(own, Touch::Contract);
                true
            });
            with("own empty commit", &|next| {
                next.commit(own, Touch::Nothing);
                true
            });
        }
    }
    // Who takes it up again commits once more.
    if world.harms() < bounds.harms && world.commits.len() + 1 < bounds.commits {
        for harm in [Harm::Lost, Harm::Unrunnable, Harm::Unguarded] {
            with(&format!("{harm:?}"), &|next| {
                next.commit(None, Touch::Harm(harm));
                true
            });
        }
    }
    if world.rewrites < bounds.rewrites {
        with("rewind", &World::rewind);
        if room {
            with("amend", &World::amend);
            with("reword", &World::reword);
            with("rebase", &World::rebase);
        }
        if room && !world.commits.iter().any(|commit| commit.gone) {
            with("other history", &|next| {
                next.replace();
                true
            });
        }
    }
    if bounds.rewrites > 0
        && let Some(seen) = snapshot
            .ledger
            .head_seen
            .as_deref()
            .and_then(super::world::find_commit)
        && world.head != Some(seen)
        && !world.commits[seen].gone
    {
        with("back to where cook last was", &|next| {
            next.head = Some(seen);
            true
        });
    }
    after
}
