//! `cook ask --each`: the same question to several agents from the same checkpoint.

use super::call::{CallArgs, Prepared, choose, compare_tree, prepare, store, words};
use super::context::{Answer, Context, answer};
use crate::drive;
use crate::service::Workspace;
use crate::view::{FanoutAnswer, MemberFailure, MemberRow};
use cook_agents::{AgentSupplier, Preset, Sandbox};
use cook_core::diagnostic::{Code, Failure, PriorRefs};
use cook_core::model::{Config, Price};
use cook_git::Repo;
use cook_os::thread;
use cook_store::session::{Action, GitStore, Reason, Reply, SessionError, SessionStore, call};
use std::collections::BTreeSet;

/// Agents that are asked at once at most.
const MAX_MEMBERS: usize = 32;

/// What a member said, or why it does not count.
type Outcome = Result<Reply, MemberFailure>;

/// Asks each agent the same, none seeing another's answer; one that is named twice is asked in two sessions.
pub(super) fn ask_each(context: &Context, say: &str, agents: &[String], args: &CallArgs) -> Answer {
    let workspace = context.workspace()?;
    let store = store(&workspace)?;
    if agents.len() > MAX_MEMBERS {
        return Err(Failure::usage(format!(
            "at most {MAX_MEMBERS} agents are asked at once"
        )));
    }
    if args.on_series.is_some() {
        return Err(Failure::usage(
            "several agents cannot go on in one series; branch with `--on-episode`",
        ));
    }
    let mut prepared = prepare(&workspace, &store, words(say)?, args)?;
    let presets = agents
        .iter()
        .map(|name| choose(&workspace, &store, Some(name), prepared.on))
        .collect::<Result<Vec<Preset>, Failure>>()?;
    compare_tree(&workspace, &store, &mut prepared)?;
    let config = workspace.config()?;
    let keeping = drive::Keeping::of(&workspace)?;
    prepared.findings.extend(keeping.warn_of_open());
    let sandbox = keeping.sandbox(&workspace.repo)?;
    // All work in one worktree: what changed there is looked for once, when all of them ended.
    let put_back = drive::guard(&workspace, Action::Ask)?;
    let outcomes = ask_all(
        &workspace,
        config,
        &store,
        &presets,
        &prepared,
        sandbox.as_ref(),
    );
    let changed = put_back()?.unwrap_or_default();
    let outcomes = match changed.is_empty() {
        true => keep_independent(&store, outcomes),
        false => {
            let beside = outcomes.len() > 1;
            let name = |outcome| Err(name_changes(outcome, &changed, beside));
            outcomes.into_iter().map(name).collect()
        }
    };
    let rows = agents.iter().cloned().zip(outcomes);
    let members = rows.map(|(agent, outcome)| MemberRow::of(agent, outcome));
    answer(FanoutAnswer::of(members.collect(), prepared.findings))
}

fn ask_all(
    workspace: &Workspace,
    config: &Config,
    store: &GitStore,
    presets: &[Preset],
    prepared: &Prepared,
    sandbox: Option<&Sandbox>,
) -> Vec<Outcome> {
    let at = workspace.clock.now();
    let root = workspace.repo.root();
    let beside = presets.len() > 1;
    // One for each member: a store is not shared between threads.
    let members: Vec<_> = presets
        .iter()
        .map(|preset| {
            let price = config.price(preset.name(), prepared.model.as_deref());
            let member = Member {
                preset,
                price,
                requests: config.requests(),
                sandbox,
            };
            (member, store.clone())
        })
        .collect();
    let asked = thread::on_each(&members, |(member, store)| {
        ask_one(root, store, member, prepared, &at, beside)
    });
    let panicked = || Err(to_failure(&Failure::usage("the member's thread panicked")));
    asked
        .into_iter()
        .map(|outcome| outcome.unwrap_or_else(|_| panicked()))
        .collect()
}

/// Who is asked, and within what.
struct Member<'a> {
    preset: &'a Preset,
    price: Option<Price>,
    requests: Option<u64>,
    sandbox: Option<&'a Sandbox>,
}

fn ask_one(
    root: &std::path::Path,
    store: &GitStore,
    member: &Member,
    prepared: &Prepared,
    at: &str,
    beside: bool,
) -> Outcome {
    let repo = Repo::discover(root).map_err(|failure| to_failure(&failure))?;
    let clocks = prepared.clocks;
    let mut supplier = AgentSupplier::new(member.preset.clone(), root, store.root(), clocks);
    supplier.repo = Some(&repo);
    supplier.model.clone_from(&prepared.model);
    supplier.price = member.price;
    supplier.bounds.requests = member.requests;
    supplier.sandbox = member.sandbox.cloned();
    call(store, &supplier, &prepared.call(Action::Ask, at))
        .map_err(|error| to_failure(&without_accusing(error.into(), beside)))
}

/// Of a question that changed something no answer counts, whatever became of its agent.
fn name_changes(outcome: Outcome, changed: &[String], beside: bool) -> MemberFailure {
    let (prior, failed) = match outcome {
        Ok(reply) => (
            PriorRefs {
                episode: Some(reply.episode.to_string()),
                series: reply.series.map(|name| name.to_string()),
            },
            None,
        ),
        Err(failure) if failure.code == Code::ReadOnlyViolated.id() => (failure.prior, None),
        Err(failure) => (failure.prior, Some(failure.message)),
    };
    let reason = Reason::ReadOnlyViolated(changed.to_vec(), None);
    let mut failure = without_accusing(SessionError::from(reason).into(), beside);
    failure.prior = Some(Box::new(prior));
    if let Some(failed) = failed {
        failure.message = format!("{}; {failed}", failure.message);
    }
    to_failure(&failure)
}

/// Members are asked at once in one worktree: what changed there while one of them worked is
/// anyone's doing, and none is accused.
fn without_accusing(mut failure: Failure, beside: bool) -> Failure {
    if beside && failure.code == Code::ReadOnlyViolated {
        failure.message = format!(
            "{}; the members were asked at once in one worktree, so which of them did it cannot be told",
            failure.message
        );
        failure.hints = vec![
            "look with `git status`; asking them one by one with `cook ask` tells who does it"
                .to_owned(),
        ];
    }
    failure
}

fn to_failure(failure: &Failure) -> MemberFailure {
    MemberFailure {
        code: failure.code.id().to_owned(),
        message: failure.message.clone(),
        hint: failure.hints.first().cloned(),
        prior: failure.prior.as_deref().cloned().unwrap_or_default(),
    }
}

/// Of two answers out of one session of an agent's, the later does not count.
fn keep_independent(store: &GitStore, outcomes: Vec<Outcome>) -> Vec<Outcome> {
    let mut sessions = BTreeSet::new();
    outcomes
        .into_iter()
        .map(|outcome| {
            let reply = outcome?;
            let entry = store.entry(reply.episode).ok().flatten();
            let session = entry.and_then(|entry| Some((entry.supplier, entry.exid?)));
            match session {
                Some(session) if !sessions.insert(session.clone()) => Err(MemberFailure {
                    code: Code::JudgeNotIndependent.id().to_owned(),
                    message: format!("session {} answered another member too", session.1),
                    hint: Some(Code::JudgeNotIndependent.hint().to_owned()),
                    prior: PriorRefs {
                        episode: Some(reply.episode.to_string()),
                        series: reply.series.map(|name| name.to_string()),
                    },
                }),
                _ => Ok(reply),
            }
        })
        .collect()
}
