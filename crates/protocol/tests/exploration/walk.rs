//! One workflow walked step by step, each step under the same invariants as the
//! exploration, and an honest driver that brings any state to its end.

use super::events::{
    Bounds, answer_to, answers, asks, claim, claims, first_plan, plan_of, reconcile, submission,
    verdicts,
};
use super::explore::{bootstrap, due, measure_followed, try_event, with_claims};
use super::invariants;
use super::world::{Budget, Contract, Harm, Mood, Touch, World, id};
use cook_protocol::diagnostic::Code;
use cook_protocol::machine::{
    Dispatch, Facts, Rule, Step, Verdict, dispatch, find_audit_to_answer, ready,
};
use cook_protocol::model::{
    ActiveStatus, Actor, AnswerTo, Conclude, Count, Decision, Event, Evidence, EvidenceClaim,
    EvidenceRecord, Limits, PAUSED_BY_HAND, Policy, Reground, Resume, Role, Slice, SliceStatus,
    Snapshot, Submission, WaitingKind,
};

#[derive(Clone)]
pub struct Walk {
    pub snapshot: Snapshot,
    pub world: World,
    pub mood: Mood,
    pub budget: Budget,
    pub bounds: Bounds,
    /// Every transition: what happened, what was measured, and who did it.
    pub log: Vec<(Event, Facts, Actor)>,
    /// The snapshots before each of them.
    pub past: Vec<Snapshot>,
}

impl Walk {
    /// After `cook init` on a repository of one commit.
    pub fn new(bounds: Bounds) -> Self {
        Self::on(bounds, World::of_length(1))
    }

    pub fn on(bounds: Bounds, world: World) -> Self {
        let snapshot = bootstrap(&world, bounds.judges, bounds.assurance);
        Self::from(bounds, snapshot, world)
    }

    /// From a state that was met.
    pub fn from(bounds: Bounds, snapshot: Snapshot, world: World) -> Self {
        Self {
            snapshot,
            world,
            mood: Mood::GOOD,
            budget: Budget {
                steps: bounds.steps,
                attempts: bounds.attempts,
            },
            bounds,
            log: Vec::new(),
            past: Vec::new(),
        }
    }

    pub fn due(&self) -> Dispatch {
        due(&self.snapshot, &self.world, &self.mood, &self.budget)
    }

    pub fn rule(&self) -> Rule {
        self.due().rule
    }

    pub fn is_done(&self) -> bool {
        self.snapshot.state.continuation_policy == Policy::Done
    }

    /// Tries an event; an accepted one is held against the invariants.
    pub fn attempt(&mut self, event: &Event, actor: Actor) -> Result<Step, Code> {
        let (facts, result) = try_event(
            &self.snapshot,
            &self.world,
            &self.mood,
            &self.budget,
            event,
            actor,
        );
        let step = result.map_err(|refusal| refusal.code)?;
        self.mood.edited &= !step.displace;
        if matches!(event, Event::Bootstrapped { .. }) && self.mood.contract == Contract::Missing {
            self.mood.contract = Contract::Uncommitted;
        }
        let before = dispatch(Some(&self.snapshot), &with_claims(&facts)).unwrap();
        let checked_out = facts.head.as_ref().and_then(|head| head.branch.clone());
        self.mood.other_branch = checked_out != step.snapshot.ledger.branch;
        let now = due(&step.snapshot, &self.world, &self.mood, &self.budget);
        let offer = super::events::Offer {
            label: event.name().to_owned(),
            event: event.clone(),
            actor,
            mood: self.mood,
        };
        invariants::transition(&invariants::Seen {
            before: &measure_followed(&self.snapshot, &self.world, &self.budget),
            world: &self.world,
            due: &before,
            offer: &offer,
            facts: &facts,
            step: &step,
            now: &now,
        })
        .unwrap_or_else(|breach| panic!("{breach}\nby {}", event.name()));
        self.past.push(self.snapshot.clone());
        self.log.push((event.clone(), facts, actor));
        self.snapshot = step.snapshot.clone();
        Ok(step)
    }

    /// An event that must be accepted.
    pub fn take(&mut self, event: Event) -> Step {
        let actor = if event.is_user_only() || matches!(event, Event::Paused { .. }) {
            Actor::User
        } else {
            Actor::Role
        };
        let name = event.name();
        self.attempt(&event, actor).unwrap_or_else(|code| {
            panic!("{name} is refused with {code}; {:?}", self.due());
        })
    }

    /// An event that must be refused, with this code.
    pub fn refuse(&mut self, event: Event, code: Code) {
        let actor = if event.is_user_only() {
            Actor::User
        } else {
            Actor::Role
        };
        assert_eq!(
            self.attempt(&event, actor).map(|step| step.next.reason),
            Err(code),
            "{}",
            event.name()
        );
    }

    pub fn reground(&self, change: impl FnOnce(&mut Reground)) -> Event {
        let mut block = Reground {
            answers: answers(&self.snapshot),
            ..Reground::default()
        };
        change(&mut block);
        Event::Regrounded {
            block,
            submission: submission(&self.snapshot, Role::Regrounder),
        }
    }

    pub fn report_implemented(&self) -> Event {
        Event::Implemented {
            slice_id: self.snapshot.active.slice_id.clone().unwrap_or_default(),
            commit: self.world.head.map(id).unwrap_or_default(),
            evidence: Vec::new(),
            submission: submission(&self.snapshot, Role::Implementer),
        }
    }

    /// A reader looks at HEAD.
    fn reading(&self, role: Role) -> Submission {
        Submission {
            began_at: self.world.head.map(id),
            ..submission(&self.snapshot, role)
        }
    }

    pub fn report_reviewed(&self, positive: bool) -> Event {
        Event::Reviewed {
            verdicts: verdicts(positive),
            submission: self.reading(Role::Reviewer),
        }
    }

    pub fn report_audited(&self) -> Event {
        Event::Audited {
            verdicts: verdicts(true),
            submission: self.reading(Role::Auditor),
        }
    }

    pub fn report_judged(&self, can_stop: bool) -> Event {
        Event::Judged {
            verdicts: verdicts(can_stop),
            submission: self.reading(Role::StopJudge),
        }
    }

    pub fn report_accepted(&self, slice: &str) -> Event {
        self.report_accepted_with(slice, "good")
    }

    /// Proved by anchors of this kind.
    pub fn report_accepted_with(&self, slice: &str, kind: &str) -> Event {
        let proof = claims(self.snapshot.plan.slice(slice).unwrap(), kind);
        self.reground(|block| {
            block.reconcile = reconcile(slice, Decision::Accepted);
            block.evidence = proof;
        })
    }

    pub fn report_reopened(&self, slice: &str) -> Event {
        self.reground(|block| block.reconcile = reconcile(slice, Decision::Reopened))
    }

    pub fn resume(&self) -> Event {
        Event::Resumed(Resume::default())
    }

    pub fn pause(&self) -> Event {
        Event::Paused {
            why: PAUSED_BY_HAND.to_owned(),
        }
    }

    pub fn undo(&self, transitions: usize) -> Event {
        let to = &self.past[self.past.len() - transitions];
        Event::Undone {
            to: Box::new(to.clone()),
            to_seq: to.ledger.seq,
            undone: (to.ledger.seq.0 + 1..=self.snapshot.ledger.seq.0).collect(),
            operations: Vec::new(),
        }
    }

    /// A commit with the trailer of the slice in work.
    pub fn own_commit(&mut self) {
        let slice = self.snapshot.active.slice_id.as_deref();
        let slice = super::events::NAMES
            .into_iter()
            .find(|name| Some(*name) == slice);
        self.world.commit(slice, Touch::Surface);
    }

    pub fn foreign_commit(&mut self, touch: Touch) {
        self.world.commit(None, touch);
    }

    /// Somebody's commit harms what accepted proofs show.
    pub fn harm(&mut self, harm: Harm) {
        self.foreign_commit(Touch::Harm(harm));
    }

    /// Plans the workflow's slices and selects the first.
    pub fn plan_and_select(&mut self) {
        let plan = first_plan(&self.bounds);
        self.take(self.reground(|block| {
            block.plan = Some(plan);
            block.select = Some("a".to_owned());
        }));
    }

    /// The slice in work gets a commit, which is reported and reviewed.
    pub fn implement(&mut self, review: bool) {
        self.own_commit();
        self.take(self.report_implemented());
        self.take(self.report_reviewed(review));
    }

    /// To a committed, reviewed and audited first slice.
    pub fn reach_rule_7(&mut self, review: bool) {
        self.plan_and_select();
        self.implement(review);
        self.take(self.report_audited());
        assert_eq!(self.rule(), Rule::Reconcile);
    }

    /// To the first vote of the first wave, with all slices done.
    pub fn reach_wave(&mut self) {
        self.drive_until(|walk| walk.rule() == Rule::Judge);
    }

    /// Honest work until the project is done.
    pub fn drive(&mut self) {
        self.drive_until(Walk::is_done);
    }

    pub fn drive_until(&mut self, reached: impl Fn(&Walk) -> bool) {
        for _ in 0..80 {
            if reached(self) {
                return;
            }
            self.honest_step();
        }
        panic!("never reached; {:?}", self.due());
    }

    pub fn honest_step(&mut self) {
        match self.rule() {
            Rule::Stopped => self.leave_stop(),
            Rule::Bootstrap => self.mood.contract = Contract::Committed,
            Rule::Recover => {
                let event = self.reground(|_| {});
                // Where the gate is red at HEAD and no slice answers for it, somebody mends it.
                match self.attempt(&event, Actor::Role) {
                    Ok(_) => {}
                    Err(Code::NoProgress) => self.foreign_commit(Touch::Elsewhere),
                    Err(code) => panic!("a re-ground is refused with {code}; {:?}", self.due()),
                }
            }
            Rule::Select => self.plan_or_select(),
            Rule::Implement => {
                if !self.due().action.starts_with("report") {
                    self.own_commit();
                }
                self.take(self.report_implemented());
            }
            Rule::Review => {
                self.take(self.report_reviewed(true));
            }
            Rule::Audit => {
                self.take(self.report_audited());
            }
            Rule::Reconcile => self.settle(),
            Rule::Judge => {
                if self.world.head.is_none() {
                    self.foreign_commit(Touch::Elsewhere);
                }
                match self.due().waits_for_gates() {
                    true => self.take(Event::Verified),
                    false => self.take(self.report_judged(true)),
                };
            }
            Rule::Conclude => self.conclude(),
        }
    }

    fn leave_stop(&mut self) {
        if self.mood.other_branch {
            self.mood.other_branch = false;
            return;
        }
        let kind = self
            .snapshot
            .ledger
            .waiting
            .as_ref()
            .map(|waiting| waiting.kind);
        let resume = Resume {
            answer: (kind == Some(WaitingKind::Question)).then(|| "the first".to_owned()),
            budget: (kind == Some(WaitingKind::Budget)).then(|| Limits {
                steps: Some(20),
                attempts_per_slice: Some(2),
                ..Limits::default()
            }),
            ..Resume::default()
        };
        self.take(Event::Resumed(resume));
    }

    fn plan_or_select(&mut self) {
        if self.snapshot.plan.candidate_slices.is_empty() {
            let plan = first_plan(&self.bounds);
            self.take(self.reground(|block| block.plan = Some(plan)));
            return;
        }
        if let Some(first) = ready(&self.snapshot.plan).first().cloned() {
            let proofs = self.replace_proofs();
            self.take(self.reground(|block| {
                block.select = Some(first);
                block.evidence = proofs;
            }));
            return;
        }
        let mut plan = plan_of(&self.snapshot);
        for planned in &mut plan.candidate_slices {
            let slice = self.snapshot.plan.slice(&planned.slice_id).unwrap();
            if slice.status == SliceStatus::Blocked {
                planned.status = Some(SliceStatus::Planned);
            }
        }
        self.take(self.reground(|block| block.plan = Some(plan)));
    }

    fn settle(&mut self) {
        let name = self.snapshot.active.slice_id.clone().unwrap();
        let review = self.snapshot.ledger.slices[&name].review.as_deref();
        let mut event = if review.is_some_and(|review| !review.rejects()) {
            self.report_accepted(&name)
        } else {
            self.report_reopened(&name)
        };
        if let Event::Regrounded { block, .. } = &mut event {
            block.evidence.extend(self.replace_proofs());
            // An audit of the slice in work is answered where nothing stays open after it.
            let audit = find_audit_to_answer(&self.snapshot).map(answer_to);
            let is_answered = |no: &AnswerTo| block.answers.iter().any(|given| given.no == no.no);
            let audit = audit.filter(|audit| !is_answered(audit));
            block.answers.extend(audit);
        }
        self.take(event);
    }

    /// Accepted proofs that do not hold at HEAD.
    fn list_harmed(&self) -> impl Iterator<Item = (&Slice, &EvidenceRecord, Verdict)> {
        let slices = self.snapshot.plan.candidate_slices.iter();
        let slices = slices.map(|slice| &**slice);
        let slices = slices.filter(|slice| slice.rests_on_proof());
        let records = slices.flat_map(|slice| {
            let records = slice.evidence.iter().filter_map(Evidence::record);
            records.map(move |record| (slice, record))
        });
        records
            .map(|(slice, record)| (slice, record, self.world.worth(record, &self.mood)))
            .filter(|(.., worth)| !matches!(worth, Verdict::Verified | Verdict::Moved))
    }

    /// Other proofs for those that nobody can tell of.
    fn replace_proofs(&self) -> Vec<EvidenceClaim> {
        self.list_harmed()
            .filter(|(.., worth)| *worth != Verdict::Missing)
            .map(|(slice, record, _)| claim(&slice.slice_id, &record.criterion, "other"))
            .collect()
    }

    fn conclude(&mut self) {
        let agreed = self
            .snapshot
            .ledger
            .wave
            .votes
            .iter()
            .all(|vote| vote.can_stop);
        let is_broken = self
            .list_harmed()
            .any(|(.., worth)| worth == Verdict::Missing);
        let agreed = agreed && !is_broken;
        let go_on = || Conclude::GoOn {
            reason: Some("the judge was shown the wrong branch".to_owned()),
        };
        let proofs = self.replace_proofs();
        let event = self.reground(|block| {
            block.evidence = proofs;
            block.conclude = Some(if agreed { Conclude::Stop } else { go_on() });
        });
        match self.attempt(&event, Actor::Role) {
            Ok(_) => {}
            // The user asks for another wave at this HEAD.
            Err(Code::WaveLimit) => {
                self.take(Event::Resumed(Resume {
                    new_wave: true,
                    ..Resume::default()
                }));
            }
            Err(code) => panic!("the conclusion is refused with {code}; {:?}", self.due()),
        }
    }

    /// An implementer's or regrounder's question.
    pub fn report_asked(&self, role: Role) -> Event {
        Event::Asked {
            role,
            question: "which one?".to_owned(),
            submission: submission(&self.snapshot, role),
        }
    }

    /// A regrounder that stops with a question.
    pub fn regrounder_asks(&self) -> Event {
        self.reground(|block| block.policy = asks())
    }

    pub fn status(&self) -> ActiveStatus {
        self.snapshot.active.status
    }

    pub fn wave(&self) -> Count {
        self.snapshot.state.current_stop_wave_id
    }
}
