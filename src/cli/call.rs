//! What every call of an agent has in common: its options, and the conversation it goes on from.

use super::context::{Answer, Context, answer};
use super::input;
use crate::drive;
use crate::service::Workspace;
use crate::view::ReplyAnswer;
use clap::{Args, ValueEnum};
use cook_agents::{AgentSupplier, Preset, Surroundings, settle_left};
use cook_core::diagnostic::{Code, Failure, FailureKind, Finding};
use cook_core::model::{Config, Span};
use cook_core::schema::GivenSchema;
use cook_os::process::Clocks;
use cook_store::session::{
    Action, Call, Entry, GitStore, NativeUse, On, Prior, Reason, Ref, RefKind, SessionError,
    SessionStore, call, resolve,
};
use serde::Deserialize;
use serde_json::Value;
use std::cell::RefCell;
use std::path::{Path, PathBuf};

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
