//! `.agent/cook.toml`: gates, limits, rules, roles. Every key has a default;
//! an unknown key is an error that names the nearest known one.

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

/// Which agent plays a role, and how.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct RoleConfig {
    pub agent: Option<String>,
    /// Of its `agent` alone: another agent does not know the name.
    pub model: Option<String>,
    /// Of the others, by agent.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<AgentName, String>,
    pub access: Option<Access>,
    pub timeout: Option<Span>,
    pub idle_timeout: Option<Span>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fallback: Vec<String>,
    /// Of the stop-judge alone: agents that take turns, so that a wave is not one model's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
}

/// One gate: a command cook runs itself, without a shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateTable {
    /// The command.
    pub run: CommandLine,
    /// How long it may take, `20m` by default.
    #[serde(default = "gate_timeout")]
    pub timeout: Span,
    /// Red is a must-fix finding; otherwise only a finding.
    #[serde(default = "yes")]
    pub required: bool,
    /// It must be red at the slice's basis commit.
    #[serde(default)]
    pub must_fail_at_basis: bool,
    /// Whether it reaches the network, where a sandbox keeps it.
    #[serde(default)]
    pub network: bool,
    /// In the worktree it stops the work when it is red, and proves nothing when it is green.
    #[serde(default = "clean_room")]
    pub place: Place,
    /// The folder that it runs in; the root where nothing is said.
    #[serde(default)]
    pub dir: Option<RepoPath>,
    /// What it says something about: `cook check` leaves it out where nothing of that changed. None = everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<Pattern>,
}

/// A gate with its name and its timeout as a number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateSpec {
    /// Name in `cook.toml`, or the command itself when a plan names it.
    pub name: String,
    /// The command.
    pub run: String,
    /// Milliseconds it may take.
    pub timeout_ms: u64,
    /// Red is a must-fix finding.
    pub required: bool,
    /// It must be red at the basis.
    pub must_fail_at_basis: bool,
    /// It reaches the network.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
    /// Where it runs.
    pub place: Place,
    /// The folder that it runs in, relative to the root; nothing = the root.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub dir: String,
    /// What it says something about; none = everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
}

impl GateSpec {
    /// A path relative to the folder that it runs in; none where it lies elsewhere.
    pub fn inside<'p>(&self, path: &'p str) -> Option<&'p str> {
        match self.dir.as_str() {
            "" => Some(path),
            dir => path.strip_prefix(dir)?.strip_prefix('/'),
        }
    }

    /// The path, from the root, of one that is relative to that folder.
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
    /// Every finding that needs a re-ground refuses.
    pub strict: bool,
    /// Paths (globs) only a slice that names them may change.
    pub protected: Vec<Pattern>,
    /// Read-only roles run in a throwaway worktree.
    pub isolate_readonly: bool,
    /// Judges run side by side.
    pub parallel_judges: bool,
    /// Under `lite` the last open slice is audited.
    pub audit: bool,
    /// Under `standard` an audit is due after so many accepted slices too; without it only the last one is audited.
    pub audit_every: Option<NonZeroU64>,
    /// What becomes of planted defects that no gate notices.
    pub strength: StrengthRule,
    /// The share of planted faults that whoever reviews, audits or judges in a run must have caught; 0 =
    /// nobody is asked.
    pub min_catch_rate: Share,
}

/// Which issue tracker is used.
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

/// When `CONTINUE.md` is written without being asked for.
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

/// `[limits]` as the file writes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct LimitsTable {
    attempts_per_slice: NonZeroU64,
    steps: NonZeroU64,
    wall: Span,
    cost_usd: Dollars,
    /// Of calls whose cost is not known; 0 = no limit.
    tokens: u64,
    /// To a model, of one session; 0 = no limit.
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
    /// False silences every hook in this repository.
    pub enabled: bool,
    /// False keeps the digest of a prompt in place of its text.
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
    /// A command that is told each change of the policy on its standard input, as JSON.
    pub run: Option<CommandLine>,
}

/// `[strength]`: the budget of `cook strength`, and what is required of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StrengthBudget {
    /// No defect is begun after so many minutes.
    pub minutes: u32,
    /// Defects that are planted, at most.
    pub mutants: u32,
    /// Under `[rules] strength = "require"`: the share that gates must notice.
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

/// `[prices.*]`: US dollars for a million tokens, for agents that do not tell their cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Tokens that go in.
    pub input: Dollars,
    /// Tokens that come out.
    pub output: Dollars,
    /// Tokens that go in and were kept from before; as `input` where nothing is said.
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
    /// Paths that hold tests, where their names do not say so: files, directories, or with `*`.
    pub paths: Vec<String>,
}

/// What `cook check` says of a test that ran at the base and does not run now, though it would pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LostTests {
    /// It is shown.
    #[default]
    Show,
    /// The claim is false unless it is declared.
    Refuse,
}

/// `[check]`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CheckSettings {
    /// Names of tests that are known to be red.
    pub known_red: Vec<String>,
    /// What is said of tests that do not run any more.
    pub lost: LostTests,
}

/// The whole file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Gates, by name, in file order of their names.
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
    /// `[agents.*]`: agents of the user's, and changes of the presets.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<AgentName, AgentTable>,
    /// `[log]`.
    pub log: LogSettings,
    /// `[notify]`.
    pub notify: Notify,
    /// `[strength]`.
    pub strength: StrengthBudget,
    /// `[tests]`, of the base of a change.
    pub tests: TestSettings,
    /// `[check]`, of the base of a change.
    pub check: CheckSettings,
    /// `[prices.*]`, by agent or model.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub prices: BTreeMap<String, Price>,
}

/// Each is looked at, trusted and run by itself.
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
    /// How long a session may take in all, and how long its agent may be silent, as these say in turn.
    /// Silence may be as long as the longest run of a tool.
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

/// Only judges take turns, and whoever does names no agent of its own beside them.
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
    /// Reads the file's text.
    ///
    /// # Errors
    /// One line: file, line and column, the key, what is wrong there, and the nearest known key.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file = toml::Deserializer::parse(text).map_err(|error| describe("", &error, text))?;
        serde_path_to_error::deserialize(file)
            .map_err(|error| describe(&error.path().to_string(), error.inner(), text))
    }

    /// The budgets.
    pub fn limits(&self) -> Limits {
        Limits {
            attempts_per_slice: Some(self.limits.attempts_per_slice.get()),
            steps: Some(self.limits.steps.get()),
            wall: Some(self.limits.wall.clone().into()),
            cost_micro_usd: Some((self.limits.cost_usd.0 * 1_000_000.0) as u64),
        }
    }

    /// Wall time of one run.
    pub fn wall(&self) -> Duration {
        self.limits.wall.length()
    }

    /// Tokens that calls of unknown cost may take in all; none = no limit.
    pub fn tokens(&self) -> Option<u64> {
        (self.limits.tokens > 0).then_some(self.limits.tokens)
    }

    /// Requests to a model that one session may make; none = no limit.
    pub fn requests(&self) -> Option<u64> {
        (self.limits.requests > 0).then_some(self.limits.requests)
    }

    /// The model that an agent uses in a role. A name of a model belongs to the agent beside
    /// which it stands: a fallback, or an agent that a run names, never inherits another's.
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

    /// What a million tokens of an agent cost: by its model, else by its own name.
    pub fn price(&self, agent: &str, model: Option<&str>) -> Option<Price> {
        let of_model = model.and_then(|model| self.prices.get(model));
        of_model.or_else(|| self.prices.get(agent)).copied()
    }

    /// Which tracker is used.
    pub fn tracker(&self) -> TrackerKind {
        self.tracker.kind
    }

    /// The share of planted defects that gates must notice; none = nothing is asked.
    pub fn find_required_strength(&self) -> Option<Share> {
        (self.rules.strength == StrengthRule::Require).then_some(self.strength.minimum)
    }

    /// The configured gates.
    pub fn gate_specs(&self) -> Vec<GateSpec> {
        self.gates
            .iter()
            .map(|(name, gate)| GateSpec {
                name: name.clone(),
                run: gate.run.to_string(),
                timeout_ms: gate.timeout.length().as_millis() as u64,
                required: gate.required,
                must_fail_at_basis: gate.must_fail_at_basis,
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

    /// Every key with the value in force, as TOML.
    pub fn effective(&self) -> String {
        toml::to_string_pretty(self).unwrap_or_default()
    }
}

/// Settings that an earlier cook had, with what is so without them.
const GONE: [(&str, &str); 5] = [
    ("clean_room.max", "clean rooms take at most 10 GiB"),
    ("brief.path", "the brief is written to `CONTINUE.md`"),
    ("brief.guide", "the guide is `AGENTS.md`"),
    ("brief.show_after_compact", "the user sees the brief once"),
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
        let is_gone = |name: &str| key.trim_end_matches(": ") == name;
        match GONE.iter().find(|(gone, _)| is_gone(gone)) {
            Some((_, instead)) => format!("; it is gone: {instead}"),
            None => nearest(&unknown, &known),
        }
    });
    let hint = hint.unwrap_or_default();
    format!(".agent/cook.toml:{line}:{column}: {key}{message}{hint}")
}

/// Takes the key and the known keys out of serde's `unknown field` message.
fn unknown_key(message: &str) -> Option<(String, Vec<&str>)> {
    let mut quoted = message
        .strip_prefix("unknown field ")?
        .split('`')
        .skip(1)
        .step_by(2);
    let key = quoted.next()?.to_owned();
    Some((key, quoted.collect()))
}

/// Budgets. In `cook.toml` a value replaces the default; in a `Resume` it is added.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Red gates or refused reports a slice may cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts_per_slice: Option<u64>,
    /// Role events a workflow may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Wall time of one `cook run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall: Option<String>,
    /// Money, in millionths of a dollar (`cost_usd` in the file).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micro_usd: Option<u64>,
}

/// Attempts a slice has by default.
pub const ATTEMPTS_PER_SLICE: NonZeroU64 = NonZeroU64::MIN.saturating_add(3);

/// Steps a workflow has by default.
pub const STEPS: NonZeroU64 = NonZeroU64::MIN.saturating_add(59);

impl Limits {
    /// Attempts a slice may cost.
    pub fn attempts(&self) -> u64 {
        self.attempts_per_slice.unwrap_or(ATTEMPTS_PER_SLICE.get())
    }

    /// The same with what the user granted besides.
    pub fn add_attempts(&self, granted: &Limits) -> u64 {
        self.attempts()
            .saturating_add(granted.attempts_per_slice.unwrap_or(0))
    }

    /// Role events a workflow may take.
    pub fn steps(&self) -> u64 {
        self.steps.unwrap_or(STEPS.get())
    }
}

/// When agents and gates run in a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxMode {
    /// Where it works.
    #[default]
    Auto,
    /// Never: what a session changed is measured afterwards.
    Off,
    /// Always: nothing starts where it does not work.
    Required,
}

/// `[sandbox]`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sandbox {
    /// When it is used.
    pub mode: SandboxMode,
    /// Sockets of the machine that agents reach inside, with all that answers there.
    pub sockets: Vec<SocketPath>,
}

/// What is recorded of the session that a report came out of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exchanges {
    /// Nothing: the report alone.
    None,
    /// The exchange that holds the report.
    #[default]
    Cited,
    /// Those before it in its window too.
    All,
}

impl Exchanges {
    /// What somebody who gets the log can read of sessions.
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

/// When transitions reach the remote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sync {
    /// By `cook push` alone.
    #[default]
    Manual,
    /// After each transition, as far as the remote takes them.
    Push,
    /// With each transition, which counts only when the remote took it.
    Each,
}

/// `[log]`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogSettings {
    /// What is recorded of sessions.
    pub exchanges: Exchanges,
    /// When transitions reach the remote.
    pub sync: Sync,
    /// The remote; that of the branch where none is named.
    pub remote: Option<String>,
    /// What a log's ref is called there.
    pub remote_ref: LogRefs,
}

/// What of git a gate sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GitShown {
    /// A `.git` with that commit as HEAD, its history and tags.
    #[default]
    History,
    /// None: a huge tree saves its index.
    None,
}

/// `[clean_room]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CleanRoom {
    /// Where rooms are; the user's cache directory when nothing is said.
    pub dir: Option<String>,
    /// Directories that stay from run to run.
    pub cache: Vec<CachePath>,
    /// Commands that come before the gates.
    pub setup: Commands,
    /// Files whose change makes them run again; none = every commit does.
    pub setup_inputs: Vec<RepoPath>,
    /// Whether setup reaches the network.
    pub network: bool,
    /// Variables that are passed on.
    pub env: Vec<VariableName>,
    /// What of git is there.
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
    /// What all rooms may take, in bytes; the oldest go first.
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

    /// What decides on the outcome of a command that runs there, as JSON: where the room is and
    /// how large it may grow does not.
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

    /// The setup commands.
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
        // Where no agent is named, the model is that of whichever a run names.
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
