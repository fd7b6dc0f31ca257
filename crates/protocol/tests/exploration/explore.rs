//! Breadth first over the production `dispatch` and `apply`.

use super::admission;
use super::by_cook;
use super::events::{Bounds, MISSION, Offer, list_out_of_turn, reports, repository, user_commands};
use super::fingerprint::fingerprint;
use super::imports::{imports, make_brought_plan};
use super::invariants;
use super::prompts::Prompts;
use super::standing;
use super::world::{Budget, Contract, Dirt, Moment, Mood, World};
use cook_protocol::diagnostic::Code;
use cook_protocol::machine::{Dispatch, Facts, Rule, Step, apply, dispatch, follow};
use cook_protocol::model::{
    Actor, Assurance, Count, Event, Import, Phase, Policy, Profile, Role, Snapshot,
};
use cook_protocol::question::Question;
use cook_protocol::refusal::Refusal;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// A state as it was first met.
pub struct Node {
    pub snapshot: Rc<Snapshot>,
    pub world: World,
    pub parent: u32,
    /// What led here.
    pub label: Rc<str>,
}

/// Who caused an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    Role,
    User,
    Repository,
}

/// What one exploration saw.
#[derive(Default)]
pub struct Outcome {
    pub name: &'static str,
    pub states: usize,
    pub transitions: usize,
    pub refused: usize,
    pub time: Duration,
    /// Whether states were left unexpanded.
    pub truncated: bool,
    pub rules: BTreeMap<Rule, usize>,
    pub codes: BTreeMap<Code, usize>,
    pub edges: BTreeSet<(Phase, &'static str, Phase)>,
    pub done: usize,
    /// States from which `done` cannot be reached any more, with the path to the first.
    pub lost: Vec<String>,
    /// The same for a stopped policy.
    pub restless: usize,
    /// What decisions were seen to depend on.
    pub prompts: Prompts,
    /// A few of the states, for tests of their documents and of honest work from there.
    pub samples: Vec<(Snapshot, World)>,
}

/// States an exploration may have before it is called endless.
const MAX_STATES: usize = 600_000;

pub struct Explorer<'a> {
    bounds: &'a Bounds,
    budget: Budget,
    nodes: Vec<Node>,
    known: HashMap<u128, u32>,
    edges: Vec<(u32, u32, Cause)>,
    outcome: Outcome,
    prompts: Prompts,
}

/// Explores the first so many states of a workflow and panics with the path at the first breach.
pub fn explore(bounds: &Bounds, most: usize) -> Outcome {
    let started = Instant::now();
    let mut explorer = Explorer {
        bounds,
        budget: Budget {
            steps: bounds.steps,
            attempts: bounds.attempts,
        },
        nodes: Vec::new(),
        known: HashMap::new(),
        edges: Vec::new(),
        outcome: Outcome {
            name: bounds.name,
            ..Outcome::default()
        },
        prompts: Prompts::default(),
    };
    explorer.start();
    let mut at = 0;
    while at < explorer.nodes.len() {
        if at >= most || explorer.nodes.len() > MAX_STATES {
            explorer.outcome.truncated = true;
            println!("{}: {at} of {} expanded", bounds.name, explorer.nodes.len());
            break;
        }
        explorer.expand(u32::try_from(at).unwrap());
        at += 1;
    }
    explorer.finish(started)
}

/// The first snapshot of a workflow, as `cook init` makes it.
pub fn bootstrap(world: &World, judges: u64, assurance: Assurance) -> Snapshot {
    first(world, judges, assurance, None)
}

/// The same with state of an older layout.
pub fn first(world: &World, judges: u64, assurance: Assurance, import: Option<Import>) -> Snapshot {
    let mut profile = Profile::new("demo");
    profile.required_stop_judges = Count(judges);
    profile.assurance = assurance;
    let event = Event::Bootstrapped {
        mission: Some(MISSION.to_owned()),
        profile,
        branch: Some("main".to_owned()),
        settings: Some(super::world::settings(false)),
        import: import.map(Box::new),
    };
    let budget = Budget {
        steps: 60,
        attempts: 4,
    };
    let at = Moment {
        mood: &Mood::GOOD,
        budget: &budget,
        workflow_branch: Some("main"),
        runs: true,
    };
    let rules = |facts: &Facts| apply(None, facts, &event, Actor::User);
    let begun = world.decide(&at, &mut Facts::default(), rules);
    begun.unwrap().snapshot
}

/// The state as it speaks of HEAD.
pub fn measure_followed<'a>(
    snapshot: &'a Snapshot,
    world: &World,
    budget: &Budget,
) -> Cow<'a, Snapshot> {
    let (_, facts) = explain_due(snapshot, world, &Mood::GOOD, budget);
    follow(snapshot, &facts)
}

/// Decides, and measures what is asked for.
pub fn try_event(
    snapshot: &Snapshot,
    world: &World,
    mood: &Mood,
    budget: &Budget,
    event: &Event,
    actor: Actor,
) -> (Facts, Result<Step, Refusal>) {
    let at = Moment {
        mood,
        budget,
        workflow_branch: snapshot.ledger.branch.as_deref(),
        runs: true,
    };
    let mut facts = Facts::default();
    let rules = |facts: &Facts| apply(Some(snapshot), facts, event, actor);
    let mut result = world.decide(&at, &mut facts, rules);
    if result
        .as_ref()
        .is_ok_and(|step| step.next.waits_for_gates() && !event.is_aside())
    {
        world.answer(&at, &Question::Room, &mut facts);
        result = world.decide(&at, &mut facts, rules);
    }
    (facts, result)
}

/// Who is due, measured afresh, and by what.
pub fn explain_due(
    snapshot: &Snapshot,
    world: &World,
    mood: &Mood,
    budget: &Budget,
) -> (Dispatch, Facts) {
    let at = Moment {
        mood,
        budget,
        workflow_branch: snapshot.ledger.branch.as_deref(),
        runs: false,
    };
    let mut facts = Facts::default();
    world.answer(&at, &Question::Config, &mut facts);
    let due = world.decide(&at, &mut facts, |facts| dispatch(Some(snapshot), facts));
    (due.expect("dispatch is total"), facts)
}

/// Who is due, measured afresh.
pub fn due(snapshot: &Snapshot, world: &World, mood: &Mood, budget: &Budget) -> Dispatch {
    let (due, facts) = explain_due(snapshot, world, mood, budget);
    // Only where a role comes next that a dirty tree would stop.
    let is_advised =
        matches!(due.role, Some(Role::Regrounder | Role::StopJudge)) || due.waits_for_gates();
    assert!(
        facts.worktree.is_none() || is_advised,
        "`cook next` would walk the tree for nothing"
    );
    due
}

/// Whether a user-only command may behave otherwise in this mood than in a good one.
fn tells_apart(offer: &Offer, mood: &Mood, bounds: &Bounds, stopped: bool) -> bool {
    if offer.actor == Actor::Role {
        return false;
    }
    let resumes = stopped && matches!(offer.event, Event::Resumed(_));
    if mood.dirt != Dirt::Clean {
        return bounds.stops && (resumes || matches!(offer.event, Event::Paused { .. }));
    }
    resumes
        || bounds.user_commands
            && matches!(
                offer.event,
                Event::Paused { .. }
                    | Event::Restored
                    | Event::Adopted { .. }
                    | Event::Refocused { .. }
                    | Event::BranchAdopted
                    | Event::Bootstrapped { .. }
                    | Event::Cancelled { .. }
            )
}

/// Commits that an implementer's report claims are not foreign to its slice.
pub fn with_claims(facts: &Facts) -> Facts {
    let mut facts = facts.clone();
    facts.asked = None;
    if let (Some(commit), Some(since)) = (&facts.commit, &mut facts.since) {
        since
            .commits
            .retain(|seen| !commit.claimed.contains(&seen.id));
    }
    facts
}

impl Explorer<'_> {
    fn start(&mut self) {
        for &length in self.bounds.start {
            let world = World::of_length(length);
            let snapshot = Rc::new(bootstrap(&world, self.bounds.judges, self.bounds.assurance));
            self.visit(snapshot, world, u32::MAX, "init".into());
        }
        if !self.bounds.assurance.is_strict() {
            let world = World::of_length(1);
            let brought = Some(make_brought_plan());
            let first = first(&world, self.bounds.judges, self.bounds.assurance, brought);
            self.visit(Rc::new(first), world, u32::MAX, "a plan is brought".into());
        }
        if self.bounds.imports {
            for (label, import) in imports() {
                let world = World::of_length(2);
                let snapshot = Rc::new(first(
                    &world,
                    self.bounds.judges,
                    self.bounds.assurance,
                    Some(import),
                ));
                let label = format!("import {label}");
                self.visit(snapshot, world, u32::MAX, label.into());
            }
        }
    }

    fn visit(&mut self, snapshot: Rc<Snapshot>, world: World, parent: u32, label: Rc<str>) -> u32 {
        let allowed = self
            .budget
            .steps
            .saturating_add(snapshot.counters.granted.steps.unwrap_or(0));
        let left = if self.bounds.steps >= 1000 {
            0
        } else {
            allowed.saturating_sub(snapshot.counters.steps.0)
        };
        let key = fingerprint(&snapshot, &world, left, self.bounds);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let index = u32::try_from(self.nodes.len()).unwrap();
        self.known.insert(key, index);
        self.nodes.push(Node {
            snapshot,
            world,
            parent,
            label,
        });
        index
    }

    /// How a state was reached.
    fn path(&self, mut at: u32) -> String {
        let mut steps = Vec::new();
        while at != u32::MAX {
            let node = &self.nodes[at as usize];
            steps.push(node.label.to_string());
            at = node.parent;
        }
        steps.reverse();
        steps.join(" → ")
    }

    fn expand(&mut self, at: u32) {
        let snapshot = Rc::clone(&self.nodes[at as usize].snapshot);
        let world = self.nodes[at as usize].world.clone();
        let each = if self.bounds.harms > 0 { 11 } else { 97 };
        if at.is_multiple_of(each) {
            let sample = (Snapshot::clone(&snapshot), world.clone());
            self.outcome.samples.push(sample);
        }
        for (label, next) in repository(&snapshot, &world, self.bounds) {
            let to = self.visit(Rc::clone(&snapshot), next, at, label.into());
            self.edges.push((at, to, Cause::Repository));
        }
        let good = due(&snapshot, &world, &Mood::GOOD, &self.budget);
        if let Err(breach) = standing::nobody_judges_what_is_gone(&snapshot, &world, &good) {
            panic!("{breach}\n{}", self.path(at));
        }
        let offers = self.offers(at, &snapshot, &world);
        let mut prompts = std::mem::take(&mut self.prompts);
        prompts.check(&snapshot, &world, &self.budget, &offers, || self.path(at));
        self.prompts = prompts;
        for offer in &offers {
            self.attempt(at, &snapshot, &world, offer);
        }
    }

    /// Everything that is tried in a state.
    fn offers(&mut self, at: u32, snapshot: &Snapshot, world: &World) -> Vec<Offer> {
        let good = due(snapshot, world, &Mood::GOOD, &self.budget);
        self.count(good.rule);
        let stopped = snapshot.state.continuation_policy != Policy::Continue;
        let mut offers = reports(snapshot, world, good.rule, self.bounds);
        let turn = if self.bounds.hostile { 0 } else { 3 };
        offers.extend(
            list_out_of_turn(snapshot, world, good.role)
                .into_iter()
                .skip(at as usize % 4)
                .step_by(1 + turn),
        );
        offers.extend(user_commands(snapshot, self.bounds, Mood::GOOD));
        offers.extend(self.undos(at, snapshot));
        // Under `strict` every one is refused alike.
        if at < 50 || !snapshot.assurance().is_strict() {
            offers.extend(by_cook::offers(snapshot, world, &good));
        }
        for mood in [
            Mood {
                edited: true,
                ..Mood::GOOD
            },
            Mood {
                contract: Contract::Missing,
                ..Mood::GOOD
            },
            Mood {
                contract: Contract::Edited,
                ..Mood::GOOD
            },
            Mood {
                other_branch: true,
                ..Mood::GOOD
            },
            Mood {
                dirt: Dirt::Surface,
                trusted: false,
                ..Mood::GOOD
            },
        ] {
            let answer = due(snapshot, world, &mood, &self.budget);
            self.count(answer.rule);
            if mood.edited || mood.contract == Contract::Edited {
                offers.extend(
                    reports(snapshot, world, answer.rule, self.bounds)
                        .into_iter()
                        .filter(|offer| offer.mood == Mood::GOOD)
                        .take(12)
                        .map(|offer| Offer { mood, ..offer }),
                );
            }
            if mood.dirt == Dirt::Clean {
                let turn = u32::try_from(snapshot.ledger.seq.0).unwrap_or(0) + at;
                offers.extend(
                    list_out_of_turn(snapshot, world, answer.role)
                        .into_iter()
                        .skip(turn as usize % 4)
                        .take(1)
                        .map(|offer| Offer { mood, ..offer }),
                );
            }
            offers.extend(
                user_commands(snapshot, self.bounds, mood)
                    .into_iter()
                    .filter(|offer| tells_apart(offer, &mood, self.bounds, stopped)),
            );
        }
        offers
    }

    /// Undo to what the log held before, along the path that led here.
    fn undos(&self, at: u32, snapshot: &Snapshot) -> Vec<Offer> {
        let mut offers = Vec::new();
        let mut past = self.nodes[at as usize].parent;
        let mut seen = snapshot.ledger.seq.0;
        let first = snapshot.undone.seqs.is_empty();
        while past != u32::MAX && first && offers.len() < self.bounds.undo {
            let node = &self.nodes[past as usize];
            let seq = node.snapshot.ledger.seq.0;
            if seq < seen {
                seen = seq;
                offers.push(self.undo(&node.snapshot, snapshot, seq, "undo"));
            }
            past = node.parent;
        }
        if self.bounds.undo > 0 && at < 50 {
            let same = snapshot.ledger.seq.0;
            offers.push(self.undo(snapshot, snapshot, same, "undo nothing"));
        }
        offers
    }

    fn undo(&self, to: &Snapshot, from: &Snapshot, seq: u64, label: &str) -> Offer {
        Offer {
            label: label.to_owned(),
            event: Event::Undone {
                to: Box::new(to.clone()),
                to_seq: Count(seq),
                undone: (seq + 1..=from.ledger.seq.0).collect(),
                operations: Vec::new(),
            },
            actor: Actor::User,
            mood: Mood::GOOD,
        }
    }

    fn count(&mut self, rule: Rule) {
        *self.outcome.rules.entry(rule).or_default() += 1;
    }

    fn attempt(&mut self, at: u32, snapshot: &Snapshot, world: &World, offer: &Offer) {
        let (facts, result) = try_event(
            snapshot,
            world,
            &offer.mood,
            &self.budget,
            &offer.event,
            offer.actor,
        );
        let told = || format!("{} → {}", self.path(at), offer.label);
        if let Err(breach) = invariants::asks_little(&offer.event, &facts) {
            panic!("{breach}\n{}", told());
        }
        let outcome = result.as_ref().map(|_| ()).map_err(|refusal| refusal.code);
        if let Err(breach) = admission::list_is_admission(snapshot, &facts, offer, outcome) {
            panic!("{breach}\n{}", told());
        }
        match result {
            Err(refusal) => {
                if refusal.code == Code::FactMissing {
                    panic!("{refusal}\n{}", told());
                }
                self.outcome.refused += 1;
                *self.outcome.codes.entry(refusal.code).or_default() += 1;
            }
            Ok(step) => {
                let mut after = offer.mood;
                after.edited &= !step.displace;
                if matches!(offer.event, Event::Bootstrapped { .. })
                    && after.contract == Contract::Missing
                {
                    after.contract = Contract::Uncommitted;
                }
                let checked_out = facts.head.as_ref().and_then(|head| head.branch.clone());
                after.other_branch = checked_out != step.snapshot.ledger.branch;
                let before = dispatch(Some(snapshot), &with_claims(&facts)).unwrap();
                let now = due(&step.snapshot, world, &after, &self.budget);
                let seen = invariants::Seen {
                    before: &measure_followed(snapshot, world, &self.budget),
                    world,
                    due: &before,
                    offer,
                    facts: &facts,
                    step: &step,
                    now: &now,
                };
                if let Err(breach) = invariants::transition(&seen) {
                    panic!("{breach}\n{}", told());
                }
                self.outcome.transitions += 1;
                self.outcome
                    .edges
                    .insert((before.phase, offer.event.name(), now.phase));
                let cause = if offer.event.submission().is_some()
                    || offer.actor == Actor::Cook
                    || matches!(offer.event, Event::Refused { .. } | Event::Blocked { .. })
                {
                    Cause::Role
                } else {
                    Cause::User
                };
                let to = self.visit(
                    Rc::new(step.snapshot),
                    world.clone(),
                    at,
                    offer.label.as_str().into(),
                );
                self.edges.push((at, to, cause));
            }
        }
    }

    fn finish(mut self, started: Instant) -> Outcome {
        let is_done = |node: &Node| node.snapshot.state.continuation_policy == Policy::Done;
        let stopped = |node: &Node| node.snapshot.state.continuation_policy != Policy::Continue;
        self.outcome.done = self.nodes.iter().filter(|node| is_done(node)).count();
        // Where nobody looked on, nothing is known of what can be reached.
        if !self.outcome.truncated {
            let to_done = self.reaches(&is_done);
            let to_stop = self.reaches(&stopped);
            self.outcome.lost = (0..self.nodes.len())
                .filter(|&index| !to_done[index])
                .map(|index| self.path(u32::try_from(index).unwrap()))
                .collect();
            self.outcome.restless = to_stop.iter().filter(|reached| !**reached).count();
        }
        self.outcome.states = self.nodes.len();
        self.outcome.prompts = std::mem::take(&mut self.prompts);
        self.outcome.time = started.elapsed();
        self.outcome
    }

    /// From which states the goal can be reached.
    fn reaches(&self, goal: &dyn Fn(&Node) -> bool) -> Vec<bool> {
        let mut back: Vec<Vec<u32>> = vec![Vec::new(); self.nodes.len()];
        for &(from, to, _) in &self.edges {
            back[to as usize].push(from);
        }
        let mut reached: Vec<bool> = self.nodes.iter().map(goal).collect();
        let mut todo: Vec<usize> = (0..reached.len()).filter(|&index| reached[index]).collect();
        while let Some(index) = todo.pop() {
            for &from in &back[index] {
                if !reached[from as usize] {
                    reached[from as usize] = true;
                    todo.push(from as usize);
                }
            }
        }
        reached
    }
}
