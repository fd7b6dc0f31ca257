//! Two contracts, file by file.

use super::difference::{Difference, Strength};
use super::file::{Contract, ContractFile, Part};
use super::settings::{compare_profiles, compare_settings};
use super::texts::{compare_missions, compare_signers};
use std::collections::BTreeSet;

/// What `head` asks for otherwise than `base`, worst first within a file. Where `fork`, from which the
/// head's branch went off, has a field as the head has it, the branch did not change it: the base decides.
///
/// # Errors
/// Why a file of the base, or of the fork, cannot be read, with its path.
pub fn compare(
    base: &Contract,
    fork: Option<&Contract>,
    head: &Contract,
) -> Result<Vec<Difference>, String> {
    let mut found = differences(base, head)?;
    if let Some(fork) = fork.filter(|fork| *fork != base) {
        // What cannot be read there was not changed from it in a way that anybody could tell.
        let own = differences(fork, head).unwrap_or_default();
        let is_own =
            |file: &str, field: &str| own.iter().any(|one| one.file == file && one.field == field);
        let whole = |file: &str| fork.files.get(file) != head.files.get(file);
        found.retain(|one| whole(&one.file) && is_own(&one.file, &one.field));
    }
    Ok(found)
}

fn differences(base: &Contract, head: &Contract) -> Result<Vec<Difference>, String> {
    let mut found = Vec::new();
    let paths: BTreeSet<&String> = base.files.keys().chain(head.files.keys()).collect();
    for path in paths {
        let mut of_file = match (base.files.get(path), head.files.get(path)) {
            (Some(was), Some(is)) if was.is_same(is) => Vec::new(),
            (Some(was), Some(is)) => {
                of_both(path, was, is).map_err(|why| format!("`{path}`: {why}"))?
            }
            (Some(was), None) => of_gone(path, was)?,
            (None, Some(is)) => of_new(path, is)?,
            (None, None) => Vec::new(),
        };
        let either = base.files.get(path).or_else(|| head.files.get(path));
        let is_judge = either.is_some_and(|file| file.part == Part::Judge);
        for one in &mut of_file {
            one.is_judge = is_judge;
        }
        of_file.sort_by_key(|one| std::cmp::Reverse(one.strength));
        found.extend(of_file);
    }
    Ok(found)
}

fn of_both(path: &str, was: &ContractFile, is: &ContractFile) -> Result<Vec<Difference>, String> {
    let other = |what: &str| {
        let what = what.to_owned();
        vec![Difference::new(path, "", Strength::NotComparable, what)]
    };
    if matches!(was.part, Part::Aside | Part::Checks) {
        return Ok(Vec::new());
    }
    if was.mode != is.mode {
        let what = format!("has the mode {}, and had {}", is.mode, was.mode);
        return Ok(other(&what));
    }
    if was.part == Part::Judge {
        return Ok(other("is edited"));
    }
    if was.part == Part::Script {
        return Ok(match was.generated && is.generated {
            true => Vec::new(),
            false => other("is edited"),
        });
    }
    let Some(before) = was.text() else {
        return Err("it is not a file that can be read".to_owned());
    };
    let Some(now) = is.text() else {
        return Ok(other("is not a file that can be read any more"));
    };
    match was.part {
        Part::Settings => compare_settings(path, &before, &now),
        Part::Profile => compare_profiles(path, &before, &now),
        Part::Mission => Ok(compare_missions(path, &before, &now)),
        Part::Signers => Ok(compare_signers(path, &before, &now)),
        Part::Script | Part::Judge | Part::Aside | Part::Checks => Ok(Vec::new()),
    }
}

fn of_gone(path: &str, was: &ContractFile) -> Result<Vec<Difference>, String> {
    let gone = || {
        let what = "is removed".to_owned();
        vec![Difference::new(path, "", Strength::NotComparable, what)]
    };
    Ok(match (was.part, was.text()) {
        (Part::Aside | Part::Checks, _) => Vec::new(),
        // No settings are the defaults.
        (Part::Settings, Some(text)) => {
            let mut found = compare_settings(path, &text, "")?;
            found.extend(gone());
            found
        }
        _ => gone(),
    })
}

fn of_new(path: &str, is: &ContractFile) -> Result<Vec<Difference>, String> {
    let (strength, what) = match is.part {
        Part::Aside | Part::Checks => return Ok(Vec::new()),
        Part::Settings => {
            return match is.text() {
                Some(text) => compare_settings(path, "", &text),
                None => {
                    let what = "is not a file that can be read".to_owned();
                    Ok(vec![Difference::new(
                        path,
                        "",
                        Strength::NotComparable,
                        what,
                    )])
                }
            };
        }
        Part::Signers => (Strength::NotComparable, "is new: it says who may sign"),
        Part::Judge => (Strength::NotComparable, "is new, and starts cook too"),
        Part::Profile | Part::Mission => (Strength::NotComparable, "is new"),
        Part::Script => (Strength::Stronger, "is new"),
    };
    Ok(vec![Difference::new(path, "", strength, what.to_owned())])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::sha256;

    const SETTINGS: &str = ".agent/cook.toml";

    fn contract(files: &[(&str, &str)]) -> Contract {
        let file = |(path, text): &(&str, &str)| {
            let part = match *path {
                _ if path.starts_with(".github/") => Part::Judge,
                _ if path.starts_with(".agent/") => Part::of(path),
                _ => Part::Checks,
            };
            let file = ContractFile {
                part,
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

    fn compare_all(
        base: &Contract,
        fork: Option<&Contract>,
        head: &Contract,
    ) -> Vec<(String, Strength)> {
        let found = compare(base, fork, head).unwrap();
        let place = |one: &Difference| format!("{}#{}", one.file, one.field);
        found.iter().map(|one| (place(one), one.strength)).collect()
    }

    #[test]
    fn files_that_are_gone_new_or_edited_are_named() {
        use Strength::{NotComparable, Stronger};
        let base = contract(&[
            (".agent/README.md", "a"),
            (".agent/check.sh", "a"),
            (".github/workflows/cook.yml", "a"),
        ]);
        let with = |path: &str, text: Option<&str>| {
            let mut other = base.clone();
            match text {
                Some(text) => other.files.extend(contract(&[(path, text)]).files),
                None => drop(other.files.remove(path)),
            }
            compare_all(&base, None, &other)
        };
        assert_eq!(with(".agent/README.md", Some("b")), []);
        for text in [Some("b"), None] {
            let found = with(".agent/check.sh", text);
            assert_eq!(found, [(".agent/check.sh#".to_owned(), NotComparable)]);
            let found = with(".github/workflows/cook.yml", text);
            assert_eq!(
                found,
                [(".github/workflows/cook.yml#".to_owned(), NotComparable)]
            );
        }
        let new = with(".agent/new.sh", Some("b"));
        assert_eq!(new, [(".agent/new.sh#".to_owned(), Stronger)]);
        let list = with(".agent/allowed_signers", Some("a KEY"));
        assert_eq!(
            list,
            [(".agent/allowed_signers#".to_owned(), NotComparable)]
        );
        let judge = with(".github/workflows/more.yml", Some("b"));
        assert_eq!(judge[0].1, NotComparable);
        let mut mode = base.clone();
        mode.files.get_mut(".agent/check.sh").unwrap().mode = "120000".to_owned();
        assert_eq!(compare_all(&base, None, &mode)[0].1, NotComparable);
    }

    #[test]
    fn a_script_that_cook_makes_follows_the_gates() {
        let made = |text: &str| {
            let mut made = contract(&[(".agent/verify_completion_stop.sh", text)]);
            for file in made.files.values_mut() {
                file.generated = true;
            }
            made
        };
        assert_eq!(compare_all(&made("a"), None, &made("b")), []);
        let by_hand = contract(&[(".agent/verify_completion_stop.sh", "b")]);
        assert_eq!(compare_all(&made("a"), None, &by_hand).len(), 1);
    }

    /// The base went on after the branch left it.
    #[test]
    fn what_the_base_changed_alone_is_no_change_of_the_branch() {
        let gates = |names: &[&str]| {
            let gates = names
                .iter()
                .map(|name| format!("[gates.{name}]\nrun = \"true\"\n"));
            let text: String = gates.collect();
            contract(&[(SETTINGS, &text)])
        };
        let (fork, base) = (gates(&["a"]), gates(&["a", "b"]));
        assert_eq!(compare_all(&base, Some(&fork), &fork), []);
        assert_eq!(compare_all(&base, None, &fork).len(), 1);
        // It took the new gate in, and out again.
        assert_eq!(compare_all(&base, Some(&base), &fork).len(), 1);
        let own = compare_all(&base, Some(&fork), &gates(&["c"]));
        let own: Vec<&str> = own.iter().map(|(place, _)| place.as_str()).collect();
        assert_eq!(
            own,
            [".agent/cook.toml#gates.a", ".agent/cook.toml#gates.c"]
        );
        // Settings that are gone are the defaults.
        let gone = compare_all(&base, None, &Contract::default());
        assert_eq!(gone.len(), 3);
    }

    #[test]
    fn a_base_that_cannot_be_read_is_an_error_with_its_file() {
        let broken = contract(&[(SETTINGS, "x = 1")]);
        let why = compare(&broken, None, &contract(&[(SETTINGS, "")])).unwrap_err();
        assert!(
            why.contains(SETTINGS) && why.contains("unknown field"),
            "{why}"
        );
        let found = compare(&contract(&[(SETTINGS, "")]), None, &broken).unwrap();
        assert_eq!(found[0].strength, Strength::NotComparable);
    }
}
