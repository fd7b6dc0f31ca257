//! Presets: those built in, and the user's tables over them.

use cook_protocol::diagnostic::{Code, Failure};
use cook_protocol::digest::sha256;
use cook_protocol::model::{
    Access, AccessArgs, AgentKind, AgentTable, Capability, Config, Continuation, Counting,
    EventFormat, KnownAgent, Rule, SessionNaming,
};
use cook_repo::process::Polite;
use cook_repo::session::Window;
use std::collections::BTreeMap;
use std::path::Path;

/// All names that stand in braces in a command line, blocks among them.
const NAMES: [&str; 8] = [
    "access",
    "cwd",
    "model",
    "new_session",
    "schema",
    "schema_file",
    "schema_json",
    "session",
];

/// An agent that can be started.
#[derive(Debug, Clone, PartialEq)]
pub struct Preset {
    name: String,
    bin: String,
    start: Vec<String>,
    pub(super) table: AgentTable,
    is_users: bool,
}

impl Preset {
    /// The agent of that name: the user's table over the preset it changes.
    ///
    /// # Errors
    /// When there is no such agent, or the table makes none.
    pub fn of(name: &str, config: &Config) -> Result<Self, Failure> {
        let own = config.agents.get(name);
        let base = own
            .and_then(|table| table.extends.as_deref())
            .unwrap_or(name);
        let base = match KnownAgent::find(base) {
            Some(known) => Some(known.preset.clone()),
            None if own.is_some_and(|table| table.extends.is_some()) => {
                return Err(invalid(
                    name,
                    format!("`extends`: there is no preset `{}`", base.escape_debug()),
                ));
            }
            None => None,
        };
        let table = match (own, base) {
            (Some(own), Some(base)) if is_acp(own) && !is_acp(&base) => {
                check_acp(name, own)?;
                merge(name, own, &without_flags(base))?
            }
            (Some(own), Some(base)) => merge(name, own, &base)?,
            (Some(own), None) => own.clone(),
            (None, Some(base)) => base,
            (None, None) => return Err(unknown(name, config)),
        };
        Self::complete(name, table, own.is_some())
    }

    fn complete(name: &str, table: AgentTable, is_users: bool) -> Result<Self, Failure> {
        let bin = table.bin.clone().filter(|bin| !bin.is_empty());
        let bin = bin.ok_or_else(|| invalid(name, "`bin` is missing"))?;
        let start = table.start.clone();
        let start = start.ok_or_else(|| invalid(name, "`start` is missing"))?;
        let preset = Self {
            name: name.to_owned(),
            bin,
            start,
            table,
            is_users,
        };
        if preset.kind() == AgentKind::Acp {
            check_acp(name, &preset.table)?;
        }
        check_names(name, &preset)?;
        if preset.events() == EventFormat::Json && preset.rules().is_empty() {
            return Err(invalid(name, "`events = \"json\"` needs `[[rule]]` tables"));
        }
        if let (Some(window), Some(reserve)) =
            (preset.table.window_tokens, preset.table.reserve_tokens)
            && reserve >= window
        {
            return Err(invalid(
                name,
                "`reserve_tokens` must be below `window_tokens`",
            ));
        }
        for rule in preset.rules() {
            super::event_rules::check_rule(rule).map_err(|why| invalid(name, why))?;
        }
        Ok(preset)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The program.
    pub fn bin(&self) -> &str {
        &self.bin
    }

    /// Everything that is set.
    pub fn table(&self) -> &AgentTable {
        &self.table
    }

    /// Arguments for a fresh session.
    pub fn start(&self) -> &[String] {
        &self.start
    }

    /// The options of a fork, in a run and in the program's own interface.
    pub(super) fn fork_options(&self) -> impl Iterator<Item = &str> {
        let items = self.table.fork.iter().chain(&self.table.open).flatten();
        let items = items.map(String::as_str);
        items.filter(|item| item.starts_with('-') && item.len() > 1)
    }

    /// Whether `cook.toml` has a say in it.
    pub fn is_users(&self) -> bool {
        self.is_users
    }

    /// Whether some version of the program was seen to work with it.
    pub fn is_verified(&self) -> bool {
        let verified = self.table.verified.as_ref();
        !self.is_users && verified.is_some_and(|versions| !versions.is_empty())
    }

    /// What the user must have trusted before a table of the repository's may be run: it
    /// changes with every byte of the table.
    pub fn trust_words(&self) -> Option<String> {
        self.is_users.then(|| {
            let text = toml::to_string(&self.table).unwrap_or_default();
            format!("agent {} {}", self.name, &sha256(text)[..16])
        })
    }

    /// Whether these are the words of some agent that is to be trusted, and no command line.
    pub fn are_trust_words(words: &str) -> bool {
        let digest = words
            .strip_prefix("agent ")
            .and_then(|rest| rest.rsplit_once(' '));
        digest.is_some_and(|(_, digest)| {
            digest.len() == 16 && digest.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
    }

    /// How it is spoken with.
    pub fn kind(&self) -> AgentKind {
        self.table.kind.unwrap_or_default()
    }

    /// What it writes.
    pub fn events(&self) -> EventFormat {
        self.table.events.unwrap_or(EventFormat::Text)
    }

    /// What it is.
    pub fn capability(&self) -> Capability {
        self.table.capability.unwrap_or(Capability::Repl)
    }

    /// How it goes on. Natively only where its own record can be compared before a fork;
    /// over the Agent Client Protocol it is each session that tells whether it can be forked.
    pub fn continuation(&self) -> Continuation {
        let forks = self.table.fork.is_some() || self.kind() == AgentKind::Acp;
        let can = forks && self.table.transcript.is_some();
        match self.table.continuation {
            Some(Continuation::Native) | None if can => Continuation::Native,
            Some(Continuation::None) => Continuation::None,
            _ => Continuation::Replay,
        }
    }

    /// Whether a model can be named to it. Over the Agent Client Protocol its session says so.
    pub fn takes_model(&self) -> bool {
        let by_session = self.kind() == AgentKind::Acp;
        by_session
            || self.start.iter().any(|item| match item.as_str() {
                "{model}" => self.table.model.is_some(),
                item => item.contains("{model}"),
            })
    }

    /// What fits before it.
    pub fn window(&self) -> Option<Window> {
        self.table.window_tokens.map(|tokens| Window {
            tokens,
            reserve: self.table.reserve_tokens.unwrap_or(tokens / 8),
        })
    }

    /// Who names a session.
    pub fn session(&self) -> SessionNaming {
        self.table.session.unwrap_or(SessionNaming::None)
    }

    /// How events are read.
    pub fn rules(&self) -> &[Rule] {
        &self.table.rules
    }

    /// What belongs to a level of access. A level that a preset does not tell apart is
    /// that of the level below it.
    pub fn access(&self, access: Access) -> AccessArgs {
        self.table.access.get(&access).cloned().unwrap_or_default()
    }

    /// Whether it has a mode without tools that write.
    pub fn can_only_read(&self) -> bool {
        self.table.access.contains_key(&Access::Read)
    }

    /// How it is asked to end.
    pub fn polite(&self) -> Polite {
        match self.table.interrupt {
            Some(cook_protocol::model::EndSignal::Int) => Polite::Interrupt,
            Some(cook_protocol::model::EndSignal::Term) | None => Polite::Terminate,
        }
    }

    /// What its token counts count.
    pub fn usage_counting(&self) -> Counting {
        self.table.usage.unwrap_or(Counting::Run)
    }

    /// What its cost counts. The Agent Client Protocol reports that of the whole session.
    pub fn cost_counting(&self) -> Counting {
        let usual = match self.kind() {
            AgentKind::Command => Counting::Run,
            AgentKind::Acp => Counting::Thread,
        };
        self.table.cost.unwrap_or(usual)
    }
}

fn merge(name: &str, own: &AgentTable, base: &AgentTable) -> Result<AgentTable, Failure> {
    own.over(base).map_err(|why| invalid(name, why))
}

fn is_acp(table: &AgentTable) -> bool {
    table.kind == Some(AgentKind::Acp)
}

/// What a preset says of the program alone: its command lines and events are for another
/// way of speaking with it.
fn without_flags(base: AgentTable) -> AgentTable {
    AgentTable {
        bin: base.bin,
        identify: base.identify,
        version: base.version,
        env: base.env,
        writes: base.writes,
        window_tokens: base.window_tokens,
        reserve_tokens: base.reserve_tokens,
        transcript: base.transcript,
        ..AgentTable::default()
    }
}

/// The protocol settles what these keys say of other programs.
fn check_acp(name: &str, table: &AgentTable) -> Result<(), Failure> {
    let settled = [
        ("events", table.events.is_some()),
        ("rule", !table.rules.is_empty()),
        ("resume", table.resume.is_some()),
        ("fork", table.fork.is_some()),
        ("session", table.session.is_some()),
        ("schema", table.schema.is_some()),
    ];
    match settled.iter().find(|(_, is_set)| *is_set) {
        Some((key, _)) => Err(invalid(
            name,
            format!("`{key}` has no meaning beside `kind = \"acp\"`"),
        )),
        None => Ok(()),
    }
}

/// An item that is nothing but a name in braces is one that stands for something.
fn check_names(name: &str, preset: &Preset) -> Result<(), Failure> {
    let table = &preset.table;
    let lists = [
        ("start", Some(&preset.start)),
        ("resume", table.resume.as_ref()),
        ("fork", table.fork.as_ref()),
        ("open", table.open.as_ref()),
        ("model", table.model.as_ref()),
        ("schema", table.schema.as_ref()),
    ];
    let listed = lists
        .into_iter()
        .flat_map(|(key, list)| list.into_iter().flatten().map(move |item| (key, item)));
    for (key, item) in listed {
        let braced = item
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'));
        let is_name = |word: &str| word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        if let Some(word) = braced.filter(|word| !word.is_empty() && is_name(word))
            && !NAMES.contains(&word)
        {
            return Err(invalid(
                name,
                format!(
                    "`{key}`: `{item}` stands for nothing; there are {{{}}}",
                    NAMES.join("}, {")
                ),
            ));
        }
    }
    Ok(())
}

/// All agents: the presets and the user's, by name. One that is wrong is so by itself.
pub fn presets(config: &Config) -> BTreeMap<String, Result<Preset, Failure>> {
    names(config)
        .map(|name| {
            let preset = Preset::of(&name, config);
            (name, preset)
        })
        .collect()
}

fn names(config: &Config) -> impl Iterator<Item = String> {
    KnownAgent::names()
        .map(str::to_owned)
        .chain(config.agents.keys().map(ToString::to_string))
}

pub(super) fn invalid(name: &str, why: impl std::fmt::Display) -> Failure {
    Failure::state(Code::AgentInvalid, format!("agents.{name}: {why}"))
}

/// A file that cook needs for an agent cannot be written or read.
pub(super) fn file_failure(what: &str, path: &Path, cause: &std::io::Error) -> Failure {
    let what = format!("{what} `{}`", path.display());
    Failure::state(Code::NotWritable, what).with_cause(cause)
}

fn unknown(name: &str, config: &Config) -> Failure {
    let nearest = names(config)
        .map(|known| (strsim::damerau_levenshtein(name, &known), known))
        .min()
        .filter(|(distance, known)| *distance <= known.len().max(3) / 2);
    let hint = nearest.map(|(_, known)| format!("; did you mean `{known}`?"));
    let what = format!(
        "unknown agent `{}`{}",
        name.escape_debug(),
        hint.unwrap_or_default()
    );
    Failure::unknown(Code::AgentUnknown, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_in_braces_is_refused_and_other_braces_are_text() {
        let of = |start: &str| {
            let text = format!("[agents.a]\nbin = \"a\"\nevents = \"text\"\nstart = [{start}]\n");
            Preset::of("a", &toml::from_str(&text).unwrap())
        };
        let error = of("'--session', '{sesion}'").unwrap_err().to_string();
        assert!(error.contains("`{sesion}` stands for nothing"), "{error}");
        for text in ["'{session}'", "'{\"a\": 1}'", "'{}'", "'{model}-x'"] {
            assert!(of(text).is_ok(), "{text}");
        }
        assert!(of("'-m={model}'").unwrap().takes_model());
        assert!(!of("'{model}'").unwrap().takes_model());
    }

    #[test]
    fn every_preset_built_in_is_sound() {
        for name in KnownAgent::names() {
            let preset = Preset::of(name, &Config::default()).unwrap_or_else(|e| panic!("{e}"));
            assert!(!preset.is_users() && preset.trust_words().is_none());
            let is_read = preset.events() == EventFormat::Json || preset.kind() == AgentKind::Acp;
            assert_eq!(preset.is_verified(), is_read, "{name}");
        }
    }

    #[test]
    fn three_lines_make_an_agent() {
        let text = "[agents.mine]\nbin = \"my-agent\"\nstart = [\"--quiet\"]\nevents = \"text\"\n";
        let config = Config::parse(text).unwrap_or_else(|e| panic!("{e}"));
        let preset = Preset::of("mine", &config).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(
            (preset.bin(), preset.start()),
            ("my-agent", &["--quiet".to_owned()][..])
        );
        assert_eq!(preset.continuation(), Continuation::Replay);
        assert!(Preset::are_trust_words(&preset.trust_words().unwrap()));
        assert!(!Preset::are_trust_words("agent --all build"));
    }

    #[test]
    fn a_table_changes_one_thing_of_a_preset() {
        let text = "[agents.claude]\nbin = \"/opt/claude\"\n[agents.fast]\nextends = \"claude\"\n";
        let config = Config::parse(text).unwrap_or_else(|e| panic!("{e}"));
        let claude = Preset::of("claude", &config).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(claude.bin(), "/opt/claude");
        assert!(!claude.rules().is_empty() && claude.is_users());
        let fast = Preset::of("fast", &config).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(fast.bin(), "claude");
        assert_ne!(fast.trust_words(), claude.trust_words());
    }

    #[test]
    fn a_program_is_spoken_with_over_the_protocol() {
        let of = |text: &str| {
            let config = Config::parse(text).unwrap_or_else(|e| panic!("{e}"));
            Preset::of("a", &config)
        };
        let own = of("[agents.a]\nkind = \"acp\"\nbin = \"b\"\nstart = [\"--acp\"]");
        let own = own.unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(own.kind(), AgentKind::Acp);
        assert_eq!(own.continuation(), Continuation::Replay);
        assert_eq!(own.cost_counting(), Counting::Thread);
        // The flags of the other way of speaking do not come along.
        let other = "[agents.a]\nextends = \"claude\"\nkind = \"acp\"\n";
        assert!(of(other).is_err_and(|why| why.to_string().contains("`start`")));
        let other = of(&format!("{other}start = [\"--acp\"]"));
        let other = other.unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((other.bin(), other.rules().len()), ("claude", 0));
        assert!(!other.can_only_read() && other.table().identify.is_some());
        assert_eq!(other.continuation(), Continuation::Native);
        for key in [
            "events = \"json\"",
            "fork = []",
            "schema = []",
            "session = \"uuid\"",
        ] {
            let text = format!("[agents.a]\nkind = \"acp\"\nbin = \"b\"\nstart = []\n{key}");
            let word = key.split(' ').next().unwrap_or_default();
            assert!(
                of(&text).is_err_and(|why| why.to_string().contains(word)),
                "{key}"
            );
        }
    }

    #[test]
    fn what_makes_no_agent_is_named() {
        let wrong = |text: &str, name: &str| {
            let config = Config::parse(text).unwrap_or_else(|e| panic!("{e}"));
            Preset::of(name, &config)
                .err()
                .map(|e| e.to_string())
                .unwrap_or_default()
        };
        assert!(wrong("", "cluade").contains("did you mean `claude`"));
        assert!(wrong("[agents.a]\nstart = []", "a").contains("`bin`"));
        assert!(wrong("[agents.a]\nbin = \"b\"", "a").contains("`start`"));
        assert!(
            wrong(
                "[agents.a]\nbin = \"b\"\nstart = []\nevents = \"json\"",
                "a"
            )
            .contains("rule")
        );
        assert!(wrong("[agents.a]\nextends = \"zz\"", "a").contains("`zz`"));
        let unknown = Config::parse("[agents.a]\nbn = \"b\"").err();
        assert!(unknown.is_some_and(|why| why.contains("`bin`")));
        assert!(Config::parse("[agents.\"../x\"]\nbin = \"b\"").is_err());
        for rule in [
            "when = {}\nset = { done = true }",
            "when = { \"a[\" = \"x\" }\nset = { done = true }",
            "when = { a = \"x\" }\nset = { text = \"\" }",
        ] {
            let text = format!(
                "[agents.a]\nbin = \"b\"\nstart = []\nevents = \"json\"\n[[agents.a.rule]]\n{rule}"
            );
            assert!(!wrong(&text, "a").is_empty(), "{rule}");
        }
    }
}
