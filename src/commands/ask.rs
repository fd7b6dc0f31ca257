//! `cook ask` puts a question to one or several agents; `cook act` orders one to do something.

use super::context::*;
use crate::run;
use crate::view::refs_line;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use cook_agents::{AgentSupplier, Preset, Progress, Sandbox, Surroundings, settle_left};
use cook_protocol::diagnostic::PriorRefs;
use cook_protocol::model::RoleConfig;
use cook_protocol::schema::GivenSchema;
use cook_repo::process::{Clocks, ControlFlow};
use cook_repo::session::{
    Action, Call, ContentHash, Entry, NativeUse, On, Prior, Ref, RefKind, Reply, Transport, call,
    keeping, read_only_violated, resolve,
};

#[derive(Debug, Args)]
pub(super) struct AskArgs {
    /// Question to ask (`-` reads standard input)
    #[arg(required_unless_present = "request", allow_hyphen_values = true, value_parser = free_text)]
    pub say: Option<String>,
    /// Ask this agent [default: from `cook.toml`]
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Ask each of these agents without showing it the others' answers; an agent that is named twice gets
    /// two sessions
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', conflicts_with_all = ["agent", "request"])]
    pub each: Vec<String>,
    /// Read the request from a JSON object with `say`, `agent`, `on` and `schema` (`-` reads standard input)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["say", "agent", "on_episode", "on_series", "schema"])]
    pub request: Option<PathBuf>,
    #[command(flatten)]
    pub call: CallArgs,
}

#[derive(Debug, Args)]
pub(super) struct ActArgs {
    /// Task for the agent (`-` reads standard input)
    #[arg(value_name = "DO", allow_hyphen_values = true, value_parser = free_text)]
    pub say: String,
    /// Give the task to this agent [default: from `cook.toml`]
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    #[command(flatten)]
    pub call: CallArgs,
}

// The arguments of every call of an agent.
#[derive(Debug, Args)]
pub(super) struct CallArgs {
    /// Continue from this episode, as a new branch
    #[arg(long, value_name = "REF")]
    pub on_episode: Option<String>,
    /// Continue this series of episodes
    #[arg(long, value_name = "REF")]
    pub on_series: Option<String>,
    /// Require an answer in JSON that matches the JSON Schema in this file
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
    /// Continue from the agent's own record: `auto` if it is unchanged, `never`, or `require` to fail otherwise
    #[arg(long, default_value = "auto", value_parser = native_use())]
    pub native: NativeUse,
    /// Use this model [default: the agent's choice]
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Limit the time of a session, such as `90s` or `1h` [default: from `cook.toml`, else 45m]
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<String>,
    /// Limit the time without output [default: from `cook.toml`, else 15m]
    #[arg(long, value_name = "TIME")]
    pub idle_timeout: Option<String>,
    /// Refuse to continue if the worktree has changed since the conversation
    #[arg(long)]
    pub require_tree: bool,
}

fn native_use() -> impl TypedValueParser<Value = NativeUse> {
    PossibleValuesParser::new(["auto", "never", "require"]).map(|word| match word.as_str() {
        "never" => NativeUse::Never,
        "require" => NativeUse::Require,
        _ => NativeUse::Auto,
    })
}

/// The message, its agent and its context, from `cook ask --request` or from options.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    say: String,
    agent: Option<String>,
    #[serde(default)]
    on: Option<Onset>,
    schema: Option<Value>,
}

/// Exactly one field must be given, which the type does not enforce.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Onset {
    episode: Option<String>,
    series: Option<String>,
}

impl Request {
    /// Makes the request from options; `-` is standard input.
    fn new(say: &str, agent: Option<&String>, args: &CallArgs) -> Result<Self> {
        let (episode, series) = (args.on_episode.clone(), args.on_series.clone());
        let schema = args.schema.as_deref().map(|file| {
            let bytes = input::read(Some(file))?;
            serde_json::from_slice(&bytes).map_err(|error| refuse_schema(error.to_string()))
        });
        Ok(Self {
            say: input::read_argument(say)?,
            agent: agent.cloned(),
            on: (episode.is_some() || series.is_some()).then_some(Onset { episode, series }),
            schema: schema.transpose()?,
        })
    }
}

pub(super) fn ask(context: &Context, args: &AskArgs) -> Answer {
    context::not_nested()?;
    let request = match &args.request {
        Some(file) => serde_json::from_slice(&input::read(Some(file))?)
            .map_err(|error| Failure::usage(format!("the request cannot be read: {error}")))?,
        None => {
            let say = args.say.as_deref().unwrap_or("-");
            Request::new(say, args.agent.as_ref(), &args.call)?
        }
    };
    match args.each.is_empty() {
        true => call_one(context, request, &args.call, Action::Ask),
        false => ask_each(context, request, &args.each, &args.call),
    }
}

pub(super) fn act(context: &Context, args: &ActArgs) -> Answer {
    context::not_nested()?;
    let request = Request::new(&args.say, args.agent.as_ref(), &args.call)?;
    call_one(context, request, &args.call, Action::Act)
}

/// A checked call of one or more agents.
struct Prepared<'a> {
    say: String,
    on: Option<On>,
    schema: Option<GivenSchema>,
    args: &'a CallArgs,
    clocks: Clocks,
    config: &'a Config,
    sandbox: Option<Sandbox>,
    at: String,
    findings: Vec<Finding>,
}

impl<'a> Prepared<'a> {
    /// Chooses the agents before it compares worktrees: a failure for an unknown agent still names the refs from which
    /// the call can continue.
    fn new(
        workspace: &'a Workspace,
        store: &GitStore,
        request: Request,
        agents: &[Option<&str>],
        args: &'a CallArgs,
    ) -> Result<(Self, Vec<Preset>)> {
        if request.say.trim().is_empty() {
            return Err(Failure::usage("the message is empty"));
        }
        let mut findings = Vec::new();
        let on = request.on.as_ref();
        let on = on.map(|onset| find_onset(store, onset, &mut findings));
        let on = on.transpose()?;
        let schema = request.schema.map(GivenSchema::of).transpose();
        let schema = schema.map_err(refuse_schema)?;
        let clocks = read_clocks(workspace.config()?, args)?;
        let agents = agents.iter();
        let presets = agents.map(|agent| choose(workspace, store, *agent, on));
        let presets = presets.collect::<Result<Vec<Preset>>>()?;
        if let Some((what, prior)) = find_drift(workspace, store, on)? {
            if args.require_tree {
                let what = format!("the worktree changed after the conversation: {what}");
                let moved = Failure::new(FailureKind::Check, Code::TreeDrift, what);
                return Err(keeping(moved, prior));
            }
            findings.push(Finding::new(Code::TreeMoved, what));
        }
        let keeping = run::Keeping::of(workspace)?;
        findings.extend(keeping.warn_of_open());
        let prepared = Self {
            say: request.say,
            on,
            schema,
            args,
            clocks,
            config: workspace.config()?,
            sandbox: keeping.sandbox(&workspace.repo)?,
            at: workspace.clock.now(),
            findings,
        };
        Ok((prepared, presets))
    }

    fn call(&self, action: Action) -> Call<'_> {
        Call {
            say: &self.say,
            action,
            on: self.on,
            schema: self.schema.as_ref(),
            native: self.args.native,
            recap: None,
            at: &self.at,
        }
    }

    fn supplier<'r>(&self, preset: &Preset, repo: &'r Repo, store: &GitStore) -> AgentSupplier<'r> {
        let (root, model) = (repo.root(), &self.args.model);
        let mut supplier = AgentSupplier::new(preset.clone(), root, store.root(), self.clocks);
        supplier.repo = Some(repo);
        supplier.model.clone_from(model);
        supplier.bounds.price = self.config.price(preset.name(), model.as_deref());
        supplier.bounds.requests = self.config.requests();
        supplier.sandbox.clone_from(&self.sandbox);
        supplier
    }
}

fn choose(
    workspace: &Workspace,
    store: &GitStore,
    agent: Option<&str>,
    on: Option<On>,
) -> Result<Preset> {
    let known = run::choose(workspace, agent);
    let preset = known.and_then(|preset| run::fit_to_program(workspace, preset));
    preset.map_err(|mut failure| {
        if let (None, Some(on)) = (&failure.prior, on) {
            failure.prior = find_prior(store, on).ok().map(|(prior, _)| prior.into());
        }
        failure
    })
}

/// Opens the session store of this repository. Calls that a killed cook left behind are first ended and recorded.
pub(super) fn store(workspace: &Workspace) -> Result<GitStore> {
    let store = GitStore::open(workspace.place())?;
    settle_left(&store, &workspace.clock)?;
    Ok(store)
}

fn call_one(context: &Context, request: Request, args: &CallArgs, action: Action) -> Answer {
    let workspace = context.workspace()?;
    let store = store(&workspace)?;
    let agent = request.agent.clone();
    let (prepared, presets) =
        Prepared::new(&workspace, &store, request, &[agent.as_deref()], args)?;
    let mut supplier = prepared.supplier(&presets[0], &workspace.repo, &store);
    supplier.guard = Some(Box::new(|action| run::guard(&workspace, action)));
    // In a sandbox or with its own home, the agent may not see the user's git settings, so it gets the identity.
    if action == Action::Act {
        let identity = workspace.repo.identity()?.unwrap_or_default();
        let identity = identity.into_iter();
        supplier.env = identity
            .map(|(name, value)| (name.to_owned(), value.into()))
            .collect();
    }
    let screen = context.screen;
    supplier.watch = RefCell::new(Box::new(move |progress| {
        if let (true, Progress::Tool(tool)) = (screen.verbose, progress) {
            screen.note(&format!("tool: {tool}"));
        }
        ControlFlow::Continue
    }));
    let reply = call(&store, &supplier, &prepared.call(action)).map_err(|mut failure| {
        if let Some(failed) = supplier.last().and_then(|report| report.failure) {
            let reset = failed.reset_at.map(|at| format!("; again from {at}"));
            let class = format!("{:?}", failed.class).to_lowercase();
            let reset = reset.unwrap_or_default();
            failure.causes.push(format!("{class}{reset}"));
        }
        failure
    })?;
    let (refs, said) = (Refs::from(&reply), reply.answer);
    answer(ReplyAnswer {
        output: said.output,
        data: said.data,
        refs,
        hash: Hashes {
            exchange: reply.exchange_hash,
            episode: reply.episode_hash,
            series: reply.series_hash,
        },
        transport: reply.transport,
        attempts: reply.attempts,
        usage: said.usage,
        cost_usd: to_dollars(said.cost_micro_usd),
        recap: reply.recap,
        findings: prepared.findings,
        act: (action == Action::Act).then_some(Act {
            head_before: said.head_before,
            head_after: said.head_after,
            commits: said.commits,
            changed: said.changed,
        }),
        aside: refs.line(),
    })
}

/// How many agents are asked at once at most.
const MAX_MEMBERS: usize = 32;

/// A member's reply, or why it has none that counts.
type Outcome = Result<Reply, Box<Failure>>;

/// Asks each agent the same question, without the others' answers. An agent that is named twice is asked in two
/// sessions.
fn ask_each(context: &Context, request: Request, agents: &[String], args: &CallArgs) -> Answer {
    if agents.len() > MAX_MEMBERS {
        let what = format!("at most {MAX_MEMBERS} agents can be asked at once");
        return Err(Failure::usage(what));
    }
    if args.on_series.is_some() {
        let what = "several agents cannot continue one series; branch with `--on-episode`";
        return Err(Failure::usage(what));
    }
    let workspace = context.workspace()?;
    let store = store(&workspace)?;
    let named: Vec<Option<&str>> = agents.iter().map(|name| Some(name.as_str())).collect();
    let (prepared, presets) = Prepared::new(&workspace, &store, request, &named, args)?;
    // All members share one worktree, so it is compared once, after all of them have ended.
    let put_back = run::guard(&workspace, Action::Ask)?;
    let beside = presets.len() > 1;
    let root = workspace.repo.root();
    // Each member gets its own store, because threads cannot share one.
    let members: Vec<_> = presets
        .iter()
        .map(|preset| (preset, store.clone()))
        .collect();
    let asked = thread::on_each(&members, |(preset, store)| -> Outcome {
        let repo = Repo::discover(root)?;
        let supplier = prepared.supplier(preset, &repo, store);
        let reply = call(store, &supplier, &prepared.call(Action::Ask));
        Ok(reply.map_err(|error| accuse_nobody(error, beside))?)
    });
    let panicked = |_| Box::new(Failure::usage("the member's thread panicked"));
    let outcomes = asked
        .into_iter()
        .map(|outcome| outcome.map_err(panicked).flatten());
    let changed = put_back()?.unwrap_or_default();
    let outcomes: Vec<Outcome> = match changed.is_empty() {
        true => keep_independent(&store, outcomes),
        false => outcomes
            .map(|outcome| Err(Box::new(name_changes(outcome, &changed, beside))))
            .collect(),
    };
    let answered = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    let rows = agents.iter().cloned().zip(outcomes);
    answer(FanoutAnswer {
        answered,
        members: rows
            .map(|(agent, outcome)| MemberRow::new(agent, outcome))
            .collect(),
        findings: prepared.findings,
    })
}

/// If the worktree changed, no answer counts. Returns the failure for a member, whatever its outcome.
fn name_changes(outcome: Outcome, changed: &[String], beside: bool) -> Failure {
    let (prior, failed) = match outcome {
        Ok(reply) => (Some(Box::new(prior_refs(&reply))), None),
        Err(failure) if failure.code == Code::ReadOnlyViolated => (failure.prior, None),
        Err(failure) => (failure.prior, Some(failure.message)),
    };
    let mut failure = accuse_nobody(read_only_violated(changed, None), beside);
    failure.prior = prior;
    if let Some(failed) = failed {
        failure.message = format!("{}; {failed}", failure.message);
    }
    failure
}

fn prior_refs(reply: &Reply) -> PriorRefs {
    PriorRefs {
        episode: Some(reply.episode.to_string()),
        series: reply.series.map(|name| name.to_string()),
    }
}

/// If members ran at the same time in one worktree, the cause of a change is unknown; the failure says so.
fn accuse_nobody(mut failure: Failure, beside: bool) -> Failure {
    if beside && failure.code == Code::ReadOnlyViolated {
        failure.message.push_str(
            "; the members worked in one worktree at the same time, so it is unknown which of them did it",
        );
        let hint = "see `git status`; ask them one by one with `cook ask` to find out which";
        failure.hints = vec![hint.to_owned()];
    }
    failure
}

/// If two answers come from one session of an agent, the later one does not count.
fn keep_independent(store: &GitStore, outcomes: impl Iterator<Item = Outcome>) -> Vec<Outcome> {
    let mut sessions = BTreeSet::new();
    let keep = |outcome: Outcome| {
        let reply = outcome?;
        let entry = store.entry(reply.episode).ok().flatten();
        let session = entry.and_then(|entry| Some((entry.supplier, entry.exid?)));
        let Some(session) = session.filter(|session| !sessions.insert(session.clone())) else {
            return Ok(reply);
        };
        let what = format!("session {} also answered for another member", session.1);
        let mut failure = Failure::new(FailureKind::Supplier, Code::JudgeNotIndependent, what);
        failure.prior = Some(Box::new(prior_refs(&reply)));
        Err(Box::new(failure))
    };
    outcomes.map(keep).collect()
}

/// Returns the refs from which a call continues, and the stored entry of the episode.
fn find_prior(store: &GitStore, on: On) -> Result<(Prior, Option<Entry>)> {
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

/// Returns how the worktree differs from its state at the end of the conversation.
fn find_drift(
    workspace: &Workspace,
    store: &GitStore,
    on: Option<On>,
) -> Result<Option<(String, Prior)>> {
    let Some(on) = on else { return Ok(None) };
    let (prior, entry) = find_prior(store, on)?;
    let Some(entry) = entry.filter(|entry| entry.tree.is_some()) else {
        return Ok(None);
    };
    let now = Surroundings::of(&workspace.repo)?;
    let (was, is) = (entry.head.as_deref(), now.head());
    if was != is {
        let [was, is] = [was, is].map(|id| id.unwrap_or("no commit"));
        return Ok(Some((format!("HEAD was {was:.12} and is {is:.12}"), prior)));
    }
    let same = entry.tree == Some(now.tree_digest());
    Ok((!same).then(|| ("uncommitted files differ".to_owned(), prior)))
}

fn find_onset(store: &GitStore, onset: &Onset, findings: &mut Vec<Finding>) -> Result<On> {
    let mut find = |text, kind| find_ref(store, text, Some(kind), findings);
    match (&onset.episode, &onset.series) {
        (Some(episode), None) => find(episode, RefKind::Episode).map(On::Episode),
        (None, Some(series)) => find(series, RefKind::Series).map(On::Series),
        (episode, series) => {
            let named = |text: &Option<String>, kind| {
                let named = text.as_deref().map(|text| resolve(store, text, Some(kind)));
                named.and_then(Result::ok).map(|named| named.name)
            };
            let prior = Prior {
                episode: named(episode, RefKind::Episode),
                series: named(series, RefKind::Series),
            };
            let what = "name either an episode or a series to continue from";
            let conflict = Failure::new(FailureKind::Usage, Code::OnConflict, what);
            Err(keeping(conflict, prior))
        }
    }
}

/// Resolves a ref, and adds a finding if the choice needs a note.
pub(super) fn find_ref(
    store: &GitStore,
    text: &str,
    kind: Option<RefKind>,
    findings: &mut Vec<Finding>,
) -> Result<Ref> {
    let mut failure = match resolve(store, text, kind) {
        Ok(named) => {
            findings.extend(named.note.map(|note| Finding::new(Code::RefChosen, note)));
            return Ok(named.name);
        }
        Err(failure) => failure,
    };
    let missing = matches!(failure.code, Code::EpisodeNotFound | Code::SeriesNotFound);
    if missing && kind.is_none() {
        // The caller wants to look at the ref, not to continue from it.
        failure.hints = vec!["`cook session log` lists all of them".to_owned()];
    }
    if missing && store.is_expired(text).unwrap_or(false) {
        let expired = ": it expired, and `cook session gc` removed it";
        failure.message.push_str(expired);
    }
    Err(failure)
}

fn read_clocks(config: &Config, args: &CallArgs) -> Result<Clocks> {
    let default = config.roles.get("default").cloned().unwrap_or_default();
    let (wall, idle) = RoleConfig::clocks(&[&default]);
    let given = |name: &str, text: &Option<String>, default| match text {
        None => Ok(default),
        Some(text) => humantime::parse_duration(text)
            .map_err(|error| Failure::usage(format!("`{name} {text}`: {error}"))),
    };
    Ok(Clocks {
        wall: given("--timeout", &args.timeout, wall)?,
        idle: given("--idle-timeout", &args.idle_timeout, idle)?,
    })
}

fn refuse_schema(why: String) -> Failure {
    let what = format!("not a valid JSON Schema: {why}");
    Failure::new(FailureKind::Usage, Code::SchemaInvalid, what)
}

pub(super) const REF: &str = r"^(ex|ep|sr)_[0-9A-HJKMNP-TV-Z]{26}$";
const HASH: &str = "^sha256:[0-9a-f]{64}$";
const TRANSPORTS: [&str; 3] = ["fresh", "fork", "replay"];

/// Refs from which the conversation can continue.
#[derive(Debug, Clone, Copy, Serialize, schemars::JsonSchema)]
struct Refs {
    #[schemars(with = "String", regex(pattern = REF))]
    exchange: Ref,
    #[schemars(with = "String", regex(pattern = REF))]
    episode: Ref,
    #[schemars(with = "Option<String>", regex(pattern = REF))]
    series: Option<Ref>,
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

impl Refs {
    fn line(&self) -> Option<String> {
        let series = self.series.map(|name| name.to_string());
        refs_line(Some(&self.episode.to_string()), series.as_deref())
    }
}

/// Content hashes of the values that the refs name.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Hashes {
    #[schemars(with = "String", regex(pattern = HASH))]
    exchange: ContentHash,
    #[schemars(with = "String", regex(pattern = HASH))]
    episode: ContentHash,
    #[schemars(with = "Option<String>", regex(pattern = HASH))]
    series: Option<ContentHash>,
}

/// What was done to the repository.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Act {
    head_before: Option<String>,
    head_after: Option<String>,
    commits: Vec<String>,
    changed: Vec<String>,
}

/// An answer of an agent, with the refs from which the conversation can continue.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct ReplyAnswer {
    /// Final text of the answer.
    output: String,
    /// Data of the answer; null without a schema.
    data: Option<Value>,
    refs: Refs,
    hash: Hashes,
    /// Way in which the agent received the earlier conversation.
    #[schemars(with = "String", extend("enum" = TRANSPORTS))]
    transport: Transport,
    /// Number of requests until an answer matched the schema.
    #[schemars(range(min = 1))]
    attempts: u32,
    /// Tokens, as the agent counts them; null if unknown.
    #[schemars(with = "Option<Map<String, Value>>")]
    usage: Option<Value>,
    /// Cost in US dollars; null if unknown.
    #[schemars(range(min = 0))]
    cost_usd: Option<f64>,
    /// Summary at the start of the new episode, if a compaction began one.
    recap: Option<String>,
    findings: Vec<Finding>,
    /// `cook act` only: changes in the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    act: Option<Act>,
    #[serde(skip)]
    aside: Option<String>,
}

/// Converts to dollars; `None` if unknown.
fn to_dollars(micro_usd: Option<u64>) -> Option<f64> {
    micro_usd.map(|micro| micro as f64 / 1e6)
}

impl Show for ReplyAnswer {
    fn human(&self, page: &mut Page) {
        page.find(&self.findings);
        match &self.data {
            Some(data) => page.json(data),
            None => page.lines(self.output.trim_end()),
        }
        if let Some(act) = &self.act {
            act.commits
                .iter()
                .for_each(|commit| page.row("commit", commit));
            act.changed
                .iter()
                .for_each(|path| page.row("changed", path));
        }
    }

    fn aside(&self) -> Option<&str> {
        self.aside.as_deref()
    }
}

/// An agent of the fan-out, with its answer, or with the reason why no answer counts.
#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
struct MemberRow {
    agent: String,
    output: Option<String>,
    data: Option<Value>,
    refs: Option<Refs>,
    #[schemars(with = "Option<String>", extend("enum" = [TRANSPORTS[0], TRANSPORTS[1], TRANSPORTS[2], null]))]
    transport: Option<Transport>,
    #[schemars(with = "Option<Map<String, Value>>")]
    usage: Option<Value>,
    #[schemars(range(min = 0))]
    cost_usd: Option<f64>,
    error: Option<MemberFailure>,
}

/// Reason why the answer of an agent does not count.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct MemberFailure {
    code: Code,
    message: String,
    /// Next command or action.
    hint: Option<String>,
    /// Refs from which the conversation can still continue.
    prior: PriorRefs,
}

impl MemberRow {
    fn new(agent: String, outcome: Outcome) -> Self {
        let mut row = Self {
            agent,
            ..Self::default()
        };
        match outcome {
            Ok(reply) => {
                row.refs = Some(Refs::from(&reply));
                row.output = Some(reply.answer.output);
                row.data = reply.answer.data;
                row.transport = Some(reply.transport);
                row.usage = reply.answer.usage;
                row.cost_usd = to_dollars(reply.answer.cost_micro_usd);
            }
            Err(failure) => {
                row.error = Some(MemberFailure {
                    code: failure.code,
                    message: failure.message,
                    hint: failure.hints.into_iter().next(),
                    prior: failure
                        .prior
                        .map_or_else(PriorRefs::default, |prior| *prior),
                });
            }
        }
        row
    }

    fn lines(&self, page: &mut Page) {
        page.add_toned(Tone::Strong, &self.agent);
        let Some(failure) = &self.error else {
            let refs = self.refs.as_ref().and_then(Refs::line);
            page.add_toned_line(Tone::Dim, &format!("  {}", refs.unwrap_or_default()));
            return match (&self.data, &self.output) {
                (Some(data), _) => page.json_line(data),
                (None, output) => page.lines(output.as_deref().unwrap_or_default().trim_end()),
            };
        };
        page.add_toned(Tone::Bad, &format!("  {}", failure.code));
        page.line(&format!(": {}", failure.message));
        if let Some(hint) = &failure.hint {
            page.add_toned(Tone::Dim, "  next: ");
            page.line(hint);
        }
        let prior = &failure.prior;
        let refs = refs_line(prior.episode.as_deref(), prior.series.as_deref());
        refs.iter().for_each(|line| page.line(line));
    }
}

/// The same question to several agents.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(super) struct FanoutAnswer {
    answered: usize,
    /// Agents, in the order of the command line.
    members: Vec<MemberRow>,
    findings: Vec<Finding>,
}

impl Show for FanoutAnswer {
    fn human(&self, page: &mut Page) {
        page.find(&self.findings);
        self.members.iter().for_each(|row| row.lines(page));
        let (answered, all) = (self.answered, self.members.len());
        page.add_toned_line(Tone::Dim, &format!("{answered} of {all} answered"));
    }

    fn exit(&self) -> Exit {
        match self.answered {
            0 => Exit::Supplier,
            _ => Exit::Ok,
        }
    }
}
