//! The files of a contract at one commit.

use crate::digest::sha256;
use crate::model::{CONTRACT_FILES, SETTINGS_FILES};
use std::collections::BTreeMap;

/// What a file of a contract is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// `.agent/cook.toml`.
    Settings,
    /// `.agent/profile.json`.
    Profile,
    /// `.agent/mission.md`.
    Mission,
    /// `.agent/allowed_signers`: whose word counts.
    Signers,
    /// A verify script, another file that gates read under `.agent/`, a script that a gate names.
    Script,
    /// What a CI runner starts cook by.
    Judge,
    /// Of the repository's own, what decides whether tests run and count beside cook's gates.
    Checks,
    /// It decides nothing.
    Aside,
}

/// Who may sign a log's tip, as ssh-keygen reads it.
pub(super) const SIGNERS: &str = ".agent/allowed_signers";

impl Part {
    /// What a file is by its path: everything under `.agent/` that is nothing else is a script.
    pub fn of(path: &str) -> Self {
        let [readme, mission, profile, ..] = CONTRACT_FILES;
        match path {
            _ if path == SETTINGS_FILES[0] => Self::Settings,
            _ if path == profile => Self::Profile,
            _ if path == mission => Self::Mission,
            SIGNERS => Self::Signers,
            _ if path == readme => Self::Aside,
            _ => Self::Script,
        }
    }
}

/// A file of a contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractFile {
    /// What it is.
    pub part: Part,
    /// As git writes it, `100644`.
    pub mode: String,
    /// Id of its content.
    pub id: String,
    /// Its content; none where it is no regular file, or too large to be read.
    pub bytes: Option<Vec<u8>>,
    /// cook made it of that commit's own gates: what differs in it differs in them.
    pub generated: bool,
}

impl ContractFile {
    pub(super) fn text(&self) -> Option<String> {
        let bytes = self.bytes.as_ref()?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        (&self.mode, &self.id) == (&other.mode, &other.id)
    }
}

/// The contract of a commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contract {
    /// By path.
    pub files: BTreeMap<String, ContractFile>,
}

impl Contract {
    /// Whether anything under `.agent/` says what is asked for.
    pub fn is_stated(&self) -> bool {
        let states = |part| matches!(part, Part::Settings | Part::Profile | Part::Mission);
        self.files.values().any(|file| states(file.part))
    }

    /// Whether this path says what cook is to ask; what the repository's own checks are run by is
    /// compared with it, and is work as well.
    pub fn states(&self, path: &str) -> bool {
        let file = self.files.get(path);
        file.is_some_and(|file| file.part != Part::Checks)
    }

    /// A digest of all of it: one more edit makes another.
    pub fn digest(&self) -> String {
        let mut all = b"cook contract 1\n".to_vec();
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

#[cfg(test)]
mod tests {
    use super::*;

    fn file(bytes: &[u8]) -> ContractFile {
        ContractFile {
            part: Part::Script,
            mode: "100644".to_owned(),
            id: sha256(bytes),
            bytes: Some(bytes.to_vec()),
            generated: false,
        }
    }

    #[test]
    fn a_digest_is_another_after_each_edit() {
        let mut contract = Contract::default();
        let mut seen = vec![contract.digest()];
        let mut other = |contract: &Contract| {
            let digest = contract.digest();
            assert!(!seen.contains(&digest));
            seen.push(digest);
        };
        contract.files.insert("a".to_owned(), file(b"one"));
        other(&contract);
        contract.files.insert("b".to_owned(), file(b"one"));
        other(&contract);
        contract.files.insert("a".to_owned(), file(b"two"));
        other(&contract);
        contract.files.get_mut("a").unwrap().mode = "100755".to_owned();
        other(&contract);
        contract.files.remove("b");
        other(&contract);
    }

    #[test]
    fn a_file_is_told_by_its_path() {
        assert_eq!(Part::of(".agent/cook.toml"), Part::Settings);
        assert_eq!(Part::of(".agent/allowed_signers"), Part::Signers);
        assert_eq!(Part::of(".agent/README.md"), Part::Aside);
        assert_eq!(Part::of(".agent/verify_completion_stop.sh"), Part::Script);
        assert_eq!(Part::of(".agent/sub/README.md"), Part::Script);
    }
}
