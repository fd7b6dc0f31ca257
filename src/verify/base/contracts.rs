//! The contract of a commit, read out of its tree.

use crate::scaffold::{SETTINGS, control_plane_script, stop_script};
use cook_core::change::{Contract, ContractFile, Part};
use cook_core::diagnostic::Failure;
use cook_core::model::{Config, STOP_VERIFIER_SCRIPTS, TreeEntry};
use cook_git::Repo;
use cook_store::receipt::words;
use cook_strength::{Class, classify};
use std::collections::{BTreeMap, BTreeSet};

/// The directory of the contract.
const AGENT: &str = ".agent";
/// Where CI runners find what they run.
const CI: [&str; 19] = [
    ".github",
    ".gitlab-ci.yml",
    ".gitlab",
    ".circleci",
    ".buildkite",
    ".ci",
    ".forgejo",
    ".gitea",
    ".woodpecker",
    ".woodpecker.yml",
    "azure-pipelines.yml",
    "Jenkinsfile",
    ".travis.yml",
    ".drone.yml",
    ".cirrus.yml",
    ".tekton",
    ".appveyor.yml",
    "appveyor.yml",
    "bitbucket-pipelines.yml",
];

/// The contracts of some commits, the first of which is the base: what one of them counts as a part
/// of it is looked at in all.
pub(super) fn read(repo: &Repo, commits: &[&str]) -> Result<Vec<Contract>, Failure> {
    let mut more: BTreeMap<String, Part> = BTreeMap::new();
    for commit in commits {
        let judges = judges(repo, commit)?;
        more.extend(judges.into_iter().map(|path| (path, Part::Judge)));
    }
    if let Some(base) = commits.first() {
        let scripts = list_named_scripts(repo, base)?;
        more.extend(scripts.into_iter().map(|path| (path, Part::Script)));
    }
    let mut contracts = Vec::new();
    for commit in commits {
        let mut contract = contract(repo, commit, &more)?;
        for (path, entry) in repo.files(commit)? {
            if is_of_checks(&path) && !contract.files.contains_key(&path) {
                let file = file(repo, Part::Checks, entry)?;
                contract.files.insert(path, file);
            }
        }
        contracts.push(contract);
    }
    Ok(contracts)
}

/// By its path it decides whether tests run and count. What is only read starts nothing.
fn is_of_checks(path: &str) -> bool {
    let is_of_ci = CI.iter().any(|ci| {
        let rest = path.strip_prefix(ci);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    (is_of_ci || classify(path, &[]) == Class::Gate) && !path.ends_with(".md")
}

fn contract(repo: &Repo, commit: &str, more: &BTreeMap<String, Part>) -> Result<Contract, Failure> {
    let mut paths: Vec<&str> = more.keys().map(String::as_str).collect();
    paths.push(AGENT);
    let mut contract = Contract::default();
    for (path, entry) in repo.list_files_under(commit, &paths)? {
        let part = match more.get(&path) {
            Some(part) => *part,
            None if path.starts_with(".agent/") || path == AGENT => Part::of(&path),
            None => continue,
        };
        let file = file(repo, part, entry)?;
        contract.files.insert(path, file);
    }
    let config = settings(&contract);
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

fn file(repo: &Repo, part: Part, entry: TreeEntry) -> Result<ContractFile, Failure> {
    let bytes = match entry.mode.starts_with("100") {
        true => repo.blob(&entry.id)?,
        false => None,
    };
    Ok(ContractFile {
        part,
        mode: entry.mode,
        id: entry.id,
        bytes,
        generated: false,
    })
}

/// The settings of a contract; none where they cannot be read.
pub(super) fn settings(contract: &Contract) -> Option<Config> {
    match contract.files.get(SETTINGS) {
        None => Some(Config::default()),
        Some(file) => {
            let text = String::from_utf8_lossy(file.bytes.as_ref()?);
            Config::parse(&text).ok()
        }
    }
}

/// What the gates and the clean room of a contract run.
pub(super) fn list_commands(contract: &Contract) -> Vec<String> {
    let config = settings(contract).unwrap_or_default();
    let gates = config.gates.values().map(|gate| gate.run.to_string());
    let setup = config.clean_room.setup().map(ToString::to_string);
    gates.chain(setup).collect()
}

/// Scripts outside of `.agent/` that the commands of a commit's gates name.
fn list_named_scripts(repo: &Repo, commit: &str) -> Result<Vec<String>, Failure> {
    let words: BTreeSet<String> = list_commands(&contract(repo, commit, &BTreeMap::new())?)
        .into_iter()
        .filter_map(|command| words(&command).ok())
        .flatten()
        .map(|word| word.trim_start_matches("./").to_owned())
        .filter(|word| !word.is_empty() && !word.starts_with(['-', '/']) && !word.contains('\0'))
        .filter(|word| !word.split('/').any(|part| matches!(part, "" | "." | "..")))
        .collect();
    let paths: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut found = Vec::new();
    for (path, entry) in repo.list_files_under(commit, &paths)? {
        if !words.contains(&path) || path.starts_with(".agent/") {
            continue;
        }
        let file = file(repo, Part::Script, entry)?;
        let is_script = file.bytes.is_some_and(|bytes| bytes.starts_with(b"#!"));
        if is_script || path.ends_with(".sh") {
            found.push(path);
        }
    }
    Ok(found)
}

/// Files of a commit that a CI runner starts cook by: those that name it, and those that call these.
fn judges(repo: &Repo, commit: &str) -> Result<BTreeSet<String>, Failure> {
    let mut texts = BTreeMap::new();
    let files = repo.list_files_under(commit, &CI)?.into_iter();
    // What is only read starts nothing.
    for (path, entry) in files.filter(|(path, _)| !path.ends_with(".md")) {
        if let Some(bytes) = file(repo, Part::Judge, entry)?.bytes {
            texts.insert(path, String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    let mut found: BTreeSet<String> = BTreeSet::new();
    loop {
        let called: Vec<&str> = found.iter().map(|path| find_called_name(path)).collect();
        let new: Vec<String> = texts
            .iter()
            .filter(|(path, _)| !found.contains(*path))
            .filter(|(_, text)| names_cook(text) || called.iter().any(|name| text.contains(name)))
            .map(|(path, _)| path.clone())
            .collect();
        if new.is_empty() {
            return Ok(found);
        }
        found.extend(new);
    }
}

/// What another file calls it by: an action by its directory.
fn find_called_name(path: &str) -> &str {
    let dir = path
        .strip_suffix("/action.yml")
        .or_else(|| path.strip_suffix("/action.yaml"));
    dir.unwrap_or(path)
}

fn names_cook(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    text.split(|c| !is_part(c))
        .any(|word| word == "cook" || word.starts_with("cook-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_names_cook_is_told_from_one_that_does_not() {
        for text in [
            "uses: OWNER/cook@1",
            "run: cook verify",
            "cargo install cook-cli",
        ] {
            assert!(names_cook(text), "{text}");
        }
        for text in ["run: make cookies", "precook: true", "cookbook"] {
            assert!(!names_cook(text), "{text}");
        }
        assert_eq!(
            find_called_name(".github/actions/prove/action.yml"),
            ".github/actions/prove"
        );
        assert_eq!(
            find_called_name(".github/workflows/a.yml"),
            ".github/workflows/a.yml"
        );
    }
}
