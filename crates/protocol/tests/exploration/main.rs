//! The protocol explored: every state that role reports, user-only commands and the
//! repository can bring about within stated bounds, over the production
//! `dispatch` and `apply`. Each exploration checks [`invariants`] on every
//! transition; the tests below ask what all of them together have seen.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod admission;
mod answered;
mod by_cook;
mod diagram;
mod events;
mod explore;
mod fingerprint;
#[path = "../../../../tests/support/generated.rs"]
mod generated;
mod imports;
mod invariants;
mod liveness;
mod offered;
mod on_record;
mod prompts;
mod proof;
mod refused;
mod replay;
mod standing;
mod walk;
mod world;

use cook_protocol::diagnostic::{CATALOGUE, Code, Family};
use cook_protocol::machine::Rule;
use cook_protocol::model::{Assurance, Snapshot};
use events::Bounds;
use explore::{Outcome, explore};
use std::collections::BTreeSet;
use std::sync::{LazyLock, Mutex};

const CORE: Bounds = Bounds {
    name: "one slice, one judge, pauses and dirt",
    slices: 1,
    max_slices: 1,
    judges: 1,
    assurance: Assurance::Strict,
    start: &[0, 1],
    commits: 3,
    steps: 1_000_000,
    attempts: 1_000_000,
    hostile: false,
    plans: false,
    user_commands: false,
    stops: true,
    rewrites: 0,
    harms: 0,
    imports: false,
    commands: false,
    undo: 0,
};

/// The workflows that are explored. Each is small; together they cover the pairs
/// of what can vary.
const WORKFLOWS: &[Bounds] = &[
    CORE,
    Bounds {
        name: "rewritten histories",
        start: &[1],
        stops: false,
        rewrites: 1,
        ..CORE
    },
    Bounds {
        name: "proofs that come to harm",
        start: &[1],
        commits: 4,
        stops: false,
        harms: 1,
        ..CORE
    },
    Bounds {
        name: "two slices, the second waits, two judges",
        slices: 2,
        max_slices: 2,
        judges: 2,
        start: &[1],
        stops: false,
        ..CORE
    },
    Bounds {
        name: "standard: two slices, one judge",
        slices: 2,
        max_slices: 2,
        commits: 2,
        start: &[1],
        stops: false,
        assurance: Assurance::Standard,
        ..CORE
    },
    Bounds {
        name: "lite: two slices, one judge",
        slices: 2,
        max_slices: 2,
        commits: 2,
        start: &[1],
        stops: false,
        assurance: Assurance::Lite,
        ..CORE
    },
    Bounds {
        name: "plans that change",
        commits: 2,
        stops: false,
        plans: true,
        ..CORE
    },
    Bounds {
        name: "the user's own commands",
        commits: 1,
        stops: false,
        user_commands: true,
        ..CORE
    },
    Bounds {
        name: "undo",
        commits: 2,
        undo: 3,
        ..CORE
    },
    Bounds {
        name: "commands that must be trusted",
        commits: 2,
        commands: true,
        ..CORE
    },
    Bounds {
        name: "hostile reports",
        commits: 2,
        stops: false,
        hostile: true,
        ..CORE
    },
    Bounds {
        name: "imported state",
        start: &[],
        stops: false,
        imports: true,
        ..CORE
    },
    Bounds {
        name: "small budgets",
        start: &[1],
        commits: 2,
        stops: false,
        steps: 5,
        attempts: 1,
        ..CORE
    },
];

/// So many states of each workflow, nearest first, are looked at where nobody asks for more.
const NEAREST: usize = 1_000;

/// What is explored.
struct Extent {
    /// So many states of each workflow.
    most: usize,
    /// Words, one of which a workflow's name holds; none for all workflows.
    named: Option<String>,
}

/// `COOK_EXPLORE`: `whole` for every state of every workflow (`proofs/exploration.sh`), a number for so many of each,
/// other words for every state of the workflows so named (`undo,user`).
static EXTENT: LazyLock<Extent> = LazyLock::new(|| {
    let asked = std::env::var("COOK_EXPLORE").ok();
    let number = asked.as_ref().map(|asked| asked.parse());
    let most = match number {
        None => NEAREST,
        Some(Ok(number)) => number,
        Some(Err(_)) => usize::MAX,
    };
    let named = asked.filter(|asked| most == usize::MAX && asked != "whole");
    Extent { most, named }
});

static OUTCOMES: LazyLock<Vec<Outcome>> = LazyLock::new(|| {
    let only = EXTENT.named.as_deref().unwrap_or_default();
    let wanted = WORKFLOWS
        .iter()
        .rev()
        .filter(|bounds| only.split(',').any(|word| bounds.name.contains(word)));
    let left = Mutex::new(wanted.collect::<Vec<_>>());
    let seen = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(bounds) = { left.lock().unwrap().pop() } {
                    let outcome = explore(bounds, EXTENT.most);
                    println!(
                        "{:>7} states {:>8} transitions {:>8} refusals {:>6.1} s  {}",
                        outcome.states,
                        outcome.transitions,
                        outcome.refused,
                        outcome.time.as_secs_f64(),
                        outcome.name
                    );
                    seen.lock().unwrap().push(outcome);
                }
            });
        }
    });
    seen.into_inner().unwrap()
});

#[test]
fn the_prompt_of_a_role_holds_what_its_report_is_decided_by() {
    let found = OUTCOMES.iter().map(|outcome| &outcome.prompts);
    let lacks: BTreeSet<&String> = found.flat_map(|found| found.lacks.values()).collect();
    for lack in &lacks {
        println!("{lack}");
    }
    assert!(lacks.is_empty(), "{} fields", lacks.len());
    if EXTENT.named.is_some() {
        return;
    }
    let found = OUTCOMES.iter().map(|outcome| &outcome.prompts);
    let read: BTreeSet<&(Rule, String)> = found.flat_map(|found| &found.read).collect();
    for (rule, field) in &read {
        println!("rule {rule} is decided by {field}");
    }
    let is_read = |rule: Rule, field: &str| read.contains(&(rule, field.to_owned()));
    assert!(is_read(
        Rule::Reconcile,
        "ledger.slices.*.review.acceptable"
    ));
    assert!(is_read(Rule::Conclude, "ledger.wave.votes.*.can_stop"));
}

#[test]
fn from_every_state_done_and_a_stop_stay_reachable() {
    let is_whole = EXTENT.most == usize::MAX;
    for outcome in OUTCOMES.iter() {
        assert!(outcome.done > 0 || !is_whole, "{} never ends", outcome.name);
        assert!(
            !outcome.truncated || !is_whole,
            "{} is endless",
            outcome.name
        );
        assert!(
            outcome.lost.is_empty(),
            "{}: {} states cannot reach done, the first by {}",
            outcome.name,
            outcome.lost.len(),
            outcome.lost[0]
        );
        assert_eq!(outcome.restless, 0, "{} cannot stop", outcome.name);
    }
}

/// States drawn from all over the exploration read back as they were written.
#[test]
fn documents_read_back_as_they_were_written() {
    let mut read = 0;
    for (snapshot, _) in OUTCOMES.iter().flat_map(|outcome| &outcome.samples) {
        let text = serde_json::to_string(snapshot).unwrap();
        let again: Snapshot = serde_json::from_str(&text).unwrap();
        assert_eq!(&again, snapshot);
        read += 1;
    }
    assert!(read > 200, "only {read} states were read");
}

/// Honest work that goes well leads from states whose proofs came to harm to the end, and gives no slice up.
#[test]
fn an_honest_agent_reaches_done_where_proofs_came_to_harm() {
    for outcome in OUTCOMES.iter() {
        let mut harmed = WORKFLOWS.iter().filter(|bounds| bounds.harms > 0);
        let Some(bounds) = harmed.find(|bounds| bounds.name == outcome.name) else {
            continue;
        };
        for (snapshot, world) in &outcome.samples {
            let mut walk = walk::Walk::from(*bounds, snapshot.clone(), world.clone());
            walk.drive();
        }
    }
}

#[test]
fn generated_diagram_shows_what_was_seen() {
    let table = "../../protocol/state-diagram.md";
    let mut edges: diagram::Edges = OUTCOMES
        .iter()
        .flat_map(|outcome| outcome.edges.iter().copied())
        .collect();
    // Who looks at the nearest states alone has not seen every edge: what is drawn stays.
    if EXTENT.most < usize::MAX || EXTENT.named.is_some() {
        edges.extend(diagram::read(&std::fs::read_to_string(table).unwrap()));
    }
    generated::compare(
        "../../protocol/state-diagram.mmd",
        &diagram::diagram(&edges),
    );
    generated::compare(table, &diagram::table(&edges));
}

/// What is kept of a table that was drawn before is all of it.
#[test]
fn a_table_reads_back_as_it_was_drawn() {
    let table = std::fs::read_to_string("../../protocol/state-diagram.md").unwrap();
    let edges = diagram::read(&table);
    assert!(edges.len() > 100, "{}", edges.len());
    assert_eq!(diagram::table(&edges), table);
}

#[test]
fn every_rule_answers_somewhere() {
    for rule in Rule::ALL {
        assert!(
            OUTCOMES
                .iter()
                .any(|outcome| outcome.rules.contains_key(&rule)),
            "rule {rule} never answers"
        );
    }
}

/// Entries of the brief decide nothing, so the workflows here have none.
const TAKEN_IN: &str = "`cook init --from`, before there is a log";
const GOALS: &str = "tests/goal: no workflow here begins with a goal";
const BRIEF: &str = "tests/cli/brief_contract.rs and tests/cli/brief.rs";

/// Refusals that are not the machine's to make, with who makes them.
const ELSEWHERE: &[(Code, &str)] = &[
    (Code::GoalExists, GOALS),
    (Code::GoalNone, GOALS),
    (Code::GoalCheckGreen, GOALS),
    (Code::GoalCheckUnknown, GOALS),
    (Code::GoalDetached, GOALS),
    (Code::HiddenUnfit, GOALS),
    (Code::IssueUnknown, "`cook issue`, which moves no state"),
    (Code::GatesNotGreen, "`cook strength`, which moves no state"),
    (
        Code::TestsUndeclared,
        "the trials of a slice's commit, in `tests/trial/workflow.rs`",
    ),
    (
        Code::DefectReportUnread,
        "`cook strength --report`, which moves no state",
    ),
    (Code::IssueHeld, "`cook issue`, which moves no state"),
    (Code::IssueNotClosed, "`cook issue`, which moves no state"),
    (
        Code::IssueFollowsSlice,
        "`cook issue`, which moves no state",
    ),
    (Code::IssueDirty, "`cook issue`, which moves no state"),
    (Code::TrackerRefused, "`cook issue`, which moves no state"),
    (
        Code::ReopenElsewhere,
        "a scenario in `refused.rs`: no near state raises it",
    ),
    (
        Code::StaleTicket,
        "record compares the ticket before it asks the machine",
    ),
    (
        Code::StaleFacts,
        "the store, when the repository moves under a commit",
    ),
    (
        Code::HeadMoved,
        "record, when a ticket was given at another HEAD",
    ),
    (
        Code::RemoteAhead,
        "a push, where the remote holds what is not here",
    ),
    (
        Code::LogDiverged,
        "`cook pull --keep-mine`, which moves no state",
    ),
    (
        Code::SecretFound,
        "a push, before anything leaves this machine",
    ),
    (
        Code::PushUnconfirmed,
        "a first push that nobody said yes to",
    ),
    (Code::InsideRole, "the command line, in a role's session"),
    (
        Code::JudgeUncalibrated,
        "the driver, before anybody is started",
    ),
    (
        Code::JudgeMissesMuch,
        "the driver, before anybody is started",
    ),
    (
        Code::AuthorityBreached,
        "the driver, which writes it down as a refused report",
    ),
    (
        Code::Fenced,
        "the store, when the log has a higher lease epoch",
    ),
    (Code::SilentDrop, BRIEF),
    (Code::BriefEntryUnknown, BRIEF),
    (Code::BriefContradictory, BRIEF),
    (Code::BriefFull, BRIEF),
    (Code::BriefInvalid, BRIEF),
    (Code::BriefUnproved, BRIEF),
    (Code::BriefUnchanged, BRIEF),
    (
        Code::GuideMissing,
        "the command line, before an artifact brought one",
    ),
    (Code::PlanMalformed, TAKEN_IN),
    (Code::PlanEmpty, TAKEN_IN),
    (Code::PlanUnknown, TAKEN_IN),
    (Code::PlanAmbiguous, TAKEN_IN),
    (
        Code::FactMissing,
        "a defect, which the exploration looks for in every state",
    ),
];

#[test]
fn every_refusal_is_met() {
    let met: BTreeSet<Code> = OUTCOMES
        .iter()
        .flat_map(|outcome| outcome.codes.keys().copied())
        .collect();
    let missing: Vec<Code> = CATALOGUE
        .iter()
        .copied()
        .filter(|code| code.family() == Family::Refusal)
        .filter(|code| !met.contains(code) && !ELSEWHERE.iter().any(|(other, _)| other == code))
        .collect();
    assert_eq!(missing, [], "refusals that nothing provokes");
}
