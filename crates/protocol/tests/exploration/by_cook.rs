//! Re-grounds that cook derives itself: what is tried, what must hold of one that was accepted,
//! and how profiles are chosen.

use super::CORE;
use super::events::{Bounds, Offer, claims, submission, verdicts};
use super::explore::{due, first, try_event};
use super::imports::make_brought_plan;
use super::invariants::{Check, Seen, require};
use super::walk::Walk;
use super::world::{Budget, Dirt, Mood, World};
use cook_protocol::diagnostic::{Code, Finding};
use cook_protocol::machine::{
    AUDIT_EVERY, Dispatch, Facts, Head, MOST_BY_COOK, Rule, apply, derive, ready,
};
use cook_protocol::model::{
    self, Actor, Assurance, AuditNote, Blocker, ByCook, Conclude, Count, Decision, Event, Import,
    Policy, Profile, Reground, Role, SliceStatus, Snapshot, TaskSource, Verdict,
};

const LITE: Bounds = Bounds {
    slices: 2,
    max_slices: 2,
    assurance: Assurance::Lite,
    ..CORE
};

fn offer(label: &str, event: Event, actor: Actor, mood: Mood) -> Offer {
    Offer {
        label: format!("by cook: {label}"),
        event,
        actor,
        mood,
    }
}

/// What cook would re-ground, and what it must not.
pub fn offers(snapshot: &Snapshot, world: &World, due: &Dispatch) -> Vec<Offer> {
    let head = world.head(&Mood::GOOD, snapshot.ledger.branch.as_deref());
    let dirty = Mood {
        dirt: Dirt::Surface,
        ..Mood::GOOD
    };
    let untrusted = Mood {
        trusted: false,
        ..Mood::GOOD
    };
    match derive(snapshot, due, &head) {
        Ok((kind, block)) => {
            let event = Event::RegroundedByCook {
                kind,
                block: block.clone(),
            };
            let other = Event::RegroundedByCook {
                kind,
                block: Reground {
                    high_value_gaps: Some(Vec::new()),
                    ..block
                },
            };
            vec![
                offer(kind.id(), event.clone(), Actor::Cook, Mood::GOOD),
                offer("on dirt", event.clone(), Actor::Cook, dirty),
                offer("untrusted", event.clone(), Actor::Cook, untrusted),
                offer("as a role", event, Actor::Role, Mood::GOOD),
                offer("another block", other, Actor::Cook, Mood::GOOD),
            ]
        }
        Err(_) => {
            let block = Reground {
                select: Some("a".to_owned()),
                ..Reground::default()
            };
            let kind = ByCook::Select;
            let event = Event::RegroundedByCook { kind, block };
            vec![offer("what is not due", event, Actor::Cook, Mood::GOOD)]
        }
    }
}

/// An audit is owed to the slice that is accepted.
pub fn owes_audit(before: &Snapshot) -> bool {
    let is_last = before.plan.open_slices().count() == 1;
    match before.assurance() {
        Assurance::Strict => true,
        Assurance::Standard => is_last || before.ledger.assured.unaudited.0 >= AUDIT_EVERY,
        Assurance::Lite | Assurance::Goal => false,
    }
}

/// What must hold of one, stated without the code that derives it.
pub fn check_admitted(seen: &Seen, kind: ByCook, block: &Reground) -> Check {
    let (before, after) = (seen.before, seen.after());
    let ledger = &before.ledger;
    let told = |what: &str| format!("cook re-grounds {} itself {what}", kind.id());
    require(
        before.assurance() < Assurance::Strict && seen.offer.actor == Actor::Cook,
        || told("under `strict`, or another does"),
    )?;
    require(
        ledger.assured.by_cook.0 < MOST_BY_COOK
            && after.ledger.assured.by_cook.0 == ledger.assured.by_cook.0 + 1,
        || told("too often"),
    )?;
    let remarks = Some(Count(ledger.remarks.len() as u64));
    require(
        ledger.assured.remarks_seen == remarks && after.ledger.remarks == ledger.remarks,
        || told("over a remark"),
    )?;
    let waits = ledger.returned.is_some()
        || ledger.answered.is_some()
        || ledger.stopped_for.is_some()
        || !ledger.unanswered.is_empty()
        || ledger.wave.votes.iter().any(|vote| !vote.can_stop);
    require(!waits, || told("what waits for an answer"))?;
    let facts = seen.facts;
    let is_clean = facts
        .worktree
        .as_ref()
        .is_some_and(|tree| tree.dirty.is_empty());
    let is_committed = facts
        .contract_uncommitted
        .as_ref()
        .is_some_and(Vec::is_empty);
    require(
        is_clean && is_committed && !facts.stop_verifier_stale,
        || told("on dirt"),
    )?;
    let is_done = |snapshot: &Snapshot, id: &str| {
        let slice = snapshot.plan.slice(id);
        slice.is_some_and(|slice| slice.status == SliceStatus::Done)
    };
    let slices = before.plan.candidate_slices.iter();
    let mut done = slices.filter(|slice| is_done(before, &slice.slice_id));
    require(done.all(|slice| is_done(after, &slice.slice_id)), || {
        told("and opens a slice")
    })?;
    let policy = after.state.continuation_policy;
    require(matches!(policy, Policy::Continue | Policy::Done), || {
        told("and asks the user")
    })?;
    let untrusted = facts
        .untrusted
        .as_ref()
        .is_some_and(|names| !names.is_empty());
    require(!untrusted, || told("beside an untrusted command"))?;
    let commit = facts.head.as_ref().and_then(|head| head.commit.as_ref());
    let id = before.find_slice_in_work().unwrap_or_default();
    let of_slice = ledger.slices.get(id);
    let slice_head = of_slice.and_then(|slice| slice.head.as_ref());
    require(
        commit.is_some() && (commit == ledger.head_seen.as_ref() || commit == slice_head),
        || told("at a HEAD that moved"),
    )?;
    let alone = block.plan.is_none()
        && block.policy.is_none()
        && block.reopen.is_empty()
        && block.answers.is_empty()
        && block.release_blocker_ids.is_none()
        && block.high_value_gaps.is_none();
    require(alone, || told("and more"))?;
    match kind {
        ByCook::Select => {
            let selected = block.select.as_ref();
            let slice = selected.and_then(|id| before.plan.slice(id));
            let is_done = |id: &String| {
                before.plan.slice(id).map(|slice| slice.status) == Some(SliceStatus::Done)
            };
            let fits = slice.is_some_and(|slice| slice.blocked_on.iter().all(is_done));
            require(
                seen.due.rule == Rule::Select
                    && (ledger.regrounded || ledger.plan_source.is_some())
                    && fits
                    && selected == ready(&before.plan).first(),
                || told("out of order"),
            )
        }
        ByCook::Accept => {
            let review = of_slice.and_then(|slice| slice.review.as_deref());
            let is_clear = review.is_some_and(|review| {
                review.acceptable
                    && review.fails.is_empty()
                    && review.concerns.is_empty()
                    && review.findings.is_empty()
                    && review.follow_up.is_none()
            });
            let no = of_slice.and_then(|slice| slice.sent_back.as_deref());
            let sent_back_from = of_slice.and_then(|slice| slice.last_head.as_ref());
            let is_heard = no.is_none_or(|no| !no.rejects() || Some(&no.commit) == sent_back_from);
            require(is_heard, || told("over a no"))?;
            let sessions = (
                review.and_then(|review| review.session.as_ref()),
                of_slice.and_then(|slice| slice.offered_by.as_ref()),
            );
            let differ = matches!(sessions, (Some(one), Some(other)) if one != other);
            let audit = of_slice.and_then(|slice| slice.audit.as_deref());
            let audited = audit.is_none_or(|audit| {
                audit.findings.is_empty() && audit.concerns.is_empty() && audit.next_slice.is_none()
            });
            let accepts = block.reconcile.as_ref().is_some_and(|reconcile| {
                reconcile.slice_id == id && reconcile.decision == Decision::Accepted
            });
            require(
                seen.due.rule == Rule::Reconcile && is_clear && differ && audited && accepts,
                || told("what a review or an audit leaves open"),
            )
        }
        ByCook::Stop => {
            let votes = &ledger.wave.votes;
            let clear = votes
                .iter()
                .all(|vote| vote.can_stop && vote.concerns.is_empty());
            require(
                seen.due.rule == Rule::Conclude && clear && block.conclude == Some(Conclude::Stop),
                || told("over a concern"),
            )
        }
    }
}

impl Walk {
    /// What cook derives here.
    pub fn by_cook(&self) -> Result<(ByCook, Reground), String> {
        let branch = self.snapshot.ledger.branch.as_deref();
        derive(
            &self.snapshot,
            &self.due(),
            &self.world.head(&self.mood, branch),
        )
    }

    fn take_by_cook(&mut self, wanted: ByCook) {
        let (kind, block) = self.by_cook().unwrap();
        assert_eq!(kind, wanted);
        self.attempt(&Event::RegroundedByCook { kind, block }, Actor::Cook)
            .unwrap();
    }

    /// An implementer's report that says what proves each criterion.
    pub fn report_implemented_with(&self, kind: &str) -> Event {
        let mut event = self.report_implemented();
        if let Event::Implemented {
            slice_id, evidence, ..
        } = &mut event
        {
            let slice = self.snapshot.plan.slice(slice_id).unwrap();
            let claims = claims(slice, kind).into_iter();
            *evidence = claims
                .map(|claim| model::Offer {
                    criterion: claim.criterion,
                    anchor: claim.anchor,
                })
                .collect();
        }
        event
    }

    /// To a committed slice with a review that says yes.
    pub fn reach_review(&mut self) {
        self.own_commit();
        self.take(self.report_implemented_with("good"));
        self.take(self.report_reviewed(true));
    }

    fn choose(&mut self, assurance: Assurance, actor: Actor) -> Result<(), Code> {
        let profile = Profile {
            assurance,
            ..self.snapshot.profile.clone()
        };
        let event = Event::Bootstrapped {
            mission: None,
            profile,
            branch: None,
            settings: None,
            import: None,
        };
        self.attempt(&event, actor).map(|_| ())
    }
}

/// Sessions of a job in which every verdict is a yes.
fn sessions(assurance: Assurance, judges: u64) -> usize {
    let mut walk = Walk::new(Bounds {
        assurance,
        judges,
        ..LITE
    });
    for _ in 0..60 {
        if walk.is_done() {
            let is_session = |event: &Event| event.submission().is_some();
            return walk
                .log
                .iter()
                .filter(|(event, ..)| is_session(event))
                .count();
        }
        if let Ok((kind, _)) = walk.by_cook() {
            walk.take_by_cook(kind);
            continue;
        }
        match walk.rule() {
            Rule::Select if walk.snapshot.plan.candidate_slices.is_empty() => {
                walk.plan_and_select()
            }
            Rule::Implement => {
                walk.own_commit();
                walk.take(walk.report_implemented_with("good"));
            }
            Rule::Reconcile if assurance.is_strict() => {
                let id = walk.snapshot.find_slice_in_work().unwrap().to_owned();
                let mut event = walk.report_accepted(&id);
                if let Event::Regrounded { block, .. } = &mut event {
                    block.select = (id == "a").then(|| "b".to_owned());
                }
                walk.take(event);
            }
            _ => walk.honest_step(),
        }
    }
    panic!("never done; {:?}", walk.due());
}

#[test]
fn a_clean_job_of_two_slices_takes_fewer_sessions_below_strict() {
    assert_eq!(sessions(Assurance::Strict, 3), 13);
    assert_eq!(sessions(Assurance::Standard, 3), 9);
    assert_eq!(sessions(Assurance::Lite, 1), 6);
}

/// Where nothing of it is begun or claimed, and the profile lets cook select.
#[test]
fn a_plan_that_the_user_brought_needs_no_model_before_its_first_slice() {
    let derived = |assurance, change: fn(&mut Import)| {
        let mut import = make_brought_plan();
        change(&mut import);
        let world = World::of_length(1);
        let snapshot = first(&world, 1, assurance, Some(import));
        let budget = Budget {
            steps: 60,
            attempts: 4,
        };
        let due = due(&snapshot, &world, &Mood::GOOD, &budget);
        let head = world.head(&Mood::GOOD, Some("main"));
        derive(&snapshot, &due, &head).map(|(kind, block)| (kind, block.select))
    };
    let first_of_it = Ok((ByCook::Select, Some("a".to_owned())));
    assert_eq!(derived(Assurance::Lite, |_| ()), first_of_it);
    assert_eq!(derived(Assurance::Standard, |_| ()), first_of_it);
    assert!(derived(Assurance::Strict, |_| ()).is_err());
    let changes: [fn(&mut Import); 4] = [
        |import| import.path = None,
        |import| import.policy = Some(Policy::Paused),
        |import| {
            let ticked = TaskSource {
                ticked: true,
                ..TaskSource::default()
            };
            import.tasks.insert("a".to_owned(), ticked);
        },
        |import| {
            import.plan.as_mut().unwrap().candidate_slices[1].status = SliceStatus::Done;
        },
    ];
    for change in changes {
        assert!(derived(Assurance::Lite, change).is_err());
    }
}

#[test]
fn what_cook_accepts_is_recorded_as_its_own_and_with_the_profile() {
    let mut walk = Walk::new(LITE);
    walk.plan_and_select();
    walk.reach_review();
    let spent = walk.snapshot.counters.steps;
    let (kind, block) = walk.by_cook().unwrap();
    let event = Event::RegroundedByCook { kind, block };
    let step = walk.attempt(&event, Actor::Cook).unwrap();
    let record = &step.records.slice[0];
    assert_eq!(record.by.as_deref(), Some(ByCook::BY));
    assert!(record.role.is_none() && record.report.is_none());
    assert_eq!(step.snapshot.counters.steps, spent);
    assert_eq!(step.snapshot.lowest_assurance(), Assurance::Lite);
}

#[test]
fn what_cook_derives_is_taken_as_it_is_and_from_cook_alone() {
    let mut walk = Walk::new(LITE);
    walk.plan_and_select();
    walk.reach_review();
    let (kind, block) = walk.by_cook().unwrap();
    let derived = Event::RegroundedByCook {
        kind,
        block: block.clone(),
    };
    let mut claims_less = block.clone();
    claims_less.evidence.pop();
    let others = [
        (kind, claims_less),
        (ByCook::Stop, block),
        (ByCook::Select, Reground::default()),
    ];
    let others = others.map(|(kind, block)| Event::RegroundedByCook { kind, block });
    let mut wrong: Vec<(Event, Actor)> = others.map(|event| (event, Actor::Cook)).into();
    for actor in [Actor::User, Actor::Script, Actor::Role, Actor::Runner] {
        wrong.push((derived.clone(), actor));
    }
    wrong.push((walk.report_accepted("a"), Actor::Cook));
    for (event, actor) in wrong {
        let code = walk.attempt(&event, actor).err();
        assert_eq!(code, Some(Code::NotByCook), "{actor:?} {event:?}");
    }
    walk.attempt(&derived, Actor::Cook).unwrap();
}

#[test]
fn what_somebody_must_weigh_is_not_cooks() {
    let mut walk = Walk::new(LITE);
    walk.plan_and_select();
    walk.own_commit();
    // Without what proves each criterion a regrounder says it.
    walk.take(walk.report_implemented());
    walk.take(walk.report_reviewed(true));
    assert!(
        walk.by_cook()
            .unwrap_err()
            .contains("has no evidence in the form")
    );
    // A no is never reconciled by cook.
    let mut walk = Walk::new(LITE);
    walk.plan_and_select();
    walk.own_commit();
    walk.take(walk.report_implemented_with("good"));
    walk.take(walk.report_reviewed(false));
    assert_eq!(walk.rule(), Rule::Reconcile);
    assert!(walk.by_cook().unwrap_err().contains("names an open point"));
    // Nor a yes with a concern, or one of the implementer's own session.
    for same in [true, false] {
        let mut walk = Walk::new(LITE);
        walk.plan_and_select();
        walk.own_commit();
        walk.take(walk.report_implemented_with("good"));
        let mut said = verdicts(true);
        if !same {
            said.concerns = vec!["correctness_risk (concern): slow".to_owned()];
        }
        let mut by = submission(&walk.snapshot, Role::Reviewer);
        if same {
            by.session = walk.snapshot.ledger.slices["a"].offered_by.clone();
        }
        walk.take(Event::Reviewed {
            verdicts: said,
            submission: by,
        });
        assert!(walk.by_cook().is_err());
    }
}

/// Cook derives here what it re-grounds; after each change it asks for a model, and says why.
#[track_caller]
fn derives_unless(walk: &Walk, changes: &[(Change, &str)]) {
    let branch = walk.snapshot.ledger.branch.as_deref();
    let (due, head) = (walk.due(), walk.world.head(&walk.mood, branch));
    derive(&walk.snapshot, &due, &head).unwrap();
    for (change, words) in changes {
        let (mut snapshot, mut due, mut head) = (walk.snapshot.clone(), due.clone(), head.clone());
        change((&mut snapshot, &mut due, &mut head));
        let why = derive(&snapshot, &due, &head).unwrap_err();
        assert!(why.contains(words), "{words}: {why}");
    }
}

type Change = fn((&mut Snapshot, &mut Dispatch, &mut Head));

fn open_audit() -> Option<Box<AuditNote>> {
    Some(Box::new(AuditNote {
        commit: String::new(),
        criteria_sha256: String::new(),
        findings: vec!["C-a: no test".to_owned()],
        concerns: Vec::new(),
        next_slice: None,
        rejects: true,
        planned: Vec::new(),
        report_sha256: String::new(),
        seq: Count(1),
    }))
}

#[test]
fn each_thing_to_weigh_is_said() {
    let mut walk = Walk::new(LITE);
    walk.plan_and_select();
    walk.reach_review();
    let waits: &[(Change, &str)] = &[
        (
            |(snapshot, ..)| snapshot.profile.assurance = Assurance::Strict,
            "the profile in force is `strict`",
        ),
        (
            |(_, due, _)| due.findings.push(Finding::new(Code::Rebound, "look here")),
            "look here",
        ),
        (
            |(snapshot, ..)| snapshot.ledger.returned = Some("too large".to_owned()),
            "a rejection or a returned slice waits",
        ),
        (
            |(snapshot, ..)| {
                let what = vec!["it is slow".to_owned()];
                let id = "no-1".to_owned();
                snapshot.ledger.unanswered.push(Blocker { id, what });
            },
            "a rejection or a returned slice waits",
        ),
        (
            |(snapshot, ..)| snapshot.ledger.answered = Some("yes".to_owned()),
            "a message of the user",
        ),
        (
            |(snapshot, ..)| snapshot.ledger.stopped_for = Some("a question".to_owned()),
            "a message of the user",
        ),
        (|(.., head)| head.commit = None, "HEAD has moved"),
        (
            |(.., head)| head.commit = Some("f".repeat(40)),
            "HEAD has moved",
        ),
    ];
    derives_unless(&walk, waits);
    derives_unless(
        &walk,
        &[
            (
                |(snapshot, ..)| {
                    let slice = snapshot.ledger.slices.get_mut("a").unwrap();
                    slice.remarked = Some("C-b: open".to_owned());
                },
                "names an open point",
            ),
            (
                |(snapshot, ..)| {
                    let slice = snapshot.ledger.slices.get_mut("a").unwrap();
                    slice.earlier_audit = open_audit();
                },
                "names an open point",
            ),
        ],
    );
    walk.take_by_cook(ByCook::Accept);
    derives_unless(&walk, waits);
    derives_unless(
        &walk,
        &[(
            |(snapshot, ..)| {
                let slices = &mut snapshot.plan.candidate_slices;
                slices[0].status = SliceStatus::Cancelled;
                slices[1].blocked_on = vec!["a".to_owned()];
            },
            "waits for a slice that is not done",
        )],
    );
    walk.take_by_cook(ByCook::Select);
    walk.reach_review();
    derives_unless(
        &walk,
        &[(
            |(snapshot, ..)| snapshot.ledger.open_audit = open_audit(),
            "an open point of the last audit",
        )],
    );
    walk.take_by_cook(ByCook::Accept);
    let mut vote = verdicts(true);
    vote.concerns = vec!["risk (concern): slow".to_owned()];
    assert_eq!(walk.rule(), Rule::Judge);
    walk.take(Event::Judged {
        verdicts: vote,
        submission: submission(&walk.snapshot, Role::StopJudge),
    });
    assert_eq!(walk.rule(), Rule::Conclude);
    let why = walk.by_cook().unwrap_err();
    assert!(why.contains("at least one judge said no"), "{why}");
}

/// What cook derives here is taken, but not where the repository is found changed like that.
#[track_caller]
fn is_not_taken_where(walk: &Walk, change: impl Fn(&mut Facts), words: &str) {
    let (kind, block) = walk.by_cook().unwrap();
    let event = Event::RegroundedByCook { kind, block };
    let Walk {
        snapshot,
        world,
        mood,
        budget,
        ..
    } = walk;
    let (mut facts, result) = try_event(snapshot, world, mood, budget, &event, Actor::Cook);
    result.unwrap();
    change(&mut facts);
    facts.asked = None;
    let refusal = apply(Some(snapshot), &facts, &event, Actor::Cook).unwrap_err();
    assert_eq!(refusal.code, Code::NotByCook, "{}", refusal.message);
    assert!(refusal.message.contains(words), "{}", refusal.message);
}

#[test]
fn what_the_repository_says_keeps_cook_from_it() {
    let mut walk = Walk::new(Bounds {
        commands: true,
        ..LITE
    });
    walk.plan_and_select();
    walk.reach_review();
    is_not_taken_where(
        &walk,
        |facts| facts.untrusted = Some(["check b".to_owned()].into()),
        "`check b` is not trusted",
    );
    is_not_taken_where(
        &walk,
        |facts| facts.contract_uncommitted = Some(vec!["x".to_owned()]),
        "a slice can be selected only after the user commits these files",
    );
    is_not_taken_where(
        &walk,
        |facts| facts.stop_verifier_stale = true,
        "the stop verifier was generated from gates that differ",
    );
    is_not_taken_where(
        &walk,
        |facts| facts.anchors.values_mut().next().unwrap().is_new = false,
        "a1",
    );
    walk.take_by_cook(ByCook::Accept);
    is_not_taken_where(
        &walk,
        |facts| facts.worktree.as_mut().unwrap().dirty.push("x".to_owned()),
        "the worktree is not clean: x",
    );
    walk.take_by_cook(ByCook::Select);
    walk.reach_review();
    is_not_taken_where(
        &walk,
        |facts| {
            for (key, answer) in &mut facts.anchors {
                if key.contains("good:a:") {
                    answer.verdict = Verdict::Missing;
                }
            }
        },
        "a1",
    );
}

#[test]
fn proof_that_does_not_hold_is_refused_and_a_regrounder_asked() {
    let mut walk = Walk::new(LITE);
    walk.plan_and_select();
    walk.own_commit();
    walk.take(walk.report_implemented_with("bad"));
    walk.take(walk.report_reviewed(true));
    let (kind, block) = walk.by_cook().unwrap();
    let event = Event::RegroundedByCook { kind, block };
    assert_eq!(
        walk.attempt(&event, Actor::Cook).map(|_| ()),
        Err(Code::EvidenceUnverified)
    );
    walk.take(walk.report_accepted("a"));
}

/// The reviewer was shown what the implementer says proves each criterion.
#[test]
fn other_evidence_voids_the_review() {
    let mut walk = Walk::new(LITE);
    walk.plan_and_select();
    walk.reach_review();
    assert_eq!(walk.rule(), Rule::Reconcile);
    let offered = &mut walk.snapshot.ledger.slices.get_mut("a").unwrap().offered;
    offered[0].anchor = "good:other".to_owned();
    assert_eq!(walk.rule(), Rule::Review);
}

#[test]
fn only_ten_follow_one_another() {
    let mut walk = Walk::new(LITE);
    walk.plan_and_select();
    walk.snapshot.ledger.assured.by_cook = Count(MOST_BY_COOK);
    walk.reach_review();
    assert!(walk.by_cook().unwrap_err().contains("times in a row"));
    walk.take(walk.report_accepted("a"));
    walk.take_by_cook(ByCook::Select);
}

#[test]
fn a_remark_asks_for_a_model() {
    let mut walk = Walk::new(LITE);
    walk.plan_and_select();
    walk.reach_review();
    walk.snapshot.ledger.remarks.push(model::Remark {
        slice_id: "a".to_owned(),
        code: "test_deleted".to_owned(),
        what: "a test is gone".to_owned(),
    });
    assert!(walk.by_cook().unwrap_err().contains("a remark was added"));
}

#[test]
fn a_lower_profile_binds_from_the_next_slice_and_a_higher_one_at_once() {
    let mut walk = Walk::new(Bounds {
        assurance: Assurance::Strict,
        ..LITE
    });
    walk.plan_and_select();
    assert_eq!(
        walk.choose(Assurance::Lite, Actor::Role),
        Err(Code::UserOnly)
    );
    walk.choose(Assurance::Lite, Actor::User).unwrap();
    assert_eq!(walk.snapshot.assurance(), Assurance::Strict);
    walk.own_commit();
    walk.take(walk.report_implemented_with("good"));
    walk.take(walk.report_reviewed(true));
    assert_eq!(walk.rule(), Rule::Audit, "the slice stays under strict");
    walk.take(walk.report_audited());
    walk.take(walk.report_accepted("a"));
    assert_eq!(walk.snapshot.assurance(), Assurance::Lite);
    assert_eq!(walk.snapshot.lowest_assurance(), Assurance::Strict);
    walk.take(walk.reground(|block| block.select = Some("b".to_owned())));
    walk.reach_review();
    assert_eq!(walk.rule(), Rule::Reconcile);
    walk.choose(Assurance::Standard, Actor::Role).unwrap();
    assert_eq!(walk.rule(), Rule::Audit, "the last open slice is audited");
}

#[test]
fn a_lower_profile_does_not_bind_inside_a_wave() {
    let mut walk = Walk::new(Bounds {
        assurance: Assurance::Strict,
        judges: 2,
        ..LITE
    });
    walk.reach_wave();
    walk.take(walk.report_judged(true));
    walk.choose(Assurance::Lite, Actor::User).unwrap();
    assert_eq!(walk.snapshot.assurance(), Assurance::Strict);
    walk.take(walk.report_judged(true));
    assert_eq!(walk.rule(), Rule::Conclude);
    assert!(walk.by_cook().is_err());
    assert_eq!(walk.snapshot.lowest_assurance(), Assurance::Strict);
}

/// A log of `strict` holds nothing of profiles.
#[test]
fn strict_leaves_the_log_as_it_was() {
    let mut walk = Walk::new(Bounds {
        assurance: Assurance::Strict,
        ..LITE
    });
    walk.drive();
    let text = serde_json::to_string(&walk.snapshot).unwrap();
    let words = ["assur", "offered", "remarks_seen", "by_cook"];
    assert_eq!(words.map(|word| text.contains(word)), [false; 4]);
    let world = World::of_length(1);
    let started = first(&world, 1, Assurance::Strict, None);
    assert!(!serde_json::to_string(&started).unwrap().contains("assur"));
}
