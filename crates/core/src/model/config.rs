//! `.agent/cook.toml`: gates, limits, rules, roles. Every key has a default;
//! an unknown key is an error that names the nearest known one.

use super::access::Access;
use super::agent::AgentTable;
use super::limits::{ATTEMPTS_PER_SLICE, Limits, STEPS};
use super::surface::is_pattern;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Which agent plays a role, and how.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)]
pub struct RoleConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_timeout: Option<String>,
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
    /// The command, split into words as a shell would, and run without one.
    pub run: String,
    /// How long it may take, `20m` by default.
    #[serde(default = "gate_timeout")]
    pub timeout: String,
    /// Red is a must-fix finding; otherwise only a finding.
    #[serde(default = "yes")]
    pub required: bool,
    /// It must be red at the slice's basis commit.
    #[serde(default)]
    pub must_fail_at_basis: bool,
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
}

fn gate_timeout() -> String {
    "20m".to_owned()
}
fn yes() -> bool {
    true
}
/// `[rules]`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rules {
    /// Every finding that needs a re-ground refuses.
    pub strict: bool,
    /// Paths (globs) only a slice that names them may change.
    pub protected: Vec<String>,
    /// Read-only roles run in a throwaway worktree.
    pub isolate_readonly: bool,
    /// Judges run side by side.
    pub parallel_judges: bool,
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BriefSettings {
    /// When the file is written.
    pub sync: BriefSync,
    /// Where, in the worktree.
    pub path: String,
    /// The agent guide that `cook brief guide` speaks of.
    pub guide: String,
    /// The user sees once what an agent is told after a compaction.
    pub show_after_compact: bool,
}

impl Default for BriefSettings {
    fn default() -> Self {
        Self {
            sync: BriefSync::Manual,
            path: "CONTINUE.md".to_owned(),
            guide: "AGENTS.md".to_owned(),
            show_after_compact: true,
        }
    }
}

/// `[limits]` as the file writes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct LimitsTable {
    attempts_per_slice: u64,
    steps: u64,
    wall: String,
    cost_usd: f64,
    /// Of calls whose cost is not known; 0 = no limit.
    tokens: u64,
}

impl Default for LimitsTable {
    fn default() -> Self {
        Self {
            attempts_per_slice: ATTEMPTS_PER_SLICE,
            steps: STEPS,
            wall: "8h".to_owned(),
            cost_usd: 25.0,
            tokens: 100_000_000,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}

/// `[prices.*]`: US dollars for a million tokens, for agents that do not tell their cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Tokens that go in.
    pub input: f64,
    /// Tokens that come out.
    pub output: f64,
    /// Tokens that go in and were kept from before; as `input` where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
}

/// `[sessions]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sessions {
    /// How long `cook session gc` keeps what no name holds, from its last use.
    pub keep: String,
    /// The agent of `cook ask` and `cook act` when none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// How long a call may take in all.
    pub timeout: String,
    /// How long an agent may be silent; longer than its longest tool run.
    pub idle_timeout: String,
}

impl Default for Sessions {
    fn default() -> Self {
        Self {
            keep: "30d".to_owned(),
            agent: None,
            timeout: "45m".to_owned(),
            idle_timeout: "15m".to_owned(),
        }
    }
}

impl Sessions {
    /// `keep` as a length of time.
    pub fn keep(&self) -> Duration {
        duration(&self.keep).unwrap_or(Duration::from_secs(30 * 24 * 3600))
    }

    /// `timeout` and `idle_timeout` as lengths of time.
    pub fn clocks(&self) -> (Duration, Duration) {
        (
            duration(&self.timeout).unwrap_or(Duration::from_secs(45 * 60)),
            duration(&self.idle_timeout).unwrap_or(Duration::from_secs(15 * 60)),
        )
    }
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct TrackerTable {
    kind: TrackerKind,
}

/// The whole file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Gates, by name, in file order of their names.
    pub gates: BTreeMap<String, GateTable>,
    limits: LimitsTable,
    /// `[rules]`.
    pub rules: Rules,
    /// `[roles.*]`.
    pub roles: BTreeMap<String, RoleConfig>,
    /// `[brief]`.
    pub brief: BriefSettings,
    tracker: TrackerTable,
    /// `[hooks]`.
    pub hooks: Hooks,
    /// `[agents.*]`: agents of the user's, and changes of the presets.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<String, AgentTable>,
    /// `[sessions]`.
    pub sessions: Sessions,
    /// `[notify]`.
    pub notify: Notify,
    /// `[prices.*]`, by agent or model.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub prices: BTreeMap<String, Price>,
}

/// Keys `[roles]` may hold.
pub const ROLE_KEYS: [&str; 7] = [
    "default",
    "bootstrapper",
    "regrounder",
    "implementer",
    "reviewer",
    "auditor",
    "stop-judge",
];

impl Config {
    /// Reads the file's text.
    ///
    /// # Errors
    /// One line that names the place and, for an unknown key, the nearest known one.
    pub fn parse(text: &str) -> Result<Self, String> {
        let config: Config = toml::from_str(text).map_err(|error| describe(&error, text))?;
        for (name, gate) in &config.gates {
            span(&format!("gates.{name}.timeout"), &gate.timeout)?;
            match shell_words::split(&gate.run) {
                Ok(words) if words.is_empty() => {
                    return Err(format!("gates.{name}.run is empty"));
                }
                Ok(_) => {}
                Err(_) => return Err(format!("gates.{name}.run has an open quote")),
            }
        }
        for role in config.roles.keys() {
            if !ROLE_KEYS.contains(&role.as_str()) {
                return Err(format!(
                    "unknown role `roles.{role}`{}",
                    nearest(role, &ROLE_KEYS)
                ));
            }
        }
        for (name, role) in &config.roles {
            for (key, value) in [
                ("timeout", &role.timeout),
                ("idle_timeout", &role.idle_timeout),
            ] {
                if let Some(value) = value {
                    span(&format!("roles.{name}.{key}"), value)?;
                }
            }
        }
        for (name, role) in &config.roles {
            if role.agents.is_empty() {
                continue;
            }
            if name != "stop-judge" {
                return Err(format!(
                    "roles.{name}.agents: only judges take turns; name one `agent`, and others as `fallback`"
                ));
            }
            if role.agent.is_some() {
                return Err(format!("roles.{name} names both `agent` and `agents`"));
            }
        }
        span("limits.wall", &config.limits.wall)?;
        for (key, value) in [
            ("attempts_per_slice", config.limits.attempts_per_slice),
            ("steps", config.limits.steps),
        ] {
            if value == 0 {
                return Err(format!("limits.{key} must be at least 1"));
            }
        }
        for pattern in &config.rules.protected {
            if !is_pattern(pattern) {
                return Err(format!(
                    "rules.protected: `{pattern}` names nothing: a pattern is a path from the root of the worktree, without `..`"
                ));
            }
        }
        for (key, value) in [
            ("keep", &config.sessions.keep),
            ("timeout", &config.sessions.timeout),
            ("idle_timeout", &config.sessions.idle_timeout),
        ] {
            span(&format!("sessions.{key}"), value)?;
        }
        if let Some(name) = config.agents.keys().find(|name| !is_agent_name(name)) {
            return Err(format!(
                "agents.{}: a name is letters, digits, `-` and `_`, at most 40",
                name.escape_debug()
            ));
        }
        if let Some(run) = &config.notify.run
            && shell_words::split(run).map_or(true, |words| words.is_empty())
        {
            return Err("notify.run is not a command".to_owned());
        }
        for (name, price) in &config.prices {
            let all = [Some(price.input), Some(price.output), price.cached];
            if all
                .into_iter()
                .flatten()
                .any(|dollars| !dollars.is_finite() || dollars < 0.0)
            {
                return Err(format!(
                    "prices.{}: a price is at least 0",
                    name.escape_debug()
                ));
            }
        }
        if !config.limits.cost_usd.is_finite() || config.limits.cost_usd < 0.0 {
            return Err("limits.cost_usd must be at least 0".to_owned());
        }
        Ok(config)
    }

    /// The budgets.
    pub fn limits(&self) -> Limits {
        Limits {
            attempts_per_slice: Some(self.limits.attempts_per_slice),
            steps: Some(self.limits.steps),
            wall: Some(self.limits.wall.clone()),
            cost_micro_usd: Some((self.limits.cost_usd * 1_000_000.0) as u64),
        }
    }

    /// Wall time of one run.
    pub fn wall(&self) -> Duration {
        duration(&self.limits.wall).unwrap_or(Duration::from_secs(8 * 60 * 60))
    }

    /// Tokens that calls of unknown cost may take in all; none = no limit.
    pub fn tokens(&self) -> Option<u64> {
        (self.limits.tokens > 0).then_some(self.limits.tokens)
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

    /// The configured gates.
    pub fn gate_specs(&self) -> Vec<GateSpec> {
        self.gates
            .iter()
            .map(|(name, gate)| GateSpec {
                name: name.clone(),
                run: gate.run.clone(),
                timeout_ms: duration(&gate.timeout).map_or(1_200_000, |d| d.as_millis() as u64),
                required: gate.required,
                must_fail_at_basis: gate.must_fail_at_basis,
            })
            .collect()
    }

    /// Every key with the value in force, as TOML.
    pub fn effective(&self) -> String {
        toml::to_string_pretty(self).unwrap_or_default()
    }
}

/// A setting that is a time span longer than nothing.
fn span(key: &str, text: &str) -> Result<(), String> {
    match duration(text) {
        Ok(span) if span.is_zero() => Err(format!("{key}: `{text}` must be longer than 0")),
        Ok(_) => Ok(()),
        Err(why) => Err(format!("{key}: `{text}`: {why}")),
    }
}

fn is_agent_name(name: &str) -> bool {
    (1..=40).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// A time span such as `45m` or `1h 30m`.
fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|error| error.to_string())
}

fn describe(error: &toml::de::Error, text: &str) -> String {
    let message = error.message();
    let line = error
        .span()
        .map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
    let place = line
        .map(|line| format!("line {line}: "))
        .unwrap_or_default();
    let hint = unknown_key(message)
        .map(|(key, known)| nearest(&key, &known))
        .unwrap_or_default();
    format!("{place}{message}{hint}")
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

fn nearest(key: &str, known: &[&str]) -> String {
    known
        .iter()
        .map(|name| (strsim::damerau_levenshtein(key, name), name))
        .min()
        .filter(|(distance, name)| *distance <= name.len().max(3) / 2 + 1)
        .map(|(_, name)| format!("; did you mean `{name}`?"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        ] {
            let said = Config::parse(text).unwrap_err();
            assert!(said.contains(names), "{text}: {said}");
        }
        let good =
            "[limits]\nsteps = 1\nwall = \"1s\"\n[rules]\nprotected = [\"src/**\", \"*.lock\"]";
        assert!(Config::parse(good).is_ok());
    }
}
