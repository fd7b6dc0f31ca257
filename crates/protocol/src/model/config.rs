//! `.agent/cook.toml`: gates, limits, rules and roles. Every key has a default; an unknown key is an error that
//! names the nearest known key.

use super::agent::{Access, AgentTable};
use super::evidence::Place;
use super::setting::{
    AgentName, CachePath, Command, CommandLine, Commands, Dollars, LogRefs, Pattern, RepoPath,
    RoleKey, SocketPath, Span, VariableName, nearest,
};
use super::strength_note::{Share, StrengthRule};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::time::Duration;

/// The agent that plays a role, and its settings.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct RoleConfig {
    pub agent: Option<String>,
    /// The model of `agent`; other agents do not know the name.
    pub model: Option<String>,
    /// The models of other agents, by agent.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<AgentName, String>,
    pub access: Option<Access>,
    pub timeout: Option<Span>,
    pub idle_timeout: Option<Span>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fallback: Vec<String>,
    /// Only for the stop-judge: agents that take turns, so that the votes of a wave do not all come from one model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
}

/// A gate: a command that cook runs itself, without a shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateTable {
    /// The command.
    pub run: CommandLine,
    /// The time limit; `20m` by default.
    #[serde(default = "gate_timeout")]
    pub timeout: Span,
    /// Whether a red result is a must-fix finding; otherwise it is only a finding.
    #[serde(default = "yes")]
    pub required: bool,
    /// Whether it may use the network in a sandbox.
    #[serde(default)]
    pub network: bool,
    /// Where it runs. In the worktree, a red result stops the work, and a green one proves nothing.
    #[serde(default = "clean_room")]
    pub place: Place,
    /// The folder in which it runs; the root by default.
    #[serde(default)]
    pub dir: Option<RepoPath>,
    /// The paths that it checks: `cook check` skips it if none of them changed. If empty, it checks everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<Pattern>,
}

/// The value of a field that only older logs hold: it is read, whatever it is, and not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gone;

impl<'de> Deserialize<'de> for Gone {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        serde::de::IgnoredAny::deserialize(from).map(|_| Self)
    }
}

/// A gate with its name, and with its timeout as a number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateSpec {
    /// Its name in `cook.toml`, or the command itself if a plan names it.
    pub name: String,
    /// The command.
    pub run: String,
    /// The time limit in milliseconds.
    pub timeout_ms: u64,
    /// Whether a red result is a must-fix finding.
    pub required: bool,
    /// See [`Gone`].
    #[serde(default, skip_serializing)]
    pub must_fail_at_basis: Gone,
    /// Whether it may use the network in a sandbox.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
    /// Where it runs.
    pub place: Place,
    /// The folder in which it runs, relative to the root; empty for the root.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub dir: String,
    /// The paths that it checks; if empty, it checks everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
}

impl GateSpec {
    /// Converts a path from the root to one relative to the gate's folder; `None` if it lies elsewhere.
    pub fn inside<'p>(&self, path: &'p str) -> Option<&'p str> {
        match self.dir.as_str() {
            "" => Some(path),
            dir => path.strip_prefix(dir)?.strip_prefix('/'),
        }
    }

    /// Converts a path relative to the gate's folder to one from the root.
    pub fn from_root(&self, path: &str) -> String {
        match self.dir.as_str() {
            "" => path.to_owned(),
            dir => format!("{dir}/{path}"),
        }
    }
}

fn gate_timeout() -> Span {
    Span::of("20m")
}
fn yes() -> bool {
    true
}
fn clean_room() -> Place {
    Place::CleanRoom
}

/// `[rules]`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rules {
    /// Globs of paths that only a slice which names them may change.
    pub protected: Vec<Pattern>,
    /// Whether read-only roles run in a throwaway worktree.
    pub isolate_readonly: bool,
    /// Whether judges run in parallel.
    pub parallel_judges: bool,
    /// Whether the last open slice is audited under `lite`.
    pub audit: bool,
    /// Under `standard`, the number of accepted slices after which an audit is due, in addition to that of the last
    /// slice; `None` for that one alone.
    pub audit_every: Option<NonZeroU64>,
    /// How planted defects that no gate notices are treated.
    pub strength: StrengthRule,
    /// The share of planted faults that an agent must have caught to review, audit or judge in a run; 0 requires
    /// nothing.
    pub min_catch_rate: Share,
}

/// The issue tracker to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum TrackerKind {
    #[default]
    Auto,
    None,
    Br,
    Bd,
}

/// When `CONTINUE.md` is written without a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BriefSync {
    /// After every change of the brief.
    Always,
    /// Only with `--write`.
    #[default]
    Manual,
}

/// `[brief]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BriefSettings {
    /// When the file is written.
    pub sync: BriefSync,
}

/// The file that holds the brief, in the worktree.
pub const BRIEF_FILE: &str = "CONTINUE.md";

/// `[limits]` as the file holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct LimitsTable {
    attempts_per_slice: NonZeroU64,
    steps: NonZeroU64,
    wall: Span,
    cost_usd: Dollars,
    /// The tokens of all calls of unknown cost; 0 = no limit.
    tokens: u64,
    /// The requests to a model in one session; 0 = no limit.
    requests: u64,
}

impl Default for LimitsTable {
    fn default() -> Self {
        Self {
            attempts_per_slice: ATTEMPTS_PER_SLICE,
            steps: STEPS,
            wall: Span::of("8h"),
            cost_usd: Dollars(25.0),
            tokens: 100_000_000,
            requests: 1_000,
        }
    }
}

/// `[hooks]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Hooks {
    /// If false, no hook acts in this repository.
    pub enabled: bool,
    /// If false, the digest of a prompt is kept instead of its text.
    pub keep_prompts: bool,
}

impl Default for Hooks {
    fn default() -> Self {
        Self {
            enabled: true,
            keep_prompts: true,
        }
    }
}

/// `[notify]`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Notify {
    /// A command that gets each change of the policy on stdin, as JSON.
    pub run: Option<CommandLine>,
}

/// `[strength]`: the budget of `cook strength`, and the share that a slice requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StrengthBudget {
    /// The minutes after which no further defect is started.
    pub minutes: u32,
    /// The maximum number of planted defects.
    pub mutants: u32,
    /// The share of defects that gates must notice under `[rules] strength = "require"`.
    pub minimum: Share,
}

impl Default for StrengthBudget {
    fn default() -> Self {
        Self {
            minutes: 10,
            mutants: 40,
            minimum: Share::of_thousandths(700),
        }
    }
}

/// `[prices.*]`: prices in US dollars per million tokens, for agents that do not report their cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// The price of input tokens.
    pub input: Dollars,
    /// The price of output tokens.
    pub output: Dollars,
    /// The price of input tokens that were read from a cache; that of `input` by default.
    #[serde(default)]
    pub cached: Option<Dollars>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct TrackerTable {
    kind: TrackerKind,
}

/// `[tests]`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TestSettings {
    /// Paths that hold tests although their names do not say so: files, directories, or patterns with `*`.
    pub paths: Vec<String>,
}

/// How `cook check` treats a test that ran at the base and does not run now, although its old version would pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LostTests {
    /// The test is shown.
    #[default]
    Show,
    /// The result is false unless a commit declares the change.
    Refuse,
}

/// `[check]`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CheckSettings {
    /// The names of tests that are known to be red.
    pub known_red: Vec<String>,
    /// How tests that no longer run are treated.
    pub lost: LostTests,
}

/// The whole file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The gates by name.
    #[serde(deserialize_with = "gates")]
    pub gates: BTreeMap<String, GateTable>,
    /// `[clean_room]`.
    pub clean_room: CleanRoom,
    limits: LimitsTable,
    /// `[rules]`.
    pub rules: Rules,
    /// `[sandbox]`.
    pub sandbox: Sandbox,
    /// `[roles.*]`.
    #[serde(deserialize_with = "roles")]
    pub roles: BTreeMap<RoleKey, RoleConfig>,
    /// `[brief]`.
    pub brief: BriefSettings,
    tracker: TrackerTable,
    /// `[hooks]`.
    pub hooks: Hooks,
    /// `[agents.*]`: the user's own agents, and changes to presets.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<AgentName, AgentTable>,
    /// `[log]`.
    pub log: LogSettings,
    /// `[notify]`.
    pub notify: Notify,
    /// `[strength]`.
    pub strength: StrengthBudget,
    /// `[tests]`; of a change, that of its base counts.
    pub tests: TestSettings,
    /// `[check]`; of a change, that of its base counts.
    pub check: CheckSettings,
    /// `[prices.*]`, by agent or model.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub prices: BTreeMap<String, Price>,
}

/// The maximum number of gates, because each is checked, trusted and run separately.
const MOST_GATES: usize = 500;

fn gates<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, GateTable>, D::Error> {
    let gates = BTreeMap::<String, GateTable>::deserialize(from)?;
    match gates.len() > MOST_GATES {
        true => Err(D::Error::custom(format!(
            "{} gates, and at most {MOST_GATES} can be named",
            gates.len()
        ))),
        false => Ok(gates),
    }
}

impl RoleConfig {
    /// Returns the time limit of a session, and how long its agent may be silent. The first of these roles that
    /// sets a value decides. The silence may last as long as the longest run of a tool.
    pub fn clocks(of: &[&Self]) -> (Duration, Duration) {
        let first = |span: fn(&Self) -> &Option<Span>, default: &str| {
            let named = of.iter().find_map(|role| span(role).as_ref());
            named.map_or_else(|| Span::of(default).length(), Span::length)
        };
        (
            first(|role| &role.timeout, "45m"),
            first(|role| &role.idle_timeout, "15m"),
        )
    }
}

/// Reads `[roles]`. Only the stop-judge may have `agents`, and then neither `agent` nor `model`.
fn roles<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<RoleKey, RoleConfig>, D::Error> {
    let roles = BTreeMap::<RoleKey, RoleConfig>::deserialize(from)?;
    for (name, role) in roles.iter().filter(|(_, role)| !role.agents.is_empty()) {
        if &**name != "stop-judge" {
            return Err(D::Error::custom(format!(
                "{name}.agents: only judges take turns; name one `agent`, and others as `fallback`"
            )));
        }
        if role.model.is_some() {
            return Err(D::Error::custom(format!(
                "{name} names `agents` and one `model`: `models = {{ AGENT = \"MODEL\" }}` names one for each"
            )));
        }
        if role.agent.is_some() {
            return Err(D::Error::custom(format!(
                "{name} names both `agent` and `agents`"
            )));
        }
    }
    Ok(roles)
}

impl Config {
    /// Parses the text of the file.
    ///
    /// # Errors
    /// One line with the file, line, column, key, problem, and the nearest known key.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file = toml::Deserializer::parse(text).map_err(|error| describe("", &error, text))?;
        serde_path_to_error::deserialize(file)
            .map_err(|error| describe(&error.path().to_string(), error.inner(), text))
    }

    /// Returns the budgets.
    pub fn limits(&self) -> Limits {
        Limits {
            attempts_per_slice: Some(self.limits.attempts_per_slice.get()),
            steps: Some(self.limits.steps.get()),
            wall: Some(self.limits.wall.clone().into()),
            cost_micro_usd: Some((self.limits.cost_usd.0 * 1_000_000.0) as u64),
        }
    }

    /// Returns the wall-time limit of one run.
    pub fn wall(&self) -> Duration {
        self.limits.wall.length()
    }

    /// Returns the limit on the tokens of all calls of unknown cost; `None` if there is no limit.
    pub fn tokens(&self) -> Option<u64> {
        (self.limits.tokens > 0).then_some(self.limits.tokens)
    }

    /// Returns the limit on the requests to a model in one session; `None` if there is no limit.
    pub fn requests(&self) -> Option<u64> {
        (self.limits.requests > 0).then_some(self.limits.requests)
    }

    /// Returns the model that an agent uses in a role. A model belongs to the agent in the same table: a fallback,
    /// or an agent that the command line of a run names, never inherits the model of another agent.
    pub fn model(&self, role: &str, agent: &str) -> Option<&str> {
        let default = self.roles.get("default");
        let usual = default.and_then(|set| set.agent.as_ref());
        [self.roles.get(role), default]
            .into_iter()
            .flatten()
            .find_map(|set| {
                let whose = set.agent.as_ref().or(usual);
                let is_its = whose.is_none_or(|whose| whose == agent);
                let own = set.model.as_ref().filter(|_| is_its);
                set.models.get(agent).or(own).map(String::as_str)
            })
    }

    /// Returns the price of an agent's tokens: that of its model, otherwise that of the agent itself.
    pub fn price(&self, agent: &str, model: Option<&str>) -> Option<Price> {
        let of_model = model.and_then(|model| self.prices.get(model));
        of_model.or_else(|| self.prices.get(agent)).copied()
    }

    /// Returns the tracker to use.
    pub fn tracker(&self) -> TrackerKind {
        self.tracker.kind
    }

    /// Returns the share of planted defects that gates must notice; `None` if nothing is required.
    pub fn find_required_strength(&self) -> Option<Share> {
        (self.rules.strength == StrengthRule::Require).then_some(self.strength.minimum)
    }

    /// Returns the configured gates.
    pub fn gate_specs(&self) -> Vec<GateSpec> {
        self.gates
            .iter()
            .map(|(name, gate)| GateSpec {
                name: name.clone(),
                run: gate.run.to_string(),
                timeout_ms: gate.timeout.length().as_millis() as u64,
                required: gate.required,
                must_fail_at_basis: Gone,
                network: gate.network,
                place: gate.place,
                dir: gate
                    .dir
                    .as_deref()
                    .unwrap_or("")
                    .trim_matches('/')
                    .to_owned(),
                paths: gate.paths.iter().map(ToString::to_string).collect(),
            })
            .collect()
    }

    /// Returns every key with its effective value, as TOML.
    pub fn effective(&self) -> String {
        toml::to_string_pretty(self).unwrap_or_default()
    }
}

/// Settings of earlier versions, each with the behaviour that replaced it.
const GONE: [(&str, &str); 7] = [
    ("clean_room.max", "clean rooms take at most 10 GiB"),
    ("brief.path", "the brief is written to `CONTINUE.md`"),
    ("brief.guide", "the guide is `AGENTS.md`"),
    ("brief.show_after_compact", "the user sees the brief once"),
    ("rules.strict", "a rewritten history is a finding"),
    ("must_fail_at_basis", "`cook check` says `change_unnoticed`"),
    (
        "sessions",
        "`agent`, `timeout` and `idle_timeout` stand under `[roles.default]`, and `cook session gc --keep` takes a time",
    ),
];

fn describe(key: &str, error: &toml::de::Error, text: &str) -> String {
    let message = error.message();
    let at = error.span().map_or(0, |span| span.start.min(text.len()));
    let before = text.get(..at).unwrap_or_default();
    let (line, start) = match before.rfind('\n') {
        Some(end) => (before.matches('\n').count() + 1, end + 1),
        None => (1, 0),
    };
    let column = before[start..].chars().count() + 1;
    let key = match key {
        "" | "." => String::new(),
        key => format!("{key}: "),
    };
    let hint = unknown_key(message).map(|(unknown, known)| {
        // A path, or the name of a key in each table of a kind.
        let path = key.trim_end_matches(": ");
        let is_gone = |name: &str| {
            let before = path.strip_suffix(name);
            before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
        };
        match GONE.iter().find(|(gone, _)| is_gone(gone)) {
            Some((_, instead)) => format!("; it is gone: {instead}"),
            None => nearest(&unknown, &known),
        }
    });
    let hint = hint.unwrap_or_default();
    format!(".agent/cook.toml:{line}:{column}: {key}{message}{hint}")
}

/// Extracts the key and the known keys from serde's `unknown field` message.
fn unknown_key(message: &str) -> Option<(String, Vec<&str>)> {
    let mut quoted = message
        .strip_prefix("unknown field ")?
        .split('`')
        .skip(1)
        .step_by(2);
    let key = quoted.next()?.to_owned();
    Some((key, quoted.collect()))
}

/// Budgets. In `cook.toml` a value replaces the default; in a `Resume` it is added to the budget.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Attempts per slice; a red gate or a refused report costs one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts_per_slice: Option<u64>,
    /// Role events of a workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// The wall time of one `cook run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall: Option<String>,
    /// The cost in millionths of a dollar (`cost_usd` in the file).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micro_usd: Option<u64>,
}

/// The default number of attempts per slice.
pub const ATTEMPTS_PER_SLICE: NonZeroU64 = NonZeroU64::MIN.saturating_add(3);

/// The default number of role events of a workflow.
pub const STEPS: NonZeroU64 = NonZeroU64::MIN.saturating_add(59);

impl Limits {
    /// Returns the number of attempts per slice.
    pub fn attempts(&self) -> u64 {
        self.attempts_per_slice.unwrap_or(ATTEMPTS_PER_SLICE.get())
    }

    /// Returns the number of attempts per slice, with those that the user granted in addition.
    pub fn add_attempts(&self, granted: &Limits) -> u64 {
        self.attempts()
            .saturating_add(granted.attempts_per_slice.unwrap_or(0))
    }

    /// Returns the number of role events of a workflow.
    pub fn steps(&self) -> u64 {
        self.steps.unwrap_or(STEPS.get())
    }
}

/// When agents and gates run in a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxMode {
    /// If the sandbox works on this machine.
    #[default]
    Auto,
    /// Never; the changes of a session are measured afterwards.
    Off,
    /// Always; nothing starts if the sandbox does not work.
    Required,
}

/// `[sandbox]`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sandbox {
    /// When it is used.
    pub mode: SandboxMode,
    /// Sockets of the machine that agents can reach in the sandbox, with every service behind them.
    pub sockets: Vec<SocketPath>,
}

/// The exchanges with an agent that the log keeps for a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exchanges {
    /// None; only the report is kept.
    None,
    /// The exchange that contains the report.
    #[default]
    Cited,
    /// That exchange and those before it in the same context window.
    All,
}

impl Exchanges {
    /// Describes the exchanges that a reader of the log can see.
    pub fn describe(self) -> &'static str {
        match self {
            Self::None => "the log keeps reports and nothing of the sessions they came out of",
            Self::Cited => {
                "the log keeps each report with the exchange it came out of (`[log] exchanges`)"
            }
            Self::All => {
                "the log keeps each report with the session it came out of (`[log] exchanges`)"
            }
        }
    }
}

/// When transitions are pushed to the remote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sync {
    /// Only by `cook push`.
    #[default]
    Manual,
    /// After each transition, if the remote accepts it.
    Push,
    /// With each transition, which counts only if the remote accepted it.
    Each,
}

/// `[log]`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogSettings {
    /// The exchanges to keep.
    pub exchanges: Exchanges,
    /// When transitions are pushed to the remote.
    pub sync: Sync,
    /// The remote; that of the branch by default.
    pub remote: Option<String>,
    /// The names of the log's refs on the remote.
    pub remote_ref: LogRefs,
}

/// The git data that a gate sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GitShown {
    /// A `.git` with the gate's commit as HEAD, and with its history and tags.
    #[default]
    History,
    /// No `.git`, which saves the index of a huge tree.
    None,
}

/// `[clean_room]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CleanRoom {
    /// The directory for rooms; by default one in the user's cache directory.
    pub dir: Option<String>,
    /// Directories that are kept from run to run.
    pub cache: Vec<CachePath>,
    /// Commands that run before the gates.
    pub setup: Commands,
    /// Files whose change makes the setup run again; if empty, it runs at every commit.
    pub setup_inputs: Vec<RepoPath>,
    /// Whether the setup may use the network.
    pub network: bool,
    /// Environment variables that are passed on.
    pub env: Vec<VariableName>,
    /// The git data in a room.
    pub git: GitShown,
}

impl Default for CleanRoom {
    fn default() -> Self {
        Self {
            dir: None,
            cache: Vec::new(),
            setup: Commands::default(),
            setup_inputs: Vec::new(),
            network: true,
            env: Vec::new(),
            git: GitShown::History,
        }
    }
}

impl CleanRoom {
    /// The maximum size of all rooms, in bytes; the oldest are removed first.
    pub const MAX_BYTES: u64 = 10 << 30;

    /// Whether a path lies in a directory that the room keeps.
    pub fn is_cached(&self, path: &str) -> bool {
        self.cache.iter().any(|cache| {
            let cache = cache.trim_matches('/');
            path == cache
                || path.starts_with(&format!("{cache}/"))
                || !cache.contains('/') && path.split('/').any(|part| part == cache)
        })
    }

    /// Returns the settings that can change the outcome of a command in the room, as JSON. The place and the size
    /// limit of rooms are not among them.
    pub fn preparation(&self) -> String {
        let all = (
            &self.cache,
            &self.setup,
            &self.setup_inputs,
            self.network,
            &self.env,
            self.git,
        );
        serde_json::to_string(&all).unwrap_or_default()
    }

    /// Returns the setup commands.
    pub fn setup(&self) -> impl Iterator<Item = &Command> {
        self.setup.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_gates_than_anybody_has_are_refused() {
        let of = |number: usize| -> String {
            let gates = (0..number).map(|at| format!("[gates.g{at}]\nrun = \"true\"\n"));
            gates.collect()
        };
        assert!(Config::parse(&of(MOST_GATES)).is_ok());
        let why = Config::parse(&of(MOST_GATES + 1)).unwrap_err();
        assert!(why.contains("at most 500"), "{why}");
    }

    #[test]
    fn a_setting_that_is_gone_is_named_with_what_replaces_it() {
        for (text, instead) in [
            ("[brief]\npath = \"A.md\"", "`CONTINUE.md`"),
            ("[rules]\nstrict = true", "is a finding"),
            (
                "[gates.a]\nrun = \"true\"\nmust_fail_at_basis = true",
                "`change_unnoticed`",
            ),
        ] {
            let why = Config::parse(text).unwrap_err();
            assert!(why.contains("it is gone") && why.contains(instead), "{why}");
        }
        let why = Config::parse("[gates.a]\nrun = \"true\"\nstrict = true").unwrap_err();
        assert!(!why.contains("it is gone"), "{why}");
    }

    /// An older log is read, and another unknown field is no older log's.
    #[test]
    fn of_a_recorded_gate_only_the_field_that_is_gone_is_passed_over() {
        let gate = |more: &str| {
            let text = format!(
                "{{\"name\": \"a\", \"run\": \"true\", \"timeout_ms\": 1, \"required\": true, \"place\": \"clean_room\"{more}}}"
            );
            serde_json::from_str::<GateSpec>(&text)
        };
        let read = gate(", \"must_fail_at_basis\": false").unwrap();
        assert_eq!(read, gate("").unwrap());
        assert!(!serde_json::to_string(&read).unwrap().contains("basis"));
        assert!(gate(", \"must_fail\": false").is_err());
    }

    #[test]
    fn a_model_belongs_to_an_agent_and_a_role() {
        let text = "[roles.default]\nagent = \"claude\"\nmodel = \"opus\"\nmodels = { codex = \"gpt\" }\n\
            [roles.reviewer]\nmodel = \"sonnet\"\n\
            [roles.auditor]\nagent = \"pi\"\nmodel = \"small\"\nmodels = { codex = \"mini\" }\n\
            [roles.stop-judge]\nagents = [\"claude\", \"gemini\"]\nmodels = { gemini = \"flash\" }\n";
        let config = Config::parse(text).unwrap_or_else(|why| panic!("{why}"));
        for (role, agent, model) in [
            ("implementer", "claude", Some("opus")),
            ("implementer", "codex", Some("gpt")),
            ("implementer", "pi", None),
            ("reviewer", "claude", Some("sonnet")),
            ("reviewer", "codex", Some("gpt")),
            ("auditor", "pi", Some("small")),
            ("auditor", "codex", Some("mini")),
            ("auditor", "claude", Some("opus")),
            ("auditor", "gemini", None),
            ("stop-judge", "gemini", Some("flash")),
        ] {
            assert_eq!(config.model(role, agent), model, "{role} {agent}");
        }
        // Without a named agent, the model is that of any agent that a run names.
        let config = Config::parse("[roles.default]\nmodel = \"opus\"")
            .unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(config.model("reviewer", "pi"), Some("opus"));
        let why = Config::parse("[roles.stop-judge]\nagents = [\"pi\"]\nmodel = \"opus\"");
        assert!(why.is_err_and(|why| why.contains("models = {")));
    }

    #[test]
    fn settings_that_would_stop_everything_are_refused() {
        for (text, names) in [
            ("[limits]\nsteps = 0", "limits.steps"),
            (
                "[limits]\nattempts_per_slice = 0",
                "limits.attempts_per_slice",
            ),
            ("[limits]\nwall = \"0h\"", "limits.wall"),
            (
                "[gates.a]\nrun = \"true\"\ntimeout = \"0s\"",
                "gates.a.timeout",
            ),
            (
                "[gates.a]\nrun = \"true\"\ntimeout = \"soon\"",
                "gates.a.timeout",
            ),
            (
                "[roles.default]\ntimeout = \"0ms\"",
                "roles.default.timeout",
            ),
            ("[rules]\nprotected = [\"\"]", "rules.protected"),
            ("[rules]\nprotected = [\"../x\"]", "rules.protected"),
            ("[limits]\ncost_usd = -1.0", "limits.cost_usd"),
            ("[sandbox]\nmode = \"on\"", "sandbox.mode"),
            ("[sandbox]\nsockets = [\"docker.sock\"]", "sandbox.sockets"),
            ("[sandbox]\nsockets = [\"/run/../etc\"]", "sandbox.sockets"),
            ("[sandbox]\nsockets = [\"$A-B\"]", "sandbox.sockets"),
            ("[sandbox]\nsocket = []", "did you mean `sockets`?"),
        ] {
            let why = Config::parse(text).unwrap_err();
            assert!(why.contains(names), "{text}: {why}");
        }
        let good =
            "[limits]\nsteps = 1\nwall = \"1s\"\n[rules]\nprotected = [\"src/**\", \"*.lock\"]";
        assert!(Config::parse(good).is_ok());
        let sockets =
            "[sandbox]\nmode = \"required\"\nsockets = [\"/run/docker.sock\", \"$SSH_AUTH_SOCK\"]";
        assert_eq!(
            Config::parse(sockets).map(|config| config.sandbox.sockets.len()),
            Ok(2)
        );
    }
}
