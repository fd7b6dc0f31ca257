//! `.agent/cook.toml` and `.agent/profile.json`: a rule for each field.

use super::difference::{Difference, Strength, show};
use super::fields::{Rule, differ};
use crate::model::{Config, GateTable, Profile};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

const LOWER: Rule = Rule::Lower { none: None };

/// The fields of `cook.toml`; `*` = any name. What stands below a field is its value.
const OF_SETTINGS: [(&str, Rule); 64] = [
    ("gates.*.run", Rule::Same),
    ("gates.*.timeout", LOWER),
    ("gates.*.required", Rule::Higher),
    ("gates.*.must_fail_at_basis", Rule::Higher),
    ("gates.*.network", Rule::No),
    (
        "gates.*.place",
        Rule::Later {
            words: &["worktree", "clean_room"],
            none: None,
        },
    ),
    ("gates.*.dir", Rule::Same),
    ("gates.*.paths", Rule::Same),
    ("clean_room.dir", Rule::Aside),
    ("clean_room.max", Rule::Aside),
    ("clean_room.cache", Rule::Fewer),
    ("clean_room.setup", Rule::Same),
    ("clean_room.setup_inputs", Rule::Same),
    ("clean_room.network", Rule::No),
    ("clean_room.env", Rule::Fewer),
    ("clean_room.git", Rule::Same),
    ("limits.attempts_per_slice", LOWER),
    ("limits.steps", LOWER),
    ("limits.wall", LOWER),
    ("limits.cost_usd", LOWER),
    ("limits.tokens", Rule::LowerAboveZero),
    ("limits.requests", Rule::LowerAboveZero),
    ("rules.strict", Rule::Higher),
    ("rules.protected", Rule::More),
    ("rules.isolate_readonly", Rule::Higher),
    ("rules.parallel_judges", Rule::Aside),
    ("rules.audit", Rule::Higher),
    // docs/assurance.md says what holds where nothing is said.
    ("rules.audit_every", Rule::Lower { none: Some(3.0) }),
    (
        "rules.strength",
        Rule::Later {
            words: &["off", "report", "require"],
            none: None,
        },
    ),
    ("rules.min_catch_rate", Rule::Higher),
    (
        "sandbox.mode",
        Rule::Later {
            words: &["off", "auto", "required"],
            none: None,
        },
    ),
    ("sandbox.sockets", Rule::Fewer),
    ("roles.*.agent", Rule::Same),
    ("roles.*.model", Rule::Same),
    ("roles.*.models", Rule::Same),
    (
        "roles.*.access",
        Rule::Later {
            words: &["full", "write", "read", "none"],
            none: None,
        },
    ),
    ("roles.*.timeout", LOWER),
    ("roles.*.idle_timeout", LOWER),
    ("roles.*.fallback", Rule::Same),
    ("roles.*.agents", Rule::Same),
    ("brief.sync", Rule::Aside),
    ("brief.path", Rule::Aside),
    ("brief.guide", Rule::Aside),
    ("brief.show_after_compact", Rule::Aside),
    ("tracker.kind", Rule::Aside),
    ("hooks.enabled", Rule::Higher),
    ("hooks.keep_prompts", Rule::Higher),
    // Who plays a role, and how it is started.
    ("agents.*", Rule::Same),
    ("sessions.keep", Rule::Aside),
    ("sessions.agent", Rule::Aside),
    ("sessions.timeout", Rule::Aside),
    ("sessions.idle_timeout", Rule::Aside),
    (
        "log.exchanges",
        Rule::Later {
            words: &["none", "cited", "all"],
            none: None,
        },
    ),
    ("log.sync", Rule::Aside),
    ("log.remote", Rule::Aside),
    ("log.remote_ref", Rule::Same),
    ("notify.run", Rule::Same),
    ("strength.minutes", Rule::Higher),
    ("strength.mutants", Rule::Higher),
    ("strength.minimum", Rule::Higher),
    ("tests.paths", Rule::Same),
    ("check.known_red", Rule::Fewer),
    ("check.lost", Rule::Same),
    // By these the limit of the cost is counted.
    ("prices.*", Rule::Same),
];

/// The fields of `profile.json`.
const OF_PROFILE: [(&str, Rule); 11] = [
    ("schema_version", Rule::Same),
    ("protocol_id", Rule::Same),
    ("project_name", Rule::Aside),
    ("required_stop_judges", Rule::Higher),
    (
        "assurance",
        Rule::Later {
            words: &["lite", "standard", "strict"],
            none: Some("strict"),
        },
    ),
    ("stop_aggregation_policy", Rule::Same),
    ("priority_policy_id", Rule::Same),
    ("task_type", Rule::Same),
    ("evaluation_profile", Rule::Same),
    ("docs_surfaces", Rule::More),
    ("text_proof_alone", Rule::No),
];

/// The rule of a field, or of what it stands in.
fn find_rule(rules: &[(&str, Rule)], field: &[String]) -> Option<Rule> {
    let fits = |pattern: &str| {
        let parts: Vec<&str> = pattern.split('.').collect();
        parts.len() <= field.len()
            && parts
                .iter()
                .zip(field)
                .all(|(part, name)| *part == "*" || part == name)
    };
    rules
        .iter()
        .find(|(pattern, _)| fits(pattern))
        .map(|(_, rule)| *rule)
}

/// Each field with its value.
fn fields(rules: &[(&str, Rule)], value: &Value) -> Map<String, Value> {
    let mut found = Map::new();
    collect(rules, &mut Vec::new(), value, &mut found);
    found
}

/// Between the names of a field; a name may hold a full stop.
const BETWEEN: char = '\u{1f}';

fn collect(
    rules: &[(&str, Rule)],
    at: &mut Vec<String>,
    value: &Value,
    found: &mut Map<String, Value>,
) {
    match value {
        Value::Object(inner) if find_rule(rules, at).is_none() => {
            for (name, value) in inner {
                at.push(name.clone());
                collect(rules, at, value, found);
                at.pop();
            }
        }
        _ => drop(found.insert(at.join(&BETWEEN.to_string()), value.clone())),
    }
}

/// What differs between two texts of `cook.toml`; why the first cannot be read is an error, the second
/// is then another thing as a whole.
pub(super) fn compare_settings(file: &str, was: &str, is: &str) -> Result<Vec<Difference>, String> {
    let was = Config::parse(was)?;
    let is = match Config::parse(is) {
        Ok(config) => config,
        Err(why) => return Ok(vec![unreadable(file, &why)]),
    };
    let (mut old, mut new) = (was.clone(), is.clone());
    let mut found = Vec::new();
    let names = |gates: &Config| gates.gates.keys().cloned().collect::<BTreeSet<String>>();
    for name in names(&is).difference(&names(&was)) {
        let what = format!("is a new gate, {}", command(new.gates.remove(name)));
        let field = format!("gates.{name}");
        found.push(Difference::new(file, &field, Strength::Stronger, what));
    }
    for name in names(&was).difference(&names(&is)) {
        let what = format!("is gone, and was {}", command(old.gates.remove(name)));
        let field = format!("gates.{name}");
        found.push(Difference::new(file, &field, Strength::Weaker, what));
    }
    let json = |config: &Config| serde_json::to_value(config).map_err(|error| error.to_string());
    found.extend(compare_fields(
        file,
        &OF_SETTINGS,
        &json(&old)?,
        &json(&new)?,
    ));
    Ok(found)
}

fn command(gate: Option<GateTable>) -> String {
    show(&gate.map(|gate| gate.run.to_string()).unwrap_or_default())
}

/// The same of `profile.json`.
pub(super) fn compare_profiles(file: &str, was: &str, is: &str) -> Result<Vec<Difference>, String> {
    let read = |text: &str| {
        let profile: Profile = serde_json::from_str(text).map_err(|error| error.to_string())?;
        serde_json::to_value(profile).map_err(|error| error.to_string())
    };
    let was = read(was)?;
    Ok(match read(is) {
        Ok(is) => compare_fields(file, &OF_PROFILE, &was, &is),
        Err(why) => vec![unreadable(file, &why)],
    })
}

fn unreadable(file: &str, why: &str) -> Difference {
    let what = format!("cannot be read: {}", show(why));
    Difference::new(file, "", Strength::NotComparable, what)
}

fn compare_fields(file: &str, rules: &[(&str, Rule)], was: &Value, is: &Value) -> Vec<Difference> {
    let (was, is) = (fields(rules, was), fields(rules, is));
    let names: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
    let differences = names.into_iter().filter_map(|name| {
        let parts: Vec<String> = name.split(BETWEEN).map(str::to_owned).collect();
        // Of what nobody classified another value is another thing.
        let rule = find_rule(rules, &parts).unwrap_or(Rule::Same);
        let of = |fields: &Map<String, Value>| fields.get(name).cloned().unwrap_or(Value::Null);
        differ(file, &parts.join("."), rule, &of(&was), &of(&is))
    });
    differences.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = ".agent/cook.toml";
    /// A key that nothing has, by which serde tells those that it knows.
    const NO_KEY: &str = "no_key_is_called_so";
    /// Names of tables that somebody chooses, as far as one must be right, and what such a table must have.
    const NAMED: [(&str, &str, &str); 4] = [
        ("gates", "a", "run = \"true\"\n"),
        ("roles", "stop-judge", ""),
        ("agents", "a", ""),
        ("prices", "a", "input = 1\noutput = 1\n"),
    ];

    fn list_known(message: &str) -> Vec<String> {
        let (_, known) = message.split_once("expected ").unwrap();
        let known = known.split('`').skip(1).step_by(2);
        known.map(str::to_owned).collect()
    }

    /// Every field of `cook.toml`, asked of the types that read it.
    fn settings() -> Vec<String> {
        let unknown = |text: &str| Config::parse(text).map(|_| ()).unwrap_err();
        let mut found = Vec::new();
        for table in list_known(&unknown(&format!("{NO_KEY} = 1\n"))) {
            let named = NAMED.iter().find(|(of, ..)| *of == table);
            let (header, path, must) = match named {
                Some((_, name, must)) => (format!("{table}.{name}"), format!("{table}.*"), *must),
                None => (table.clone(), table, ""),
            };
            let why = unknown(&format!("[{header}]\n{must}{NO_KEY} = 1\n"));
            assert!(why.contains("unknown field"), "{why}");
            found.extend(
                list_known(&why)
                    .into_iter()
                    .map(|field| format!("{path}.{field}")),
            );
        }
        found
    }

    fn profile() -> Vec<String> {
        let text = format!("{{\"{NO_KEY}\": 1}}");
        list_known(
            &serde_json::from_str::<Profile>(&text)
                .unwrap_err()
                .to_string(),
        )
    }

    fn missing(rules: &[(&str, Rule)], all: &[String]) -> Vec<String> {
        let is_missing = |field: &&String| {
            let parts: Vec<String> = field.split('.').map(str::to_owned).collect();
            find_rule(rules, &parts).is_none()
        };
        all.iter().filter(is_missing).cloned().collect()
    }

    #[test]
    fn every_field_that_the_settings_know_is_classified() {
        let all = settings();
        assert!(all.len() > 60, "{all:?}");
        for field in [
            "gates.*.run",
            "limits.tokens",
            "agents.*.env",
            "log.remote_ref",
        ] {
            assert!(all.iter().any(|known| known == field), "{field}: {all:?}");
        }
        assert_eq!(missing(&OF_SETTINGS, &all), Vec::<String>::new());
        assert_eq!(missing(&OF_PROFILE, &profile()), Vec::<String>::new());
        // One that is new would be found.
        let new = ["limits.of_something_new".to_owned()];
        assert_eq!(missing(&OF_SETTINGS, &new), new);
        let known = |(pattern, _): &(&str, Rule)| {
            let is_it =
                |field: &String| field == pattern || field.starts_with(&format!("{pattern}."));
            all.iter().any(is_it)
        };
        let gone: Vec<_> = OF_SETTINGS.iter().filter(|rule| !known(rule)).collect();
        assert!(gone.is_empty(), "{gone:?}");
        assert_eq!(OF_PROFILE.len(), profile().len());
    }

    /// A change of each field of the settings, with how it weighs.
    #[test]
    fn a_change_of_each_field_weighs_as_it_should() {
        use Strength::{NotComparable, Stronger, Weaker};
        let gate = |more: &str| format!("[gates.t]\nrun = \"true\"\n{more}\n");
        let role = |more: &str| format!("[roles.stop-judge]\n{more}\n");
        let table = |name: &str, more: &str| format!("[{name}]\n{more}\n");
        let rows: Vec<(&str, String, String, Option<Strength>)> = vec![
            (
                "gates.t.run",
                gate(""),
                gate("").replace("true", "false"),
                Some(NotComparable),
            ),
            (
                "gates.t.timeout",
                gate(""),
                gate("timeout = \"2h\""),
                Some(Weaker),
            ),
            (
                "gates.t.required",
                gate(""),
                gate("required = false"),
                Some(Weaker),
            ),
            (
                "gates.t.must_fail_at_basis",
                gate(""),
                gate("must_fail_at_basis = true"),
                Some(Stronger),
            ),
            (
                "gates.t.network",
                gate(""),
                gate("network = true"),
                Some(Weaker),
            ),
            (
                "gates.t.place",
                gate(""),
                gate("place = \"worktree\""),
                Some(Weaker),
            ),
            ("gates.t", gate(""), String::new(), Some(Weaker)),
            ("gates.t", String::new(), gate(""), Some(Stronger)),
            (
                "clean_room.dir",
                String::new(),
                table("clean_room", "dir = \"/a\""),
                None,
            ),
            (
                "gates.t.dir",
                gate(""),
                gate("dir = \"web\""),
                Some(NotComparable),
            ),
            (
                "gates.t.paths",
                gate(""),
                gate("paths = [\"web\"]"),
                Some(NotComparable),
            ),
            (
                "clean_room.max",
                String::new(),
                table("clean_room", "max = \"1GiB\""),
                None,
            ),
            (
                "clean_room.cache",
                String::new(),
                table("clean_room", "cache = [\"c\"]"),
                Some(Weaker),
            ),
            (
                "clean_room.setup",
                String::new(),
                table("clean_room", "setup = \"true\""),
                Some(NotComparable),
            ),
            (
                "clean_room.setup_inputs",
                String::new(),
                table("clean_room", "setup_inputs = [\"c\"]"),
                Some(NotComparable),
            ),
            (
                "clean_room.network",
                String::new(),
                table("clean_room", "network = false"),
                Some(Stronger),
            ),
            (
                "clean_room.env",
                String::new(),
                table("clean_room", "env = [\"A\"]"),
                Some(Weaker),
            ),
            (
                "clean_room.git",
                String::new(),
                table("clean_room", "git = \"none\""),
                Some(NotComparable),
            ),
            (
                "limits.attempts_per_slice",
                String::new(),
                table("limits", "attempts_per_slice = 1"),
                Some(Stronger),
            ),
            (
                "limits.steps",
                table("limits", "steps = 5"),
                table("limits", "steps = 6"),
                Some(Weaker),
            ),
            (
                "limits.wall",
                String::new(),
                table("limits", "wall = \"9h\""),
                Some(Weaker),
            ),
            (
                "limits.cost_usd",
                String::new(),
                table("limits", "cost_usd = 26.0"),
                Some(Weaker),
            ),
            (
                "limits.tokens",
                String::new(),
                table("limits", "tokens = 0"),
                Some(Weaker),
            ),
            (
                "limits.requests",
                String::new(),
                table("limits", "requests = 0"),
                Some(Weaker),
            ),
            (
                "rules.strict",
                String::new(),
                table("rules", "strict = true"),
                Some(Stronger),
            ),
            (
                "rules.protected",
                table("rules", "protected = [\"a\"]"),
                String::new(),
                Some(Weaker),
            ),
            (
                "rules.isolate_readonly",
                String::new(),
                table("rules", "isolate_readonly = true"),
                Some(Stronger),
            ),
            (
                "rules.parallel_judges",
                String::new(),
                table("rules", "parallel_judges = true"),
                None,
            ),
            (
                "rules.audit",
                String::new(),
                table("rules", "audit = true"),
                Some(Stronger),
            ),
            (
                "rules.audit_every",
                String::new(),
                table("rules", "audit_every = 9"),
                Some(Weaker),
            ),
            (
                "sandbox.mode",
                String::new(),
                table("sandbox", "mode = \"off\""),
                Some(Weaker),
            ),
            (
                "sandbox.sockets",
                String::new(),
                table("sandbox", "sockets = [\"/a\"]"),
                Some(Weaker),
            ),
            (
                "roles.stop-judge.agent",
                role(""),
                role("agent = \"a\""),
                Some(NotComparable),
            ),
            (
                "roles.stop-judge.model",
                String::new(),
                role("model = \"a\""),
                Some(NotComparable),
            ),
            (
                "roles.stop-judge.models",
                String::new(),
                role("models = { a = \"b\" }"),
                Some(NotComparable),
            ),
            (
                "roles.stop-judge.access",
                role("access = \"read\""),
                role("access = \"full\""),
                Some(Weaker),
            ),
            (
                "roles.stop-judge.timeout",
                role("timeout = \"2h\""),
                role("timeout = \"1h\""),
                Some(Stronger),
            ),
            (
                "roles.stop-judge.idle_timeout",
                role("idle_timeout = \"1h\""),
                role("idle_timeout = \"2h\""),
                Some(Weaker),
            ),
            (
                "roles.stop-judge.fallback",
                role(""),
                role("fallback = [\"a\"]"),
                Some(NotComparable),
            ),
            (
                "roles.stop-judge.agents",
                role(""),
                role("agents = [\"a\"]"),
                Some(NotComparable),
            ),
            (
                "brief.sync",
                String::new(),
                table("brief", "sync = \"always\""),
                None,
            ),
            (
                "brief.path",
                String::new(),
                table("brief", "path = \"A.md\""),
                None,
            ),
            (
                "brief.guide",
                String::new(),
                table("brief", "guide = \"A.md\""),
                None,
            ),
            (
                "brief.show_after_compact",
                String::new(),
                table("brief", "show_after_compact = false"),
                None,
            ),
            (
                "tracker.kind",
                String::new(),
                table("tracker", "kind = \"none\""),
                None,
            ),
            (
                "hooks.enabled",
                String::new(),
                table("hooks", "enabled = false"),
                Some(Weaker),
            ),
            (
                "hooks.keep_prompts",
                String::new(),
                table("hooks", "keep_prompts = false"),
                Some(Weaker),
            ),
            (
                "agents.a",
                String::new(),
                table("agents.a", "env = {A = \"b\"}"),
                Some(NotComparable),
            ),
            (
                "sessions.keep",
                String::new(),
                table("sessions", "keep = \"1d\""),
                None,
            ),
            (
                "sessions.agent",
                String::new(),
                table("sessions", "agent = \"a\""),
                None,
            ),
            (
                "sessions.timeout",
                String::new(),
                table("sessions", "timeout = \"1h\""),
                None,
            ),
            (
                "sessions.idle_timeout",
                String::new(),
                table("sessions", "idle_timeout = \"1h\""),
                None,
            ),
            (
                "log.exchanges",
                String::new(),
                table("log", "exchanges = \"none\""),
                Some(Weaker),
            ),
            (
                "log.sync",
                String::new(),
                table("log", "sync = \"push\""),
                None,
            ),
            (
                "log.remote",
                String::new(),
                table("log", "remote = \"a\""),
                None,
            ),
            (
                "log.remote_ref",
                String::new(),
                table("log", "remote_ref = \"refs/heads/cook/{branch}\""),
                Some(NotComparable),
            ),
            (
                "notify.run",
                String::new(),
                table("notify", "run = \"true\""),
                Some(NotComparable),
            ),
            (
                "strength.minutes",
                String::new(),
                table("strength", "minutes = 1"),
                Some(Weaker),
            ),
            (
                "strength.mutants",
                String::new(),
                table("strength", "mutants = 1"),
                Some(Weaker),
            ),
            (
                "strength.minimum",
                String::new(),
                table("strength", "minimum = 0.9"),
                Some(Stronger),
            ),
            (
                "tests.paths",
                String::new(),
                table("tests", "paths = [\"qa/\"]"),
                Some(NotComparable),
            ),
            (
                "check.known_red",
                String::new(),
                table("check", "known_red = [\"a\"]"),
                Some(Weaker),
            ),
            (
                "check.lost",
                String::new(),
                table("check", "lost = \"refuse\""),
                Some(NotComparable),
            ),
            (
                "rules.min_catch_rate",
                table("rules", "min_catch_rate = 0.7"),
                table("rules", "min_catch_rate = 0.5"),
                Some(Weaker),
            ),
            (
                "rules.strength",
                table("rules", "strength = \"require\""),
                table("rules", "strength = \"report\""),
                Some(Weaker),
            ),
            (
                "prices.a",
                String::new(),
                table("prices.a", "input = 1\noutput = 1"),
                Some(NotComparable),
            ),
        ];
        for (field, was, is, expected) in &rows {
            let found = compare_settings(FILE, was, is).unwrap();
            let found: Vec<_> = found
                .iter()
                .map(|one| (one.field.as_str(), one.strength))
                .collect();
            let expected: Vec<_> = expected
                .iter()
                .map(|strength| (*field, *strength))
                .collect();
            assert_eq!(found, expected, "{was} {is}");
        }
        for (pattern, _) in OF_SETTINGS {
            let parts: Vec<&str> = pattern.split('.').collect();
            let is_it = |field: &str| {
                let names: Vec<&str> = field.split('.').collect();
                names.len() == parts.len()
                    && names
                        .iter()
                        .zip(&parts)
                        .all(|(name, part)| *part == "*" || name == part)
            };
            assert!(
                rows.iter().any(|(field, ..)| is_it(field)),
                "no row for {pattern}"
            );
        }
    }

    #[test]
    fn a_change_of_each_field_of_a_profile_weighs_as_it_should() {
        use Strength::{NotComparable, Stronger, Weaker};
        let base = serde_json::to_value(Profile::new("a")).unwrap();
        for (field, is, expected) in [
            ("project_name", Value::from("b"), None),
            ("required_stop_judges", Value::from(1), Some(Weaker)),
            ("required_stop_judges", Value::from(5), Some(Stronger)),
            ("assurance", Value::from("lite"), Some(Weaker)),
            ("task_type", Value::from("b"), Some(NotComparable)),
            ("evaluation_profile", Value::from("b"), Some(NotComparable)),
            ("docs_surfaces", Value::from(vec!["docs/"]), Some(Weaker)),
        ] {
            let mut head = base.clone();
            head[field] = is;
            let found = compare_profiles("p", &base.to_string(), &head.to_string()).unwrap();
            let found: Vec<_> = found
                .iter()
                .map(|one| (one.field.as_str(), one.strength))
                .collect();
            let expected: Vec<_> = expected.iter().map(|strength| (field, *strength)).collect();
            assert_eq!(found, expected);
        }
        // Words that only one value is known of cannot be read when they are others.
        for field in [
            "schema_version",
            "protocol_id",
            "stop_aggregation_policy",
            "priority_policy_id",
        ] {
            let mut head = base.clone();
            head[field] = Value::from("other");
            let found = compare_profiles("p", &base.to_string(), &head.to_string()).unwrap();
            assert_eq!(found.len(), 1);
            assert!(found[0].is_weaker() && found[0].what.starts_with("cannot be read"));
        }
        assert!(compare_profiles("p", "{", "{}").is_err());
        assert!(compare_settings(FILE, "x = 1", "").is_err());
    }
}
