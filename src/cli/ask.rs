//! `cook ask`, `cook act`: asks an agent or several, or orders one to do something.

use super::context::{Answer, Context, answer};
use super::input::free_text;
use super::{caller, input};
use crate::drive;
use crate::service::Workspace;
use crate::view::{Exit, Page, Show, Tone, refs_line};
use clap::{Args, ValueEnum};
use cook_agents::{AgentSupplier, Preset, Sandbox, Surroundings, settle_left};
use cook_core::diagnostic::{Code, Failure, FailureKind, Finding, PriorRefs};
use cook_core::model::{Config, Price, Span};
use cook_core::schema::GivenSchema;
use cook_git::Repo;
use cook_os::process::Clocks;
use cook_os::thread;
use cook_store::session::{
    Action, Call, ContentHash, Entry, GitStore, NativeUse, On, Prior, Reason, Ref, RefKind, Reply,
    SessionError, SessionStore, Transport, call, resolve,
};
use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use serde_json::Map;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(super) struct AskArgs {
    /// The question (`-` = standard input)
    #[arg(required_unless_present = "request", allow_hyphen_values = true, value_parser = free_text)]
    pub say: Option<String>,
    /// The agent
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Ask each of these agents the same, none seeing another's answer; one named twice is asked in two sessions
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', conflicts_with_all = ["agent", "request"])]
    pub each: Vec<String>,
    /// Everything in one JSON object: say, agent, on, schema (`-` = standard input)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["say", "agent", "on_episode", "on_series", "schema"])]
    pub request: Option<PathBuf>,
    #[command(flatten)]
    pub call: CallArgs,
}

/// `cook ask --request`: the same in one object.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    say: String,
    agent: Option<String>,
    on: Option<Onset>,
    schema: Option<Value>,
}

pub(super) fn ask(context: &Context, args: &AskArgs) -> Answer {
    caller::not_nested()?;
    if !args.each.is_empty() {
        let say = args.say.as_deref().unwrap_or("-");
        return ask_each(context, say, &args.each, &args.call);
    }
    let workspace = context.workspace()?;
    let store = store(&workspace)?;
    let (agent, prepared) = match &args.request {
        Some(file) => read_request(&workspace, &store, file, &args.call)?,
        None => {
            let say = words(args.say.as_deref().unwrap_or("-"))?;
            let prepared = prepare(&workspace, &store, say, &args.call)?;
            (args.agent.clone(), prepared)
        }
    };
    let preset = choose(&workspace, &store, agent.as_deref(), prepared.on)?;
    one(context, &workspace, &store, preset, prepared, Action::Ask)
}

fn read_request(
    workspace: &Workspace,
    store: &GitStore,
    file: &Path,
    args: &CallArgs,
) -> Result<(Option<String>, Prepared), Failure> {
    let bytes = input::read(Some(file))?;
    let request: Request = serde_json::from_slice(&bytes)
        .map_err(|error| Failure::usage(format!("the request cannot be read: {error}")))?;
    if request.say.trim().is_empty() {
        return Err(Failure::usage("there is nothing to say"));
    }
    let mut prepared = prepare(workspace, store, request.say, args)?;
    if let Some(onset) = &request.on {
        prepared.on = Some(on(store, onset, &mut prepared.findings)?);
    }
    prepared.schema = request.schema.map(make_schema).transpose()?;
    Ok((request.agent, prepared))
}

#[derive(Debug, Args)]
pub(super) struct ActArgs {
    /// The order (`-` = standard input)
    #[arg(value_name = "DO", allow_hyphen_values = true, value_parser = free_text)]
    pub say: String,
    /// The agent
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    #[command(flatten)]
    pub call: CallArgs,
}

pub(super) fn act(context: &Context, args: &ActArgs) -> Answer {
    caller::not_nested()?;
    let workspace = context.workspace()?;
    let store = store(&workspace)?;
    let say = words(&args.say)?;
    let prepared = prepare(&workspace, &store, say, &args.call)?;
    let preset = choose(&workspace, &store, args.agent.as_deref(), prepared.on)?;
    one(context, &workspace, &store, preset, prepared, Action::Act)
}

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

/// Whether an agent's own record may be gone on from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum NativeChoice {
    /// By a fork of it where it is still what it was, else by telling
    #[default]
    Auto,
    /// Always by telling
    Never,
    /// By a fork of it, or not at all
    Require,
}

/// What every call of an agent takes.
#[derive(Debug, Args)]
pub(super) struct CallArgs {
    /// Branch from this checkpoint
    #[arg(long, value_name = "REF")]
    pub on_episode: Option<String>,
    /// Go on in this series
    #[arg(long, value_name = "REF")]
    pub on_series: Option<String>,
    /// The answer must be JSON that fits this JSON Schema
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
    /// Whether the agent's own record may be gone on from
    #[arg(long, value_enum, default_value_t = NativeChoice::Auto)]
    pub native: NativeChoice,
    /// A model other than the agent's own choice
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// How long it may take in all
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<String>,
    /// How long it may be silent
    #[arg(long, value_name = "TIME")]
    pub idle_timeout: Option<String>,
    /// Refuse to go on when the worktree is not the one the conversation left
    #[arg(long)]
    pub require_tree: bool,
}

/// A call as its options say it, all of it checked.
pub(super) struct Prepared {
    pub say: String,
    pub on: Option<On>,
    pub schema: Option<GivenSchema>,
    pub native: NativeUse,
    pub model: Option<String>,
    pub clocks: Clocks,
    pub require_tree: bool,
    pub findings: Vec<Finding>,
}

impl Prepared {
    pub fn call<'a>(&'a self, action: Action, at: &'a str) -> Call<'a> {
        Call {
            say: &self.say,
            action,
            on: self.on,
            schema: self.schema.as_ref(),
            native: self.native,
            recap: None,
            at,
        }
    }
}

/// One of both, which the shape of JSON cannot say.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Onset {
    pub episode: Option<String>,
    pub series: Option<String>,
}

/// The agent; where there is none of that name, what the call was to go on from is still good.
pub(super) fn choose(
    workspace: &Workspace,
    store: &GitStore,
    agent: Option<&str>,
    on: Option<On>,
) -> Result<Preset, Failure> {
    let known = drive::choose(workspace, agent);
    let preset = known.and_then(|preset| drive::fit_to_program(workspace, preset));
    preset.map_err(|mut failure| {
        if let (None, Some(on)) = (&failure.prior, on) {
            failure.prior = prior(store, on).ok().map(|(prior, _)| prior.into());
        }
        failure
    })
}

/// The session store of this repository; calls of a cook that was killed are ended and
/// written down first.
pub(super) fn store(workspace: &Workspace) -> Result<GitStore, Failure> {
    let store = GitStore::open(workspace.place())?;
    settle_left(&store, &workspace.clock)?;
    Ok(store)
}

pub(super) fn one(
    context: &Context,
    workspace: &Workspace,
    store: &GitStore,
    preset: Preset,
    mut prepared: Prepared,
    action: Action,
) -> Answer {
    compare_tree(workspace, store, &mut prepared)?;
    let screen = context.screen;
    let config = workspace.config()?;
    let price = config.price(preset.name(), prepared.model.as_deref());
    let (root, clocks) = (workspace.repo.root(), prepared.clocks);
    let mut supplier = AgentSupplier::new(preset, root, store.root(), clocks);
    supplier.repo = Some(&workspace.repo);
    supplier.guard = Some(Box::new(|action| drive::guard(workspace, action)));
    supplier.model.clone_from(&prepared.model);
    supplier.price = price;
    supplier.bounds.requests = config.requests();
    // Its settings of git may be none of those that the user goes by: a home of its own, a sandbox.
    if action == Action::Act {
        let identity = workspace.repo.identity()?.unwrap_or_default();
        let identity = identity.into_iter();
        supplier.env = identity
            .map(|(name, value)| (name.to_owned(), value.into()))
            .collect();
    }
    let keeping = drive::Keeping::of(workspace)?;
    prepared.findings.extend(keeping.warn_of_open());
    supplier.sandbox = keeping.sandbox(&workspace.repo)?;
    supplier.watch = RefCell::new(Box::new(move |progress| {
        if let (true, cook_agents::Progress::Tool(tool)) = (screen.verbose, progress) {
            screen.note(&format!("tool: {tool}"));
        }
        cook_os::process::ControlFlow::Continue
    }));
    match call(
        store,
        &supplier,
        &prepared.call(action, &workspace.clock.now()),
    ) {
        Ok(reply) => answer(ReplyAnswer::of(
            reply,
            action == Action::Act,
            prepared.findings,
        )),
        Err(error) => {
            let mut failure = Failure::from(error);
            if let Some(failed) = supplier.last().and_then(|report| report.failure) {
                let reset = failed.reset_at.map(|at| format!("; again from {at}"));
                let class = format!("{:?}", failed.class).to_lowercase();
                failure
                    .causes
                    .push(format!("{class}{}", reset.unwrap_or_default()));
            }
            Err(failure)
        }
    }
}

/// Warns when the worktree is not the one that the conversation left, and refuses where that
/// is asked for.
pub(super) fn compare_tree(
    workspace: &Workspace,
    store: &GitStore,
    prepared: &mut Prepared,
) -> Result<(), Failure> {
    let Some((what, prior)) = drift(workspace, store, prepared.on)? else {
        return Ok(());
    };
    if prepared.require_tree {
        let moved = SessionError::from(Reason::TreeDrift(what));
        return Err(moved.keeping(prior).into());
    }
    prepared.findings.push(Finding::new(Code::TreeMoved, what));
    Ok(())
}

/// The refs that a call goes on from, and what is kept of the window.
fn prior(store: &GitStore, on: On) -> Result<(Prior, Option<Entry>), SessionError> {
    let (episode, series) = match on {
        On::Episode(name) => (Some(name), None),
        On::Series(name) => {
            let entry = store.entry(name)?;
            (entry.and_then(|entry| entry.episode), Some(name))
        }
    };
    let entry = episode.map(|name| store.entry(name)).transpose()?.flatten();
    let series = series.or_else(|| entry.as_ref().and_then(|entry| entry.series));
    Ok((Prior { episode, series }, entry))
}

/// Says how the worktree differs from the one that the conversation left.
fn drift(
    workspace: &Workspace,
    store: &GitStore,
    on: Option<On>,
) -> Result<Option<(String, Prior)>, Failure> {
    let Some(on) = on else { return Ok(None) };
    let (prior, entry) = prior(store, on)?;
    let Some(entry) = entry.filter(|entry| entry.tree.is_some()) else {
        return Ok(None);
    };
    let now = Surroundings::of(&workspace.repo)?;
    let short =
        |id: Option<&str>| id.map_or("no commit".to_owned(), |id| id.chars().take(12).collect());
    if entry.head.as_deref() != now.head() {
        let what = format!(
            "HEAD was {} and is {}",
            short(entry.head.as_deref()),
            short(now.head())
        );
        return Ok(Some((what, prior)));
    }
    let same = entry.tree == Some(now.tree_digest());
    Ok((!same).then(|| ("uncommitted files differ".to_owned(), prior)))
}

/// The words of an argument, or of standard input.
pub(super) fn words(text: &str) -> Result<String, Failure> {
    let text = match text {
        "-" => input::read_text(None)?,
        text => text.to_owned(),
    };
    if text.trim().is_empty() {
        return Err(Failure::usage("there is nothing to say"));
    }
    Ok(text)
}

pub(super) fn prepare(
    workspace: &Workspace,
    store: &GitStore,
    say: String,
    args: &CallArgs,
) -> Result<Prepared, Failure> {
    let schema = args.schema.as_deref().map(read_schema).transpose()?;
    let onset = Onset {
        episode: args.on_episode.clone(),
        series: args.on_series.clone(),
    };
    let mut findings = Vec::new();
    let on = match (&onset.episode, &onset.series) {
        (None, None) => None,
        _ => Some(on(store, &onset, &mut findings)?),
    };
    Ok(Prepared {
        say,
        on,
        schema,
        native: match args.native {
            NativeChoice::Auto => NativeUse::Auto,
            NativeChoice::Never => NativeUse::Never,
            NativeChoice::Require => NativeUse::Require,
        },
        model: args.model.clone(),
        clocks: clocks(workspace.config()?, args)?,
        require_tree: args.require_tree,
        findings,
    })
}

pub(super) fn on(
    store: &GitStore,
    onset: &Onset,
    findings: &mut Vec<Finding>,
) -> Result<On, Failure> {
    let (text, kind) = match (&onset.episode, &onset.series) {
        (Some(episode), None) => (episode, RefKind::Episode),
        (None, Some(series)) => (series, RefKind::Series),
        (episode, series) => {
            let named = |text: &Option<String>, kind| {
                let named = text.as_deref().map(|text| resolve(store, text, Some(kind)));
                named.and_then(Result::ok).map(|named| named.name)
            };
            let prior = Prior {
                episode: named(episode, RefKind::Episode),
                series: named(series, RefKind::Series),
            };
            return Err(SessionError::from(Reason::OnConflict).keeping(prior).into());
        }
    };
    let name = find_ref(store, text, Some(kind), findings)?;
    Ok(match kind {
        RefKind::Series => On::Series(name),
        _ => On::Episode(name),
    })
}

/// The ref that a text names, with a word on what was chosen or let go of.
pub(super) fn find_ref(
    store: &GitStore,
    text: &str,
    kind: Option<RefKind>,
    findings: &mut Vec<Finding>,
) -> Result<Ref, Failure> {
    match resolve(store, text, kind) {
        Ok(named) => {
            findings.extend(named.note.map(|note| Finding::new(Code::RefChosen, note)));
            Ok(named.name)
        }
        Err(error) => {
            let missing = matches!(*error.reason, Reason::NotFound(..));
            let expired = missing && store.is_expired(text).unwrap_or(false);
            let mut failure = Failure::from(error);
            if missing && kind.is_none() {
                // It was to be looked at, not to be gone on from.
                failure.hints = vec!["`cook session log` lists what there is".to_owned()];
            }
            if expired {
                failure.message = format!(
                    "{}: it expired and `cook session gc` let go of it",
                    failure.message
                );
            }
            Err(failure)
        }
    }
}

fn clocks(config: &Config, args: &CallArgs) -> Result<Clocks, Failure> {
    let sessions = &config.sessions;
    let given = |name: &str, text: &Option<String>, default: &Span| match text {
        None => Ok(default.length()),
        Some(text) => humantime::parse_duration(text)
            .map_err(|error| Failure::usage(format!("`{name} {text}`: {error}"))),
    };
    Ok(Clocks {
        wall: given("--timeout", &args.timeout, &sessions.timeout)?,
        idle: given("--idle-timeout", &args.idle_timeout, &sessions.idle_timeout)?,
    })
}

fn read_schema(file: &Path) -> Result<GivenSchema, Failure> {
    let bytes = input::read(Some(file))?;
    make_schema(serde_json::from_slice(&bytes).map_err(|error| no_schema(error.to_string()))?)
}

pub(super) fn make_schema(value: Value) -> Result<GivenSchema, Failure> {
    GivenSchema::of(value).map_err(no_schema)
}

fn no_schema(why: String) -> Failure {
    Failure::new(
        FailureKind::Usage,
        Code::SchemaInvalid,
        format!("not a valid JSON Schema: {why}"),
    )
}

/// Names to go on from.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Refs {
    #[cfg_attr(
        feature = "schema",
        schemars(with = "String", regex(pattern = r"^ex_[0-9A-HJKMNP-TV-Z]{26}$"))
    )]
    exchange: Ref,
    #[cfg_attr(
        feature = "schema",
        schemars(with = "String", regex(pattern = r"^ep_[0-9A-HJKMNP-TV-Z]{26}$"))
    )]
    episode: Ref,
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "Option<String>",
            regex(pattern = r"^sr_[0-9A-HJKMNP-TV-Z]{26}$")
        )
    )]
    series: Option<Ref>,
}

impl Refs {
    fn line(&self) -> Option<String> {
        let series = self.series.map(|name| name.to_string());
        refs_line(Some(&self.episode.to_string()), series.as_deref())
    }
}

impl From<&Reply> for Refs {
    fn from(reply: &Reply) -> Self {
        Self {
            exchange: reply.exchange,
            episode: reply.episode,
            series: reply.series,
        }
    }
}

/// Fingerprints of what the refs name.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hashes {
    #[cfg_attr(
        feature = "schema",
        schemars(with = "String", regex(pattern = "^sha256:[0-9a-f]{64}$"))
    )]
    exchange: ContentHash,
    #[cfg_attr(
        feature = "schema",
        schemars(with = "String", regex(pattern = "^sha256:[0-9a-f]{64}$"))
    )]
    episode: ContentHash,
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<String>", regex(pattern = "^sha256:[0-9a-f]{64}$"))
    )]
    series: Option<ContentHash>,
}

/// What was done to the repository.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Act {
    head_before: Option<String>,
    head_after: Option<String>,
    commits: Vec<String>,
    changed: Vec<String>,
}

/// An answer of an agent, with the refs to go on from.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplyAnswer {
    /// The final text.
    output: String,
    /// The data, when a schema was given; null otherwise.
    data: Option<Value>,
    refs: Refs,
    hash: Hashes,
    /// How what came before reached the agent.
    #[cfg_attr(feature = "schema", schemars(with = "String", extend("enum" = TRANSPORTS)))]
    transport: Transport,
    /// Answers that were asked for until one fitted the schema.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    attempts: u32,
    /// Tokens as the agent counts them; null = unknown.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Map<String, Value>>"))]
    usage: Option<Value>,
    /// US dollars; null = unknown, which is not 0.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    cost_usd: Option<f64>,
    /// What the new episode begins with, when a compaction began one.
    recap: Option<String>,
    findings: Vec<Finding>,
    /// `cook act` only: what changed in the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    act: Option<Act>,
    #[serde(skip)]
    aside: Option<String>,
}

#[cfg(feature = "schema")]
const TRANSPORTS: [&str; 3] = ["fresh", "fork", "replay"];

impl ReplyAnswer {
    /// What came back; `is_act`: something was ordered to be done.
    pub fn of(reply: Reply, is_act: bool, findings: Vec<Finding>) -> Self {
        let (refs, answer) = (Refs::from(&reply), reply.answer);
        Self {
            output: answer.output,
            data: answer.data,
            refs,
            hash: Hashes {
                exchange: reply.exchange_hash,
                episode: reply.episode_hash,
                series: reply.series_hash,
            },
            transport: reply.transport,
            attempts: reply.attempts,
            usage: answer.usage,
            cost_usd: to_dollars(answer.cost_micro_usd),
            recap: reply.recap,
            findings,
            act: is_act.then_some(Act {
                head_before: answer.head_before,
                head_after: answer.head_after,
                commits: answer.commits,
                changed: answer.changed,
            }),
            aside: refs.line(),
        }
    }
}

/// Dollars, where they are known.
fn to_dollars(micro_usd: Option<u64>) -> Option<f64> {
    micro_usd.map(|micro| micro as f64 / 1e6)
}

impl Show for ReplyAnswer {
    fn human(&self, page: &mut Page) {
        match &self.data {
            Some(data) => page.json(data),
            None => page.lines(self.output.trim_end()),
        }
        if let Some(act) = &self.act {
            for commit in &act.commits {
                page.row("commit", commit);
            }
            for path in &act.changed {
                page.row("changed", path);
            }
        }
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }

    fn aside(&self) -> Option<&str> {
        self.aside.as_deref()
    }
}

/// One member of a fan-out: its answer, or why there is none that counts.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemberRow {
    agent: String,
    output: Option<String>,
    data: Option<Value>,
    refs: Option<Refs>,
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>", extend("enum" = [TRANSPORTS[0], TRANSPORTS[1], TRANSPORTS[2], null])))]
    transport: Option<Transport>,
    #[cfg_attr(feature = "schema", schemars(with = "Option<Map<String, Value>>"))]
    usage: Option<Value>,
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    cost_usd: Option<f64>,
    error: Option<MemberFailure>,
}

impl MemberRow {
    /// What came of asking an agent.
    pub fn of(agent: String, outcome: Result<Reply, MemberFailure>) -> Self {
        match outcome {
            Ok(reply) => Self {
                agent,
                refs: Some(Refs::from(&reply)),
                output: Some(reply.answer.output),
                data: reply.answer.data,
                transport: Some(reply.transport),
                usage: reply.answer.usage,
                cost_usd: to_dollars(reply.answer.cost_micro_usd),
                error: None,
            },
            Err(failure) => Self {
                agent,
                error: Some(failure),
                ..Self::default()
            },
        }
    }
}

/// Why the answer of a member does not count.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemberFailure {
    /// Code of the catalogue.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// The refs that are still good.
    pub prior: PriorRefs,
}

/// The same question to several agents.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FanoutAnswer {
    answered: usize,
    /// In the order in which they were named.
    members: Vec<MemberRow>,
    findings: Vec<Finding>,
}

impl FanoutAnswer {
    /// The members, and what was noticed on the way.
    pub fn of(members: Vec<MemberRow>, findings: Vec<Finding>) -> Self {
        Self {
            answered: members.iter().filter(|row| row.error.is_none()).count(),
            members,
            findings,
        }
    }
}

impl Show for FanoutAnswer {
    fn human(&self, page: &mut Page) {
        for row in &self.members {
            page.add_toned(Tone::Strong, &row.agent);
            if let Some(failure) = &row.error {
                page.add_toned(Tone::Bad, &format!("  {}", failure.code));
                page.line(&format!(": {}", failure.message));
                if let Some(hint) = &failure.hint {
                    page.add_toned(Tone::Dim, "  next: ");
                    page.line(hint);
                }
                let prior = &failure.prior;
                let refs = refs_line(prior.episode.as_deref(), prior.series.as_deref());
                refs.iter().for_each(|line| page.line(line));
                continue;
            }
            let refs = row.refs.as_ref().and_then(Refs::line);
            page.add_toned_line(Tone::Dim, &format!("  {}", refs.unwrap_or_default()));
            match (&row.data, &row.output) {
                (Some(data), _) => page.json_line(data),
                (None, output) => page.lines(output.as_deref().unwrap_or_default().trim_end()),
            }
        }
        page.add_toned_line(
            Tone::Dim,
            &format!("{} of {} answered", self.answered, self.members.len()),
        );
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }

    fn exit(&self) -> Exit {
        if self.answered == 0 {
            Exit::Supplier
        } else {
            Exit::Ok
        }
    }
}
