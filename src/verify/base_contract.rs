//! The contract of a commit, and how two of them differ: file by file, and in nothing finer than a gate
//! or a judge that was added.

use crate::init::{SETTINGS, control_plane_script, stop_script};
use cook_protocol::diagnostic::Failure;
use cook_protocol::digest::sha256;
use cook_protocol::model::{
    CONTRACT_FILES, Config, STOP_VERIFIER_SCRIPTS, TreeEntry, surface_matches,
};
use cook_repo::git::Repo;
use cook_repo::receipt::words;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const AGENT: &str = ".agent";
pub(super) const PROFILE: &str = CONTRACT_FILES[2];
const JUDGES: &str = "required_stop_judges";

/// A file of a contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ContractFile {
    /// As git writes it, `100644`.
    pub mode: String,
    /// Id of its content.
    pub id: String,
    /// Its content; none where it is no regular file, or too large to be read.
    pub bytes: Option<Vec<u8>>,
    /// cook made it from that commit's own gates: what differs in it differs in them.
    pub generated: bool,
}

impl ContractFile {
    fn read(repo: &Repo, entry: TreeEntry) -> Result<Self, Failure> {
        let bytes = match entry.mode.starts_with("100") {
            true => repo.blob(&entry.id)?,
            false => None,
        };
        Ok(Self {
            mode: entry.mode,
            id: entry.id,
            bytes,
            generated: false,
        })
    }

    fn text(&self) -> Option<String> {
        let bytes = self.bytes.as_ref()?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }
}

/// The contract of a commit: files under `.agent/`, scripts that the base's gates name, and the paths that
/// the base protects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Contract {
    /// By path.
    pub files: BTreeMap<String, ContractFile>,
}

impl Contract {
    /// Reads the contracts of some commits, the first of which is the base: what it counts as a part of its
    /// contract is looked at in all.
    pub fn read_all(repo: &Repo, commits: &[&str]) -> Result<Vec<Self>, Failure> {
        let (mut protected, mut scripts) = (Vec::new(), BTreeSet::new());
        if let Some(base) = commits.first() {
            let own = Self::read(repo, base, is_agents)?;
            let settings = own.read_config().unwrap_or_default();
            protected = settings.rules.protected.clone();
            scripts = list_named_scripts(repo, base, &list_commands(&settings))?;
        }
        let is_part = |path: &str| {
            let mut patterns = protected.iter();
            is_agents(path)
                || scripts.contains(path)
                || patterns.any(|pattern| surface_matches(pattern, path))
        };
        let read = |commit: &&str| Self::read(repo, commit, is_part);
        commits.iter().map(read).collect()
    }

    fn read(repo: &Repo, commit: &str, is_part: impl Fn(&str) -> bool) -> Result<Self, Failure> {
        let mut contract = Self::default();
        for (path, entry) in repo.files(commit)? {
            if is_part(&path) {
                contract
                    .files
                    .insert(path, ContractFile::read(repo, entry)?);
            }
        }
        let config = contract.read_config().ok();
        let made = [
            config.map(|config| stop_script(&config.gate_specs())),
            Some(control_plane_script()),
        ];
        for (path, made) in STOP_VERIFIER_SCRIPTS.into_iter().zip(made) {
            if let (Some(file), Some(made)) = (contract.files.get_mut(path), made) {
                file.generated = file.bytes.as_deref() == Some(made.as_bytes());
            }
        }
        Ok(contract)
    }

    /// The settings, or why they cannot be read.
    pub fn read_config(&self) -> Result<Config, String> {
        let Some(file) = self.files.get(SETTINGS) else {
            return Ok(Config::default());
        };
        let text = file.text().ok_or("it is not a file that can be read")?;
        Config::parse(&text)
    }

    /// Whether anything under `.agent/` says what is asked for.
    pub fn is_stated(&self) -> bool {
        let [_, mission, profile, ..] = CONTRACT_FILES;
        let mut stating = [SETTINGS, mission, profile].into_iter();
        stating.any(|path| self.files.contains_key(path))
    }

    /// A digest of all of it: one more edit makes another.
    pub fn digest(&self) -> String {
        let mut all = b"cook contract 2\n".to_vec();
        for (path, file) in &self.files {
            let content = match &file.bytes {
                Some(bytes) => sha256(bytes),
                None => file.id.clone(),
            };
            for part in [path, &file.mode, &content] {
                all.extend_from_slice(&(part.len() as u64).to_le_bytes());
                all.extend_from_slice(part.as_bytes());
            }
        }
        sha256(&all)
    }
}

/// The README of the directory says nothing to cook.
fn is_agents(path: &str) -> bool {
    let is_below = path.strip_prefix(AGENT);
    is_below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        && path != CONTRACT_FILES[0]
}

/// What the gates and the clean room run.
fn list_commands(settings: &Config) -> Vec<String> {
    let gates = settings.gates.values().map(|gate| gate.run.to_string());
    let setup = settings.clean_room.setup().map(ToString::to_string);
    gates.chain(setup).collect()
}

/// Scripts outside of `.agent/` that commands name.
fn list_named_scripts(
    repo: &Repo,
    commit: &str,
    commands: &[String],
) -> Result<BTreeSet<String>, Failure> {
    let words: BTreeSet<String> = commands
        .iter()
        .filter_map(|command| words(command).ok())
        .flatten()
        .map(|word| word.trim_start_matches("./").to_owned())
        .filter(|word| !word.is_empty() && !word.starts_with(['-', '/']) && !word.contains('\0'))
        .filter(|word| !word.split('/').any(|part| matches!(part, "" | "." | "..")))
        .collect();
    let paths: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut found = BTreeSet::new();
    for (path, entry) in repo.list_files_under(commit, &paths)? {
        if !words.contains(&path) {
            continue;
        }
        let bytes = ContractFile::read(repo, entry)?.bytes;
        let is_script = bytes.is_some_and(|bytes| bytes.starts_with(b"#!"));
        if is_script || path.ends_with(".sh") {
            found.insert(path);
        }
    }
    Ok(found)
}

/// How a branch changed the contract.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Difference {
    /// Files that a person must accept, and what became of them.
    pub changed: Vec<(String, &'static str)>,
    /// Gates that it adds, by name.
    pub gates: Vec<String>,
    /// The votes that must agree, where it asks for more of them.
    pub judges: Option<u64>,
}

impl Difference {
    /// What the head has otherwise than the commit from which its branch went off; none where the base has
    /// it as the head does. The branch did not change what only the base changed: there the base decides.
    pub fn find(base: &Contract, fork: Option<&Contract>, head: &Contract) -> Self {
        let from = fork.unwrap_or(base);
        let paths: BTreeSet<&String> = from.files.keys().chain(head.files.keys()).collect();
        let mut found = Self::default();
        for path in paths {
            let (was, is) = (from.files.get(path), head.files.get(path));
            if are_same(was, is) || are_same(base.files.get(path), is) {
                continue;
            }
            let what = match (was, is) {
                (Some(was), Some(is)) if was.mode != is.mode => "has another mode",
                (Some(was), Some(is)) if was.generated && is.generated => continue,
                _ if found.add(base, path, was, is).is_some() => continue,
                (None, _) => "is new",
                (_, None) => "is removed",
                _ => "is edited",
            };
            found.changed.push((path.clone(), what));
        }
        // A gate comes with the files that it names.
        let settings = head.read_config().unwrap_or_default();
        let added = settings.gates.iter();
        let added = added.filter(|(name, _)| found.gates.contains(name));
        let named: BTreeSet<String> = added
            .filter_map(|(_, gate)| words(&gate.run.to_string()).ok())
            .flatten()
            .collect();
        let is_brought = |(path, what): &(String, &str)| {
            *what == "is new" && named.contains(path) && is_inert(path)
        };
        found.changed.retain(|change| !is_brought(change));
        found
    }

    /// Takes a change that only adds gates, or only asks for more votes; none = it does more.
    fn add(
        &mut self,
        base: &Contract,
        path: &str,
        was: Option<&ContractFile>,
        is: Option<&ContractFile>,
    ) -> Option<()> {
        let after = is?.text()?;
        if path == SETTINGS {
            let before = was.map_or(Some(String::new()), ContractFile::text)?;
            let known = base.read_config().ok()?.gates;
            let gates = list_added_gates(&before, &after)?;
            if gates.iter().any(|name| known.contains_key(name)) {
                return None;
            }
            self.gates = gates;
            return Some(());
        }
        if path != PROFILE {
            return None;
        }
        let (mut was, mut is) = (read_object(&was?.text()?)?, read_object(&after)?);
        let count = |profile: &mut Value| profile.as_object_mut()?.remove(JUDGES)?.as_u64();
        let (asked, asks) = (count(&mut was)?, count(&mut is)?);
        if was != is || asks < asked {
            return None;
        }
        self.judges = (asks > asked).then_some(asks);
        Some(())
    }
}

pub(super) fn are_same(one: Option<&ContractFile>, other: Option<&ContractFile>) -> bool {
    let key = |file: &ContractFile| (file.mode.clone(), file.id.clone());
    one.map(key) == other.map(key)
}

/// A file below `.agent/` whose name means nothing to cook.
fn is_inert(path: &str) -> bool {
    let names = [SETTINGS, ".agent/allowed_signers"];
    is_agents(path) && !names.contains(&path) && !CONTRACT_FILES.contains(&path)
}

fn read_object(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().filter(Value::is_object)
}

/// Gates of settings that the former ones have not, where nothing else differs.
fn list_added_gates(before: &str, after: &str) -> Option<Vec<String>> {
    Config::parse(after).ok()?;
    let mut before: toml::Table = before.parse().ok()?;
    let mut after: toml::Table = after.parse().ok()?;
    let take = |table: &mut toml::Table| match table.remove("gates") {
        None => Some(toml::Table::new()),
        Some(toml::Value::Table(gates)) => Some(gates),
        Some(_) => None,
    };
    let (was, mut is) = (take(&mut before)?, take(&mut after)?);
    let is_kept = was
        .iter()
        .all(|(name, gate)| is.remove(name).as_ref() == Some(gate));
    (is_kept && before == after).then(|| is.into_iter().map(|(name, _)| name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contract(files: &[(&str, &str)]) -> Contract {
        let file = |(path, text): &(&str, &str)| {
            let file = ContractFile {
                mode: "100644".to_owned(),
                id: sha256(text.as_bytes()),
                bytes: Some(text.as_bytes().to_vec()),
                generated: false,
            };
            ((*path).to_owned(), file)
        };
        Contract {
            files: files.iter().map(file).collect(),
        }
    }

    fn settings(text: &str) -> Contract {
        contract(&[(SETTINGS, text)])
    }

    const A: &str = "[gates.a]\nrun = \"true\"\n";
    const B: &str = "[gates.b]\nrun = \"true\"\n";

    #[test]
    fn a_gate_that_is_added_alone_is_no_change() {
        let of = |is: &str| Difference::find(&settings(A), None, &settings(is));
        assert_eq!(of(&format!("# why\n{A}{B}")).gates, ["b"]);
        for is in [
            B.to_owned(),
            A.replace("true", "false"),
            format!("{A}required = false\n"),
            format!("{A}{B}[limits]\nsteps = 1\n"),
            "gates = 1".to_owned(),
            "[".to_owned(),
        ] {
            let found = of(&is);
            assert_eq!(found.changed, [(SETTINGS.to_owned(), "is edited")], "{is}");
            assert!(found.gates.is_empty(), "{is}");
        }
        let new = Difference::find(&Contract::default(), None, &settings(A));
        assert_eq!(new.gates, ["a"]);
        let gone = Difference::find(&settings(A), None, &Contract::default());
        assert_eq!(gone.changed, [(SETTINGS.to_owned(), "is removed")]);
    }

    #[test]
    fn a_gate_brings_the_files_that_it_names_and_no_other() {
        let more = format!("{A}[gates.b]\nrun = \"sh .agent/b.sh .agent/allowed_signers b.sh\"\n");
        let head = |path: &str| contract(&[(SETTINGS, &more), (path, "x")]);
        let of = |path: &str| Difference::find(&settings(A), None, &head(path));
        assert!(of(".agent/b.sh").changed.is_empty());
        for path in [".agent/c.sh", ".agent/allowed_signers", "b.sh"] {
            assert_eq!(of(path).changed, [(path.to_owned(), "is new")]);
        }
    }

    #[test]
    fn what_the_base_changed_alone_is_no_change_of_the_branch() {
        let (fork, base) = (settings(A), settings(&format!("{A}{B}")));
        let of = |head: &Contract| Difference::find(&base, Some(&fork), head);
        assert_eq!(of(&fork), Difference::default());
        assert_eq!(of(&base), Difference::default());
        // Both added a gate of that name.
        let other = of(&settings(&format!("{A}[gates.b]\nrun = \"false\"\n")));
        assert_eq!(other.changed.len(), 1);
        let back = Difference::find(&base, Some(&base), &fork);
        assert_eq!(back.changed.len(), 1);
    }

    #[test]
    fn votes_are_added_and_nothing_else_of_a_profile() {
        let profile = |text: &str| contract(&[(PROFILE, text)]);
        let was = profile(r#"{"a": 1, "required_stop_judges": 3}"#);
        let of = |is: &str| Difference::find(&was, None, &profile(is));
        let same = of(r#"{"required_stop_judges":   3, "a": 1}"#);
        assert_eq!(same, Difference::default());
        assert_eq!(of(r#"{"required_stop_judges": 4, "a": 1}"#).judges, Some(4));
        for is in [
            r#"{"a": 1, "required_stop_judges": 2}"#,
            r#"{"a": 2, "required_stop_judges": 4}"#,
            "{}",
        ] {
            assert_eq!((of(is).changed.len(), of(is).judges), (1, None), "{is}");
        }
    }

    #[test]
    fn files_that_are_gone_new_or_edited_are_named() {
        let base = contract(&[(".agent/check.sh", "a"), ("tools/check.sh", "a")]);
        let with = |path: &str, text: Option<&str>| {
            let mut other = base.clone();
            match text {
                Some(text) => other.files.extend(contract(&[(path, text)]).files),
                None => drop(other.files.remove(path)),
            }
            let found = Difference::find(&base, None, &other);
            found.changed.first().map(|(_, what)| *what)
        };
        for path in [".agent/check.sh", "tools/check.sh"] {
            assert_eq!(with(path, Some("b")), Some("is edited"));
            assert_eq!(with(path, None), Some("is removed"));
        }
        assert_eq!(with(".agent/new.sh", Some("b")), Some("is new"));
        assert_eq!(with(".agent/allowed_signers", Some("b")), Some("is new"));
        assert_eq!(with(".agent/mission.md", Some("b")), Some("is new"));
        assert_eq!(with("tools/new.sh", Some("b")), Some("is new"));
        let mut mode = base.clone();
        mode.files.get_mut(".agent/check.sh").unwrap().mode = "120000".to_owned();
        let found = Difference::find(&base, None, &mode).changed;
        assert_eq!(found[0].1, "has another mode");
    }

    #[test]
    fn a_digest_is_another_after_each_edit() {
        let mut contract = contract(&[("a", "one")]);
        let mut seen = vec![Contract::default().digest(), contract.digest()];
        let mut other = |contract: &Contract| {
            let digest = contract.digest();
            assert!(!seen.contains(&digest));
            seen.push(digest);
        };
        let more = ContractFile {
            bytes: Some(b"two".to_vec()),
            ..contract.files["a"].clone()
        };
        contract.files.insert("b".to_owned(), more.clone());
        other(&contract);
        contract.files.insert("a".to_owned(), more);
        other(&contract);
        contract.files.get_mut("a").unwrap().mode = "100755".to_owned();
        other(&contract);
        contract.files.remove("b");
        other(&contract);
    }
}
